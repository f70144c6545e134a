"""The float network that is quantised: constants and batch normalisations folded, every shape known."""

from __future__ import annotations

from tilewright.errors import UnsupportedError
from tilewright.model import Model
from tilewright.ops.codes import Products
from tilewright.ops.registry import codes_of
from tilewright.passes import batch_norm, dead, driver, fold, identity
from tilewright.passes.quantise.forms import to_qdq
from tilewright.passes.quantise.kinds import has_quantisation

PREPARATION = (dead, fold, identity, batch_norm)


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
