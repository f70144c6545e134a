"""From a tiled graph to the execution plan: slots numbered in order of first appearance, constants frozen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from tilewright.binding.graph import BoundNode, Needs
from tilewright.ieee import ieee
from tilewright.model import Array, Model, State, Tensor
from tilewright.ops.requantize import quantise
from tilewright.plan.constants import Constants
from tilewright.plan.plan import ExecutionPlan, FrozenSlot, Instruction, Slot, StatePair
from tilewright.tiling.tiled_graph import TiledGraph


class _Slots:
    """Numbers tensors as they appear."""

    def __init__(self, tiled: TiledGraph) -> None:
        self.layouts = tiled.graph.layouts
        self.local = {name for name, home in tiled.homes.items() if not home}
        self.slots: list[Slot] = []
        self.by_name: dict[str, int] = {}

    def add(self, tensor: Tensor, storage: tuple[int, int] | None = None) -> int:
        """A new slot for the tensor."""
        index = len(self.slots)
        self.slots.append(Slot(index, tensor, self.layouts[tensor.name], storage, tensor.name in self.local))
        self.by_name[tensor.name] = index
        return index


@ieee
def build(tiled: TiledGraph, *, constants: bool = True) -> ExecutionPlan:
    """One instruction per bound node that computes; views become slots that show another slot's bytes.

    Without `constants` nothing is packed: enough to ask about live ranges.
    """
    graph = tiled.graph
    slots = _Slots(tiled)
    inputs = {name: slots.add(graph.model.tensors[name]) for name in graph.model.inputs}
    frozen = Constants()
    errands = {e.node: last for last, schedule in tiled.schedules.items() for e in schedule.errands}
    instructions: list[Instruction] = []
    for bound in graph.nodes:
        if bound.kernel is None:
            slots.add(bound.call.outputs[0], (slots.by_name[bound.call.node.inputs[0]], 0))
        else:
            one = _instruction(tiled, bound, slots, frozen, len(instructions), constants)
            instructions.append(replace(one, errand_of=errands.get(one.name, "")))
    made = {name: slots.by_name[tensor] for name, tensor in zip(graph.output_names, graph.model.outputs, strict=True)}
    present = {state.present for state in graph.model.states}
    results = tuple(name for name in graph.output_names if name not in present)
    return ExecutionPlan(
        name=graph.model.name,
        instructions=tuple(instructions),
        slots=tuple(slots.slots),
        frozen_slots=tuple(frozen.slots),
        input_slots=tuple(inputs[name] for name in graph.model.given),
        output_slots=tuple(made[name] for name in results),
        output_names=results,
        sha256=graph.model.sha256,
        platform=graph.platform.name,
        home=tiled.home,
        compute_bytes=tiled.compute_bytes,
        stack_bytes=tiled.stack_bytes,
        state=tuple(_pair(graph.model, one, inputs, made) for one in graph.model.states),
        groups=_chains(instructions, sitting=False),
        sittings=_chains(instructions, sitting=True),
    )


def _pair(model: Model, state: State, inputs: Mapping[str, int], made: Mapping[str, int]) -> StatePair:
    past, present = state.in_file
    return StatePair(
        inputs[state.past], made[state.present], initial=first_value(model.tensors[state.past], state), past=past,
        present=present, part=state.part, window=state.window,
    )  # fmt: skip


def first_value(tensor: Tensor, state: State) -> Array | None:
    """What a state holds before the first call, as the network holds it; None for zero bytes."""
    codes = tensor.quantisation
    if state.initial is None:
        if codes is None or not any(codes.zero_point):
            return None
        return quantise(np.zeros(tensor.shape, np.float32), codes, tensor.dtype)
    value = state.initial
    if codes is not None and value.dtype != tensor.dtype.numpy:
        value = quantise(value, codes, tensor.dtype)
    return value if value.any() else None


def _chains(instructions: Sequence[Instruction], *, sitting: bool) -> tuple[tuple[int, int], ...]:
    """Fused chains, or sittings, as runs of instructions [first, end)."""
    at = {instruction.name: instruction.index for instruction in instructions}
    sit = {i.name for i in instructions if i.schedule is not None and i.schedule.starts}
    first: dict[int, int] = {}
    for instruction in instructions:
        if instruction.fused_into and (instruction.fused_into in sit) == sitting:
            last = at[instruction.fused_into]
            first[last] = min(first.get(last, last), instruction.index)
    return tuple((low, last + 1) for last, low in sorted(first.items()))


def _instruction(
    tiled: TiledGraph, bound: BoundNode, slots: _Slots, frozen: Constants, index: int, constants: bool
) -> Instruction:
    call, kernel = bound.call, bound.kernel
    assert kernel is not None
    inputs = tuple(
        slots.by_name[t.name] if t is not None and i not in call.constants else -1 for i, t in enumerate(call.inputs)
    )
    outputs = tuple(slots.add(tensor) for tensor in call.outputs)
    numbers = list[int]()
    for constant in kernel.constants(tiled.graph.operands(bound)) if constants else ():
        home = tiled.constant_homes.get((call.node.name, constant.name), "")
        streamed = bool(home) and call.node.name in tiled.streamed
        numbers.append(frozen.add(FrozenSlot(-1, call.node.name, constant, home, streamed)))
    tiles = call.node.name in tiled.schedules or call.node.name in tiled.fused
    needs = Needs(0, ()) if tiles else bound.needs(tiled.graph.layouts)
    return Instruction(
        index=index,
        call=call,
        kernel=kernel,
        inputs=inputs,
        outputs=outputs,
        frozen=tuple(numbers),
        scratch_bytes=needs.scratch_bytes,
        overlaps=needs.overlaps,
        schedule=tiled.schedules.get(call.node.name),
        fused_into=tiled.fused.get(call.node.name, ""),
    )
