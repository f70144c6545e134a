"""The tiled NumPy executor: runs schedules tile by tile from copies of the boxes alone.

What a tile was not given holds noise, what was not loaded again holds what was there before, and of every result only
the box of the tile is kept. So an output that equals the untiled one shows that boxes, halos, reloads, chains and
stores are right. It computes every tile on operands of full size: an executor for tests, not for speed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tilewright.errors import UsageError
from tilewright.model import Array
from tilewright.ops.index.nest import Box
from tilewright.plan.execute import Interpreter, evaluate_call, slot_value
from tilewright.plan.plan import ExecutionPlan, Instruction
from tilewright.tiling.schedule import Operand, TileSchedule, TileStep


def run(plan: ExecutionPlan, inputs: Sequence[Array], seed: int = 0) -> tuple[Array, ...]:
    """The outputs of one run, in the model's order; instructions without a schedule run whole."""
    if len(inputs) != len(plan.input_slots):
        raise UsageError(f"the plan takes {len(plan.input_slots)} inputs", why=f"{len(inputs)} were given")
    values = dict(zip(plan.input_slots, inputs, strict=True))
    noise = np.random.default_rng(seed)
    _Tiled(plan, values, noise).interpret(plan.instructions)
    return tuple(slot_value(plan, values, slot) for slot in plan.output_slots)


class _Tiled(Interpreter):
    """Instructions with a schedule run by it, those of its chain with them."""

    def __init__(self, plan: ExecutionPlan, values: dict[int, Array], noise: np.random.Generator) -> None:
        super().__init__(plan, values)
        self.noise = noise
        self.by_name = {instruction.name: instruction for instruction in plan.instructions}

    def execute(self, instruction: Instruction) -> None:
        """One instruction whole, or a chain tile by tile."""
        if instruction.fused_into:
            return
        if instruction.schedule is not None:
            members = [self.by_name[name] for name in instruction.schedule.nodes]
            if instruction.schedule.starts:  # whole, one after the other
                for member in members:
                    super().execute(member)
                return
            _Tiles(self.plan, self.values, instruction.schedule, members, self.noise).run()
        else:
            super().execute(instruction)


class _Tiles:
    """One schedule at work: `buffers` are the compute level, each a box and its values."""

    def __init__(
        self, plan: ExecutionPlan, values: dict[int, Array], schedule: TileSchedule, members: Sequence[Instruction],
        noise: np.random.Generator,
    ) -> None:  # fmt: skip
        self.plan, self.values, self.schedule, self.members, self.noise = plan, values, schedule, members, noise
        self.buffers: dict[str, tuple[Box, Array]] = {}
        self.loaded: dict[str, Array] = {}

    def run(self) -> None:
        """All steps; results are in `values` afterwards."""
        last = self.members[-1]
        for slot in last.outputs:
            self.values[slot] = self.noisy(slot)
        for step in self.schedule.steps():
            self.load(step)
            for number, computed in enumerate(step.computed):
                if computed:
                    self.compute(step, number)
            for move in step.stores:
                operand = self.schedule.operand(move.key)
                box, part = self.buffers[move.key]
                whole = self.values[last.outputs[operand.index]]
                whole.reshape(operand.shape)[_slices(box)] = part

    def load(self, step: TileStep) -> None:
        """Bring in what changed; constants are the kernels' own and their codes are not played."""
        for number, stage in enumerate(self.schedule.stages):
            for operand in stage.operands:
                moved = any(move.key == operand.key for move in step.loads)
                if operand.kind == "input" and moved:
                    source = slot_value(self.plan, self.values, self.members[number].inputs[operand.index])
                    box = step.boxes[operand.key].box
                    part = source.reshape(operand.shape)[_slices(box)].copy()
                    self.buffers[operand.key] = box, part
                    if stage.adds:
                        slot = self.members[number].inputs[operand.index]
                        self.loaded.setdefault(operand.key, self.noisy(slot).reshape(operand.shape))[_slices(box)] = (
                            part
                        )

    def compute(self, step: TileStep, number: int) -> None:
        """One tile of one stage, from its buffers."""
        member = self.members[number]
        arrays: list[Array | None] = [None] * len(member.inputs)
        results: list[Operand] = []
        for operand in self.schedule.stages[number].operands:
            if operand.kind == "output" or (operand.kind == "local" and operand.index < 0):
                results.append(operand)
            elif operand.kind != "constant":
                slot = member.inputs[operand.index]
                whole = self.noisy(slot)
                box, part = self.buffers[operand.key]
                whole.reshape(operand.shape)[_slices(box)] = part
                if operand.key in self.loaded:  # a sum over tiles is made again of all that was loaded for them
                    whole = self.loaded[operand.key].reshape(whole.shape)
                arrays[operand.index] = whole
        made = evaluate_call(member.call, arrays)
        for operand in results:
            box = step.boxes[operand.key].box
            whole = made[max(operand.index, 0)].reshape(operand.shape)
            self.buffers[operand.key] = box, whole[_slices(box)].copy()

    def noisy(self, slot: int) -> Array:
        """A tensor of a slot's shape that holds noise."""
        tensor = self.plan.slots[slot].tensor
        kind = tensor.dtype.numpy
        if tensor.dtype.is_float:
            return self.noise.normal(size=tensor.shape).astype(kind)
        low, high = tensor.dtype.range
        return self.noise.integers(low, high, tensor.shape, endpoint=True).astype(kind)


def _slices(box: Box) -> tuple[slice, ...]:
    return tuple(slice(low, high) for low, high in box)
