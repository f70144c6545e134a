"""What the author of a platform is told: for each kernel what was compared, and by name what it declares and breaks."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from tilewright.binding.types import mismatch
from tilewright.conformance.boards import on_board, run_on_board
from tilewright.conformance.fences import FLAGS, MARK, fenced
from tilewright.conformance.kernels import Attempt, attempts, bound, difference, refusals
from tilewright.conformance.program import STRICT, Outcome, run_batch
from tilewright.conformance.subject import Subject, place, subject
from tilewright.conformance.trials import Trial, one_node_model
from tilewright.errors import TilewrightError
from tilewright.layout import Layout
from tilewright.model import Array
from tilewright.ops.codes import Products
from tilewright.plan.execute import evaluate_call, run_slots
from tilewright.plan.plan import Instruction
from tilewright.platform import Kernel, Platform
from tilewright.plugins import kernels_of
from tilewright.target import Target

_HINTS = {
    "declaration": "what it declares",
    "rounding": "its rounding",
    "layout": "its layout",
    "fence": "its memory",
    "values": "its values",
}


@dataclass(frozen=True)
class Fault:
    """One sentence about one call. `kind` is declaration, rounding, layout, fence or values."""

    kind: str
    sentence: str


@dataclass(frozen=True)
class Row:
    """One kernel: calls compared by operator, faults, and why it was not compared where it was not."""

    kernel: str
    platform: str
    compared: dict[str, int]
    faults: tuple[Fault, ...] = ()
    skipped: str = ""

    @property
    def verdict(self) -> str:
        """`conforms`, `skipped`, or what is wrong with it."""
        if self.faults:
            return "wrong: " + ", ".join(dict.fromkeys(_HINTS[fault.kind] for fault in self.faults))
        return "not compared" if self.skipped else "conforms"


def examine(
    kernels: Sequence[Kernel], platform: Platform, folder: Path, seed: int, each: int, target: Target | None = None
) -> tuple[Row, ...]:
    """Draw `each` calls for every kernel and operator, and run them fenced; one row per kernel class.

    On a simulated `target` its core says which kernels run, and nothing is fenced.
    """
    relayouts = [kernel for kernel in kernels_of(platform) if kernel.op == "Relayout"]
    grouped: dict[tuple[str, str], list[Kernel]] = {}
    for kernel in kernels:
        grouped.setdefault((kernel.platform, kernel.name), []).append(kernel)
    drawn, failed = list[Attempt](), dict[tuple[str, str], Fault]()
    for key, group in grouped.items():
        try:
            offered = [kernel for kernel in group if not (kernel.refusal if target else kernel.requires)]
            from_network = attempts(offered, platform, relayouts, seed, each, first=len(drawn))
            ties = [tied(a, platform, relayouts, f"{a.subject.name}_tied") for a in from_network if not a.at_the_ends]
        except Exception as error:  # a plug-in's own Python may raise anything
            failed[key] = Fault("declaration", f"{group[0].name}: {type(error).__name__}: {error}")
            continue
        drawn += [*from_network, *(tie for tie in ties if tie is not None)]
    outcomes = _run(drawn, platform, folder) if target is None else _simulated(drawn, platform, target)
    rows = []
    for key, group in grouped.items():
        mine = [a for a in drawn if (a.kernel.platform, a.kernel.name) == key and outcomes[a.subject.name]]
        faults = [fault for a in mine for fault in judge(a, outcomes[a.subject.name])]
        counts: dict[str, int] = {}
        for attempt in mine:
            counts[attempt.kernel.op] = counts.get(attempt.kernel.op, 0) + 1
        if key in failed:
            faults.insert(0, failed[key])
        skipped = "" if mine or faults else _why_not(group[0], simulated=target is not None)
        rows.append(Row(key[1], key[0], counts, tuple(faults), skipped))
    return tuple(rows)


def tied(attempt: Attempt, platform: Platform, relayouts: Sequence[Kernel], name: str) -> Attempt | None:
    """The call of a product again, so that many sums lie half way between two codes; None where it is no such call.

    Random scales never meet a tie: here the first channel's multiplier is a quarter, and operands are one step from
    their zero point.
    """
    call = attempt.trial.call
    if not isinstance(call.codes, Products) or 1 not in call.constants:
        return None
    x, w, y = call.tensor(0).quantisation, call.tensor(1).quantisation, call.outputs[0].quantisation
    if x is None or w is None or y is None:
        return None
    r = random.Random(f"{attempt.kernel.platform}/{attempt.kernel.name}/{call.node.op}/tied")
    product = np.float32(x.scale[0]) * np.float32(w.scale[0])
    result = replace(call.outputs[0], quantisation=replace(y, scale=(float(product * np.float32(4)),)))
    low, high = call.tensor(0).dtype.range
    steps = np.random.default_rng(r.getrandbits(32)).integers(-1, 2, call.shape(0)) + x.zero_point[0]
    codes = np.clip(steps, low, high).astype(call.tensor(0).dtype.numpy)
    made = Trial(replace(call, outputs=(result,)), (codes, *attempt.trial.arrays[1:]))
    if mismatch(attempt.kernel, made.call) or attempt.kernel.accepts(made.call):
        return None
    model, arrays = one_node_model(made, name, r, transposed=False)
    placed = place(model, platform, [attempt.kernel, *relayouts])
    return Attempt(attempt.kernel, made, subject(placed, platform, [arrays]), model)


def _why_not(kernel: Kernel, *, simulated: bool) -> str:
    if kernel.refusal if simulated else kernel.requires:
        return "it needs " + ", ".join(kernel.requires.words())
    return f"no drawn call of {kernel.op} is accepted: {refusals(kernel)}"


def _run(drawn: Sequence[Attempt], platform: Platform, folder: Path) -> dict[str, list[Outcome]]:
    """The outcomes of every attempt by name: fenced, and as placed where a result may lie over an operand."""
    outcomes: dict[str, list[Outcome]] = {attempt.subject.name: [] for attempt in drawn}
    guarded = [fenced(a.subject.placed, a.kernel, platform, a.subject) for a in drawn]
    over = [a.subject for a in drawn if _shares(a)]
    for subjects, flags in ((guarded, FLAGS), (over, ())):
        for one, outcome in zip(subjects, _build(subjects, folder, ("-O1", *STRICT, *flags)), strict=True):
            outcomes[one.name].append(outcome)
    return outcomes


def _simulated(drawn: Sequence[Attempt], platform: Platform, target: Target) -> dict[str, list[Outcome]]:
    """The outcome of every attempt by name, on a board; none where the platform's emitter refuses it."""
    outcomes = run_on_board(drawn, on_board(platform, target), platform, target)
    return {a.subject.name: [outcome] if outcome else [] for a, outcome in zip(drawn, outcomes, strict=True)}


