"""What was measured of networks before: a file for each, named after a hash of the C, the compiler and its flags.
Of builds the bytes of every level, of objects what each function takes.

The folder is no part of the repository. Without it everything is measured, to the same figures.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from code_tables import Built, Library
from tilewright.report.code_sizes import LayerCounts

FOLDER = Path(__file__).parents[1] / ".code-sizes"
_FORM = "6"
"""To be raised when what is measured of a network changes."""


def key_of(source: str, flags: Iterable[str]) -> str:
    """The name of what these flags make of a text of C; the first of them names the compiler."""
    return sha256("\0".join((_FORM, *flags, source)).encode()).hexdigest()[:32]


def remembered(key: str, counts: LayerCounts) -> Built | None:
    """What was measured under a name, with the counts of its C; None where nothing was."""
    file = FOLDER / f"{key}.json"
    return _built(json.loads(file.read_text(encoding="utf-8")), counts) if file.is_file() else None


def remember(key: str, built: Built) -> Built:
    """Keep what was measured under a name."""
    FOLDER.mkdir(exist_ok=True)
    values = {name: value for name, value in vars(built).items() if name not in ("counts", "library")}
    values |= {"linked": built.library.linked, "parts": built.library.parts}
    part = FOLDER / f"{key}.part"
    part.write_text(json.dumps(values, default=sorted), encoding="utf-8")
    part.replace(FOLDER / f"{key}.json")
    return built


def remembered_levels(key: str) -> dict[str, int] | None:
    """Bytes of every memory level of a build; None where nothing was built under this name."""
    file = FOLDER / f"{key}.levels.json"
    if not file.is_file():
        return None
    return {name: int(size) for name, size in json.loads(file.read_text(encoding="utf-8")).items()}


def remember_levels(key: str, levels: Mapping[str, int]) -> Mapping[str, int]:
    """Keep the bytes of every memory level of a build."""
    FOLDER.mkdir(exist_ok=True)
    part = FOLDER / f"{key}.levels.part"
    part.write_text(json.dumps(dict(levels)), encoding="utf-8")
    part.replace(FOLDER / f"{key}.levels.json")
    return levels


def _built(values: dict[str, Any], counts: LayerCounts) -> Built:
    linked, parts = _sets(values.pop("linked")), values.pop("parts")
    library = Library(linked, {name: (size, variables) for name, (size, variables) in parts.items()})
    calls, beside = _sets(values.pop("calls")), frozenset(values.pop("beside"))
    return Built(**values, counts=counts, calls=calls, beside=beside, library=library)


def _sets(lists: Mapping[str, Iterable[str]]) -> dict[str, frozenset[str]]:
    return {name: frozenset(values) for name, values in lists.items()}
