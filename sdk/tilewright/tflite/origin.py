"""Which codes the floats of a file were."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tilewright.model import DType

Meaning = tuple[DType, float, int]
"""The type of codes, their scale and their zero point."""


@dataclass(frozen=True)
class Origin:
    """The codes that floats were, and whether anything was computed of them since."""

    codes: frozenset[Meaning]
    computed: bool = False


def joined(origins: Iterable[Origin], computed: bool = False) -> Origin | None:
    """The origin of what several floats make; None for no floats that were codes."""
    every = list(origins)
    if not every:
        return None
    codes = frozenset[Meaning]().union(*(origin.codes for origin in every))
    return Origin(codes, computed or any(origin.computed for origin in every))
