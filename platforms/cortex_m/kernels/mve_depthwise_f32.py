"""Float depthwise convolution on cores with the vector extension: neighbouring results of four channels at a time.

A row of the window is a walk over the inputs of all results of a tile: few weights stay in registers while inputs pass
by; of longer rows the inputs that several results read stay while weights pass by. Where channels do not come in
fours, the last four overlap those before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from tilewright.platform import Array, Call, Constant, DType, KernelMethods, Needs, Operands
from tilewright.platforms.cortex_m.kernels.mve_float import FOUR, vector_clamp
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels.blocks import Axis, cannot_repack, not_by_channel
from tilewright.platforms.generic.kernels.blocks_f32 import starts
from tilewright.platforms.generic.kernels.conv_f32 import spatial
from tilewright.platforms.generic.kernels.depthwise_tile_f32 import depthwise_axes
from tilewright.platforms.generic.kernels.overlap import gap_bytes, row_steps

VECTORS = 8
NEAR = 508
"""Bytes by which a load or store moves its pointer itself."""
MOVED = 4092
"""Bytes by which one instruction moves a pointer."""
WIDEST = 5
"""Results of a tile, at most."""
LONGEST = 11
"""Taps of a row, all of which stand in the code."""
Place = tuple[str, int]
"""A weight (`w`, tap) or an input (`v`, column of the tile's window)."""


@dataclass(frozen=True)
class Step:
    """A vector that is loaded into `register`, and the sums that it completes: (sum, input, weight), all registers.

    `test` is the condition that an input lies inside of the image, empty for weights and where it always does;
    `onward` bytes lead to the next input, 0 behind the last one and for weights.
    """

    register: str
    is_weight: bool
    test: str
    onward: int
    products: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class Row:
    """A row of the window of a tile of `columns` results: its steps, the registers beside those of sums, and the taps
    in the order of their weights."""

    columns: int
    taps: tuple[int, ...]
    steps: tuple[Step, ...]
    registers: tuple[str, ...]

    @property
    def instructions(self) -> int:
        """Of the row of one tile and four channels."""
        far = sum(abs(step.onward) > NEAR for step in self.steps)
        return far + sum(1 + len(step.products) for step in self.steps)


@dataclass(frozen=True)
class MveDepthwiseContext:
    """Every number of one layer. The window of a tile is whole where `inner` holds; `tests` are the conditions of
    its inputs where it does not."""

    h: Axis
    w: Axis
    channels: int
    row: Row
    inner: str
    tests: tuple[str, ...]
    near: int
    clamp: str

    def parts(self, move: int) -> tuple[int, ...]:
        """A move of a pointer, in bytes, by parts that one instruction adds or takes away."""
        whole, rest = divmod(abs(move), MOVED)
        sign = 1 if move > 0 else -1
        return (sign * MOVED,) * whole + ((sign * rest,) if rest else ())


def fours(channels: int) -> list[int]:
    """First channels of every four; the last ones overlap those before where they are no whole four."""
    return [min(at, channels - FOUR) for at in range(0, channels, FOUR)]


def _weights_stay(w: Axis, columns: int) -> Iterator[Place]:
    inputs = {j * w.stride + kw * w.dilation for j in range(columns) for kw in range(w.kernel)}
    yield from (("w", kw) for kw in range(w.kernel))
    yield from (("v", c) for c in sorted(inputs))


def _inputs_stay(w: Axis, columns: int) -> Iterator[Place]:
    """Taps whose inputs are whole strides apart one after the other; each tap reads one input more."""
    loaded = set[int]()
    apart = w.stride // int(np.gcd(w.stride, w.dilation))
    for first in range(min(apart, w.kernel)):
        for kw in range(first, w.kernel, apart):
            inputs = {j * w.stride + kw * w.dilation for j in range(columns)} - loaded
            yield from (("v", c) for c in sorted(inputs))
            loaded |= inputs
            yield "w", kw


def row_of(w: Axis, columns: int, order: Sequence[Place]) -> Row | None:
    """The row in this order of loads, or None where it needs more registers than there are."""
    pairs = {(j * w.stride + kw * w.dilation, kw): j for j in range(columns) for kw in range(w.kernel)}
    at = {place: index for index, place in enumerate(order)}
    done_at = {pair: max(at["v", pair[0]], at["w", pair[1]]) for pair in pairs}
    last = {
        place: max(index for pair, index in done_at.items() if place in (("v", pair[0]), ("w", pair[1])))
        for place in order
    }
    inputs = [number for kind, number in order if kind == "v"]
    lefts = [min(start, w.out - columns) * w.stride - w.pad for start in range(0, w.out, columns)]
    held, steps, used = dict[Place, str](), list[Step](), 0
    for index, (kind, number) in enumerate(order):
        held = {place: register for place, register in held.items() if last[place] >= index}
        free = (f"t{n}" for n in range(VECTORS) if f"t{n}" not in held.values())
        register = held[kind, number] = next(free, "")
        used = max(used, int(register[1:] or VECTORS) + 1)
        if columns + used > VECTORS:
            return None
        done = sorted(pair for pair, step in done_at.items() if step == index)
        products = tuple((f"s{pairs[c, kw]}", held["v", c], held["w", kw]) for c, kw in done)
        test, onward = "", 0
        if kind == "v":
            test = inside("left", number, min(lefts), max(lefts), w.size)
            onward = 4 * w.x_stride * (inputs[inputs.index(number) + 1] - number) if number != inputs[-1] else 0
        steps.append(Step(register, kind == "w", test, onward, products))
    taps = tuple(number for kind, number in order if kind == "w")
    return Row(columns, taps, tuple(steps), tuple(f"t{n}" for n in range(used)))


def inside(at: str, index: int, lowest: int, highest: int, size: int) -> str:
    """The condition that `at + index` lies inside, `at` between both ends; empty where it always does."""
    parts = [f"{at} >= {-index}"] if lowest + index < 0 else []
    parts += [f"{at} < {size - index}"] if highest + index >= size else []
    return " && ".join(parts)


def chosen(h: Axis, w: Axis, channels: int, clamped: bool) -> tuple[float, Row]:
    """The instructions of all tiles, and the row of the tile with the fewest."""
    rows = [
        row
        for columns in range(1, min(WIDEST, w.out) + 1)
        for order in (_weights_stay, _inputs_stay)
        if (row := row_of(w, columns, list(order(w, columns)))) is not None
    ]
    far = 4 * channels > NEAR

    def cost(row: Row) -> float:
        each = h.kernel * (row.instructions + 4) + row.columns * (1 + far + clamped) + 16
        return float(h.out * -(-w.out // row.columns) * (each * len(fours(channels)) + 45))

    best = min(rows, key=cost)
    return cost(best), best


@PLATFORM.kernel(
    "Conv", types="f32, f32, f32? -> f32", template="mve_depthwise_f32.c.mako", layout="channels_last",
    sources=["mve.h", "mve_float.h"], numerics="1e-5", preference=42, requires=Needs(has=("mve", "fpu")),
)  # fmt: skip
class DepthwiseFloatMve(KernelMethods):
    """Float depthwise convolution, neighbouring results of four channels in vector registers."""

    def accepts(self, call: Call) -> str | None:
        """As many groups as input and output channels, four at least."""
        if (refused := not_by_channel(call, single=True)) is not None:
            return refused
        channels = call.shape(0)[1]
        if channels < FOUR:
            return f"{channels} channels, vectors take four"
        if (refused := cannot_repack(call)) is not None:
            return refused
        taps = call.shape(1)[-1]
        return None if taps <= LONGEST else f"rows of {taps} taps, the kernel unrolls at most {LONGEST}"

    def adds_in_order(self, call: Call) -> bool:
        """Sums stay in registers from the bias to the last product, where taps are not taken in another order."""
        row = self._row(call)
        return list(row.taps) == sorted(row.taps)

    def _row(self, call: Call) -> Row:
        return chosen(*depthwise_axes(call), call.shape(0)[1], call.node.clamp is not None)[1]

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """[four channels][start, then the weights of each row in the order of their loads][channel]."""
        call = operands.call
        weights, _ = spatial(call)
        h, w = depthwise_axes(call)
        channels, taps = weights.shape[0], list(self._row(call).taps)
        lines = weights.reshape(channels, h.kernel, w.kernel)[:, :, taps].reshape(channels, -1)
        columns = np.concatenate([starts(call, channels)[:, None], lines], axis=1)
        groups: list[Array] = [columns[at : at + FOUR].T.reshape(-1) for at in fours(channels)]
        return (Constant("w", DType.F32, np.concatenate(groups).astype(np.float32)),)

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """Rows are written after all that later ones read."""
        h, w = depthwise_axes(operands.call)
        steps = row_steps(h, w, operands.call.shape(0)[1], 4, 4)
        return ((0, 0, gap_bytes(*steps, reads_before_writing=False)),)

    def cost(self, call: Call) -> float:
        """Instructions of all tiles."""
        return chosen(*depthwise_axes(call), call.shape(0)[1], call.node.clamp is not None)[0]

    def context(self, operands: Operands) -> MveDepthwiseContext:
        """The numbers of the layer."""
        call = operands.call
        (h, w), row = depthwise_axes(call), self._row(call)
        last = (row.columns - 1) * w.stride + (w.kernel - 1) * w.dilation
        lowest, highest = -w.pad, (w.out - row.columns) * w.stride - w.pad
        both = (inside("left", 0, lowest, 0, w.size), inside("left", last, 0, highest, w.size))
        return MveDepthwiseContext(
            h=h,
            w=w,
            channels=call.shape(0)[1],
            row=row,
            inner=" && ".join(filter(None, both)),
            tests=tuple(dict.fromkeys(step.test for step in row.steps if step.test)),
            near=NEAR,
            clamp=vector_clamp("v", call.node.clamp),
        )
