"""The pipeline from an ONNX file to a folder of C: the stages as the steps of one `Compiler`."""

from __future__ import annotations

import importlib
import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from tilewright.binding.bind import bind
from tilewright.binding.candidates import Refusals
from tilewright.binding.graph import BoundGraph
from tilewright.binding.lock import order_of
from tilewright.binding.order import Orders
from tilewright.codegen.artifacts import Artifacts
from tilewright.codegen.blob import WeightRegion
from tilewright.codegen.emit import emit
from tilewright.errors import PlatformError, TilewrightError, UsageError
from tilewright.frontend.load import frozen_inputs, load
from tilewright.memory.again import recomputed
from tilewright.memory.peak import within_peak
from tilewright.memory.placed import PlacedPlan
from tilewright.memory.planner import place_plan
from tilewright.memory.views import ordered_for_views, smaller_with_views
from tilewright.model import Model
from tilewright.options import MEMORY_PASSES, CompileOptions, RunOptions
from tilewright.passes import reorder
from tilewright.passes.driver import PassReport
from tilewright.passes.driver import run as run_passes
from tilewright.passes.quantise.lower import integer_border, lower
from tilewright.passes.quantise.report import quantisation_report, require_integers
from tilewright.pipeline import Compiler, Depends
from tilewright.plan.build import build
from tilewright.plan.check import check as check_plan
from tilewright.plan.plan import ExecutionPlan, TiledGraph
from tilewright.plan.schedule import schedule_batches, with_groups
from tilewright.platform import Feature, Kernel, MemoryLevel, Platform
from tilewright.plugins import kernels_of, platform
from tilewright.report.build import Report
from tilewright.report.collect import collect
from tilewright.rows.choose import row_chains
from tilewright.target import Target, with_sizes
from tilewright.tiling.fall_back import tile_or_fall_back
from tilewright.tiling.stacks import tile_beside_stacks
from tilewright.tiling.tile import TileOptions


@dataclass(frozen=True)
class Request:
    """What one compilation is asked: the model, the options, the target with its platform and kernels."""

    source: Path
    options: CompileOptions
    target: Target
    platform: Platform
    kernels: tuple[Kernel, ...]
    levels: tuple[MemoryLevel, ...]


@dataclass(frozen=True)
class Compiled:
    """The value of every stage."""

    request: Request
    loaded: Model
    model: Model
    bound: BoundGraph
    tiled: TiledGraph
    plan: ExecutionPlan
    placed: PlacedPlan
    artifacts: Artifacts
    report: Report


