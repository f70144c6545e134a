"""Tensors inside of chains, which never lie whole in memory: rows as the C makes them, against NumPy's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tilewright.errors import MismatchError
from tilewright.memory.placed import PlacedPlan
from tilewright.model import Array
from tilewright.options import RunOptions
from tilewright.plan.execute import chain_values
from tilewright.plan.plan import Instruction
from tilewright.report.build import InnerReport
from tilewright.rows.bands import row_elements
from tilewright.rows.chain import RowChain
from tilewright.run.compare import Comparison, compare
from tilewright.run.simulate import Tap
from tilewright.run.slot_comparison import rounded_slots, steps_apart


@dataclass(frozen=True)
class Inner:
    """A tensor inside of a chain, the node that makes it, and its comparison."""

    tensor: str
    node: str
    result: Comparison

    def report(self) -> InnerReport:
        """As it stands in the layer's report."""
        outcome = self.result
        return InnerReport(self.tensor, self.node, outcome.max_abs_error, outcome.max_lsb_error, outcome.mismatches)


def has_chains(placed: PlacedPlan) -> bool:
    """True where some instruction computes several nodes by rows."""
    return any(isinstance(each.kernel.methods, RowChain) for each in placed.plan.instructions)


def compare_inner(
    placed: PlacedPlan, taps: Sequence[Tap], slots: Sequence[Array], options: RunOptions
) -> dict[int, tuple[Inner, ...]]:
    """By instruction the tensors inside of its chain; `slots` are NumPy's values of the plan's tensors.

    MismatchError where a node was called for other rows than were planned, so that no comparison is silently empty.
    """
    rounded = rounded_slots(placed.plan)
    return {
        instruction.index: tuple(
            _compared(
                instruction,
                instruction.kernel.methods,
                taps,
                slots,
                options,
                rounded=not rounded.isdisjoint(instruction.outputs),
            )
        )
        for instruction in placed.plan.instructions
        if isinstance(instruction.kernel.methods, RowChain)
    }


def _compared(
    instruction: Instruction,
    chain: RowChain,
    taps: Sequence[Tap],
    slots: Sequence[Array],
    options: RunOptions,
    rounded: bool,
) -> Iterator[Inner]:
    values = chain_values(instruction.call, [None if s < 0 else slots[s] for s in instruction.inputs])
    for number, stage in enumerate(chain.stages[:-1]):
        tensor, node = stage.result, stage.node.call.node
        own = [tap for tap in taps if (tap.instruction, tap.node) == (instruction.index, number + 1)]
        planned = [made.row for made in chain.walked.calls if made.number == number]
        if [tap.first_row for tap in own] != planned:
            raise MismatchError(
                f"node '{node.name}' inside of the chain '{instruction.name}' computed other rows than were planned",
                why=f"it was called {len(own)} times, and {len(planned)} calls were planned",
                fix="please report it with the model",
                node=node.name,
                tensor=tensor.name,
            )
        layout = chain.whole_layouts[tensor.name]
        made_flat = _as_made(layout.pack(values[tensor.name]), own, row_elements(tensor))
        made, exact = layout.unpack(made_flat, tensor.shape), node.op == "DequantizeLinear"
        apart = steps_apart(tensor, node.op, stage.node.call.inputs[0]) if rounded else 0.0
        result = compare(made, values[tensor.name], atol=options.atol, rtol=options.rtol, exact=exact, leeway=apart)
        yield Inner(tensor.name, node.name, result)


def _as_made(expected: Array, taps: Sequence[Tap], row: int) -> Array:
    """The tensor in memory's order as the C made it; rows made twice keep a wrong value, others are as expected."""
    made = expected.copy()
    for tap in taps:
        values = np.frombuffer(tap.data, expected.dtype)
        start = tap.first_row * row
        wrong = np.flatnonzero(values != expected[start : start + values.size])
        made[start + wrong] = values[wrong]
    return made
