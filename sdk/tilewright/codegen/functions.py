"""One C function per distinct layer: the kernel's template rendered, equal texts shared."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

from tilewright.codegen.c_types import constant_address
from tilewright.codegen.choices import left_to_do
from tilewright.codegen.code_counts import FunctionCounts, FunctionText, count
from tilewright.codegen.comments import safe
from tilewright.codegen.parameters import parameters, parameters_of
from tilewright.codegen.pointers import Memories, Pointer, address, caller_name, pointer
from tilewright.codegen.render import render
from tilewright.codegen.row_chain import chain_text
from tilewright.codegen.sitting import TURNS, ErrandCall, given_to, sitting_function
from tilewright.codegen.staging import copied, staging
from tilewright.codegen.terms import plus
from tilewright.codegen.tiled import (
    Home,
    Member,
    cores_text,
    home_of,
    job_parameters,
    read_in_place,
    tile_parameters,
    tiled_function,
)
from tilewright.layout import Layout
from tilewright.memory.placed import PlacedPlan
from tilewright.plan.plan import Aliasing, ExecutionPlan, Instruction
from tilewright.platform import Kernel, Operands
from tilewright.rows.chain import RowChain
from tilewright.tiling.schedule import TileSchedule

_NAME = "LAYER_FUNCTION_NAME"
_BROUGHT = re.compile(r"\btilewright_\w+|\bTILEWRIGHT_\w+")
_WORD = re.compile(r"\b[A-Za-z_]\w*")
_DEFINED = re.compile(r"^\s*#\s*define\s+(\w+)|^(?:static|inline)\b[^;={(]*?\b(\w+)\s*\(|^\}\s*(\w+)\s*;", re.MULTILINE)
"""A macro, a function, and the name of a struct behind its `typedef`."""


@dataclass(frozen=True)
class Function:
    """What a template prints of its function: `${f.storage} void ${f.name}(${f.parameters})`.

    `restrict` is that word and a blank behind it where compilers gain by it, for pointers of a template's own.
    `members` are the functions that a chain calls, one for each of its nodes. `storage` is more than `static` where the
    C is compiled for a device of its own, as CUDA's. `job_parameters` are those of the function that writes a job of
    an engine's down.
    """

    name: str
    parameters: str
    restrict: str = ""
    members: tuple[str, ...] = ()
    storage: str = "static"
    job_parameters: str = ""


@dataclass(frozen=True)
class LayerCall:
    """A call of a layer function in the plan's order; `function` is empty for no call at all.

    One that is made `always` is for all layers, and runs whether its instruction does or not.
    """

    instruction: Instruction
    function: str
    arguments: tuple[Pointer, ...]
    always: bool = False

    @property
    def text(self) -> str:
        """The call as C."""
        dropped = "(void)" if self.function in ("memcpy", "memset") else ""
        return f"{dropped}{self.function}({', '.join(argument.text for argument in self.arguments)})"


@dataclass(frozen=True)
class Functions:
    """The distinct function texts, in order of first use, the calls, and the C sources that they need.

    `table_bytes` are those of tables of tiles and copies. `kernels` are the functions of kernels by the index of the
    instruction that they compute, be they called, or reached through the table of a sitting.
    """

    texts: tuple[FunctionText, ...]
    calls: tuple[LayerCall, ...]
    sources: tuple[Path, ...]
    table_bytes: int = 0
    kernels: Mapping[int, str] = field(default_factory=dict)

    @cached_property
    def source_texts(self) -> tuple[str, ...]:
        """The C of the sources."""
        return tuple(source.read_text().strip() for source in self.sources)

    @cached_property
    def counts(self) -> tuple[FunctionCounts, ...]:
        """What sources and functions hold."""
        sources = (FunctionText("", text) for text in self.source_texts)
        return tuple(counts for text in (*sources, *self.texts) for counts in count(text))

    @property
    def names(self) -> tuple[str, ...]:
        """The functions' names."""
        return tuple(text.name for text in self.texts)


class Texts:
    """Distinct function texts with their names, in order of first use, and the sources that they need."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.functions: dict[str, FunctionText] = {}
        self.sources: list[Path] = []

    def add(self, kernel: Kernel, text: str) -> str:
        """The name of the function with this text."""
        if text not in self.functions:
            number, kernel_name = len(self.functions), kernel.name.lower()
            name = f"{self.prefix}_{kernel_name}_{number}"
            named = text.replace(_NAME, name).strip() + "\n"
            self.functions[text] = FunctionText(name, named, kernel_name, number)
            self.sources += [s for s in _used(text, kernel.sources) if s not in self.sources]
        return self.functions[text].name

    def members(self, chain: RowChain) -> tuple[str, ...]:
        """The functions that compute bands of a chain's nodes."""
        names = []
        for stage in chain.stages:
            kernel, operands = stage.kernel, stage.operands
            listed = parameters_of(stage.call, kernel.constants(operands), bool(stage.scratch_bytes))
            apart = kernel.vectorised and not kernel.in_place(stage.call)
            function = Function(_NAME, ", ".join(p.text(apart) for p in listed), _restrict(kernel))
            text = render(kernel.template, f=function, k=kernel.context(operands))
            names.append(self.add(kernel, text))
        return tuple(names)


