"""Integer Conv, Gemm and MatMul by blocks of pixels times four channels, with Xpulp or in portable C."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from tilewright.numerics import (
    C_TYPES,
    Accumulator,
    MultiplyHigh,
    Requantiser,
    accumulator,
    centred,
    proof,
    requantise,
    the_quantisation,
)
from tilewright.operators import remembered
from tilewright.platform import Array, Call, Constant, DType
from tilewright.platforms.pulp.kernels.block_asm import LARGEST_OFFSET, Geometry, Streamed, listing
from tilewright.platforms.pulp.kernels.block_costs import block_cycles, row_cycles, share
from tilewright.platforms.pulp.kernels.block_plan import WIDTH, Plan
from tilewright.platforms.pulp.kernels.block_window import Window
from tilewright.platforms.pulp.kernels.windows import CORES, per_channel

PIXELS = 4
MOST_TAPS = 5
LARGEST_SCRATCH = 4096
LARGEST_PACKED = 8192
DIGITS = 10


@dataclass(frozen=True)
class Variant:
    """One asm statement: so many pixels and channels, so many columns of its reach left out on either side; `packed`
    reads a window whose taps lie side by side."""

    pixels: int
    channels: int
    left: int
    right: int
    text: str
    kind: str = ""

    @property
    def name(self) -> str:
        """The end of its function's name."""
        edge = f"{self.left}{self.right}" if max(self.left, self.right) < DIGITS else f"{self.left}_{self.right}"
        return f"{self.pixels}x{self.channels}_{self.kind or edge}"


