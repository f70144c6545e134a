"""The pipeline from an ONNX file to a folder of C: the stages as the steps of one `Compiler`."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from html import escape
from pathlib import Path

from tilewright.binding.graph import BoundGraph
from tilewright.binding.lock import order_of
from tilewright.binding.order import Orders
from tilewright.codegen.artifacts import Artifacts
from tilewright.codegen.generator import Generator, generator
from tilewright.codegen.text import with_text
from tilewright.errors import DoesNotFit, TilewrightError, UsageError
from tilewright.frontend.load import frozen_inputs
from tilewright.frontend.load import load as read_model
from tilewright.memory.needs import Places
from tilewright.memory.placed import PlacedPlan
from tilewright.memory.placing import Placing
from tilewright.model import Model
from tilewright.options import CompileOptions, RunOptions
from tilewright.passes.quantise.report import quantisation_report
from tilewright.pipeline import Compiler, Depends
from tilewright.plan.plan import ExecutionPlan
from tilewright.platform import Feature
from tilewright.report.allowance import with_estimates
from tilewright.report.build import Report
from tilewright.report.collect import collect
from tilewright.report.page.render import render_page
from tilewright.run.simulator import simulator_of
from tilewright.schedule.decisions import Decisions
from tilewright.schedule.decisions_file import followed
from tilewright.schedule.deployment import Deployment
from tilewright.schedule.lowering import lowered
from tilewright.schedule.moves import MOVES, Move, allowed
from tilewright.schedule.question import Cut, Lowered, Question
from tilewright.schedule.request import Request, make_request, request
from tilewright.schedule.rounds import go_round
from tilewright.schedule.search import Found, best_of, finish
from tilewright.schedule.stacks import tile_beside_stacks
from tilewright.target import Target, with_sizes
from tilewright.text.read import read_tokeniser
from tilewright.tiling.switches import TileOptions
from tilewright.tiling.tiled_graph import TiledGraph

ROOM_TRIES = 2
"""Times that a network is tiled anew where its program leaves less of the home level than was thought."""


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
    decisions: Decisions

    def _repr_html_(self) -> str:
        """What notebooks show: the page of the report, in a frame of its own."""
        page = escape(render_page(self.report))
        return f'<iframe sandbox="allow-scripts" style="width:100%;height:60rem;border:0" srcdoc="{page}"></iframe>'


@dataclass
class Journal:
    """The clock of one compilation: seconds by stage, and who is told of each stage that begins."""

    clock: Callable[[], float]
    progress: Callable[[str], None]
    seconds: dict[str, float] = field(default_factory=dict)
    running: str = ""

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Announce and measure a stage, or a further part of it; an error in it carries its name."""
        if name != self.running:
            self.progress(name)
            self.running = name
        start = self.clock()
        try:
            yield
        except TilewrightError as error:
            if not error.where.step:
                error.where = replace(error.where, step=name)
            raise
        finally:
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


def tiler(asked: Request = Depends(request)) -> Cut:
    """The function that cuts what does not fit the compute level, stacks counted."""
    options = TileOptions.without(asked.options.disabled_passes)
    return partial(
        tile_beside_stacks, levels=asked.levels, room=asked.stacks, options=options,
        placing=Placing.asked(asked.platform, asked.options),
    )  # fmt: skip


def allocator(asked: Request = Depends(request)) -> str:
    """The name of the allocator that places the buffers."""
    return asked.options.allocator


def solver_seconds(asked: Request = Depends(request)) -> float:
    """Seconds for each question to a solver."""
    return asked.options.solver_seconds


def kernel_order(asked: Request = Depends(request)) -> Orders:
    """What sorts the kernels that accept a node of a model: their costs, or the counts of a lock file."""
    return order_of(asked.options, asked.target, asked.kernels)


def moves(asked: Request = Depends(request)) -> Sequence[Move]:
    """What the search may try, in order: all that the platform's code can be and the options do not leave out."""
    return allowed(MOVES, asked)


def asking(
    asked: Request = Depends(request),
    orders: Orders = Depends(kernel_order),
    cut: Cut = Depends(tiler),
    name: str = Depends(allocator),
    seconds: float = Depends(solver_seconds),
) -> Callable[[Lowered], Question]:
    """What makes of a lowered network the question that the search answers."""
    return lambda network: Question(asked, network, orders, cut, name, effort=seconds / 5.0)


