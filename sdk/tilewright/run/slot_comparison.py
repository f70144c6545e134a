"""One tensor of a plan against what it should be."""

from __future__ import annotations

from tilewright.model import Array
from tilewright.options import RunOptions
from tilewright.plan.plan import ExecutionPlan
from tilewright.run.compare import Comparison, compare
from tilewright.run.lengths import with_padding


def compare_slot(plan: ExecutionPlan, slot: int, actual: Array, expected: Array, options: RunOptions) -> Comparison:
    """One tensor against what it should be; a float that is dequantised from codes must be equal."""
    expected = with_padding(plan.slots[slot].tensor, actual, expected)
    return compare(actual, expected, atol=options.atol, rtol=options.rtol, exact=_dequantised(plan, slot))


def _dequantised(plan: ExecutionPlan, slot: int) -> bool:
    """True for a float tensor that a DequantizeLinear makes, also through views."""
    at = plan.slots[slot]
    while at.storage is not None:
        at = plan.slots[at.storage[0]]
    maker = next((i for i in plan.instructions if at.index in i.outputs), None)
    return maker is not None and maker.call.node.op == "DequantizeLinear"
