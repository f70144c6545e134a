"""What the integer register blocks of this platform share: sizes, packed weights and the requantisation in scalars."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.numerics import C_TYPES, MultiplyHigh, Requantiser, proof, requantise
from tilewright.platform import Array, Call
from tilewright.platforms.generic.kernels.blocks import pack_weights

WIDTH = 4
ATTRIBUTE = "TILEWRIGHT_SCALAR"
"""Macro of `scalar.h`."""


@dataclass(frozen=True)
class Scalars:
    """A requantisation whose numbers a kernel holds in variables of their names."""

    form: Requantiser

    @property
    def of_layer(self) -> tuple[tuple[str, int], ...]:
        """Names and values of the variables that serve all channels: the limits, and a common multiplier and addend."""
        numbers = (self.form.multiplier, self.form.addend) if isinstance(self.form, MultiplyHigh) else ()
        common = tuple((number.name, number.values[0]) for number in numbers if number.uniform)
        return (("low", self.form.low), ("high", self.form.high), *common)

    @property
    def of_channel(self) -> tuple[tuple[str, str], ...]:
        """C types and names of the variables that every channel sets anew; arrays of the function have these names."""
        return tuple((C_TYPES[number.dtype], number.name) for number in self.form.arrays)

    def code(self, accumulator: str) -> str:
        """The unlimited code of an accumulator, an int32_t."""
        names = [name for name, _ in self.of_layer] + [name for _, name in self.of_channel]
        return self.form.code(accumulator, held={name: name for name in names})

    @property
    def parameters(self) -> str:
        """Declarations of pointers to the numbers of the channels, named with an `s`, each followed by a comma."""
        return "".join(f"const {c_type} *{name}s, " for c_type, name in self.of_channel)

    def arguments(self, offset: str) -> str:
        """The arrays from channel `offset` on, each followed by a comma."""
        return self.form.arguments(offset)


def scalars(call: Call) -> Scalars:
    """The requantisation of a Conv, Gemm or MatMul."""
    return Scalars(requantise(proof(call)))


def packed(weights: Array, groups: int) -> Array:
    """[OC, IC, KH, KW] as [group][block][kh][kw][ic][4]: what a block multiplies at once lies side by side."""
    per_group = weights.shape[0] // groups
    parts = [pack_weights(weights[g * per_group : (g + 1) * per_group], WIDTH) for g in range(groups)]
    return np.concatenate(parts)


def pixels_at_once(results: int) -> int:
    """Pixels per block, one to four: the fewest instructions where the last block overlaps the one before."""
    return min(range(1, min(results, WIDTH) + 1), key=lambda p: (-(-results // p) * (WIDTH + p + 2 * WIDTH * p), -p))
