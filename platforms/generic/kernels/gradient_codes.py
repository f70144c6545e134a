"""Gradients in codes: made of floats, masked, added, multiplied by slopes; and the step of a bias."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from tilewright.numerics import ROUNDING
from tilewright.platform import Call, Constant, KernelMethods, Operands, Shape
from tilewright.platforms.generic.kernels.elements import constants_by_name, empty
from tilewright.platforms.generic.kernels.nest import operand_names
from tilewright.platforms.generic.platform import PLATFORM

WHOLE = [*ROUNDING, "whole_steps.h"]


@dataclass(frozen=True)
class ElementsContext:
    """How many elements, and the numbers of the node."""

    elements: int
    numbers: tuple[int, ...] = ()


class Elements(KernelMethods):
    """Element by element, over the first operand."""

    def accepts(self, call: Call) -> str | None:
        """Operands of the run time; tables may be constant."""
        return "an operand is constant" if 0 in call.constants or 1 in call.constants else empty(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """A table."""
        return constants_by_name(operands, *range(len(operands.call.inputs)))


@PLATFORM.kernel("GradientCodes", types="f32 -> i8, i32", template="gradient_codes.c.mako")
class GradientCodes(Elements):
    """The largest number, then the codes, rounded to even by an addition."""

    def cost(self, call: Call) -> float:
        """Two passes over the elements."""
        return 14.0 * call.tensor(0).elements

    def context(self, operands: Operands) -> ElementsContext:
        """Sizes."""
        return ElementsContext(operands.call.tensor(0).elements)


@dataclass(frozen=True)
class MaskContext:
    """Loops of both tensors as they lie: sizes, and steps of the gradient and of the results."""

    sizes: Shape
    steps: tuple[Shape, Shape]
    low: int
    high: int
    range: tuple[int, int]

    def open(self, code: str) -> str:
        """C of whether a code lies between the limits, of which those that its type has anyway are not asked."""
        parts = [f"{code} > {self.low}"] if self.low >= self.range[0] else []
        parts += [f"{code} < {self.high}"] if self.high <= self.range[1] else []
        return " && ".join(parts) or "1"


@PLATFORM.kernel("GradientMask", types="i8, i8|qi8|qu8 -> i8", template="gradient_mask.c.mako", layout=("same", "same"))
class GradientMask(Elements):
    """Zero where a result lies at its limits; a gradient of whole planes is spread over them."""

    def accepts(self, call: Call) -> str | None:
        """A mask that lets some codes through and some not."""
        low, high = call.tensor(1).dtype.range
        nothing = call.integer("low") < low and call.integer("high") > high
        return "every code passes" if nothing else super().accepts(call)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Over the gradient where it is as large, and over the results."""
        return ((0, 0), (1, 0)) if call.shape() == call.shape(1) else ((1, 0),)

    def cost(self, call: Call) -> float:
        """Two loads, two comparisons and a store."""
        return 9.0 * call.tensor(1).elements

    def context(self, operands: Operands) -> MaskContext:
        """The axes of the results, innermost in memory last, those that lie side by side joined."""
        call = operands.call
        y, codes = call.tensor(1), call.tensor(0)
        whole, narrow = (operands.layout(one).axis_strides(one.shape) for one in (y, codes))
        assert whole is not None
        assert narrow is not None
        own = [0 if a == 1 != b else step for a, b, step in zip(codes.shape, y.shape, narrow, strict=True)]
        axes = sorted((axis for axis, size in enumerate(y.shape) if size > 1), key=lambda axis: -whole[axis])
        loops: list[tuple[int, int, int]] = []
        for axis in axes:
            size, a, b = y.shape[axis], own[axis], whole[axis]
            if loops and loops[-1][1:] == (a * size, b * size):
                loops[-1] = (loops[-1][0] * size, a, b)
            else:
                loops.append((size, a, b))
        loops = loops or [(1, 1, 1)]
        sizes, first, second = zip(*loops, strict=True)
        return MaskContext(sizes, (first, second), call.integer("low"), call.integer("high"), y.dtype.range)


@PLATFORM.kernel(
    "GradientSum", types="i8, i32, i8, i32 -> i8, i32", template="gradient_sum.c.mako", sources=WHOLE,
    layout=("same", "same"),
)  # fmt: skip
class GradientSum(Elements):
    """The largest sum, then all of them as codes."""

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Over either gradient."""
        return (0, 0), (2, 0)

    def cost(self, call: Call) -> float:
        """Two passes over both."""
        return 30.0 * call.tensor(0).elements

    def context(self, operands: Operands) -> ElementsContext:
        """Sizes, factors and powers of two."""
        call = operands.call
        numbers = (*call.integers("factors"), *call.integers("offsets"))
        return ElementsContext(call.tensor(0).elements, numbers)


@PLATFORM.kernel(
    "GradientSlopes", types="i8, i8|qi8|qu8, i16 -> i8", template="gradient_slopes.c.mako", sources=WHOLE,
    layout=("same", "same"),
)  # fmt: skip
class GradientSlopes(Elements):
    """The gradient times the slope at each code."""

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Over the gradient, or over the codes."""
        return (0, 0), (1, 0)

    def cost(self, call: Call) -> float:
        """Three loads, a product and its rounding."""
        return 12.0 * call.tensor(0).elements

    def context(self, operands: Operands) -> ElementsContext:
        """Sizes, and the least code."""
        call = operands.call
        return ElementsContext(call.tensor(0).elements, (call.tensor(1).dtype.range[0],))


