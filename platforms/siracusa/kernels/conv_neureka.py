"""Integer convolutions as jobs of N-EUREKA: 1x1 and 3x3, dense and depthwise, strides of one and two."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from tilewright.operators import conv_window, remembered
from tilewright.platform import (
    Array,
    Call,
    Constant,
    JobKernelMethods,
    JobTimes,
    Operands,
    Rule,
    TileView,
    multiple,
    prefer,
    whole,
)
from tilewright.platforms.generic.kernels.blocks import not_by_channel
from tilewright.platforms.generic.kernels.conv_i8 import accepts, weights_of
from tilewright.platforms.pulp.kernels.conv_i8 import TYPES
from tilewright.platforms.pulp.kernels.windows import two_axes, window_tile
from tilewright.platforms.siracusa.kernels.jobs import (
    SOURCES,
    TEMPLATE,
    TILE,
    JobContext,
    Layer,
    constants,
    context,
    cycles,
    refusal,
    sums_bytes,
    tile_numbers,
    times,
)
from tilewright.platforms.siracusa.kernels.packing import Mode
from tilewright.platforms.siracusa.kernels.timing import SIDE
from tilewright.platforms.siracusa.platform import PLATFORM

SUMS_WHOLE = "a job's sums go over all taps and input channels"
ROWS = "a job computes rows in sixes"
PAIRS = "two columns of the input are a pixel, counted from the first"


def window_refusal(call: Call) -> str | None:
    """None, or the sentence why the unit has no such windows."""
    window = conv_window(call)
    kernel, strides = window.kernel, window.strides
    if kernel not in ((1, 1), (3, 3)):
        return f"the accelerator has windows of 1x1 and 3x3, not {kernel[0]}x{kernel[1]}"
    if strides not in ((1, 1), (2, 2)):
        return f"the accelerator is given strides of 1 and 2, not {strides[0]}x{strides[1]}"
    if kernel == (3, 3) and window.dilations != (1, 1):
        return "the accelerator's taps lie side by side, those of a dilated window do not"
    before, behind = _padding(call)
    if any(pad > (kernel[0] > 1) for pad in (*before, *behind)):
        return "the padding is wider than the accelerator's, one row or column of a 3x3 window"
    if any(size == 1 and b and e for size, b, e in zip(call.shape(0)[2:], before, behind, strict=True)):
        return "one row or column with padding on both sides of it"
    return None


def _padding(call: Call) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Rows and columns before and behind the input that windows reach into."""
    window, sizes = conv_window(call), call.shape(0)[2:]
    behind = (
        (out - 1) * step + (taps - 1) * apart + 1 - before - size
        for out, step, taps, apart, before, size in zip(
            window.outs, window.strides, window.kernel, window.dilations, window.begins, sizes, strict=True
        )
    )
    return tuple(window.begins), tuple(max(0, pad) for pad in behind)


@remembered
def layer_of(call: Call) -> Layer:
    """The convolution as the unit sees it."""
    weights, window = weights_of(call)[0], conv_window(call)
    flat = np.moveaxis(weights.reshape(*weights.shape[:2], -1), 1, -1)
    three = window.kernel == (3, 3)
    apart = three and call.integer("group", 1) > 1
    mode = Mode.APART if apart else Mode.THREE if three else Mode.ONE
    if mode is Mode.THREE and _pairs(call, flat.shape[2]):
        return Layer(mode, _paired(flat, window.begins[1]), 2, pairs=True)
    return Layer(mode, flat, window.strides[0])


