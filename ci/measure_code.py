"""Measures what kernels take of code and stack and writes platforms/NAME/code_sizes.toml.

python ci/measure_code.py cortex_m riscv     the tables of these platforms, from every network of tests/models
Each network is built for each board of the platform with its layers kept apart, so that every function's bytes belong
to one kernel; then once more as it ships, for the stack that layers take when they are joined. Run it after kernels
change; `tests/run/test_sim_matrix.py` fails where an estimate is below what a build takes. Networks above 50 kB are
left out: they, and the trained ones of `ci/sim-matrix`, show how far the tables hold.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from board_cells import has_fpu, is_quantised
from tilewright.compile import Compiled, compile_model, write
from tilewright.errors import DoesNotFit, TilewrightError
from tilewright.memory.needs import Places
from tilewright.options import CompileOptions
from tilewright.report.code_sizes import ALWAYS, FILE, RUN, CoreSizes, LayerCounts, is_library
from tilewright.run.build import build
from tilewright.run.elf import read_elf
from tilewright.run.image import Image
from tilewright.run.measure import STACK_OF_LIBRARIES, beside_data
from tilewright.run.stack import CallGraph, read_call_graph, stack_bound
from tilewright.target import known_targets, load_target

ROOT = Path(__file__).parents[1]
TYPES = frozenset({"float", "double", "int64_t", "uint64_t"})
LARGEST = 50_000


@dataclass(frozen=True)
class Built:
    """One network on one board: its C, bytes of every function with the layers apart, and bytes of stack.

    `constants` and `variables` are bytes that code and libraries bring beside those of the network.
    """

    flags: str
    model: str
    counts: LayerCounts
    functions: Mapping[str, int]
    depths: Mapping[str, int]
    frame: int
    bound: int
    constants: int
    variables: int


def measured(network: Path, board: str) -> Built | None:
    """Build a network twice, with its layers apart and as it ships; None where it does not fit."""
    target = load_target(board)
    try:
        done = compile_model(network / "model.onnx", CompileOptions(), target)
    except DoesNotFit:
        return None
    model = done.artifacts.model
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "project"
        project.mkdir()
        write(done, project)
        try:
            ships = build(project, model, target, Path(folder) / "ships")
        except TilewrightError:  # the C does not compile for a memory that is too small
            return None
        source = project / f"src/{model}.c"
        source.write_text(apart(source.read_text(), model))
        image = build(project, model, target, Path(folder) / "apart")
        graph = read_call_graph((Path(folder) / "apart" / "model").glob("*.ci"))
        own = {symbol.name for file in (image.work / "harness").glob("*.o") for symbol in read_elf(file).symbols}
    functions: dict[str, int] = defaultdict(int)
    for symbol in image.elf.symbols:
        if symbol.kind == "code" and symbol.name not in own and not symbol.name.startswith("_start"):
            functions[symbol.name.split(".")[0]] += symbol.size_bytes
    bounds = [bound.size_bytes for bound in (ships.stack, ships.core_stack) if bound is not None]
    constants, variables = beside_constants(ships, done)
    return Built(
        " ".join(target.cpu_flags), model, LayerCounts.of(done.artifacts), functions, depths(graph),
        graph.frames.get(f"{model}_run", 0), max(bounds, default=0), constants, variables,
    )  # fmt: skip


def beside_constants(image: Image, done: Compiled) -> tuple[int, int]:
    """Constants and variables of an image that are not the network's."""
    code, variables = beside_data(done.report.memory, Places.of(done.request.platform), image)
    return code - image.sizes.text_bytes, variables


def apart(code: str, model: str) -> str:
    """The same C with no layer compiled into the function that calls it."""
    head = re.compile(rf"^([A-Za-z_][^;=(\n]*\b{model}_(?:[a-z0-9]+_|layer|fetch)\d+\w*\([^;\n]*)$", re.MULTILINE)
    return head.sub(r"__attribute__((noinline)) \1", code)


def depths(graph: CallGraph) -> dict[str, int]:
    """Stack of every function with all that it calls, by name."""
    found: dict[str, int] = {}
    for title in graph.frames:
        name = title.rpartition(":")[2].split(".")[0]
        found[name] = max(found.get(name, 0), stack_bound(graph, title).size_bytes)
    return found


def layer_of(name: str, model: str) -> tuple[str, int] | None:
    """(kernel, number) of a layer's function; None for others."""
    found = re.match(rf"{model}_(?:([a-z0-9]+)_|(layer|fetch))(\d+)", name)
    return (found[1] or found[2], int(found[3])) if found else (RUN, 0) if name == f"{model}_run" else None


