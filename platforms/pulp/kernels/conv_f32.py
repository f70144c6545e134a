"""Float convolution of one tile: every core takes rows of four channels, or parts of such rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from tilewright.operators import conv_window
from tilewright.platform import (
    Call,
    Clamp,
    Constant,
    Operands,
    Rule,
    TiledKernelMethods,
    TileView,
    multiple,
    prefer,
    whole,
)
from tilewright.platforms.generic.kernels.elements import constants_by_name, empty
from tilewright.platforms.generic.kernels.float_text import clamp_text
from tilewright.platforms.pulp.kernels.plane_blocks import LANES, WIDEST, Blocks, Row, Tap, Weights, blocks_of, lanes_of
from tilewright.platforms.pulp.kernels.windows import CORES
from tilewright.platforms.pulp.platform import PLATFORM

SOURCES = ["tiles.h", "planes_f32.h"]


@dataclass(frozen=True)
class ConvContext:
    """The blocks of a row, and the window along rows."""

    blocks: Blocks
    rows: int
    stride: int
    dilation: int
    w_row: int
    bias: bool
    clamp: Clamp | None

    def limited(self, value: str) -> str:
        """A result within the limits of the activation behind the layer."""
        return clamp_text(value, self.clamp)


@PLATFORM.kernel(
    "Conv", types="f32, f32, f32? -> f32", template="conv_f32.c.mako", layout=("default", "default"), sources=SOURCES,
    numerics="1e-5", preference=20,
)  # fmt: skip
class TiledConvF32(TiledKernelMethods):
    """Float convolution over tiles in L1, weights constant or of the run time."""

    tile_type = "{function}_tile"

    def accepts(self, call: Call) -> str | None:
        """One or two spatial axes."""
        if len(call.shape()) not in (3, 4):
            return f"{len(call.shape()) - 2} spatial axes, the kernel handles one and two"
        return empty(call)

    def rules(self, call: Call) -> list[Rule]:
        """Sums stay whole, and rows where they have edges; four channels are summed at once."""
        picture = len(call.shape()) == 4
        rules = whole("ic", *(("kh", "kw") if picture else ("kw",)),
                      why="a sum stays in one register from the first tap to the last")  # fmt: skip
        if not blocks_of_call(call).even:
            rules += whole("ow", why="what the edges of a row lack is known when the code is made")
        if call.shape(1)[0] // call.integer("group", 1) < LANES:
            rules += whole("oc", why="the channels of a group are summed at once")
        else:
            rules.append(multiple("oc", LANES, why="four channels are summed at once"))
        return [*rules, *([prefer("oh", CORES, why="eight cores take a row each")] if picture else [])]

    def cost(self, call: Call) -> float:
        """The blocks of all rows."""
        columns, rows = call.outputs[0].shape[-1], call.outputs[0].elements // call.outputs[0].shape[-1]
        kernel_rows, _ = _kernel(call)
        blocks = blocks_of_call(call)
        return float(row_cycles(blocks, columns, kernel_rows * call.shape(1)[1])) * rows / blocks.lanes[0] / CORES

    def cycles(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """Entering, then the rows of the core that has most."""
        blocks = blocks_of_call(call)
        rows = sizes["n"] * sizes["g"] * -(-sizes["oc"] // blocks.lanes[0]) * sizes.get("oh", 1)
        each = row_cycles(blocks, sizes["ow"], sizes.get("kh", 1) * sizes["ic"])
        shared = np.where(rows < CORES, rows / CORES, -(-rows // CORES))
        return np.ceil(250 + shared * each).astype(np.int64)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights and bias as they are, where they are constants, cut by channels."""
        return tuple(
            Constant(one.name, one.dtype, one.values, along=("g", "oc")) for one in constants_by_name(operands, 1, 2)
        )

    def context(self, operands: Operands) -> ConvContext:
        """The window of the layer; a signal is a picture of one row."""
        call = operands.call
        window, (rows, columns) = conv_window(call), _kernel(call)
        picture = len(window.kernel) == 2
        return ConvContext(
            blocks_of_call(call), rows, window.strides[0] if picture else 1, window.dilations[0] if picture else 1,
            columns, call.optional(2) is not None, call.node.clamp,
        )  # fmt: skip

    def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
        """Sizes and padding of one tile; what reads every pixel once is one row."""
        box, before, picture = view.boxes["x"].box, view.boxes["x"].before, len(call.shape()) == 4
        rows, columns = view.size("oh") if picture else 1, view.size("ow")
        in_rows, in_columns = box[2][1] - box[2][0] if picture else 1, box[-1][1] - box[-1][0]
        blocks = blocks_of_call(call)
        lanes = view.size("n") * view.size("g") * -(-view.size("oc") // blocks.lanes[0])
        plain = _kernel(call)[0] == conv_window(call).strides[0] == 1 and in_rows == rows
        if blocks.even and plain:
            rows, columns, in_rows, in_columns = 1, rows * columns, 1, in_rows * in_columns
        fours = -(-columns // WIDEST) if blocks.even else blocks.count
        part = part_of(lanes * rows, fours) * (WIDEST if blocks.even else 1)
        return {
            "images": view.size("n"), "groups": view.size("g"), "channels": view.size("oc"), "depth": view.size("ic"),
            "rows": rows, "columns": columns, "in_rows": in_rows, "in_columns": in_columns,
            "top": before[2] if picture else 0, "middle": 0 if blocks.even else blocks.middle, "part": part,
        }  # fmt: skip


def _kernel(call: Call) -> tuple[int, int]:
    kernel = call.shape(1)[2:]
    return (1, kernel[0]) if len(kernel) == 1 else (kernel[0], kernel[1])


def blocks_of_call(call: Call) -> Blocks:
    """The blocks of a layer's rows."""
    if "planes" not in call.known:
        window, (rows, columns), depth = conv_window(call), _kernel(call), call.shape(1)[1]
        stride, places = window.strides[-1], [at * window.dilations[-1] - window.begins[-1] for at in range(columns)]
        results, inputs = call.outputs[0].shape[-1], call.shape()[-1]
        read = [place for start in places for place in range(start, start + stride * results, stride)]
        inside = [place for place in read if 0 <= place < inputs] or [0]
        low = min(inside)  # a tile has the columns that are read, from the first to the last
        taps = tuple(Tap(at, start - low) for at, start in enumerate(places))
        row = Row(taps, stride, max(inside) + 1 - low, results)
        taps_of_all = rows * columns
        lanes = lanes_of(call.shape(1)[0] // call.integer("group", 1))
        call.known["planes"] = blocks_of(row, Weights(0, taps_of_all), depth, rows, lanes)
    blocks: Blocks = call.known["planes"]
    return blocks


def row_cycles(blocks: Blocks, columns: Any, terms: Any) -> Any:
    """Modelled cycles of a row of four channels, of so many terms for each tap, on a core that shares its unit."""
    if not blocks.even:
        each = [one.blocks * blocks.cycles(blocks.kinds[one.kind], terms) for one in blocks.segments]
        return 200 + sum(each)
    rest, narrow = columns % WIDEST, [blocks.cycles(kind, terms) for kind in blocks.kinds[::-1]]
    left = np.where(rest == 3, narrow[2], np.where(rest == 2, narrow[1], np.where(rest == 1, narrow[0], 0)))
    return 200 + columns // WIDEST * narrow[3] + left


def part_of(rows: int, blocks: int) -> int:
    """Blocks of a row that a core takes at once, so that all cores have about as much."""
    parts = min(
        range(1, blocks + 1), key=lambda parts: (-(-rows * parts // CORES) * (-(-blocks // parts) + 0.5), parts)
    )
    return -(-blocks // parts)
