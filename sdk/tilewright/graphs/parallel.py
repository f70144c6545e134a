"""A forward run whose independent instructions run side by side; the same results as one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from tilewright.errors import TilewrightError, UsageError
from tilewright.model import Array
from tilewright.plan.execute import evaluate_call, slot_value
from tilewright.plan.plan import ExecutionPlan, Instruction, view_root


def parallel_forward(plan: ExecutionPlan, inputs: Sequence[Array], workers: int = 4) -> tuple[Array, ...]:
    """Every slot's logical value. An instruction starts when all that it reads is there; the first error wins.

    Instructions without operands at run time start at once. State slots take `inputs` behind the plan's own.
    """
    expected = (*plan.input_slots, *plan.state_slots)
    if len(inputs) != len(expected):
        raise UsageError(f"the plan takes {len(expected)} inputs", why=f"{len(inputs)} were given")
    values: dict[int, Array] = dict(zip(expected, inputs, strict=True))
    maker = {slot: i.index for i in plan.instructions for slot in i.outputs}
    waiting = {i.index: _before(plan, i, maker) for i in plan.instructions}
    with ThreadPoolExecutor(max(workers, 1)) as pool:
        running: dict[Future[tuple[Array, ...]], Instruction] = {}
        while waiting or running:
            for index in [index for index, needed in waiting.items() if not needed]:
                del waiting[index]
                instruction = plan.instructions[index]
                arrays = [_value(plan, values, slot) if slot >= 0 else None for slot in instruction.inputs]
                running[pool.submit(evaluate_call, instruction.call, arrays)] = instruction
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in sorted(done, key=lambda f: running[f].index):
                instruction = running.pop(future)
                values.update(zip(instruction.outputs, _result(future, instruction), strict=True))
                for needed in waiting.values():
                    needed.discard(instruction.index)
    return tuple(_value(plan, values, slot.index) for slot in plan.slots)


def _before(plan: ExecutionPlan, instruction: Instruction, maker: dict[int, int]) -> set[int]:
    roots = {view_root(plan, slot) for slot in instruction.inputs if slot >= 0}
    return {maker[root] for root in roots if root in maker}


def _value(plan: ExecutionPlan, values: dict[int, Array], slot: int) -> Array:
    root = view_root(plan, slot)
    return slot_value(plan, {root: values[root]}, slot)


def _result(future: Future[tuple[Array, ...]], instruction: Instruction) -> tuple[Array, ...]:
    try:
        return future.result()
    except TilewrightError as error:
        error.add_note(f"in instruction {instruction.index} ({instruction.op_name})")
        raise
