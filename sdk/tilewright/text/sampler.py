"""Which token comes next: the best one, or one drawn by its probability."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tilewright.errors import UsageError

SEED = 2463534242
"""Stands for a seed of 0, from which the generator would not move."""


@dataclass(frozen=True)
class Sampling:
    """`temperature` 0 takes the best token. Else a token is drawn among the fewest whose probabilities, best first,
    add up to `top_p`."""

    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what no token could be drawn by."""
        if not 0 <= self.temperature < 1e6:
            raise UsageError(
                f"--temperature {self.temperature:g}", why="it is not a number of 0 or more", fix="try 0.8"
            )
        if not 0 < self.top_p <= 1:
            raise UsageError(f"--top-p {self.top_p:g}", why="it is not part of a whole", fix="use more than 0, up to 1")
        if not 0 <= self.seed < 1 << 32:
            raise UsageError(f"--seed {self.seed}", why="it has more than 32 bits", fix="use less than 4294967296")


class Sampler:
    """The same draws as the generated C: xorshift of 32 bits (Marsaglia, 2003), sums in float32."""

    def __init__(self, wish: Sampling) -> None:
        self.wish, self.state = wish, wish.seed or SEED

    def choose(self, scores: npt.NDArray[np.float32]) -> int:
        """The next token; the first of equal ones."""
        flat = scores.reshape(-1)
        if self.wish.temperature == 0:
            return int(flat.argmax())
        one = np.float32(1)
        with np.errstate(under="ignore"):
            shares = np.exp((flat - flat.max()) * (one / np.float32(self.wish.temperature)))
        total = np.cumsum(shares, dtype=np.float32)[-1]
        order = np.argsort(-shares, kind="stable")
        sums = np.cumsum(shares[order], dtype=np.float32)
        last = min(int(np.searchsorted(sums, np.float32(self.wish.top_p) * total)), len(sums) - 1)
        drawn = self._draw() * sums[last]
        return int(order[min(int(np.searchsorted(sums, drawn, side="right")), last)])

    def _draw(self) -> np.float32:
        state = self.state
        state ^= state << 13 & 0xFFFFFFFF
        state ^= state >> 17
        state ^= state << 5 & 0xFFFFFFFF
        self.state = state
        return np.float32(state >> 8) * np.float32(2.0**-24)
