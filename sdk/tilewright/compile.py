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
from tilewright.plan.guards import told_of_guards
from tilewright.plan.plan import ExecutionPlan
from tilewright.platform import Feature
from tilewright.report.allowance import with_estimates
from tilewright.report.build import Report
from tilewright.report.calls import SlicesReport
from tilewright.report.collect import collect
from tilewright.report.page.render import render_page
from tilewright.run.simulator import Simulator, simulator_of
from tilewright.schedule.decisions import Decisions
from tilewright.schedule.decisions_file import followed
from tilewright.schedule.deployment import Deployment
from tilewright.schedule.engines import orders_of
from tilewright.schedule.lowering import lowered
from tilewright.schedule.moves import MOVES, Move, allowed
from tilewright.schedule.question import Cut, Lowered, Question
from tilewright.schedule.request import Request, make_request, request
from tilewright.schedule.rounds import go_round
from tilewright.schedule.search import Found, Stage, best_of, finish, unmeasured
from tilewright.schedule.stacks import tile_beside_stacks
from tilewright.smaller_code import with_less_code
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


def tiler(request: Request = Depends(request)) -> Cut:
    """The function that cuts what does not fit the compute level, stacks counted."""
    options = TileOptions.without(request.options.disabled_passes)
    return partial(
        tile_beside_stacks, levels=request.levels, room=request.stacks, options=options,
        placing=Placing.of(request.platform, request.options),
    )  # fmt: skip


def allocator(request: Request = Depends(request)) -> str:
    """The name of the allocator that places the buffers."""
    return request.options.allocator


def solver_seconds(request: Request = Depends(request)) -> float:
    """Seconds for each question to a solver."""
    return request.options.solver_seconds


def kernel_order(request: Request = Depends(request)) -> Orders:
    """What sorts the kernels that accept a node of a model: their engines' cycles, their costs, or counts of a lock."""
    return orders_of(request)


def moves(request: Request = Depends(request)) -> Sequence[Move]:
    """What the search may try, in order: all that the platform's code can be and the options do not leave out."""
    return allowed(MOVES, request)


def asking(
    request: Request = Depends(request),
    orders: Orders = Depends(kernel_order),
    cut: Cut = Depends(tiler),
    name: str = Depends(allocator),
    seconds: float = Depends(solver_seconds),
) -> Callable[[Lowered], Question]:
    """What makes of a lowered network the question that the search answers."""
    return lambda network: Question(request, network, orders, cut, name, effort=seconds / 5.0)


compiler: Compiler[Compiled] = Compiler()


@compiler.step
def load(request: Request, log: Journal = Depends(journal)) -> Model:
    """Load and check the file."""
    with log.stage("frontend"):
        loaded = read_model(
            request.source,
            shapes=request.options.shapes,
            frozen=frozen_inputs(request.options.freeze),
            name=model_name(request.source),
            state=request.options.state,
            bounds=request.options.bounds,
        )
        if (loaded.states or request.options.stream) and not request.platform.can(Feature.STATE):
            what = f"'{loaded.states[0].past}' is" if loaded.states else "--stream makes"
            raise UsageError(
                f"{what} state, which platform '{request.platform.name}' does not keep",
                why="it writes its own code, whose inputs and outputs are all the caller's",
                fix="pass --state none and copy each output to its input, or use tilewright.graphs",
            )
        if request.options.io == "stream" and (request.platform.copies or not request.platform.can(Feature.ROW_CHAINS)):
            raise UsageError(
                f"--io stream is nothing that platform '{request.platform.name}' does",
                why="it computes tiles of whole tensors, no rows",
                fix="choose a target of another platform, or --io arena",
            )
        return loaded


@compiler.step
def lower(loaded: Model, request: Request = Depends(request), log: Journal = Depends(journal)) -> Lowered:
    """Quantised patterns as integers; fold, fuse, cancel."""
    with log.stage("passes"):
        return lowered(loaded, request.options, request.kernels)


@compiler.step
def search(
    network: Lowered,
    ask: Callable[[Lowered], Question] = Depends(asking),
    chosen: Sequence[Move] = Depends(moves),
    write_code: Generator = Depends(generator),
    log: Journal = Depends(journal),
) -> Found:
    """Kernels, order, chains, tiles, aliases and offsets: what is decided, and the placed plan that comes of it."""
    question = ask(network)
    if (file := question.request.options.decisions) is not None:
        with log.stage("memory"):
            deployment = followed(question, file)
            return Found(deployment, deployment.finished(), ())
    return with_less_code(
        answer(question, chosen, log.stage), partial(answer, chosen=chosen, stage=log.stage), write_code
    )


def answer(question: Question, chosen: Sequence[Move], stage: Stage = unmeasured) -> Found:
    """What the moves make of a question, from the beginning."""
    return finish(go_round(best_of(Deployment(question), chosen, stage), chosen, stage), stage)


@compiler.step
def emit(
    outcome: Found,
    request: Request = Depends(request),
    write_code: Generator = Depends(generator),
    log: Journal = Depends(journal),
) -> Compiled:
    """The C project and its report."""
    with log.stage("codegen"):
        artifacts = write_code(outcome.placed, request.levels, request.target.flags)
        if request.options.tokenizer is not None:
            artifacts = with_text(artifacts, outcome.placed.plan, read_tokeniser(request.options.tokenizer))
    log.seconds["total"] = round(sum(log.seconds.values()), 6)
    return compiled(outcome, artifacts, log.seconds)


