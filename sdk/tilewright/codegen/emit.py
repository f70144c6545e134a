"""From a placed plan to a folder of C: one header, one code file, one file of weights, and build files."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np

from tilewright.binding.guards import Guard
from tilewright.codegen.artifacts import Artifacts, Parts, Piece, StepRange, Texts
from tilewright.codegen.binary_weights import LARGE_BYTES, assembly, pieces
from tilewright.codegen.binary_weights import lay_out as lay_out_binary
from tilewright.codegen.blob import Blob, WeightRegion, blob_bytes, constant_texts, identity, lay_out
from tilewright.codegen.c_types import C_TYPES, constant_type, literal, packed
from tilewright.codegen.choices import left_to_do
from tilewright.codegen.code_counts import FunctionCounts, FunctionText, count
from tilewright.codegen.code_map import code_map
from tilewright.codegen.comments import constant_comment, layer_comment, port_comment, safe
from tilewright.codegen.constant_array import ConstantArray, section_of
from tilewright.codegen.functions import Functions, render_functions
from tilewright.codegen.limits import limits_of
from tilewright.codegen.network_text import (
    BlobText,
    CallLine,
    FastMemory,
    Level,
    NetworkText,
    Port,
)
from tilewright.codegen.pointers import Memories, memories_of, pointer
from tilewright.codegen.render import render
from tilewright.codegen.run_parameters import pointers, run_arguments, run_parameters, unused
from tilewright.codegen.slices import slices_of
from tilewright.codegen.states import first_names, first_values, states_text, stored_states
from tilewright.codegen.tiled import HEADER
from tilewright.ieee import ieee
from tilewright.memory.levels import memory_reports
from tilewright.memory.placed import PlacedPlan
from tilewright.model import DType, Tensor
from tilewright.options import Weights
from tilewright.plan.guards import guards_of
from tilewright.platform import MemoryLevel
from tilewright.version import VERSION

TEMPLATES = Path(__file__).parent / "templates"
HALVES = "tilewright_halves.h"
"""Header of a network with elements that are floats of sixteen bits."""
_OPEN_ELEMENTS, _OPEN_BUILD = "\0elements {}\0", "\0build\0"
"""Stand for elements and for the build in the texts from which the build's number comes."""


@ieee
def emit(
    placed: PlacedPlan,
    levels: Sequence[MemoryLevel],
    flags: Sequence[str],
    regions: Sequence[WeightRegion] = (),
    *,
    context: bool = False,
    weights: Weights = "c",
    text: bool = False,
    slice_instructions: int = 0,
) -> Artifacts:
    """Render the project. `levels` with the target's sizes, `flags` those that the kernels were made for.

    The constants of `regions` are no `const` arrays: they lie in blobs beside the code, or in RAM. With `context`
    every function takes an instance of the network, whose memory the caller declares. `weights` says whether constants
    are arrays of C or a binary file; `auto` takes the file where they are large. `text`: build files take in the file
    of a tokeniser and a sampler too. With `slice_instructions` a function runs about so many of them at a time.
    """
    plan = placed.plan
    blobs = lay_out(plan, regions, context)
    memories = memories_of(plan.name, context)
    functions = render_functions(placed, plan.name, memories, constant_texts(plan, blobs))
    code = [*(text.text for text in functions.texts), *(call.text for call in functions.calls)]
    known = {blob: identity(code, blob) for blob in blobs}
    own = _constants(placed, tuple(known), levels)
    states = states_text(placed, memories, first_names(plan), placed.state_bytes)
    shown = network_text(placed, levels, flags, functions, known, context)
    binary = in_binary(own, shown.constant_bytes, weights)
    slices = slices_of(placed, shown.calls, slice_instructions)
    shown = replace(
        shown, constants=own, needs_math=needs_math(own), states=states, binary=binary, text=text, slices=slices
    )
    parts = parts_of(shown)
    build = _build_of(shown, parts)
    texts = _files(shown, parts, build, [constant.text for constant in shown.constants])
    binaries = {_binary_path(shown): partial(pieces, lay_out_binary(shown.constants))} if shown.binary else {}
    if shown.fast is not None:
        texts[f"src/{HEADER}"] = ((TEMPLATES / HEADER).read_text(),)
    if shown.halves:
        texts[f"src/{HALVES}"] = ((TEMPLATES / HALVES).read_text(),)
    beside = {f"weights/{blob.identifier}.bin": blob_bytes(plan, blob, key) for blob, key in known.items()}
    return Artifacts(
        Texts(texts), parts, replace(shown.interface, build=int(build, 16)), shown.constant_bytes, functions.names,
        beside, binaries, shown.runtime_bytes, functions.table_bytes, bool(shown.limits),
        (*functions.counts, *_counts_beside(shown, parts)), code_map(shown, parts, functions),
        tuple(StepRange(one.lines[0].index, one.lines[-1].index, one.instructions) for one in slices),
    )  # fmt: skip


