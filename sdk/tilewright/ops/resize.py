"""Resize and Upsample, with the coordinates that ONNX Runtime computes in float32.

A resize is separable: each resized axis has a table of source positions and a table of weights (`taps`), and the axes
are taken one after the other from the first to the last. Sums are in the tensor's own type, float32 for integers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tilewright.model import Array, DType, Node
from tilewright.ops.cast import convert, converting_nest
from tilewright.ops.codes import Codes, Interpolates, Moves
from tilewright.ops.index.affine import Affine
from tilewright.ops.index.body import body, combine
from tilewright.ops.index.build import axes, operand
from tilewright.ops.index.nest import Nest, Space, Subscript, Tensor
from tilewright.ops.index.table import Table
from tilewright.ops.moves import moved
from tilewright.ops.operands import Arrays, given, integer_list, result, some_axes
from tilewright.ops.operator import Call, Operator, TensorType
from tilewright.ops.torch import Torch

F32 = np.float32
_MODES = ("nearest", "linear", "cubic")
_COORDINATES = (
    "half_pixel",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "align_corners",
    "asymmetric",
    "tf_half_pixel_for_nn",
    "tf_crop_and_resize",
)
_ROUNDINGS = ("simple", "round_prefer_floor", "round_prefer_ceil", "floor", "ceil")


@dataclass(frozen=True)
class Axis:
    """How one axis is resized; `scale` is a float32 value, `start` and `end` are the region of interest."""

    size: int
    out: int
    scale: float
    start: float = 0.0
    end: float = 1.0


@dataclass(frozen=True)
class Taps:
    """For every output position of an axis the clamped source positions, their weights, and if it is outside."""

    positions: Array
    weights: Array
    outside: Array


@dataclass(frozen=True)
class Resizing:
    """A resize with all defaults filled in; `axes` has one entry per axis of the operand."""

    mode: str
    coordinates: str
    rounding: str
    axes: tuple[Axis, ...]
    cubic: float
    exclude_outside: bool
    antialias: bool
    extrapolation: float

    def taps(self, axis: int) -> Taps | None:
        """The tables of an axis; None where ONNX Runtime takes it as it is.

        That is an axis of scale 1 (even if the region of interest is a part of it), an antialiased axis that keeps its
        size, and every axis if all keep their sizes.
        """
        one = self.axes[axis]
        unchanged = one.size == one.out
        if unchanged and (one.scale == 1 or self.antialias or all(other.size == other.out for other in self.axes)):
            return None
        return _taps(self, one)


def resizing(call: Call) -> Resizing:
    """The resize that a Resize or Upsample node asks for."""
    if call.node.op == "Upsample" or call.opset < 11:
        mode = call.text("mode", "nearest")
        chosen = Resizing(_known(call, mode), "asymmetric", "simple", _old_axes(call), -0.75, False, False, 0.0)
        return replace(chosen, mode="linear" if mode == "bilinear" else chosen.mode)
    coordinates = call.text("coordinate_transformation_mode", "half_pixel")
    rounding = call.text("nearest_mode", "round_prefer_floor")
    if coordinates not in _COORDINATES or rounding not in _ROUNDINGS:
        raise call.invalid(f"coordinates '{coordinates}' or nearest_mode '{rounding}' are not known")
    sized = _axes(call, coordinates == "tf_crop_and_resize")
    if coordinates == "align_corners" and any(abs(axis.size * axis.scale - axis.out) > 1e-3 for axis in sized):
        raise call.unsupported(
            "the standard aligns the corners of a fractional size, ONNX Runtime those of the whole one",
            "give sizes instead of scales",
        )
    return Resizing(
        _known(call, call.text("mode", "nearest")),
        coordinates,
        rounding,
        sized,
        call.real("cubic_coeff_a", -0.75),
        bool(call.integer("exclude_outside", 0)),
        bool(call.integer("antialias", 0)),
        call.real("extrapolation_value", 0.0),
    )


def _known(call: Call, mode: str) -> str:
    mode = "linear" if mode == "bilinear" else mode
    if mode not in _MODES:
        raise call.invalid(f"mode '{mode}' is none of {', '.join(_MODES)}")
    return mode


def _scales(call: Call, index: int, count: int) -> tuple[float, ...]:
    scales = call.constant(index, "the scales").reshape(-1)
    if len(scales) != count or not np.isfinite(scales).all() or (scales <= 0).any():
        raise call.invalid(f"scales {scales.tolist()} must be {count} positive numbers")
    return tuple(float(F32(scale)) for scale in scales)


def _old_axes(call: Call) -> tuple[Axis, ...]:
    shape = call.shape()
    if "scales" in call.node.attributes:
        listed = call.node.attributes["scales"]
        if not isinstance(listed, tuple) or len(listed) != len(shape):
            raise call.invalid("attribute 'scales' must hold one number per axis")
        scales = tuple(float(scale) for scale in listed)
        if min(scales, default=1.0) <= 0:
            raise call.invalid(f"scales {scales} must be positive")
    else:
        scales = _scales(call, 1, len(shape))
    return tuple(Axis(size, int(F32(size) * F32(scale)), scale) for size, scale in zip(shape, scales, strict=True))


def _axes(call: Call, crop: bool) -> tuple[Axis, ...]:
    shape = call.shape()
    named = some_axes(call, call.integers("axes", tuple(range(len(shape)))), len(shape))
    axes = [Axis(size, size, 1.0) for size in shape]
    regions = [(0.0, 1.0)] * len(named)
    if crop:
        roi = call.constant(1, "the region of interest").reshape(-1).tolist()
        if len(roi) != 2 * len(named):
            raise call.invalid(f"the region of interest has {len(roi)} numbers for {len(named)} axes")
        regions = list(zip(roi[: len(named)], roi[len(named) :], strict=True))
    scaled = call.optional(2) is not None and call.shape(2) != (0,)
    if scaled == (call.optional(3) is not None and call.shape(3) != (0,)):
        raise call.invalid("exactly one of scales and sizes must be given")
    if scaled:
        for axis, scale, (start, end) in zip(named, _scales(call, 2, len(named)), regions, strict=True):
            reach = F32(scale) * F32(shape[axis])
            out = int(np.floor(reach * F32(end - start))) if crop else int(reach)
            axes[axis] = Axis(shape[axis], out, scale, start, end)
        return tuple(axes)
    sizes, ratios = _sizes(call, [shape[axis] for axis in named])
    for axis, size, ratio, (start, end) in zip(named, sizes, ratios, regions, strict=True):
        axes[axis] = Axis(shape[axis], size, ratio, start, end)
    return tuple(axes)


def _sizes(call: Call, old: list[int]) -> tuple[list[int], list[float]]:
    sizes = list(integer_list(call, 3, "the sizes"))
    if len(sizes) != len(old) or min(sizes, default=0) < 0:
        raise call.invalid(f"sizes {sizes} must be {len(old)} numbers of at least 0")
    if any(size == 0 < new for size, new in zip(old, sizes, strict=True)):
        raise call.invalid(f"an empty axis of {call.shape()} cannot be resized to {sizes}")
    ratios = [float(F32(new) / F32(max(size, 1))) for size, new in zip(old, sizes, strict=True)]
    policy = call.text("keep_aspect_ratio_policy", "stretch")
    if policy not in ("stretch", "not_larger", "not_smaller"):
        raise call.invalid(f"keep_aspect_ratio_policy '{policy}' is not known")
    if policy != "stretch" and ratios:
        ratio = min(ratios) if policy == "not_larger" else max(ratios)
        sizes = [int(np.floor(float(F32(ratio) * F32(size)) + 0.5)) for size in old]
        ratios = [ratio] * len(old)
    return sizes, ratios


def source_coordinates(coordinates: str, axis: Axis) -> Array:
    """For every output position the real position in the operand, in float32 as ONNX Runtime computes it."""
    x, scale = np.arange(axis.out).astype(F32), F32(axis.scale)
    size, out, half = F32(axis.size), F32(axis.out), F32(0.5)
    if coordinates == "asymmetric":
        return np.asarray(x / scale)
    if coordinates == "tf_half_pixel_for_nn":
        return np.asarray((x + half) / scale)
    if coordinates == "align_corners":
        return x * 0 if axis.out == 1 else np.asarray(x * (size - 1) / (out - 1))
    if coordinates == "tf_crop_and_resize":
        start, end = F32(axis.start), F32(axis.end)
        if axis.out > 1:
            return np.asarray(start * (size - 1) + (x * (end - start) * (size - 1)) / (out - 1))
        return np.full(axis.out, 0.5 * float(start + end) * float(size - 1), F32)
    if coordinates == "pytorch_half_pixel" and axis.out <= 1:
        return x * 0
    centred = (x + half) / scale - half
    if coordinates == "half_pixel_symmetric":
        adjustment = out / (scale * size)
        return np.asarray(size / 2 * (1 - adjustment) + centred)
    return np.asarray(centred)


def _nearest(rounding: str, x: Array, shrinks: bool) -> Array:
    if rounding == "simple":
        return np.asarray(np.ceil(x) if shrinks else np.trunc(x))
    if rounding in ("floor", "ceil"):
        return np.asarray(np.floor(x) if rounding == "floor" else np.ceil(x))
    away = np.trunc(x + np.copysign(F32(0.5), x).astype(np.float64))  # std::round: halves away from zero
    if rounding == "round_prefer_floor":
        away = np.where(x == np.trunc(x) + F32(0.5), np.floor(x), away)
    return np.asarray(away)


def _taps(resize: Resizing, axis: Axis) -> Taps:
    x = source_coordinates(resize.coordinates, axis)
    outside = np.zeros(axis.out, bool)
    if resize.coordinates == "tf_crop_and_resize":
        outside = (x < 0) | (x > axis.size - 1)
    last = max(axis.size - 1, 0)
    if resize.mode == "nearest":
        positions = _nearest(resize.rounding, x, axis.scale < 1).astype(np.int64).clip(0, last)[:, None]
        return Taps(positions, np.ones((axis.out, 1), F32), outside)
    if resize.antialias and axis.scale < 1:
        return _wide_taps(resize, axis, x, outside)
    if resize.mode == "linear":
        inside = x.clip(0, last).astype(F32)
        low = np.minimum(inside.astype(np.int64), last)
        ratio = (inside - low).astype(F32)
        positions = np.stack((low, np.minimum(low + 1, last)), 1)
        return Taps(positions, np.stack((1 - ratio, ratio), 1), outside)
    low = np.floor(x).astype(np.int64)
    ratio = (x - low).astype(F32)
    weights = _cubic(ratio, F32(resize.cubic))
    return _clamped(resize, low[:, None] + np.arange(-1, 3), weights, last, outside)


def _clamped(resize: Resizing, positions: Array, weights: Array, last: int, outside: Array) -> Taps:
    if resize.exclude_outside:
        weights = np.where((positions < 0) | (positions > last), 0, weights)
        weights = weights / weights.sum(1, keepdims=True)
    return Taps(positions.clip(0, last), weights.astype(F32), outside)


def _cubic(ratio: Array, a: np.float32) -> Array:
    """Keys' weights of the four neighbours at `ratio` behind the second."""
    one, two = ratio + 1, 2 - ratio
    rest = 1 - ratio
    return np.stack(
        (
            ((a * one - 5 * a) * one + 8 * a) * one - 4 * a,
            ((a + 2) * ratio - (a + 3)) * ratio * ratio + 1,
            ((a + 2) * rest - (a + 3)) * rest * rest + 1,
            ((a * two - 5 * a) * two + 8 * a) * two - 4 * a,
        ),
        1,
    )


