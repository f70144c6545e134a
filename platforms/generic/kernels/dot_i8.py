"""Integer convolution and matrix products as dot products: patches widened to 16 bits, weights in their natural order.

The patches of a few pixels are gathered once and widened to int16; then every output channel is a dot product of an
int16 and an int8 row, which compilers turn into multiply-add of pairs (`pmaddwd`, 0.27 to 0.35 instructions per
multiply-accumulate with gcc 12 for x86-64-v3 at any -O level from -O2 with vectorisation).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.numerics import C_TYPES, ROUNDING, Requantiser, accumulator, proof, requantise
from tilewright.platform import Array, Call, Constant, DType, KernelMethods, Operands
from tilewright.platforms.generic.kernels import conv_i8, dense_i8
from tilewright.platforms.generic.kernels.blocks import Axis, Groups, groups_of
from tilewright.platforms.generic.kernels.dense_f32 import memory_order
from tilewright.platforms.generic.kernels.float_text import ATTRIBUTE
from tilewright.platforms.generic.kernels.nest_address import minus_text
from tilewright.platforms.generic.kernels.overlap import gap_bytes, patch_steps
from tilewright.platforms.generic.platform import PLATFORM

LANES = 16
SHORTEST = 12
TOGETHER, OFFSET = 4, 256
"""Columns at once of a single row, which is read where it lies. Codes minus 256 need sixteen bits, so that compilers
multiply them in pairs; products of eight bits they would widen one by one."""


@dataclass(frozen=True)
class Packed:
    """Weights of four bits, two to a byte: `channels` of them are unpacked at once, in `parts` by group."""

    channels: int
    parts: int
    signed: bool
    zero: int

    def of(self, nibble: str) -> str:
        """The weight, less its zero point, of four bits without sign."""
        return minus_text(f"({nibble} ^ 8) - 8" if self.signed else nibble, self.zero)


@dataclass(frozen=True)
class DotContext:
    """Every number of one product: `pixels` patches of `depth` elements (`padded_depth` with zeros) at once."""

    attribute: str
    x_type: str
    w_type: str
    y_type: str
    patch: bool
    h: Axis | None
    w: Axis | None
    groups: Groups
    x_channels: int
    results: int
    depth: int
    padded_depth: int
    pixels: int
    zero: int
    x_name: str
    bias_name: str
    requantise: Requantiser
    together: int = 2
    direct: bool = False
    offset: int = 0
    packed: Packed | None = None


def padded_depth(depth: int) -> int:
    """The depth rounded up to whole vectors."""
    return -(-depth // LANES) * LANES


def rows(weights: Array) -> Array:
    """[channel, depth] with zeros behind every row, flat."""
    extra = padded_depth(weights.shape[1]) - weights.shape[1]
    return np.pad(weights, ((0, 0), (0, extra))).reshape(-1)


def _pixels(results: int) -> int:
    """Patches at once: four, or a near number that divides the results, so that the last step repeats nothing."""
    return next((n for n in (4, 5, 3, 6) if results % n == 0), min(4, results))


def _scratch(results: int, depth: int) -> int:
    return 2 * _pixels(results) * padded_depth(depth)


def _depth(call: Call) -> int:
    return call.tensor(1).elements // call.tensor(1).shape[0]


def is_direct(call: Call) -> bool:
    """One row of int8 or uint8 codes, whose sums with the offset fit into 32 bits."""
    x = call.tensor(0)
    reach = int(np.abs(dense_i8.matrix(call)[0].astype(np.int64)).sum(axis=0).max()) * 2 * OFFSET
    return x.elements == x.shape[-1] and x.dtype in (DType.I8, DType.U8) and reach < 1 << 30


def _too_wide(call: Call) -> str | None:
    x = call.tensor(0)
    return f"'{x.name}' is u16, patches are widened to int16" if x.dtype is DType.U16 else None


@PLATFORM.kernel(
    "Conv", types=conv_i8.TYPES, template="dot_i8.c.mako", layout="channels_last",
    sources=["vectorised.h", *ROUNDING], preference=15,
)  # fmt: skip
class ConvDotI8(KernelMethods):
    """Integer convolution as dot products over gathered patches."""

    def accepts(self, call: Call) -> str | None:
        """A sum long enough to fill vectors."""
        if _depth(call) < SHORTEST:
            return f"the sum has {_depth(call)} terms, dot products pay from {SHORTEST} on"
        return _too_wide(call) or conv_i8.accepts(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights as [channel][kh][kw][ic], folded starts, requantisation."""
        call = operands.call
        weights, dtype = conv_i8.weights_of(call)
        moved = np.moveaxis(weights, 1, -1).reshape(weights.shape[0], -1)
        start = np.asarray(accumulator(call).start, np.int32)
        requantisation = requantise(proof(call)).constants
        return (Constant("w", dtype, rows(moved)), Constant("b", DType.I32, start), *requantisation)

    def scratch(self, operands: Operands) -> int:
        """The widened patches."""
        y = operands.call.outputs[0]
        return _scratch(y.elements // y.shape[1], _depth(operands.call))

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """A few patches are gathered before their results are written."""
        call = operands.call
        if call.integer("group", 1) != 1:
            return ()
        x, y = call.tensor(0), call.outputs[0]
        h, w = conv_i8.spatial_axes(call, conv_i8.strides_of(call))
        pixels = _pixels(h.out * w.out)
        steps = patch_steps(h, w, pixels, y.shape[1], x.dtype.bits // 8, y.dtype.bits // 8)
        return ((0, 0, gap_bytes(*steps, reads_before_writing=True)),)

    def cost(self, call: Call) -> float:
        """About a third of an instruction per multiply-accumulate."""
        return 0.35 * call.outputs[0].elements * padded_depth(_depth(call))

    def context(self, operands: Operands) -> DotContext:
        """The numbers of the patches."""
        call = operands.call
        x, y = call.tensor(0), call.outputs[0]
        assert x.quantisation is not None
        _, dtype = conv_i8.weights_of(call)
        h, w = conv_i8.spatial_axes(call, conv_i8.strides_of(call))
        results = h.out * w.out
        whole = h.kernel * w.kernel == 1 and h.stride * w.stride == 1 and not conv_i8.is_padded(h, w)
        return DotContext(
            attribute=ATTRIBUTE, x_type=C_TYPES[x.dtype], w_type=C_TYPES[dtype], y_type=C_TYPES[y.dtype],
            patch=not whole, h=h, w=w, groups=groups_of(call), x_channels=x.shape[1], results=results,
            depth=_depth(call), padded_depth=padded_depth(_depth(call)), pixels=_pixels(results),
            zero=x.quantisation.zero_point[0], x_name="x", bias_name="b", requantise=requantise(proof(call)),
        )  # fmt: skip


@PLATFORM.kernel(
    "Gemm", "MatMul", types=conv_i8.TYPES, template="dot_i8.c.mako", layout=("rows", "default"),
    sources=["vectorised.h", *ROUNDING], preference=15,
)  # fmt: skip
class DenseDotI8(KernelMethods):
    """Integer matrix product as dot products of rows."""

    def accepts(self, call: Call) -> str | None:
        """A sum long enough to fill vectors."""
        depth = call.shape(0)[-1] if call.shape(0) else 0
        if depth < SHORTEST:
            return f"the sum has {depth} terms, dot products pay from {SHORTEST} on"
        return _too_wide(call) or dense_i8.accepts(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights as [column][depth] in the order in which the operand lies in memory; the offset folded in."""
        call = operands.call
        weights, dtype = dense_i8.matrix(call)
        layout = operands.layout(call.tensor(0))
        if not layout.is_default:
            weights = weights[memory_order(layout)]
        columns = weights.shape[1]
        requantisation = requantise(proof(call)).constants
        flat = rows(weights.T)
        start = np.broadcast_to(accumulator(call).start, (columns,))
        if is_direct(call):
            flat, start = weights.T.reshape(-1), start + OFFSET * weights.astype(np.int64).sum(axis=0)
        start = start.astype(np.int32)
        return (Constant("w", dtype, flat), Constant("bias", DType.I32, start), *requantisation)

    def scratch(self, operands: Operands) -> int:
        """The widened rows; a single row is not widened."""
        x = operands.call.tensor(0)
        if is_direct(operands.call):
            return 0
        return _scratch(x.elements // x.shape[-1], x.shape[-1])

    def cost(self, call: Call) -> float:
        """About a third of an instruction per multiply-accumulate."""
        return 0.35 * call.outputs[0].elements * padded_depth(call.shape(0)[-1])

    def context(self, operands: Operands) -> DotContext:
        """The numbers of the rows."""
        call = operands.call
        x, y = call.tensor(0), call.outputs[0]
        assert x.quantisation is not None
        _, dtype = dense_i8.matrix(call)
        depth, columns = x.shape[-1], y.shape[-1]
        direct = is_direct(call)
        return DotContext(
            attribute=ATTRIBUTE, x_type=C_TYPES[x.dtype], w_type=C_TYPES[dtype], y_type=C_TYPES[y.dtype],
            patch=False, h=None, w=None, groups=Groups(1, depth, columns, depth * columns),
            x_channels=depth, results=x.elements // depth, depth=depth,
            padded_depth=depth if direct else padded_depth(depth), together=TOGETHER if direct else 2,
            direct=direct, offset=OFFSET, pixels=_pixels(x.elements // depth), zero=x.quantisation.zero_point[0],
            x_name="a", bias_name="bias", requantise=requantise(proof(call)),
        )  # fmt: skip
