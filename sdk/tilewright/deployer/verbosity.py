"""What the code of a deployer tells while it runs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CodeGenVerbosity:
    """What the generated code tells while it runs: marks around every layer, around every tile, or both."""

    tiled_profiling: bool = False
    untiled_profiling: bool = False


QUIET = CodeGenVerbosity()
