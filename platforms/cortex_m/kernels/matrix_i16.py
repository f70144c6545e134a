"""Convolutions and products of codes of 16 bits on cores with the DSP extension: the sums of the matrix core.

Inputs are pairs of 16 bits as they lie, so that they are only put side by side; weights of eight bits become halves as
those of the other kernels do, wider ones lie as halves. Codes are made of the sums by any requantisation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.numerics import C_TYPES, ROUNDING, MultiplyHigh, Requantiser, accumulator, proof, requantise
from tilewright.platform import Array, Call, Constant, DType, KernelMethods, Needs, Operands, Work
from tilewright.platforms.cortex_m.kernels import matrix_i8
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels import conv_i8, dense_i8
from tilewright.platforms.generic.kernels.blocks import Axis, Groups, axis, groups_of
from tilewright.platforms.generic.kernels.dense_f32 import memory_order
from tilewright.platforms.generic.kernels.overlap import gap_bytes, patch_steps

TYPES = "qi16|qu16, qi8|qu8|qi4|qu4|qi16, i32|i64? -> qi8|qu8|qi16|qu16"
OFFSET = 1 << 15
"""What is taken from unsigned codes."""
LONG, SHORT = 40.0, 8.0
"""Instructions of a result by the exact sequence, and by the proved form."""


@dataclass(frozen=True)
class HalvesWork(Work):
    """Instructions of the matrix core's steps; pairs of channels of a block; results at their price; pixels; gathered
    inputs, and those gathered one by one."""

    core_instructions: float
    pairs: float
    results: float
    pixels: float
    inputs: float
    single_inputs: float


PRICES = HalvesWork(core_instructions=1.0, pairs=34.0, results=1.0, pixels=30.0, inputs=1.1, single_inputs=9.0)
"""Instructions for one unit of each kind of work."""


@dataclass(frozen=True)
class HalvesContext:
    """Every number of one layer: `pairs` words of a pixel of one group, `row` inputs of a line of its window.

    Lines lie `by_runs` where a line of the window is one run of inputs; taps in pairs where their channels are even.
    `flip` makes unsigned inputs signed; `zero` is a pair of zero points. `matrix` is the form that makes codes with a
    table of `table_step` words for two channels, empty where `requantise` makes them of sums.
    """

    x_type: str
    y_type: str
    x_name: str
    bias_name: str
    h: Axis
    w: Axis
    groups: Groups
    row: int
    pairs: int
    pixels: int
    at_once: int
    form: str
    by_runs: bool
    padded: bool
    flip: int
    zero: int
    requantise: Requantiser
    matrix: str
    table_step: int
    result_bytes: int
    group_weights: int


def packed(weights: Array, wide: bool) -> Array:
    """[OC, even K] as uint32 [pair of channels][pair of inputs]: a word of each channel's halves, else one of bytes.

    The last pair of an odd number of channels overlaps the one before.
    """
    values = weights.astype(np.int64).reshape(weights.shape[0], -1, 2)
    firsts = np.asarray(matrix_i8.pairs_of(weights.shape[0]))
    first, second = values[firsts], values[firsts + 1]
    if wide:
        both = np.stack([first, second], axis=2)
        words = (both[..., 0] & 0xFFFF) | (both[..., 1] & 0xFFFF) << 16
    else:
        halves = (second & 255) << 8 | (first & 255)
        words = halves[..., 0] | halves[..., 1] << 16
    return np.asarray(words.reshape(-1), np.uint32)


def starts_of(call: Call, weights: Array) -> Array:
    """Starts of the sums over inputs as the kernel has them; they may wrap, as the sums do."""
    start = np.broadcast_to(accumulator(call).start, (weights.shape[0],))
    if call.tensor(0).dtype is DType.U16:
        start = start + OFFSET * weights.astype(np.int64).sum(axis=1)
    return np.asarray((start & 0xFFFFFFFF).astype(np.uint32).view(np.int32))


def fixed_form(call: Call) -> MultiplyHigh | None:
    """The proved form of 32 bits without a shift before its product."""
    form = requantise(proof(call))
    return form if isinstance(form, MultiplyHigh) and form.pre_shift == 0 else None


def is_own(form: MultiplyHigh) -> bool:
    """True where channels differ in addend or shift."""
    return not (form.addend.uniform and form.shift.uniform)


def matrix_form(call: Call, wide: bool) -> str:
    """The form of the matrix core that makes the codes too; empty where only its sums serve."""
    form, y = fixed_form(call), call.outputs[0].dtype
    if form is None:
        return ""
    full = y.bits == 16 and (form.low, form.high) == DType.I16.range
    own, limited = is_own(form), "" if full and not is_own(form) else "_limited"
    return f"{'_sixteen' if wide else '_wide'}{'_own' if own else ''}{limited}{'_halves' if y.bits == 16 else ''}"


def table_of(form: MultiplyHigh, starts: Array, groups: int) -> Array:
    """Per pair of channels two starts and multipliers, and where channels differ in them two addends and shifts."""
    count = starts.size
    firsts = np.concatenate(
        [np.asarray(matrix_i8.pairs_of(count // groups)) + g * count // groups for g in range(groups)]
    )
    parts = [starts, form.multiplier.spread(count)]
    parts += [form.addend.spread(count), form.shift.spread(count)] if is_own(form) else []
    columns = [part[firsts + side] for part in parts for side in (0, 1)]
    return np.asarray(np.stack(columns, axis=1).reshape(-1), np.int32)


def constants_of(call: Call, weights: Array, dtype: DType, groups: int, bias: str) -> tuple[Constant, ...]:
    """Weights by groups of channels in pairs, and what makes codes of their sums: a table, or starts and numbers."""
    wide, form = dtype is not DType.I8, fixed_form(call)
    words = np.concatenate([packed(part, wide) for part in np.split(weights, groups)])
    w, starts = Constant("w", DType.U32, words), starts_of(call, weights)
    if form is None:
        return (w, Constant(bias, DType.I32, starts), *requantise(proof(call)).constants)
    table = Constant("table", DType.I32, table_of(form, starts, groups))
    return (w, table, matrix_i8.codes_constant(call))


def price(call: Call, numbers: HalvesContext) -> float:
    """The work of a layer at the prices of its kinds."""
    blocks, pairs = -(-numbers.pixels // numbers.at_once), numbers.groups.count * -(-numbers.groups.results // 2)
    inputs = 2 * numbers.pairs * numbers.groups.count * blocks * numbers.at_once
    single = not numbers.by_runs and numbers.groups.channels % 2 == 1
    step = matrix_i8.COST[numbers.at_once] + (0 if numbers.form else 1)
    each = SHORT if numbers.matrix else LONG
    return HalvesWork(
        core_instructions=blocks * pairs * numbers.pairs * step,
        pairs=blocks * pairs,
        results=2 * blocks * pairs * numbers.at_once * each,
        pixels=blocks * numbers.at_once * numbers.groups.count * numbers.h.kernel,
        inputs=inputs,
        single_inputs=inputs if single else 0,
    ).priced(PRICES)


@PLATFORM.kernel(
    "Conv", types=TYPES, template="matrix_i16.c.mako", layout="channels_last",
    sources=[*ROUNDING, "dsp.h", "matrix_i8.h", "matrix_i16.h"], preference=20, requires=Needs(has=("dsp",)),
)  # fmt: skip
class ConvHalvesDsp(KernelMethods):
    """Convolution of codes of 16 bits: four pixels by two channels of dual multiplies."""

    def accepts(self, call: Call) -> str | None:
        """What the portable kernel accepts, with two results or more of each group."""
        if groups_of(call).results < 2:
            return "the kernel computes two output channels of a group at once"
        return conv_i8.accepts(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights [OC, kh][kw * IC, padded to pairs]."""
        call = operands.call
        weights, dtype = conv_i8.weights_of(call)
        if weights.ndim == 3:
            weights = weights[:, :, None, :]
        lines = weights.transpose(0, 2, 3, 1).reshape(*weights.shape[::2][:2], -1)
        lines = np.pad(lines, ((0, 0), (0, 0), (0, lines.shape[2] % 2)))
        return constants_of(call, lines.reshape(len(lines), -1), dtype, groups_of(call).count, "b")

    def scratch(self, operands: Operands) -> int:
        """The inputs of the pixels of a block."""
        numbers = self.context(operands)
        return 4 * numbers.pairs * numbers.at_once

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """The pixels of a block are gathered before their results are written, those of a group at a time."""
        call, numbers = operands.call, self.context(operands)
        y = call.outputs[0]
        steps = patch_steps(numbers.h, numbers.w, numbers.at_once, y.shape[1], 2, y.dtype.bits // 8)
        return ((0, 0, gap_bytes(*steps, reads_before_writing=numbers.groups.count == 1)),)

    def cost(self, call: Call) -> float:
        """Work at the prices of its kinds."""
        return price(call, self.context(Operands(call)))

    def context(self, operands: Operands) -> HalvesContext:
        """The numbers of the layer."""
        call = operands.call
        groups, (h, w) = groups_of(call), matrix_i8.axes_of(call)
        row = w.kernel * groups.channels
        return _context(call, h, w, groups, row, conv_i8.weights_of(call)[1], ("x", "b"))


@PLATFORM.kernel(
    "Gemm", "MatMul", types=TYPES, template="matrix_i16.c.mako", layout=("rows", "default"),
    sources=[*ROUNDING, "dsp.h", "matrix_i8.h", "matrix_i16.h"], preference=20, requires=Needs(has=("dsp",)),
)  # fmt: skip
class DenseHalvesDsp(KernelMethods):
    """Matrix product of codes of 16 bits with a constant right-hand side: four rows by two columns."""

    def accepts(self, call: Call) -> str | None:
        """What the portable kernel accepts, with two columns or more."""
        if call.outputs[0].shape and call.outputs[0].shape[-1] < 2:
            return "the kernel computes two columns at once"
        return dense_i8.accepts(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights [column][depth padded to pairs], rows in the order in which the operand lies in memory."""
        call = operands.call
        weights, dtype = dense_i8.matrix(call)
        layout = operands.layout(call.tensor(0))
        if not layout.is_default:
            weights = weights[memory_order(layout)]
        return constants_of(call, np.pad(weights.T, ((0, 0), (0, weights.shape[0] % 2))), dtype, 1, "bias")

    def scratch(self, operands: Operands) -> int:
        """The inputs of the rows of a block."""
        numbers = self.context(operands)
        return 4 * numbers.pairs * numbers.at_once

    def cost(self, call: Call) -> float:
        """Work at the prices of its kinds."""
        return price(call, self.context(Operands(call)))

    def context(self, operands: Operands) -> HalvesContext:
        """The numbers of the layer, its rows as pixels."""
        call = operands.call
        inputs, columns = call.shape(0)[-1], call.outputs[0].shape[-1]
        rows = call.tensor(0).elements // inputs
        h, w = axis(1, 1, 1, 1, 1, 0, rows * inputs), axis(rows, rows, 1, 1, 1, 0, inputs)
        groups = Groups(1, inputs, columns, inputs * columns)
        return _context(call, h, w, groups, inputs, dense_i8.matrix(call)[1], ("a", "bias"))


def _context(
    call: Call, h: Axis, w: Axis, groups: Groups, row: int, dtype: DType, names: tuple[str, str]
) -> HalvesContext:
    x, y = call.tensor(0), call.outputs[0]
    assert x.quantisation is not None
    unsigned, pixels, wide = x.dtype is DType.U16, h.out * w.out, dtype is not DType.I8
    zero = (x.quantisation.zero_point[0] - (OFFSET if unsigned else 0)) & 0xFFFF
    pairs = h.kernel * ((row + 1) // 2)
    return HalvesContext(
        x_type=C_TYPES[x.dtype],
        y_type=C_TYPES[y.dtype],
        x_name=names[0],
        bias_name=names[1],
        h=h,
        w=w,
        groups=groups,
        row=row,
        pairs=pairs,
        pixels=pixels,
        at_once=matrix_i8.pixels_at_once(pixels),
        form="_sixteen" if wide else "",
        by_runs=groups.count == 1 and w.dilation == 1,
        padded=conv_i8.is_padded(h, w),
        flip=OFFSET | OFFSET << 16 if unsigned else 0,
        zero=zero | zero << 16,
        requantise=requantise(proof(call)),
        matrix=matrix_form(call, wide),
        table_step=8 if "_own" in matrix_form(call, wide) else 4,
        result_bytes=y.dtype.bits // 8,
        group_weights=(groups.results + 1) // 2 * pairs * (2 if wide else 1),
    )
