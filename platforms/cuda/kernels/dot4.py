"""Integer convolutions and matrix products in fours: one thread per result, four products per instruction.

Weights lie [kh][kw][ic / 4][oc][4], so that neighbouring threads, which are neighbouring output channels, read
neighbouring words while they share the word of the input. Taps outside of the input are skipped; what the input's zero
point contributes is taken off tap by tap.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.numerics import C_TYPES, ROUNDING, Requantiser, accumulator, proof, requantise, the_quantisation
from tilewright.operators import conv_window
from tilewright.platform import Array, Call, Constant, DType, KernelMethods, Operands
from tilewright.platforms.cuda.platform import PLATFORM
from tilewright.platforms.generic.kernels import conv_i8, dense_i8
from tilewright.platforms.generic.kernels.dense_f32 import memory_order
from tilewright.platforms.generic.kernels.nest import operand_names

TYPES = "qi8, qi8|qu8|qi4|qu4, i32|i64? -> qi8|qu8|qi16|qu16"
SOURCES = ["dot4.h", *ROUNDING]


@dataclass(frozen=True)
class Line:
    """One spatial axis: extents and window."""

    size: int
    out: int
    kernel: int
    stride: int
    dilation: int
    begin: int


@dataclass(frozen=True)
class Dot4Context:
    """Every number of one layer; a matrix product is a convolution of one tap along its rows.

    `inside` are the conditions for a tap to lie in the input where some does not; `group` is the offset of a group.
    """

    elements: int
    x: str
    y_type: str
    h: Line
    w: Line
    groups: int
    channels: int
    out_group: int
    out_channels: int
    zero: int
    inside: tuple[str, ...]
    group: str
    requantise: Requantiser


def weights_refused(weights: Array, dtype: DType, channels: int) -> str | None:
    """None, or why the weights do not go in fours."""
    if dtype is not DType.I8:
        return "centred weights need more than eight bits"
    if channels % 4:
        return f"{channels} input channels are no multiple of four"
    return None if weights.size else "there are no weights"


def packed(weights: Array) -> Array:
    """[oc, ic, kh, kw] to [kh][kw][ic / 4][oc][4]."""
    oc, ic, kh, kw = weights.shape
    return weights.transpose(2, 3, 1, 0).reshape(kh, kw, ic // 4, 4, oc).transpose(0, 1, 2, 4, 3).reshape(-1)


def constants(call: Call, weights: Array) -> tuple[Constant, ...]:
    """Packed weights, the bias, the sum of each tap's weights where the input has a zero point, requantisation."""
    channels = weights.shape[0]
    bias = np.broadcast_to(np.asarray(accumulator(call).bias, np.int32), (channels,))
    constants = [
        Constant("w4", DType.I8, packed(weights), align=16),
        Constant("start", DType.I32, np.ascontiguousarray(bias)),
    ]
    if the_quantisation(call.tensor(0)).zero_point[0]:
        sums = weights.astype(np.int32).sum(axis=1).transpose(1, 2, 0)
        constants.append(Constant("taps", DType.I32, np.ascontiguousarray(sums).reshape(-1)))
    return (*constants, *requantise(proof(call)).constants)


def spatial(call: Call) -> tuple[Line, Line]:
    """Rows and columns; a convolution with one spatial axis has one row."""
    window = conv_window(call)
    parts = zip(
        call.shape(0)[2:], call.outputs[0].shape[2:], window.kernel, window.strides, window.dilations, window.begins,
        strict=True,
    )  # fmt: skip
    lines = [Line(*part) for part in parts]
    return (Line(1, 1, 1, 1, 1, 0), lines[0]) if len(lines) == 1 else (lines[0], lines[1])


def convolution_weights(call: Call) -> tuple[Array, DType]:
    """Centred weights of rank four."""
    weights, dtype = conv_i8.weights_of(call)
    return (weights[:, :, None, :] if weights.ndim == 3 else weights), dtype


@PLATFORM.kernel("Conv", types=TYPES, template="dot4.cu.mako", layout="channels_last", sources=SOURCES, preference=30)
class ConvDot4(KernelMethods):
    """Integer convolution, four input channels per instruction."""

    def accepts(self, call: Call) -> str | None:
        """Constant weights of eight bits, input channels of each group in fours."""
        refusal = conv_i8.accepts(call)
        return refusal or weights_refused(*convolution_weights(call), call.shape(1)[1])

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights by four input channels, starts, requantisation."""
        return constants(operands.call, convolution_weights(operands.call)[0])

    def context(self, operands: Operands) -> Dot4Context:
        """The numbers of the layer."""
        call = operands.call
        h, w = spatial(call)
        groups, channels = call.integer("group", 1), call.shape(1)[1]
        return _context(call, h, w, groups, channels, call.outputs[0].shape[1])


@PLATFORM.kernel(
    "Gemm", "MatMul", types=TYPES, template="dot4.cu.mako", layout=("rows", "default"), sources=SOURCES, preference=30
)
class DenseDot4(KernelMethods):
    """Integer matrix product with constant weights, four products per instruction."""

    def accepts(self, call: Call) -> str | None:
        """A constant matrix of eight bits, a depth in fours."""
        refusal = dense_i8.accepts(call)
        if refusal is not None:
            return refusal
        matrix, dtype = dense_i8.matrix(call)
        return weights_refused(matrix, dtype, matrix.shape[0])

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Columns by four inputs, starts, requantisation."""
        matrix, _ = dense_i8.matrix(operands.call)
        layout = operands.layout(operands.call.tensor(0))
        if not layout.is_default:
            matrix = matrix[memory_order(layout)]
        return constants(operands.call, np.ascontiguousarray(matrix.T)[:, :, None, None])

    def context(self, operands: Operands) -> Dot4Context:
        """Rows are pixels, columns are output channels."""
        call = operands.call
        depth = call.shape(0)[-1]
        rows = call.tensor(0).elements // depth
        line = Line(rows, rows, 1, 1, 1, 0)
        return _context(call, Line(1, 1, 1, 1, 1, 0), line, 1, depth, call.outputs[0].shape[-1])


def _inside(line: Line, name: str) -> tuple[str, ...]:
    """The conditions that the window of some result needs along one axis."""
    reach = (line.out - 1) * line.stride - line.begin + (line.kernel - 1) * line.dilation
    low = (f"{name} >= 0",) if line.begin > 0 else ()
    return (*low, f"{name} < {line.size}") if reach >= line.size else low


def _context(call: Call, h: Line, w: Line, groups: int, channels: int, out_channels: int) -> Dot4Context:
    return Dot4Context(
        elements=call.outputs[0].elements,
        x=operand_names(call)[0],
        y_type=C_TYPES[call.outputs[0].dtype],
        h=h,
        w=w,
        groups=groups,
        channels=channels,
        out_group=out_channels // groups,
        out_channels=out_channels,
        zero=the_quantisation(call.tensor(0)).zero_point[0],
        inside=(*_inside(h, "row"), *_inside(w, "column")),
        group=f" + oc / {out_channels // groups} * {channels}" if groups > 1 else "",
        requantise=requantise(proof(call)),
    )