def _triangle(x: Array, a: float) -> Array:
    return np.asarray(np.maximum(1 - np.abs(x), 0))


def _keys(x: Array, a: float) -> Array:
    x = np.abs(x)
    near = (a + 2) * x**3 - (a + 3) * x**2 + 1
    far = a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a
    return np.asarray(np.where(x <= 1, near, np.where(x < 2, far, 0)))


def _wide_taps(resize: Resizing, axis: Axis, x: Array, outside: Array) -> Taps:
    """Antialiased taps of a smaller result: the filter is stretched by 1 / scale and normalised over its window."""
    reach, kernel = (1.0, _triangle) if resize.mode == "linear" else (2.0, _keys)
    filtered: Callable[[Array, float], Array] = kernel
    scale, last = float(axis.scale), max(axis.size - 1, 0)
    span = int(np.ceil(reach / scale))
    low = np.floor(x).astype(np.int64)
    positions = low[:, None] + np.arange(-span, span + 2)
    weights = filtered((positions - x[:, None].astype(np.float64)) * scale, resize.cubic)
    weights = weights / weights.sum(1, keepdims=True)
    return _clamped(resize, positions, weights, last, outside)


def _infer(call: Call) -> tuple[TensorType, ...]:
    resize, tensor = resizing(call), call.tensor(0)
    if tensor.dtype is DType.BOOL and resize.mode != "nearest":
        raise call.invalid("a bool tensor can only be resized by mode nearest")
    return (result(call, tensor.dtype, [axis.out for axis in resize.axes]),)


