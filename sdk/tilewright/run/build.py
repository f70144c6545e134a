"""Build a generated project together with the test image's own code into one program for a target."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tilewright.codegen.interface import Interface
from tilewright.codegen.text import ChunkPorts
from tilewright.errors import DoesNotFit, TilewrightError, ToolMissing, UsageError
from tilewright.run.elf import ElfFile, Sizes, aliases, mapped_sizes, read_elf
from tilewright.run.glue import INSTANCE, glue_code, text_code
from tilewright.run.image import Image, Toolchain
from tilewright.run.simulator import simulator_of
from tilewright.run.stack import StackBound, bound_beside, join_aliases, read_call_graph, stack_bound
from tilewright.run.together_code import common_interface, together_code
from tilewright.run.tool import Finished, find_tool, start
from tilewright.target import Target, targets_folder

HARNESS = Path(__file__).parent / "harness"
_OVERFLOW = re.compile(r"region `(\w+)' overflowed by (\d+) bytes")
_APART, _NEEDED = ("-ffunction-sections", "-fdata-sections"), ("-Wl,--gc-sections",)
"""What leaves the other networks of a bundle out of an image that runs one of them."""
_SANITIZE = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer", "-g1")
_ROLLED = ("--param=max-unroll-times=0", "--param=max-completely-peel-times=0")
"""Loops of gcc stay loops: each copy of a body takes checks of its own, four times the build for nothing more found."""
_COVER = ("-fprofile-arcs", "-ftest-coverage", "-fprofile-info-section=tw_cover")
"""Counters in the code, and where they lie in a section whose ends the linker names: no file system is needed."""
_CONDITIONS = ("-fcondition-coverage",)
TAP = "TILEWRIGHT_ROW_TAPS"
"""The macro under which chains hand out the rows that they keep to themselves."""


def build(
    project: Path,
    interface: Interface,
    target: Target,
    work: Path,
    *,
    compiler: str | None = None,
    trace: bool = False,
    fence: bool = False,
    sanitize: bool = False,
    tap: bool = False,
    cover: bool = False,
    conditions: bool = False,
    extra_flags: Sequence[str] = (),
    positions: int = 0,
    chunk: ChunkPorts | None = None,
) -> Image:
    """Compile and link `project/src`, called by its `interface`, for `target`, writing only into `work`.

    `trace` compiles the calls around every plan instruction in, `fence` lets the start-up code set the core's memory
    protection, `sanitize` adds the address and undefined-behaviour sanitizers, `tap` (with trace) takes out the rows
    that chains keep to themselves, `cover` counts every line and branch of the network's C (gcc alone does), with
    `conditions` every outcome of a condition that decides alone too (gcc 14 and later). With
    `positions` the image writes text of at most so many tokens, whose prompt `chunk` reads as far as it can.
    ToolMissing, DoesNotFit where a memory of the target overflows, TilewrightError where the compiler refuses the code.
    """
    switches = _Switches(compiler, trace, fence, sanitize, tap, tuple(extra_flags), positions, cover, conditions,
        0 if chunk is None else chunk.tokens)  # fmt: skip
    glue = glue_code(interface, "" if chunk is None else chunk.name)
    glue += text_code(interface, chunks=chunk is not None) if positions else ""
    return _built(project, interface, glue, target, work, switches)


def build_together(
    project: Path, kit: str, batches: Sequence[Sequence[Interface]], target: Target, work: Path
) -> Image:
    """One image that runs all networks of a bundle, batch by batch; those of one are all given their inputs first."""
    interface = common_interface(kit, [one for batch in batches for one in batch])
    return _built(project, interface, together_code(interface, batches), target, work, _Switches())


@dataclass(frozen=True)
class _Switches:
    """What a build is asked beside the project: see `build`."""

    compiler: str | None = None
    trace: bool = False
    fence: bool = False
    sanitize: bool = False
    tap: bool = False
    extra_flags: tuple[str, ...] = ()
    positions: int = 0
    cover: bool = False
    conditions: bool = False
    chunk_tokens: int = 0

    @property
    def harness(self) -> tuple[str, ...]:
        """Flags of the test image's own code."""
        names = {"TW_FENCE": self.fence, "TW_TRACED": self.trace, TAP: self.tap, "TW_COVER": self.cover}
        text = ("-DTW_TEXT", f"-DTW_POSITIONS={self.positions}u") if self.positions else ()
        chunk = (f"-DTW_CHUNK={self.chunk_tokens}u",) if self.chunk_tokens else ()
        return (*(f"-D{name}" for name, chosen in names.items() if chosen), *text, *chunk)