@dataclass(frozen=True)
class BiasContext:
    """Elements before a channel, channels, and elements behind one, with their steps; and the numbers of the step."""

    outer: tuple[tuple[int, int], ...]
    channels: int
    step: int
    places: int
    limit: int
    bias: str


@PLATFORM.kernel(
    "BiasDescent", types="i8, i32, i32, i32 -> i32", template="bias_descent.c.mako", sources=WHOLE,
    layout=("axes", "default"),
)  # fmt: skip
class BiasDescent(KernelMethods):
    """The sum of the gradient of each channel, and the step that it makes."""

    def accepts(self, call: Call) -> str | None:
        """A bias that can be written."""
        return "the bias is constant" if 2 in call.constants or 0 in call.constants else empty(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """The rates."""
        return constants_by_name(operands, *range(len(operands.call.inputs)))

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Over the bias."""
        return ((2, 0),)

    def cost(self, call: Call) -> float:
        """A load and a sum for each element, and a step for each channel."""
        return 4.0 * call.tensor(0).elements + 60.0 * call.tensor(2).elements

    def context(self, operands: Operands) -> BiasContext:
        """The axes as they lie."""
        call = operands.call
        codes, axis = call.tensor(0), call.integer("axis")
        steps = operands.layout(codes).axis_strides(codes.shape)
        assert steps is not None
        others = tuple(
            (codes.shape[at], steps[at]) for at in range(len(codes.shape)) if at != axis and codes.shape[at] > 1
        )
        return BiasContext(
            others,
            codes.shape[axis],
            steps[axis],
            call.integer("places"),
            call.integer("limit"),
            operand_names(call)[2],
        )


@dataclass(frozen=True)
class PoolContext:
    """Planes with their steps, the window by rows and columns, and the bits of sums that go."""

    planes: tuple[tuple[int, int, int], ...]
    size: tuple[int, int]
    outs: tuple[int, int]
    kernel: tuple[int, int]
    strides: tuple[int, int]
    dilations: tuple[int, int]
    begins: tuple[int, int]
    x_steps: tuple[int, int]
    y_steps: tuple[int, int]
    bits: int
    x_type: str


def pool_context(operands: Operands) -> PoolContext:
    """The numbers of a pool that is taken back: `x` is what it was taken of."""
    call = operands.call
    codes, x, dx = call.tensor(0), call.optional(1), call.outputs[0]
    outer, inner = (operands.layout(one).axis_strides(one.shape) for one in (codes, dx))
    assert outer is not None
    assert inner is not None
    planes = tuple((dx.shape[at], outer[at], inner[at]) for at in range(2))

    def two(values: Shape, first: int) -> tuple[int, int]:
        return (first, values[0]) if len(values) == 1 else (values[0], values[1])

    window = [two(call.integers(name), 1) for name in ("kernel", "strides", "dilations")]
    return PoolContext(
        planes, two(dx.shape[2:], 1), two(codes.shape[2:], 1), window[0], window[1], window[2],
        two(call.integers("begins"), 0), two(inner[2:], 0), two(outer[2:], 0), call.integer("bits", 0),
        "uint8_t" if x is not None and not x.dtype.is_signed else "int8_t",
    )  # fmt: skip


class GradientPool(KernelMethods):
    """Pixel by pixel of the operand: what the windows that it lies in give it."""

    def accepts(self, call: Call) -> str | None:
        """One or two spatial axes."""
        if len(call.shape()) not in (3, 4):
            return f"{len(call.shape()) - 2} spatial axes, the kernel handles one or two"
        return "an operand is constant" if call.constants else empty(call)

    def cost(self, call: Call) -> float:
        """Every window of every pixel."""
        return 30.0 * call.outputs[0].elements + 10.0 * call.tensor(0).elements * prod(call.integers("kernel"))

    def context(self, operands: Operands) -> PoolContext:
        """See `pool_context`."""
        return pool_context(operands)


PLATFORM.kernel(
    "GradientMaxPool", types="i8, i8|qi8|qu8 -> i8", template="gradient_max_pool.c.mako", sources=WHOLE,
    layout=("same", "same"),
)(GradientPool)  # fmt: skip
PLATFORM.kernel(
    "GradientMeanPool", types="i8 -> i8", template="gradient_mean_pool.c.mako", sources=WHOLE, layout=("axes", "like")
)(GradientPool)
