"""What operators state of their calls beside meaning and index maps, and passes, plan and inputs ask."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.model import Shape


@dataclass(frozen=True)
class Range:
    """The box of `shape` at `low` of the larger tensor is the smaller one; `inward` where the operand is the smaller.

    `operand` and `result` are places among the call's own.
    """

    operand: int
    result: int
    low: tuple[int, ...]
    shape: Shape
    inward: bool


def along(axis: int, at: int, rank: int) -> tuple[int, ...]:
    """The corner of a box that begins `at` elements along one axis."""
    return tuple(at if place == axis else 0 for place in range(rank))


@dataclass(frozen=True)
class Reads:
    """What the values of an operand stand for: `low` to `high` suit, `permitted` may stand there (None: all).

    `why` follows the node's name in a sentence.
    """

    low: int
    high: int
    why: str
    permitted: tuple[int, int] | None


def indices(size: int, what: str) -> Reads:
    """Indices among `size` elements, negative ones from the end."""
    return Reads(0, size - 1, f"takes {what}", (-size, size - 1))


def lengths(steps: int) -> Reads:
    """Lengths of sequences of so many steps."""
    return Reads(min(1, steps), steps, f"takes lengths of sequences of {steps} steps", (0, steps))


@dataclass(frozen=True)
class Lengths:
    """What data decides of a call: the length of one axis of each result, None where a result has a fixed shape.

    No data gives more than `most` elements there.
    """

    most: int
    axes: tuple[int | None, ...]


@dataclass(frozen=True)
class Limits:
    """The result is operand `operand`, with values below `low` and above `high` brought to these."""

    operand: int
    low: float
    high: float


@dataclass(frozen=True)
class Margin:
    """Elements of one `value` around the spatial axes of operand 0: `pads` before each axis, then behind each.

    No element of the operand itself is below `least`.
    """

    pads: Shape
    value: float
    least: float


@dataclass(frozen=True)
class DescentWindow:
    """How a Descent takes a product back: groups, then stride, dilation and padding before, each by rows and columns.

    `turned` weights are a matrix [depth, results].
    """

    numbers: Shape
    turned: bool = False


def descent_window(groups: int, strides: Shape, dilations: Shape, begins: Shape) -> DescentWindow:
    """The window of a convolution over one or two axes."""
    by_axis = ((1, *strides)[-2:], (1, *dilations)[-2:], (0, *begins)[-2:])
    return DescentWindow((groups, *(one for two in by_axis for one in two)))


def descent_matrix(*, turned: bool) -> DescentWindow:
    """The window of a product of matrices."""
    return DescentWindow((1, 1, 1, 1, 1, 0, 0), turned)
