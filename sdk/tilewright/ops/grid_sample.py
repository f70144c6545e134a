"""GridSample in any number of spatial axes, and AffineGrid."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from tilewright.model import Array, DType, Shape
from tilewright.ops.cast import convert
from tilewright.ops.index.body import body, combine
from tilewright.ops.index.build import axes, operand
from tilewright.ops.index.nest import Nest, Space, Tensor
from tilewright.ops.operands import Arrays, given, integer_list, needs_float, result
from tilewright.ops.operator import Call, Kind, Operator, TensorType

_MODES = {"bilinear": "linear", "linear": "linear", "bicubic": "cubic", "cubic": "cubic", "nearest": "nearest"}
_PADDINGS = ("zeros", "border", "reflection")


def sampling(call: Call) -> tuple[str, str, bool]:
    """Mode (nearest, linear, cubic), padding mode and `align_corners`."""
    mode, padding = call.text("mode", "linear"), call.text("padding_mode", "zeros")
    if mode not in _MODES or padding not in _PADDINGS:
        raise call.invalid(f"mode '{mode}' or padding_mode '{padding}' is not known")
    return _MODES[mode], padding, bool(call.integer("align_corners", 0))


def _sample(call: Call) -> tuple[TensorType, ...]:
    sampling(call)
    x, grid = call.shape(), call.shape(1)
    needs_float(call, 1)
    spatial = len(x) - 2
    if spatial < 1 or len(grid) != len(x) or grid[0] != x[0] or grid[-1] != spatial:
        raise call.invalid(f"a grid of shape {grid} does not fit an image of shape {x}")
    kind = result(call, call.tensor(0).dtype, (*x[:2], *grid[1:-1]))
    if 0 in x[2:] and 0 not in kind.shape:
        raise call.invalid(f"the image {x} has no element to sample")
    return (kind,)


def _reflected(x: Array, low: float, high: float) -> Array:
    """Positions mirrored at both borders until they lie between them."""
    span = high - low
    if span <= 0:
        return np.full_like(x, low)
    distance = np.where(x < low, low - x, np.where(x > high, x - high, 0))
    turns = np.trunc(distance / span)
    rest = distance - turns * span
    even = turns % 2 == 0
    below, above = np.where(even, low + rest, high - rest), np.where(even, high - rest, low + rest)
    return np.where(x < low, below, np.where(x > high, above, x)).astype(x.dtype)


def _positions(normalised: Array, size: int, padding: str, aligned: bool, limited: bool) -> Array:
    """Positions in the image; `limited` moves those beyond the border back as the padding mode says."""
    if aligned:
        x = (normalised + 1) / 2 * (size - 1)
    else:
        x = ((normalised + 1) * size - 1) / 2
    low, high = (0.0, size - 1.0) if aligned else (-0.5, size - 0.5)
    x = np.where(np.isfinite(x), x, -100).astype(normalised.dtype)  # as PyTorch: a position far outside
    if limited and padding == "border":
        x = x.clip(0, size - 1)
    elif limited and padding == "reflection":
        x = _reflected(x, low, high)
    return np.asarray(x)


def _taps(x: Array, mode: str) -> list[tuple[Array, Array]]:
    """Integer positions and weights along one axis."""
    if mode == "nearest":
        return [(np.rint(x).astype(np.int64), np.ones_like(x))]
    low = np.floor(x)
    ratio, whole = (x - low).astype(x.dtype), low.astype(np.int64)
    if mode == "linear":
        return [(whole, 1 - ratio), (whole + 1, ratio)]
    a = -0.75
    one, two, rest = ratio + 1, 2 - ratio, 1 - ratio
    return [
        (whole - 1, ((a * one - 5 * a) * one + 8 * a) * one - 4 * a),
        (whole, ((a + 2) * ratio - (a + 3)) * ratio * ratio + 1),
        (whole + 1, ((a + 2) * rest - (a + 3)) * rest * rest + 1),
        (whole + 2, ((a * two - 5 * a) * two + 8 * a) * two - 4 * a),
    ]


def _placed(positions: Array, size: int, padding: str, aligned: bool) -> tuple[Array, Array]:
    """Positions inside the image, and where they were outside and count as zero."""
    outside = (positions < 0) | (positions >= size)
    if padding == "reflection":
        low, high = (0.0, size - 1.0) if aligned else (-0.5, size - 0.5)
        moved = np.trunc(_reflected(positions.astype(np.float64), low, high)).astype(np.int64)
        positions = np.where(outside, moved, positions)
    return positions.clip(0, size - 1), outside if padding == "zeros" else np.zeros_like(outside)


def _sampled(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    x, grid = given(arrays, 0), given(arrays, 1)
    mode, padding, aligned = sampling(call)
    sizes = x.shape[2:]
    kind = np.float64 if x.dtype == np.float64 else np.float32
    axes = []
    for axis, size in enumerate(sizes):
        normalised = grid[..., len(sizes) - 1 - axis].astype(kind)  # the last coordinate moves along the last axis
        taps = _taps(_positions(normalised, size, padding, aligned, mode != "cubic"), mode)
        axes.append([(*_placed(positions, size, padding, aligned), weights) for positions, weights in taps])
    total = np.zeros(call.outputs[0].shape, kind)
    entries = np.arange(x.shape[0]).reshape(-1, *(1,) * len(sizes))
    for combination in product(*axes):
        places: tuple[Any, ...] = (entries, slice(None), *(positions for positions, _, _ in combination))
        weight = np.ones((), kind)
        for _, outside, factor in combination:
            weight = weight * np.where(outside, 0, factor)
        values = np.moveaxis(x[places], -1, 1)
        total += values * weight[:, None]
    dtype = call.outputs[0].dtype
    return (total.astype(dtype.numpy) if dtype.is_float else convert(total, call.tensor(1).dtype, dtype),)


def _affine(call: Call) -> tuple[TensorType, ...]:
    dtype, size = needs_float(call), integer_list(call, 1, "the size")
    if len(size) not in (4, 5) or min(size) < 1:
        raise call.invalid(f"size {size} must hold 4 or 5 positive numbers")
    spatial = len(size) - 2
    if call.shape() != (size[0], spatial, spatial + 1):
        raise call.invalid(f"theta {call.shape()} should have the shape {(size[0], spatial, spatial + 1)}")
    return (result(call, dtype, (size[0], *size[2:], spatial)),)


def _points(sizes: Shape, aligned: bool, kind: type[np.floating[Any]]) -> Array:
    """Normalised coordinates x, y, (z,) and 1 of every place of the grid."""
    lines = []
    for size in sizes:
        places = np.arange(size).astype(kind)
        if aligned and size == 1:
            lines.append(places + 1)  # the standard divides by zero here; ONNX Runtime takes the far end
        elif aligned:
            lines.append(places * np.asarray(2.0 / (size - 1), kind) - 1)
        else:
            lines.append((places * 2 + 1) / np.asarray(size, kind) - 1)
    return np.stack([*reversed(np.meshgrid(*lines, indexing="ij")), np.ones(sizes, kind)], -1)


def _grid(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    theta, sizes = given(arrays, 0), call.outputs[0].shape[1:-1]
    kind = np.float64 if theta.dtype == np.float64 else np.float32
    points = _points(sizes, bool(call.integer("align_corners", 0)), kind)
    grid = np.einsum("...k,nck->n...c", points, theta.astype(kind))
    return (grid.astype(theta.dtype),)


def _grid_nests(call: Call) -> tuple[Nest, ...]:
    (kind,) = _affine(call)
    sizes = kind.shape[1:-1]
    if kind.dtype is DType.F16:
        return ()
    points = _points(
        sizes, bool(call.integer("align_corners", 0)), np.float64 if kind.dtype is DType.F64 else np.float32
    )
    space = Space.of(n=kind.shape[0], **axes("i", sizes), c=len(sizes), k=len(sizes) + 1)
    n, *places, c, k = space
    values = Tensor("points", points.shape, kind.dtype, tuple(points.reshape(-1).tolist()))
    theta, y = operand(call.tensor(0), "theta"), Tensor("y", kind.shape, kind.dtype)
    return (Nest(space, y[n, *places, c], (values[*places, k], theta[n, c, k]), body("mul"), combine("add")),)


def _gap(call: Call) -> tuple[str, str]:
    return "it is computed in half precision", "put a Cast to f32 before it"


OPERATORS = (
    Operator("GridSample", _sample, _sampled, ("x", "grid"), kind=Kind.OPAQUE, sketch="sampled"),
    Operator("AffineGrid", _affine, _grid, ("theta", "size"), nests=_grid_nests, gap=_gap),
)
