"""Decision trees: each row walks down every tree, from table to table."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.platform import Call, Constant, KernelMethods, Operands
from tilewright.platforms.generic.kernels.elements import c_type, constants_by_name
from tilewright.platforms.generic.platform import PLATFORM

SMALL = "i16|i32"
TYPES = f"f32|f64, {SMALL}, {SMALL}, f32|f64, {SMALL}, {SMALL}, f32|f64, u8? -> f32|f64"


@dataclass(frozen=True)
class TreesContext:
    """Rows and their features, trees, numbers a row, the C type of these, the aggregate, whether tests differ."""

    rows: int
    width: int
    trees: int
    targets: int
    real: str
    aggregate: str
    mixed: bool


@PLATFORM.kernel("TreeEnsemble", types=TYPES, template="trees.c.mako", numerics="1e-5")
class Trees(KernelMethods):
    """The node behind a test that holds is the next one, so that a node is a feature, a split and one other node."""

    def accepts(self, call: Call) -> str | None:
        """Tables that are known."""
        return "the result is limited" if call.node.clamp else None

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """The tables."""
        return constants_by_name(operands, *range(len(operands.call.inputs)))

    def cost(self, call: Call) -> float:
        """About twelve instructions a level, and as many levels as a balanced tree has."""
        rows, trees, nodes = call.shape()[0], call.shape(1)[0], call.shape(2)[0]
        return 12.0 * rows * trees * max(1, (nodes // max(trees, 1)).bit_length())

    def context(self, operands: Operands) -> TreesContext:
        """Sizes of rows and trees."""
        call = operands.call
        rows, width = call.shape()
        kind = call.text("aggregate", "SUM")
        return TreesContext(
            rows, width, call.shape(1)[0], call.outputs[0].shape[1], c_type(call.tensor(0)), kind,
            call.optional(7) is not None,
        )  # fmt: skip
