"""What the layers of a network take of code and stack, from a table that was measured by kernel and core.

`platforms/NAME/code_sizes.toml` holds it; `python ci/measure_code.py NAME` builds networks with every layer kept apart
and writes it. A layer's code follows from the characters of its C by the kernel's bytes per character. Functions that
layers share, of the kernels and of libraries, are counted once where the C names what brings them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tilewright.codegen.artifacts import Artifacts

FILE = "code_sizes.toml"
RUN = "run"
"""Stands for the function that calls the layers."""
ALWAYS = "always"


@dataclass(frozen=True)
class LayerCounts:
    """What code sizes follow from: characters of every layer by (kernel in lower case, number), and the names of the
    functions and types that any function of the network uses.
    """

    layers: Mapping[tuple[str, int], int]
    names: frozenset[str]

    @classmethod
    def of(cls, artifacts: Artifacts) -> LayerCounts:
        """Those of a project; `run` stands for the function that calls the layers."""
        layers: dict[tuple[str, int], int] = {}
        for function in artifacts.counts:
            if function.kernel and not function.inlined:
                layer = (function.kernel, function.number)
                layers[layer] = layers.get(layer, 0) + function.characters
        used = frozenset[str]().union(*(function.names for function in artifacts.counts))
        return cls(layers, frozenset(name for name in used if not name.startswith(f"{artifacts.model}_")))


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

    def code_bytes(self, counts: LayerCounts) -> int:
        """Machine code of a network; what was never measured counts as the largest of its kind."""
        densest = max(code for code, _ in self.kernels.values())
        largest = max((size for name, size in self.shared.items() if is_library(name)), default=0)
        total = self.shared.get(ALWAYS, 0)
        for (kernel, _), characters in counts.layers.items():
            total += -(-characters * self.kernels.get(kernel, (densest, 0))[0] // 1000)
        for name in counts.names:
            unknown = largest if is_library(name) and name not in self.known else 0
            total += self.shared.get(name, unknown)
        return total

    def stack_bytes(self, counts: LayerCounts) -> int:
        """Stack of a network: the calling function, and the deepest layer below it."""
        deepest = max(stack for _, stack in self.kernels.values())
        below = [self.kernels.get(kernel, (0, deepest))[1] for kernel, _ in counts.layers if kernel != RUN]
        return self.kernels.get(RUN, (0, 0))[1] + max(below, default=0) + self.stack_beside


def is_library(name: str) -> bool:
    """True for names that may be functions of the C library: ours have underscores."""
    return "_" not in name and name.islower() and name not in ("float", "double", ALWAYS)


def sizes_for(platform: str, flags: str) -> CoreSizes | None:
    """The table of the core with these flags, of any core of the platform the largest figures; None without a table."""
    cores = _load(platform)
    measured = next((core for core in cores if core.flags == flags), None)
    if measured is not None or not cores:
        return measured
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
