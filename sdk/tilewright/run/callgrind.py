"""Instructions of one inference on the host, counted by valgrind's callgrind: in all, by function, by layer."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from tilewright.run.counts import Counts, LayerCount
from tilewright.run.image import Image
from tilewright.run.tool import Finished, find_tool, start

_NAME = re.compile(r"^c?fn=\((\d+)\)(?: (.*))?$")
_COST = re.compile(r"^[+\-*\d]\S* (\d+)$")


def run_counted(image: Image, folder: Path, timeout: float) -> tuple[Finished, Counts | None]:
    """Run an image under callgrind, collecting inside `<model>_run` alone. Valgrind is about fifty times slower."""
    valgrind = find_tool("valgrind", image.target.optional_tools.get("valgrind", "valgrind"))
    command = [
        valgrind,
        "--tool=callgrind",
        f"--toggle-collect={image.model}_run",
        "--callgrind-out-file=callgrind.out",
    ]
    if image.trace:
        command += [f"--dump-before={image.model}_trace"]
    done = start([*command, "-q", str(image.path)], folder, timeout=timeout * 60)
    if done.code != 0:
        return done, None
    parts = [read_profile(path) for path in _parts(folder)]
    own = {f"{image.model}_trace"}
    sums = [_without(part, own) for part in parts]
    functions: dict[str, int] = {}
    for part in sums:
        for name, instructions in part.items():
            functions[name] = functions.get(name, 0) + instructions
    layers: tuple[LayerCount, ...] = ()
    if image.trace:
        # before, layer 0, between, layer 1, between, ...: what lies between two layers goes to none of them
        layers = tuple(LayerCount(i, sum(part.values())) for i, part in enumerate(sums[1:-1:2]))
    return done, Counts(sum(functions.values()), layers, functions, counter="callgrind")


def _parts(folder: Path) -> list[Path]:
    """Profile files in the order in which they were written: `.1`, `.2`, ..., and the last one without a number."""
    numbered = sorted(folder.glob("callgrind.out.*"), key=lambda path: int(path.suffix[1:]))
    return [*numbered, *folder.glob("callgrind.out")]


def read_profile(path: Path) -> dict[str, int]:
    """Instructions spent in each function itself, by name, of one callgrind file."""
    names: dict[str, str] = {}
    spent: dict[str, int] = {}
    current = ""
    inclusive = False
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        name = _NAME.match(line)
        if name:
            if name[2] is not None:
                names[name[1]] = name[2]
            if line.startswith("fn="):
                current = names.get(name[1], name[1])
        elif line.startswith("calls="):
            inclusive = True
        elif cost := _COST.match(line):
            if not inclusive:
                spent[current] = spent.get(current, 0) + int(cost[1])
            inclusive = False
    return spent


def _without(part: dict[str, int], own: Iterable[str]) -> dict[str, int]:
    """The functions of the model: without the trace and the test's own code."""
    left_out = set(own)
    return {name: n for name, n in part.items() if name not in left_out and not name.startswith("tw_")}
