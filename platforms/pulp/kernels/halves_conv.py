"""Float convolution of one tile without float units: every window becomes whole numbers once, for all channels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tilewright.operators import conv_window
from tilewright.platform import Call, Constant, Needs, Operands, Rule, TiledKernelMethods, TileView
from tilewright.platforms.generic.kernels.whole_products import limited
from tilewright.platforms.pulp.kernels.plane_blocks import LANES
from tilewright.platforms.pulp.kernels.whole_conv import GENERIC, TiledWholeConv, length_of
from tilewright.platforms.pulp.kernels.whole_halves import Halves, halves_of, line_words
from tilewright.platforms.pulp.kernels.windows import CORES
from tilewright.platforms.pulp.platform import PLATFORM

ONE_BY_ONE = TiledWholeConv()
LONGEST = 1024
"""Products of a sum: each core holds the numbers of a window beside the operands."""
NUMBER_CYCLES, WEIGHT_CYCLES, RESULT_CYCLES, PIXEL_CYCLES = 58, 42, 170, 300
"""Modelled cycles of a float of a window, and of a weight, that becomes a number, of a sum that becomes a float, and of
a pixel."""
SOURCES = [
    "tiles.h", "xpulp.h", "dots.h", *(f"{GENERIC}{name}.h" for name in ("fixed_room", "whole_f32", "whole_products")),
    "whole_halves.h",
]  # fmt: skip


@dataclass(frozen=True)
class HalvesConvContext:
    """The window of a layer, and its lines of numbers."""

    halves: Halves
    depth: int
    kernel: tuple[int, int]
    strides: tuple[int, int]
    dilations: tuple[int, int]
    bias: bool
    clamp: str


@PLATFORM.kernel(
    "Conv", types="f32, f32, f32? -> f32", template="halves_conv.c.mako", layout=("default", "default"),
    sources=SOURCES, numerics="1e-5", preference=26, requires=Needs(lacks=("fpu",)),
)  # fmt: skip
class TiledHalvesConv(TiledKernelMethods):
    """Float convolution over tiles in L1 as sums of whole numbers in halves, weights constant or of the run time."""

    tile_type = "{function}_tile"
    phases = 2
    gives_way = True

    def accepts(self, call: Call) -> str | None:
        """Windows of which each core holds one, for enough results."""
        if (why := ONE_BY_ONE.accepts(call)) is not None:
            return why
        length = length_of(call)
        if length > LONGEST:
            return f"a window has {length} products, {LONGEST} are the most"
        if self.cost(call) >= ONE_BY_ONE.cost(call):
            return "few results share a window, it is cheaper to make its numbers as they are multiplied"
        return None

    def rules(self, call: Call) -> list[Rule]:
        """Sums stay whole."""
        return ONE_BY_ONE.rules(call)

    def cost(self, call: Call) -> float:
        """Products, and what becomes whole numbers for all channels."""
        results = call.shape(1)[0] // call.integer("group", 1)
        each = length_of(call) * NUMBER_CYCLES + PIXEL_CYCLES + _sums(call, results)
        return float(call.outputs[0].elements * (each / results + RESULT_CYCLES) / CORES)

    def cycles(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """Weights, then the pixels of the core that has most."""
        length, lanes = length_of(call), sizes["g"] * sizes["oc"]
        pixels = -(-sizes["n"] * sizes["g"] * sizes.get("oh", 1) * sizes["ow"] // CORES)
        pixel = length * NUMBER_CYCLES + PIXEL_CYCLES + _sums(call, sizes["oc"]) + RESULT_CYCLES * sizes["oc"]
        return 500 + -(-lanes // CORES) * length * WEIGHT_CYCLES + pixels * pixel

    def tile_scratch(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """Numbers of weights, with an exponent and the sizes of every channel; of every core a window and its sums."""
        words = line_words(length_of(call))
        lanes = _lanes(call)
        sums = -(-sizes["oc"] // lanes) * lanes
        return 4 * (sizes["g"] * sizes["oc"] * (words + 2) + CORES * (words + 2 * sums))

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights and bias as they are, where they are constants, cut by channels."""
        return ONE_BY_ONE.constants(operands)

    def context(self, operands: Operands) -> HalvesConvContext:
        """The window of the layer; a signal is a picture of one row."""
        call = operands.call
        window, kernel = conv_window(call), call.shape(1)[2:]
        pairs = [one if len(one) == 2 else (1, one[0]) for one in (kernel, window.strides, window.dilations)]
        (rows, columns), (down, right), (far_down, far_right) = pairs
        return HalvesConvContext(
            halves_of(length_of(call), _lanes(call)), call.shape(1)[1], (rows, columns), (down, right),
            (far_down, far_right), call.optional(2) is not None, limited("v", call.node.clamp),
        )  # fmt: skip

    def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
        """Sizes and padding of one tile."""
        return ONE_BY_ONE.tile(call, view)


def _lanes(call: Call) -> int:
    """Channels that are summed at once."""
    return min(LANES, call.shape(1)[0] // call.integer("group", 1))


def _sums(call: Call, channels: Any) -> Any:
    """Modelled cycles of the sums of a pixel: of every lane seven for two products, and two for all lanes."""
    lanes, pairs = _lanes(call), -(-length_of(call) // 2)
    return -(-channels // lanes) * (pairs * (2 + 7 * lanes) + 60)
