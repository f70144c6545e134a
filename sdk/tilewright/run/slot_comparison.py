"""One tensor of a plan against what it should be."""

from __future__ import annotations

from tilewright.model import Array, Tensor
from tilewright.options import RunOptions
from tilewright.plan.plan import ExecutionPlan, Instruction
from tilewright.run.compare import Comparison, compare
from tilewright.run.lengths import with_padding

WIDE_STEPS = 4
"""Steps that codes of 16 bits may be apart behind floats, whose last bit decides between two of them now and then."""


def compare_slot(plan: ExecutionPlan, slot: int, actual: Array, expected: Array, options: RunOptions) -> Comparison:
    """One tensor against what it should be; a float that is dequantised from codes must be equal.

    Codes of 16 bits, and what is dequantised from them, may be a few steps apart where floats are computed before them.
    """
    tensor = plan.slots[slot].tensor
    expected = with_padding(tensor, actual, expected)
    maker = _maker(plan, slot)
    op, read = ("", None) if maker is None else (maker.call.node.op, maker.call.optional(0))
    leeway = steps_apart(tensor, op, read)
    if leeway and slot not in rounded_slots(plan):
        leeway = 0.0
    exact = op == "DequantizeLinear"
    return compare(actual, expected, atol=options.atol, rtol=options.rtol, exact=exact, leeway=leeway)


def steps_apart(tensor: Tensor, op: str, read: Tensor | None) -> float:
    """How far 16-bit codes, or what `op` dequantises from such codes `read`, may be off behind floats."""
    if tensor.quantisation is not None and tensor.dtype.bits == 16:
        return WIDE_STEPS
    if op == "DequantizeLinear" and read is not None and read.quantisation is not None and read.dtype.bits == 16:
        return WIDE_STEPS * max(read.quantisation.scale)
    return 0.0


def rounded_slots(plan: ExecutionPlan) -> frozenset[int]:
    """Slots that depend on floats whose last bits are another implementation's own, also through states."""
    rounded: set[int] = set()
    while True:
        before = len(rounded)
        for one in plan.instructions:
            if _rounds(one) or not rounded.isdisjoint(_root(plan, slot) for slot in one.inputs if slot >= 0):
                rounded |= {_root(plan, slot) for slot in one.outputs}
        rounded |= {pair.state for pair in plan.state if _root(plan, pair.source) in rounded}
        if len(rounded) == before:
            return frozenset(slot.index for slot in plan.slots if _root(plan, slot.index) in rounded)


def _rounds(instruction: Instruction) -> bool:
    """Whether an instruction computes floats, with an error that its kernel declares."""
    calls = (instruction.call, *instruction.call.chain)
    tensors = (tensor for call in calls for tensor in (*call.inputs, *call.outputs) if tensor is not None)
    return instruction.kernel.numerics != "exact" and any(tensor.dtype.is_float for tensor in tensors)


def _root(plan: ExecutionPlan, slot: int) -> int:
    """The slot that holds the bytes of a view."""
    at = plan.slots[slot]
    while at.storage is not None:
        at = plan.slots[at.storage[0]]
    return at.index


def _maker(plan: ExecutionPlan, slot: int) -> Instruction | None:
    """The instruction that makes a slot, also through views."""
    root = _root(plan, slot)
    return next((each for each in plan.instructions if root in each.outputs), None)
