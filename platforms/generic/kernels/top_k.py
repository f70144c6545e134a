"""TopK: the k largest or smallest along an axis, of equal ones the first; not-a-number counts as the largest."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from tilewright.numerics import is_half, loaded
from tilewright.operators import has_bound, top_axis, top_count
from tilewright.platform import Call, Constant, DType, KernelMethods, Operands
from tilewright.platforms.generic.kernels.elements import MOVED, c_type, constants_by_name, empty, recoded
from tilewright.platforms.generic.platform import PLATFORM


@dataclass(frozen=True)
class TopContext:
    """`outer` blocks of `size` x `inner` elements; `before` is true where `a` stands before `b`.

    Where k is `counted` at run time, `count` is the most of it.
    """

    outer: int
    size: int
    inner: int
    count: int
    c_type: str
    before: str
    indexed: bool
    counted: bool
    padding: int
    dtype: DType

    @property
    def converted(self) -> bool:
        """True where elements are compared as floats, not as they are."""
        return is_half(self.dtype)

    def real_of(self, element: str) -> str:
        """The value of an element."""
        return loaded(self.dtype, element)


@PLATFORM.kernel("TopK", types=f"{MOVED}, i64? -> {MOVED}, i64?, i64?", template="top_k.c.mako")
class TopK(KernelMethods):
    """Selection into the results themselves: what stands before the last of those found is moved up to its place."""

    def accepts(self, call: Call) -> str | None:
        """Elements are moved as they are."""
        return empty(call) or recoded(call, 0) or (_uneven(call) if has_bound(call) else None)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """The data where it is constant."""
        return constants_by_name(operands, 0)

    def cost(self, call: Call) -> float:
        """Every element is looked at; of elements in no order, few more than k are moved up."""
        count, rows = top_count(call), call.outputs[0].elements / max(1, top_count(call))
        return 8.0 * call.tensor(0).elements + 4.0 * rows * count * count

    def context(self, operands: Operands) -> TopContext:
        """Sizes around the axis and the order."""
        call = operands.call
        axis, shape, x = top_axis(call), call.shape(), call.tensor(0)
        largest = bool(call.integer("largest", 1))
        a, b = ("e0", "e1") if is_half(x.dtype) else ("a", "b")
        before = f"{a} > {b}" if largest else f"{a} < {b}"
        if x.dtype.is_float:
            before += f" || ({a} != {a} && {b} == {b})" if largest else f" || ({a} == {a} && {b} != {b})"
        return TopContext(
            prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :]), top_count(call), c_type(x), before,
            1 in call.present, has_bound(call), _zero(call), x.dtype,
        )  # fmt: skip


def _zero(call: Call) -> int:
    """What stands for 0 behind the values that there are."""
    meaning = call.outputs[0].quantisation
    return meaning.zero_point[0] if meaning else 0


def _uneven(call: Call) -> str | None:
    """The sentence for channels in which other codes stand for 0."""
    meaning = call.outputs[0].quantisation
    return "0 has another code in every channel" if meaning and len(set(meaning.zero_point)) > 1 else None