compiler: Compiler[Compiled] = Compiler()


@compiler.step
def load(asked: Request, log: Journal = Depends(journal)) -> Model:
    """Load and check the file."""
    with log.stage("frontend"):
        loaded = read_model(
            asked.source,
            shapes=asked.options.shapes,
            frozen=frozen_inputs(asked.options.freeze),
            name=model_name(asked.source),
            state=asked.options.state,
            bounds=asked.options.bounds,
        )
        if (loaded.states or asked.options.stream) and not asked.platform.can(Feature.STATE):
            what = f"'{loaded.states[0].past}' is" if loaded.states else "--stream makes"
            raise UsageError(
                f"{what} state, which platform '{asked.platform.name}' does not keep",
                why="it writes its own code, whose inputs and outputs are all the caller's",
                fix="give --state none and copy each output to its input, or use tilewright.graphs",
            )
        if asked.options.io == "stream" and (asked.platform.copies or not asked.platform.can(Feature.ROW_CHAINS)):
            raise UsageError(
                f"--io stream is nothing that platform '{asked.platform.name}' does",
                why="it computes tiles of whole tensors, no rows",
                fix="choose a target of another platform, or --io arena",
            )
        return loaded


@compiler.step
def lower(loaded: Model, asked: Request = Depends(request), log: Journal = Depends(journal)) -> Lowered:
    """Quantised patterns as integers; fold, fuse, cancel."""
    with log.stage("passes"):
        return lowered(loaded, asked.options)


@compiler.step
def search(
    network: Lowered,
    ask: Callable[[Lowered], Question] = Depends(asking),
    chosen: Sequence[Move] = Depends(moves),
    log: Journal = Depends(journal),
) -> Found:
    """Kernels, order, chains, tiles, aliases and offsets: what is decided, and the placed plan that comes of it."""
    question = ask(network)
    if (file := question.request.options.decisions) is not None:
        with log.stage("memory"):
            deployment = followed(question, file)
            return Found(deployment, deployment.finished(), ())
    searched = best_of(Deployment(question), chosen, log.stage)
    return finish(go_round(searched, chosen, log.stage), log.stage)


@compiler.step
def emit(
    found: Found,
    asked: Request = Depends(request),
    write_code: Generator = Depends(generator),
    log: Journal = Depends(journal),
) -> Compiled:
    """The C project and its report."""
    with log.stage("codegen"):
        artifacts = write_code(found.placed, asked.levels, asked.target.flags)
        if asked.options.tokenizer is not None:
            artifacts = with_text(artifacts, found.placed.plan, read_tokeniser(asked.options.tokenizer))
    log.seconds["total"] = round(sum(log.seconds.values()), 6)
    return compiled(found, artifacts, log.seconds)


def compiled(found: Found, artifacts: Artifacts, seconds: Mapping[str, float]) -> Compiled:
    """What was found and emitted, with its report."""
    deployment = found.deployment
    asked, network = deployment.question.request, deployment.question.lowered
    report = collect(
        loaded=network.loaded, graph=deployment.graph, model=deployment.model, placed=found.placed,
        passes=(*network.passes, *found.reports),
        levels=asked.levels, constant_bytes=artifacts.constant_bytes,
        table_bytes=artifacts.table_bytes, target=asked.target.name,
        capabilities=asked.target.capabilities, seconds=seconds,
        float_tensors=quantisation_report(deployment.model).float_tensors if deployment.model.quantisation_form else (),
        copied={one.state: one.why for one in deployment.settled.copied},
    )  # fmt: skip
    if artifacts.runtime_bytes:
        report = with_weights_in_ram(report, found.placed.level, artifacts.runtime_bytes)
    if not simulator_of(asked.target).on_this_machine:
        report = with_estimates(report, asked.platform, artifacts, asked.target)
    return Compiled(
        asked, network.loaded, deployment.model, deployment.graph, deployment.tiled, found.placed.plan, found.placed,
        artifacts, report, deployment.decided_with(found.placed),
    )  # fmt: skip