def _counts_beside(shown: NetworkText, parts: Parts) -> Iterator[FunctionCounts]:
    """What stands around the layers: declarations, functions of the interface, and `run`."""
    head = render(TEMPLATES / "model_head.c.mako", m=shown, parts=parts, build=_OPEN_BUILD)
    yield from count(FunctionText("", head))
    words = [("input", port.index) for port in shown.inputs] + [("output", port.index) for port in shown.outputs]
    for (word, number), text in zip(words, parts.ports, strict=False):
        yield from count(FunctionText(f"{shown.name}_{word}_{number}", text, word, number))
    yield from count(FunctionText(f"{shown.name}_run", parts.run, "run"))


def in_binary(constants: Sequence[ConstantArray], constant_bytes: int, weights: Weights) -> bool:
    """True where constants are to be a binary file; all are arrays of C where some lie in RAM or in a section of their
    own."""
    fixed = all(constant.fixed and not constant.section for constant in constants)
    return bool(constants) and fixed and (weights == "bin" or (weights == "auto" and constant_bytes >= LARGE_BYTES))


def needs_math(constants: Sequence[ConstantArray]) -> bool:
    """True where an element is written as INFINITY or NAN."""
    return any(c.dtype.is_float and not bool(np.isfinite(c.values).all()) for c in constants)


def _binary_path(shown: NetworkText) -> str:
    return f"src/{shown.name}_weights.bin"


def parts_of(shown: NetworkText) -> Parts:
    """The parts of the C by use, from which the files are put together."""
    ports = [("input", port) for port in shown.inputs] + [("output", port) for port in shown.outputs]
    functions = ports if shown.io == "arena" else []
    return Parts(
        code=f"src/{shown.name}.c",
        weights=f"src/{shown.name}_weights.{'S' if shown.binary else 'c'}",
        includes=_joined((*shown.own_includes, *shown.library_includes)),
        declarations=_joined(constant.declaration for constant in shown.constants),
        memory=("" if shown.kit else render(TEMPLATES / "memory.c.mako", m=shown)) + _of_states(shown, "state.c"),
        port_sizes=render(TEMPLATES / "port_sizes.h.mako", m=shown) + _of_states(shown, "state.h"),
        state_functions=_of_states(shown, "state_functions.h"),
        port_functions=render(TEMPLATES / "port_functions.h.mako", m=shown) if functions else "",
        ports=tuple(render(TEMPLATES / "port.c.mako", m=shown, word=word, p=port) for word, port in functions),
        run=render(TEMPLATES / "run.c.mako", m=shown),
    )


def _of_states(shown: NetworkText, name: str) -> str:
    """A part that speaks of states; empty where there are none."""
    return "" if shown.states is None else render(TEMPLATES / f"{name}.mako", m=shown, s=shown.states)


