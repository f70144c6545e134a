"""What the layers of a network take of code and stack, from a table that was measured by kernel and core.

`platforms/NAME/code_sizes.toml` holds it; `python ci/measure_code.py NAME` builds networks with every layer kept apart
and writes it. The C of a layer gives its code by the kernel's bytes per character. Functions that layers share, of the
kernels and of libraries, are counted once where the C names what brings them.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

FILE = "code_sizes.toml"
RUN = "run"
"""Stands for the function that calls the layers."""
ALWAYS = "always"
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_ROWS = re.compile(r"^ +\{.*\}, *$", re.MULTILINE)
"""Rows of tables, which are no code."""
_CALLED = re.compile(r"\b([a-z]\w*)\(|\b(float|double|int64_t|uint64_t)\b")
_LIBRARY = re.compile(r"[a-z][a-z0-9]*")
_WORDS = frozenset({"if", "for", "while", "switch", "return", "sizeof", "volatile"})


@dataclass(frozen=True)
class ProjectText:
    """The C of a network: characters of every layer by (kernel in lower case, number), and the names that are used."""

    layers: Mapping[tuple[str, str], int]
    names: frozenset[str]


@dataclass(frozen=True)
class CoreSizes:
    """Bytes on one core, told by its compiler flags.

    `kernels`: bytes of code per 1,000 characters of C, and bytes of stack below the function that calls the layers;
    `shared`: bytes that a used name brings; `known`: names of library functions that were measured. `stack_beside` are
    bytes of stack that the layers apart do not show; `constants` and `variables` the most bytes of them that the code
    and its libraries brought beside those of the network.
    """

    flags: str
    kernels: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    shared: Mapping[str, int] = field(default_factory=dict)
    known: frozenset[str] = frozenset()
    stack_beside: int = 0
    constants: int = 0
    variables: int = 0

    def code_bytes(self, text: ProjectText) -> int:
        """Machine code of a network; what was never measured counts as the largest of its kind."""
        densest = max(code for code, _ in self.kernels.values())
        largest = max((size for name, size in self.shared.items() if is_library(name)), default=0)
        total = self.shared.get(ALWAYS, 0)
        for (kernel, _), characters in text.layers.items():
            total += -(-characters * self.kernels.get(kernel, (densest, 0))[0] // 1000)
        for name in text.names:
            unknown = largest if is_library(name) and name not in self.known else 0
            total += self.shared.get(name, unknown)
        return total

    def stack_bytes(self, text: ProjectText) -> int:
        """Stack of a network: the calling function, and the deepest layer below it."""
        deepest = max(stack for _, stack in self.kernels.values())
        below = [self.kernels.get(kernel, (0, deepest))[1] for kernel, _ in text.layers if kernel != RUN]
        return self.kernels.get(RUN, (0, 0))[1] + max(below, default=0) + self.stack_beside


def is_library(name: str) -> bool:
    """True for names that may be functions of the C library: ours have underscores."""
    return _LIBRARY.fullmatch(name) is not None and name not in ("float", "double", ALWAYS)


def read_text(code: str, model: str) -> ProjectText:
    """What the generated C of the layers holds."""
    layer = re.compile(rf"^[A-Za-z_][^;=(\n]*?\b{model}_(?:([a-z0-9]+)_|(layer|fetch))(\d+)\w*\(", re.MULTILINE)
    run = re.compile(rf"^int {model}_run\(", re.MULTILINE)
    layers: dict[tuple[str, str], int] = {}
    names: set[str] = set()
    for function in _ROWS.sub("", _COMMENT.sub("", code)).split("\n}\n"):
        found = layer.search(function) or run.search(function)
        names.update(word for pair in _CALLED.findall(function) for word in pair if word)
        if found:
            key = (found[1] or found[2], found[3]) if found.lastindex else (RUN, "")
            layers[key] = layers.get(key, 0) + len(" ".join(function[found.start() :].split()))
    used = frozenset(name for name in names - _WORDS if not name.startswith(f"{model}_"))
    return ProjectText(layers, used)


def sizes_for(platform: str, flags: str) -> CoreSizes | None:
    """The table of the core with these flags, of any core of the platform the largest figures; None without a table."""
    cores = _load(platform)
    known = next((core for core in cores if core.flags == flags), None)
    if known is not None or not cores:
        return known
    kernels: dict[str, tuple[int, int]] = {}
    shared: dict[str, int] = {}
    for core in cores:
        for name, (code, stack) in core.kernels.items():
            before = kernels.get(name, (0, 0))
            kernels[name] = (max(code, before[0]), max(stack, before[1]))
        for name, size in core.shared.items():
            shared[name] = max(size, shared.get(name, 0))
    beside = max(core.stack_beside for core in cores)
    constants, variables = max(core.constants for core in cores), max(core.variables for core in cores)
    known_everywhere = frozenset.intersection(*(core.known for core in cores))
    return CoreSizes(flags, kernels, shared, known_everywhere, beside, constants, variables)


@cache
def _load(platform: str) -> tuple[CoreSizes, ...]:
    """All cores of a platform that ships with the package; empty where nothing was measured."""
    import tilewright.platforms

    path = Path(next(iter(tilewright.platforms.__path__))) / platform / FILE
    if not path.is_file():
        return ()
    return tuple(
        CoreSizes(
            core["flags"],
            {name: (code, stack) for name, (code, stack) in core["kernels"].items()},
            core["shared"],
            frozenset(core["known"]),
            core["stack_beside"],
            core["constants"],
            core["variables"],
        )
        for core in tomllib.loads(path.read_text(encoding="utf-8"))["core"]
    )
