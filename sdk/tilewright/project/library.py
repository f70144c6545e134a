"""What every ecosystem's files print of one generated library: names made safe for it, sources, flags, ports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tilewright.codegen.build_names import cmake_name
from tilewright.codegen.c_types import C_TYPES, loaded
from tilewright.errors import UnsupportedError
from tilewright.model import DType
from tilewright.platform import Feature
from tilewright.project.cores import Boards, boards_for
from tilewright.version import VERSION

if TYPE_CHECKING:
    from tilewright.compile import Compiled

LIBRARY_VERSION = "1.0.0"


@dataclass(frozen=True)
class Port:
    """One input or output in an example: its call, its macros' stem, and how an element is printed."""

    call: str
    element: str
    stem: str
    c_type: str
    format: str
    cast: str


@dataclass(frozen=True)
class Library:
    """One generated library. `name` prefixes every symbol; the other names are free of what their build reserves.

    `cpu_flags` choose the core and belong to who builds for it; `tuning_flags` are what the kernels were made for.
    `weights_file` is what a source in assembler takes in, "" where weights are arrays of C. `arguments` are those of
    `run`; `context` says that it is called with one, `reset` is the call that begins a sequence where there is state.
    `boards` are those that can build it. `floats` says that it may call functions of math.h. `core` is the value of
    -mcpu for which the kernels were chosen, "" where they are for any. `layers` counts the plan's instructions.
    """

    name: str
    upper: str
    cmake: str
    zephyr: str
    kconfig: str
    tool: str
    version: str
    sentence: str
    sha256: str
    sources: tuple[str, ...]
    cpu_flags: tuple[str, ...]
    tuning_flags: tuple[str, ...]
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    arguments: str
    caller: bool
    context: bool
    blobs: tuple[str, ...]
    weights_file: str
    boards: Boards
    reset: str = ""
    floats: bool = False
    core: str = ""
    headers: tuple[str, ...] = ()
    arena_bytes: int = 0
    state_bytes: int = 0
    layers: int = 0

    @property
    def assembler(self) -> bool:
        """Whether a source is written in GNU's assembler, which not every C compiler brings."""
        return any(source.endswith(".S") for source in self.sources)


def describe(compiled: Compiled) -> Library:
    """The library of a compilation; UnsupportedError where its code is no plain C library."""
    request, plan = compiled.request, compiled.placed.plan
    if not request.platform.can(Feature.LIBRARY):
        raise UnsupportedError(
            f"--project cannot pack the code of platform '{request.platform.name}'",
            why="it is not a C library",
            fix="choose a target of another platform",
        )
    if any(instruction.schedule is not None for instruction in plan.instructions):
        raise UnsupportedError(
            f"--project cannot pack the code for '{request.target.name}'",
            why="its tiles are copied and computed by a cluster, through three functions that the firmware brings",
            fix="compile without --project and build src/ in that firmware",
        )
    if compiled.placed.io == "stream":
        raise UnsupportedError(
            "--project writes no example of --io stream",
            why="the application decides where rows come from",
            fix="compile without --project and call the function that the header declares",
        )
    name, caller = plan.name, compiled.placed.io == "caller"
    context, ram_bytes = request.options.context, compiled.placed.arena_bytes + compiled.placed.state_bytes
    inputs = tuple(_port(compiled, "input", i, slot) for i, slot in enumerate(plan.input_slots))
    outputs = tuple(_port(compiled, "output", i, slot) for i, slot in enumerate(plan.output_slots))
    given = ["&context"] if context else []
    given += [port.call for port in (*inputs, *outputs)] if caller else []
    return Library(
        name=name,
        upper=name.upper(),
        cmake=cmake_name(name),
        zephyr=f"tilewright_{name}",
        kconfig=f"TILEWRIGHT_{name.upper()}",
        tool=f"tilewright {VERSION}",
        version=LIBRARY_VERSION,
        sentence=f"Runs the network {name} in {ram_bytes} bytes of RAM without a heap.",
        sha256=plan.sha256,
        sources=tuple(sorted(p.removeprefix("src/") for p in compiled.artifacts.files if p.endswith((".c", ".S")))),
        cpu_flags=request.target.cpu_flags,
        tuning_flags=request.target.compile_flags,
        inputs=inputs,
        outputs=outputs,
        arguments=", ".join(given),
        caller=caller,
        context=context,
        blobs=tuple(sorted(compiled.artifacts.blobs)),
        weights_file=next((p.removeprefix("src/") for p in compiled.artifacts.binaries), ""),
        boards=boards_for(request.target.compilers, compiled.artifacts.wide_core),
        floats=any(slot.tensor.dtype.is_float for slot in plan.slots),
        headers=tuple(sorted(p.removeprefix("src/") for p in compiled.artifacts.files if p.endswith(".h"))),
        core=next((flag.removeprefix("-mcpu=") for flag in request.target.cpu_flags if flag.startswith("-mcpu=")), ""),
        arena_bytes=compiled.placed.arena_bytes,
        state_bytes=compiled.placed.state_bytes,
        layers=len(plan.instructions),
        reset=f"{name}_reset({'&context' if context else ''})" if plan.state else "",
    )


def _port(compiled: Compiled, word: str, index: int, slot: int) -> Port:
    name = compiled.placed.plan.name
    dtype = compiled.placed.plan.slots[slot].tensor.dtype
    given = "&context" if compiled.request.options.context else ""
    call = f"{word}_{index}" if compiled.placed.io == "caller" else f"{name}_{word}_{index}({given})"
    real = dtype.is_float
    unsigned = dtype in (DType.U32, DType.U64)
    return Port(
        call=call,
        element=loaded(dtype, f"{call}[i]"),
        stem=f"{name.upper()}_{word.upper()}_{index}",
        c_type=C_TYPES[dtype],
        format="%g" if real else "%lu" if unsigned else "%ld",
        cast="double" if real else "unsigned long" if unsigned else "long",
    )
