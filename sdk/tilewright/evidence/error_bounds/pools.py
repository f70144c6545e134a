"""Pools: means are sums of equal weights, a maximum passes the error of the element that it takes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from tilewright.evidence.error_bounds.sums import Linear, linear_step
from tilewright.evidence.error_bounds.value import Known, NoBound, Step
from tilewright.model import Array
from tilewright.ops.index.fast import last_axes
from tilewright.ops.operator import Call
from tilewright.ops.pool import average_pool_sum, pool_window
from tilewright.ops.window import Window, padded, tap_view, window_view


def average(call: Call, operands: Sequence[Known], declared: float) -> Step | NoBound:
    """AveragePool and GlobalAveragePool: a sum and a division, or a product with the inverse, rounded itself."""
    window = pool_window(call)
    _, counts = average_pool_sum(call, np.zeros(call.shape(0)))
    share = 1.0 / np.asarray(counts, np.float64)
    products = int(np.prod(window.kernel))

    def back(rows: Array) -> Sequence[Array | None]:
        return [_back(window, call.shape(0), np.broadcast_to(rows * share, rows.shape))]

    def ahead(rows: Array) -> Array:
        total = average_pool_sum(call, rows.reshape(-1, *rows.shape[2:]))[0]
        return total.reshape(*rows.shape[:2], *total.shape[1:]) * share

    map_ = Linear(lambda x, w: average_pool_sum(call, x)[0] * w, share, np.zeros(1), products, back, ahead, 2)
    return linear_step(map_, operands[0])


def _back(window: Window, shape: tuple[int, ...], rows: Array) -> Array:
    flat = rows.reshape(-1, *rows.shape[2:])
    source = padded(np.zeros((flat.shape[0], *shape[1:])), window, 0)
    for tap in window.taps():
        tap_view(source, window, tap)[...] += flat
    inside = tuple(slice(low, low + size) for low, size in zip(window.begins, shape[2:], strict=True))
    return last_axes(source, *inside).reshape(rows.shape[0], *shape)


def maximum(call: Call, operands: Sequence[Known], declared: float) -> Step | NoBound:
    """MaxPool: no rounding; where it is not sure which element is taken, the largest error of the window."""
    if len(call.outputs) > 1:
        return NoBound("it gives the places of its maxima too, which an error moves")
    window, x = pool_window(call), operands[0]
    rank = len(window.kernel)
    axes = tuple(range(2, 2 + rank))

    def windows(values: Array, outside: float) -> Array:
        return window_view(np.ascontiguousarray(padded(values, window, outside)), window)

    low, high = windows(x.low, -np.inf).max(axes), windows(x.high, -np.inf).max(axes)
    largest = windows(x.error, 0.0).max(axes)
    reach = windows(x.high + x.error, -np.inf)
    flat = reach.reshape(*reach.shape[:2], -1, *window.outs)
    sure = np.sort(flat, axis=2)[:, :, -2] if flat.shape[2] > 1 else np.full(low.shape, -np.inf)
    least = windows(x.low - x.error, -np.inf).reshape(flat.shape)
    decided = least.max(axis=2) > sure
    chosen = least.argmax(axis=2)
    nothing = np.zeros_like(low)

    def ahead(rows: Sequence[Array]) -> Array:
        flat = rows[0].reshape(-1, *rows[0].shape[2:])
        seen = window_view(np.ascontiguousarray(padded(flat, window, 0)), window)
        seen = seen.reshape(*rows[0].shape[:2], low.shape[1], -1, *window.outs)
        taken = np.take_along_axis(seen, np.broadcast_to(chosen, (len(seen), *chosen.shape))[:, :, :, None], 3)
        moved: Array = np.where(decided, taken[:, :, :, 0], 0.0)
        return moved

    return Step(
        low, high, [x.error], lambda errors: ahead([errors[0][None]])[0], nothing, nothing,
        np.where(decided, 0.0, largest), ahead, partial(_back_of_chosen, window, call.shape(0), chosen, decided),
        "no rounding; the error of the largest element",
    )  # fmt: skip


def _back_of_chosen(
    window: Window, shape: tuple[int, ...], chosen: Array, decided: Array, rows: Array
) -> Sequence[Array | None]:
    flat = rows.reshape(-1, *rows.shape[2:])
    source = padded(np.zeros((flat.shape[0], *shape[1:])), window, 0)
    repeats = rows.shape[0]
    for number, tap in enumerate(window.taps()):
        taken = np.tile((chosen == number) & decided, (repeats, *(1,) * (chosen.ndim - 1)))
        tap_view(source, window, tap)[...] += np.where(taken, flat, 0.0)
    inside = tuple(slice(low, low + size) for low, size in zip(window.begins, shape[2:], strict=True))
    return [last_axes(source, *inside).reshape(repeats, *shape)]
