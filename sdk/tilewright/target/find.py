"""Finds targets by name: boards and simulators of `tilewright.targets`, chips and cores, or a folder of the user's."""

from __future__ import annotations

import difflib
from pathlib import Path

from tilewright.errors import UsageError
from tilewright.target.chips import chip_target, known_chips, known_cores
from tilewright.target.file import read_target
from tilewright.target.value import FILE, Target, targets_folder


def known_targets() -> tuple[str, ...]:
    """Names of the boards and simulators that ship with the package, sorted."""
    return tuple(sorted(path.parent.name for path in targets_folder().glob(f"*/{FILE}")))


def known_names() -> tuple[str, ...]:
    """Every name that `load_target` takes: boards, cores, chips."""
    return (*known_targets(), *known_cores(), *sorted(known_chips()))


def all_targets() -> tuple[Target, ...]:
    """Every board and simulator that ships with the package, by name."""
    return tuple(load_target(name) for name in known_targets())


def load_target(name_or_path: str | Path) -> Target:
    """Read a target by name, or from a folder given by its path. UsageError if unknown, PlatformError if ill-formed."""
    text = str(name_or_path)
    if isinstance(name_or_path, str) and text in known_targets():
        return read_target(targets_folder() / text)
    if isinstance(name_or_path, str) and (text in known_cores() or text in known_chips()):
        return chip_target(text)
    folder = Path(name_or_path)
    if (folder / FILE).is_file():
        return read_target(folder.resolve())
    if isinstance(name_or_path, Path) or "/" in text:
        raise UsageError(f"no target in '{text}'", why=f"the folder has no {FILE}", file=text)
    near = difflib.get_close_matches(text.lower(), known_names(), 1)
    if near:
        raise UsageError(
            f"unknown target '{text}'",
            why="no board, chip or core has that name",
            fix=f"did you mean '{near[0]}'? 'tilewright targets' lists them",
        )
    raise UsageError(
        f"unknown target '{text}'",
        why="known are " + ", ".join(known_targets()) + f", {len(known_cores())} cores and {len(known_chips())} chips",
        fix=f"'tilewright targets' lists them; or give the path of a folder with a {FILE}",
    )
