"""Counts every candidate kernel of every node: whole networks in the simulator, each node with its next candidate.

In round `r` every node takes the `r`-th of its candidates, so a network with at most three candidates a node is built
and run three times. What a Relayout in front of a node costs is counted as the node's.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from pathlib import Path

from tilewright.binding.graph import Candidate
from tilewright.binding.lock import Lock, subject_of
from tilewright.binding.order import Order, by_cost
from tilewright.compile import Compiled, compile_model, compiler, kernel_order, moves, write
from tilewright.errors import DoesNotFit, UsageError
from tilewright.ops.operator import Call
from tilewright.ops.relayout import DOMAIN
from tilewright.options import CompileOptions
from tilewright.pipeline import Compiler, Depends
from tilewright.plan.plan import ExecutionPlan
from tilewright.platform import Feature
from tilewright.schedule.deployment import Deployment
from tilewright.schedule.moves import Move, Offer, Offers
from tilewright.schedule.request import Request, request
from tilewright.target import load_target
from tilewright.version import VERSION

INHERITED = 1
"""Kernels of each inherited platform that are counted, unless all are asked for."""
SLOWEST_SECONDS = 1200.0


@dataclass(frozen=True)
class Question:
    """What is counted: a model, its options, a target by name or folder; `every` asks for all kernels."""

    source: Path
    options: CompileOptions
    target: str
    every: bool = False


@dataclass(frozen=True)
class NodeCount:
    """What a node cost with a kernel: instructions, and those of the copies that put its operands in its layout."""

    kernel: str
    instructions: int
    copies: int


@dataclass(frozen=True)
class Round:
    """What every node cost in one run."""

    model_sha256: str
    counts: Mapping[str, NodeCount]


def count_rounds(question: Question, jobs: int = 1, tell: Callable[[str], None] = lambda text: None) -> list[Round]:
    """Every round that fits the target, in order; DoesNotFit where none does."""
    rounds = _rounds(question)
    tell(f"{rounds} runs")
    ask = partial(count_round, question)
    if jobs > 1 and rounds > 1:
        with ProcessPoolExecutor(min(jobs, rounds)) as pool:
            answers = list(pool.map(ask, range(rounds)))
    else:
        answers = [ask(at) for at in range(rounds)]
    done = [one for one in answers if one is not None]
    if not done:
        raise DoesNotFit(f"no choice of kernels for '{question.source}' fits on '{question.target}'")
    return done


def tune(question: Question, jobs: int = 1, tell: Callable[[str], None] = lambda text: None) -> Lock:
    """Count and give the lock; the result does not depend on `jobs`."""
    done = count_rounds(question, jobs, tell)
    counts: dict[str, dict[str, int]] = {}
    for one in done:
        for node, count in one.counts.items():
            counts.setdefault(node, {})[count.kernel] = count.instructions + count.copies
    target = load_target(question.target)
    return Lock(VERSION, subject_of(done[0].model_sha256, question.options, target), _ordered(counts))


def _ordered(counts: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, int]]:
    """Nodes with more than one candidate, cheapest kernel first."""
    return {
        node: dict(sorted(kernels.items(), key=lambda item: (item[1], item[0])))
        for node, kernels in counts.items()
        if len(kernels) > 1
    }


def eligible(call: Call, accepted: Sequence[Candidate], every: bool) -> tuple[Candidate, ...]:
    """The candidates that are counted: those of the platform itself, and the first of each inherited one."""
    groups = [list(group) for _, group in groupby(by_cost(call, accepted), lambda c: c.kernel.platform)]
    chosen = [group if every or at == 0 else group[:INHERITED] for at, group in enumerate(groups)]
    return tuple(candidate for group in chosen for candidate in group)


def in_round(number: int, every: bool, call: Call, accepted: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """An order that puts the candidate of a round first; the last one where there are fewer."""
    counted = eligible(call, accepted, every)
    if not counted:
        return tuple(accepted)
    first = counted[min(number, len(counted) - 1)]
    return (first, *(candidate for candidate in accepted if candidate is not first))


def _rounds(question: Question) -> int:
    """As many as the node with the most candidates has."""
    most = [1]

    def order(call: Call, accepted: Sequence[Candidate]) -> Sequence[Candidate]:
        most.append(len(eligible(call, accepted, question.every)))
        return by_cost(call, accepted)

    _compile(question, order, only_bind=True)
    return max(most)


class _Bound(Exception):
    """Ends a compilation after binding."""


@dataclass(frozen=True)
class _Stop:
    """A move that binds and ends the compilation."""

    name: str = ""
    stage: str = "binding"
    needs: Feature | None = None

    def propose(self, now: Deployment) -> Offers:
        """Bind and go."""
        yield Offer([now.rebound()], "any")
        raise _Bound

    def added_work(self, before: Deployment, after: Deployment) -> float:
        """None."""
        return 0.0


def _compile(question: Question, order: Order, only_bind: bool = False) -> Compiled | None:
    """Kernels by a given order, whatever they take of memory."""

    def after_binding(request: Request = Depends(request)) -> Sequence[Move]:
        return (_Stop(),) if only_bind else tuple(move for move in moves(request) if move.stage != "binding")

    run: Compiler[Compiled] = compiler.copy()
    run.dependency_overrides[moves] = after_binding
    run.dependency_overrides[kernel_order] = lambda: lambda model: order
    try:
        options = replace(question.options, lock=None, measure=False, dump_dir=None)
        return compile_model(question.source, options, load_target(question.target), pipeline=run)
    except _Bound:
        return None


def count_round(question: Question, number: int) -> Round | None:
    """Build and run one round; None where this choice of kernels does not fit the target."""
    from tilewright.run.build import build
    from tilewright.run.inputs import input_arrays
    from tilewright.run.simulate import execute

    try:
        compiled = _compile(question, partial(in_round, number, question.every))
        assert compiled is not None
        target, plan = load_target(question.target), compiled.plan
        with tempfile.TemporaryDirectory(prefix="tilewright-tune-") as folder:
            project = Path(folder) / "project"
            project.mkdir()
            write(compiled, project)
            image = build(project, compiled.artifacts.interface, target, Path(folder) / "build", trace=True)
            raw = [array.tobytes() for array in input_arrays(plan, None, 0)]
            done = execute(image, raw, count=True, timeout=SLOWEST_SECONDS)
    except DoesNotFit:
        return None
    if done.counts is None or not done.counts.layers:
        raise UsageError(
            f"target '{question.target}' cannot be tuned for",
            why="its simulator does not count instructions by layer",
            fix="name a target whose simulator takes the plugin, or the host",
        )
    instructions = {layer.instruction: layer.instructions for layer in done.counts.layers}
    return Round(compiled.loaded.sha256, by_node(plan, instructions))


def by_node(plan: ExecutionPlan, instructions: Mapping[int, int]) -> dict[str, NodeCount]:
    """What every node cost, and the copies that it reads."""
    copies = {
        slot: instructions.get(i.index, 0)
        for i in plan.instructions
        if i.call.node.domain == DOMAIN
        for slot in i.outputs
    }
    return {
        i.name: NodeCount(
            i.kernel.name, instructions.get(i.index, 0), sum(copies.get(slot, 0) for slot in set(i.inputs))
        )
        for i in plan.instructions
        if i.call.node.domain != DOMAIN
    }
