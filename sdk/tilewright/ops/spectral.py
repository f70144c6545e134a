"""DFT, STFT, window functions and MelWeightMatrix."""

from __future__ import annotations

import math

import numpy as np

from tilewright.model import Array, Shape
from tilewright.ops.operands import (
    Arrays,
    element_type,
    given,
    integer_scalar,
    maybe,
    needs_float,
    needs_rank,
    one_axis,
    result,
)
from tilewright.ops.operator import Call, Kind, Operator, TensorType


def _complex(x: Array) -> Array:
    """Real (last axis 1) or interleaved (last axis 2) numbers as complex ones, in double precision."""
    wide = x.astype(np.float64)
    return wide[..., 0] if x.shape[-1] == 1 else wide[..., 0] + 1j * wide[..., 1]


def _pairs(x: Array) -> Array:
    return np.stack((x.real, x.imag), -1)


def dft_axis(call: Call) -> int:
    """The axis that is transformed."""
    rank = len(call.shape())
    if call.optional(2) is not None:
        axis = integer_scalar(call, 2, "the axis")
    else:
        axis = call.integer("axis", 1 if call.opset < 20 else -2)
    place = one_axis(call, axis, rank)
    if place == rank - 1:
        raise call.invalid("the last axis holds real and imaginary parts and cannot be transformed")
    return place


def dft_length(call: Call, axis: int) -> int:
    """Points of the transform: asked for, or those along the axis."""
    if call.optional(1) is not None:
        length = integer_scalar(call, 1, "the DFT length")
    elif call.integer("inverse", 0) and call.integer("onesided", 0):
        length = 2 * (call.shape()[axis] - 1)
    else:
        length = call.shape()[axis]
    if length < 1:
        raise call.invalid(f"a DFT of length {length}")
    return length


