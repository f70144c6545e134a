"""Float convolution of one tile without float units: whole numbers, a pixel of some channels at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tilewright.operators import conv_window
from tilewright.platform import Call, Constant, Needs, Operands, Rule, TiledKernelMethods, TileView, prefer, whole
from tilewright.platforms.generic.kernels.elements import constants_by_name, empty
from tilewright.platforms.generic.kernels.whole_products import Line, limited, line_of, too_long
from tilewright.platforms.pulp.kernels.plane_blocks import LANES
from tilewright.platforms.pulp.kernels.windows import CORES
from tilewright.platforms.pulp.platform import PLATFORM

GENERIC = "../../generic/kernels/"
SOURCES = [
    "tiles.h", *(f"{GENERIC}{name}.h" for name in ("fixed_room", "whole_f32", "whole_products", "whole_bare")),
]  # fmt: skip
SUM_CYCLES, WHOLE_CYCLES, RESULT_CYCLES = 13, 22, 450
"""Modelled cycles of a product, of a float that becomes a whole number, and of a sum that becomes a float again."""


@dataclass(frozen=True)
class WholeConvContext:
    """The window of a layer, and how many channels are summed at once."""

    line: Line
    lanes: int
    depth: int
    kernel: tuple[int, int]
    strides: tuple[int, int]
    dilations: tuple[int, int]
    bias: bool
    clamp: str


@PLATFORM.kernel(
    "Conv", types="f32, f32, f32? -> f32", template="whole_conv.c.mako", layout=("default", "default"),
    sources=SOURCES, numerics="1e-5", preference=25, requires=Needs(lacks=("fpu",)),
)  # fmt: skip
class TiledWholeConv(TiledKernelMethods):
    """Float convolution over tiles in L1 as sums of whole numbers, weights constant or of the run time."""

    tile_type = "{function}_tile"
    phases = 2

    def accepts(self, call: Call) -> str | None:
        """One or two spatial axes."""
        if len(call.shape()) not in (3, 4):
            return f"{len(call.shape()) - 2} spatial axes, the kernel handles one and two"
        return empty(call) or too_long(length_of(call))

    def rules(self, call: Call) -> list[Rule]:
        """Sums stay whole."""
        picture = len(call.shape()) == 4
        rules = whole("ic", *(("kh", "kw") if picture else ("kw",)),
                      why="a sum stays in one register from the first tap to the last")  # fmt: skip
        return [*rules, *([prefer("oh", CORES, why="eight cores share the pixels")] if picture else [])]

    def cost(self, call: Call) -> float:
        """Products, and what becomes whole numbers for some channels."""
        results = call.shape(1)[0] // call.integer("group", 1)
        each = SUM_CYCLES + WHOLE_CYCLES / min(LANES, results)
        return float(call.outputs[0].elements) * (length_of(call) * each + RESULT_CYCLES) / CORES

    def cycles(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """Weights, then the pixels of the core that has most."""
        length, lanes = length_of(call), sizes["g"] * sizes["oc"]
        fours = -(-sizes["oc"] // LANES)
        pixels = -(-sizes["n"] * sizes["g"] * sizes.get("oh", 1) * sizes["ow"] // CORES)
        pixel = length * (5 + WHOLE_CYCLES * fours + SUM_CYCLES * sizes["oc"]) + RESULT_CYCLES * sizes["oc"]
        return 500 + -(-lanes // CORES) * length * 25 + pixels * (pixel + 100)

    def tile_scratch(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """Weights as whole numbers, with an exponent and the sizes of every channel."""
        return 4 * sizes["g"] * sizes["oc"] * (length_of(call) + 2)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights and bias as they are, where they are constants, cut by channels."""
        return tuple(
            Constant(one.name, one.dtype, one.values, along=("g", "oc")) for one in constants_by_name(operands, 1, 2)
        )

    def context(self, operands: Operands) -> WholeConvContext:
        """The window of the layer; a signal is a picture of one row."""
        call = operands.call
        window, kernel = conv_window(call), call.shape(1)[2:]
        pairs = [one if len(one) == 2 else (1, one[0]) for one in (kernel, window.strides, window.dilations)]
        results = call.shape(1)[0] // call.integer("group", 1)
        (rows, columns), (down, right), (far_down, far_right) = pairs
        return WholeConvContext(
            line_of(length_of(call)), min(LANES, results), call.shape(1)[1], (rows, columns), (down, right),
            (far_down, far_right), call.optional(2) is not None, limited("v", call.node.clamp),
        )  # fmt: skip

    def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
        """Sizes and padding of one tile."""
        box, before, picture = view.boxes["x"].box, view.boxes["x"].before, len(call.shape()) == 4
        return {
            "images": view.size("n"), "groups": view.size("g"), "channels": view.size("oc"),
            "rows": view.size("oh") if picture else 1, "columns": view.size("ow"),
            "in_rows": box[2][1] - box[2][0] if picture else 1, "in_columns": box[-1][1] - box[-1][0],
            "top": before[2] if picture else 0, "left": before[-1],
        }  # fmt: skip


def length_of(call: Call) -> int:
    """Products of a sum."""
    return call.tensor(1).elements // call.shape(1)[0]
