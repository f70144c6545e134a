"""Add, Sub and Mul of codes of eight bits whose shapes differ in any way: runs of results along the innermost axis.

Axes over which both operands lie evenly are one, in the order of the result's memory. An operand that has one code for
a run is read once for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from tilewright.numerics import OF_PAIRS, NearForm, PairForm
from tilewright.platform import Call, Constant, KernelMethods, Needs, Operands, Shape, Work
from tilewright.platforms.cortex_m.kernels.pair_i8 import (
    NEAR,
    TYPES,
    PairDsp,
    narrow_form,
    one_code_a_channel,
    unlike_shapes,
)
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels.nest import same_size, strides_of
from tilewright.platforms.generic.kernels.two_operands import row_major

PAIRS = PairDsp()
WRITTEN_OUT, TURN = 6, 4
"""Results of a run that stand one behind the other, and those of a turn of a loop over longer runs."""


@dataclass(frozen=True)
class RunsWork(Work):
    """Results, those of listed forms, runs."""

    results: float
    listed: float
    runs: float


PRICES = RunsWork(results=8.0, listed=3.0, runs=9.0)
"""Instructions for one unit of each kind of work."""


@dataclass(frozen=True)
class Axis:
    """How many elements, and how far apart they lie in the operands and in the result."""

    size: int
    a: int
    b: int
    y: int


@dataclass(frozen=True)
class RunsContext:
    """The form over `outer` loops and a `run`, as in `PairContext`; `at_once` results are a turn."""

    form: PairForm
    window: int
    listed: int
    outer: tuple[Axis, ...]
    run: Axis
    at_once: int

    def place(self, name: str) -> str:
        """C of the first element of a run."""
        steps = [(f"i{n}", getattr(axis, name)) for n, axis in enumerate(self.outer)]
        return " + ".join([name, *(f"{loop} * {step}" if step != 1 else loop for loop, step in steps if step)])


def aligned(shape: Shape, strides: tuple[int, ...], rank: int) -> list[int]:
    """A stride for every axis of the result, 0 where an operand has one element."""
    steps = [0 if size == 1 else stride for size, stride in zip(shape, strides, strict=True)]
    return [0] * (rank - len(steps)) + steps


def axes_of(operands: Operands) -> list[Axis]:
    """Loops in the order of the result's memory, the outermost first; at least one."""
    call, known = operands.call, strides_of(operands)
    y = call.outputs[0]
    steps = [known.get(name, row_major(call.shape(i))) for i, name in enumerate("ab")]
    a, b = (aligned(call.shape(i), steps[i], len(y.shape)) for i in range(2))
    own = known.get("y", row_major(y.shape))
    axes = [Axis(*part) for part in zip(y.shape, a, b, own, strict=True) if part[0] > 1]
    joined: list[Axis] = []
    for axis in sorted(axes, key=lambda axis: -axis.y):
        if joined and all(getattr(joined[-1], n) == getattr(axis, n) * axis.size for n in "aby"):
            joined[-1] = Axis(joined[-1].size * axis.size, axis.a, axis.b, axis.y)
        else:
            joined.append(axis)
    return joined or [Axis(1, 0, 0, 1)]


@PLATFORM.kernel(
    "Add", "Sub", "Mul", types=TYPES, template="pair_runs.c.mako", layout=("axes", "same"),
    sources=[*OF_PAIRS, "dsp.h", NEAR], preference=18, requires=Needs(has=("dsp",)),
)  # fmt: skip
class PairRunsDsp(KernelMethods):
    """Codes with saturation in one instruction, run by run."""

    def accepts(self, call: Call) -> str | None:
        """Shapes that other kernels leave, and a form in 32 bits."""
        if unlike_shapes(call) is None or one_code_a_channel(call) is None:
            return "PairDsp or GainDsp takes operands of these shapes"
        if not call.outputs[0].elements:
            return "the result has no elements"
        if narrow_form(call) is None:
            return "no 32-bit form equals the float32 arithmetic on every pair of codes, or on nearly all"
        return None

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Codes of a constant operand; listed pairs."""
        return PAIRS.constants(operands)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Operands of the result's shape."""
        return same_size(call)

    def cost(self, call: Call) -> float:
        """Results and runs, as tensors lie where no layout is known."""
        results = call.outputs[0].elements
        runs = prod(axis.size for axis in axes_of(Operands(call))[:-1])
        return RunsWork(results, results * isinstance(narrow_form(call), NearForm), runs).priced(PRICES)

    def context(self, operands: Operands) -> RunsContext:
        """The loops and the factors of the form."""
        form = narrow_form(operands.call)
        assert form is not None, "accepts refuses calls without a form"
        *outer, run = axes_of(operands)
        at_once = run.size if run.size <= WRITTEN_OUT else TURN
        near = (form.form, form.window, len(form.listed)) if isinstance(form, NearForm) else (form, 0, 0)
        return RunsContext(*near, tuple(outer), run, at_once)
