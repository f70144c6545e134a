"""Integer convolution and dense layers on cores with the vector extension: sixteen products in one instruction.

The inputs of four pixels lie in runs of bytes, straight in the tensor for a 1x1 convolution of whole vectors, else
gathered in scratch. Pairs of channels that are constant are left out as in the scalar kernels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.codegen.c_types import C_TYPES
from tilewright.platform import Array, Call, Constant, DType, Operands, priced
from tilewright.platforms.cortex_m.kernels import conv_i8, dense_i8, matrix_i8
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels import conv_i8 as portable
from tilewright.platforms.generic.kernels.blocks import Axis
from tilewright.platforms.generic.kernels.overlap import gap_bytes, patch_steps

VECTOR = 16
CONV_PRICES = (13.4, 46.0, 80.0, 5.5, 41.0, 9.9)
DENSE_PRICES = (19.0, 56.5, 11.0, 38.0)
"""Instructions for one of each amount of `conv_work` and `dense_work`."""
TYPES = "qi8, qi8|qu8|qi4|qu4, i32? -> qi8|qu8"


@dataclass(frozen=True)
class MveConvContext:
    """Every number of one convolution; `depth` counts inputs of a pixel, padded to whole vectors."""

    y_type: str
    h: Axis
    w: Axis
    channels: int
    inputs: int
    depth: int
    out_channels: int
    pixels: int
    direct: bool
    padded: bool
    zero_point: int
    first: int
    pairs: int
    sparse: bool
    own: bool


@dataclass(frozen=True)
class MveDenseContext:
    """`rows` x `inputs` times `inputs` x `columns`; `depth` is `inputs` in whole vectors."""

    y_type: str
    rows: int
    inputs: int
    depth: int
    columns: int


def in_vectors(weights: Array) -> Array:
    """[OC, K] with zeros up to whole vectors of inputs."""
    return np.pad(weights, ((0, 0), (0, -weights.shape[1] % VECTOR)))


def columns_of(call: Call, found: matrix_i8.Channels) -> tuple[Array, Array, Array, Array]:
    """Starts, multipliers, addends and shifts to the left, per channel."""
    fixed = matrix_i8.fixed_point(call)
    addend, left = (np.broadcast_to(p.astype(np.int64), found.start.shape) for p in (fixed.addend, -fixed.shift))
    return found.start, found.multiplier, addend, left


def needs_own(call: Call) -> bool:
    """True where channels differ in addend or shift, or codes do more than saturate to int8."""
    fixed = matrix_i8.fixed_point(call)
    return matrix_i8.is_own(call) or (fixed.low, fixed.high) != (-128, 127)


def words(values: Array) -> Array:
    """Integers of either sign as int32."""
    return (values.reshape(-1) & 0xFFFFFFFF).astype(np.uint32).view(np.int32)


def bytes_as_words(values: Array) -> Array:
    """int8 values as the uint32 words in which they lie, so that vectors may be loaded from them."""
    return np.ascontiguousarray(values.astype(np.int8)).reshape(-1).view(np.uint32)


def is_direct(call: Call) -> bool:
    """True where pixels are read where they lie."""
    return call.shape(0)[1] % VECTOR == 0 and conv_i8.way_of(call) == "direct"


def conv_work(call: Call) -> tuple[float, ...]:
    """For four pixels: vectors of pairs of channels, pairs, blocks; vectors copied of inner pixels, pixels at the edge,
    and vectors copied of their taps."""
    h, w = matrix_i8.axes_of(call)
    flat, pixels, channels = conv_i8.weights_of(call), conv_i8.pixels_of(call), call.shape(0)[1]
    pairs = len(matrix_i8.channels_of(call, flat, sparse=True).pairs)
    blocks, vectors = -(-pixels // 4), in_vectors(flat).shape[1] / VECTOR
    inner = edges = 0
    if not is_direct(call):
        inner = conv_i8.inner_blocks(h, w, 1) if w.dilation == 1 else 0
        edges = 4 * blocks - inner
    row = -(-w.kernel * channels // VECTOR)
    return (
        blocks * pairs * vectors, float(blocks * pairs), float(blocks), float(inner * h.kernel * row), float(edges),
        float(edges * h.kernel * w.kernel * -(-channels // VECTOR)),
    )  # fmt: skip


def dense_work(call: Call) -> tuple[float, ...]:
    """For eight columns: vectors and blocks; vectors of rows that are copied; rows."""
    rows, inputs, blocks = dense_i8.rows_of(call), call.shape(0)[-1], -(-call.outputs[0].shape[-1] // 8)
    vectors = -(-inputs // VECTOR)
    copied = rows * vectors if inputs % VECTOR else 0
    return float(rows * blocks * vectors), float(rows * blocks), float(copied), float(rows)


@PLATFORM.kernel(
    "Conv", types=TYPES, template="mve_conv.c.mako", layout="channels_last", sources=["mve.h"], preference=40,
    requires=("mve",),
)  # fmt: skip
class ConvMve:
    """Integer convolution of any window: four pixels by two channels, sixteen inputs at a time."""

    def accepts(self, call: Call) -> str | None:
        """What the scalar kernel accepts."""
        return conv_i8.accepts(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights [pair][vector][channel of the pair][16], the table, limits, and codes of constant channels."""
        call = operands.call
        found = matrix_i8.channels_of(call, conv_i8.weights_of(call), sparse=True)
        weights = in_vectors(found.weights)
        firsts = np.asarray(found.pairs)
        split = np.stack([weights[firsts], weights[firsts + 1]], axis=1).reshape(firsts.size, 2, -1, VECTOR)
        both = [part[firsts + side] for part in columns_of(call, found) for side in (0, 1)]
        step = np.diff(firsts, append=firsts[-1] + 2)
        table = np.stack([*both[:4], step, *(both[4:] if needs_own(call) else [])], axis=1)
        constants = [
            Constant("w", DType.U32, bytes_as_words(split.transpose(0, 2, 1, 3))),
            Constant("table", DType.I32, words(table)),
            matrix_i8.codes_constant(call),
        ]
        if found.constant.any():
            y = call.outputs[0]
            constants.append(Constant("fill", y.dtype, found.codes.astype(y.dtype.numpy)))
        return tuple(constants)

    def scratch(self, operands: Operands) -> int:
        """The gathered inputs of four pixels, and the end of the last copy."""
        call = operands.call
        return 0 if self._direct(call) else 4 * in_vectors(conv_i8.weights_of(call)).shape[1] + VECTOR

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """Gathered pixels are read before their results are written."""
        call = operands.call
        h, w = matrix_i8.axes_of(call)
        steps = patch_steps(h, w, min(4, h.out * w.out), call.outputs[0].shape[1], 1, 1)
        return ((0, 0, gap_bytes(*steps, reads_before_writing=not self._direct(call))),)

    def cost(self, call: Call) -> float:
        """See `conv_work`."""
        return priced(conv_work(call), CONV_PRICES)

    def _direct(self, call: Call) -> bool:
        return is_direct(call)

    def context(self, operands: Operands) -> MveConvContext:
        """The numbers of the layer."""
        call = operands.call
        x, y = call.tensor(0), call.outputs[0]
        assert x.quantisation is not None
        flat = conv_i8.weights_of(call)
        found = matrix_i8.channels_of(call, flat, sparse=True)
        h, w = matrix_i8.axes_of(call)
        return MveConvContext(
            y_type=C_TYPES[y.dtype],
            h=h,
            w=w,
            channels=x.shape[1],
            inputs=h.kernel * w.kernel * x.shape[1],
            depth=in_vectors(flat).shape[1],
            out_channels=y.shape[1],
            pixels=h.out * w.out,
            direct=self._direct(call),
            padded=portable.is_padded(h, w),
            zero_point=x.quantisation.zero_point[0],
            first=found.pairs[0],
            pairs=len(found.pairs),
            sparse=bool(found.constant.any()),
            own=needs_own(call),
        )


