"""Sizes in bytes as people write them, on the command line and in `target.toml`."""

from __future__ import annotations

import re

_SIZE = re.compile(r"([0-9]+)\s*(?:([KMG])(?:i?B)?|B)?", re.IGNORECASE)
_FACTORS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def parse_size(text: str) -> int | None:
    """Bytes of `4096`, `64K`, `64KiB`, `1M` or `1 MB`; K is 1024. None where the text is no size."""
    size = _SIZE.fullmatch(text.strip())
    return int(size[1]) * _FACTORS[(size[2] or "").upper()] if size else None


def align_up(size: int, align: int) -> int:
    """The smallest multiple of `align` that is not below `size`."""
    return -(-size // align) * align