def _built(project: Path, interface: Interface, glue: str, target: Target, work: Path, switches: _Switches) -> Image:
    """The image of a project and of the glue between it and the harness."""
    project, work = project.resolve(), work.resolve()  # the tools run in `work`
    model, kit, sanitize = interface.model, interface.kit, switches.sanitize
    driver = choose_compiler(target, switches.compiler)
    if sanitize and "sanitizer" not in target.capabilities:
        raise UsageError(f"target '{target.name}' has no sanitizers", fix="sanitize on the target 'host'")
    work.mkdir(parents=True, exist_ok=True)
    sanitized = (*_SANITIZE, *(_ROLLED if _is_gcc(driver) else ())) if sanitize else ()
    flags = (*target.flags, *sanitized, *(_APART if kit else ()), *switches.extra_flags)
    everywhere = (*flags, *target.library_flags)
    graphs = _is_gcc(driver)
    options = (*everywhere, "-std=c99", *(("-fcallgraph-info=su",) if graphs else ()))
    if switches.trace:
        options += (f"-D{interface.trace_macro}",)
    if switches.tap:
        options += (f"-D{TAP}",)
    if switches.cover:
        options += (*_COVER, *(_CONDITIONS if switches.conditions else ()))
    sources = _sources(project, model, kit, text=bool(switches.positions))
    options += (f"-I{project / 'src'}",)  # where an assembler file finds the binary one that it takes in
    objects = [_compile(driver, target, source, options, work / "model") for source in sources]
    for blob in sorted((project / "weights").glob("*.bin")) if interface.blobs else ():
        data = blob.read_bytes()  # the region's number stands in its header
        (work / f"blob_{int.from_bytes(data[24:28], 'little')}.bin").write_bytes(data)
    harness = (*switches.harness, *(("-DTW_CORES_READ",) if interface.cores_read else ()))
    own = _compile_harness(driver, glue, target, (*everywhere, *harness), project, work)
    if switches.cover:
        own.append(_compile(driver, target, HARNESS / "cover.c", (*everywhere, "-std=gnu11", f"-I{HARNESS}"), work))
    if switches.positions:
        written = (HARNESS / "text.c", project / "src" / f"{model}_text.c")
        flags_beside = (*everywhere, *harness, "-std=gnu11", f"-I{HARNESS}", f"-I{project / 'src'}")
        own += [_compile(driver, target, source, flags_beside, work / "text") for source in written]
    path = work / f"{model}.elf"
    map_file = work / f"{model}.map"
    link_flags = (*everywhere, *simulator_of(target).link_flags, *(_NEEDED if kit else ()))
    libraries = ("-lgcov",) if switches.cover else ()
    _link(driver, [*own, *objects], target, link_flags, path, map_file, libraries)
    elf = read_elf(path)
    known = graphs and not sanitize and model != kit
    bound, beside = _bounds(objects, model) if known else (None, None)
    _fits_cores(model, beside, target)
    version = start([driver, "--version"], work).output.partition("\n")[0].strip()
    sizes = _with_instance(mapped_sizes(map_file, elf, [str(o) for o in own]), elf, interface)
    return Image(
        path, work, target, interface, Toolchain(driver, version, " ".join(flags)), elf,
        sizes, bound, switches.trace, switches.fence, sanitize, beside,
    )  # fmt: skip


def _sources(project: Path, model: str, kit: str, *, text: bool) -> list[Path]:
    """The files of a network; all that there are of a bundle, but what is built as `text`."""
    if kit:
        beside = f"{model}_text.c" if text else ""
        code = (file for file in (project / "src").iterdir() if file.suffix in (".c", ".S"))
        return sorted(file for file in code if file.name != beside)
    names = (f"{model}.c", f"{model}_weights.c", f"{model}_weights.S")
    files = [project / "src" / name for name in names if (project / "src" / name).is_file()]
    if not files:
        raise UsageError(
            f"{project} holds no project of the model '{model}'",
            why=f"it has no file src/{model}.c", fix="compile the model into this folder first", file=str(project),
        )  # fmt: skip
    return files


def _bounds(objects: Sequence[Path], model: str) -> tuple[StackBound, StackBound]:
    """Stack of the network and beside it, by the call graphs that gcc wrote; it writes none for assembler."""
    graph = read_call_graph(made for o in objects if (made := o.with_suffix(".ci")).is_file())
    same = {name: other for o in objects if o.suffix == ".o" for name, other in aliases(o).items()}
    graph = join_aliases(graph, same)
    ignored = frozenset({f"{model}_trace", TAP.lower()})
    return stack_bound(graph, f"{model}_run", ignored), bound_beside(graph, f"{model}_run", ignored)


def _fits_cores(model: str, beside: StackBound | None, target: Target) -> None:
    """DoesNotFit where what the cores of a cluster compute needs more stack than each of them has."""
    room = target.stacks.core_bytes
    if beside is not None and room and beside.size_bytes > room:
        raise DoesNotFit(
            f"'{model}' needs {beside.size_bytes:,} bytes of stack on each core of target '{target.name}'",
            why=f"a core has {room:,}; the deepest calls are {' > '.join(beside.path)}",
            fix="leave out the kernel of that layer, or give the cores more in a target of your own ([stack] core)",
        )


def _with_instance(sizes: Sizes, elf: ElfFile, interface: Interface) -> Sizes:
    """The model's sizes with the instance that the test image declares for it, without what is another network's."""
    instance = elf.symbol(INSTANCE) if interface.context else None
    ram_bytes = sizes.ram_bytes + (instance.size_bytes if instance else 0) - interface.foreign_ram_bytes
    rodata_bytes = sizes.rodata_bytes - interface.foreign_constant_bytes
    return replace(sizes, ram_bytes=ram_bytes, rodata_bytes=rodata_bytes)


