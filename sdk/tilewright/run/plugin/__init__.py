"""Build the QEMU plugin on first use, tell it what to watch, and read what it saw."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from pathlib import Path

from tilewright.errors import TilewrightError
from tilewright.run.counts import Counts, LayerCount
from tilewright.run.cycles import cycle_table, load_model
from tilewright.run.elf import Section
from tilewright.run.fence import EVERYTHING, FenceMap, place
from tilewright.run.image import Image
from tilewright.run.tool import find_tool, start

SOURCE = Path(__file__).parent / "tilewright.c"
PART = SOURCE.with_name("counts.h")
CONFIGURATION, RESULT, LINK, CYCLES = "plugin.cfg", "plugin.out", "tilewright.so", "plugin.cyc"
ARGUMENTS = ("-plugin", f"./{LINK}")
CALLER, MARKS = "tw_measure", "tw_trace_marks"
READ, WRITE = 1, 2


def plugin_compiler() -> str | None:
    """A C compiler for this machine, None where there is none."""
    return next((path for path in map(shutil.which, ("gcc", "cc", "clang")) if path), None)


def build_plugin(folder: Path) -> Path:
    """The plugin as a shared library in `folder`, or in the folder that TILEWRIGHT_CACHE names; compiled if not there.

    The file's name holds a hash of the source, and it is moved into place whole, so several runs may share a folder.
    """
    cache = Path(os.environ.get("TILEWRIGHT_CACHE") or folder)
    digest = hashlib.sha256(SOURCE.read_bytes() + PART.read_bytes()).hexdigest()[:16]
    library = (cache / f"tilewright-plugin-{digest}.so").resolve()
    if library.is_file():
        return library
    cache.mkdir(parents=True, exist_ok=True)
    compiler = plugin_compiler() or find_tool("gcc", "gcc")
    with tempfile.TemporaryDirectory(dir=cache, prefix="plugin-") as name:
        fresh = Path(name) / LINK
        done = start([compiler, "-O2", "-fPIC", "-shared", str(SOURCE), "-o", str(fresh)], Path(name))
        if done.code != 0:
            raise TilewrightError("gcc does not compile the simulator's plugin", why=done.errors.strip()[:300])
        fresh.replace(library)
    return library


def prepare(image: Image, folder: Path, fence: FenceMap | None) -> None:
    """Write the configuration and a link to the library into the folder in which the simulator starts."""
    (folder / LINK).symlink_to(build_plugin(image.work))
    lines = _common(image) + (_fence(image, fence) if fence else [*_count(image), *_model(image, folder)])
    (folder / CONFIGURATION).write_text("\n".join(lines) + "\n", encoding="ascii")


def _common(image: Image) -> list[str]:
    """Entry, caller, the test image's own code, and the marks."""
    run = image.elf.symbol(f"{image.model}_run")
    caller = image.elf.symbol(CALLER)
    marks = image.elf.symbol(MARKS)
    if run is None or caller is None:
        raise TilewrightError(
            f"the image of '{image.model}' cannot be watched", why="it lacks the run function's symbols"
        )
    lines = [f"entry {run.address:x}", _line("leave", caller.address, caller.size_bytes)]
    if marks is not None:  # the linker drops them from an image without trace
        lines.append(_line("marks", marks.address, marks.size_bytes))
    own = {f"{image.model}_trace", "main"}
    for symbol in image.elf.symbols:
        if symbol.kind == "code" and (symbol.name in own or symbol.name.startswith("tw_")):
            lines.append(_line("own", symbol.address, symbol.size_bytes))
    return lines


def _line(word: str, address: int, size_bytes: int) -> str:
    return f"{word} {address:x} {address + size_bytes:x}"


def _functions(image: Image) -> list[tuple[str, int, int]]:
    """(name, address, bytes) of every function; of several names for one address the first."""
    functions: dict[int, tuple[str, int, int]] = {}
    for symbol in image.elf.symbols:
        if symbol.kind == "code":
            functions.setdefault(symbol.address, (symbol.name, symbol.address, symbol.size_bytes))
    return [functions[address] for address in sorted(functions)]


def _levels(image: Image) -> list[str]:
    return [level for level, memory in image.target.memories.items() if memory.size]


def _count(image: Image) -> list[str]:
    """Functions and memories to count."""
    lines = [_line("function", address, size) for _, address, size in _functions(image)]
    for level in _levels(image):
        memory = image.target.memories[level]
        lines.append(_line("window", memory.address, memory.size or 0))
    return lines