def kernels(cells: Sequence[Built]) -> dict[str, tuple[int, int]]:
    """Bytes of code per 1,000 characters and bytes of stack of every kernel, the largest seen."""
    found: dict[str, tuple[int, int]] = {}
    for cell in cells:
        code: dict[tuple[str, int], int] = defaultdict(int)
        stack: dict[str, int] = defaultdict(int)
        for name, size in cell.functions.items():
            layer = layer_of(name, cell.model)
            if layer is not None and layer in cell.counts.layers:
                code[layer] += size
                depth = cell.frame if layer[0] == RUN else cell.depths.get(name, 0)
                stack[layer[0]] = max(stack[layer[0]], depth)
        for layer, size in code.items():
            before = found.get(layer[0], (0, 0))
            density = -(-size * 1000 // cell.counts.layers[layer])
            found[layer[0]] = (max(before[0], density), max(before[1], stack[layer[0]]))
    return found


def shared(cells: Sequence[Built]) -> dict[str, int]:
    """Bytes that every name brings: a function belongs to the rarest name that is used wherever it is linked.

    Those of the compiler's own library, for types that the core lacks, belong to the type.
    """
    where: dict[str, set[int]] = defaultdict(set)
    sizes: dict[str, int] = {}
    uses: dict[str, set[int]] = defaultdict(set)
    for number, cell in enumerate(cells):
        for name in cell.counts.names:
            uses[name].add(number)
        for name, size in cell.functions.items():
            if layer_of(name, cell.model) not in cell.counts.layers:
                plain = name.replace(cell.model, "MODEL")
                where[plain].add(number)
                sizes[plain] = max(sizes.get(plain, 0), size)
    found: dict[str, int] = defaultdict(int)
    for name, size in sizes.items():
        able = [used for used, numbers in uses.items() if where[name] <= numbers and may_bring(used, name)]
        best = min(able, key=lambda used: (used != name, len(uses[used]), used), default=ALWAYS)
        everywhere = best != name and len(uses.get(best, cells)) == len(cells)
        found[ALWAYS if everywhere else best] += size
    return found


def may_bring(used: str, function: str) -> bool:
    """True where the use of a name may be why a function is linked."""
    return not function.startswith("MODEL") and (used in TYPES or not function.startswith("__"))


def core(cells: Sequence[Built]) -> CoreSizes:
    """The table of one core."""
    table, brought = kernels(cells), shared(cells)
    names = frozenset(name for cell in cells for name in cell.counts.names if is_library(name))
    sizes = CoreSizes(cells[0].flags, table, brought, names)
    beside = max(0, *(cell.bound - sizes.stack_bytes(cell.counts) for cell in cells)) + STACK_OF_LIBRARIES
    constants, variables = max(cell.constants for cell in cells), max(cell.variables for cell in cells)
    return replace(sizes, stack_beside=beside, constants=constants, variables=variables)


def toml(platform: str, cores: Iterable[CoreSizes]) -> str:
    """The file as it is committed."""
    lines = [f"# Written by: python ci/measure_code.py {platform}"]
    lines += ["# kernels: bytes of code per 1,000 characters of C, bytes of stack; shared: bytes that a name brings"]
    for sizes in cores:
        lines += ["", "[[core]]", f'flags = "{sizes.flags}"', f"stack_beside = {sizes.stack_beside}"]
        lines += [f"constants = {sizes.constants}", f"variables = {sizes.variables}"]
        lines += ["known = [" + ", ".join(f'"{name}"' for name in sorted(sizes.known)) + "]", "[core.kernels]"]
        lines += [f"{name} = [{code}, {stack}]" for name, (code, stack) in sorted(sizes.kernels.items())]
        lines += ["[core.shared]", *(f"{name} = {size}" for name, size in sorted(sizes.shared.items()))]
    return "\n".join(lines) + "\n"


def main(platforms: list[str]) -> int:
    """Write the tables of the platforms."""
    found = (ROOT / "tests" / "models").glob("*/model.onnx")
    folders = sorted(path.parent for path in found if path.stat().st_size < LARGEST)
    for platform in platforms:
        boards = [name for name in known_targets() if load_target(name).platform == platform]
        floats = [board for board in boards if has_fpu(load_target(board))]
        asked = [
            (folder, board) for folder in folders for board in boards
            if is_quantised(folder.name) or folder.name == "digits" or has_fpu(load_target(board)) or not floats
        ]  # fmt: skip
        by_core: dict[str, list[Built]] = defaultdict(list)
        with ProcessPoolExecutor(int(os.environ.get("JOBS") or os.cpu_count() or 1)) as pool:
            for built in pool.map(measured, *zip(*asked, strict=True)):
                if built is not None:
                    by_core[built.flags].append(built)
                    print(f"{built.model} on {built.flags}", file=sys.stderr, flush=True)
        text = toml(platform, (core(cells) for cells in by_core.values()))
        (ROOT / "platforms" / platform / FILE).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
