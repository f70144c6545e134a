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
"""Groups up to which blocks of four channels pay, which the last block of each group rarely fills."""


@dataclass(frozen=True)
class TransposedContext:
    """Every number of one layer; `phases` are the members of `tilewright_phase`, with weights of the first group, whose
    blocks have `width` channels.
    """

    h: TransposedAxis
    w: TransposedAxis
    groups: int
    channels: int
    out_channels: int
    group_channels: int
    group_out_channels: int
    width: int
    phases: tuple[tuple[int, ...], ...]
    clamp: str


def width_of(call: Call) -> int:
    """Channels of a block: one result of a pixel has its products with the inputs where they lie."""
    return 1 if call.outputs[0].shape[1] == call.integer("group", 1) else WIDTH


def weights_of(call: Call) -> tuple[tuple[geometry.Phase, geometry.Phase, Array], ...]:
    """Phases of rows and columns with their weights [group, OC, inputs]; one zero where no tap meets an input."""
    weights, groups = call.constants[1], call.integer("group", 1)
    if weights.ndim == 3:
        weights = weights[:, :, None]
    inputs, outputs = weights.shape[0] // groups, weights.shape[1]
    taps = weights.reshape(groups, inputs, *weights.shape[1:]).transpose(0, 2, 3, 4, 1)
    parts = []
    for rows, columns in geometry.phases(*geometry.transposed_axes(call)):
        some = taps[:, :, list(rows.taps)][:, :, :, list(columns.taps)].reshape(groups, outputs, -1)
        parts.append((rows, columns, some if some.size else np.zeros((groups, outputs, 1), np.float32)))
    return tuple(parts)


@PLATFORM.kernel(
    "ConvTranspose", types="f32, f32, f32? -> f32", template="transposed_fpu.c.mako", layout="channels_last",
    sources=[REGISTERS, "fpu.h", "transposed.h", "transposed_one.h"], numerics="1e-5", preference=20,
    requires=Needs(has=("fpu",)),
)  # fmt: skip
class TransposedFpu(KernelMethods):
    """Float ConvTranspose of a few groups: four pixels of a phase by four channels in registers."""

    def accepts(self, call: Call) -> str | None:
        """A layer in phases."""
        return geometry.refused(call, MOST_GROUPS)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Starts and weights of every phase and group by four channels, and zeros for taps outside."""
        call = operands.call
        groups = call.integer("group", 1)
        start = starts(call, call.outputs[0].shape[1]).reshape(groups, -1)
        blocks = [
            in_blocks(weights[group], start[group], width_of(call))
            for _, _, weights in weights_of(call)
            for group in range(groups)
        ]
        pad = np.zeros(call.shape(0)[1] // groups, np.float32)
        return Constant("w", DType.F32, np.concatenate(blocks)), Constant("pad", DType.F32, pad)

    def scratch(self, operands: Operands) -> int:
        """The interleaved inputs of four pixels."""
        if width_of(operands.call) == 1:
            return 0
        return max(16 * int(weights.shape[2]) for _, _, weights in weights_of(operands.call))

    def cost(self, call: Call) -> float:
        """The work of convolutions of four pixels."""
        total = 0.0
        alone = width_of(call) == 1
        for rows, across, weights in weights_of(call):
            groups, outputs, inputs = weights.shape
            columns, taps = -(-outputs // WIDTH), len(rows.taps) * len(across.taps)
            one = ConvWork(block_inputs=columns * inputs, blocks=columns, inputs=inputs, taps=taps)
            if alone:
                total += groups * rows.count * -(-across.count // 4) * (6.0 * inputs + 30.0 * taps + 90.0)
                continue
            total += groups * rows.count * -(-across.count // 4) * one.priced(PRICES)
        return total

    def context(self, operands: Operands) -> TransposedContext:
        """The numbers of the layer."""
        call = operands.call
        h, w = geometry.transposed_axes(call)
        members, at, width = [], 0, width_of(call)
        for rows, across, weights in weights_of(call):
            groups, outputs, inputs = weights.shape
            members.append((
                rows.first, rows.count, len(rows.taps), rows.begin, across.first, across.count, len(across.taps),
                across.begin, inputs, at, 0,
            ))  # fmt: skip
            at += groups * (outputs + -outputs % width) * (1 + inputs)
        clamp = rectified_text("v", call.node.clamp)
        channels, out_channels = call.shape(0)[1], call.outputs[0].shape[1]
        return TransposedContext(
            h, w, groups, channels, out_channels, channels // groups, out_channels // groups, width,
            tuple(members), clamp,
        )  # fmt: skip
