"""Every term of the glossary is borne by something that is there, and has one meaning."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "glossary.md"
ROWS = re.findall(r"^\| ([^|]+) \| ([^|]+) \| `([\w.]+)` \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


def borne(path: str) -> bool:
    """True for a module, or for what a module defines."""
    module, _, name = path.rpartition(".")
    try:
        return hasattr(importlib.import_module(module), name) or bool(importlib.import_module(path))
    except ModuleNotFoundError:
        return False


def test_terms_stand_once_in_order_and_are_borne() -> None:
    terms = [term.lower() for term, _, _ in ROWS]
    assert len(terms) > 40
    assert terms == sorted(set(terms))
    assert not [path for _, _, path in ROWS if not borne(path)]
    assert not borne("tilewright.plan.plan.NotThere")
