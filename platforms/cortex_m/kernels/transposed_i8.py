"""Integer ConvTranspose by phases: the taps of a pixel are gathered and multiplied as in a convolution.

Each phase has weights of its own in the form of the matrix core, or of vectors, and starts of its own: taps outside of
the input read the zero point.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from tilewright.numerics import C_TYPES, SHIFTS, accumulator, the_quantisation
from tilewright.platform import Array, Call, Constant, DType, KernelMethods, Needs, Operands, Work
from tilewright.platforms.cortex_m.kernels import matrix_i8, mve
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels import phases as geometry
from tilewright.platforms.generic.kernels.conv_i8 import weights_of
from tilewright.platforms.generic.kernels.phases import TransposedAxis
from tilewright.platforms.generic.kernels.runs import RUNS


@dataclass(frozen=True)
class TransposedWork(Work):
    """Products in steps of the core, results, gathered and widened inputs, taps and blocks."""

    core_instructions: float
    results: float
    inputs: float
    taps: float
    blocks: float


DSP_PRICES = TransposedWork(core_instructions=1.1, results=8.0, inputs=2.2, taps=30.0, blocks=80.0)
MVE_PRICES = TransposedWork(core_instructions=1.0, results=6.0, inputs=0.3, taps=25.0, blocks=60.0)
"""Instructions for one unit of each kind of work."""


@dataclass(frozen=True)
class PhaseNumbers:
    """Members of `tilewright_phase`; `at_once` pixels are computed together."""

    at_once: int
    members: tuple[int, ...]


@dataclass(frozen=True)
class TransposedContext:
    """Every number of one layer; `depth` are the inputs of the phase that has most."""

    x_type: str
    y_type: str
    unsigned: bool
    h: TransposedAxis
    w: TransposedAxis
    channels: int
    out_channels: int
    depth: int
    zero_point: int
    codes: matrix_i8.Codes
    phases: tuple[PhaseNumbers, ...]


@dataclass(frozen=True)
class Part:
    """One phase: its channels as the matrix core takes them."""

    rows: geometry.Phase
    columns: geometry.Phase
    channels: matrix_i8.Channels

    @property
    def depth(self) -> int:
        """Inputs of a pixel, filled up."""
        return int(self.channels.weights.shape[1])


def accepts(call: Call) -> str | None:
    """A layer in phases, two or more output channels, weights of eight bits, a plain requantisation."""
    if (why := geometry.refused(call)) is not None:
        return why
    if call.outputs[0].shape[1] < 2:
        return "the kernel computes two output channels at once"
    if weights_of(call)[1] is not DType.I8:
        return "weights minus their zero point need more than eight bits"
    return matrix_i8.refusal(call)


def parts_of(call: Call, multiple: int) -> tuple[Part, ...]:
    """Channels of every phase; their inputs are filled up with zeros to a multiple, at least one."""
    weights = weights_of(call)[0].astype(np.int64)
    if weights.ndim == 3:
        weights = weights[:, :, None]
    taps = weights.transpose(1, 2, 3, 0)
    everything = matrix_i8.channels_of(call, taps.reshape(taps.shape[0], -1))
    live = ~everything.constant
    zero, bias = the_quantisation(call.tensor(0)).zero_point[0], accumulator(call).bias
    parts = []
    for rows, columns in geometry.phases(*geometry.transposed_axes(call)):
        some = taps[:, list(rows.taps)][:, :, list(columns.taps)].reshape(taps.shape[0], -1) * live[:, None]
        start = np.where(live, bias - zero * some.sum(axis=1), everything.start)
        missing = max(multiple, some.shape[1] + -some.shape[1] % multiple) - some.shape[1]
        padded: Array = np.pad(some, ((0, 0), (0, missing)))
        parts.append(Part(rows, columns, replace(everything, weights=padded, start=start)))
    return tuple(parts)


def context(call: Call, parts: tuple[Part, ...], sizes: tuple[tuple[int, int], ...]) -> TransposedContext:
    """The numbers of a layer whose phases take so many elements of weights and of the table."""
    x, y = call.tensor(0), call.outputs[0]
    h, w = geometry.transposed_axes(call)
    numbers, weights, table = [], 0, 0
    for part, (weight_elements, table_elements) in zip(parts, sizes, strict=True):
        members = (
            part.rows.first, part.rows.count, len(part.rows.taps), part.rows.begin,
            part.columns.first, part.columns.count, len(part.columns.taps), part.columns.begin,
            part.depth, weights, table,
        )  # fmt: skip
        numbers.append(PhaseNumbers(matrix_i8.pixels_at_once(part.columns.count), members))
        weights, table = weights + weight_elements, table + table_elements
    return TransposedContext(
        x_type=C_TYPES[x.dtype],
        y_type=C_TYPES[y.dtype],
        unsigned=x.dtype is DType.U8,
        h=h,
        w=w,
        channels=x.shape[1],
        out_channels=y.shape[1],
        depth=max(part.depth for part in parts),
        zero_point=the_quantisation(x).zero_point[0],
        codes=matrix_i8.codes_of(call, parts[0].channels),
        phases=tuple(numbers),
    )


def work(call: Call, multiple: int, step: float) -> TransposedWork:
    """The work of one call, `step` instructions for eight products of the core."""
    totals = np.zeros(5)
    columns = call.outputs[0].shape[1]
    for part in parts_of(call, multiple):
        pixels = part.rows.count * part.columns.count
        taps = len(part.rows.taps) * len(part.columns.taps)
        totals += np.asarray([part.depth * columns * step, columns, part.depth, taps, 0.25 * columns]) * pixels
    return TransposedWork(*map(float, totals))


@PLATFORM.kernel(
    "ConvTranspose", types=matrix_i8.TYPES, template="transposed_dsp.c.mako", layout="channels_last",
    sources=[SHIFTS, "dsp.h", "matrix_i8.h", "transposed.h", RUNS], preference=20, requires=Needs(has=("dsp",)),
)  # fmt: skip
class TransposedDsp(KernelMethods):
    """Integer ConvTranspose: four pixels of a phase by two channels of dual multiplies."""

    def accepts(self, call: Call) -> str | None:
        """See `accepts`."""
        return accepts(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights and tables of the phases, one behind the other."""
        call = operands.call
        parts = parts_of(call, 4)
        form = matrix_i8.codes_of(call, parts[0].channels).form
        constants_of = [matrix_i8.matrix_constants(call, part.channels, form) for part in parts]
        joined = [np.concatenate([constants[at].values for constants in constants_of]) for at in (0, 1)]
        return Constant("w", DType.U32, joined[0]), Constant("table", DType.I32, joined[1]), constants_of[0][2]

    def scratch(self, operands: Operands) -> int:
        """Gathered and widened inputs of four pixels."""
        parts = parts_of(operands.call, 4)
        at_once = max(matrix_i8.pixels_at_once(part.columns.count) for part in parts)
        return 3 * at_once * max(part.depth for part in parts)

    def cost(self, call: Call) -> float:
        """Work at the prices of its kinds."""
        return work(call, 4, 0.75).priced(DSP_PRICES)

    def context(self, operands: Operands) -> TransposedContext:
        """The numbers of the layer."""
        call = operands.call
        parts = parts_of(call, 4)
        form = matrix_i8.codes_of(call, parts[0].channels).form
        constants_of = [matrix_i8.matrix_constants(call, part.channels, form) for part in parts]
        return context(call, parts, tuple((one[0].values.size, one[1].values.size) for one in constants_of))


