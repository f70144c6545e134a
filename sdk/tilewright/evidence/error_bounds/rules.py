"""Which rule bounds which operator; an operator that stands nowhere here has no bound, and the evidence says so."""

from __future__ import annotations

from collections.abc import Mapping

from tilewright.evidence.error_bounds import elementwise, functions, linear, norms, pools, recurrent, softmax, sums
from tilewright.evidence.error_bounds.moves import move, moves
from tilewright.evidence.error_bounds.value import Rule
from tilewright.model import DType
from tilewright.ops.operator import Call

RULES: Mapping[str, Rule] = {
    "Conv": sums.conv,
    "Gemm": sums.gemm,
    "MatMul": sums.matmul,
    "ConvTranspose": linear.transposed,
    "ReduceMean": linear.reduced,
    "ReduceSum": linear.reduced,
    "Resize": linear.resize,
    "Upsample": linear.resize,
    "LayerNormalization": norms.normalised,
    "RMSNormalization": norms.normalised,
    "InstanceNormalization": norms.normalised,
    "RNN": recurrent.recurrent,
    "GRU": recurrent.recurrent,
    "LSTM": recurrent.recurrent,
    "Div": functions.quotient,
    "Sqrt": functions.root,
    "Abs": functions.absolute,
    "Neg": functions.negative,
    "Erf": functions.erf,
    "Gelu": functions.gelu,
    "Swish": functions.swish,
    "Softplus": functions.softplus,
    "HardSwish": functions.hard_swish,
    "HardSigmoid": functions.hard_sigmoid,
    "LeakyRelu": functions.leaky,
    "PRelu": functions.leaky,
    "Elu": functions.elu,
    "Add": elementwise.add,
    "Sub": elementwise.subtract,
    "Mul": elementwise.multiply,
    "Relu": elementwise.relu,
    "Clip": elementwise.clip,
    "Sigmoid": elementwise.sigmoid,
    "Tanh": elementwise.tanh,
    "AveragePool": pools.average,
    "GlobalAveragePool": pools.average,
    "MaxPool": pools.maximum,
    "GlobalMaxPool": pools.maximum,
    "Softmax": softmax.softmax,
}

OPEN: Mapping[str, tuple[float, ...]] = {
    "Relu": (0.0,), "Softmax": (), "Sigmoid": (), "Tanh": (), "LayerNormalization": (), "RMSNormalization": (),
    "InstanceNormalization": (), "Erf": (), "Gelu": (), "Swish": (), "HardSwish": (), "GRU": (), "LSTM": (), "RNN": (),
}  # fmt: skip
"""Operators whose results depend on the size of an error: at these limits, or everywhere."""


def _with(*rules: Rule) -> frozenset[str]:
    return frozenset(name for name, rule in RULES.items() if rule in rules)


MEANS = _with(pools.average)
PRODUCTS = _with(sums.gemm, sums.matmul)
"""Whose inputs are added as they lie in memory."""
ROUNDED_ONCE = _with(
    elementwise.add, elementwise.subtract, elementwise.multiply, elementwise.relu, elementwise.clip, pools.maximum
)
"""Of which IEEE 754 leaves nothing open: one rounding, or none."""


def rule_for(call: Call) -> Rule | str:
    """The rule of a call, or the sentence why there is none."""
    if any(tensor.dtype is not DType.F32 or tensor.quantisation is not None for tensor in call.outputs):
        return f"no bound: the results of {call.node.op} are no float32, and rounding to them is a step of its own"
    if moves(call):
        return move
    if call.node.op == "MatMul" and 1 not in call.constants:
        return linear.product
    if not call.node.domain and call.node.op in RULES:
        return RULES[call.node.op]
    return f"no bound: nothing is known of how {call.node.op} rounds"
