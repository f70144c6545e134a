"""How one talks to a board: a stream of bytes with time limits. What a lab's own way to its boards has to be."""

from __future__ import annotations

from typing import Protocol


class ByteStream(Protocol):
    """Bytes to and from a board. They may be lost, doubled or damaged on the way, but not overtake one another.

    OSError from either method says that the way itself is gone.
    """

    def read(self, most: int, seconds: float) -> bytes:
        """The bytes that are there, 1 to `most`; waits for the first for at most `seconds`, then gives none."""
        ...

    def write(self, data: bytes) -> None:
        """Send bytes; OSError where the board takes none for seconds."""
        ...
