"""DFT and STFT of floats as fast Fourier transforms: steps of four, two and odd numbers, in the place of the result."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
from tilewright.operators import dft_axis, dft_length, frames
from tilewright.platform import Array, Call, Constant, DType, KernelMethods, Operands
from tilewright.platforms.generic.kernels.elements import constants_by_name, empty, unread
from tilewright.platforms.generic.platform import PLATFORM

SHORTEST = 16
"""Points; shorter ones are summed in double precision, as fast."""
LARGEST_STEP = 31


@dataclass(frozen=True)
class Step:
    """Parts of `length` points become parts of `radix` times as many."""

    radix: int
    length: int


@dataclass(frozen=True)
class Source:
    """`rows` transforms, `per_batch` of them `step` apart in each part of `samples` numbers of `parts`."""

    name: str
    rows: int
    per_batch: int
    samples: int
    step: int
    parts: int
    window: bool = False


@dataclass(frozen=True)
class TransformContext:
    """A transform of `length` points, of which `given` are there, to `bins` numbers of `parts`; see `transform_f32.h`.

    `pairs`: two real points are one number. `room`: it is computed aside, `beside` floats behind which lie those of odd
    steps. `mirrored`: the points are half of those of a real result.
    """

    source: Source
    length: int
    given: int
    bins: int
    parts: int
    pairs: bool
    room: bool
    inverse: bool
    mirrored: bool
    steps: tuple[Step, ...]
    unread: tuple[str, ...]

    @property
    def points(self) -> int:
        """Numbers that are transformed."""
        return self.length // 2 if self.pairs else self.length

    @property
    def beside(self) -> int:
        """Floats of scratch before those of odd steps."""
        return 2 * self.points if self.room else 0

    @property
    def scratch_floats(self) -> int:
        """Floats of scratch in all."""
        return self.beside + 2 * max((step.radix for step in self.steps if step.radix % 2), default=0)

    def weighed(self, at: str) -> str:
        """C of one real point."""
        return f"from[{at}] * window[{at}]" if self.source.window else f"from[{at}]"

    @property
    def loads(self) -> tuple[str, str]:
        """C of both parts of the point `at`; those of an inverse transform change places."""
        if self.source.parts == 1:
            return self._turned((self.weighed("at"), "0.0f"))
        factor = " * window[at]" if self.source.window else ""
        real, imaginary = f"from[2 * at]{factor}", f"from[2 * at + 1]{factor}"
        return self._turned((real, f"sign * {imaginary}" if self.mirrored else imaginary))

    @property
    def results(self) -> tuple[str, ...]:
        """C of both parts of a result, or of the one that is asked for."""
        real, imaginary = self._turned(("re", "im"))
        factor = f" * {np.float32(1 / self.length)!s}f" if self.inverse else ""
        return (f"{real}{factor}", f"{imaginary}{factor}")[: self.parts]

    def _turned(self, both: tuple[str, str]) -> tuple[str, str]:
        return (both[1], both[0]) if self.inverse else both


def radices(points: int) -> tuple[int, ...]:
    """The factors of a transform, the first step first: fours, a two, odd ones."""
    factors: list[int] = []
    for radix in (4, 2, *range(3, points + 1, 2)):
        while points % radix == 0:
            factors.append(radix)
            points //= radix
    return tuple(factors)


def order(factors: tuple[int, ...]) -> Array:
    """Which point stands where before the first step."""
    places: Array = np.zeros(1, np.int64)
    for radix in factors:
        places = np.concatenate([places * radix + part for part in range(radix)])
    return places


def _turns(points: int, count: int) -> Array:
    angles: Array = np.arange(count) * (-2 * np.pi / points)
    return np.stack((np.cos(angles), np.sin(angles)), -1).astype(np.float32).reshape(-1)


def _steps(points: int) -> tuple[Step, ...]:
    factors = radices(points)
    return tuple(Step(radix, prod(factors[:place])) for place, radix in enumerate(factors))


def _short(call: Call) -> TransformContext:
    step, length, count = frames(call)
    batch, samples, parts = call.shape()
    bins = call.outputs[0].shape[2]
    source = Source("signal", batch * count, count, samples, step, parts, call.optional(2) is not None)
    pairs = parts == 1 and length % 2 == 0
    return TransformContext(
        source, length, length, bins, 2, pairs, not pairs and bins < length, inverse=False, mirrored=False,
        steps=_steps(length // 2 if pairs else length), unread=unread(call, 0, 2),
    )  # fmt: skip


def _whole(call: Call) -> TransformContext:
    axis, shape, y = dft_axis(call), call.shape(), call.outputs[0].shape
    length, inverse = dft_length(call, axis), bool(call.integer("inverse", 0))
    given, parts, bins = shape[axis], shape[-1], y[axis]
    source = Source("x", prod(shape[:axis]), 1, given, 0, parts)
    pairs = parts == 1 and length % 2 == 0 and given >= length and not inverse
    room = not pairs and (bins < length or y[-1] == 1)
    return TransformContext(
        source, length, given, bins, y[-1], pairs, room, inverse, inverse and bool(call.integer("onesided", 0)),
        steps=_steps(length // 2 if pairs else length), unread=unread(call, 0),
    )  # fmt: skip


def _transform(call: Call) -> TransformContext:
    return _short(call) if call.node.op == "STFT" else _whole(call)


def refused(call: Call) -> str | None:
    """Why the steps do not take the transform."""
    if call.tensor(0).dtype is not DType.F32:
        return "its numbers are no floats of 32 bits"
    if call.node.clamp:
        return "the result is limited"
    if (why := empty(call)) is not None:
        return why
    if call.node.op == "DFT" and prod(call.shape()[dft_axis(call) + 1 : -1]) > 1:
        return "points of one transform are apart"
    length = frames(call)[1] if call.node.op == "STFT" else dft_length(call, dft_axis(call))
    if length < SHORTEST:
        return f"{length} points are summed as they are"
    if (largest := max(radices(length))) > LARGEST_STEP:
        return f"{length} points have a factor of {largest}"
    return None


@PLATFORM.kernel(
    "DFT", "STFT", types="f32, i32|i64?, f32|i64?, i32|i64? -> f32", template="transform_f32.c.mako",
    sources=["transform_f32.h"], numerics="1e-5", preference=5,
)  # fmt: skip
class FastTransform(KernelMethods):
    """Forward or inverse, one-sided or whole, of rows or of every frame of a signal."""

    def accepts(self, call: Call) -> str | None:
        """Enough points of small factors, one beside the other."""
        return refused(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """A constant window, the order of points, and turns."""
        k = _transform(operands.call)
        named = [
            *constants_by_name(operands, 0, *([2] if operands.call.node.op == "STFT" else [])),
            Constant("order", DType.U16 if k.points <= 1 << 16 else DType.I32, order(radices(k.points))),
            Constant("turns", DType.F32, _turns(k.points, k.points)),
        ]
        if k.pairs:
            named.append(Constant("halves", DType.F32, _turns(k.length, k.points // 2 + 1)))
        return tuple(named)

    def scratch(self, operands: Operands) -> int:
        """Numbers that have no place in the result, and those of an odd step."""
        return 4 * _transform(operands.call).scratch_floats

    def cost(self, call: Call) -> float:
        """Fifteen instructions for each point and step of four, as many before and behind."""
        k = _transform(call)
        return 15.0 * k.source.rows * k.points * (3 + sum(max(1, step.radix / 4) for step in k.steps))

    def context(self, operands: Operands) -> TransformContext:
        """Sizes and steps."""
        return _transform(operands.call)