@dataclass
class Journal:
    """What the stages of one compilation leave for the report: seconds and the passes' results."""

    clock: Callable[[], float]
    progress: Callable[[str], None]
    seconds: dict[str, float] = field(default_factory=dict)
    passes: tuple[PassReport, ...] = ()
    stages: dict[str, Any] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Announce and measure one stage."""
        self.progress(name)
        start = self.clock()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + round(self.clock() - start, 6)


def clock() -> Callable[[], float]:
    """The clock that measures the stages."""
    return time.perf_counter


def progress() -> Callable[[str], None]:
    """What is told the name of every stage that begins; by default the log, seen with -v."""
    return lambda stage: logging.getLogger("tilewright").debug("%s", stage)


def journal(now: Callable[[], float] = Depends(clock), tell: Callable[[str], None] = Depends(progress)) -> Journal:
    """The journal of one compilation."""
    return Journal(now, tell)


def request() -> Request:
    """What is to be compiled; `compile_model` overrides it."""
    raise TilewrightError("no request was given to the compiler", fix="call compile_model")


def tiler(asked: Request = Depends(request)) -> Callable[[BoundGraph], TiledGraph]:
    """The function that cuts what does not fit the compute level, stacks counted."""
    options = TileOptions.without(asked.options.disabled_passes)
    return partial(tile_beside_stacks, levels=asked.levels, room=asked.target.stacks, options=options)


def allocator(asked: Request = Depends(request)) -> str:
    """The name of the allocator that places the buffers."""
    return asked.options.allocator


def solver_seconds(asked: Request = Depends(request)) -> float:
    """Seconds for each question to a solver."""
    return asked.options.solver_seconds


def kernel_order(asked: Request = Depends(request)) -> Orders:
    """What sorts the kernels that accept a node of a model: their costs, or the counts of a lock file."""
    return order_of(asked.options, asked.target, asked.kernels)


compiler: Compiler[Compiled] = Compiler()


@compiler.step
def frontend(asked: Request, log: Journal = Depends(journal)) -> Model:
    """Load and check the file."""
    with log.stage("frontend"):
        return load(
            asked.source,
            shapes=asked.options.shapes,
            frozen=frozen_inputs(asked.options.freeze),
            name=model_name(asked.source),
        )


@compiler.step
def passes(loaded: Model, asked: Request = Depends(request), log: Journal = Depends(journal)) -> Model:
    """Fold, fuse, cancel."""
    with log.stage("passes"):
        lowered = lower(loaded)
        if asked.options.quantized_io:
            lowered = integer_border(lowered)
        if asked.options.integer_only:
            require_integers(lowered)
        model, log.passes = run_passes(lowered, disabled=tuple(asked.options.disabled_passes - MEMORY_PASSES))
        if reorder.name not in asked.options.disabled_passes:
            model, saved = reorder.apply(model)
            log.passes += (PassReport(reorder.name, saved, saved > 0),)
    log.stages["loaded"] = loaded
    return model


@compiler.step
def binding(
    model: Model, asked: Request = Depends(request), by: Orders = Depends(kernel_order), log: Journal = Depends(journal)
) -> BoundGraph:
    """One kernel per node."""
    with log.stage("binding"):
        order = by(model)
        take = partial(bind, platform=asked.platform, kernels=asked.kernels, order=order)
        graph, model, saved = ordered_for_views(take(model), model, take, asked.options)
        log.stages["model"] = model
        log.passes = tuple(
            PassReport(p.name, p.saved_bytes + saved, p.changed or saved > 0) if p.name == reorder.name else p
            for p in log.passes
        )
        if asked.options.optimize != "speed":
            graph = within_peak(graph, partial(bind, model, asked.platform, asked.kernels), order, asked.options.io)
        if "row_chains" not in asked.options.disabled_passes and asked.options.program is None:
            chained = row_chains(graph, asked.kernels, order, asked.options)
            log.passes += (PassReport("row_chains", chained.saved_bytes, chained.graph is not graph, chained.added),)
            graph = chained.graph
        return graph


@compiler.step
def tiling(
    graph: BoundGraph,
    asked: Request = Depends(request),
    cut: Callable[[BoundGraph], TiledGraph] = Depends(tiler),
    by: Orders = Depends(kernel_order),
    log: Journal = Depends(journal),
) -> TiledGraph:
    """One tile schedule per node that must be cut."""
    model = log.stages["model"]

    def rebind(refused: Refusals) -> BoundGraph:
        return bind(model, asked.platform, asked.kernels, refused, by(model))

    most = {name: memory.most or memory.size for name, memory in asked.target.memories.items()}
    with log.stage("tiling"):
        return tile_or_fall_back(graph, cut, rebind, asked.levels, most, asked.options.fall_back)


@compiler.step
def plan(tiled: TiledGraph, asked: Request = Depends(request), log: Journal = Depends(journal)) -> ExecutionPlan:
    """Instructions over slots."""
    log.stages["tiled"] = tiled
    with log.stage("plan"):
        built = build(tiled)
        if asked.platform.sweeps:
            built = with_groups(built, schedule_batches(built))
        if "views" not in asked.options.disabled_passes and asked.platform.can(Feature.ALIASING):
            built, saved = smaller_with_views(built, asked.platform, asked.options)
            log.passes += (PassReport("views", saved, any(i.aliasing for i in built.instructions)),)
        if "recompute" not in asked.options.disabled_passes and asked.platform.can(Feature.RECOMPUTE):
            built, saved, added = recomputed(built, asked.platform, asked.options)
            log.passes += (PassReport("recompute", saved, saved > 0, added),)
        check_plan(built)
        return built


@compiler.step
def memory(
    built: ExecutionPlan,
    asked: Request = Depends(request),
    name: str = Depends(allocator),
    seconds: float = Depends(solver_seconds),
    log: Journal = Depends(journal),
) -> PlacedPlan:
    """An offset for every byte."""
    disabled = asked.options.disabled_passes
    with log.stage("memory"):
        placed = place_plan(
            built,
            asked.platform,
            io=asked.options.io,
            allocator=name,
            effort=seconds / 5.0,
            in_place="in_place" not in disabled,
            overlap="overlap" not in disabled,
        )
        if "overlap" not in disabled:
            apart = place_plan(built, asked.platform, io=asked.options.io, allocator="greedy", overlap=False)
            saved = max(0, apart.solution.peak - placed.solution.peak)
            log.passes += (PassReport("overlap", saved, saved > 0),)
        return placed


Generator = Callable[[PlacedPlan, Sequence[MemoryLevel], Sequence[str]], Artifacts]


def generator(asked: Request = Depends(request)) -> Generator:
    """What writes the project."""
    return emitter(asked)


@compiler.step
def codegen(
    placed: PlacedPlan,
    asked: Request = Depends(request),
    write_code: Generator = Depends(generator),
    log: Journal = Depends(journal),
) -> Compiled:
    """The C project and its report."""
    with log.stage("codegen"):
        artifacts = write_code(placed, asked.levels, asked.target.flags)
    log.seconds["total"] = round(sum(log.seconds.values()), 6)
    tiled, kept = log.stages["tiled"], log.stages["model"]
    report = collect(
        loaded=log.stages["loaded"], graph=tiled.graph, model=log.stages["model"], placed=placed, passes=log.passes,
        levels=asked.levels, constant_bytes=artifacts.constant_bytes,
        table_bytes=artifacts.table_bytes, target=asked.target.name, seconds=log.seconds,
        float_tensors=quantisation_report(kept).float_tensors if kept.quantisation_form else (),
    )  # fmt: skip
    if artifacts.runtime_bytes:
        report = with_weights_in_ram(report, placed.level, artifacts.runtime_bytes)
    return Compiled(
        asked, log.stages["loaded"], log.stages["model"], tiled.graph, tiled, placed.plan, placed, artifacts, report
    )


def with_weights_in_ram(report: Report, level: str, size_bytes: int) -> Report:
    """The report with constants that lie in the compute level counted there."""
    memory = dict(report.memory)
    at = memory[level]
    memory[level] = replace(at, worst_case=at.worst_case + size_bytes, constants=at.constants + size_bytes)
    return replace(report, memory=memory)


def emitter(asked: Request, regions: tuple[WeightRegion, ...] = ()) -> Generator:
    """What writes the project, with these regions of weights outside: the platform's own module where it names one."""
    chosen = asked.platform
    if asked.options.context and not chosen.can(Feature.CONTEXT):
        raise UsageError(
            "--context asks for several instances",
            why=f"platform '{chosen.name}' writes its own code, and that is one network",
            fix="leave it out",
        )
    if not chosen.emitter:
        return partial(emit, regions=regions, context=asked.options.context)
    try:
        own: Callable[..., Artifacts] = importlib.import_module(chosen.emitter).emit
    except (ImportError, AttributeError) as error:
        raise PlatformError(
            f"platform '{chosen.name}' cannot write its code", why=str(error), fix=f"mend '{chosen.emitter}'"
        ) from error
    given = {"regions": regions} if regions else {}
    return partial(own, **given, **({"context": True} if asked.options.context else {}))


