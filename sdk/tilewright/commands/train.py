"""Write a network that learns: a step of training and an inference with common parameters; try it in the simulator."""

from __future__ import annotations

import argparse
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import astuple, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tilewright.commands.answer import Answer
from tilewright.commands.common import (
    add_compilation,
    add_force,
    compile_options,
    existing,
    overflow,
    path,
    seconds,
    target_for,
    tell,
    tolerance,
    whole,
)
from tilewright.commands.comparing import mismatch
from tilewright.commands.progress import stages, watched
from tilewright.commands.streams import terminal_width
from tilewright.errors import UnsupportedError, UsageError

if TYPE_CHECKING:
    from tilewright.bundle import Bundle
    from tilewright.compile import Compiled
    from tilewright.gradient.curves import Curves
    from tilewright.gradient.simulated import Trained
    from tilewright.gradient.training import Training, TrainingWish
    from tilewright.model import Model
    from tilewright.options import CompileOptions
    from tilewright.pipeline import Compiler
    from tilewright.report.build import Report
    from tilewright.report.sharing import LayerChoice, TrainingReport, WorkReport
    from tilewright.run.frames import Frames
    from tilewright.target import Target

SUMMARY = "write a network that learns on the device"
OPTIMISERS = ("sgd", "momentum", "adam")
GRADIENTS = ("float", "int8")
AUTO = "auto"
MOST_WORK = 2.0
"""So many times the work of a plain step is tried where memory is short."""
WORK_FOR_SIZE = 1.25
"""So many times the work of a plain step is done for the fewest bytes."""
MOST_ACCUMULATED = 1_000_000
"""A count in float32 is exact far beyond it."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """MODEL, target, output folder, what is learnt and how."""
    add_compilation(parser)
    parser.add_argument("-t", "--target", metavar="TARGET", required=True, help="a target's name or folder")
    parser.add_argument("-o", "--output", metavar="DIR", type=path, required=True, help="folder for the C project")
    add_force(parser)
    group = parser.add_argument_group("training")
    group.add_argument(
        "--loss", metavar="NAME", default="cross_entropy", help="cross_entropy, mse, bce, mse:INPUT, or output:NAME"
    )
    group.add_argument(
        "--update", metavar="NAME,...", default="all",
        help="last, bias, all, lora:4 (beside each layer two matrices of that rank), auto (the layers that lower the "
        "loss of --data most for their bytes, within the --budget), or parameters by name",
    )  # fmt: skip
    group.add_argument(
        "--gradient", choices=GRADIENTS, default="float",
        help="int8: a quantised network learns in integers, its gradients are codes of eight bits",
    )  # fmt: skip
    group.add_argument("--optimizer", choices=OPTIMISERS, default="sgd", help="how parameters take their step")
    group.add_argument("--learning-rate", metavar="R", type=seconds, default=0.01, help="the length of a step")
    group.add_argument("--momentum", metavar="M", type=tolerance, default=0.9, help="what momentum keeps of a step")
    group.add_argument(
        "--batch-accumulate", metavar="N", type=whole, default=1,
        help="parameters take a step in the last of every N calls, by the mean of their gradients",
    )  # fmt: skip
    group.add_argument(
        "--work", metavar="F", type=tolerance,
        help="compute results again instead of keeping them, at most so many times the work of a plain step; "
        "default: as little as the memory or a --budget needs",
    )  # fmt: skip
    group = parser.add_argument_group("in the simulator")
    group.add_argument("--run", metavar="N", type=whole, help="make so many steps and compare each with NumPy's")
    group.add_argument("--data", metavar="FILE.npz", type=path, help="samples and targets by name; default: drawn ones")
    group.add_argument("--seed", metavar="N", type=whole, default=0, help="seed of drawn samples")
    group.add_argument("--atol", metavar="A", type=tolerance, default=1e-4, help="absolute tolerance of floats")
    group.add_argument("--rtol", metavar="R", type=tolerance, default=1e-4, help="relative tolerance of floats")


def execute(arguments: argparse.Namespace) -> Answer:
    """Differentiate, compile both networks into one image, write; train in the simulator where that is asked for."""
    from tilewright.commands.training_text import steps_told, told
    from tilewright.compile import write_files
    from tilewright.gradient.curves import with_divergence
    from tilewright.output.staged import staged
    from tilewright.output.written import hashes, listed, protection
    from tilewright.report.build import dumps
    from tilewright.report.envelope import error_json
    from tilewright.report.terminal import render

    options = compile_options(arguments)
    _refuse(options)
    existing(arguments.model)
    existing(arguments.data)
    target = target_for(arguments.target, options)
    model, wish = _loaded(arguments, options), _wish(arguments, options.optimize)
    with staged(arguments.output, protection(arguments.output, force=arguments.force)) as folder:
        plan = partial(_within, arguments, model, options, target, folder)
        layers = _layers(arguments, model, wish, plan) if arguments.update == AUTO else ()
        names = tuple(name for one in layers if one.taken for name in one.parameters)
        planned = plan(replace(wish, parameters=names))
        made, bundle = planned.made, planned.bundle
        write_files(bundle.artifacts.project, folder)
        report, failure, curves = bundle.report, None, None
        if error := overflow(report, options.budgets, sure=True):
            raise error
        if arguments.run is not None or arguments.data is not None:
            frames = _frames(arguments, made, bundle)
            done = _simulated(arguments, bundle, target, folder, frames)
            report, curves = _with_run(bundle, done.report), _curves(arguments, made, bundle, frames, done.losses)
            failure = with_divergence(mismatch(done.report), done.losses) or curves.verdict(made.name)
        report = replace(report, training=_report(arguments, planned, curves, layers))
        report = replace(report, files={**listed(arguments.output), **hashes(folder)})
        (folder / "report.json").write_text(dumps(report.to_json()), encoding="utf-8")
    short = replace(report, run=None, networks=tuple(replace(one, layers=()) for one in bundle.report.networks))
    assert report.training is not None
    same = report.run is not None and mismatch(report) is None
    text = [render(short, terminal_width()), told(report.training), *steps_told(report.training, report, same)]
    text.append(f"written to {arguments.output}")
    answer = error_json(failure, report=report) if failure else report.to_json()
    return Answer("\n".join(text), answer, failure)


def _refuse(options: CompileOptions) -> None:
    from tilewright.bundle import options_of_one

    for option in options_of_one(options):
        raise UnsupportedError(
            f"{option} and train", why="it applies to one network, and training is a step and an inference",
            fix="leave it out",
        )  # fmt: skip
    if options.io != "arena":
        raise UsageError(
            f"--io {options.io} and train", why="a step takes its inputs from the arena", fix="leave it out"
        )
    if options.state.pairs or options.state.auto or options.state.initial:
        raise UsageError("--state and train", why="parameters are the states of a training", fix="leave it out")


def _wish(arguments: argparse.Namespace, aim: str) -> TrainingWish:
    from tilewright.gradient.optimisers import Optimiser
    from tilewright.gradient.training import TrainingWish

    accumulate = arguments.batch_accumulate
    if not 1 <= accumulate <= MOST_ACCUMULATED:
        raise UsageError(
            f"--batch-accumulate {accumulate}", why=f"a step is of 1 to {MOST_ACCUMULATED:,} gradients",
            fix="leave it out for a step at every call",
        )  # fmt: skip
    optimiser = Optimiser(arguments.optimizer, arguments.learning_rate, arguments.momentum, accumulate=accumulate)
    most = WORK_FOR_SIZE if aim == "size" and not arguments.budgets else MOST_WORK
    work = arguments.work if arguments.work is not None else most
    return TrainingWish(arguments.loss, arguments.update, optimiser, work)


def _loaded(arguments: argparse.Namespace, options: CompileOptions) -> Model:
    from tilewright.compile import model_name
    from tilewright.frontend.load import frozen_inputs, load

    model = load(
        arguments.model, shapes=options.shapes, frozen=frozen_inputs(options.freeze), name=model_name(arguments.model),
        bounds=options.bounds,
    )  # fmt: skip
    tell(model.notes)
    return model


def _layers(
    arguments: argparse.Namespace, model: Model, wish: TrainingWish, plan: Callable[[TrainingWish], Planned]
) -> tuple[LayerChoice, ...]:
    """What every layer contributes, measured on the data; those are taken with which a step is within the budget."""
    from tilewright.gradient.contributions import by_gain, contributions
    from tilewright.report.sharing import LayerChoice

    if arguments.data is None:
        raise UsageError("--update auto", why="layers are chosen by the loss that is measured", fix="also pass --data")
    with stages(arguments.quiet) as stage:
        stage("measuring what each layer contributes")
        measured = tuple(contributions(model, wish, arguments.data, arguments.run))
    taken = {measured[0].parameters}
    for one in by_gain(measured):
        names = tuple(
            name for other in measured if other.parameters in {*taken, one.parameters} for name in other.parameters
        )
        if not arguments.budgets or plan(replace(wish, parameters=names)).fits:
            taken.add(one.parameters)
    return tuple(LayerChoice(one.parameters, one.size_bytes, one.loss, one.parameters in taken) for one in measured)


class Planned(NamedTuple):
    """A training, compiled; what the steps that were planned for it need, and whether the last is within the budget."""

    made: Training
    bundle: Bundle
    tried: tuple[WorkReport, ...]
    fits: bool


def _within(
    arguments: argparse.Namespace, model: Model, options: CompileOptions, target: Target, folder: Path,
    wish: TrainingWish,
) -> Planned:  # fmt: skip
    """The step with the least work that is within the memory and the budget, else that in the fewest bytes.

    Where bytes are asked for, by --work or for size, the plain step is compared with the one in the fewest live bytes,
    which are a guide alone.
    """
    from tilewright.report.sharing import WorkReport

    tried: list[WorkReport] = []
    planned: list[Training] = []
    every = _trainings(arguments, model, wish)
    least_work = bool(options.budgets) or (arguments.work is None and options.optimize != "size")
    for made in every if least_work else (next(every), *deque(every, maxlen=1)):
        bundle = _bundle(arguments, made, options, target, folder)
        planned.append(made)
        tried.append(WorkReport(made.work, bundle.together.alone[0].arena_bytes))
        if least_work and overflow(bundle.report, options.budgets, sure=True) is None:
            return Planned(made, bundle, tuple(tried), True)
    least = min(range(len(tried)), key=lambda at: (tried[at].step_bytes, tried[at].work))
    if planned[least] is not made:
        bundle = _bundle(arguments, planned[least], options, target, folder)
    if not least_work:
        tried = [tried[least]]
    return Planned(planned[least], bundle, tuple(tried), not options.budgets)


def _trainings(arguments: argparse.Namespace, model: Model, wish: TrainingWish) -> Iterator[Training]:
    """What is planned one after the other, in floats or in integers."""
    from tilewright.gradient.integers.training import trainings_in_integers
    from tilewright.gradient.training import trainings

    return trainings_in_integers(model, wish) if arguments.gradient == "int8" else trainings(model, wish)


def _bundle(
    arguments: argparse.Namespace, made: Training, options: CompileOptions, target: Target, folder: Path
) -> Bundle:
    """Both networks as files of the project, compiled into one image, with the functions of a training beside them."""
    import onnx

    from tilewright.bundle import BundleWish, compile_bundle
    from tilewright.codegen.training import source_of, with_training
    from tilewright.frontend.write import to_onnx

    sources = [folder / f"{one.name}.onnx" for one in (made.step, made.infer)]
    for one, source in zip(made.floats or (made.plain, made.infer), sources, strict=True):
        onnx.save(to_onnx(one), source)
    ours = {sources[0]: made.step, **({} if made.floats is None else {sources[1]: made.infer})}
    plain = replace(options, shapes={}, freeze={}, bounds={})
    wish = BundleWish(made.name, more=(source_of(made.name),))
    with stages(arguments.quiet) as stage:
        bundle = compile_bundle(sources, plain, target, wish, pipeline=_compiler(watched(stage), ours))
    step, infer = (one.plan for one in bundle.members)
    accumulate = arguments.batch_accumulate
    project = with_training(bundle.artifacts.project, made.name, step, infer, made.target, accumulate)
    return replace(bundle, artifacts=replace(bundle.artifacts, project=project))


def _compiler(pipeline: Compiler[Compiled] | None, ours: Mapping[Path, Model]) -> Compiler[Compiled]:
    """The pipeline, which takes networks of ours in the place of their files: these have no Descents, and no codes."""
    from tilewright.compile import Journal, compiler, journal
    from tilewright.compile import load as load_file
    from tilewright.pipeline import Depends
    from tilewright.schedule.request import Request

    def load(request: Request, log: Journal = Depends(journal)) -> Model:
        loaded = load_file(request, log)
        own = ours.get(request.source)
        return loaded if own is None else replace(own, sha256=loaded.sha256, notes=loaded.notes)

    changed = (pipeline or compiler).copy()
    changed.replace("load", load)
    return changed


def _frames(arguments: argparse.Namespace, made: Training, bundle: Bundle) -> Frames:
    """The inputs of every step."""
    from tilewright.gradient.data import drawn, frames_of

    if arguments.run == 0:
        raise UsageError(
            "--run 0", why="zero steps leave nothing to compare", fix="leave it out, or give a number of steps"
        )
    plan = bundle.members[0].plan
    if arguments.data is not None:
        return frames_of([plan.slots[slot].tensor for slot in plan.input_slots], arguments.data, arguments.run)
    return drawn(plan, made.target, made.classes, arguments.run, arguments.seed)


def _simulated(
    arguments: argparse.Namespace, bundle: Bundle, target: Target, folder: Path, frames: Frames
) -> Trained:  # fmt: skip
    from tilewright.gradient.simulated import trained
    from tilewright.options import RunOptions

    running = RunOptions(atol=arguments.atol, rtol=arguments.rtol, seed=arguments.seed)
    return trained(bundle.subject(folder).members[0], target, frames, running)


def _curves(
    arguments: argparse.Namespace, made: Training, bundle: Bundle, frames: Frames, losses: tuple[float, ...]
) -> Curves:  # fmt: skip
    """The losses, and of steps in integers those of the same steps in floats, where samples are given."""
    from tilewright.gradient.curves import Curves, held_against

    if made.floats is None or arguments.data is None:
        return Curves(losses)
    return held_against(made.floats[0], bundle.members[0].plan, frames, losses)


def _with_run(bundle: Bundle, step: Report) -> Report:
    """The bundle's report with what the steps have shown."""
    return replace(bundle.report, networks=(step, *bundle.report.networks[1:]), run=step.run, toolchain=step.toolchain)


def _report(
    arguments: argparse.Namespace, planned: Planned, curves: Curves | None, layers: tuple[LayerChoice, ...]
) -> TrainingReport:
    from tilewright.report.sharing import TrainingReport

    made = planned.made
    behind = [f"{name}/rest" for name in made.parameters if made.floats is not None]
    size = sum(made.step.tensors[name].size_bytes for name in (*made.parameters, *behind) if name in made.step.tensors)
    step, infer = (one.arena_bytes for one in planned.bundle.together.alone)
    losses = ((), (), ()) if curves is None else astuple(curves)
    return TrainingReport(
        arguments.loss, arguments.update, arguments.optimizer, made.parameters, size, step, infer, made.work, losses[0],
        arguments.batch_accumulate, planned.tried, layers, arguments.gradient, *losses[1:],
    )  # fmt: skip
