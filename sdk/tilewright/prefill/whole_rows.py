"""Which nodes take the rows of all tokens at once: those that compute every entry of the first axis by itself.

Each rule says whether a node whose operands of a token begin with an axis of 1 computes the same for every entry of it
where that axis has an entry for each token.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import onnx

Shape = tuple[int, ...]

ELEMENTWISE = frozenset(
    "Abs Add And BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Cast Ceil Clip Cos Div Elu Equal Erf Exp Floor "
    "Gelu Greater GreaterOrEqual HardSigmoid HardSwish Identity LeakyRelu Less LessOrEqual Log Max Min Mul Neg Not Or "
    "Pow Reciprocal Relu Round Sigmoid Sign Sin Softplus Sqrt Sub Swish Tanh Where Xor".split()
)


@dataclass(frozen=True)
class Taken:
    """A node with the shapes of a single token's step; `of_token` says which operands differ from token to token.

    `fixed` are operands that are known before the network runs, with their values where they are initialisers of whole
    numbers.
    """

    node: onnx.NodeProto
    inputs: tuple[Shape, ...]
    outputs: tuple[Shape, ...]
    of_token: tuple[bool, ...]
    fixed: tuple[bool, ...]
    integers: Mapping[int, tuple[int, ...]]

    def attribute(self, name: str, default: int) -> int:
        """An integer of the node."""
        return next((one.i for one in self.node.attribute if one.name == name), default)

    def axis(self, value: int) -> int:
        """An axis of the first operand counted from the front."""
        return value % max(len(self.inputs[0]), 1)


def takes_all(taken: Taken) -> bool:
    """True where the node computes the rows of all tokens as it does that of one."""
    if taken.node.domain not in ("", "ai.onnx"):
        return False
    shapes = (*(one for one, own in zip(taken.inputs, taken.of_token, strict=True) if own), *taken.outputs)
    if not all(shape and shape[0] == 1 for shape in shapes):
        return False
    kind = taken.node.op_type
    rule = _elementwise if kind in ELEMENTWISE else _reduction if kind.startswith("Reduce") else _RULES.get(kind)
    return rule is not None and rule(taken)


def _elementwise(taken: Taken) -> bool:
    rank = len(taken.outputs[0])
    for shape, own in zip(taken.inputs, taken.of_token, strict=True):
        if (len(shape) == rank and shape[0] != 1) or (own and len(shape) != rank):
            return False
    return True


def _alone(taken: Taken, places: slice = slice(1, None)) -> bool:
    """True where the first operand is the only one of a token, and the others are the same for all."""
    return taken.of_token[0] and not any(taken.of_token[places])


def _reduction(taken: Taken) -> bool:
    axes = taken.integers.get(1, ())
    return _alone(taken) and bool(axes) and all(taken.axis(axis) for axis in axes)


def _normalisation(taken: Taken) -> bool:
    below = all(len(shape) < len(taken.inputs[0]) for shape in taken.inputs[1:])
    return _alone(taken) and below and taken.axis(taken.attribute("axis", -1)) > 0


def _gather(taken: Taken) -> bool:
    axis = taken.axis(taken.attribute("axis", 0))
    if taken.of_token == (False, True):
        return axis == 0
    return taken.of_token == (True, False) and axis > 0


def _reshape(taken: Taken) -> bool:
    return _alone(taken) and taken.attribute("allowzero", 0) in (0, 1)


def _axes(taken: Taken) -> bool:
    """Squeeze and Unsqueeze of other axes than the first; they are counted in the larger rank."""
    rank = max(len(taken.inputs[0]), len(taken.outputs[0]))
    axes = taken.integers.get(1, ())
    return _alone(taken) and bool(axes) and all(axis % rank for axis in axes)


def _transpose(taken: Taken) -> bool:
    order = next((tuple(one.ints) for one in taken.node.attribute if one.name == "perm"), ())
    return order[:1] == (0,)


def _along(taken: Taken) -> bool:
    """Concat of tensors of tokens alone, and Split, along another axis than the first."""
    whole = all(taken.of_token) if taken.node.op_type == "Concat" else _alone(taken)
    return whole and taken.axis(taken.attribute("axis", 0)) > 0


def _slice(taken: Taken) -> bool:
    axes = taken.integers.get(3, ())
    return _alone(taken) and bool(axes) and all(taken.axis(axis) for axis in axes)


def _product(taken: Taken) -> bool:
    rank, other = len(taken.inputs[0]), taken.inputs[1]
    if taken.of_token[:2] == (True, True):
        return rank == len(other) and rank > 2
    same_for_all = len(other) == 2 or (len(other) == rank and other[0] == 1)
    return rank > 1 and _alone(taken) and taken.fixed[1] and same_for_all


def _gemm(taken: Taken) -> bool:
    return _alone(taken) and taken.fixed[1] and not taken.attribute("transA", 0) and _bias(taken)


def _bias(taken: Taken) -> bool:
    return len(taken.inputs) < 3 or len(taken.inputs[2]) < 2 or taken.inputs[2][0] == 1


_RULES: dict[str, Callable[[Taken], bool]] = {
    "Gather": _gather, "Reshape": _reshape, "Squeeze": _axes, "Unsqueeze": _axes, "Transpose": _transpose,
    "Concat": _along, "Split": _along, "Slice": _slice, "MatMul": _product, "MatMulInteger": _product, "Gemm": _gemm,
    "Softmax": _normalisation, "LogSoftmax": _normalisation, "LayerNormalization": _normalisation,
    "RMSNormalization": _normalisation,
}  # fmt: skip


def multiplies(node: onnx.NodeProto) -> bool:
    """True for products of matrices."""
    return node.op_type in ("MatMul", "MatMulInteger", "Gemm")


def mixes(node: onnx.NodeProto) -> bool:
    """True for what multiplies by the rows of a cache."""
    return node.op_type in ("MatMul", "Attention")


def shows_as_it_is(node: onnx.NodeProto) -> bool:
    """True for what gives a whole number in another shape or type."""
    return node.op_type in ("Cast", "Identity", "Reshape", "Squeeze", "Unsqueeze")
