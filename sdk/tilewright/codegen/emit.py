"""From a placed plan to a folder of C: one header, one code file, one file of weights, and build files."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from tilewright.codegen.artifacts import Artifacts, Piece, Texts
from tilewright.codegen.blob import Blob, blob_bytes, constant_texts, identity, lay_out
from tilewright.codegen.build_names import cmake_name
from tilewright.codegen.c_types import C_TYPES, constant_type, initialiser_pieces, literal, packed
from tilewright.codegen.comments import constant_comment, layer_comment, port_comment, safe
from tilewright.codegen.functions import Functions, pointer, render_functions
from tilewright.codegen.limits import Limits, limits_of
from tilewright.codegen.render import render
from tilewright.codegen.run_parameters import pointers, run_parameters, unused
from tilewright.codegen.tiled import HEADER
from tilewright.ieee import ieee
from tilewright.memory.placed import PlacedPlan
from tilewright.model import Array, DType
from tilewright.platform import MemoryLevel
from tilewright.program.placement import WeightRegion
from tilewright.report.collect import memory_reports
from tilewright.version import VERSION

TEMPLATES = Path(__file__).parent / "templates"
HALVES = "tilewright_halves.h"
"""Header of a network with elements that are floats of sixteen bits."""
_ELEMENTS = "\0elements {}\0"
"""Keeps the place of a constant's elements in a rendered text; `safe` lets no such code into a comment."""
BUILD = "\0build\0"
"""Keeps the place of what tells a compilation from others until all of its texts are there."""


@dataclass(frozen=True)
class Level:
    """One memory level in the header: worst-case bytes, what they are, and the target's size.

    `stack` is true for the level that holds the stack, of which only a build tells the bytes.
    """

    name: str
    macro: str
    worst_case: int
    size: int | None
    parts: str
    stack: bool


@dataclass(frozen=True)
class Port:
    """One input or output of the network as the header describes it."""

    index: int
    c_type: str
    pointer: str
    comment: str
    size_bytes: int
    elements: int
    shape: tuple[int, ...]
    scale: str | None
    zero_point: int


@dataclass(frozen=True)
class ConstantArray:
    """One array of the weights file; `text` stands for its elements until the file is read."""

    name: str
    c_type: str
    length: int
    text: str
    comment: str
    dtype: DType
    values: Array
    fixed: bool = True


@dataclass(frozen=True)
class CallLine:
    """The statements of one instruction in `run`; none where its operands and results are the same bytes."""

    index: int
    statements: tuple[str, ...]
    comment: str


@dataclass(frozen=True)
class BlobText:
    """A region's weights outside of the code: their layout, their name in a comment, and the identity in two words."""

    blob: Blob
    comment: str
    low: int
    high: int


@dataclass(frozen=True)
class FastMemory:
    """The compute level that schedules fill: its array, its macro, bytes, alignment and section."""

    name: str
    macro: str
    size_bytes: int
    align: int
    section: str


@dataclass(frozen=True)
class Context:
    """Everything that the templates print."""

    name: str
    upper: str
    tool: str
    sha256: str
    summary: str
    arena_bytes: int
    align: int
    constant_bytes: int
    levels: tuple[Level, ...]
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    io: str
    run_parameters: str
    unused_parameters: tuple[str, ...]
    pointers: tuple[str, ...]
    constants: tuple[ConstantArray, ...]
    needs_math: bool
    halves: bool
    sources: tuple[str, ...]
    functions: tuple[str, ...]
    calls: tuple[CallLine, ...]
    limits: Limits
    flags: str
    cmake_flags: str
    blobs: tuple[BlobText, ...] = ()
    runtime_bytes: int = 0
    fast: FastMemory | None = None
    context: bool = False
    build: str = BUILD

    @property
    def cmake(self) -> str:
        """Name of the CMake target."""
        return cmake_name(self.name)

    @property
    def arena(self) -> str:
        """C expression for the first byte of the arena."""
        return arena_of(self.name, self.context)

    @property
    def null_pointers(self) -> str:
        """What ERROR_NULL_POINTER says, as a comment."""
        caller = "an input or output that has elements and is used" if self.io == "caller" else ""
        told = ["the context"] * self.context + ["the memory given to init"] + [caller] * bool(caller)
        return f"{', '.join(told[:-1])}{' or ' if told[1:] else ''}{told[-1]} is NULL"

    @property
    def instance(self) -> str:
        """The parameter that says which instance is meant, alone in its list; `void` where there is one only."""
        return f"{self.name}_context *context" if self.context else "void"

    @property
    def first(self) -> str:
        """The same where other parameters follow."""
        return f"{self.instance}, " if self.context else ""


def arena_of(name: str, context: bool) -> str:
    """C expression for the arena: an array of the model's, or a member of the caller's context."""
    return "context->arena" if context else f"{name}_arena"