def with_weights_in_ram(report: Report, level: str, size_bytes: int) -> Report:
    """The report with constants that lie in the compute level counted there."""
    memory = dict(report.memory)
    at = memory[level]
    memory[level] = replace(at, worst_case=at.worst_case + size_bytes, constants=at.constants + size_bytes)
    return replace(report, memory=memory)


def compile_model(
    source: Path, options: CompileOptions, target: Target, *, pipeline: Compiler[Compiled] | None = None,
    program_bytes: int = 0,
) -> Compiled:  # fmt: skip
    """Compile a model for a target; every error is a `TilewrightError` whose class carries the exit code.

    `pipeline` is a changed copy of `compiler`, with steps or dependencies of the caller's own. Tiles leave
    `program_bytes` of the level of activations to the program, where a build has told them; else what is estimated.
    """
    asked = replace(make_request(source, options, target), program_bytes=program_bytes)
    done = pipeline_for(options, partial(_same, asked), pipeline).compile(asked)
    left = 0
    for _ in range(0 if program_bytes else ROOM_TRIES):
        if not (left := lacking_room(done, done.report, left)):
            break
        try:
            asked = replace(asked, program_bytes=left)
            done = pipeline_for(options, partial(_same, asked), pipeline).compile(asked)
        except DoesNotFit:
            break
    return done


def _same(asked: Request) -> Request:
    return asked


def lacking_room(done: Compiled, report: Report, left: int) -> int:
    """Bytes of the home level that tiles must leave to the program of a report of this compilation; 0 where all fits.

    Tiles are cut before there is any code, so what it takes is known of the compilation before. `left` were not enough.
    """
    asked, home = done.request, Places.of(done.request.platform).variables
    row = report.memory[home]
    if row.size is None or row.fits or done.tiled.compute_bytes == 0:
        return 0
    program = row.tables + (row.code or 0) + (0 if asked.target.stacks.level else row.stack or 0)
    return max(program, left + row.total - row.size) if left else program


def pipeline_for(
    options: CompileOptions, asked: Callable[[], Request], pipeline: Compiler[Compiled] | None = None
) -> Compiler[Compiled]:
    """A copy of the pipeline with what the options add to it: regions of a program, dumps of every stage."""
    run = (pipeline or compiler).copy()
    run.dependency_overrides.setdefault(request, asked)
    if options.program is not None:
        from tilewright.program.deploy import with_program
        from tilewright.program.schema import read_schema

        run = with_program(run, read_schema(options.program))
    if options.dump_dir is not None:
        from tilewright.report.dump import add_dumps

        add_dumps(run, options.dump_dir, moves)
    return run


def write(compiled: Compiled, folder: Path) -> Compiled:
    """Write the C project into an existing folder; every path is one of ours, none comes from the model.

    What comes back counts the seconds with those of code generation: most of a weight's text is made here.
    """
    start = time.perf_counter()
    write_files(compiled.artifacts, folder)
    seconds, spent = dict(compiled.report.tool.seconds), time.perf_counter() - start
    for name in ("codegen", "total"):
        seconds[name] = round(seconds.get(name, 0.0) + spent, 6)
    return replace(compiled, report=replace(compiled.report, tool=replace(compiled.report.tool, seconds=seconds)))


def write_files(artifacts: Artifacts, folder: Path) -> None:
    """Write the files of a project into an existing folder."""
    for path in artifacts.files:
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("w", encoding="utf-8") as stream:
            stream.writelines(artifacts.pieces(path))
    for path, data in artifacts.blobs.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    for path, pieces in artifacts.binaries.items():
        with (folder / path).open("wb") as binary:
            binary.writelines(pieces())


def run_model(compiled: Compiled, target: Target, asked: RunOptions, project: Path) -> Report:
    """Build the written project, run it on the target and compare; the report says what was found."""
    from tilewright.run.session import run_project
    from tilewright.run.simulator import Subject

    sized = with_sizes(target, compiled.request.levels)
    subject = Subject(
        compiled.placed, compiled.report, compiled.request.source, project, stream=compiled.model.stream
    )  # fmt: skip
    return run_project(subject, sized, asked)


def model_name(source: Path) -> str:
    """The file's name without its ending; its folder's where that says nothing."""
    return source.resolve().parent.name if source.stem in ("model", "network") else source.stem
