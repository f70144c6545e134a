"""Convolutions and products of 16 bits on cores with the vector extension: eight products in one instruction.

They serve codes of 16 bits, and weights that need more than eight. Inputs of four pixels are copied as halves; weights
stay bytes where they fit. Four pixels go by two channels, up to two pixels or rows by eight.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.numerics import C_TYPES, ROUNDING, Requantiser, proof, requantise
from tilewright.platform import Array, Call, Constant, DType, KernelMethods, Needs, Operands, Work
from tilewright.platforms.cortex_m.kernels import matrix_i8, mve
from tilewright.platforms.cortex_m.kernels.matrix_i16 import OFFSET, fixed_form, is_own, starts_of
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels import conv_i8, dense_i8
from tilewright.platforms.generic.kernels.blocks import Axis, Groups, axis, groups_of
from tilewright.platforms.generic.kernels.dense_f32 import memory_order
from tilewright.platforms.generic.kernels.overlap import gap_bytes, patch_steps

TYPES = "qi8|qu8|qi16|qu16, qi8|qu8|qi4|qu4|qi16, i32|i64? -> qi8|qu8|qi16|qu16"
VECTOR, FOUR, TWO, EIGHT = 8, 4, 2, 8
"""Inputs of a step; pixels and channels of a block, and channels of a block of one pixel."""
FEW = 2
"""Pixels that are computed one by one."""
COPIES = {DType.I8: "i8", DType.U8: "u8", DType.I16: "i16", DType.U16: "u16"}


@dataclass(frozen=True)
class WideWork(Work):
    """Steps of blocks of four pixels, and those blocks; steps of single pixels, and theirs; runs of inputs that are
    copied, and vectors of them."""

    steps: float = 0.0
    blocks: float = 0.0
    row_steps: float = 0.0
    row_blocks: float = 0.0
    runs: float = 0.0
    vectors: float = 0.0


PRICES = WideWork(steps=16.0, blocks=90.0, row_steps=19.0, row_blocks=85.0, runs=30.0, vectors=10.0)
"""Instructions for one unit of each kind of work."""


@dataclass(frozen=True)
class WideContext:
    """Every number of one layer; `depth` inputs of a pixel of a group, `row` of a line of its window.

    `first` bytes of the first step count; `block` channels of a block, whose weights take `block_words`; `places` are
    those of a block's sums. The table of a block holds multipliers of so many `lanes`, then addends and shifts to the
    left where channels differ in them.
    """

    x_type: str
    y_type: str
    x_name: str
    copy: str
    h: Axis
    w: Axis
    groups: Groups
    row: int
    depth: int
    first: int
    pixels: int
    few: bool
    block: int
    block_words: int
    starts: tuple[int, ...]
    places: tuple[int, ...]
    weights: str
    by_runs: bool
    padded: bool
    zero: int
    y_bits: int
    requantise: Requantiser
    vectors: bool
    own: bool
    lanes: int


def starts_at(channels: int, block: int) -> tuple[int, ...]:
    """First channels of the blocks; the last one overlaps the one before, or lacks channels where there is none."""
    return tuple(max(0, min(at, channels - block)) for at in range(0, channels, block))


def constants_of(call: Call, weights: Array, dtype: DType, groups: int, few: bool) -> tuple[Constant, ...]:
    """The stream of starts and weights [OC, K in whole vectors] block by block, and the numbers of the codes."""
    block, channels = EIGHT if few else TWO, weights.shape[0] // groups
    first = [g * channels + at for g in range(groups) for at in starts_at(channels, block)]
    rows = np.asarray(first)[:, None] + np.arange(block)[None, :]
    rows = np.where(np.arange(block) < channels, rows, rows[:, :1])
    starts = starts_of(call, weights)[rows].view(np.uint32)
    steps = weights[rows].reshape(len(first), block, -1, VECTOR).transpose(0, 2, 1, 3)
    plain = np.int8 if dtype is DType.I8 else np.int16
    words = np.ascontiguousarray(steps.astype(plain)).reshape(len(first), -1).view(np.uint32)
    constants = [Constant("stream", DType.U32, np.concatenate([starts, words], axis=1).reshape(-1))]
    form = fixed_form(call)
    if form is None:
        return (*constants, *requantise(proof(call)).constants)
    lanes = rows if few else np.tile(rows, (1, 2))
    numbers = [form.multiplier, form.addend, form.shift] if is_own(form) else [form.multiplier]
    parts = [number.spread(len(weights))[lanes] * (-1 if number is form.shift else 1) for number in numbers]
    table = np.concatenate(parts, axis=1)
    return (*constants, Constant("table", DType.I32, mve.words(table)))


def in_steps(flat: Array) -> Array:
    """[OC, K] as steps of eight, of which the first one has zeros behind the inputs that make the others whole."""
    missing = -flat.shape[1] % VECTOR
    first = flat[:, : VECTOR - missing]
    return np.concatenate([first, np.zeros((len(flat), missing), flat.dtype), flat[:, VECTOR - missing :]], axis=1)


def wanted(call: Call, dtype: DType) -> str | None:
    """None where codes have 16 bits or weights need more than eight."""
    if call.tensor(0).dtype.bits == 16 or dtype is not DType.I8:
        return None
    return "codes and weights of eight bits have kernels of sixteen products"


def scratch_bytes(numbers: WideContext) -> int:
    """Halves of the pixels of a block, eight at least of the last one."""
    pixels = 1 if numbers.few else min(FOUR, numbers.pixels)
    return 2 * ((pixels - 1) * numbers.depth + max(numbers.depth, VECTOR))


def price(numbers: WideContext) -> float:
    """The work of a layer at the prices of its kinds."""
    groups, steps = numbers.groups, -(-numbers.depth // VECTOR)
    blocks = groups.count * len(numbers.starts)
    fours = numbers.pixels if numbers.few else -(-numbers.pixels // FOUR)
    copied = fours * (1 if numbers.few else FOUR) * groups.count * numbers.h.kernel
    runs = copied * (1 if numbers.by_runs else numbers.w.kernel)
    vectors = runs * -(-(numbers.row if numbers.by_runs else groups.channels) // VECTOR)
    if numbers.few:
        work = WideWork(row_steps=fours * blocks * steps, row_blocks=fours * blocks, runs=runs, vectors=vectors)
    else:
        work = WideWork(steps=fours * blocks * steps, blocks=fours * blocks, runs=runs, vectors=vectors)
    return work.priced(PRICES)


def _context(call: Call, h: Axis, w: Axis, groups: Groups, row: int, dtype: DType, name: str) -> WideContext:
    x, y, pixels, form = call.tensor(0), call.outputs[0], h.out * w.out, fixed_form(call)
    assert x.quantisation is not None
    few, depth = pixels <= FEW, h.kernel * row
    block, width = EIGHT if few else TWO, 1 if dtype is DType.I8 else 2
    lanes = [(0, side) for side in range(EIGHT)] if few else [(j, side) for j in range(FOUR) for side in range(TWO)]
    return WideContext(
        x_type=C_TYPES[x.dtype],
        y_type=C_TYPES[y.dtype],
        x_name=name,
        copy=COPIES[x.dtype],
        h=h,
        w=w,
        groups=groups,
        row=row,
        depth=depth,
        first=2 * (depth - (depth - 1) // VECTOR * VECTOR),
        pixels=pixels,
        few=few,
        block=block,
        block_words=block + block * -(-depth // VECTOR) * VECTOR * width // 4,
        starts=starts_at(groups.results, block),
        places=tuple(min(j, pixels - 1) * groups.all_results + side for j, side in lanes),
        weights="BYTES" if width == 1 else "HALVES",
        by_runs=groups.count == 1 and w.dilation == 1,
        padded=conv_i8.is_padded(h, w),
        zero=x.quantisation.zero_point[0] - (OFFSET if x.dtype is DType.U16 else 0),
        y_bits=y.dtype.bits,
        requantise=requantise(proof(call)),
        vectors=form is not None,
        own=form is not None and is_own(form),
        lanes=EIGHT if few else FOUR,
    )


@PLATFORM.kernel(
    "Conv", types=TYPES, template="mve_wide.c.mako", layout="channels_last",
    sources=[*ROUNDING, "mve.h", "mve_wide.h"], preference=38, requires=Needs(has=("mve",)),
)  # fmt: skip
class ConvWideMve(KernelMethods):
    """Convolution of 16 bits, of any window and groups."""

    def accepts(self, call: Call) -> str | None:
        """What the portable kernel accepts, with two results or more of each group."""
        if groups_of(call).results < TWO:
            return "the kernel computes two output channels of a group at once"
        if (why := conv_i8.accepts(call)) is not None:
            return why
        return wanted(call, conv_i8.weights_of(call)[1])

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights [OC, kh * kw * IC in whole vectors]."""
        call, numbers = operands.call, self.context(operands)
        weights, dtype = conv_i8.weights_of(call)
        flat = in_steps(np.moveaxis(weights, 1, -1).reshape(len(weights), -1))
        return constants_of(call, flat, dtype, numbers.groups.count, numbers.few)

    def scratch(self, operands: Operands) -> int:
        """The inputs of the pixels of a block."""
        return scratch_bytes(self.context(operands))

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """The pixels of a block are copied before their results are written, those of a group at a time."""
        call, numbers = operands.call, self.context(operands)
        x, y = call.tensor(0), call.outputs[0]
        at_once = 1 if numbers.few else min(FOUR, numbers.pixels)
        steps = patch_steps(numbers.h, numbers.w, at_once, y.shape[1], x.dtype.bits // 8, y.dtype.bits // 8)
        return ((0, 0, gap_bytes(*steps, reads_before_writing=numbers.groups.count == 1)),)

    def cost(self, call: Call) -> float:
        """Work at the prices of its kinds."""
        return price(self.context(Operands(call)))

    def context(self, operands: Operands) -> WideContext:
        """The numbers of the layer."""
        call = operands.call
        groups, (h, w) = groups_of(call), matrix_i8.axes_of(call)
        return _context(call, h, w, groups, w.kernel * groups.channels, conv_i8.weights_of(call)[1], "x")


@PLATFORM.kernel(
    "Gemm", "MatMul", types=TYPES, template="mve_wide.c.mako", layout=("rows", "default"),
    sources=[*ROUNDING, "mve.h", "mve_wide.h"], preference=38, requires=Needs(has=("mve",)),
)  # fmt: skip
class DenseWideMve(KernelMethods):
    """Matrix product of 16 bits with a constant right-hand side."""

    def accepts(self, call: Call) -> str | None:
        """What the portable kernel accepts, with two columns or more."""
        if call.outputs[0].shape and call.outputs[0].shape[-1] < TWO:
            return "the kernel computes two columns at once"
        return dense_i8.accepts(call) or wanted(call, dense_i8.matrix(call)[1])

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights [column, depth in whole vectors], rows in the order in which the operand lies in memory."""
        call, numbers = operands.call, self.context(operands)
        weights, dtype = dense_i8.matrix(call)
        layout = operands.layout(call.tensor(0))
        if not layout.is_default:
            weights = weights[memory_order(layout)]
        return constants_of(call, in_steps(weights.T), dtype, 1, numbers.few)

    def scratch(self, operands: Operands) -> int:
        """The inputs of the rows of a block."""
        return scratch_bytes(self.context(operands))

    def cost(self, call: Call) -> float:
        """Work at the prices of its kinds."""
        return price(self.context(Operands(call)))

    def context(self, operands: Operands) -> WideContext:
        """The numbers of the layer, its rows as pixels."""
        call = operands.call
        inputs, columns = call.shape(0)[-1], call.outputs[0].shape[-1]
        rows = call.tensor(0).elements // inputs
        h, w = axis(1, 1, 1, 1, 1, 0, rows * inputs), axis(rows, rows, 1, 1, 1, 0, inputs)
        groups = Groups(1, inputs, columns, inputs * columns)
        return _context(call, h, w, groups, inputs, dense_i8.matrix(call)[1], "a")