def _pairs(call: Call, channels: int) -> bool:
    """True where two columns of the input are one pixel: that halves the sums, and takes fewer than twice the reads.

    A tile has the columns that windows read, an even number where one is missing before or behind them.
    """
    before, behind = _padding(call)
    blocks, twice = -(-channels // Mode.THREE.ins), -(-2 * channels // Mode.THREE.ins)
    return conv_window(call).strides == (2, 2) and before[1] + behind[1] == 1 and twice < 2 * blocks


def _paired(weights: Array, before: int) -> Array:
    """Weights [output channel, tap, two columns of channels]: of three taps in a row the last has none.

    `before` columns of padding shift what lies in a pair: the first tap is its second column, with padding before it.
    """
    outs, _, channels = weights.shape
    rows = weights.reshape(outs, 3, 3, channels)
    columns = np.zeros((outs, 3, 6, channels), weights.dtype)
    columns[:, :, before : before + 3] = rows
    return columns.reshape(outs, 9, 2 * channels)


class _Convolution(JobKernelMethods):
    """What both kernels answer alike; `_channels` is the loop over the output channels."""

    tile_type = TILE
    _channels = "oc"

    def cycles(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """Jobs, codes, and what of both runs side by side."""
        return cycles(call, layer_of(call), sizes["oh"], sizes["ow"], sizes[self._channels])

    def job_times(self, call: Call, sizes: Mapping[str, int]) -> JobTimes:
        """Its jobs one by one."""
        return times(call, layer_of(call), sizes["oh"], sizes["ow"], sizes[self._channels])

    def tile_scratch(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """The sums of two jobs."""
        return sums_bytes(call, layer_of(call), sizes["oh"], sizes["ow"], sizes[self._channels])

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights for the unit, numbers for the cores."""
        return constants(operands.call, layer_of(operands.call), self._channels)

    def context(self, operands: Operands) -> JobContext:
        """The words that all jobs share, and the cores' requantisation."""
        return context(operands.call, layer_of(operands.call), "x")

    def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
        """Sizes, padding and first channel of one tile."""
        numbers = window_tile(view, self._channels)
        return tile_numbers(
            call, layer_of(call), numbers, view.size(self._channels), view.loops[self._channels][0], view.stage
        )

    def _rows(self, call: Call) -> Rule:
        return prefer("oh", SIDE // layer_of(call).row_step, why=ROWS)


@PLATFORM.kernel(
    "Conv", types=TYPES, template=TEMPLATE, layout="channels_last", sources=SOURCES, engine="neureka", preference=20,
)  # fmt: skip
class NeurekaConvI8(_Convolution):
    """Integer convolution of one group as jobs of the accelerator, codes made by the cores."""

    def accepts(self, call: Call) -> str | None:
        """One group; windows that the unit has; weights of eight bits, a requantisation of 32 bits."""
        if call.integer("group", 1) != 1:
            return f"{call.integer('group', 1)} groups, the kernel handles one"
        why = two_axes(call) or accepts(call) or window_refusal(call)
        return why or refusal(call, weights_of(call)[1])

    def rules(self, call: Call) -> list[Rule]:
        """Sums stay whole; output channels go in those of a job."""
        jobs = multiple("oc", Mode.ONE.outs, why="a job computes 32 output channels")
        columns = whole("ow", why=PAIRS) if layer_of(call).pairs else []
        return [*whole("n", "g", "ic", "kh", "kw", why=SUMS_WHOLE), jobs, self._rows(call), *columns]


@PLATFORM.kernel(
    "Conv", types=TYPES, template=TEMPLATE, layout="channels_last", sources=SOURCES, engine="neureka", preference=25,
)  # fmt: skip
class NeurekaDepthwiseI8(_Convolution):
    """Integer depthwise convolution as jobs of the accelerator, codes made by the cores."""

    _channels = "g"

    def accepts(self, call: Call) -> str | None:
        """As many groups as channels; windows of 3x3; weights and requantisation as for one group."""
        if (why := not_by_channel(call) or two_axes(call) or accepts(call) or window_refusal(call)) is not None:
            return why
        if conv_window(call).kernel != (3, 3):
            return "the accelerator keeps channels apart in windows of 3x3 only"
        return refusal(call, weights_of(call)[1])

    def rules(self, call: Call) -> list[Rule]:
        """Taps stay whole; channels go in those of a job."""
        jobs = multiple("g", Mode.APART.outs, why="a job computes 28 channels")
        return [*whole("n", "oc", "ic", "kh", "kw", why=SUMS_WHOLE), jobs, self._rows(call)]
