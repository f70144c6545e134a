"""What code generation gives: file names relative to the output folder, and their bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Artifacts:
    """The generated project. `files` maps a relative path with `/` to text; `model` is the prefix of all symbols."""

    model: str
    files: Mapping[str, str]
    constant_bytes: int
    functions: tuple[str, ...]