def _shares(attempt: Attempt) -> bool:
    """True if the kernel allows a result over an operand."""
    return any(i.overlaps or i.kernel.in_place(i.call) for i in _own(attempt))


def _build(subjects: Sequence[Subject], folder: Path, flags: Sequence[str]) -> list[Outcome]:
    """Run all in one program; where its C does not compile each by itself, so that one does not hide the others."""
    if not subjects:
        return []
    try:
        return list(run_batch(subjects, folder, flags=flags))
    except TilewrightError as error:
        if len(subjects) == 1:
            lines = [line for line in error.why.splitlines() if "error:" in line] or [error.why]
            return [Outcome(failure=f"its C does not compile: {lines[0].strip()}")]
    half = len(subjects) // 2
    return [*_build(subjects[:half], folder, flags), *_build(subjects[half:], folder, flags)]


def _own(attempt: Attempt) -> list[Instruction]:
    kernel = attempt.kernel
    plan = attempt.subject.placed.plan
    return [i for i in plan.instructions if (i.kernel.platform, i.kernel.name) == (kernel.platform, kernel.name)]


def judge(attempt: Attempt, outcomes: Sequence[Outcome]) -> list[Fault]:
    """What one call shows: nothing where memory and values are as declared, else the first fault of each run."""
    for outcome in outcomes:
        if outcome.failure:
            _, mark, rest = outcome.failure.partition(MARK)
            kind = "fence" if mark else "declaration" if "does not compile" in outcome.failure else "values"
            return [Fault(kind, f"{attempt}: {rest or outcome.failure}")]
        for arrays, results in zip(attempt.subject.runs, outcome.runs, strict=True):
            if fault := _wrong(attempt, arrays, results):
                return [fault]
    return []


def _wrong(attempt: Attempt, arrays: Sequence[Array], results: Sequence[Array]) -> Fault | None:
    """The first result of a run that is not what its operator means."""
    plan = attempt.subject.placed.plan
    with np.errstate(all="ignore"):
        slots = run_slots(plan, arrays)
    expected = [slots[slot] for slot in plan.output_slots]
    for tensor, got, want in zip(attempt.subject.outputs, results, expected, strict=True):
        if why := difference(tensor, got, want, bound(attempt.kernel, tensor)):
            kind, hint = _hint(attempt, slots, results, expected)
            return Fault(kind, f"{attempt}: '{tensor.name}' {why}{hint}")
    return None


def _hint(attempt: Attempt, slots: Sequence[Array], got: Sequence[Array], wanted: Sequence[Array]) -> tuple[str, str]:
    """The kind of a difference and the words that say what is probably wrong, empty where nothing fits."""
    if words := _other_layout(attempt, slots, got):
        return "layout", words
    integers = [(g, w) for g, w in zip(got, wanted, strict=True) if g.dtype.kind in "iu"]
    apart = [np.abs(g.astype(np.int64) - w.astype(np.int64)).max(initial=0) for g, w in integers]
    if integers and len(integers) == len(got) and max(apart) == 1:
        return "rounding", "; one step at most: it does not round half to even, or its m is not that of the operator"
    return "values", ""


def _other_layout(attempt: Attempt, slots: Sequence[Array], got: Sequence[Array]) -> str:
    """Words if the results are right for operands or results in another order of memory than the kernel declares."""
    plan, own = attempt.subject.placed.plan, _own(attempt)
    if len(own) != 1 or len(own[0].outputs) != 1 or len(got) != 1:
        return ""
    call, (result,) = own[0].call, own[0].outputs
    declared = plan.slots[result]
    if got[0].shape != declared.tensor.shape:
        return ""
    memory = declared.layout.pack(got[0])
    orders = {"row-major": Layout.default, "channels last": Layout.channels_last}
    for read, read_order in orders.items():
        arrays = list[Array | None]()
        for slot in own[0].inputs:
            if slot < 0:
                arrays.append(None)
                continue
            shape = plan.slots[slot].tensor.shape
            order = read_order(shape) if len(shape) > 2 else plan.slots[slot].layout
            arrays.append(order.unpack(plan.slots[slot].layout.pack(slots[slot]), shape))
        with np.errstate(all="ignore"):
            expected = evaluate_call(call, arrays)[0]
        for written, write_order in orders.items():
            order = write_order(expected.shape) if expected.ndim > 2 else declared.layout
            unpacked = order.unpack(memory, expected.shape)
            if not difference(declared.tensor, unpacked, expected, bound(attempt.kernel, declared.tensor)):
                rule = " -> ".join(attempt.kernel.layout)
                return f"; right if operands lie {read} and the result {written}, but it declares {rule}"
    return ""