def _model(image: Image, folder: Path) -> list[str]:
    """The cycles of every instruction, where the target names a core that has a table."""
    model = load_model(image.target)
    if model is None:
        return []
    table = cycle_table(model, image)
    (folder / CYCLES).write_bytes(table.cycles)
    lines = [f"{_line('cycles', table.address, 2 * len(table.cycles))} {model.refill}"]
    flash = next((m for m in image.target.memories.values() if m.readonly and m.size), None)
    if flash is not None and image.target.flash_wait_states:
        lines.append(f"{_line('wait', flash.address, flash.size or 0)} {image.target.flash_wait_states}")
    return lines


def _fence(image: Image, fence: FenceMap) -> list[str]:
    """Code, constants, stack and data as open memory, the guarded objects, and what each plan instruction may touch."""
    lines = ["words 4"] if image.target.whole_word_loads else []
    for section in image.elf.sections:
        if section.kind == "data":
            places = _objects(image, section)
            lines += [f"{_line('open', address, size)} {READ | WRITE}" for address, size in places if size]
        elif section.size_bytes:
            lines.append(f"{_line('open', section.address, section.size_bytes)} {READ}")
    for entry in place(image, fence):
        if entry.instruction == EVERYTHING:
            lines.append(_line("guard", entry.address, entry.size_bytes))
        else:
            mode = READ | WRITE if entry.writes else READ
            where = f"{entry.address:x} {entry.address + entry.size_bytes:x}"
            lines.append(f"allow {entry.instruction} {where} {mode}")
    return lines


def _objects(image: Image, section: Section) -> list[tuple[int, int]]:
    """(address, bytes) in a section of data: its objects but those of the test image; all else is closed.

    What precedes them is thread-local data of the C library; a section without objects is the stack.
    """
    end = section.address + section.size_bytes
    inside = [s for s in image.elf.symbols if s.kind == "data" and section.address <= s.address < end]
    if not inside:
        return [(section.address, section.size_bytes)]
    first = (section.address, inside[0].address - section.address)
    return [first, *((s.address, s.size_bytes) for s in inside if not s.name.startswith("tw_"))]


def read_touched(image: Image, folder: Path) -> dict[str, int]:
    """Bytes that a fenced run touched in each memory, without the stack, which is measured by its paint."""
    most = dict.fromkeys(_levels(image), 0)
    low, high = (image.elf.label(name) or 0 for name in ("__stack_limit", "__stack_top"))
    for line in (folder / RESULT).read_text(encoding="ascii").splitlines():
        word, *rest = line.split()
        if word == "touched":
            address, count = int(rest[0], 16), int(rest[2])
            for level in () if low <= address < high else most:
                memory = image.target.memories[level]
                if memory.address <= address < memory.address + (memory.size or 0):
                    most[level] += count
    return most


def read_counts(image: Image, folder: Path) -> Counts:
    """What the plugin counted. TilewrightError where it wrote nothing."""
    try:
        lines = (folder / RESULT).read_text(encoding="ascii").splitlines()
    except OSError as error:
        raise TilewrightError("the simulator's plugin wrote no counts", why=str(error)) from error
    functions, levels = _functions(image), _levels(image)
    by_function: dict[str, int] = {}
    harts: dict[int, int] = {}
    calls: list[int] = []
    layers: dict[int, int] = {}
    cycles: dict[int, int] = {}
    modelled = (folder / CYCLES).is_file()
    moved: dict[tuple[int, str], tuple[int, int]] = {}
    for line in lines:
        word, *rest = line.split()
        numbers = [int(text) for text in rest]
        if word == "function":
            name = functions[numbers[0]][0]
            by_function[name] = by_function.get(name, 0) + numbers[1]
        elif word == "call":
            calls.append(numbers[0])
        elif word == "hart":
            harts[numbers[0]] = numbers[1]
        elif word == "layer":
            layers[numbers[0]] = numbers[1]
            cycles[numbers[0]] = numbers[2]
        elif word == "traffic":
            moved[numbers[0], levels[numbers[1]]] = (numbers[2], numbers[3])
    rows = tuple(
        LayerCount(
            i, n, {v: moved[i, v][0] for v in levels}, {v: moved[i, v][1] for v in levels},
            cycles[i] if modelled else None,
        )
        for i, n in sorted(layers.items()) if i >= 0
    )  # fmt: skip
    loaded = {v: sum(pair[0] for (_, level), pair in moved.items() if level == v) for v in levels}
    stored = {v: sum(pair[1] for (_, level), pair in moved.items() if level == v) for v in levels}
    every_hart = tuple(harts.get(i, 0) for i in range(max(harts, default=-1) + 1))
    total = sum(cycles.values()) if modelled else None
    return Counts(sum(layers.values()), rows, by_function, loaded, stored, every_hart, total, calls=tuple(calls))
