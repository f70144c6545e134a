"""Deployments for tests: a model on a platform, with any options and any moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from tilewright.binding.order import Order, by_cost
from tilewright.model import Model
from tilewright.options import CompileOptions
from tilewright.platform import Kernel, Platform
from tilewright.plugins import kernels_of, platform
from tilewright.schedule.deployment import Deployment
from tilewright.schedule.moves import Move
from tilewright.schedule.question import Lowered, Question
from tilewright.schedule.request import Request
from tilewright.schedule.search import Searched, best_of
from tilewright.schedule.tile import tile
from tilewright.target import load_target


def deployment(
    model: Model,
    chosen: Platform | None = None,
    kernels: Sequence[Kernel] | None = None,
    options: CompileOptions | None = None,
    order: Order = by_cost,
) -> Deployment:
    """The model where nothing is decided yet, by default on the portable platform, with those of its kernels that
    this machine can run; of another platform with all of them."""
    chosen, options, host = chosen or platform("generic"), options or CompileOptions(), load_target("host")
    offered: Sequence[Kernel] = kernels_of(chosen) if kernels is None else kernels
    if kernels is None and chosen.name == host.platform:
        offered = [k for k in offered if k.on_core(host.capabilities, (options.optimize,)).refusal is None]
    request = Request(
        Path(f"{model.name}.onnx"), options, host, chosen, tuple(offered), tuple(chosen.memory),
    )  # fmt: skip
    question = Question(request, Lowered(model, model), lambda _: order, partial(tile, levels=request.levels))
    return Deployment(question)


def after(start: Deployment, *moves: Move) -> Searched:
    """What the search makes of a deployment with these moves alone."""
    return best_of(start, moves)


def optimised(start: Deployment, optimize: str) -> Deployment:
    """The same with another `--optimize`."""
    request = start.question.request
    asked = replace(request, options=replace(request.options, optimize=optimize))  # type: ignore[arg-type]
    return Deployment(replace(start.question, request=asked), start.decisions)
