"""The execution plan: a flat list of instructions over numbered slots. Every backend consumes it.

A slot is a tensor that exists at run time; a frozen slot holds a constant as its kernel wants it in memory. A view is
no instruction: its slot names the slot whose bytes it shows (`storage`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tilewright.binding.graph import BoundGraph
from tilewright.layout import Layout
from tilewright.model import Tensor
from tilewright.ops.operator import Call
from tilewright.platform import Constant, Kernel
from tilewright.tiling.schedule import TileSchedule


@dataclass(frozen=True)
class TiledGraph:
    """A bound graph with a tile schedule by node name; nodes that run whole have none.

    A fused chain has one schedule, under its last node's name; `fused` maps its other nodes to that name. `homes` maps
    tensors to the level that they lie in (a tensor that only lives inside a chain: ""), `constant_homes` maps
    (node, constant) to the level where that constant lies at rest. Both are empty where there is one level.
    """

    graph: BoundGraph
    schedules: Mapping[str, TileSchedule]
    fused: Mapping[str, str] = field(default_factory=dict)
    homes: Mapping[str, str] = field(default_factory=dict)
    constant_homes: Mapping[tuple[str, str], str] = field(default_factory=dict)


@dataclass(frozen=True)
class Slot:
    """A numbered tensor. `storage` is (slot, byte offset) where the slot is a view into another, else None."""

    index: int
    tensor: Tensor
    layout: Layout
    storage: tuple[int, int] | None = None


@dataclass(frozen=True)
class FrozenSlot:
    """A numbered constant; `node` is the node that reads it, `constant` its bytes."""

    index: int
    node: str
    constant: Constant


@dataclass(frozen=True)
class Instruction:
    """One bound node. `inputs` are slots of the run-time operands in operand order, -1 for an omitted or constant one.

    `frozen` are indices into the plan's frozen slots, in the order in which the kernel declared them. `fused_into` is
    the name of the instruction whose schedule runs this one as one of its stages, empty for all others.
    """

    index: int
    call: Call
    kernel: Kernel
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    frozen: tuple[int, ...]
    scratch_bytes: int
    schedule: TileSchedule | None = None
    fused_into: str = ""

    @property
    def name(self) -> str:
        """The node's name."""
        return self.call.node.name


@dataclass(frozen=True)
class ExecutionPlan:
    """Instructions in order, slots, constants; `input_slots` and `output_slots` in the model's order."""

    name: str
    instructions: tuple[Instruction, ...]
    slots: tuple[Slot, ...]
    frozen_slots: tuple[FrozenSlot, ...]
    input_slots: tuple[int, ...]
    output_slots: tuple[int, ...]
    output_names: tuple[str, ...]
    sha256: str
    platform: str