@dataclass(frozen=True)
class Run:
    """Bytes that lie side by side and are gathered as words: groups of (offset, load, store)."""

    bytes: int

    @property
    def moves(self) -> tuple[tuple[tuple[int, str, str], ...], ...]:
        """At most four loads, then their stores."""
        single = [(at, "lw", "sw") for at in range(0, self.bytes - 3, 4)]
        single += [(at, "lbu", "sb") for at in range(self.bytes // 4 * 4, self.bytes)]
        return tuple(tuple(single[at : at + 4]) for at in range(0, len(single), 4))


@dataclass(frozen=True)
class BlockContext:
    """What the template prints. Of sixteen parts of a block's work each row of taps makes `row_share`; a block of one
    pixel makes `pixel_share`."""

    x_type: str
    y_type: str
    w_type: str
    plan: Plan
    variants: tuple[Variant, ...]
    packed: tuple[Variant, ...]
    sums: Requantiser | None
    covered: bool
    reach: int
    reach_one: int
    zero_point: int
    source: str
    run: Run | None
    row_share: int
    pixel_share: int


def refusal(window: Window, call: Call, weights: DType, apart: bool = False) -> str | None:
    """None, or the sentence why the blocks cannot compute the layer."""
    x_bits, y_bits = call.tensor(0).dtype.bits, call.outputs[0].dtype.bits
    if weights.bits > x_bits and not _in_two(call):
        return "the weights minus their zero point need more than eight bits"
    if apart and x_bits != y_bits:
        return "the result has codes of another width than the operand"
    if not apart and not _way(window)[0]:
        return f"{window.taps} input bytes of a result are more than the cores can gather"
    return None


@remembered
def parts_of(call: Call) -> int:
    """Words of weights that are multiplied with each word of input: two where a weight minus its zero point has nine
    bits, since it is the sum of two weights of eight then."""
    weights = centred(call.tensor(1), call.constants[1])
    return 2 if call.tensor(0).dtype.bits == 8 and (weights.min() < -128 or weights.max() > 127) else 1


def _in_two(call: Call) -> bool:
    """True where all weights minus their zero point are sums of two codes of eight bits."""
    weights = centred(call.tensor(1), call.constants[1])
    return call.tensor(0).dtype.bits == 8 and bool(weights.min() >= -256 and weights.max() <= 254)


def _way(window: Window) -> tuple[int, bool]:
    """(pixels at once, whether they are gathered); no pixels where neither way is open."""
    if window.depth % 4 == 0 and window.kernel[1] <= MOST_TAPS:
        for pixels in (PIXELS, 1):
            reach = (pixels - 1) * window.strides[1] + (window.kernel[1] - 1) * window.dilations[1]
            if reach * window.depth <= LARGEST_OFFSET:
                return pixels, False
    run = -(-window.taps // 4) * 4
    for pixels in (PIXELS, 1):
        if CORES * pixels * run <= LARGEST_SCRATCH and (pixels - 1) * run <= LARGEST_OFFSET:
            return pixels, True
    return 0, True


def plan_of(window: Window, call: Call, apart: bool = False) -> Plan:
    """How the layer is computed; `apart` where every channel is a group of its own."""
    pixels, gathered = (PIXELS, False) if apart else _way(window)
    assert pixels, "asked of a layer that was refused"
    x, parts = call.tensor(0), parts_of(call)
    zero, fixed = the_quantisation(x).zero_point[0], proof(call).fixed is not None
    tops = bottoms = 0
    if not gathered:
        tops, bottoms = (-(-pad // window.dilations[0]) for pad in (window.begins[0], window.ends[0]))
    geometry = Geometry(
        depth=-(-window.taps // 4) * 4 if gathered else WIDTH if apart else window.depth,
        taps=parts if gathered else parts * window.kernel[1],
        stride=1 if gathered else window.strides[1],
        dilation=1 if gathered else window.dilations[1],
        many_rows=not gathered and window.kernel[0] > 1,
        zero_point=zero,
        unsigned=not x.dtype.is_signed,
        starts=(tops + 1) * (bottoms + 1) if zero else 1,
        padded_rows=tops + bottoms > 0,
        requantise=requantise_of(call) if fixed else None,
        apart=apart,
        halves=x.dtype.bits == 16,
        y_bytes=call.outputs[0].dtype.bits // 8 if fixed else 4,
        parts=parts,
    )
    plan = Plan(window, pixels, gathered, geometry, tops, bottoms, False)
    if CORES * plan.packed_bytes > LARGEST_PACKED:
        return plan
    return replace(plan, packed=not all(plan.covers(count) for count in {pixels, 1}))


@remembered
def requantise_of(call: Call) -> Streamed:
    """The layer's requantisation; remembered, since the tiler asks for the cycles of one layer many times."""
    form = requantise(proof(call))
    assert isinstance(form, MultiplyHigh), "asked of a layer that was refused"
    return Streamed(form)


def stream(plan: Plan, call: Call, weights: Array, loop: str) -> Constant:
    """The weights [output channel, kh, kw, input channel] as the blocks read them, cut along a loop or not.

    Where channels stay apart, the last ones are a group whether the others fill whole groups or not.
    """
    channels, width = weights.shape[0], plan.width
    total, lane = accumulator(call), np.int16 if plan.geometry.halves else np.int8
    rows = weights.reshape(channels, plan.rows, -1)
    if plan.gathered:
        rows = np.pad(rows, ((0, 0), (0, 0), (0, plan.run * plan.geometry.lanes // 4 - rows.shape[2])))
    starts = _starts(plan, total, rows, channels)
    if plan.geometry.parts > 1:
        half = rows.astype(np.int64) // 2
        by_place = (channels, plan.rows, plan.geometry.taps // plan.geometry.parts, -1)
        rows = np.stack([half.reshape(by_place), (rows - half).reshape(by_place)], axis=3).reshape(
            channels, plan.rows, -1
        )
    numbers = plan.geometry.requantise
    behind = np.zeros((channels, 0), np.int32) if numbers is None else numbers.columns(channels)
    taps, apart = plan.geometry.taps, plan.geometry.apart
    if apart:
        rows = rows[..., None]
    # [channel, row, tap, word] -> [row, word, tap, channel]
    parts = []
    for first in range(0, channels, width):
        some = slice(channels - width if apart and first + width > channels else first, first + width)
        own = rows[some] * np.eye(width, dtype=np.int64)[:, None, None, :] if apart else rows[some]
        words = np.ascontiguousarray(own.reshape(len(own), plan.rows, taps, -1).astype(lane)).view("<i4")
        parts += [starts[some].T.reshape(-1), words.transpose(1, 3, 2, 0).reshape(-1), behind[some].reshape(-1)]
    return Constant("w", DType.I32, np.concatenate(parts).astype(np.int32), along=(loop,) if loop else ())


def exact(plan: Plan, call: Call, loop: str) -> tuple[Constant, ...]:
    """The numbers that make codes of sums, cut along a loop or not, where no form of 32 bits does."""
    if plan.geometry.requantise is not None:
        return ()
    numbers = requantise(proof(call)).constants
    return per_channel(numbers, plan.window.channels, loop) if loop else numbers


def _starts(plan: Plan, total: Accumulator, rows: Array, channels: int) -> Array:
    """[channel, variant]: the start of the sum with rows missing at the top and the bottom."""
    start = np.broadcast_to(total.start, (channels,)).astype(np.int64)
    if plan.geometry.starts == 1:
        return start[:, None].astype(np.int32)
    per_row = rows.astype(np.int64).sum(axis=2) * plan.geometry.zero_point
    starts = []
    for top in range(plan.tops + 1):
        for bottom in range(plan.bottoms + 1):
            missing = per_row[:, :top].sum(axis=1) + per_row[:, max(plan.rows - bottom, 0) :].sum(axis=1)
            starts.append(start + missing)
    return np.stack(starts, axis=1).astype(np.int32)


def context(plan: Plan, call: Call, source: str) -> BlockContext:
    """Everything that the template prints of a layer; `source` is the name of its first operand."""
    geometry, window = plan.geometry, plan.window
    reach = geometry.reach(plan.pixels)
    widths = [width for width in (min(WIDTH, window.channels), window.channels % WIDTH) if width]
    widths = [plan.width] if geometry.apart else list(dict.fromkeys(widths))
    variants = [
        Variant(pixels, width, *edge, listing(geometry, pixels, width, *edge).text("        "))
        for pixels in sorted({plan.pixels, 1}, reverse=True) for width in widths for edge in plan.edges(pixels)
    ]  # fmt: skip
    close, texts = replace(geometry, stride=1, dilation=1), {variant.text: variant for variant in variants}
    packed = [Variant(1, width, 0, 0, listing(close, 1, width, 0, 0).text("        "), "packed") for width in widths]
    padded = any((*window.begins, *window.ends))
    run = Run(window.kernel[1] * window.depth) if plan.gathered and window.dilations[1] == 1 else None
    covered = plan.gathered or not padded
    return BlockContext(
        C_TYPES[call.tensor(0).dtype], C_TYPES[call.outputs[0].dtype], "int16_t" if geometry.halves else "signed char",
        plan, tuple(variants),
        tuple(texts.get(one.text, one) for one in packed) if plan.packed else (),
        None if geometry.requantise else requantise(proof(call)), covered,
        reach, geometry.reach(1), geometry.zero_point, source, run,
        share(plan, row_cycles(plan, plan.pixels)), share(plan, block_cycles(plan, 1)),
    )  # fmt: skip