def choose_compiler(target: Target, wanted: str | None = None) -> str:
    """The first installed compiler of the target, or the wanted one; ToolMissing names the package of the first."""
    names = (wanted,) if wanted else target.compilers
    if not names:
        raise UsageError(f"target '{target.name}' names no compiler", file=str(target.folder))
    missing = None
    for name in names:
        try:
            return find_tool(name, target.tools.get(name, ""))
        except ToolMissing as error:
            missing = missing or error
    assert missing is not None
    raise missing


def _is_gcc(driver: str) -> bool:
    """True for gcc, which alone writes call graphs."""
    return "clang" not in Path(driver).name


def _compile_harness(
    driver: str, code: str, target: Target, flags: Sequence[str], project: Path, work: Path
) -> list[Path]:
    """Objects of the test image's own code: main, the glue, the port to the machine, the target's start-up files."""
    glue = work / "glue.c"
    glue.write_text(code, encoding="utf-8")
    port = HARNESS / simulator_of(target).port
    # a loop that the compiler turns into strlen would pull a library into the image and into its sizes
    plain = (
        *flags,
        "-std=gnu11",
        "-fno-builtin",
        *(("-fno-tree-loop-distribute-patterns",) if _is_gcc(driver) else ()),
        f"-I{HARNESS}",
        f"-I{project / 'src'}",
    )
    sources = [HARNESS / "main.c", glue, port, *(target.file(name) for name in target.startup)]
    return [_compile(driver, target, source, plain, work / "harness") for source in sources]


def _compile(driver: str, target: Target, source: Path, options: Sequence[str], folder: Path) -> Path:
    """Compile one file into `folder`; the error names the file and the compiler's first complaint."""
    folder.mkdir(exist_ok=True)
    output = folder / f"{source.stem}.o"
    patience = 600.0 + source.stat().st_size / 100_000  # gcc reads some 2 MB of numbers a second on a core of its own
    done = start([driver, *options, "-c", str(source), "-o", str(output)], folder, timeout=patience)
    if done.code != 0:
        _refuse_missing_library(target, done)
        raise TilewrightError(
            f"{Path(driver).name} does not compile {source.name}", why=_complaint(done), file=str(source)
        )
    return output


def _refuse_missing_library(target: Target, done: Finished) -> None:
    """ToolMissing where the compiler misses a file that the target knows to come from a package."""
    for file, package in target.libraries.items():
        if file in done.errors:
            raise ToolMissing(
                f"{file} is not installed",
                why=f"the test image for '{target.name}' is linked with that C library",
                fix=f"install the Debian package '{package}'",
            )


def _link(
    driver: str, objects: Sequence[Path], target: Target, flags: Sequence[str], path: Path, map_file: Path,
    libraries: Sequence[str] = (),
) -> None:  # fmt: skip
    """Link the objects; the memories of the target reach its link script as `__<level>_start` and `__<level>_size`."""
    command = [driver, *flags]
    if target.link_script:
        for level, memory in target.memories.items():
            command += [f"-Wl,--defsym=__{level}_start={memory.address:#x}"]
            command += [f"-Wl,--defsym=__{level}_size={memory.size or 0:#x}"]
        command += [f"-Wl,--defsym=__stack_size={target.stack_bytes or 4096:#x}"]
        for folder in (target.folder, targets_folder() / "start"):
            command += ["-L", str(folder)]
        command += ["-nostartfiles", "-T", str(target.file(target.link_script))]
    command += [str(o) for o in objects]
    command += [*libraries, *target.link_flags, f"-Wl,-Map={map_file}", "-o", str(path)]
    done = start(command, path.parent)
    if done.code == 0:
        return
    smallest = {}
    for level, excess in _OVERFLOW.findall(done.errors):
        size = target.memories[level].size if level in target.memories else None
        smallest[level] = (size or 0) + int(excess)
    if smallest:
        needs = ", ".join(
            f"{level} is {size - (target.memories[level].size or 0)} bytes too small" if level in target.memories
            else f"region {level} overflows" for level, size in smallest.items()
        )  # fmt: skip
        raise DoesNotFit(
            f"the image does not fit on target '{target.name}'",
            why=needs,
            fix="choose a larger target or shrink the model; '--set' makes no memory larger than the simulator has it",
            smallest=smallest,
        )
    raise TilewrightError(f"{Path(driver).name} does not link {path.name}", why=_complaint(done))


def _complaint(done: Finished) -> str:
    """The first line of a compiler's output that says what is wrong, without the path before it."""
    if done.code is None:
        return "it did not finish in time"
    lines = [
        line.strip()
        for line in (done.errors + done.output).splitlines()
        if line.strip() and not line.startswith("collect2")
    ]
    telling = [line for line in lines if "error" in line or "undefined" in line] or lines or ["it gave no reason"]
    return re.sub(r"^\S*/", "", telling[0])
