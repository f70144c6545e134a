"""A layer as the blocks of pixels see it, and which columns of a block's window padding leaves out."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Window:
    """A layer as the blocks see it: kernel, strides, dilations and padding of two axes; a dense layer has one tap.
    `depth` is the bytes of a pixel.

    A row has `inputs` columns and `results` results; tiles of a `signal` are cut along it.
    """

    depth: int
    channels: int
    kernel: tuple[int, int] = (1, 1)
    strides: tuple[int, int] = (1, 1)
    dilations: tuple[int, int] = (1, 1)
    begins: tuple[int, int] = (0, 0)
    ends: tuple[int, int] = (0, 0)
    inputs: int = 1
    results: int = 1
    signal: bool = False

    @property
    def flat(self) -> bool:
        """True where every pixel is computed from the input pixel of its place."""
        return self.kernel == (1, 1) and self.strides == (1, 1) and not any((*self.begins, *self.ends))

    @property
    def taps(self) -> int:
        """Input bytes of one result."""
        return self.kernel[0] * self.kernel[1] * self.depth

    def starts(self, pixels: int, most: int, anywhere: bool) -> list[int]:
        """Where in a row blocks of so many pixels begin, of `most` where they can."""
        if anywhere or most == 1:
            return list(range(self.results - pixels + 1))
        full, over = divmod(self.results, most)
        singles = over if full == 0 or over <= 2 else 0
        if pixels == 1:
            return list(range(self.results - singles, self.results))
        return [*range(0, full * most, most), *([self.results - most] if over and not singles else [])]

    def edge(self, start: int, pixels: int) -> tuple[int, int]:
        """Columns that padding leaves out at the left and at the right of a block."""
        first = start * self.strides[1] - self.begins[1]
        reach = (pixels - 1) * self.strides[1] + (self.kernel[1] - 1) * self.dilations[1] + 1
        return max(0, -first), max(0, first + reach - self.inputs)