@PLATFORM.kernel(
    "ConvTranspose", types=mve.TYPES, template="transposed_mve.c.mako", layout="channels_last",
    sources=["mve.h", "transposed.h"], preference=40, requires=Needs(has=("mve",)),
)  # fmt: skip
class TransposedMve(KernelMethods):
    """Integer ConvTranspose: a pixel by eight channels, sixteen inputs at a time."""

    def accepts(self, call: Call) -> str | None:
        """See `accepts`."""
        return accepts(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights [block of channels][vector][channel][16] and tables of the phases, one behind the other."""
        call = operands.call
        weights, tables = zip(*(_vectors(call, part) for part in parts_of(call, mve.VECTOR)), strict=True)
        return (
            Constant("w", DType.U32, mve.bytes_as_words(np.concatenate(weights))),
            Constant("table", DType.I32, mve.words(np.concatenate(tables))),
            matrix_i8.codes_constant(call),
        )

    def scratch(self, operands: Operands) -> int:
        """The gathered inputs of a pixel, and the end of the last copy."""
        return max(part.depth for part in parts_of(operands.call, mve.VECTOR)) + mve.VECTOR

    def cost(self, call: Call) -> float:
        """Work at the prices of its kinds."""
        return work(call, mve.VECTOR, 19 / 128).priced(MVE_PRICES)

    def context(self, operands: Operands) -> TransposedContext:
        """The numbers of the layer."""
        call = operands.call
        parts = parts_of(call, mve.VECTOR)
        return context(call, parts, tuple((w.size, t.size) for w, t in (_vectors(call, part) for part in parts)))


def _vectors(call: Call, part: Part) -> tuple[Array, Array]:
    """Weights and table of one phase, channels in eights with zeros behind the last."""
    weights = part.channels.weights
    numbers = np.stack(mve.columns_of(call, part.channels), 1)
    missing = -weights.shape[0] % 8
    blocks = np.pad(weights, ((0, missing), (0, 0))).reshape(-1, 8, part.depth // mve.VECTOR, mve.VECTOR)
    table = np.pad(numbers, ((0, missing), (0, 0))).reshape(-1, 8, 4).transpose(0, 2, 1)
    return blocks.transpose(0, 2, 1, 3).reshape(-1), table.reshape(-1)
