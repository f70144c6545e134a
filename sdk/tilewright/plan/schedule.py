"""Runs of elementwise instructions that a backend can compute in one sweep, and what of a plan can be captured."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, replace

from tilewright.errors import UsageError
from tilewright.plan.plan import ExecutionPlan, Instruction, view_root

NON_CAPTURABLE: frozenset[str] = frozenset()
"""Operators that must run on the host between regions. Shapes are static here, so none has to by itself."""


@dataclass(frozen=True)
class BatchGroup:
    """Instructions [start, end) that are one unit."""

    start: int
    end: int

    @property
    def size(self) -> int:
        """Number of instructions."""
        return self.end - self.start


@dataclass(frozen=True)
class BatchSchedule:
    """Groups, ascending and apart; instructions outside of them run one by one."""

    groups: tuple[BatchGroup, ...]
    total_instructions: int
    batched_count: int

    @property
    def group_count(self) -> int:
        """Number of groups."""
        return len(self.groups)

    @property
    def coverage(self) -> float:
        """Part of the instructions that lies in groups; 0 for an empty plan."""
        return self.batched_count / self.total_instructions if self.total_instructions else 0.0


def schedule_batches(plan: ExecutionPlan, min_batch_size: int = 2, batchable: Set[str] | None = None) -> BatchSchedule:
    """Maximal runs of batchable instructions whose results have one shape and one layout.

    What a member reads of another has that shape and layout too, so element i of every member only needs element i.
    `batchable` are names of operators, by default those that say it of themselves.
    """
    if min_batch_size < 1:
        raise UsageError(f"a smallest group of {min_batch_size} instructions", fix="use a number from 1")
    groups: list[BatchGroup] = []
    start = 0
    while start < len(plan.instructions):
        end = start
        while end < len(plan.instructions) and _joins(plan, start, end, batchable):
            end += 1
        if end - start >= min_batch_size:
            groups.append(BatchGroup(start, end))
        start = max(end, start + 1)
    return BatchSchedule(tuple(groups), len(plan.instructions), sum(group.size for group in groups))


def _joins(plan: ExecutionPlan, start: int, index: int, batchable: Set[str] | None) -> bool:
    """True where instruction `index` can be computed in the same sweep as those from `start` on."""
    instruction = plan.instructions[index]
    if not _is_batchable(instruction, batchable) or len(instruction.outputs) != 1 or instruction.fused_into:
        return False
    here, first = (plan.slots[i.outputs[0]] for i in (instruction, plan.instructions[start]))
    if (here.tensor.shape, here.layout) != (first.tensor.shape, first.layout):
        return False
    made = {i.outputs[0] for i in plan.instructions[start:index]}
    for slot in instruction.inputs:
        if slot >= 0 and view_root(plan, slot) in made:
            read = plan.slots[slot]
            if slot not in made or (read.tensor.shape, read.layout) != (here.tensor.shape, here.layout):
                return False
    return True


def _is_batchable(instruction: Instruction, batchable: Set[str] | None) -> bool:
    if batchable is not None:
        return instruction.op_name in batchable
    operator = instruction.call.operator
    return operator is not None and operator.batchable


def with_groups(plan: ExecutionPlan, schedule: BatchSchedule) -> ExecutionPlan:
    """The plan that knows its groups, so that lives and layouts count each as one instruction."""
    return replace(plan, groups=tuple((group.start, group.end) for group in schedule.groups))


def apply_batch_schedule(
    plan: ExecutionPlan,
    start: int,
    end: int,
    schedule: BatchSchedule,
    non_capturable: Set[str] = NON_CAPTURABLE,
) -> tuple[int, int]:
    """The region [start, end) with every group that touches its border and can be captured; clamped to the plan."""
    count = len(plan.instructions)
    start, end = max(0, min(start, count)), max(0, min(end, count))

    def free(group: BatchGroup) -> bool:
        return not any(i.op_name in non_capturable for i in plan.instructions[group.start : group.end])

    for group in schedule.groups:
        if group.start <= end < group.end and free(group):
            end = group.end
    for group in reversed(schedule.groups):
        if group.start < start <= group.end and free(group):
            start = group.start
    return start, end


@dataclass(frozen=True)
class CaptureRegions:
    """Regions [start, end) that are captured; `count` is the number of all instructions."""

    regions: tuple[tuple[int, int], ...]
    count: int

    @property
    def captured(self) -> int:
        """Number of instructions inside of regions."""
        return sum(end - start for start, end in self.regions)

    @property
    def segments(self) -> tuple[tuple[int, int, int], ...]:
        """All instructions in order as (start, end, region), region -1 for what runs outside of any."""
        segments, at = list[tuple[int, int, int]](), 0
        for number, (start, end) in enumerate(self.regions):
            if at < start:
                segments.append((at, start, -1))
            segments.append((start, end, number))
            at = end
        return (*segments, (at, self.count, -1)) if at < self.count else tuple(segments)


def capture_regions(
    plan: ExecutionPlan, mode: str = "longest", non_capturable: Set[str] = NON_CAPTURABLE
) -> CaptureRegions:
    """`longest`: the longest run of capturable instructions, the first of equal ones; `all`: every run."""
    if mode not in ("longest", "all"):
        raise UsageError(f"regions '{mode}'", why="there is no such choice", fix="choose longest or all")
    runs, start = list[tuple[int, int]](), 0
    for index, instruction in enumerate([*plan.instructions, None]):
        if instruction is None or _stays_out(instruction, non_capturable):
            if index > start:
                runs.append((start, index))
            start = index + 1
    if mode == "longest" and runs:
        runs = [max(runs, key=lambda run: (run[1] - run[0], -run[0]))]
    return CaptureRegions(tuple(runs), len(plan.instructions))


def _stays_out(instruction: Instruction, non_capturable: Set[str]) -> bool:
    return instruction.op_name in non_capturable