def _weighted(x: Array, taps: Taps, axis: int) -> Array:
    """The sum along an axis, from the first tap to the last."""
    total = np.zeros((), x.dtype)
    for positions, weights in zip(taps.positions.T, taps.weights.T, strict=True):
        factors = weights.reshape(-1, *(1,) * (x.ndim - axis - 1)).astype(x.dtype)
        total = total + x.take(positions, axis) * factors
    return total


def _evaluate(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    x, resize = given(arrays, 0), resizing(call)
    wide = resize.mode != "nearest" and x.dtype not in (np.float32, np.float64)
    resized, outside = x.astype(F32) if wide else x, np.zeros((), bool)
    for axis in range(x.ndim):
        if (taps := resize.taps(axis)) is None:
            continue
        if resize.mode == "nearest":
            resized = resized.take(taps.positions[:, 0], axis)
        else:
            resized = _weighted(resized, taps, axis)
        outside = outside | taps.outside.reshape(-1, *(1,) * (x.ndim - axis - 1))
    if outside.any():
        resized = np.where(outside, resized.dtype.type(resize.extrapolation), resized)
    if wide:
        resized = convert(resized, DType.F32, call.outputs[0].dtype)
    return (np.asarray(resized).reshape(call.outputs[0].shape),)


def _nests(call: Call) -> tuple[Nest, ...]:
    """Nearest: a table per resized axis. Linear and cubic: one nest per resized axis, from the first to the last.

    Integers are float32 between.
    """
    resize, tensor, (kind,) = resizing(call), call.tensor(0), _infer(call)
    tables = [resize.taps(axis) for axis in range(len(kind.shape))]
    if any(taps is not None and taps.outside.any() for taps in tables):
        return ()  # extrapolation: no single index map
    if resize.mode == "nearest":

        def subscripts(loops: list[Affine]) -> list[Subscript]:
            return [
                loop if taps is None else Table.over(f"source{axis}", loop, tuple(taps.positions[:, 0].tolist()))
                for axis, (loop, taps) in enumerate(zip(loops, tables, strict=True))
            ]

        return moved(call, kind.shape, subscripts)
    real = tensor.dtype.is_float
    if 0 in kind.shape or 0 in tensor.shape or (resize.antialias and not real):
        return ()
    resized = [(axis, taps) for axis, taps in enumerate(tables) if taps is not None]
    if not resized:
        return moved(call, kind.shape, list)
    nests, source = [], operand(tensor, "x")
    if not real:
        nests.append(converting_nest(source, Tensor("reals", tensor.shape, DType.F32)))
        source = nests[-1].out.tensor
    for axis, taps in resized:
        shape = (*kind.shape[: axis + 1], *tensor.shape[axis + 1 :])
        name = "y" if real and axis == resized[-1][0] else f"resized{axis}"
        out = Tensor(name, shape, kind.dtype if real else DType.F32)
        nests.append(_axis_nest(source, out, axis, folded(taps, tensor.shape[axis])))
        source = out
    return tuple(nests) if real else (*nests, converting_nest(source, Tensor("y", kind.shape, kind.dtype)))


def folded(taps: Taps, size: int) -> tuple[tuple[int, ...], Array]:
    """First source position and weights of adjacent positions; clamped taps add to the weight of the edge."""
    width = int((taps.positions.max(1) - taps.positions.min(1)).max(initial=0)) + 1
    first = np.minimum(taps.positions.min(1), size - width)
    weights = np.zeros((len(first), width), F32)
    for positions, factors in zip(taps.positions.T, taps.weights.T, strict=True):
        weights[np.arange(len(first)), positions - first] += factors
    return tuple(first.tolist()), weights


def _axis_nest(source: Tensor, out: Tensor, axis: int, tables: tuple[tuple[int, ...], Array]) -> Nest:
    first, weights = tables
    space = Space.of(**axes("i", out.shape), k=weights.shape[1])
    *loops, tap = space
    factors = Tensor(f"weight{axis}", weights.shape, out.dtype, tuple(float(w) for w in weights.reshape(-1)))
    inside: list[Subscript] = [*loops]
    inside[axis] = Table.over(f"first{axis}", loops[axis], first) + tap
    return Nest(space, out[*loops], (source[*inside], factors[loops[axis], tap]), body("mul"), combine("add"))


def _gap(call: Call) -> tuple[str, str]:
    if not call.tensor(0).dtype.is_float and call.integer("antialias", 0):
        why = f"it smooths plain {call.tensor(0).dtype.value} (antialias), which every runtime rounds in its own way"
        return why, "cast the operand to f32, or quantise the network (QDQ)"
    return "it reads outside of the image (extrapolation_value)", "put a Pad before it, or keep the roi inside"


def _codes(node: Node) -> Codes | None:
    """Nearest neighbours move, except where some are read outside of the operand; else a few elements are summed."""
    if node.attributes.get("mode", "nearest") != "nearest":
        return Interpolates()
    return None if node.attributes.get("coordinate_transformation_mode") == "tf_crop_and_resize" else Moves()


TORCH = Torch(writer="resize")
OPERATORS = (
    Operator("Resize", _infer, _evaluate, ("x", "roi", "scales", "sizes"), nests=_nests, gap=_gap, codes=_codes,
             torch=TORCH, sketch="resize"),
    Operator("Upsample", _infer, _evaluate, ("x", "scales"), nests=_nests, gap=_gap, codes=_codes, torch=TORCH),
)  # fmt: skip
