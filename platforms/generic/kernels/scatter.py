"""ScatterElements, ScatterND, TensorScatter and MaxUnpool: elements written where run-time indices point."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from tilewright.numerics import is_half, loaded, stored, zero_code
from tilewright.operators import one_axis, pooled_shape
from tilewright.platform import Call, Constant, DType, KernelMethods, Operands
from tilewright.platforms.generic.kernels.elements import (
    INDEX,
    MOVED,
    PLAIN,
    Loop,
    address,
    c_type,
    constants_by_name,
    empty,
    loops,
    recoded,
    strides,
    unread,
)
from tilewright.platforms.generic.kernels.nest_expressions import body_text, computing, unsigned
from tilewright.platforms.generic.platform import PLATFORM

_BODIES = {"add": "add", "mul": "mul", "max": "max", "min": "min"}


def writes(call: Call) -> str | None:
    """None, or why the written value cannot be computed."""
    if why := empty(call):
        return why
    reduction = call.text("reduction", "none")
    if reduction == "none":
        return recoded(call, 0, 2)
    if call.outputs[0].quantisation is not None:
        return f"codes are not reduced by '{reduction}'"
    return None if _stored(call) else f"'{reduction}' has no C expression for {call.outputs[0].dtype.value}"


def _stored(call: Call) -> str | None:
    """The C expression of the written value over e0, the element as it is, and e1, the update."""
    reduction, kind = call.text("reduction", "none"), call.outputs[0].dtype
    if reduction == "none":
        return "e1"
    if kind.value == "bool":
        return {"add": "e0 || e1", "max": "e0 || e1", "mul": "e0 && e1", "min": "e0 && e1"}[reduction]
    text = body_text(_BODIES[reduction], [kind, kind], kind, ())
    return None if text is None else text.value


@dataclass(frozen=True)
class ScatterContext:
    """Loops over the indices; `index` is an index's own address, `target` the address it points to through `at`.

    `word` is the type in which integers are added or multiplied, empty for all else.
    """

    elements: int
    loops: tuple[Loop, ...]
    index: str
    target: str
    size: int
    local: str
    value: str
    reads: bool
    dtype: DType
    word: str

    def stores(self, target: str) -> tuple[str, ...]:
        """Statements that write the value as an element; a sum in another type than that of elements has a name."""
        if self.moves:
            return (f"{target} = {self.value};",)
        if self.word:
            return (f"const {self.word} sum = {self.value};", f"{target} = {stored(self.dtype, 'sum')};")
        return (f"{target} = {stored(self.dtype, self.value, computing(self.dtype) if self.reads else None)};",)

    @property
    def moves(self) -> bool:
        """True where a half is written as it is, without a conversion."""
        return is_half(self.dtype) and not self.reads

    def real_of(self, element: str) -> str:
        """An operand of the written value."""
        return element if self.moves else loaded(self.dtype, element)


@PLATFORM.kernel(
    "Scatter", "ScatterElements", types=f"{MOVED}, {INDEX}, {MOVED} -> {MOVED}", template="scatter_elements.c.mako",
    sources=["index.h", "runs.h"],
)  # fmt: skip
class ScatterElements(KernelMethods):
    """Single elements written along one axis; an index outside writes the nearest element."""

    def accepts(self, call: Call) -> str | None:
        """The reduction needs an expression in C."""
        return writes(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Every constant operand."""
        return constants_by_name(operands, 0, 1, 2)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """The result takes the memory of the data."""
        return () if 0 in call.constants else ((0, 0),)

    def context(self, operands: Operands) -> ScatterContext:
        """Loops over every index."""
        call = operands.call
        shape, index_shape = call.shape(), call.shape(1)
        axis = one_axis(call, call.integer("axis", 0), len(shape))
        places = ["at" if place == axis else f"i{place}" for place in range(len(shape))]
        target = " + ".join(f"{name} * {step}" for name, step in zip(places, strides(shape), strict=True))
        return scatter_context(call, loops(index_shape), address(index_shape), target, shape[axis])


def scatter_context(call: Call, listed: tuple[Loop, ...], index: str, target: str, size: int) -> ScatterContext:
    """The written value, in these loops."""
    y = call.outputs[0]
    value = _stored(call)
    assert value is not None
    reads = "e0" in value
    local = "float" if reads and is_half(y.dtype) else c_type(y)
    wraps = call.text("reduction", "none") in ("add", "mul") and not y.dtype.is_float and y.dtype.value != "bool"
    word = unsigned(y.dtype) if wraps else ""
    return ScatterContext(y.elements, listed, index, target, size, local, value, reads, y.dtype, word)


