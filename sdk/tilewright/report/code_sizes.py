"""What the layers of a network take of code and stack, from a table that was measured by kernel and core.

`platforms/NAME/code_sizes.toml` holds it; `python ci/measure_code.py NAME` builds networks with every layer kept apart
and writes it. The C of a layer gives its code by the kernel's bytes per token. Functions that layers share are counted
once: those of kernels where the C names them, those of libraries as the set that is linked for what the kernels and the
C call.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import takewhile
from math import ceil, hypot
from pathlib import Path
from typing import Any, get_args

from tilewright.codegen.artifacts import Artifacts
from tilewright.codegen.c_tokens import UNROLLED
from tilewright.codegen.code_counts import FunctionCounts
from tilewright.codegen.wide_operations import Operation, operation_of

FILE = "code_sizes.toml"
RUN = "run"
"""Stands for the function that calls the layers."""
HANDS = "core"
"""Stands for the functions by which other cores call the kernels of a layer."""
ALWAYS = "always"
STACK_PERCENT = 180
"""What the deepest layer of a table is multiplied by: other shapes need more registers."""
DEVIATIONS = 2.8
"""So many standard deviations of all layers together are added to what is typical of them."""
COPIED = 100
"""Layers of at most so many tokens are compiled into every one of their calls."""
SMALL = 24
"""Bytes that are added to a kernel's before its spread is taken: those of a few instructions do not matter."""
OLD_PERCENT = 10
"""Spread that a kernel has beside its own where its C has changed since it was measured; its stack grows by as much."""
NEW_PERCENT = 60
"""Spread of a kernel that was never measured, around the densest of those that were."""
NEAREST_PERCENT = 103
"""What the figures of a core are multiplied by for one that resembles it but was not compared with it."""


@dataclass(frozen=True)
class LayerCounts:
    """What code sizes follow from: tokens of every layer by (kernel in lower case, number), the names that any function
    of the network calls, bytes of tables inside functions, and for every kernel the operations on wide types and the
    functions of ours that it reaches. `copies`: how often the code of a layer stands in the network, where that is more
    than once.
    """

    layers: Mapping[tuple[str, int], tuple[int, ...]]
    names: frozenset[str]
    constants: int = 0
    operations: Mapping[str, frozenset[Operation]] = field(default_factory=dict)
    helpers: Mapping[str, frozenset[str]] = field(default_factory=dict)
    copies: Mapping[tuple[str, int], int] = field(default_factory=dict)

    @classmethod
    def of(cls, artifacts: Artifacts) -> LayerCounts:
        """Those of a project; `run` stands for the function that calls the layers."""
        layers: dict[tuple[str, int], tuple[int, ...]] = {}
        for function in artifacts.counts:
            if function.kernel:
                layer = (function.kernel, function.number)
                before = layers.get(layer, (0,) * len(UNROLLED))
                layers[layer] = tuple(map(sum, zip(before, function.tokens, strict=True)))
        used = names_used(artifacts.counts)
        names = frozenset(name for name in used if not name.startswith(f"{artifacts.model}_"))
        constants = sum(function.table_bytes for function in artifacts.counts)
        calls = {name: often for function in artifacts.counts for name, often in function.repeated.items()}
        copies = {
            (function.kernel, function.number): calls[function.function] for function in artifacts.counts
            if function.kernel and function.function in calls and function.tokens[0] <= COPIED
        }  # fmt: skip
        reached = reached_by_kernel(artifacts.counts)
        operations = {kernel: frozenset().union(*(f.operations for f in own)) for kernel, own in reached.items()}
        helpers = {kernel: frozenset(f.function for f in own if not f.kernel) for kernel, own in reached.items()}
        return cls(layers, names, constants, operations, helpers, copies)

    def tokens_of(self, kernel: str) -> tuple[int, ...]:
        """Tokens of all layers of a kernel, as often as their code stands in the network."""
        mine = (
            [count * self.copies.get(layer, 1) for count in by_limit]
            for layer, by_limit in self.layers.items()
            if layer[0] == kernel
        )
        return tuple(map(sum, zip(*mine, strict=True)))


