"""NonMaxSuppression: candidates in a heap, taken from the best until enough are chosen."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.operators import length_bound, suppression_limits
from tilewright.platform import Call, Constant, KernelMethods, Operands
from tilewright.platforms.generic.kernels.elements import constants_by_name, empty
from tilewright.platforms.generic.platform import PLATFORM


@dataclass(frozen=True)
class SuppressionContext:
    """`batch` images of `classes` classes and `boxes` boxes; which limits there are, and the type of a box's index.

    `centred` boxes are given by their centre and size, the others by two corners.
    """

    batch: int
    classes: int
    boxes: int
    bound: int
    index: str
    limited: bool
    overlap: bool
    scored: bool
    centred: bool


@PLATFORM.kernel(
    "NonMaxSuppression", types="f32, f32, i64?, f32?, f32? -> i64, i64", template="suppression.c.mako",
    sources=["suppression.h"],
)  # fmt: skip
class NonMaxSuppression(KernelMethods):
    """Work grows with the boxes above the score, their order and those chosen, not with the bound."""

    def accepts(self, call: Call) -> str | None:
        """Boxes and scores with elements."""
        return empty(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Operands that are constant."""
        return constants_by_name(operands, *range(len(operands.call.inputs)))

    def scratch(self, operands: Operands) -> int:
        """The candidates of one class."""
        boxes = operands.call.shape()[1]
        return boxes * (2 if boxes <= 1 << 16 else 4)

    def cost(self, call: Call) -> float:
        """Every score is read; every candidate may be held against every one that is chosen."""
        scores, chosen = call.tensor(1).elements, call.outputs[0].shape[0]
        return 30.0 * scores + 40.0 * scores * chosen / max(call.shape(1)[0] * call.shape(1)[1], 1)

    def context(self, operands: Operands) -> SuppressionContext:
        """Sizes and limits."""
        call = operands.call
        batch, classes, boxes = call.shape(1)
        limited, overlap, scored = suppression_limits(call)
        return SuppressionContext(
            batch, classes, boxes, length_bound(call), "uint16_t" if boxes <= 1 << 16 else "uint32_t",
            limited, overlap, scored, bool(call.integer("center_point_box", 0)),
        )  # fmt: skip
