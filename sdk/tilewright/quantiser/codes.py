"""Weights as codes of a few bits, with whole numbers for scales, so that a product is a sum of integers.

Of rows of weights [outputs, inputs] each block of a row has a factor of 7 bits and a sign, and all share one step:
weight = step * factor * code. Sums of products with codes of activations times factors are whole numbers, which
no order of summation changes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tilewright.errors import UsageError

Floats = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.int8]
HIGHEST = 127
EXACT = 1 << 24
"""Whole numbers up to here are exact in float32, sums of them too."""


@dataclass(frozen=True)
class Scheme:
    """`bits` of a weight, 8 or 4; `block` weights of a row share a factor, all of them where it is 0."""

    bits: int
    block: int = 0

    @staticmethod
    def parse(text: str) -> Scheme | None:
        """What `int8` or `int4:32` say; None for another word. UsageError for blocks that cannot be."""
        word, _, block = text.partition(":")
        if word not in ("int8", "int4"):
            return None
        size = int(block) if block.isascii() and block.isdigit() and len(block) < 5 else 0
        if block and (size < 8 or size > 256 or size % 8):
            raise UsageError(
                f"--weights {text}", why="blocks have 8 to 256 weights, a multiple of 8", fix="try int4:32"
            )
        return Scheme(8 if word == "int8" else 4, size or (0 if word == "int8" else 32))

    @property
    def lowest(self) -> int:
        """The least code."""
        return -8 if self.bits == 4 else -HIGHEST

    @property
    def highest(self) -> int:
        """The greatest code."""
        return 7 if self.bits == 4 else HIGHEST


@dataclass(frozen=True)
class Coded:
    """Codes [outputs, inputs], factors [outputs, blocks], and the step of both."""

    codes: Bytes
    factors: Bytes
    step: np.float32

    def real(self, block: int) -> Floats:
        """The weights that are meant."""
        width = self.codes.shape[1]
        spread = np.repeat(self.factors, block or width, axis=1)[:, :width]
        return np.asarray(self.codes.astype(np.float32) * spread * self.step, np.float32)


def coded(weights: Floats, scheme: Scheme) -> Coded:
    """The nearest codes of rows of weights."""
    outputs, inputs = weights.shape
    block = scheme.block or inputs
    blocks = -(-inputs // block)
    padded = np.pad(weights.astype(np.float64), ((0, 0), (0, blocks * block - inputs))).reshape(outputs, blocks, block)
    largest = np.take_along_axis(padded, np.abs(padded).argmax(-1)[..., None], -1)[..., 0]
    ideal = largest / scheme.lowest if scheme.bits == 4 else np.abs(largest) / scheme.highest
    step = np.float32(max(float(np.abs(ideal).max()) / _most(scheme, inputs), 1e-30))
    factors = np.where(ideal < 0, -1, 1) * np.maximum(np.ceil(np.abs(ideal) / float(step) - 1e-6), 1)
    limited = np.clip(factors, -HIGHEST, HIGHEST)
    codes = np.clip(np.rint(padded / (limited[..., None] * float(step))), scheme.lowest, scheme.highest)
    return Coded(codes.reshape(outputs, -1)[:, :inputs].astype(np.int8), limited.astype(np.int8), step)


def _most(scheme: Scheme, inputs: int) -> int:
    """The largest factor with which no sum leaves 32 bits, or of four bits what is exact in float32."""
    if scheme.bits == 4:
        return max(1, min(HIGHEST, (EXACT - 1) // (HIGHEST * 8 * inputs)))
    return max(1, min(HIGHEST, ((1 << 31) - 1) // (HIGHEST * HIGHEST * inputs)))