@PLATFORM.kernel(
    "Gemm", "MatMul", types=TYPES, template="mve_dense.c.mako", layout=("rows", "default"), sources=["mve.h"],
    preference=40, requires=("mve",),
)  # fmt: skip
class DenseMve:
    """Integer matrix product with a constant right-hand side: eight columns, sixteen inputs at a time."""

    def accepts(self, call: Call) -> str | None:
        """What the scalar kernel accepts."""
        return dense_i8.accepts(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights [eight columns][vector][column][16] and the table, both padded to eights of columns."""
        call = operands.call
        weights = in_vectors(dense_i8.weights_of(operands))
        missing = -weights.shape[0] % 8
        tamed = matrix_i8.channels_of(call, weights).weights
        padded = np.pad(tamed, ((0, missing), (0, 0))).reshape(-1, 8, weights.shape[1] // VECTOR, VECTOR)
        columns = columns_of(call, matrix_i8.channels_of(call, weights))
        table = np.stack([np.pad(part, (0, missing)).reshape(-1, 8) for part in columns], axis=1)
        return (
            Constant("w", DType.U32, bytes_as_words(padded.transpose(0, 2, 1, 3))),
            Constant("table", DType.I32, words(table)),
            matrix_i8.codes_constant(call),
        )

    def scratch(self, operands: Operands) -> int:
        """A copy of a row that is no whole number of vectors."""
        inputs = operands.call.shape(0)[-1]
        return 0 if inputs % VECTOR == 0 else inputs + -inputs % VECTOR

    def cost(self, call: Call) -> float:
        """See `dense_work`."""
        return priced(dense_work(call), DENSE_PRICES)

    def context(self, operands: Operands) -> MveDenseContext:
        """The numbers of the layer."""
        call = operands.call
        inputs = call.shape(0)[-1]
        return MveDenseContext(
            y_type=C_TYPES[call.outputs[0].dtype],
            rows=dense_i8.rows_of(call),
            inputs=inputs,
            depth=inputs + -inputs % VECTOR,
            columns=call.outputs[0].shape[-1],
        )