@ieee
def emit(
    placed: PlacedPlan,
    levels: Sequence[MemoryLevel],
    flags: Sequence[str],
    regions: Sequence[WeightRegion] = (),
    *,
    context: bool = False,
) -> Artifacts:
    """Render the project. `levels` with the target's sizes, `flags` those that the kernels were made for.

    The constants of `regions` are no `const` arrays: they lie in blobs beside the code, or in RAM. With `context`
    every function takes an instance of the network, whose memory the caller declares.
    """
    plan = placed.plan
    blobs = lay_out(plan, regions, context)
    functions = render_functions(placed, plan.name, arena_of(plan.name, context), constant_texts(plan, blobs))
    code = [*functions.texts, *(f"{call.function}({call.arguments})" for call in functions.calls)]
    known = {blob: identity(code, blob) for blob in blobs}
    shown = _context(placed, levels, flags, functions, known, context)
    files = {
        f"src/{plan.name}.h": "model.h.mako",
        f"src/{plan.name}.c": "model.c.mako",
        f"src/{plan.name}_internal.h": "model_internal.h.mako",
        f"src/{plan.name}_weights.c": "model_weights.c.mako",
        "Makefile": "Makefile.mako",
        "CMakeLists.txt": "CMakeLists.txt.mako",
    }
    rendered = {path: render(TEMPLATES / name, m=shown) for path, name in files.items()}
    build = _build_of(rendered, shown)
    texts = {path: _with_elements(text.replace(BUILD, build), shown) for path, text in rendered.items()}
    if shown.fast is not None:
        texts[f"src/{HEADER}"] = ((TEMPLATES / HEADER).read_text(),)
    if shown.halves:
        texts[f"src/{HALVES}"] = ((TEMPLATES / HALVES).read_text(),)
    beside = {f"weights/{blob.identifier}.bin": blob_bytes(plan, blob, key) for blob, key in known.items()}
    tables = sum(layer.table_bytes for layer in functions.tiled)
    return Artifacts(
        plan.name, Texts(texts), shown.constant_bytes, functions.names, beside, shown.runtime_bytes, tables,
        bool(shown.limits),
    )  # fmt: skip


def _build_of(rendered: Mapping[str, str], context: Context) -> str:
    """Eight hexadecimal digits that tell this compilation from any other: of the model, all code and all weights."""
    digest = hashlib.sha256(context.sha256.encode())
    for text in rendered.values():
        digest.update(text.encode())
    for constant in context.constants:
        digest.update(constant.values.tobytes())
    return digest.hexdigest()[:8]


def _with_elements(text: str, context: Context) -> tuple[Piece, ...]:
    """The text with the elements of the constants in the places that were kept for them."""
    pieces: list[Piece] = []
    for number, piece in enumerate(re.split(_ELEMENTS.format(r"(\d+)"), text)):
        constant = context.constants[int(piece)] if number % 2 else None
        pieces.append(piece if constant is None else partial(initialiser_pieces, constant.dtype, constant.values))
    return tuple(pieces)


def _context(
    placed: PlacedPlan, levels: Sequence[MemoryLevel], flags: Sequence[str], functions: Functions,
    known: Mapping[Blob, int], context: bool,
) -> Context:  # fmt: skip
    plan = placed.plan
    constants = _constants(placed, tuple(known))
    runtime_bytes = sum(blob.weight_bytes for blob in known if not blob.mapped)
    constant_bytes = sum(packed(s.constant.dtype, s.constant.values).nbytes for s in plan.frozen_slots)
    constant_bytes += sum(layer.table_bytes for layer in functions.tiled)
    constant_bytes -= sum(blob.weight_bytes for blob in known)
    sources = tuple(source.read_text().strip() for source in functions.sources)
    return Context(
        name=plan.name,
        upper=plan.name.upper(),
        tool=f"tilewright {VERSION}",
        sha256=plan.sha256,
        summary=f"{len(plan.instructions)} layers, {placed.arena_bytes} bytes of {placed.level}, "
        f"{constant_bytes} bytes of constants",
        arena_bytes=placed.arena_bytes,
        align=max(placed.align, 8),
        constant_bytes=constant_bytes,
        levels=_levels(placed, levels, constant_bytes, runtime_bytes, sum(t.table_bytes for t in functions.tiled)),
        inputs=_ports(placed, plan.input_slots, "input", context),
        outputs=_ports(placed, plan.output_slots, "output", context),
        io=placed.io,
        run_parameters=run_parameters(placed, context),
        unused_parameters=unused(placed, functions),
        pointers=pointers(placed, functions, context),
        constants=constants,
        needs_math=any(c.dtype.is_float and not bool(np.isfinite(c.values).all()) for c in constants),
        halves=_uses_halves(placed),
        sources=sources,
        functions=functions.texts,
        calls=_lines(placed, functions),
        limits=limits_of(placed, (*sources, *functions.texts)),
        flags=" ".join(flags),
        cmake_flags=";".join(flags),
        blobs=tuple(BlobText(b, safe(b.name), key & 0xFFFFFFFF, key >> 32) for b, key in known.items()),
        runtime_bytes=runtime_bytes,
        fast=_fast(placed, levels),
        context=context,
    )


