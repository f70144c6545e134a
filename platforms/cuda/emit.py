"""From a plan and its layout to one self-contained .cu file with a C interface, and the stand-in that plays CUDA.

The file is the same for nvcc and for g++. Every instruction is a function of one element; the same functions serve
the kernels that are captured, the sweeps over groups, and the megakernel in which one launch runs the whole plan.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tilewright.emitting import (
    VERSION,
    Artifacts,
    BufferLayout,
    ExecutionPlan,
    Function,
    Instruction,
    Interface,
    Parts,
    PlacedPlan,
    align_up,
    layout_of,
    parameters,
    render,
    safe,
    shape_text,
    view_root,
    view_shift,
)
from tilewright.errors import UnsupportedNode
from tilewright.numerics import C_TYPES, is_half, packed
from tilewright.platform import Layout, MemoryLevel, Operands

TEMPLATES = Path(__file__).parent / "templates"
NETWORK = "network.cu"
STAND_IN = "cuda_stand_in.h"
FROZEN_ALIGN = 16
OUTSIDE_ALIGN = 256
SKIPPED_SOURCES = ("vectorised.h",)
_NAME = "LAYER_FUNCTION_NAME"
_STORAGE = "static __device__"


@dataclass(frozen=True)
class Step:
    """One instruction as the file calls it: `elements` threads call `function`, or one thread does it all."""

    index: int
    function: str
    arguments: str
    elements: int
    comment: str


@dataclass(frozen=True)
class Launch:
    """One kernel: the steps of a sweep, or a single one."""

    first: int
    end: int
    elements: int
    steps: tuple[Step, ...]

    @property
    def alone(self) -> tuple[Step, ...]:
        """The members of a sweep, each of which can run by itself; a single step is its own launch."""
        return self.steps if len(self.steps) > 1 else ()


@dataclass(frozen=True)
class Port:
    """An input or output: its place in the memory of a sample, and its bytes."""

    index: int
    offset: int
    size_bytes: int
    comment: str


@dataclass(frozen=True)
class StateMove:
    """One state: what it takes, at which place."""

    source: int
    target: int
    size_bytes: int


@dataclass(frozen=True)
class NetworkText:
    """Everything that the template prints."""

    name: str
    tool: str
    sha256: str
    summary: str
    stand_in: str
    arena_bytes: int
    sample_bytes: int
    frozen_words: int
    frozen_text: str
    sources: tuple[str, ...]
    functions: tuple[str, ...]
    launches: tuple[Launch, ...]
    instruction_count: int
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    moves: tuple[StateMove, ...]
    slot_offsets: str
    slot_count: int
    most_regions: int


@dataclass(frozen=True)
class Places:
    """Where everything lies: slots in the memory of a sample, frozen slots in the weights; bytes."""

    slots: tuple[int, ...]
    scratch: tuple[int, ...]
    frozen: tuple[int, ...]
    sample_bytes: int
    frozen_bytes: int


def emit(placed: PlacedPlan, levels: Sequence[MemoryLevel], flags: Sequence[str]) -> Artifacts:
    """The project of a placed plan: `network.cu` and the stand-in's header."""
    text, functions = _network(placed.plan, layout_of(placed))
    frozen = sum(packed(s.constant.dtype, s.constant.values).nbytes for s in placed.plan.frozen_slots)
    files = {NETWORK: text, STAND_IN: (TEMPLATES / STAND_IN).read_text(encoding="utf-8")}
    plan = placed.plan
    ports = (plan.input_slots, plan.output_slots)
    inputs, outputs = (tuple(plan.slots[slot].tensor.size_bytes for slot in slots) for slots in ports)
    return Artifacts(files, Parts(code=NETWORK), Interface(plan.name, inputs, outputs), frozen, functions)


def emit_network(plan: ExecutionPlan, layout: BufferLayout) -> str:
    """The text of `network.cu`; slots that the layout leaves out lie behind its bytes."""
    return _network(plan, layout)[0]


