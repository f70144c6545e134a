"""Float ConvTranspose by phases on cores with a floating-point unit: four pixels by four channels in registers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.platform import Array, Call, Constant, DType, KernelMethods, Needs, Operands
from tilewright.platforms.cortex_m.kernels.fpu import PRICES, WIDTH, ConvWork
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels import phases as geometry
from tilewright.platforms.generic.kernels.blocks_f32 import REGISTERS, in_blocks, starts
from tilewright.platforms.generic.kernels.float_text import rectified_text
from tilewright.platforms.generic.kernels.phases import TransposedAxis

MOST_GROUPS = 4
"""Groups up to which products with zeros cost less than loops over each group."""


@dataclass(frozen=True)
class TransposedContext:
    """Every number of one layer; `phases` are the members of `tilewright_phase`."""

    h: TransposedAxis
    w: TransposedAxis
    channels: int
    out_channels: int
    phases: tuple[tuple[int, ...], ...]
    clamp: str


def weights_of(call: Call) -> tuple[tuple[geometry.Phase, geometry.Phase, Array], ...]:
    """Phases of rows and columns with their weights [OC, inputs]; one zero where no tap meets an input."""
    weights = _of_one_group(call.constants[1], call.integer("group", 1))
    if weights.ndim == 3:
        weights = weights[:, :, None]
    taps = weights.transpose(1, 2, 3, 0)
    found = []
    for rows, columns in geometry.phases(*geometry.transposed_axes(call)):
        some = taps[:, list(rows.taps)][:, :, list(columns.taps)].reshape(taps.shape[0], -1)
        found.append((rows, columns, some if some.size else np.zeros((taps.shape[0], 1), np.float32)))
    return tuple(found)


def _of_one_group(weights: Array, groups: int) -> Array:
    """The weights with zeros between channels of different groups."""
    inputs, outputs = weights.shape[0] // groups, weights.shape[1]
    whole = np.zeros((weights.shape[0], outputs * groups, *weights.shape[2:]), weights.dtype)
    for group in range(groups):
        own = slice(group * inputs, (group + 1) * inputs)
        whole[own, group * outputs : (group + 1) * outputs] = weights[own]
    return whole


@PLATFORM.kernel(
    "ConvTranspose", types="f32, f32, f32? -> f32", template="transposed_fpu.c.mako", layout="channels_last",
    sources=[REGISTERS, "fpu.h", "transposed.h"], numerics="1e-5", preference=20, requires=Needs(has=("fpu",)),
)  # fmt: skip
class TransposedFpu(KernelMethods):
    """Float ConvTranspose of a few groups: four pixels of a phase by four channels in registers.

    Several groups are computed as one, with weights of zero between them.
    """

    def accepts(self, call: Call) -> str | None:
        """A layer in phases."""
        return geometry.refused(call, MOST_GROUPS)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Starts and weights of every phase by four channels, and zeros for taps outside."""
        call = operands.call
        start = starts(call, call.outputs[0].shape[1])
        blocks = [in_blocks(weights, start, WIDTH) for _, _, weights in weights_of(call)]
        pad = np.zeros(call.shape(0)[1], np.float32)
        return Constant("w", DType.F32, np.concatenate(blocks)), Constant("pad", DType.F32, pad)

    def scratch(self, operands: Operands) -> int:
        """The interleaved inputs of four pixels."""
        return max(16 * int(weights.shape[1]) for _, _, weights in weights_of(operands.call))

    def cost(self, call: Call) -> float:
        """The work of convolutions of four pixels."""
        total, columns = 0.0, -(-call.outputs[0].shape[1] // WIDTH)
        for rows, across, weights in weights_of(call):
            inputs, taps = weights.shape[1], len(rows.taps) * len(across.taps)
            one = ConvWork(block_inputs=columns * inputs, blocks=columns, inputs=inputs, taps=taps)
            total += rows.count * -(-across.count // 4) * one.priced(PRICES)
        return total

    def context(self, operands: Operands) -> TransposedContext:
        """The numbers of the layer."""
        call = operands.call
        h, w = geometry.transposed_axes(call)
        columns = call.outputs[0].shape[1] + -call.outputs[0].shape[1] % WIDTH
        members, at = [], 0
        for rows, across, weights in weights_of(call):
            members.append((
                rows.first, rows.count, len(rows.taps), rows.begin, across.first, across.count, len(across.taps),
                across.begin, weights.shape[1], at, 0,
            ))  # fmt: skip
            at += columns * (1 + weights.shape[1])
        clamp = rectified_text("v", call.node.clamp)
        return TransposedContext(h, w, call.shape(0)[1], call.outputs[0].shape[1], tuple(members), clamp)
