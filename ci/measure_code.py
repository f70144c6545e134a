"""Measures what kernels take of code and stack and writes platforms/NAME/code_sizes.toml.

PYTHONPATH=tests:tests/models python ci/measure_code.py cortex_m riscv   the tables of these platforms, or of all
PYTHONPATH=tests:tests/models python ci/measure_code.py --note           only names what a table does not know
PYTHONPATH=tests:tests/models python ci/measure_code.py --again BOARD    all that networks hold anew, on this core alone

Only kernels are measured that a table does not know, or that have another form than when they were measured; remove a
core from the file to measure all of it. What is only named counts as the densest, or as it was, and is less certain.
Networks of tests/models, drawn ones, and layers with two roundings are compiled for each core of the platform with
their layers kept apart, so that every function's bytes belong to one kernel; then once more as they ship, for what
layers take when they are joined. Nothing is linked but the functions of libraries, each by itself, to see what comes
with it. Run it after kernels change. A core of `ALIKE` is compared with a measured one on every eighth network.
`ci/bench sizes` holds the tables against whole builds of networks that are not among these.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from math import ceil
from pathlib import Path

from code_cache import key_of, remember, remembered
from code_forms import forms, not_measured
from code_libraries import gcc, library, with_functions
from code_networks import MeasuredNetwork, networks, nodes
from code_tables import SPARE_PERCENT, Built, core, layer_of, toml
from tilewright.codegen.artifacts import Artifacts
from tilewright.compile import Compiled, compile_model
from tilewright.errors import DoesNotFit, UnsupportedError
from tilewright.fitting import roomy
from tilewright.memory.needs import Places
from tilewright.plugins import platform
from tilewright.report.code_sizes import FILE, RUN, Alike, CoreSizes, LayerCounts, is_library, known_alike, known_cores
from tilewright.run.build import choose_compiler
from tilewright.run.elf import aliases, read_elf
from tilewright.run.stack import CallGraph, bound_beside, join_aliases, read_call_graph, stack_bound
from tilewright.run.tool import start
from tilewright.target import Target, load_target
from tilewright.tiling.hierarchy import hierarchy

ROOT = Path(__file__).parents[1]
CORES = {
    "cortex_m": (
        "qemu_mps2_an385",
        "qemu_microbit",
        "cortex-m4",
        "qemu_mps2_an386",
        "qemu_mps3_an547",
    ),
    "riscv": ("qemu_rv32imc", "qemu_rv32imafc", "qemu_rv32gcv"),
    "pulp": ("qemu_pulp", "gvsoc_pulp_open", "gvsoc_pulp_open_fpu"),
    "pulp_l3": ("qemu_pulp_l3",),
    "siracusa": ("gvsoc_siracusa", "qemu_siracusa"),
}
"""Targets whose cores are measured; others take the figures of the one that is most like theirs."""
ALIKE = {
    "cortex_m": {
        "cortex-m0plus": "qemu_microbit",
        "cortex-m33": "qemu_mps2_an386",
        "cortex-m7": "qemu_mps2_an386",
        "qemu_mps2_an500": "qemu_mps2_an386",
    },
    "riscv": {"rv32imac": "qemu_rv32imc"},
}
"""Targets for which the compiler makes nearly the code of a measured one: only that and libraries are measured."""
COMPARED = 8
"""Of the networks so many are passed by for each on which two cores are compared."""
NOTE, AGAIN = "--note", "--again"
_CAST = re.compile(r"\((?:const )?[a-z]\w*(?: \*)?\)")
_UNUSED = "_version"
"""What no build keeps where nobody asks for it."""


@dataclass(frozen=True)
class Compiling:
    """A network compiled to one object: bytes by function, its call graph, bytes of code and of constants."""

    functions: Mapping[str, int]
    graph: CallGraph
    code: int


def of_network(network: MeasuredNetwork, board: str, names: frozenset[str]) -> Built | None:
    """What a network takes on a core; None where it has no plan, or none of the kernels of these names."""
    target = load_target(board)
    target = target if hierarchy(platform(target.platform)) else roomy(target)
    try:
        done = compile_model(network.file, network.options, target)
    except (DoesNotFit, UnsupportedError):
        return None
    counts = LayerCounts.of(done.artifacts)
    if not names & {kernel for kernel, _ in counts.layers}:
        return None
    return measured(done.artifacts, target, done.request.platform.cores, tables(done))


def of_nodes(board: str, name: str) -> list[Built]:
    """What drawn nodes of a kernel take on a core, each as a network of its own."""
    target = load_target(board)
    return [measured(drawn, target, platform(target.platform).cores) for drawn in nodes(board, name)]


def measured(artifacts: Artifacts, target: Target, cores: int, table_bytes: int | None = None) -> Built:
    """Compile a project twice, with its layers apart and as it ships; of one without `table_bytes` the layers count.

    What was compiled before, by the same compiler with the same flags, is remembered and not compiled again.
    """
    with tempfile.TemporaryDirectory() as folder:
        for path in artifacts.files:
            if path.endswith((".c", ".h")):
                (Path(folder) / path).parent.mkdir(parents=True, exist_ok=True)
                (Path(folder) / path).write_text(artifacts.text(path), encoding="utf-8")
        source = Path(folder) / f"src/{artifacts.model}.c"
        key = key_of(source.read_text(), (compiler(target), *target.flags, *target.library_flags))
        counts = remembered(key, LayerCounts.of(artifacts)) or remember(key, built(artifacts, source, target, cores))
    return replace(counts, code=counts.code - (table_bytes or 0), whole=table_bytes is not None)


def compiler(target: Target) -> str:
    """The compiler of a target as it names itself."""
    return version_of(choose_compiler(target))


@cache
def version_of(compiler: str) -> str:
    """The first line that a compiler prints of itself."""
    return start([compiler, "--version"], ROOT).output.partition("\n")[0]


def built(artifacts: Artifacts, source: Path, target: Target, cores: int) -> Built:
    """What the compiler makes of a written project."""
    model = artifacts.model
    ships = compiled(source, target)
    source.write_text(apart(source.read_text(), model))
    separate = compiled(source, target)
    calls = {name: names for name, names in libraries(separate.graph, model).items() if names}
    run = f"{model}_run"
    beside = handed_over(separate.graph, model) if cores > 1 else frozenset[str]()
    bound = stack_bound(ships.graph, run).size_bytes
    others = bound_beside(ships.graph, run).size_bytes if beside else 0
    linked = set[str]().union(*(libraries_below(ships.graph, title, model) for title in ships.graph.frames))
    parts = library(target.name, tuple(sorted(linked)))
    needed = frozenset[str]().union(*parts.linked.values())
    code = ships.code + sum(parts.parts[part][0] for part in needed)
    return Built(
        " ".join(target.cpu_flags), model, LayerCounts.of(artifacts), separate.functions, depths(separate.graph),
        separate.graph.frames.get(run, 0), calls, beside, bound, others, code,
        sum(parts.parts[part][1] for part in needed), parts,
    )  # fmt: skip


def compiled(source: Path, target: Target) -> Compiling:
    """Compile the layers of a project."""
    made = source.with_suffix(".o")
    flags = (*target.flags, *target.library_flags, "-std=c99", "-fcallgraph-info=su")
    gcc([choose_compiler(target), *flags, "-c", str(source), "-o", str(made)], source.parent)
    functions: dict[str, int] = defaultdict(int)
    merged = aliases(made)
    elf = read_elf(made)
    for symbol in elf.symbols:
        if symbol.kind == "code" and symbol.name not in merged:
            functions[symbol.name.split(".")[0]] += symbol.size_bytes
    code = sum(part.size_bytes for part in elf.sections if part.kind != "data" and not part.name.endswith(_UNUSED))
    return Compiling(functions, join_aliases(read_call_graph([source.with_suffix(".ci")]), merged), code)


def tables(done: Compiled) -> int:
    """Bytes of the constants that stand in the file of the layers and in the plan."""
    return done.report.memory[Places.of(done.request.platform).constants].tables


def apart(code: str, model: str) -> str:
    """The same C with every call of a layer in a function of its own, into which the layer is compiled as it would be
    into the caller; a layer that is called in another way is compiled by itself. What only a layer calls joins it.
    """
    head, run, rest = code.partition(f"int {model}_run(")
    body, end, tail = rest.partition("\n}\n")
    calls: list[str] = []
    layer = rf"{model}_(?:[a-z0-9]+_|layer|fetch)\d+"

    def step(call: re.Match[str]) -> str:
        if re.search(rf"\b(?!{model}_)[a-z]\w*\b", _CAST.sub("", call[3])):  # a variable of the caller
            return call[0]
        calls.append(call[2])
        steps.append(
            f"static __attribute__((noinline)) void {call[2]}_step{len(calls)}(void)\n{{\n    {call[2]}{call[3]}\n}}\n"
        )
        return f"{call[1]}{call[2]}_step{len(calls)}();"

    steps: list[str] = []
    body = re.sub(rf"^( +)({layer})(\(.*\);)$", step, body, flags=re.MULTILINE)
    joins = "|".join(map(re.escape, sorted(set(calls)))) or " "
    alone = re.compile(rf"^([A-Za-z_][^;=(\n]*\b(?!(?:{joins})\(){layer}(?:_core)?\([^;\n]*)$", re.MULTILINE)
    return alone.sub(r"__attribute__((noinline)) \1", head) + "\n".join(steps) + run + body + end + tail


def depths(graph: CallGraph) -> dict[str, int]:
    """Stack of every function with all that it calls, by name."""
    depth_of: dict[str, int] = {}
    for title in graph.frames:
        name = name_of(title)
        depth_of[name] = max(depth_of.get(name, 0), stack_bound(graph, title).size_bytes)
    return depth_of


def name_of(title: str) -> str:
    """The function that a title of the call graph means."""
    return title.rpartition(":")[2].split(".")[0]


def libraries(graph: CallGraph, model: str) -> dict[str, frozenset[str]]:
    """Functions of libraries that the layers of a kernel call and the C does not name."""
    functions_of: dict[str, set[str]] = defaultdict(set)
    for title in graph.frames:
        layer = layer_of(name_of(title), model)
        if layer is not None:
            functions_of[layer[0]] |= {name for name in libraries_below(graph, title, model) if not is_named(name)}
    return {kernel: frozenset(names) for kernel, names in functions_of.items()}


def libraries_below(graph: CallGraph, title: str, model: str) -> set[str]:
    """Functions without code of ours that a function reaches without a layer between them."""
    reached, waiting = set[str](), [title]
    while waiting:
        one = waiting.pop()
        if one not in reached and (one == title or layer_of(name_of(one), model) is None):
            reached.add(one)
            waiting += graph.calls.get(one, ())
    return {name for name in reached if name not in graph.frames and is_external(name)}


def is_external(name: str) -> bool:
    """True for functions that a library must bring."""
    return ":" not in name and not name.startswith(("tilewright", "__indirect")) and "_trace" not in name


def is_named(name: str) -> bool:
    """True for functions of libraries that nothing but the C itself asks for."""
    return is_library(name) and not name.startswith("mem")


def handed_over(graph: CallGraph, model: str) -> frozenset[str]:
    """Kernels whose functions the network does not reach by calls: other cores run them."""
    reached, waiting = set[str](), [f"{model}_run"]
    while waiting:
        one = waiting.pop()
        if one not in reached:
            reached.add(one)
            waiting += graph.calls.get(one, ())
    layers = {layer_of(name_of(title), model) for title in graph.frames if title not in reached}
    return frozenset(layer[0] for layer in layers if layer is not None) - {"input", "output"}


def table(name: str, board: str, models: Sequence[MeasuredNetwork], pool: ProcessPoolExecutor, how: str) -> CoreSizes:
    """The table of a core: that which there is, with what it does not know or knows as it was measured now."""
    target = load_target(board)
    before = known_cores(name).get(" ".join(target.cpu_flags))
    today = forms(name, target.capabilities)
    wanted = frozenset(today) if before is None else not_measured(before, today)
    cells: list[Built] = []
    if how == AGAIN or (wanted and how != NOTE):
        compiled = wanted if how != AGAIN else frozenset(today)
        networks = pool.map(of_network, models, [board] * len(models), [compiled] * len(models))
        cells = [cell for cell in networks if cell is not None]
        measured = {kernel for cell in cells for kernel, _ in cell.counts.layers}
        if how == AGAIN and before is not None:
            before = without(before, measured)
        rest = sorted(wanted - measured)
        cells += [cell for drawn in pool.map(of_nodes, [board] * len(rest), rest) for cell in drawn]
    sizes = core(cells, before, today) if cells else before
    if sizes is None:
        raise SystemExit(f"{board}: no network could be compiled")
    sizes = sizes if how == NOTE else with_functions(board, sizes)
    missing = not_measured(sizes, today)
    print(
        f"{board}: {len(cells)} networks, not measured: {' '.join(sorted(missing)) or 'none'}",
        file=sys.stderr,
        flush=True,
    )
    return replace(sizes, missing=missing)


def compared(
    board: str, other: str, models: Sequence[MeasuredNetwork], pool: ProcessPoolExecutor, sizes: CoreSizes
) -> Alike:
    """A target beside a measured one: the most that a network's code takes more, or its stack beyond what is spared."""
    some, any_network = models[::COMPARED], frozenset({RUN})
    mine, theirs = (pool.map(of_network, some, [one] * len(some), [any_network] * len(some)) for one in (board, other))
    ratios = [
        max(
            100 * sum(one.functions.values()) / sum(two.functions.values()),
            100 * 100 * one.bound / (two.bound * SPARE_PERCENT),
        )
        for one, two in zip(mine, theirs, strict=True)
        if one is not None and two is not None
    ]
    print(f"{board}: {len(ratios)} networks, {min(ratios):.1f} to {max(ratios):.1f} % of {other}", file=sys.stderr)
    return Alike(sizes.flags, max(100, ceil(max(ratios))), library(board, tuple(sorted(sizes.library))).parts)


