"""The float network that is quantised: constants and batch normalisations folded, every shape known."""

from __future__ import annotations

from tilewright.errors import UnsupportedError
from tilewright.model import Model
from tilewright.ops.codes import Products
from tilewright.ops.products import multiply_accumulates
from tilewright.ops.registry import call_of, codes_of
from tilewright.passes import batch_norm, dead, driver, fold, identity
from tilewright.passes.quantise.forms import to_qdq
from tilewright.passes.quantise.kinds import has_quantisation

PREPARATION = (dead, fold, identity, batch_norm)


def products_of(model: Model) -> int:
    """How much one call of the network multiplies, at least 1."""
    total = 0
    for node in model.nodes:
        operands = tuple(model.tensors[name] if name else None for name in node.inputs)
        constants = {place: model.constants[name] for place, name in enumerate(node.inputs) if name in model.constants}
        results = tuple(model.tensors[name] for name in node.outputs if name)
        total += multiply_accumulates(call_of(node, operands, results, constants, model.opset))
    return max(total, 1)


def prepared(model: Model) -> Model:
    """The network with normalisations in the weights before them; UnsupportedError where it cannot be quantised."""
    if has_quantisation(to_qdq(model)):
        raise UnsupportedError(
            f"'{model.name}' is quantised already", why="it holds QuantizeLinear or DequantizeLinear",
            fix="pass the float network, or compile this one as it is",
        )  # fmt: skip
    if model.states:
        raise UnsupportedError(
            f"'{model.name}' keeps state", why="samples are independent calls",
            fix="quantise a form without state, whose inputs hold what the state would",
            tensor=model.states[0].past,
        )  # fmt: skip
    folded, _ = driver.run(model, passes=PREPARATION)
    if not any(isinstance(codes_of(node), Products) for node in folded.nodes):
        raise UnsupportedError(
            f"'{model.name}' has nothing to quantise", why="it has no convolution and no product",
            fix="compile it as it is",
        )  # fmt: skip
    return folded
