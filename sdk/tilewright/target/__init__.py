"""Targets: a board, a chip or a simulator each.

A board is a folder with a `target.toml`, a link script and a start-up file; files that it names lie in its own folder
or, shared between boards of one family, in `targets/start`. `load_target` takes the name of a folder of
`tilewright.targets`, that of a chip or core in `targets/chips`, or a path to a folder anywhere, so a user adds a board
by writing one.
"""

from __future__ import annotations

from tilewright.target.chips import Chip, Core, known_chips, known_cores
from tilewright.target.file import read_target
from tilewright.target.find import all_targets, known_names, known_targets, load_target
from tilewright.target.value import FILE, Memory, StackRoom, Target, missing_tools, targets_folder, with_sizes

__all__ = [
    "FILE", "Chip", "Core", "Memory", "StackRoom", "Target", "all_targets", "known_chips", "known_cores",
    "known_names", "known_targets", "load_target", "missing_tools", "read_target", "targets_folder", "with_sizes",
]  # fmt: skip
