"""Drawn calls on a simulated board: many of them as one network of unconnected layers, so that one image runs all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args

import numpy as np

from tilewright.binding.bind import bind
from tilewright.binding.graph import Candidate
from tilewright.codegen.c_types import packed
from tilewright.codegen.emit import emit
from tilewright.conformance.kernels import Attempt
from tilewright.conformance.program import Outcome, unpack
from tilewright.conformance.subject import ALLOCATOR
from tilewright.errors import TilewrightError, UnsupportedNode
from tilewright.frontend.shapes import OPSET
from tilewright.memory.placed import PlacedPlan
from tilewright.memory.planner import place_plan
from tilewright.model import Array, Model, Node
from tilewright.ops.operator import Call
from tilewright.options import Optimize
from tilewright.plan.build import build as build_plan
from tilewright.platform import Kernel, Platform
from tilewright.plugins import kernels_of
from tilewright.run.build import build
from tilewright.run.cuda import replayed_results
from tilewright.run.image import Image
from tilewright.run.simulate import execute
from tilewright.run.simulator import simulator_of
from tilewright.run.simulators.cuda import Cuda
from tilewright.schedule.tile import tile
from tilewright.target import Target

NAME = "calls"
AT_ONCE = 32
"""Calls of one image."""
AIMS = get_args(Optimize)


class _NotWrittenError(TilewrightError):
    """The platform's emitter has no words for a call."""


def on_board(platform: Platform, target: Target) -> tuple[Kernel, ...]:
    """All kernels of the platform as the target's core sees them, those for one aim of optimisation too."""
    return tuple(kernel.on_core(target.capabilities, AIMS) for kernel in kernels_of(platform))


def run_on_board(
    drawn: Sequence[Attempt], kernels: Sequence[Kernel], platform: Platform, target: Target
) -> list[Outcome | None]:
    """What every call gives on the board, nothing where the platform's emitter refuses to write it.

    An image that fails is taken apart, so that one call does not hide the others.
    """
    if not drawn:
        return []
    if len(drawn) > AT_ONCE:
        return [
            outcome
            for at in range(0, len(drawn), AT_ONCE)
            for outcome in run_on_board(drawn[at : at + AT_ONCE], kernels, platform, target)
        ]
    try:
        return [*_together(drawn, kernels, platform, target)]
    except TilewrightError as error:
        if len(drawn) == 1:
            return [None if isinstance(error, _NotWrittenError) else Outcome(failure=str(error))]
    half = len(drawn) // 2
    return [
        outcome for part in (drawn[:half], drawn[half:]) for outcome in run_on_board(part, kernels, platform, target)
    ]


def _together(drawn: Sequence[Attempt], kernels: Sequence[Kernel], platform: Platform, target: Target) -> list[Outcome]:
    placed = _placed(drawn, kernels, platform)
    rounds = max(len(one.subject.runs) for one in drawn)
    arrays = [[array for one in drawn for array in one.subject.runs[n % len(one.subject.runs)]] for n in range(rounds)]
    if isinstance(simulator_of(target), Cuda):
        made = _replayed(placed, target, arrays)
    else:
        with TemporaryDirectory() as name:
            image = _built(placed, platform, target, Path(name))
            made = [_run(image, placed, given) for given in arrays]
    results_of: list[list[tuple[Array, ...]]] = [[] for _ in drawn]
    for number, results in enumerate(made):
        values = iter(results)
        for mine, one in zip(results_of, drawn, strict=True):
            own = tuple(next(values) for _ in one.subject.outputs)
            if number < len(one.subject.runs):
                mine.append(own)
    return [Outcome(tuple(mine)) for mine in results_of]


def _placed(drawn: Sequence[Attempt], kernels: Sequence[Kernel], platform: Platform) -> PlacedPlan:
    """One network of all calls, each bound to its own kernel."""
    wanted = {f"{one.model.name}_{one.trial.call.node.name}": (one.kernel.platform, one.kernel.name) for one in drawn}

    def order(call: Call, accepted: Sequence[Candidate]) -> Sequence[Candidate]:
        mine = wanted.get(call.node.name)
        return sorted(accepted, key=lambda c: mine is not None and (c.kernel.platform, c.kernel.name) != mine)

    bound = bind(together([one.model for one in drawn]), platform, kernels, order=order)
    return place_plan(build_plan(tile(bound)), platform, allocator=ALLOCATOR)


def together(models: Sequence[Model]) -> Model:
    """Networks side by side: every name with that of its network before it."""

    def renamed(model: Model) -> Callable[[str], str]:
        return lambda name: f"{model.name}_{name}" if name else ""

    nodes, tensors, constants = list[Node](), {}, {}
    inputs, outputs = list[str](), list[str]()
    for model in models:
        own = renamed(model)
        nodes += [
            replace(
                node, name=own(node.name), inputs=tuple(map(own, node.inputs)), outputs=tuple(map(own, node.outputs))
            )
            for node in model.nodes
        ]
        tensors.update({own(name): replace(tensor, name=own(name)) for name, tensor in model.tensors.items()})
        constants.update({own(name): value for name, value in model.constants.items()})
        inputs += map(own, model.inputs)
        outputs += map(own, model.outputs)
    return Model(NAME, tuple(nodes), tensors, constants, tuple(inputs), tuple(outputs), OPSET)


def _replayed(placed: PlacedPlan, target: Target, rounds: Sequence[Sequence[Array]]) -> Sequence[Sequence[Array]]:
    """Every result of each round, by the library of a platform that has no images."""
    try:
        return replayed_results(placed, target, rounds)
    except UnsupportedNode as error:
        raise _NotWrittenError(str(error)) from None


def _built(placed: PlacedPlan, platform: Platform, target: Target, work: Path) -> Image:
    project = work / "project"
    artifacts = emit(placed, platform.memory, ())
    for path, text in artifacts.files.items():
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text(text, encoding="utf-8")
    return build(project, artifacts.interface, target, work / "work")


def _run(image: Image, placed: PlacedPlan, arrays: Sequence[Array]) -> list[Array]:
    """Every result of one run."""
    plan = placed.plan
    given = [plan.slots[slot].tensor for slot in plan.input_slots]
    inputs = [packed(t.dtype, np.ascontiguousarray(a)).tobytes() for t, a in zip(given, arrays, strict=True)]
    made = [plan.slots[slot].tensor for slot in plan.output_slots]
    raw = execute(image, inputs).outputs
    return [unpack(tensor, data) for tensor, data in zip(made, raw, strict=True)]
