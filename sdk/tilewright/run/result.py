"""What an image says of its run in result.bin."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Result:
    """What the image says of its run: ticks of the core's counter, and interrupts of that counter meanwhile."""

    status: int
    returned: int
    stack_bytes: int
    ticks: int
    interrupts: int


def read_result(folder: Path) -> Result:
    """Read result.bin."""
    return Result(*struct.unpack("<5I", (folder / "result.bin").read_bytes()))
