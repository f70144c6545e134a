"""A plan under way: slots that hold values, in memory of a fixed layout where one is asked for.

`run`, `run_batched` and a range are the same path: the loop of `plan.execute`, with slots of fixed places.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tilewright.errors import TilewrightError, UsageError
from tilewright.memory.buffer_layout import ALIGN_BYTES, BufferArena, BufferLayout, Policy, compute_buffer_layout
from tilewright.model import Array
from tilewright.plan.execute import Interpreter, first_value, slot_value
from tilewright.plan.liveness import last_use
from tilewright.plan.plan import ExecutionPlan, Instruction
from tilewright.plan.schedule import BatchSchedule

Megakernel = Callable[[Sequence[Array]], Sequence[Array]]


class PlanRunner(Interpreter):
    """Runs one plan, again and again; not for several threads at once.

    Results share memory with the slots and change with the next run, unless `copy` is asked for. `on_last_use` is told
    slot and bytes of what nothing reads any more.
    """

    def __init__(
        self, plan: ExecutionPlan, *, copy: bool = False, on_last_use: Callable[[int, int], None] | None = None
    ) -> None:
        super().__init__(plan, {})
        self.copy, self.on_last_use = copy, on_last_use
        self.arena: BufferArena | None = None
        self.last_use = last_use(plan)
        self.dispatches = 0
        self._megakernel: Megakernel | None = None
        self._state: dict[int, Array] = {}
        self.reset_stateful()

    # ------------------------------------------------------------------ memory
    def preallocate_buffers(self, policy: Policy = "packed", align: int = ALIGN_BYTES) -> BufferLayout:
        """Give every slot a fixed place; from now on results are written there."""
        layout = compute_buffer_layout(self.plan, policy, align)
        self.arena = BufferArena(self.plan, layout)
        return layout

    @property
    def has_preallocated_buffers(self) -> bool:
        """True where slots have fixed places."""
        return self.arena is not None

    def reset_stateful(self) -> None:
        """Every state slot holds its first value again."""
        self._state = {pair.state: first_value(self.plan, pair) for pair in self.plan.state}

    def snapshot_state(self) -> Callable[[], None]:
        """A function that puts the state back as it is now."""
        state = {slot: value.copy() for slot, value in self._state.items()}

        def restore() -> None:
            self._state = {slot: value.copy() for slot, value in state.items()}

        return restore

    def scratch_slot(self, slot: int) -> Array | None:
        """The logical value of a slot, None where nothing has written it; IndexError outside of the plan."""
        self._known(slot)
        try:
            return self._value(slot)
        except KeyError:
            return None

    def set_scratch_slot(self, slot: int, array: Array) -> None:
        """Write a slot; UsageError for another shape or type, IndexError outside of the plan."""
        tensor = self.plan.slots[self._known(slot)].tensor
        if array.shape != tensor.shape or array.dtype != tensor.dtype.numpy:
            raise UsageError(
                f"slot {slot} is {array.dtype}{list(array.shape)}",
                why=f"the plan says {tensor.dtype.numpy}{list(tensor.shape)}", tensor=tensor.name,
            )  # fmt: skip
        if self.arena is None:
            self.values[slot] = array
        else:
            self.arena.set(slot, array)
            self.values[slot] = self.arena.value(slot)

    # ------------------------------------------------------------------ running
    def set_megakernel_fn(self, function: Megakernel | None) -> None:
        """Let `run` call `function` instead of the loop; None takes the loop again."""
        self._megakernel = function

    def prepare_slots(self, *inputs: Array) -> None:
        """Forget every value, then set inputs and state. UsageError for a wrong number, shape or type."""
        plan = self.plan
        if len(inputs) != len(plan.input_slots):
            raise UsageError(f"the plan takes {len(plan.input_slots)} inputs", why=f"{len(inputs)} were given")
        self.values = {}
        for slot, array in zip(plan.input_slots, inputs, strict=True):
            self.set_scratch_slot(slot, array)
        for slot, array in self._state.items():
            self.set_scratch_slot(slot, array)

    def run(self, *inputs: Array) -> tuple[Array, ...]:
        """One run: by the megakernel where one is set, else by the loop."""
        if self._megakernel is None:
            return self.run_instructions(*inputs)
        self.prepare_slots(*inputs)
        return tuple(self._megakernel(inputs))

    def run_instructions(self, *inputs: Array) -> tuple[Array, ...]:
        """One run by the loop, a megakernel or not."""
        self.prepare_slots(*inputs)
        self.run_instruction_range(0, len(self.plan.instructions))
        return self._finish()

    def run_batched(self, schedule: BatchSchedule, *inputs: Array) -> tuple[Array, ...]:
        """One run in which each group counts as one dispatch."""
        if schedule.total_instructions != len(self.plan.instructions):
            raise UsageError(
                f"the schedule is for {schedule.total_instructions} instructions",
                why=f"the plan has {len(self.plan.instructions)}", fix="schedule this plan",
            )  # fmt: skip
        self.prepare_slots(*inputs)
        at = 0
        for group in schedule.groups:
            self.run_instruction_range(at, group.start)
            try:
                self.interpret(self.plan.instructions[group.start : group.end])
            except TilewrightError as error:
                error.add_note(f"in batch group [{group.start}, {group.end})")
                raise
            self.dispatches += 1
            at = group.end
        self.run_instruction_range(at, len(self.plan.instructions))
        return self._finish()

    def run_instruction_range(self, start: int, end: int) -> None:
        """Instructions [start, end) on the slots as they are; IndexError outside of the plan."""
        if not 0 <= start <= end <= len(self.plan.instructions):
            raise IndexError(f"instructions [{start}, {end}) of {len(self.plan.instructions)}")
        self.interpret(self.plan.instructions[start:end])
        self.dispatches += end - start

    def advance_state(self) -> None:
        """Every state takes the value that this run has made for it."""
        self._state = {pair.state: np.array(self._value(pair.source)) for pair in self.plan.state}

    def output_tensors(self) -> tuple[Array, ...]:
        """What the output slots hold now."""
        tensors = tuple(self._value(slot) for slot in self.plan.output_slots)
        return tuple(np.array(value) for value in tensors) if self.copy else tensors

    def _finish(self) -> tuple[Array, ...]:
        results = self.output_tensors()
        self.advance_state()
        return results

    # ------------------------------------------------------------------ steps of the loop
    def execute(self, instruction: Instruction) -> None:
        """One instruction, then what it was the last to read."""
        super().execute(instruction)
        self._tell_last_use(instruction)

    def evaluate(self, instruction: Instruction, arrays: Sequence[Array | None]) -> tuple[Array, ...]:
        """The results of an instruction; an error says which one it was."""
        try:
            return super().evaluate(instruction, arrays)
        except TilewrightError as error:
            error.add_note(f"in instruction {instruction.index} ({instruction.op_name})")
            raise

    def store(self, slot: int, result: Array) -> None:
        """Write a result to its place."""
        self.set_scratch_slot(slot, result)

    def operand(self, instruction: Instruction, slot: int) -> Array:
        """What an instruction reads; UsageError where nothing has written it."""
        try:
            return self._value(slot)
        except KeyError:
            raise UsageError(
                f"instruction {instruction.index} ({instruction.op_name}) reads slot {slot}, which holds nothing",
                fix="prepare the slots, and run the instructions before it",
            ) from None

    def _value(self, slot: int) -> Array:
        if self.plan.slots[slot].storage is None:
            return self.values[slot]
        values: dict[int, Array] = {}
        root = slot
        while (storage := self.plan.slots[root].storage) is not None:
            root = storage[0]
        values[root] = self.values[root]
        return slot_value(self.plan, values, slot)

    def _tell_last_use(self, instruction: Instruction) -> None:
        if self.on_last_use is not None:
            for slot in dict.fromkeys(instruction.inputs):
                if slot >= 0 and self.last_use[slot] == instruction.index:
                    self.on_last_use(slot, self.plan.slots[slot].tensor.size_bytes)

    def _known(self, slot: int) -> int:
        if not 0 <= slot < len(self.plan.slots):
            raise IndexError(f"slot {slot} of {len(self.plan.slots)}")
        return slot
