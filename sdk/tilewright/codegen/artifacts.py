"""What code generation gives: file names relative to the output folder, and their bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Artifacts:
    """The generated project. `files` maps a relative path with `/` to text; `model` is the prefix of all symbols.

    `blobs` are binary files beside the code: weights that it reads at run time. `runtime_bytes` of weights lie in RAM.
    """

    model: str
    files: Mapping[str, str]
    constant_bytes: int
    functions: tuple[str, ...]
    blobs: Mapping[str, bytes] = field(default_factory=dict)
    runtime_bytes: int = 0