def render_functions(
    placed: PlacedPlan, prefix: str, memories: Memories, elsewhere: Mapping[int, str] | None = None
) -> Functions:
    """Render every instruction's kernel; two layers whose text is the same share one function.

    A schedule becomes a function of its own behind those of its kernels; nodes that it runs as stages have no call.
    `elsewhere` are C expressions for frozen slots that are no arrays of the weights file.
    """
    plan, moved = placed.plan, {**(elsewhere or {}), **copied(placed, memories.arena)}
    texts = Texts(prefix)
    calls = list[LayerCall]()
    scheduled = {name for i in plan.instructions if i.schedule is not None for name in i.schedule.nodes}
    kernel_of: dict[int, str] = {}
    layers, sources = list[FunctionText](), list[Path]()
    table_bytes = 0
    layouts: dict[str, Layout] = {slot.tensor.name: slot.layout for slot in plan.slots}
    for instruction in plan.instructions:
        if instruction.aliasing is not None:
            calls += _aliasing_calls(placed, instruction, instruction.aliasing, prefix, memories, moved)
            continue
        if left_to_do(placed, instruction) is None:
            calls.append(LayerCall(instruction, "", ()))
            continue
        kernel, call = instruction.kernel, instruction.call
        listed = parameters(plan, instruction)
        apart = kernel.vectorised and not kernel.in_place(call) and not instruction.overlaps
        tiled = tile_parameters(kernel, _NAME) if instruction.name in scheduled else ""
        called, context = tuple[str, ...](), kernel.context(Operands(call, layouts))
        if isinstance(kernel.methods, RowChain):
            called, context = texts.members(kernel.methods), chain_text(kernel.methods, call)
        pointers = [p.text(apart) for p in listed]
        listing = ", ".join([*pointers, *filter(None, [tiled])]) or "void"
        jobs = ", ".join([*pointers, job_parameters(kernel, _NAME)]) if kernel.gives_jobs else ""
        function = Function(_NAME, listing, _restrict(kernel), called, job_parameters=jobs)
        text = render(kernel.template, f=function, k=context)
        name = texts.add(kernel, text + "\n" + cores_text(kernel, _NAME, listed) if tiled else text)
        kernel_of[instruction.index] = name
        if instruction.schedule is not None:
            members = _members(placed, instruction, kernel_of, prefix, memories, moved)
            name = f"{prefix}_layer{instruction.index}"
            fast = fast_memory(memories.fast, instruction)
            if instruction.schedule.starts:
                errands = _errands(placed, instruction.schedule, kernel_of, prefix, memories, moved)
                text, layer_bytes = sitting_function(name, fast, plan, instruction.schedule, members, errands)
                arguments = [one.argument for one in given_to(instruction.schedule, members, errands)]
                sources += [TURNS] * (TURNS not in sources)
            else:
                text, layer_bytes = tiled_function(name, fast, plan, instruction.schedule, members)
                arguments = [home.argument for member in members for home in member.homes]
            layers.append(FunctionText(name, text, "layer", instruction.index))
            table_bytes += layer_bytes
            calls.append(LayerCall(instruction, name, tuple(arguments)))
        elif instruction.name not in scheduled and not instruction.errand_of:
            calls.append(LayerCall(instruction, name, _arguments(placed, instruction, prefix, memories, moved)))
    staged = staging(placed, prefix, memories, elsewhere or {})
    early = [LayerCall(one.instruction, one.function.name, (Pointer(one.argument),), one.once) for one in staged]
    calls = sorted([*early, *calls], key=lambda call: call.instruction.index)  # stable: copies before their layer
    functions = (*texts.functions.values(), *layers, *(one.function for one in staged))
    table_bytes += sum(one.table_bytes for one in staged)
    return Functions(functions, tuple(calls), (*texts.sources, *sources), table_bytes, kernel_of)


def _aliasing_calls(
    placed: PlacedPlan,
    instruction: Instruction,
    aliasing: Aliasing,
    prefix: str,
    memories: Memories,
    moved: Mapping[int, str],
) -> list[LayerCall]:
    """What is left to move and fill where operands and results are the same bytes."""
    result = placed.slot_offsets[instruction.outputs[0]]
    calls = []
    for copy in aliasing.copies:
        if copy.frozen is not None:
            source = Pointer(moved.get(copy.frozen, f"{prefix}_c{copy.frozen}"))
        elif (own := address(placed, instruction.inputs[copy.operand], memories)) is not None:
            source = Pointer(own)
        else:
            caller = caller_name(placed, instruction.inputs[copy.operand])
            source = Pointer(caller, caller)
        target, size = Pointer(plus(memories.arena, result + copy.start)), Pointer(f"{copy.size_bytes}u")
        calls.append(LayerCall(instruction, "memcpy", (target, source, size)))
    for fill in aliasing.fills:
        target, size = Pointer(plus(memories.arena, result + fill.start)), Pointer(f"{fill.size_bytes}u")
        calls.append(LayerCall(instruction, "memset", (target, Pointer(str(fill.byte)), size)))
    return calls or [LayerCall(instruction, "", ())]