def compile_model(
    source: Path, options: CompileOptions, target: Target, *, pipeline: Compiler[Compiled] | None = None
) -> Compiled:
    """Compile a model for a target; every error is a `TilewrightError` whose class carries the exit code.

    `pipeline` is a changed copy of `compiler`, with steps or dependencies of the caller's own.
    """
    asked = make_request(source, options, target)
    run = (pipeline or compiler).copy()
    run.dependency_overrides.setdefault(request, lambda: asked)
    if options.program is not None:
        from tilewright.program.deploy import with_program
        from tilewright.program.schema import read_schema

        run = with_program(run, read_schema(options.program))
    if options.dump_dir is not None:
        from tilewright.report.dump import add_dumps

        add_dumps(run, options.dump_dir)
    return run.compile(asked)


def make_request(source: Path, options: CompileOptions, target: Target) -> Request:
    """Resolve platform, kernels and level sizes; UsageError for a level that the platform does not have."""
    chosen = platform(target.platform)
    known = {level.name for level in chosen.memory}
    for option, sizes in (("set", options.level_sizes), ("budget", options.budgets)):
        for name in sizes:
            if name not in known:
                raise UsageError(
                    f"--{option} {name}={sizes[name]}", why=f"platform '{chosen.name}' has no memory level '{name}'",
                    fix=f"it has {', '.join(sorted(known))}",
                )  # fmt: skip
    levels = tuple(_sized(level, options.level_sizes, target) for level in chosen.memory)
    kernels = tuple(kernel.on_core(target.capabilities, (options.optimize,)) for kernel in kernels_of(chosen))
    return Request(source, options, target, chosen, kernels, levels)


def _sized(level: MemoryLevel, sizes: Mapping[str, int], target: Target) -> MemoryLevel:
    memory = target.memories.get(level.name)
    size = sizes.get(level.name, memory.size if memory is not None and memory.size else level.size)
    return replace(level, size=size)


def write(compiled: Compiled, folder: Path) -> Compiled:
    """Write the C project into an existing folder; every path is one of ours, none comes from the model.

    What comes back counts the seconds with those of code generation: most of a weight's text is made here.
    """
    start = time.perf_counter()
    for path in compiled.artifacts.files:
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("w", encoding="utf-8") as stream:
            stream.writelines(compiled.artifacts.pieces(path))
    for path, data in compiled.artifacts.blobs.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    seconds, spent = dict(compiled.report.tool.seconds), time.perf_counter() - start
    for name in ("codegen", "total"):
        seconds[name] = round(seconds.get(name, 0.0) + spent, 6)
    return replace(compiled, report=replace(compiled.report, tool=replace(compiled.report.tool, seconds=seconds)))


def run_model(compiled: Compiled, target: Target, asked: RunOptions, project: Path) -> Report:
    """Build the written project, run it on the target and compare; the report says what was found."""
    from tilewright.run.session import run_project
    from tilewright.run.simulator import Subject

    sized = with_sizes(target, compiled.request.levels)
    return run_project(Subject(compiled.placed, compiled.report, compiled.request.source, project), sized, asked)


def model_name(source: Path) -> str:
    """The file's name without its ending; its folder's where that says nothing."""
    return source.resolve().parent.name if source.stem in ("model", "network") else source.stem