@dataclass(frozen=True)
class PlacesContext:
    """`tuples` index tuples of `depth` each; `axes` are the place in a tuple, the size and the step of those that it
    addresses, those of one place only where there are no others. `inner` elements each.
    """

    scatter: ScatterContext
    tuples: int
    depth: int
    axes: tuple[tuple[int, int, int], ...]
    inner: int


@PLATFORM.kernel(
    "ScatterND",
    types=f"{MOVED}, {INDEX}, {MOVED} -> {MOVED}",
    template="scatter_nd.c.mako",
    sources=["index.h", "runs.h"],
)
class ScatterND(KernelMethods):
    """Slices written where tuples of run-time indices point."""

    def accepts(self, call: Call) -> str | None:
        """The reduction needs an expression in C."""
        return writes(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Every constant operand."""
        return constants_by_name(operands, 0, 1, 2)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """The result takes the memory of the data."""
        return () if 0 in call.constants else ((0, 0),)

    def context(self, operands: Operands) -> PlacesContext:
        """Sizes of the addressed axes."""
        call = operands.call
        shape, index_shape = call.shape(), call.shape(1)
        depth = index_shape[-1]
        every = tuple((j, shape[j], strides(shape)[j]) for j in range(depth))
        axes = tuple(each for each in every if each[1] > 1) or every
        tuples = prod(index_shape[:-1])
        return PlacesContext(scatter_context(call, (), "", "", 0), tuples, depth, axes, prod(shape[depth:]))


@dataclass(frozen=True)
class CacheContext:
    """A cache of `batch` x `outer` x `size` x `inner`, of which `count` places are overwritten."""

    elements: int
    batch: int
    outer: int
    size: int
    count: int
    inner: int
    starts: bool
    circular: bool


@PLATFORM.kernel(
    "TensorScatter", types=f"{MOVED}, {MOVED}, i64? -> {MOVED}", template="tensor_scatter.c.mako", sources=["runs.h"]
)
class TensorScatter(KernelMethods):
    """A stretch of each batch entry overwritten from a run-time start; a linear start is limited to what fits."""

    def accepts(self, call: Call) -> str | None:
        """Elements are moved as they are."""
        return empty(call) or recoded(call, 0, 1)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Every constant operand."""
        return constants_by_name(operands, 0, 1, 2)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """The result takes the memory of the cache."""
        return () if 0 in call.constants else ((0, 0),)

    def context(self, operands: Operands) -> CacheContext:
        """Sizes around the axis of the sequence."""
        call = operands.call
        shape = call.shape()
        axis = one_axis(call, call.integer("axis", -2), len(shape))
        return CacheContext(
            prod(shape), shape[0], prod(shape[1:axis]), shape[axis], call.shape(1)[axis], prod(shape[axis + 1 :]),
            call.optional(2) is not None, call.text("mode", "linear") == "circular",
        )  # fmt: skip


@dataclass(frozen=True)
class UnpoolContext:
    """`pooled` elements of the shape that indices count in; `places` turns such an index into one of the result."""

    count: int
    elements: int
    pooled: int
    steps: tuple[tuple[int, int, int], ...]
    zero: int
    unread: tuple[str, ...]


@PLATFORM.kernel(
    "MaxUnpool", types=f"{PLAIN}, {INDEX}, i64? -> {PLAIN}", template="max_unpool.c.mako", sources=["index.h"]
)
class MaxUnpool(KernelMethods):
    """Maxima put back where run-time indices point, zero elsewhere."""

    def accepts(self, call: Call) -> str | None:
        """Elements are moved as they are."""
        return empty(call) or recoded(call, 0)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Data or indices where they are constant."""
        return constants_by_name(operands, 0, 1)

    def context(self, operands: Operands) -> UnpoolContext:
        """How an index splits into axes."""
        call = operands.call
        shape, y = pooled_shape(call), call.outputs[0]
        steps = tuple(zip(strides(shape), shape, strides(y.shape), strict=True))
        return UnpoolContext(
            prod(call.shape()), y.elements, prod(shape), steps, int(zero_code(call)), unread(call, 0, 1)
        )
