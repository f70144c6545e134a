"""The NumPy executor: runs a plan by the operators' own meaning. It is the reference that every backend must match."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tilewright.errors import UnsupportedError, UsageError
from tilewright.ieee import ieee
from tilewright.model import Array, DType, Tensor
from tilewright.ops.operator import Call
from tilewright.plan.plan import ExecutionPlan, Instruction, StatePair

MEMORY_LIMIT_BYTES = 1 << 30
"""What the tensors of one run may take together: every one is kept, as each is compared; a run peaks at some four times
its tensors, with the bytes that go to and from the target and ONNX Runtime's own."""


@ieee
def evaluate_call(call: Call, arrays: Sequence[Array | None]) -> tuple[Array, ...]:
    """The results of one call; constants are filled in. A chain is evaluated node by node. Infinities and NaN are
    results like any other, so NumPy does not warn of them.
    """
    if call.chain:
        values = chain_values(call, arrays)
        return tuple(values[tensor.name] for tensor in call.outputs)
    if call.operator is None:
        raise call.unsupported("the operator is not known")
    full = [call.constants.get(i, array) for i, array in enumerate(arrays)]
    results = call.operator.evaluate(_with_omitted(call), full)
    return tuple(
        # a scalar comes back as one axis
        np.ascontiguousarray(results[place], dtype=tensor.dtype.numpy).reshape(tensor.shape)
        for place, tensor in zip(call.present, call.outputs, strict=True)
    )


def chain_values(call: Call, arrays: Sequence[Array | None]) -> dict[str, Array]:
    """Every tensor of a chain by name, what it reads included."""
    values = {
        t.name: array for t, array in zip(call.inputs, arrays, strict=True) if t is not None and array is not None
    }
    for each in call.chain:
        operands = [None if t is None else values.get(t.name) for t in each.inputs]
        values.update(zip((t.name for t in each.outputs), evaluate_call(each, operands), strict=True))
    return values


def _with_omitted(call: Call) -> Call:
    """The call with a nameless scalar for every output that is omitted before another: operators count outputs."""
    if len(call.outputs) == len(call.node.outputs):
        return call
    named = dict(zip(call.present, call.outputs, strict=True))
    last = call.present[-1]
    return replace(call, outputs=tuple(named.get(i, Tensor("", DType.F32, ())) for i in range(last + 1)))


def check_memory(plan: ExecutionPlan) -> None:
    """UnsupportedError where the tensors of one run are more than `MEMORY_LIMIT_BYTES`; asked before any is made."""
    tensors = [slot.tensor for slot in plan.slots]
    total_bytes = sum(tensor.elements * tensor.dtype.numpy.itemsize for tensor in tensors)
    if total_bytes > MEMORY_LIMIT_BYTES:
        largest = max(tensors, key=lambda tensor: tensor.elements * tensor.dtype.numpy.itemsize)
        raise UnsupportedError(
            f"'{plan.name}' cannot be executed in NumPy",
            why=f"its tensors take {total_bytes} bytes, the limit is {MEMORY_LIMIT_BYTES}; the largest is "
            f"'{largest.name}' of shape {list(largest.shape)}",
            fix="use smaller input shapes; compiling has no such limit",
            tensor=largest.name,
        )


class Interpreter:
    """The one loop over instructions: operands, the operator's meaning, results into `values` by slot.

    Who runs plans in another way overrides a step: where values lie, what an instruction does, what follows it.
    """

    def __init__(self, plan: ExecutionPlan, values: dict[int, Array]) -> None:
        self.plan, self.values = plan, values

    def interpret(self, instructions: Sequence[Instruction]) -> None:
        """Execute these instructions one after the other on the values as they are."""
        for instruction in instructions:
            self.execute(instruction)

    def execute(self, instruction: Instruction) -> None:
        """One instruction."""
        arrays = [self.operand(instruction, slot) if slot >= 0 else None for slot in instruction.inputs]
        for slot, result in zip(instruction.outputs, self.evaluate(instruction, arrays), strict=True):
            self.store(slot, result)

    def operand(self, instruction: Instruction, slot: int) -> Array:
        """The logical value that an instruction reads from a slot."""
        return slot_value(self.plan, self.values, slot)

    def evaluate(self, instruction: Instruction, arrays: Sequence[Array | None]) -> tuple[Array, ...]:
        """The results of an instruction."""
        return evaluate_call(instruction.call, arrays)

    def store(self, slot: int, result: Array) -> None:
        """Keep a result."""
        self.values[slot] = result


def first_value(plan: ExecutionPlan, pair: StatePair) -> Array:
    """What a state holds before the first run."""
    tensor = plan.slots[pair.state].tensor
    return np.zeros(tensor.shape, tensor.dtype.numpy) if pair.initial is None else np.array(pair.initial)


def values_before(
    plan: ExecutionPlan, inputs: Sequence[Array], states: Sequence[Array] | None = None
) -> dict[int, Array]:
    """What a run reads, by slot: inputs in the model's order, of the model's shapes and types, and the states, by
    default their first values."""
    check_memory(plan)
    if len(inputs) != len(plan.input_slots):
        raise UsageError(f"the plan takes {len(plan.input_slots)} inputs", why=f"{len(inputs)} were given")
    values: dict[int, Array] = {}
    for slot, array in zip(plan.input_slots, inputs, strict=True):
        tensor = plan.slots[slot].tensor
        if array.shape != tensor.shape or array.dtype != tensor.dtype.numpy:
            raise UsageError(
                f"input '{tensor.name}' is {array.dtype}{list(array.shape)}",
                why=f"the model takes {tensor.dtype.numpy}{list(tensor.shape)}",
                fix="convert it first",
                tensor=tensor.name,
            )
        values[slot] = array
    before = [first_value(plan, pair) for pair in plan.state] if states is None else states
    return values | dict(zip(plan.state_slots, before, strict=True))


def run_slots(plan: ExecutionPlan, inputs: Sequence[Array], states: Sequence[Array] | None = None) -> tuple[Array, ...]:
    """Every slot's logical value after one run on what `values_before` takes."""
    values = values_before(plan, inputs, states)
    Interpreter(plan, values).interpret(plan.instructions)
    return tuple(slot_value(plan, values, slot.index) for slot in plan.slots)


def run(plan: ExecutionPlan, inputs: Sequence[Array]) -> tuple[Array, ...]:
    """The outputs of one run, in the model's order."""
    values = run_slots(plan, inputs)
    return tuple(values[slot] for slot in plan.output_slots)


def slot_value(plan: ExecutionPlan, values: dict[int, Array], index: int) -> Array:
    """The value of a slot; a view reads its source's memory through its own layout."""
    if index not in values:
        slot = plan.slots[index]
        assert slot.storage is not None
        source = plan.slots[slot.storage[0]]
        flat = source.layout.pack(slot_value(plan, values, source.index))
        values[index] = slot.layout.unpack(flat, slot.tensor.shape)
    return values[index]
