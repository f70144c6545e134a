"""Every kernel that a platform declares against the meaning of its operators, on drawn calls, in its own C."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from tilewright.binding.types import mismatch
from tilewright.conformance.draws_fixed import TOKEN as FIXED_POINT
from tilewright.conformance.draws_fixed import in_fixed_point, names_fixed_point
from tilewright.conformance.extremes import at_the_ends, deep_trials, runs_at_the_ends, special_runs
from tilewright.conformance.families import UNSETTLED, drawn_operator, sketch_of
from tilewright.conformance.program import run_batch
from tilewright.conformance.subject import Subject, place, subject
from tilewright.conformance.trials import Trial, one_node_model, trial
from tilewright.errors import PlatformError, TilewrightError, UnsupportedError
from tilewright.model import Array, DType, Model, Tensor
from tilewright.ops.codes import Products
from tilewright.ops.operator import Call, Operator
from tilewright.ops.registry import names_with
from tilewright.plan.execute import run
from tilewright.platform import Kernel, Platform

TYPES = ("f32", "i32", "i8", "f64", "u8", "i64", "bool", "f16", "bf16", "i16", "u16", "u32", "u64")
CODES = ("qi8", "qu8", "qi16", "qu16")
_TRIES = 150
_ROUNDED = {DType.F16: 2e-3, DType.BF16: 2**-6}
"""Two steps of the largest result."""


@dataclass(frozen=True)
class Attempt:
    """One drawn call bound to one kernel; `at_the_ends` where its weights are no drawn ones but ends of their range."""

    kernel: Kernel
    trial: Trial
    subject: Subject
    model: Model
    at_the_ends: bool = False

    def __str__(self) -> str:
        call = self.trial.call
        operands = ", ".join(f"{t.type_token}{list(t.shape)}" if t else "-" for t in call.inputs)
        results = ", ".join(f"{t.type_token}{list(t.shape)}" for t in call.outputs)
        rest = f"{dict(call.node.attributes)} {call.node.clamp or ''}"
        return f"{self.kernel.name}: {call.node.op}({operands}) -> {results} {rest}"


@dataclass(frozen=True)
class Findings:
    """What was compared: attempts by kernel and operator, and a sentence for each that differs."""

    compared: dict[tuple[str, str], int]
    differences: tuple[str, ...]


def tokens(kernel: Kernel) -> list[str]:
    """The types of the first operand that the kernel names, plain ones and codes where it names any."""
    names = (kernel.types[0] or kernel.types[1])[0].rstrip("?.").split("|")
    return [*TYPES, *CODES] if "*" in names else names


def attempts(
    kernels: Sequence[Kernel],
    platform: Platform,
    relayouts: Sequence[Kernel],
    seed: int,
    each: int,
    *,
    first: int = 0,
) -> list[Attempt]:
    """Up to `each` calls for every kernel and operator that has a family, in turn in every type that it takes.

    Codes are drawn and at the ends of their range, and products of codes are computed again with weights at theirs.
    Their networks are named from the number `first` on.
    """
    attempts: list[Attempt] = []
    for kernel in kernels:
        operator = drawn_operator(kernel.op)
        if operator is None:
            continue
        r = random.Random(f"{seed}/{kernel.platform}/{kernel.name}/{kernel.op}")
        kinds, taken = tokens(kernel), 0
        r.shuffle(kinds)
        for number in range(_TRIES):
            if taken == each:
                break
            made = _trial(kernel, operator, kinds[number % len(kinds)], r)
            if made is None:
                continue
            one = _attempt(kernel, made, platform, relayouts, f"k{first + len(attempts)}", r)
            if one is not None:
                attempts.append(one)
                taken += 1
        for made in _extremes(kernel, [one.trial for one in attempts if one.kernel is kernel], r):
            one = _attempt(kernel, made, platform, relayouts, f"k{first + len(attempts)}", r)
            if one is not None:
                attempts.append(replace(one, at_the_ends=True))
    return attempts


def _attempt(
    kernel: Kernel, made: Trial, platform: Platform, relayouts: Sequence[Kernel], name: str, r: random.Random
) -> Attempt | None:
    """The call as a network of its own; None where it is a view, which computes nothing."""
    model, arrays = one_node_model(made, name, r, transposed=r.random() < 0.5)
    placed = place(model, platform, [kernel, *relayouts])
    if not any(instruction.kernel.name == kernel.name for instruction in placed.plan.instructions):
        return None
    one = subject(placed, platform, [arrays])
    ends = runs_at_the_ends(one.inputs, arrays)
    special = special_runs(one.inputs, arrays, limitless=not _is_unsettled(made.call))
    return Attempt(kernel, made, replace(one, runs=(*one.runs, *ends, *special)), model)


def _is_unsettled(call: Call) -> bool:
    """True where the standard leaves open what no numbers give, as infinite weights times padding do."""
    if call.operator is None:
        return False
    changing = call.operator.sketch in ("descent", "descent_pair") or (
        call.operator.sketch == "conv" and 1 not in call.constants
    )
    return changing or call.operator.sketch in UNSETTLED


def _extremes(kernel: Kernel, drawn: Sequence[Trial], r: random.Random) -> list[Trial]:
    """Products with weights at their ends that the kernel accepts: of the first drawn call of each type, and deep."""
    codes = [token for token in tokens(kernel) if token in ("qi8", "qu8")]
    if kernel.op not in names_with(Products) or not codes:
        return []
    firsts = {one.call.tensor(0).type_token: one for one in reversed(drawn)}
    trials = [made for one in firsts.values() for made in at_the_ends(one)]
    trials += deep_trials(kernel.op, codes, r)
    return [made for made in trials if not mismatch(kernel, made.call) and not kernel.accepts(made.call)]


def _trial(kernel: Kernel, operator: Operator, token: str, r: random.Random) -> Trial | None:
    """A call that the kernel accepts, None where this draw is none."""
    try:
        made = trial(sketch_of(operator, r), "f32" if token == FIXED_POINT else token, r)
        if token == FIXED_POINT or _in_fixed_point_alone(kernel):
            made = in_fixed_point(made, r)
        refused = mismatch(kernel, made.call) or kernel.accepts(made.call)
    except PlatformError:
        raise
    except UnsupportedError:
        return None
    # Where nothing is computed no kernel is asked: a result without elements is a constant.
    return None if refused or not any(tensor.elements for tensor in made.call.outputs) else made


def _in_fixed_point_alone(kernel: Kernel) -> bool:
    """True for kernels whose results are in fixed point and nothing else."""
    return names_fixed_point(kernel.types[1]) and all("|" not in token for token in kernel.types[1])


def compare(drawn: Sequence[Attempt], folder: Path, flags: Sequence[str] = ("-O1",), compiler: str = "gcc") -> Findings:
    """Build and run all attempts, and hold their results against the operators' meaning."""
    outcomes = run_batch([attempt.subject for attempt in drawn], folder, flags=flags, compiler=compiler)
    compared: dict[tuple[str, str], int] = {}
    differences = []
    for attempt, outcome in zip(drawn, outcomes, strict=True):
        key = (attempt.kernel.name, attempt.kernel.op)
        compared[key] = compared.get(key, 0) + 1
        if outcome.failure:
            differences.append(f"{attempt}: {outcome.failure}")
            continue
        plan = attempt.subject.placed.plan
        for arrays, results in zip(attempt.subject.runs, outcome.runs, strict=True):
            with np.errstate(all="ignore"):
                expected = run(plan, arrays)
            for tensor, got, want in zip(attempt.subject.outputs, results, expected, strict=True):
                if why := difference(tensor, got, want, bound(attempt.kernel, tensor)):
                    differences.append(f"{attempt}: '{tensor.name}' {why}")
    return Findings(compared, tuple(differences))