@dataclass(frozen=True)
class KernelSizes:
    """Bytes that a kernel takes on a core.

    `typical` are bytes of code for 1,000 tokens of all its layers in one network, loops unrolled up to `unrolled`
    tokens; `spread` is their standard deviation over networks, in hundredths. `stack`: bytes below the function that
    calls it, by the tokens of a layer up to which they are enough, loops unrolled up to `stack_unrolled`; of RUN and
    HANDS those of the function itself.
    `library`: functions of libraries that the C does not name, together as they were seen in one network, none of them
    a part of another. `beside`: it runs on cores that are handed it. `form` names the C that was measured.
    """

    unrolled: int
    typical: int
    spread: int
    stack: tuple[tuple[int, int], ...]
    library: tuple[frozenset[str], ...] = ()
    beside: bool = False
    form: str = ""
    stack_unrolled: int = 0

    def tokens(self, by_limit: tuple[int, ...]) -> int:
        """The count of a layer that its code follows."""
        return by_limit[UNROLLED.index(self.unrolled)]

    def aged(self) -> KernelSizes:
        """The kernel as it may be by now: its C is another one since it was measured."""
        stack = tuple((tokens, size * (100 + OLD_PERCENT) // 100) for tokens, size in self.stack)
        return replace(self, spread=ceil(hypot(self.spread, OLD_PERCENT)), stack=stack)

    def stack_bytes(self, by_limit: tuple[int, ...]) -> int:
        """Stack of a layer; of one that is larger than those measured the most."""
        tokens = by_limit[UNROLLED.index(self.stack_unrolled)]
        return next((size for most, size in self.stack if tokens <= most), self.stack[-1][1])


Parts = Mapping[str, tuple[int, int]]
"""Parts of libraries: bytes of each with its constants, and of its variables."""


@dataclass(frozen=True)
class Alike:
    """A core whose compiler makes of kernels at most `percent` of what it makes for the core with the flags `like`;
    its libraries are its own.
    """

    like: str
    percent: int
    parts: Parts


@dataclass(frozen=True)
class CoreSizes:
    """Bytes on one core, told by its compiler flags; `basis` names it where it stands in for another.

    `shared`: bytes that a used name brings; `library`: for a function of a library the parts that are linked with
    it; `parts`: bytes of each with its constants, and of its variables; `known`: names that bring nothing.
    `code_percent` is what the compiler makes of the sum when it joins layers, `joined_spread` the standard deviation of
    that over networks; `percent` what another core may take.
    `missing` are kernels that nobody measured in the form that they have.
    """

    flags: str
    kernels: Mapping[str, KernelSizes] = field(default_factory=dict)
    shared: Mapping[str, int] = field(default_factory=dict)
    library: Mapping[str, frozenset[str]] = field(default_factory=dict)
    parts: Parts = field(default_factory=dict)
    known: frozenset[str] = frozenset()
    code_percent: int = 100
    joined_spread: int = 0
    percent: int = 100
    basis: str = ""
    missing: frozenset[str] = frozenset()

    def of_layers(self, counts: LayerCounts) -> tuple[float, float]:
        """Machine code of all layers where each kernel is typical, and the standard deviation of the sum."""
        kernels = sorted({kernel for kernel, _ in counts.layers})
        tokens = {kernel: self._of(kernel).tokens(counts.tokens_of(kernel)) for kernel in kernels}
        typical = {kernel: count * self._of(kernel).typical / 1000 for kernel, count in tokens.items()}
        spreads = (self._of(kernel).spread / 100 * (size + SMALL) for kernel, size in typical.items())
        return sum(typical.values()), hypot(*spreads)

    def code_bytes(self, counts: LayerCounts) -> int:
        """Machine code of a network with the constants that it and its libraries bring."""
        typical, deviation = self.of_layers(counts)
        shared = self.shared.get(ALWAYS, 0) + sum(self.shared.get(name, 0) for name in counts.names)
        library = sum(self.parts[part][0] for part in self._linked(counts)) + self._unknown(counts)
        total = (typical + shared + library + counts.constants) * self.code_percent / 100
        deviation = hypot(deviation, (typical + shared) * self.joined_spread / 100)
        return ceil((total + DEVIATIONS * deviation) * self.percent / 100)

    def variable_bytes(self, counts: LayerCounts) -> int:
        """Variables of the libraries of a network."""
        return sum(self.parts[part][1] for part in self._linked(counts))

    def stack_bytes(self, counts: LayerCounts) -> tuple[int, int]:
        """Stack of the core that calls the network, and of each to which it hands layers."""
        own = {RUN: 0, HANDS: 0}
        mine, others = 0, 0
        for (kernel, _), by_limit in counts.layers.items():
            known = self._of(kernel)
            size = known.stack_bytes(by_limit)
            if kernel in own:
                own[kernel] = max(own[kernel], size)
            elif known.beside:
                others = max(others, size)
            else:
                mine = max(mine, size)
        if any(is_helper(name) for name in self._new(counts)):
            mine = max(mine, self._largest().stack[-1][1])
        percent = STACK_PERCENT * self.percent
        mine, others = own[RUN] + mine, own[HANDS] + others
        return -(-mine * percent // 10_000), -(-others * percent // 10_000)

    def calls_libraries(self, counts: LayerCounts) -> bool:
        """Whether a network may call a function without C of ours, as far as its kernels are known."""
        kernels = {kernel for kernel, _ in counts.layers}
        new = kernels - self.kernels.keys() or any(is_library(name) or is_helper(name) for name in self._new(counts))
        return bool(new) or bool(self._called(counts) & self.library.keys())

    def _of(self, kernel: str) -> KernelSizes:
        """The kernel's sizes; one that was never measured counts as the largest."""
        known = self.kernels.get(kernel)
        if known is None:
            return self._largest()
        return known.aged() if kernel in self.missing else known

    def _largest(self) -> KernelSizes:
        density = max(sizes.typical for sizes in self.kernels.values())
        deepest = max(sizes.stack[-1][1] for sizes in self.kernels.values())
        library = (frozenset().union(*(names for sizes in self.kernels.values() for names in sizes.library)),)
        beside = any(sizes.beside for sizes in self.kernels.values())
        return KernelSizes(0, density, NEW_PERCENT, ((0, deepest),), library, beside)

    def _linked(self, counts: LayerCounts) -> frozenset[str]:
        """Parts of libraries that a network needs."""
        return frozenset().union(*(self.library.get(name, frozenset()) for name in self._called(counts)))

    def _called(self, counts: LayerCounts) -> set[str]:
        """Names that the C calls and functions of libraries that its kernels do: of those that a kernel may call the
        largest together, one set for each of its layers."""
        called = set(counts.names)
        for kernel, layers in sorted(Counter(kernel for kernel, _ in counts.layers).items()):
            able = {None, *counts.operations.get(kernel, get_args(Operation))}
            choices = [{name for name in names if operation_of(name) in able} for names in self._of(kernel).library]
            for names in sorted(choices, key=self._linked_bytes, reverse=True)[:layers]:
                called |= names
        return called

    def _linked_bytes(self, names: Iterable[str]) -> int:
        """What functions of libraries bring together."""
        parts = frozenset().union(*(self.library.get(name, frozenset()) for name in names))
        return sum(self.parts[part][0] for part in parts)

    def _new(self, counts: LayerCounts) -> frozenset[str]:
        """Names that were never seen."""
        return counts.names - self.known - self.library.keys() - self.shared.keys()

    def _unknown(self, counts: LayerCounts) -> int:
        """Bytes of functions that were never seen, of libraries and of kernels: each as large as the largest."""
        linked = max((sum(self.parts[part][0] for part in parts) for parts in self.library.values()), default=0)
        helper = max((size for name, size in self.shared.items() if is_helper(name)), default=0)
        return sum(linked if is_library(name) else helper if is_helper(name) else 0 for name in self._new(counts))


def names_used(functions: Iterable[FunctionCounts]) -> frozenset[str]:
    """What layers call and compute in, and what those functions of ours do that they reach; others are left out of
    the machine code.
    """
    shared = {function.function: function for function in functions if not function.kernel}
    reached, waiting = set[str](), [function for function in functions if function.kernel]
    while waiting:
        names = waiting.pop().names - reached
        reached |= names
        waiting += [shared[name] for name in names & shared.keys()]
    return frozenset(reached)


def reached_by_kernel(functions: Iterable[FunctionCounts]) -> dict[str, list[FunctionCounts]]:
    """The functions of every kernel, with those of ours that they call."""
    shared = {function.function: function for function in functions if not function.kernel}
    functions_of: dict[str, list[FunctionCounts]] = {}
    for function in functions:
        if function.kernel:
            reached, waiting = set[str](), [function]
            while waiting:
                one = waiting.pop()
                functions_of.setdefault(function.kernel, []).append(one)
                waiting += [shared[name] for name in one.names & shared.keys() - reached]
                reached |= one.names
    return functions_of


def is_library(name: str) -> bool:
    """True for names that may be functions of the C library: ours have underscores."""
    return "_" not in name and name.islower() and name not in ("float", "double", ALWAYS)


def is_helper(name: str) -> bool:
    """True for functions that kernels share."""
    return name.startswith("tilewright_")


def sizes_for(platform: str, flags: str, counts: LayerCounts) -> CoreSizes | None:
    """The table of the core with these flags, else of the one that is most like it; None without a table."""
    cores = _load(platform)
    measured = next((core for core in cores if core.flags == flags), None)
    if measured is not None or not cores:
        return measured
    alike = known_alike(platform).get(flags)
    if alike is not None:
        other = known_cores(platform)[alike.like]
        parts = {**other.parts, **alike.parts}
        return replace(other, parts=parts, percent=alike.percent, basis=core_name(other.flags))
    kernels = {kernel for kernel, _ in counts.layers}
    nearest = max(cores, key=lambda core: likeness(core.flags, flags, len(kernels & core.kernels.keys())))
    return replace(nearest, percent=NEAREST_PERCENT, basis=core_name(nearest.flags))


def known_alike(platform: str) -> dict[str, Alike]:
    """Cores that were compared with another one, by their flags."""
    tables = _read(platform).get("alike", ())
    return {table["flags"]: Alike(table["like"], table["percent"], _parts(table)) for table in tables}


def known_cores(platform: str) -> dict[str, CoreSizes]:
    """The cores of a platform that were measured, by their flags."""
    return {core.flags: core for core in _load(platform)}


def core_name(flags: str) -> str:
    """The core that flags of a compiler name."""
    return next((flag.partition("=")[2] for flag in flags.split() if flag.startswith(("-mcpu=", "-march="))), flags)


def likeness(flags: str, others: str, kernels: int) -> tuple[int, int, int, int]:
    """How much two cores resemble one another: who computes floats, `kernels` that both have, name, other options."""
    one, other = set(flags.split()), set(others.split())
    floats = {flag for flag in one ^ other if flag.startswith(("-mfloat-abi", "-mabi"))}
    letters = zip(core_name(flags), core_name(others), strict=False)
    alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], letters))
    options = {flag.partition("=")[0] for flag in one} ^ {flag.partition("=")[0] for flag in other}
    return -len(floats), kernels, alike, -len(options)


