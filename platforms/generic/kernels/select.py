"""NonZero and Compress where data decides what they select: zeros behind what there is, and a count."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from tilewright.numerics import loaded
from tilewright.operators import compress_axis, length_bound
from tilewright.platform import Call, Constant, KernelMethods, Operands
from tilewright.platforms.generic.kernels.elements import PLAIN, c_type, constants_by_name, empty
from tilewright.platforms.generic.platform import PLATFORM


@dataclass(frozen=True)
class Digit:
    """One coordinate of a place: row `axis` of the result, `size` steps."""

    axis: int
    size: int


@dataclass(frozen=True)
class NonZeroContext:
    """`elements` that are looked at, `rows` of `bound` places, coordinates the fastest first, one element's value."""

    elements: int
    rows: int
    bound: int
    digits: tuple[Digit, ...]
    value: str


@PLATFORM.kernel("NonZero", types=f"{PLAIN} -> i64, i64", template="non_zero.c.mako")
class NonZero(KernelMethods):
    """One pass over the elements; coordinates are worked out for those that are found."""

    def accepts(self, call: Call) -> str | None:
        """Places that are counted."""
        return empty(call)

    def cost(self, call: Call) -> float:
        """A comparison for every element, divisions for those that may be found."""
        return 6.0 * call.tensor(0).elements + 12.0 * call.outputs[0].elements

    def context(self, operands: Operands) -> NonZeroContext:
        """Sizes of every axis; a scalar has one of one element."""
        call = operands.call
        x, shape = call.tensor(0), call.shape() or (1,)
        digits = [Digit(axis, size) for axis, size in enumerate(shape)]
        value = loaded(x.dtype, "x[at]")
        return NonZeroContext(x.elements, len(shape), length_bound(call), tuple(reversed(digits)), value)


@dataclass(frozen=True)
class CompressContext:
    """`outer` blocks of `size` slices of `inner` elements, of which the first `asked` are asked about."""

    outer: int
    size: int
    inner: int
    asked: int
    bound: int


@PLATFORM.kernel("Compress", types=f"{PLAIN}, bool -> {PLAIN}, i64", template="compress.c.mako")
class Compress(KernelMethods):
    """Slices copied where the condition holds."""

    def accepts(self, call: Call) -> str | None:
        """A condition of the run time."""
        return empty(call) or ("its condition is known" if 1 in call.constants else None)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """The data where it is constant."""
        return constants_by_name(operands, 0)

    def cost(self, call: Call) -> float:
        """Every element of the result is written, every condition read."""
        return 5.0 * call.outputs[0].elements + 3.0 * call.tensor(1).elements

    def context(self, operands: Operands) -> CompressContext:
        """Sizes around the axis; all elements where there is none."""
        call = operands.call
        axis, shape, places = compress_axis(call), call.shape(), call.tensor(1).elements
        if axis is None:
            return CompressContext(1, prod(shape), 1, places, length_bound(call))
        return CompressContext(
            prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :]), places, length_bound(call)
        )  # fmt: skip


@dataclass(frozen=True)
class UniqueContext:
    """`size` slices, each `outer` blocks of `inner` elements; which results are wanted, and how elements compare."""

    outer: int
    size: int
    inner: int
    bound: int
    c_type: str
    place: str
    ordered: bool
    indices: bool
    inverse: bool
    counts: bool
    before: str


@PLATFORM.kernel("Unique", types=f"{PLAIN} -> {PLAIN}, i64, i64?, i64?, i64?", template="unique.c.mako")
class Unique(KernelMethods):
    """The first place of every value, kept in order by insertion where values are sorted, else searched one by one."""

    def accepts(self, call: Call) -> str | None:
        """Values of the run time."""
        return empty(call) or ("its data is known" if 0 in call.constants else None)

    def scratch(self, operands: Operands) -> int:
        """The first place of every value that there can be."""
        return _slices(operands.call) * (2 if _place(_slices(operands.call)) == "uint16_t" else 4)

    def cost(self, call: Call) -> float:
        """A search for every slice."""
        return 8.0 * call.tensor(0).elements * max(_slices(call).bit_length(), 1)

    def context(self, operands: Operands) -> UniqueContext:
        """Sizes around the axis and the order."""
        call = operands.call
        x, shape, size = call.tensor(0), call.shape(), _slices(call)
        outer, inner = 1, 1
        if "axis" in call.node.attributes:
            axis = call.integer("axis") % len(shape)
            outer, inner = prod(shape[:axis]), prod(shape[axis + 1 :])
        a, b = loaded(x.dtype, "a"), loaded(x.dtype, "b")
        before = f"{a} < {b}" + (f" || ({a} == {a} && {b} != {b})" if x.dtype.is_float else "")
        return UniqueContext(
            outer, size, inner, length_bound(call), c_type(x), _place(size), bool(call.integer("sorted", 1)),
            1 in call.present, 2 in call.present, 3 in call.present, before,
        )  # fmt: skip


def _slices(call: Call) -> int:
    axis = call.node.attributes.get("axis")
    return call.shape()[call.integer("axis")] if axis is not None else call.tensor(0).elements


def _place(size: int) -> str:
    """The C type of a place among so many."""
    return "uint16_t" if size <= 1 << 16 else "uint32_t"