def bound(kernel: Kernel, tensor: Tensor) -> float:
    """The relative difference that the kernel declares for this result; half floats round coarser."""
    if not tensor.dtype.is_float:
        return 0.0
    try:
        declared = float(kernel.numerics)
    except ValueError:
        declared = 0.0
    return max(declared, _ROUNDED.get(tensor.dtype, 0.0))


def difference(tensor: Tensor, got: Array, want: Array, relative: float) -> str:
    """Empty where the results agree: integers exactly, floats within the bound of the largest result."""
    if not tensor.dtype.is_float:
        close = np.asarray(got == want)
    else:
        left, right = got.astype(np.float64), want.astype(np.float64)
        finite = np.isfinite(right)
        size = np.abs(right[finite]).max(initial=0.0)
        with np.errstate(invalid="ignore"):
            near = np.abs(left - right) <= relative * np.maximum(np.abs(right), size)
        close = np.where(finite, near, (left == right) | (np.isnan(left) & np.isnan(right)))
    if close.all():
        return ""
    at = tuple(np.argwhere(~close)[0].tolist())
    count = int((~close).sum())
    return f"differs in {count} of {got.size} elements, first at {list(at)}: C {got[at]}, NumPy {want[at]}"


def refusals(kernel: Kernel, seed: int = 0) -> str:
    """Why no drawn call of a kernel was accepted: its last sentence, for the message of a test."""
    r, last, operator = random.Random(seed), "its operator has no family of calls", drawn_operator(kernel.op)
    for token in tokens(kernel) if operator is not None else ():
        assert operator is not None
        try:
            made = trial(sketch_of(operator, r), token, r)
            last = mismatch(kernel, made.call) or kernel.accepts(made.call) or "accepted"
        except TilewrightError as error:
            last = str(error)
    return last