def _slices(artifacts: Artifacts, placed: PlacedPlan, most: int) -> SlicesReport:
    longest = max(artifacts.slices, key=lambda one: one.instructions)
    layers = tuple(placed.plan.instructions[at].name for at in range(longest.first, longest.last + 1))
    return SlicesReport(most, len(artifacts.slices), longest.instructions, layers)


def compiled(outcome: Found, artifacts: Artifacts, seconds: Mapping[str, float]) -> Compiled:
    """What was found and emitted, with its report."""
    deployment = outcome.deployment
    request, network = deployment.question.request, deployment.question.lowered
    told = told_of_guards(outcome.placed.plan, request.platform)
    model = replace(deployment.model, notes=(*deployment.model.notes, *told))
    report = collect(
        loaded=network.loaded, graph=deployment.graph, model=model, placed=outcome.placed,
        passes=(*network.passes, *outcome.reports),
        levels=request.levels, constant_bytes=artifacts.constant_bytes,
        table_bytes=artifacts.table_bytes, target=request.target.name,
        capabilities=request.target.capabilities, seconds=seconds,
        float_tensors=quantisation_report(deployment.model).float_tensors if deployment.model.quantisation_form else (),
        copied={one.state: one.why for one in deployment.settled.copied},
    )  # fmt: skip
    if artifacts.slices:
        report = replace(report, slices=_slices(artifacts, outcome.placed, request.options.slice_instructions))
    if artifacts.runtime_bytes:
        report = with_weights_in_ram(report, outcome.placed.level, artifacts.runtime_bytes)
    if not simulator_of(request.target).on_this_machine:
        report = with_estimates(report, request.platform, artifacts, request.target)
    return Compiled(
        request, network.loaded, model, deployment.graph, deployment.tiled, outcome.placed.plan,
        outcome.placed, artifacts, report, deployment.decided_with(outcome.placed),
    )  # fmt: skip


def with_weights_in_ram(report: Report, level: str, size_bytes: int) -> Report:
    """The report with constants that lie in the compute level counted there."""
    memory = dict(report.memory)
    at = memory[level]
    memory[level] = replace(at, worst_case=at.worst_case + size_bytes, constants=at.constants + size_bytes)
    return replace(report, memory=memory)


def compile_model(
    source: Path | str, options: CompileOptions, target: Target, *, pipeline: Compiler[Compiled] | None = None,
    program_bytes: int = 0,
) -> Compiled:  # fmt: skip
    """Compile a model for a target; every error is a `TilewrightError` whose class carries the exit code.

    `pipeline` is a changed copy of `compiler`, with steps or dependencies of the caller's own. Tiles leave
    `program_bytes` of the level of activations to the program, where a build has told them; else what is estimated.
    """
    own = replace(make_request(Path(source), options, target), program_bytes=program_bytes)
    done = pipeline_for(options, partial(_same, own), pipeline).compile(own)
    left = 0
    for _ in range(0 if program_bytes else ROOM_TRIES):
        if not (left := lacking_room(done, done.report, left)):
            break
        try:
            own = replace(own, program_bytes=left)
            done = pipeline_for(options, partial(_same, own), pipeline).compile(own)
        except DoesNotFit:
            break
    return done


def _same(own: Request) -> Request:
    return own


def lacking_room(done: Compiled, report: Report, left: int) -> int:
    """Bytes of the home level that tiles must leave to the program of a report of this compilation; 0 where all fits.

    Tiles are cut before there is any code, so what it takes is known of the compilation before. `left` were not enough.
    """
    own, home = done.request, Places.of(done.request.platform).variables
    row = report.memory[home]
    if row.size is None or row.fits or done.tiled.compute_bytes == 0:
        return 0
    program = row.tables + (row.code or 0) + (0 if own.target.stacks.level else row.stack or 0)
    return max(program, left + row.total - row.size) if left else program


def pipeline_for(
    options: CompileOptions, provider: Callable[[], Request], pipeline: Compiler[Compiled] | None = None
) -> Compiler[Compiled]:
    """A copy of the pipeline with what the options add to it: regions of a program, dumps of every stage."""
    run = (pipeline or compiler).copy()
    run.dependency_overrides.setdefault(request, provider)
    if options.program is not None:
        from tilewright.program.deploy import with_program
        from tilewright.program.schema import read_schema

        run = with_program(run, read_schema(options.program))
    if options.dump_dir is not None:
        from tilewright.report.dump import add_dumps

        add_dumps(run, options.dump_dir, moves)
    return run


def write(compiled: Compiled, folder: Path | str) -> Compiled:
    """Write the C project into an existing folder; every path is one of ours, none comes from the model.

    What comes back counts the seconds with those of code generation: most of a weight's text is made here.
    """
    start = time.perf_counter()
    write_files(compiled.artifacts, Path(folder))
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


def run_model(
    compiled: Compiled, target: Target, options: RunOptions, project: Path | str, runner: Simulator | None = None
) -> Report:
    """Build the written project, run it on the target and compare; the report says what was found.

    A `runner` such as a real board takes the place of the target's simulator.
    """
    from tilewright.run.session import run_project
    from tilewright.run.simulator import Subject

    sized = with_sizes(target, compiled.request.levels)
    subject = Subject(
        compiled.placed, compiled.report, compiled.request.source, Path(project), compiled.artifacts.interface,
        stream=compiled.model.stream
    )  # fmt: skip
    return run_project(subject, sized, options, runner)


def model_name(source: Path) -> str:
    """The file's name without its ending; its folder's where that says nothing."""
    return source.resolve().parent.name if source.stem in ("model", "network") else source.stem
