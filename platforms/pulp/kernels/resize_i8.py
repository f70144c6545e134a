"""Linear interpolation of images of codes over tiles in L1: channels are cut, rows of results are shared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tilewright.numerics import ROUNDING, Requantiser, the_quantisation
from tilewright.operators import addressing
from tilewright.platform import Call, Constant, DType, Operands, Rule, TiledKernelMethods, TileView, multiple, whole
from tilewright.platforms.generic.kernels.resize_joined_i8 import MOST_CODE, ResizeJoinedI8, offset_text
from tilewright.platforms.generic.kernels.resized_images import ResizedImages, sources, unsigned_zero
from tilewright.platforms.pulp.kernels.whole_conv import GENERIC
from tilewright.platforms.pulp.kernels.windows import CORES
from tilewright.platforms.pulp.platform import PLATFORM

PORTABLE = ResizeJoinedI8()
CHANNELS = "i1"
LINE_CODES = 512
"""Codes of a joined row that a core holds at a time, about."""
RESULT_CYCLES, WIDE_CYCLES, JOINED_CYCLES, ROW_CYCLES = 24, 42, 12, 150


@dataclass(frozen=True)
class TiledResizeContext:
    """Those of the portable kernel; `at_once` channels are joined, and sums have 64 bits where they are `wide`."""

    extent: ResizedImages
    source_rows: int
    flip: str
    offset: str
    shift: int
    requantise: Requantiser
    at_once: int
    wide: bool


def _at_once(call: Call) -> int:
    """Channels whose joined row a core holds."""
    return max(1, min(call.shape(0)[1], LINE_CODES // call.shape(0)[3]))


def _wide(call: Call) -> bool:
    """Whether a sum of codes by weights, or what its zero point takes off, may not fit 31 bits."""
    (_, rows), (_, columns) = sources(call)
    most = int(rows.sum(axis=1).max(initial=0)) * int(columns.sum(axis=1).max(initial=0))
    return most * (MOST_CODE + 1) >= 1 << 31


@PLATFORM.kernel(
    "Resize", "Upsample", types="qi8|qu8, *... -> qi8|qu8", template="resize_i8.c.mako", layout="channels_last",
    sources=["tiles.h", f"{GENERIC}saturate.h", *ROUNDING], preference=30,
)  # fmt: skip
class TiledResizeI8(TiledKernelMethods):
    """Two rows are joined, then two columns; images whose channels L1 does not hold one by one go to the ninth core."""

    tile_type = "{function}_tile"
    gives_way = True

    def accepts(self, call: Call) -> str | None:
        """What the portable kernel takes, of some codes."""
        if (why := PORTABLE.accepts(call)) is not None:
            return why
        empty = not call.tensor(0).elements or not call.outputs[0].elements
        return "a tensor has no elements" if empty else None

    def rules(self, call: Call) -> list[Rule]:
        """Images stay whole."""
        loops = [loop for loop in addressing(call, {}).cuttable if loop != CHANNELS]
        rules = list(whole(*loops, why="rows are joined of all their columns")) if loops else []
        cut = CHANNELS in addressing(call, {}).cuttable and call.shape(0)[1] > 4
        return [*rules, *([multiple(CHANNELS, 4, why="runs of copies are words")] if cut else [])]

    def cost(self, call: Call) -> float:
        """See `cycles`."""
        return float(self.cycles(call, {}))

    def cycles(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """Of the core that has most rows."""
        x, y = call.shape(0), call.outputs[0].shape
        channels = sizes.get(CHANNELS, x[1])
        each = y[3] * (WIDE_CYCLES if _wide(call) else RESULT_CYCLES) + x[3] * JOINED_CYCLES
        return 300 + -(-y[0] * y[2] // CORES) * (ROW_CYCLES + each * channels)

    def tile_scratch(self, call: Call, sizes: Mapping[str, Any]) -> int:
        """A joined row of every core."""
        return 4 * CORES * _at_once(call) * call.shape(0)[3]

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Both sources of every row and column, and their weights."""
        made = []
        for name, (positions, weights) in zip(("row", "column"), sources(operands.call), strict=True):
            made.append(Constant(f"{name}_places", DType.I32, positions.reshape(-1)))
            made.append(Constant(f"{name}_weights", DType.I32, weights.reshape(-1)))
        return tuple(made)

    def context(self, operands: Operands) -> TiledResizeContext:
        """The numbers of the layer."""
        call = operands.call
        joined = PORTABLE.context(operands)
        flip, zero = unsigned_zero(the_quantisation(call.tensor(0)).zero_point[0], call.tensor(0).dtype)
        wide = _wide(call)
        return TiledResizeContext(
            extent=joined.extent,
            source_rows=call.shape(0)[2],
            flip=flip,
            offset=offset_text(call, zero, wide=wide),
            shift=joined.shift,
            requantise=joined.requantise,
            at_once=_at_once(call),
            wide=wide,
        )

    def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
        """The channels of a tile."""
        box = view.boxes["x"].box
        return {"channels": box[1][1] - box[1][0] if len(box) == len(call.shape(0)) else call.shape(0)[1]}