def fast_memory(prefix: str, instruction: Instruction) -> str:
    """The array that holds the buffers of all schedules."""
    assert instruction.schedule is not None
    return f"{prefix}_{instruction.schedule.compute_level}"


def _members(
    placed: PlacedPlan, last: Instruction, kernel_of: Mapping[int, str], prefix: str, memories: Memories,
    moved: Mapping[int, str],
) -> list[Member]:  # fmt: skip
    """The stages of a schedule with their instructions, kernels and addresses at home."""
    plan, schedule = placed.plan, last.schedule
    assert schedule is not None
    by_name = {instruction.name: instruction for instruction in plan.instructions}
    members = []
    for number, stage in enumerate(schedule.stages):
        instruction = by_name[stage.node]
        homes: list[Home] = []
        for operand in stage.operands:
            if operand.kind == "local":
                continue
            if operand.kind == "constant":
                index = instruction.frozen[operand.index]
                argument = Pointer(moved.get(index) or _constant(plan, index, prefix))
            else:
                output = operand.kind == "output"
                slot = (instruction.outputs if output else instruction.inputs)[operand.index]
                argument = pointer(placed, slot, memories, not output)
            homes.append(home_of(plan, operand, instruction, number, argument, len(schedule.stages) > 1))
        addresses = {index: moved.get(index) or _constant(plan, index, prefix) for index in instruction.frozen}
        apart = read_in_place(plan, instruction, number, len(schedule.stages) > 1, addresses)
        members.append(Member(instruction, stage, kernel_of[instruction.index], (*homes, *apart)))
    return members


def _errands(
    placed: PlacedPlan, schedule: TileSchedule, kernel_of: Mapping[int, str], prefix: str, memories: Memories,
    moved: Mapping[int, str],
) -> list[ErrandCall]:  # fmt: skip
    """What the driver calls during a sitting."""
    by_name = {instruction.name: instruction for instruction in placed.plan.instructions}
    calls = []
    for errand in schedule.errands:
        instruction = by_name[errand.node]
        arguments = _arguments(placed, instruction, prefix, memories, moved)
        comment = f"{safe(instruction.op_name)} '{safe(instruction.name)}'"
        listed = parameters(placed.plan, instruction)
        slots = (*(slot for slot in instruction.inputs if slot >= 0), *instruction.outputs)
        tensors = [placed.plan.slots[slot].tensor.name for slot in slots]
        tensors += ["" for _ in listed[len(tensors) :]]
        calls.append(ErrandCall(errand, kernel_of[instruction.index], listed, arguments, tuple(tensors), comment))
    return calls


def _restrict(kernel: Kernel) -> str:
    """The qualifier with a blank behind it, where the kernel is compiled for vectors."""
    return "restrict " if kernel.vectorised else ""


def _used(text: str, sources: Sequence[Path]) -> list[Path]:
    """The sources of which the function, or a later source that it needs, names something, in their order.

    Functions that nothing calls are warnings to a compiler.
    """
    files: list[Path] = []
    named = set(_WORD.findall(text))
    for source in reversed(sources):
        brought, names = _names(source, source.stat().st_mtime_ns)
        if brought & named:
            files.insert(0, source)
            named |= names
    return files


@cache
def _names(source: Path, _changed: int) -> tuple[frozenset[str], frozenset[str]]:
    """What a source defines, and every word in it."""
    content = source.read_text()
    brought = set(_BROUGHT.findall(content))  # a plug-in's functions, macros and structs bear a prefix of its own
    brought |= {name for names in _DEFINED.findall(content) for name in names if name}
    return frozenset(brought), frozenset(_WORD.findall(content))


def _arguments(
    placed: PlacedPlan, instruction: Instruction, prefix: str, memories: Memories, moved: Mapping[int, str]
) -> tuple[Pointer, ...]:
    pointers = []
    for slot in (*(s for s in instruction.inputs if s >= 0), *instruction.outputs):
        readonly = slot in instruction.inputs
        pointers.append(pointer(placed, slot, memories, readonly))
    for index in instruction.frozen:
        pointers.append(Pointer(moved.get(index) or _constant(placed.plan, index, prefix)))
    if instruction.scratch_bytes:
        pointers.append(Pointer(plus(memories.arena, placed.scratch_offsets[instruction.index])))
    return tuple(pointers)


def _constant(plan: ExecutionPlan, index: int, prefix: str) -> str:
    """C expression for an array of the weights file."""
    return constant_address(plan.frozen_slots[index].constant.dtype, f"{prefix}_c{index}")