def _dft(call: Call) -> tuple[TensorType, ...]:
    shape, dtype = call.shape(), needs_float(call)
    if len(shape) < 2 or shape[-1] not in (1, 2):
        raise call.invalid(f"the last axis of {shape} must be 1 or 2")
    axis, inverse, onesided = dft_axis(call), call.integer("inverse", 0), call.integer("onesided", 0)
    length, parts = dft_length(call, axis), 2
    if onesided:
        if not inverse and shape[-1] == 2:
            raise call.invalid("a one-sided DFT needs real numbers")
        length, parts = (length, 1) if inverse else (length // 2 + 1, 2)
    return (result(call, dtype, (*shape[:axis], length, *shape[axis + 1 : -1], parts)),)


def _transformed(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    x, axis = given(arrays, 0), dft_axis(call)
    length, onesided = dft_length(call, axis), call.integer("onesided", 0)
    values = _complex(x)
    if call.integer("inverse", 0):
        transformed = (
            np.fft.irfft(values, length, axis)[..., None] if onesided else _pairs(np.fft.ifft(values, length, axis))
        )
    else:
        transformed = _pairs(np.fft.rfft(values, length, axis) if onesided else np.fft.fft(values, length, axis))
    return (transformed.astype(x.dtype),)


def frames(call: Call) -> tuple[int, int, int]:
    """Frame step, frame length and number of frames."""
    _, samples, _ = needs_rank(call, 0, 3, "STFT")
    step = integer_scalar(call, 1, "the frame step")
    if call.optional(3) is not None:
        length = integer_scalar(call, 3, "the frame length")
    else:
        length = needs_rank(call, 2, 1, "the window")[0] if call.optional(2) is not None else samples
    if step < 1 or not 1 <= length <= samples:
        raise call.invalid(f"frames of {length} every {step} do not fit {samples} samples")
    if call.optional(2) is not None and call.shape(2) != (length,):
        raise call.invalid(f"a window of shape {call.shape(2)} does not fit frames of {length}")
    return step, length, 1 + (samples - length) // step


def _stft(call: Call) -> tuple[TensorType, ...]:
    dtype, (_, length, count) = needs_float(call), frames(call)
    if call.shape()[-1] not in (1, 2):
        raise call.invalid(f"the last axis of {call.shape()} must be 1 or 2")
    bins = length // 2 + 1 if call.integer("onesided", 1) else length
    return (result(call, dtype, (call.shape()[0], count, bins, 2)),)


def _short(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    x, window = given(arrays, 0), maybe(arrays, 2)
    step, length, count = frames(call)
    places = np.arange(count)[:, None] * step + np.arange(length)
    windowed = _complex(x)[:, places] * (1.0 if window is None else window.astype(np.float64))
    spectrum = np.fft.fft(windowed, length, -1)[..., : call.outputs[0].shape[2]]
    return (_pairs(spectrum).astype(x.dtype),)


def _window(call: Call) -> tuple[TensorType, ...]:
    size = integer_scalar(call, 0, "the size")
    return (result(call, element_type(call, call.integer("output_datatype", 1)), (size,)),)


def _window_array(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    size = call.outputs[0].shape[0]
    last = size if call.integer("periodic", 1) else size - 1
    turn = np.arange(size) * (2 * math.pi / max(last, 1))
    if call.node.op == "HannWindow":
        weights = 0.5 - 0.5 * np.cos(turn)
    elif call.node.op == "HammingWindow":
        weights = 25 / 46 - 21 / 46 * np.cos(turn)
    else:
        weights = 0.42 - 0.5 * np.cos(turn) + 0.08 * np.cos(2 * turn)
    return (weights.astype(call.outputs[0].dtype.numpy),)


def _mel(call: Call) -> tuple[TensorType, ...]:
    bins, length, rate = (integer_scalar(call, index, "a size") for index in range(3))
    if bins < 1 or length < 1 or rate < 1:
        raise call.invalid("num_mel_bins, dft_length and sample_rate must be positive")
    shape: Shape = (length // 2 + 1, bins)
    kind = result(call, element_type(call, call.integer("output_datatype", 1)), shape)
    edges = _mel_edges(call)
    if edges[0] < 0 or edges[-1] >= shape[0] or (np.diff(edges) < 0).any():
        raise call.invalid("the edges in hertz do not lie between 0 and half the sample rate")
    return (kind,)


def _mel_edges(call: Call) -> Array:
    """Spectrogram bins where the triangles begin, peak and end."""
    bins, length, rate = (integer_scalar(call, index, "a size") for index in range(3))
    ends = [call.constant(index, "an edge in hertz") for index in (3, 4)]
    if any(end.size != 1 for end in ends):
        raise call.invalid("an edge in hertz must be one number")
    hertz = [float(end.reshape(-1)[0]) for end in ends]
    if not all(math.isfinite(edge) and edge >= 0 for edge in hertz):
        raise call.invalid(f"edges of {hertz} hertz")
    low, high = (2595 * math.log10(1 + edge / 700) for edge in hertz)
    mels = np.arange(bins + 2) * ((high - low) / (bins + 2)) + low
    return np.asarray(np.floor((length + 1) * 700 * (10 ** (mels / 2595) - 1) / rate)).astype(np.int64)


def _mel_array(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    weights, edges = np.zeros(call.outputs[0].shape), _mel_edges(call).tolist()
    for place, (low, centre, high) in enumerate(zip(edges, edges[1:], edges[2:], strict=False)):
        if low == centre:
            weights[centre, place] = 1
        else:
            weights[low : centre + 1, place] = np.arange(centre + 1 - low) / (centre - low)
        if high > centre:
            weights[centre:high, place] = np.arange(high - centre, 0, -1) / (high - centre)
    return (weights.astype(call.outputs[0].dtype.numpy),)


_MEL = ("num_mel_bins", "dft_length", "sample_rate", "lower_edge_hertz", "upper_edge_hertz")
OPERATORS = (
    Operator("DFT", _dft, _transformed, ("x", "dft_length", "axis"), kind=Kind.OPAQUE, sketch="spectrum"),
    Operator(
        "STFT", _stft, _short, ("signal", "frame_step", "window", "frame_length"), kind=Kind.OPAQUE, sketch="spectrum"
    ),
    *(
        Operator(f"{name}Window", _window, _window_array, ("size",), kind=Kind.OPAQUE)
        for name in ("Hann", "Hamming", "Blackman")
    ),
    Operator("MelWeightMatrix", _mel, _mel_array, _MEL, kind=Kind.OPAQUE),
)
