"""The execution plan: a flat list of instructions over numbered slots. Every backend consumes it.

A slot is a tensor that exists at run time; a frozen slot holds a constant as its kernel wants it in memory. A view is
no instruction: its slot names the slot whose bytes it shows (`storage`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from tilewright.errors import UsageError
from tilewright.layout import Layout
from tilewright.model import Array, Attribute, Part, Shape, Tensor, Window
from tilewright.ops.operator import Call
from tilewright.platform import Constant, Kernel
from tilewright.tiling.schedule import TileSchedule


@dataclass(frozen=True)
class Slot:
    """A numbered tensor. `storage` is (slot, byte offset) where the slot is a view into another, else None.

    A `local` slot only lives tile by tile inside a fused chain and has no memory of its own.
    """

    index: int
    tensor: Tensor
    layout: Layout
    storage: tuple[int, int] | None = None
    local: bool = False


@dataclass(frozen=True)
class FrozenSlot:
    """A numbered constant; `node` is the first node that reads it, `constant` its bytes.

    `home` is the level that it is copied to, "" where it is read where it rests; a `streamed` one is copied before
    every run of its node, any other once, when the network is set up.
    """

    index: int
    node: str
    constant: Constant
    home: str = ""
    streamed: bool = False


@dataclass(frozen=True)
class PartCopy:
    """Bytes that an aliasing instruction still has to move: operand `operand` to byte `start` of its result.

    With `frozen` given they are those of a frozen slot.
    """

    operand: int
    start: int
    size_bytes: int
    frozen: int | None = None


@dataclass(frozen=True)
class Fill:
    """`size_bytes` bytes from `start` of a result that all get the value `byte`."""

    start: int
    size_bytes: int
    byte: int


@dataclass(frozen=True)
class Aliasing:
    """How an instruction computes nothing: its operands and results are the same bytes.

    A pair (operand, result, shift) says that the operand starts `shift` bytes behind the start of the result: the
    parts of a Concat lie in its result, those of a Split in its operand. What is in no pair, is copied or filled.
    """

    pairs: tuple[tuple[int, int, int], ...]
    copies: tuple[PartCopy, ...] = ()
    fills: tuple[Fill, ...] = ()


@dataclass(frozen=True)
class Instruction:
    """One bound node. `inputs` are slots of the run-time operands in operand order, -1 for an omitted or constant one.

    `frozen` are indices into the plan's frozen slots, in the order in which the kernel declared them. `fused_into` is
    the name of the instruction whose schedule runs this one as one of its stages, empty for all others; `errand_of`
    that of the instruction during whose sitting the driver runs this one. With `aliasing` the kernel is not called.
    """

    index: int
    call: Call
    kernel: Kernel
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    frozen: tuple[int, ...]
    scratch_bytes: int
    overlaps: tuple[tuple[int, int, int], ...] = ()
    schedule: TileSchedule | None = None
    fused_into: str = ""
    aliasing: Aliasing | None = None
    errand_of: str = ""

    @property
    def name(self) -> str:
        """The node's name."""
        return self.call.node.name

    @property
    def op_name(self) -> str:
        """The operator's name."""
        return self.call.node.op

    @property
    def extra_args(self) -> Mapping[str, Attribute]:
        """The node's attributes."""
        return self.call.node.attributes


@dataclass(frozen=True)
class StatePair:
    """A slot that lives from run to run: after every run it takes the value of `source` (a key/value cache).

    `within` are slots that lie in the bytes of the state, the source among them: then the next value is written over
    the last one, and nothing is copied. `initial` is what the first run reads, in the slot's own type; None for zero.
    `past` and `present` are the input and the output in the file, of which a `part` may be meant, or a wider `window`.
    """

    state: int
    source: int
    within: tuple[int, ...] = ()
    initial: Array | None = field(default=None, compare=False)
    past: str = ""
    present: str = ""
    part: Part | None = None
    window: Window | None = None

    @property
    def in_place(self) -> bool:
        """True where the next value is written over the last one."""
        return self.source in self.within