def without(sizes: CoreSizes, kernels: Collection[str]) -> CoreSizes:
    """A table that has forgotten these kernels."""
    return replace(sizes, kernels={name: kernel for name, kernel in sizes.kernels.items() if name not in kernels})


def arguments(words: Sequence[str]) -> tuple[str, list[str]]:
    """How to measure, and the platforms and boards to measure; exits where a word is none of them."""
    title, _, rest = str(__doc__).partition("\n\n")
    parser = argparse.ArgumentParser(
        "measure_code.py", description=title, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    choices = [*CORES, *(board for boards in (*CORES.values(), *ALIKE.values()) for board in boards)]
    how = parser.add_mutually_exclusive_group()
    how.add_argument(NOTE, action="store_const", const=NOTE, dest="how", help="only name what a table does not know")
    how.add_argument(AGAIN, action="store_const", const=AGAIN, dest="how", help="measure what is known too")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"a platform or a board: {', '.join(choices)}")
    given = parser.parse_args(words)
    if unknown := sorted(set(given.names) - set(choices)):
        parser.error(f"no platform or board is called {', '.join(unknown)}; there are {', '.join(choices)}")
    return given.how or "", given.names or list(CORES)


def main(words: Sequence[str]) -> int:
    """Write the tables of the platforms."""
    how, names = arguments(words)
    with tempfile.TemporaryDirectory() as drawn, ProcessPoolExecutor(int(os.environ.get("JOBS") or 2)) as pool:
        models = [] if how == NOTE else list(networks(Path(drawn)))
        for name, boards in CORES.items():
            if not {name, *boards, *ALIKE.get(name, {})} & set(names):
                continue
            hows = [how if {name, board} & set(names) else NOTE for board in boards]
            cores = [table(name, board, models, pool, own) for board, own in zip(boards, hows, strict=True)]
            alike = known_alike(name)
            for board, other in ALIKE.get(name, {}).items():
                if how != NOTE and {name, board} & set(names):
                    sizes = cores[boards.index(other)]
                    alike[" ".join(load_target(board).cpu_flags)] = compared(board, other, models, pool, sizes)
            (ROOT / "platforms" / name / FILE).write_text(toml(name, cores, alike), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