def _joined(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _files(shown: NetworkText, parts: Parts, build: str, elements: Sequence[Piece]) -> dict[str, tuple[Piece, ...]]:
    """Every file by path, put together from the parts; `elements` are the texts of the constants' elements."""
    files = {
        f"src/{shown.name}.h": "model.h.mako",
        parts.code: "model.c.mako",
        f"src/{shown.name}_internal.h": "model_internal.h.mako",
        parts.weights: "model_weights.S.mako" if shown.binary else "model_weights.c.mako",
        "Makefile": "Makefile.mako",
        "CMakeLists.txt": "CMakeLists.txt.mako",
    }
    texts = {path: (render(TEMPLATES / name, m=shown, parts=parts, build=build),) for path, name in files.items()}
    defined = definitions(shown.constants, elements, shown.upper, _binary_path(shown) if shown.binary else "")
    return {**texts, parts.weights: (*texts[parts.weights], *defined)}


def definitions(
    constants: Sequence[ConstantArray], elements: Sequence[Piece], upper: str, binary_path: str
) -> tuple[Piece, ...]:
    """All arrays of a weights file; `binary_path` is that of the binary file, empty where they are arrays of C."""
    if binary_path:
        return (assembly(lay_out_binary(constants), binary_path.rpartition("/")[2]),)
    written = (c.definition(upper, text) for c, text in zip(constants, elements, strict=True))
    return tuple(chain.from_iterable(written))


def _build_of(shown: NetworkText, parts: Parts) -> str:
    return build_number(
        shown.sha256, shown.constants, lambda build, elements: _files(shown, parts, build, elements)
    )  # fmt: skip


def build_number(
    models: str, constants: Sequence[ConstantArray],
    files: Callable[[str, Sequence[Piece]], Mapping[str, tuple[Piece, ...]]],
) -> str:  # fmt: skip
    """Eight hexadecimal digits that tell this compilation from any other: of the models, all code and all weights.

    `files` gives all texts with the build's number and with the elements of the constants.
    """
    digest = hashlib.sha256(models.encode())
    elements = [_OPEN_ELEMENTS.format(number) for number in range(len(constants))]
    for text in Texts(files(_OPEN_BUILD, elements)).values():
        digest.update(text.encode())
    for constant in constants:
        digest.update(constant.values.tobytes())
    return digest.hexdigest()[:8]


def network_text(
    placed: PlacedPlan, levels: Sequence[MemoryLevel], flags: Sequence[str], functions: Functions,
    known: Mapping[Blob, int], context: bool,
) -> NetworkText:  # fmt: skip
    """What is printed but for constants and states."""
    plan = placed.plan
    runtime_bytes = sum(blob.weight_bytes for blob in known if not blob.mapped)
    constant_bytes = sum(packed(s.constant.dtype, s.constant.values).nbytes for s in plan.frozen_slots)
    constant_bytes += functions.table_bytes
    constant_bytes += sum(pair.initial.nbytes for pair in stored_states(plan))
    constant_bytes -= sum(blob.weight_bytes for blob in known)
    return NetworkText(
        name=plan.name,
        upper=plan.name.upper(),
        tool=f"tilewright {VERSION}",
        sha256=plan.sha256,
        summary=f"{len(plan.instructions)} layers, {placed.arena_bytes} bytes of {placed.level}, "
        f"{constant_bytes} bytes of constants",
        arena_bytes=placed.arena_bytes,
        align=max(placed.align, 8),
        constant_bytes=constant_bytes,
        levels=_levels(placed, levels, constant_bytes, runtime_bytes, functions.table_bytes),
        inputs=_with_rows(placed, ports_text(placed, plan.input_slots, "input", memories_of(plan.name, context))),
        outputs=ports_text(placed, plan.output_slots, "output", memories_of(plan.name, context)),
        io=placed.io,
        run_parameters=run_parameters(placed, context),
        run_arguments=run_arguments(placed, context),
        unused_parameters=unused(placed, functions),
        pointers=pointers(placed, functions, context),
        constants=(),
        needs_math=False,
        halves=_uses_halves(placed),
        sources=functions.source_texts,
        functions=tuple(text.text for text in functions.texts),
        calls=calls_text(placed, functions, memories_of(plan.name, context)),
        limits=limits_of(placed, functions.counts),
        flags=" ".join(flags),
        cmake_flags=";".join(flags),
        blobs=tuple(BlobText(b, safe(b.name), key & 0xFFFFFFFF, key >> 32) for b, key in known.items()),
        runtime_bytes=runtime_bytes,
        fast=_fast(placed, levels),
        context=context,
        cores_read=any(instruction.kernel.methods.at_rest for instruction in plan.instructions),
    )


def calls_text(placed: PlacedPlan, functions: Functions, memories: Memories) -> tuple[CallLine, ...]:
    """The calls of every instruction together, in the plan's order, each under its guards."""
    line_of: dict[int, CallLine] = {}
    guards = guards_of(placed.plan)
    for call in functions.calls:
        index = call.instruction.index
        told = layer_comment(placed, call.instruction)
        line = line_of.setdefault(index, CallLine(index, (), told))
        if call.always:
            line_of[index] = replace(line, first=(*line.first, call.text))
        elif call.function:
            own = guards[index] | (left_to_do(placed, call.instruction) or frozenset())
            guard = _guard(placed, own, memories)
            line_of[index] = replace(line, statements=(*line.statements, call.text), guard=guard)
    return tuple(line_of.values())


def _guard(placed: PlacedPlan, guards: frozenset[Guard[int]], memories: Memories) -> str:
    """The condition in C under which an instruction runs; empty where it always does."""
    terms = [(pointer(placed, guard.slot, memories, True).text, guard.value) for guard in sorted(guards)]
    return " && ".join(f"*{text} {'!=' if value else '=='} 0" for text, value in terms)


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
    rows = []
    for level in levels:
        here = level.name == placed.level
        apart = level.name in placed.plan.constants_apart
        if not (here or apart or level.readonly or (fast is not None and fast.macro == level.name.upper())):
            continue
        parts = {name.replace("_", " "): size for name, size in reports[level.name].parts().items() if size}
        if here and runtime_bytes:
            parts["constants"] = parts.get("constants", 0) + runtime_bytes
        told = ", ".join(f"{name} {size}" for name, size in parts.items())
        rows.append(Level(level.name, level.name.upper(), sum(parts.values()), level.size, told or "nothing", here))
    return tuple(rows)


def _fast(placed: PlacedPlan, levels: Sequence[MemoryLevel]) -> FastMemory | None:
    """The compute level of the plan's schedules, None where there are none."""
    plan = placed.plan
    name = next((i.schedule.compute_level for i in plan.instructions if i.schedule is not None), "")
    for level in levels:
        if level.name == name:
            schedules = [i.schedule for i in plan.instructions if i.schedule is not None and i.schedule.starts]
            words = max((schedule.table_bytes // 4 for schedule in schedules), default=0)
            return FastMemory(
                f"{plan.name}_{name}", name.upper(), plan.compute_bytes, level.align, level.section, words
            )
    return None


def _constants(placed: PlacedPlan, blobs: Sequence[Blob], levels: Sequence[MemoryLevel]) -> tuple[ConstantArray, ...]:
    plan = placed.plan
    mapped = {piece.slot for blob in blobs if blob.mapped for piece in blob.pieces}
    in_ram = {piece.slot for blob in blobs if not blob.mapped for piece in blob.pieces}
    arrays: list[ConstantArray] = []
    for slot in plan.frozen_slots:
        if slot.index in mapped:
            continue
        constant = slot.constant
        name, elements = f"{plan.name}_c{slot.index}", int(packed(constant.dtype, constant.values).size)
        array = ConstantArray(
            name, constant_type(constant.dtype), elements, constant_comment(slot), constant.dtype, constant.values,
            slot.index not in in_ram, *section_of(constant, levels),
        )  # fmt: skip
        arrays.append(array)
    return (*arrays, *first_values(plan))


def _padding(tensor: Tensor, outputs: Sequence[str]) -> str:
    """Which output says how much of a tensor is no padding, or what else it tells, as the end of a comment."""
    if tensor.tells_end:
        return "; 1 where data asks for more turns than the bound, which the loop has not made"
    return "".join(
        f"; along axis {length.axis} the first elements are there, as many as output {outputs.index(length.count)} says"
        for length in tensor.lengths
        if length.count in outputs
    )


def _with_rows(placed: PlacedPlan, ports: tuple[Port, ...]) -> tuple[Port, ...]:
    """The inputs with their rows, where the application hands these over."""
    if placed.io != "stream":
        return ports
    calls = [
        part for i in placed.plan.instructions for part in i.call.chain or (i.call,) if part.node.op == "InputRows"
    ]
    by_name = {call.tensor(0).name: call for call in calls}
    with_rows = []
    for port, slot in zip(ports, placed.plan.input_slots, strict=True):
        call = by_name.get(placed.plan.slots[slot].tensor.name)
        shape = port.shape if call is None else call.outputs[0].shape
        planes = 1 if call is not None and call.integers("perm", ()) else port.shape[1]
        with_rows.append(replace(port, rows=shape[2], planes=planes))
    return tuple(with_rows)


def ports_text(placed: PlacedPlan, slots: Sequence[int], word: str, memories: Memories) -> tuple[Port, ...]:
    """Inputs or outputs, as `word` says."""
    plan = placed.plan
    names = plan.output_names if word == "output" else tuple(plan.slots[s].tensor.name for s in slots)
    ports = []
    for index, slot in enumerate(slots):
        tensor = plan.slots[slot].tensor
        per_tensor = tensor.quantisation is not None and tensor.quantisation.axis is None
        quantisation = tensor.quantisation if per_tensor else None
        ports.append(
            Port(
                index=index,
                c_type=C_TYPES[tensor.dtype],
                pointer=pointer(placed, slot, memories, False).text,
                comment=port_comment(names[index], tensor) + _padding(tensor, names),
                size_bytes=tensor.size_bytes,
                elements=tensor.elements,
                shape=tensor.shape,
                scale=literal(DType.F32, quantisation.scale[0]) if quantisation else None,
                zero_point=quantisation.zero_point[0] if quantisation else 0,
            )
        )
    return tuple(ports)