@dataclass(frozen=True)
class ExecutionPlan:
    """Instructions in order, slots, constants; `input_slots` and `output_slots` in the model's order.

    `state` are the slots that keep a value between runs; they are no inputs. `groups` are runs of instructions
    [first, end) that a backend computes in one sweep: for lifetimes each is one instruction. Those of `sittings` run in
    one call too, but at home one after the other.
    """

    name: str
    instructions: tuple[Instruction, ...]
    slots: tuple[Slot, ...]
    frozen_slots: tuple[FrozenSlot, ...]
    input_slots: tuple[int, ...]
    output_slots: tuple[int, ...]
    output_names: tuple[str, ...]
    sha256: str
    platform: str
    home: str = ""
    compute_bytes: int = 0
    stack_bytes: int = 0
    state: tuple[StatePair, ...] = ()
    groups: tuple[tuple[int, int], ...] = ()
    sittings: tuple[tuple[int, int], ...] = ()

    @cached_property
    def calls(self) -> tuple[tuple[int, int], ...]:
        """Runs of instructions [first, end) that are one call: they run together or not at all."""
        return tuple(sorted((*self.groups, *self.sittings)))

    @property
    def instruction_count(self) -> int:
        """Number of instructions."""
        return len(self.instructions)

    @property
    def slot_count(self) -> int:
        """Number of slots."""
        return len(self.slots)

    @property
    def slot_shapes(self) -> tuple[Shape, ...]:
        """The static shape of every slot."""
        return tuple(slot.tensor.shape for slot in self.slots)

    @cached_property
    def tile_scratch(self) -> Mapping[str, int]:
        """Bytes of scratch in the compute level of every node that a tile schedule runs."""
        schedules = (i.schedule for i in reversed(self.instructions) if i.schedule is not None)
        return {stage.node: stage.scratch_bytes for schedule in schedules for stage in reversed(schedule.stages)}

    @cached_property
    def seated(self) -> frozenset[str]:
        """Names of the instructions that are stages of sittings."""
        schedules = (i.schedule for i in self.instructions if i.schedule is not None and i.schedule.starts)
        return frozenset(name for schedule in schedules for name in schedule.nodes)

    @cached_property
    def handed_on(self) -> frozenset[tuple[str, int]]:
        """Operands, by instruction and place, that stages of sittings find in buffers that earlier ones have filled."""
        schedules = (i.schedule for i in self.instructions if i.schedule is not None and i.schedule.starts)
        stages = (stage for schedule in schedules for stage in schedule.stages)
        return frozenset((stage.node, o.index) for stage in stages for o in stage.operands if o.kind == "local")

    @property
    def constants_apart(self) -> Mapping[str, int]:
        """Bytes of the constants that rest in a memory of their engine's, by level."""
        sizes: dict[str, int] = {}
        for slot in self.frozen_slots:
            if level := slot.constant.level:
                sizes[level] = sizes.get(level, 0) + slot.constant.size_bytes
        return sizes

    @property
    def state_slots(self) -> tuple[int, ...]:
        """The slots that live from run to run."""
        return tuple(pair.state for pair in self.state)

    @property
    def output_slot(self) -> int:
        """The only output; UsageError where there are several."""
        if len(self.output_slots) != 1:
            raise UsageError(f"the plan has {len(self.output_slots)} outputs", fix="ask for 'output_slots'")
        return self.output_slots[0]

    def instruction_op_name(self, index: int) -> str:
        """The operator of instruction `index`; IndexError outside of the plan."""
        return self._instruction(index).op_name

    def instruction_output_index(self, index: int) -> int:
        """The first result's slot of instruction `index`; IndexError outside of the plan."""
        return self._instruction(index).outputs[0]

    def _instruction(self, index: int) -> Instruction:
        if not 0 <= index < len(self.instructions):
            raise IndexError(f"instruction {index} of {len(self.instructions)}")
        return self.instructions[index]


def caller_of(plan: ExecutionPlan, instruction: Instruction) -> Instruction:
    """The instruction whose call runs this one: that of its schedule, or itself."""
    caller = instruction.fused_into or instruction.errand_of
    if not caller:
        return instruction
    return next(one for one in plan.instructions if one.name == caller)


def view_root(plan: ExecutionPlan, slot: int) -> int:
    """The slot whose bytes a slot shows; itself where it is no view."""
    while (storage := plan.slots[slot].storage) is not None:
        slot = storage[0]
    return slot