@cache
def _load(platform: str) -> tuple[CoreSizes, ...]:
    """All cores of a platform that ships with the package; empty where nothing was measured."""
    return tuple(_core(table) for table in _read(platform).get("core", ()))


@cache
def _read(platform: str) -> Mapping[str, Any]:
    import tilewright.platforms

    path = Path(next(iter(tilewright.platforms.__path__))) / platform / FILE
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def _parts(table: Mapping[str, Any]) -> Parts:
    return {name: (size, variables) for name, (size, variables) in table["parts"].items()}


def _core(table: Mapping[str, Any]) -> CoreSizes:
    """One core as the file tells it."""
    return CoreSizes(
        table["flags"],
        {name: _kernel(sizes) for name, sizes in table["kernels"].items()},
        table["shared"],
        {name: frozenset(parts) for name, parts in table["library"].items()},
        _parts(table),
        frozenset(table["known"]),
        table["code_percent"],
        table["joined_spread"],
        missing=frozenset(table["missing"]),
    )


def _kernel(table: Mapping[str, Any]) -> KernelSizes:
    stack = tuple((tokens, size) for tokens, size in table["stack"])
    library = tuple(frozenset(names) for names in table.get("library", ()))
    return KernelSizes(
        table["unrolled"],
        table["typical"],
        table["spread"],
        stack,
        library,
        table.get("beside", False),
        table.get("form", ""),
        table.get("stack_unrolled", table["unrolled"]),
    )