def _lines(placed: PlacedPlan, functions: Functions) -> tuple[CallLine, ...]:
    """The calls of every instruction together, in the plan's order."""
    found: dict[int, CallLine] = {}
    for call in functions.calls:
        index = call.instruction.index
        line = found.setdefault(index, CallLine(index, (), layer_comment(placed, call.instruction)))
        if call.function:
            found[index] = replace(line, statements=(*line.statements, f"{call.function}({call.arguments})"))
    return tuple(found.values())


def _uses_halves(placed: PlacedPlan) -> bool:
    """True if an element type is a float of sixteen bits, which C99 does not have."""
    plan = placed.plan
    kinds = {slot.tensor.dtype for slot in plan.slots} | {slot.constant.dtype for slot in plan.frozen_slots}
    return not kinds.isdisjoint((DType.F16, DType.BF16))


def _levels(
    placed: PlacedPlan, levels: Sequence[MemoryLevel], constant_bytes: int, runtime_bytes: int, table_bytes: int
) -> tuple[Level, ...]:
    """Bytes of every level that holds something: arena, constants, buffers; code and stack come from the build.

    Weights in RAM lie beside the arena. Constants lie in the read-only levels, beside the arena where there are none.
    """
    reports = memory_reports(placed, levels, constant_bytes, table_bytes)
    fast = _fast(placed, levels)
    found = []
    for level in levels:
        here = level.name == placed.level
        if not (here or level.readonly or (fast is not None and fast.macro == level.name.upper())):
            continue
        parts = {name.replace("_", " "): size for name, size in reports[level.name].parts().items() if size}
        if here and runtime_bytes:
            parts["weights"] = runtime_bytes
        told = ", ".join(f"{name} {size}" for name, size in parts.items())
        found.append(Level(level.name, level.name.upper(), sum(parts.values()), level.size, told or "nothing", here))
    return tuple(found)


def _fast(placed: PlacedPlan, levels: Sequence[MemoryLevel]) -> FastMemory | None:
    """The compute level of the plan's schedules, None where there are none."""
    plan = placed.plan
    name = next((i.schedule.compute_level for i in plan.instructions if i.schedule is not None), "")
    for level in levels:
        if level.name == name:
            return FastMemory(f"{plan.name}_{name}", name.upper(), plan.compute_bytes, level.align, level.section)
    return None


def _constants(placed: PlacedPlan, blobs: Sequence[Blob]) -> tuple[ConstantArray, ...]:
    plan = placed.plan
    mapped = {piece.slot for blob in blobs if blob.mapped for piece in blob.pieces}
    in_ram = {piece.slot for blob in blobs if not blob.mapped for piece in blob.pieces}
    found: list[ConstantArray] = []
    for slot in plan.frozen_slots:
        if slot.index in mapped:
            continue
        constant = slot.constant
        length = int(packed(constant.dtype, constant.values).size)
        text = _ELEMENTS.format(len(found)) if length else "0"
        comment = constant_comment(slot)
        name, fixed = f"{plan.name}_c{slot.index}", slot.index not in in_ram
        found.append(
            ConstantArray(
                name,
                constant_type(constant.dtype),
                max(length, 1),
                text,
                comment,
                constant.dtype,
                constant.values,
                fixed,
            )
        )
    return tuple(found)


def _ports(placed: PlacedPlan, slots: Sequence[int], word: str, context: bool) -> tuple[Port, ...]:
    plan = placed.plan
    names = plan.output_names if word == "output" else tuple(plan.slots[s].tensor.name for s in slots)
    found = []
    for index, slot in enumerate(slots):
        tensor = plan.slots[slot].tensor
        per_tensor = tensor.quantisation is not None and tensor.quantisation.axis is None
        quantisation = tensor.quantisation if per_tensor else None
        found.append(
            Port(
                index=index,
                c_type=C_TYPES[tensor.dtype],
                pointer=pointer(placed, slot, plan.name, arena_of(plan.name, context), False),
                comment=port_comment(names[index], tensor),
                size_bytes=tensor.size_bytes,
                elements=tensor.elements,
                shape=tensor.shape,
                scale=literal(DType.F32, quantisation.scale[0]) if quantisation else None,
                zero_point=quantisation.zero_point[0] if quantisation else 0,
            )
        )
    return tuple(found)
