"""The caches behind several tokens at once are those of the same tokens one by one: tried in NumPy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tilewright.codegen.text import POSITION_NAMES
from tilewright.errors import UnsupportedError
from tilewright.frontend.names import quoted
from tilewright.model import Array, DType, Tensor
from tilewright.plan.execute import run_slots
from tilewright.plan.plan import ExecutionPlan
from tilewright.run.inputs import random_values
from tilewright.run.limits import input_limits
from tilewright.run.ties import has_ties

SEED = 11
"""Of drawn tokens and caches."""
NEAR, FEW = 1e-4, 1000
"""How near floats must be, and one code of how many may be the next, as sums of many rows may be in another order."""


def hold_prefill(prefill: ExecutionPlan, step: ExecutionPlan) -> None:
    """Both networks on drawn tokens, from drawn caches, whose rows behind the position nobody may read.

    UnsupportedError where the caches differ: the network of one token then reads rows that later tokens write.
    """
    draw = np.random.default_rng(SEED)
    frame = {_name(prefill, slot): _drawn(prefill, slot, draw) for slot in prefill.input_slots}
    states = {_name(step, pair.state): _cache(step.slots[pair.state].tensor, draw) for pair in step.state}
    together = _behind(prefill, frame, states)
    token, position = _inputs(step)
    for at, value in enumerate(frame[token].reshape(-1)):
        given = {token: value, position: frame[position].reshape(-1)[0] + at}
        shapes = {_name(step, slot): step.slots[slot].tensor for slot in step.input_slots}
        one = {name: np.full(shapes[name].shape, given[name], shapes[name].dtype.numpy) for name in shapes}
        states = _behind(step, one, states)
    for name, value in together.items():
        if not _same(value, states[name], ties=has_ties(step)):
            raise UnsupportedError(
                f"--prefill: the state {quoted(name)} behind several tokens is not that of one after the other",
                why="a token's result depends on rows of a cache behind its own position",
                fix="leave it out: the prompt is then read token by token", tensor=name,
            )  # fmt: skip


def _inputs(step: ExecutionPlan) -> tuple[str, str]:
    names = [_name(step, slot) for slot in step.input_slots]
    position = next(name for name in names if name in POSITION_NAMES)
    return next(name for name in names if name != position), position


def _name(plan: ExecutionPlan, slot: int) -> str:
    return plan.slots[slot].tensor.name


def _drawn(plan: ExecutionPlan, slot: int, draw: np.random.Generator) -> Array:
    return random_values(plan.slots[slot].tensor, draw, input_limits(plan).get(slot))


def _cache(tensor: Tensor, draw: np.random.Generator) -> Array:
    """What a cache may hold: any codes, floats above zero, as the largest element of a row is."""
    if tensor.dtype in (DType.F32, DType.F16):
        return np.abs(draw.standard_normal(tensor.shape)).astype(tensor.dtype.numpy)
    return random_values(tensor, draw, None)


def _behind(plan: ExecutionPlan, frame: dict[str, Array], states: dict[str, Array]) -> dict[str, Array]:
    """The states behind one call, by the names of their inputs."""
    before: Sequence[Array] = [states[_name(plan, pair.state)] for pair in plan.state]
    slots = run_slots(plan, [frame[_name(plan, slot)] for slot in plan.input_slots], before)
    return {_name(plan, pair.state): slots[pair.source] for pair in plan.state}


def _same(a: Array, b: Array, *, ties: bool) -> bool:
    if np.issubdtype(a.dtype, np.floating):
        return bool(np.allclose(a, b, rtol=NEAR, atol=NEAR))
    distance = np.abs(a.astype(int) - b.astype(int))
    if not ties:
        return not distance.any()
    return bool(distance.max(initial=0) <= 1 and np.count_nonzero(distance) * FEW <= a.size)
