"""Values that live from run to run: an input that takes, after every run, the value of another slot."""

from __future__ import annotations

from dataclasses import replace

from tilewright.errors import UsageError
from tilewright.plan.check import check
from tilewright.plan.plan import ExecutionPlan, StatePair


def add_kv_pair(plan: ExecutionPlan, state_input: str, source: str, *, keep_output: bool = True) -> ExecutionPlan:
    """The plan in which input `state_input` is no input but state, fed by tensor `source` at the end of each run.

    Without `keep_output` the source is no output any more. UsageError for names or shapes that do not fit.
    """
    inputs = {plan.slots[slot].tensor.name: slot for slot in plan.input_slots}
    if state_input not in inputs:
        raise UsageError(
            f"'{state_input}' is no input of the plan", why="its inputs are " + (", ".join(inputs) or "none"),
            tensor=state_input,
        )  # fmt: skip
    known = {slot.tensor.name: slot.index for slot in plan.slots}
    known |= dict(zip(plan.output_names, plan.output_slots, strict=False))
    if source not in known:
        raise UsageError(f"'{source}' is no tensor of the plan", tensor=source)
    state, made = inputs[state_input], known[source]
    a, b = plan.slots[state].tensor, plan.slots[made].tensor
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        raise UsageError(
            f"'{source}' cannot be the next '{state_input}'",
            why=f"it is {b.dtype.value}{list(b.shape)}, the input is {a.dtype.value}{list(a.shape)}", tensor=source,
        )  # fmt: skip
    places = [n for n, slot in enumerate(plan.output_slots) if keep_output or slot != made]
    changed = replace(
        plan,
        input_slots=tuple(slot for slot in plan.input_slots if slot != state),
        state=(*plan.state, StatePair(state, made)),
        output_slots=tuple(plan.output_slots[n] for n in places),
        output_names=tuple(plan.output_names[n] for n in places) if plan.output_names else (),
    )
    check(changed)
    return changed