def _network(plan: ExecutionPlan, layout: BufferLayout) -> tuple[str, tuple[str, ...]]:
    places = place_all(plan, layout)
    texts: dict[str, str] = {}
    sources: list[Path] = []
    steps = [_step(plan, instruction, places, texts, sources) for instruction in plan.instructions]
    context = NetworkText(
        name=plan.name,
        tool=f"tilewright {VERSION}",
        sha256=plan.sha256,
        summary=f"{len(plan.instructions)} instructions, {layout.total_bytes} bytes of arena a sample, "
        f"{places.frozen_bytes} bytes of weights",
        stand_in=STAND_IN,
        arena_bytes=layout.total_bytes,
        sample_bytes=places.sample_bytes,
        frozen_words=max(places.frozen_bytes // 8, 1),
        frozen_text=_frozen_text(plan, places),
        sources=tuple(_helper(source.read_text(encoding="utf-8").strip()) for source in sources),
        functions=tuple(text.replace(_NAME, name).strip() for text, name in texts.items()),
        launches=tuple(_launches(plan, steps)),
        instruction_count=len(plan.instructions),
        inputs=tuple(_port(plan, places, n, s, "input") for n, s in enumerate(plan.input_slots)),
        outputs=tuple(_port(plan, places, n, s, "output") for n, s in enumerate(plan.output_slots)),
        moves=_moves(plan, places),
        slot_offsets=", ".join(map(str, places.slots)) or "0",
        slot_count=max(len(plan.slots), 1),
        most_regions=(len(plan.instructions) + 2) // 2,
    )
    return render(TEMPLATES / "network.cu.mako", m=context), tuple(texts.values())


def place_all(plan: ExecutionPlan, layout: BufferLayout) -> Places:
    """Slots of the layout as it says, those that it leaves out behind it; frozen slots one after the other."""
    slots, end = list(layout.offsets), align_up(max(layout.total_bytes, 1), OUTSIDE_ALIGN)
    for slot in plan.slots:
        root = view_root(plan, slot.index)
        if slots[slot.index] < 0 and slots[root] < 0:
            slots[root], end = end, align_up(end + plan.slots[root].tensor.size_bytes, OUTSIDE_ALIGN)
        if slots[slot.index] < 0:
            slots[slot.index] = slots[root] + view_shift(plan, slot.index)
    frozen, at = list[int](), 0
    for constant in (slot.constant for slot in plan.frozen_slots):
        frozen.append(at)
        at = align_up(at + packed(constant.dtype, constant.values).nbytes, FROZEN_ALIGN)
    return Places(tuple(slots), layout.scratch, tuple(frozen), end, at)


def _step(
    plan: ExecutionPlan, instruction: Instruction, places: Places, texts: dict[str, str], sources: list[Path]
) -> Step:
    """The call of an instruction; its function's text is added where it is new."""
    call, kernel = instruction.call, instruction.kernel
    for tensor in (*call.inputs, *call.outputs):
        if tensor is not None and is_half(tensor.dtype):
            raise UnsupportedNode(
                f"node '{instruction.name}' ({instruction.op_name}) computes in 16-bit floats",
                why=f"'{tensor.name}' is {tensor.dtype.value}, the platform 'cuda' has no kernel for it",
                node=instruction.name,
            )  # fmt: skip
    layouts: dict[str, Layout] = {slot.tensor.name: slot.layout for slot in plan.slots}
    listed = parameters(plan, instruction)
    restrict = not kernel.in_place(call)
    context = kernel.context(Operands(call, layouts))
    pointers = ", ".join(p.text(restrict) for p in listed) or "void"
    function = Function(_NAME, pointers, "restrict ", storage=_STORAGE)
    text = render(kernel.template, f=function, k=context)
    if text not in texts:
        texts[text] = f"{plan.name}_{kernel.name.lower()}_{len(texts)}"
    sources += [s for s in kernel.sources if s not in sources and s.name not in SKIPPED_SOURCES]
    elements = getattr(context, "elements", 1) if kernel.platform == "cuda" else 1
    first = ("element",) if kernel.platform == "cuda" else ()
    arguments = ", ".join((*first, *_arguments(plan, instruction, places)))
    shapes = " -> ".join(
        ", ".join(shape_text(plan.slots[s].tensor) for s in group if s >= 0) or "constants"
        for group in (instruction.inputs, instruction.outputs)
    )
    return Step(
        instruction.index, texts[text], arguments, elements,
        f"{safe(instruction.op_name)} '{safe(instruction.name)}': {shapes}",
    )  # fmt: skip


def _arguments(plan: ExecutionPlan, instruction: Instruction, places: Places) -> list[str]:
    arguments = [f"({_type(plan, s)} const *)(memory + {places.slots[s]})" for s in instruction.inputs if s >= 0]
    arguments += [f"({_type(plan, s)} *)(memory + {places.slots[s]})" for s in instruction.outputs]
    for index in instruction.frozen:
        kind = C_TYPES[plan.frozen_slots[index].constant.dtype]
        arguments.append(f"({kind} const *)(frozen + {places.frozen[index]})")
    if instruction.scratch_bytes:
        arguments.append(f"memory + {places.scratch[instruction.index]}")
    return arguments


def _type(plan: ExecutionPlan, slot: int) -> str:
    return C_TYPES[plan.slots[slot].tensor.dtype]


def _launches(plan: ExecutionPlan, steps: Sequence[Step]) -> list[Launch]:
    """Groups of the plan whose members have the same number of elements, all others by themselves."""
    ends = {low: high for low, high in plan.groups}
    launches, at = list[Launch](), 0
    while at < len(steps):
        end = ends.get(at, at + 1)
        members = tuple(steps[at:end])
        whole = all(plan.instructions[s.index].kernel.platform == "cuda" for s in members)
        if len(members) > 1 and (not whole or len({s.elements for s in members}) > 1):
            launches += [Launch(s.index, s.index + 1, s.elements, (s,)) for s in members]
        else:
            launches.append(Launch(at, end, members[0].elements, members))
        at = end
    return launches


def _helper(source: str) -> str:
    """A C file that kernels share, its functions and tables on the device; a network may need only some of them."""
    lines = source.splitlines()
    on_device = f"[[maybe_unused]] {_STORAGE}"
    return "\n".join(line.replace("static", on_device, 1) if line.startswith("static ") else line for line in lines)


def _frozen_text(plan: ExecutionPlan, places: Places) -> str:
    """All constants as words of eight bytes, little endian."""
    memory = np.zeros(max(places.frozen_bytes // 8, 1) * 8, np.uint8)
    for offset, constant in zip(places.frozen, (slot.constant for slot in plan.frozen_slots), strict=True):
        data = np.frombuffer(np.ascontiguousarray(packed(constant.dtype, constant.values)).tobytes(), np.uint8)
        memory[offset : offset + data.size] = data
    words = [f"{word:#x}ull" for word in memory.view("<u8").tolist()]
    return ",\n    ".join(", ".join(words[i : i + 6]) for i in range(0, len(words), 6))


def _port(plan: ExecutionPlan, places: Places, index: int, slot: int, word: str) -> Port:
    tensor = plan.slots[slot].tensor
    name = plan.output_names[index] if word == "output" and plan.output_names else tensor.name
    return Port(index, places.slots[slot], tensor.size_bytes, f"{safe(name)}, {shape_text(tensor)}")


def _moves(plan: ExecutionPlan, places: Places) -> tuple[StateMove, ...]:
    made = {slot for instruction in plan.instructions for slot in instruction.outputs}
    for pair in plan.state:
        if view_root(plan, pair.source) not in made:
            raise UnsupportedNode(
                f"state '{plan.slots[pair.state].tensor.name}' takes what no instruction makes",
                why="copies between states have no order", fix="compute the next state, for instance by an Add",
            )  # fmt: skip
    return tuple(
        StateMove(places.slots[p.source], places.slots[p.state], plan.slots[p.state].tensor.size_bytes)
        for p in plan.state
    )
