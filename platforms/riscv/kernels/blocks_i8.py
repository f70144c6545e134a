"""What the integer register blocks of this platform share: sizes, packed weights and the requantisation in scalars."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from tilewright.platform import Array
from tilewright.platforms.generic.kernels.blocks import pack_weights
from tilewright.platforms.generic.kernels.requantise_text import RequantiseText

WIDTH = 4
HALF_EVEN = "../../generic/kernels/half_even.h"
ATTRIBUTE = "TILEWRIGHT_SCALAR"
"""Macro of `scalar.h`."""


@dataclass(frozen=True)
class Requantise:
    """Prints a requantisation in scalars: `constants` are one per channel, `literals` the layer's, limits included."""

    constants: tuple[tuple[str, str], ...]
    literals: tuple[tuple[str, int], ...]
    form: str

    def code(self, acc: str) -> str:
        """The unclamped code of an accumulator."""
        return self.form.replace("ACC", acc)

    @property
    def parameters(self) -> str:
        """Declarations of pointers to the per-channel numbers, each followed by a comma."""
        return "".join(f"const {c_type} *restrict {name}s, " for c_type, name in self.constants)

    @property
    def arrays(self) -> tuple[str, ...]:
        """Names of the arrays as the kernel's own parameters."""
        return tuple(name for _, name in self.constants)

    def arguments(self, offset: str) -> str:
        """The arrays from channel `offset` on, each followed by a comma."""
        return "".join(f"{name} + {offset}, " for name in self.arrays)


def scalars(text: RequantiseText) -> Requantise:
    """The same requantisation with `multiplier[CHANNEL]` and the like as plain names."""
    form = text.form
    for name in text.names:
        form = form.replace(f"{name}[CHANNEL]", name)
    literals = [("low", text.low), ("high", text.high)]
    for name, pattern in (("multiplier", r"(?<=\* )(-?\d+)(?=\) >> 32)"), ("addend", r"(?<=\+ )(-?\d+)(?=\) >>)")):
        if found := re.search(pattern, form):
            literals.append((name, int(found[1])))
            form = form[: found.start()] + name + form[found.end() :]
    return Requantise(tuple(zip(text.types, text.names, strict=True)), tuple(literals), form)


def packed(weights: Array, groups: int) -> Array:
    """[OC, IC, KH, KW] as [group][block][kh][kw][ic][4]: what a block multiplies at once lies side by side."""
    per_group = weights.shape[0] // groups
    parts = [pack_weights(weights[g * per_group : (g + 1) * per_group], WIDTH) for g in range(groups)]
    return np.concatenate(parts)


def pixels_at_once(results: int) -> int:
    """Pixels per block, one to four: the fewest instructions where the last block overlaps the one before."""
    return min(range(1, min(results, WIDTH) + 1), key=lambda p: (-(-results // p) * (WIDTH + p + 2 * WIDTH * p), -p))
