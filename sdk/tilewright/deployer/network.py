"""A network on its way to a target, step by step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from tilewright.binding.candidates import by_operator, candidates, make_call, no_kernel
from tilewright.binding.graph import BoundGraph
from tilewright.codegen.artifacts import Artifacts
from tilewright.codegen.generator import generator
from tilewright.compile import Compiled, answer, asking, compiled, moves, pipeline_for
from tilewright.deployer.code import GeneratedCode, OrderError
from tilewright.deployer.state import State, json_file, read, refused, save
from tilewright.deployer.steps import generate_function, mid_end, prepare
from tilewright.deployer.verbosity import QUIET, CodeGenVerbosity
from tilewright.errors import DoesNotFit, StateError, UnsupportedNode, UsageError
from tilewright.memory.levels import memory_reports
from tilewright.memory.placed import PlacedPlan
from tilewright.memory.room import require_room
from tilewright.model import Model, Tensor
from tilewright.ops.operator import Kind
from tilewright.ops.products import multiply_accumulates
from tilewright.options import CompileOptions
from tilewright.passes.driver import PassReport
from tilewright.pipeline import Compiler
from tilewright.plan.plan import ExecutionPlan
from tilewright.report.blame import overflow
from tilewright.schedule.decisions import Decisions
from tilewright.schedule.deployment import Deployment
from tilewright.schedule.moves import Move
from tilewright.schedule.question import Lowered, Question
from tilewright.schedule.request import Request, make_request
from tilewright.schedule.rounds import go_round
from tilewright.schedule.search import Found, Searched, best_of, finish, merged
from tilewright.smaller_code import with_less_code
from tilewright.target import Target
from tilewright.tiling.tiled_graph import TiledGraph

T = TypeVar("T")


class NetworkDeployer(GeneratedCode):
    """One network on its way to one target. `source` is an ONNX file, or a model that is loaded already.

    It steps over the same road as `compile_model`; on a platform with several levels nothing is cut, which is what
    `TilerDeployerWrapper` adds.
    """

    def __init__(self, source: Path | Model, target: Target, options: CompileOptions | None = None) -> None:
        self.source, self.target = source, target
        self.options = options or CompileOptions()
        if self.options.decisions is not None:
            raise UsageError("a deployer does not take a file of decisions", why="its steps decide one after the other",
                             fix="read it with read_decisions() and call follow(), or compile with it")  # fmt: skip
        path = source if isinstance(source, Path) else Path(f"{source.name}.onnx")
        self.request: Request = make_request(path, self.options, target)
        self.lowered: Lowered | None = None
        self.deployment: Deployment | None = None
        self.found: Found | None = None
        self.artifacts: Artifacts | None = None
        self.verbosity = QUIET
        self.reports: tuple[PassReport, ...] = ()
        self.refusal: UnsupportedNode | None = None
        self.parsed = self.bound = self.transformed = self.prepared = False

    # ------------------------------------------------------------------------------- what the steps left
    @property
    def inner(self) -> NetworkDeployer:
        """Itself: there is no wrapper in it."""
        return self

    @property
    def loaded(self) -> Model | None:
        """The network as it was loaded."""
        return None if self.lowered is None else self.lowered.loaded

    @property
    def model(self) -> Model | None:
        """The network as it was lowered; once bound, in the order in which it runs."""
        if self.deployment is not None:
            return self.deployment.model
        return None if self.lowered is None else self.lowered.model

    @property
    def graph(self) -> BoundGraph | None:
        """The network with its kernels."""
        return None if self.deployment is None else self.deployment.graph

    @property
    def tiled(self) -> TiledGraph | None:
        """The network with its tiles."""
        return None if self.deployment is None else self.deployment.tiled

    @property
    def placed(self) -> PlacedPlan | None:
        """The plan with every offset."""
        return None if self.found is None else self.found.placed

    @property
    def passes(self) -> tuple[PassReport, ...]:
        """What every pass and every move did so far."""
        return () if self.lowered is None else (*self.lowered.passes, *self.reports)

    # ------------------------------------------------------------------------------------- the steps
    def prepare(self, verbose: CodeGenVerbosity = QUIET) -> None:
        """The whole way: front end, mid end, back end; afterwards code can be taken out."""
        prepare(self, verbose)

    def front_end(self) -> None:
        """Load the network, lower it, and parse it."""
        network: Lowered = self._road().part(None, "search", self.request)
        self.start(network)
        self.parse()

    def lower(self, model: Model) -> Model:
        """The network with quantised patterns as integers, then folded, fused and cleaned up."""
        network: Lowered = self._road().part("lower", "search", model)
        return network.model

    def start(self, network: Lowered) -> None:
        """Begin anew with a network that is lowered already."""
        self.lowered, self.deployment, self.found, self.artifacts, self.reports = network, None, None, None, ()
        self.parsed = self.bound = self.transformed = self.prepared = False

    def parse(self, default_channels_first: bool = True) -> bool:
        """Look for the kernels that every node could take; UnsupportedNode where one finds none.

        ONNX puts channels first and binding chooses the layouts in memory, so that is the only default there is.
        """
        if not default_channels_first:
            raise UsageError("the network is in ONNX, whose channels come first",
                             fix="leave default_channels_first alone; binding chooses layouts")  # fmt: skip
        model = self.needed(self.model, "lower the network before parsing it", "front_end()")
        kernels = by_operator(self.request.kernels)
        for node in model.nodes:
            call = make_call(model, node)
            if call.operator is not None and call.operator.kind is Kind.VIEW:
                continue
            tried = candidates(call, kernels.get(node.op, ()), {})
            if not any(candidate.refusal is None for candidate in tried):
                raise no_kernel(call, tried, self.request.platform.name)
        self.parsed = True
        return True

    def bind(self) -> bool:
        """Choose order, kernels, layouts and row chains; False where there is no choice, see `refusal`."""
        if not self.parsed or self.lowered is None:
            raise OrderError("You need to parse the network before binding!", fix="call front_end() first")
        try:
            searched = self._searched(Deployment(self.question()), "passes", "binding")
            self._go_on_from(searched.deployment)
        except UnsupportedNode as error:
            self.refusal = error
            return False
        self.reports, self.bound = searched.reports, True
        return True

    def mid_end(self) -> None:
        """Bind, then plan and place every buffer."""
        mid_end(self)

    def finish_mid_end(self) -> None:
        """Plan and place what was bound and, where there is a tiler, tiled; DoesNotFit where the level is too small."""
        deployment = self.needed(self.deployment, "bind the network before planning it", "mid_end()")
        if self.found is None:
            chosen: Sequence[Move] = self._road().value(moves)
            outcome = finish(go_round(self._searched(deployment, "plan"), chosen))
            outcome = with_less_code(outcome, partial(answer, chosen=chosen), self._road().value(generator))
            self.reports = merged((*self.reports, *outcome.reports))
            require_room(outcome.placed, self.request.levels)
            self.deployment, self.found = outcome.deployment, outcome

    def back_end(self, verbose: CodeGenVerbosity = QUIET) -> None:
        """Generate the code."""
        self.code_transform(verbose)

    def code_transform(self, verbose: CodeGenVerbosity = QUIET) -> None:
        """Expand every layer into its code; `verbose` switches its marks on.

        DoesNotFit where constants, tables and buffers together exceed a level or what the options grant of it.
        """
        if not self.bound or self.found is None:
            raise OrderError("You need to bind the network before transforming code!", fix="call mid_end() first")
        write_code = self._road().value(generator)
        made: Artifacts = write_code(self.found.placed, self.request.levels, self.target.flags)
        if too_large := overflow(compiled(self.found, made, {}).report, self.options.budgets):
            raise too_large
        self.artifacts = made.marked(layers=verbose.untiled_profiling, tiles=verbose.tiled_profiling)
        self.verbosity, self.transformed = verbose, True

    def execution_plan(self) -> ExecutionPlan:
        """The flat instruction list of what was bound and tiled."""
        return self.needed(self.deployment, "bind the network before planning it", "mid_end()").plan

    # ------------------------------------------------------------------------- decisions from outside
    def question(self) -> Question:
        """What is asked of the search."""
        network = self.needed(self.lowered, "lower the network before binding it", "front_end()")
        ask: Callable[[Lowered], Question] = self._road().value(asking)
        return ask(network)

    def decisions(self) -> Decisions:
        """Everything that was decided so far, offsets as well once they are."""
        deployment = self.needed(self.deployment, "bind the network before asking what was decided", "mid_end()")
        if self.found is None:
            return deployment.decided
        return deployment.decided_with(self.found.placed)

    def follow(self, decisions: Decisions) -> None:
        """Take decisions as they are, with their offsets up to the placed plan.

        StateError, UsageError or DoesNotFit where they cannot be followed; then nothing is changed.
        """
        deployment = Deployment(self.question(), decisions)
        if decisions.offsets is not None:
            self.take(Found(deployment, deployment.finished(), ()))
        else:
            self._go_on_from(deployment)
        self.bound = True

    def take(self, outcome: Found) -> None:
        """Take a placed deployment as it is; DoesNotFit where a level is too small for it."""
        require_room(outcome.placed, self.request.levels)
        self._go_on_from(outcome.deployment)
        self.found = outcome

    def settle(self, deployment: Deployment) -> None:
        """Go on from a deployment whose tiles are decided: plan and place it."""
        self._go_on_from(deployment)
        self.finish_mid_end()

    def searched_from(self, deployment: Deployment, *stages: str) -> Deployment:
        """What the moves of some stages make of a deployment; their reports are kept."""
        searched = self._searched(deployment, *stages)
        self.reports += searched.reports
        return searched.deployment

    def source_sha256(self) -> str:
        """SHA-256 of the model that this deployer is for; "" where its file is not there to ask."""
        if isinstance(self.source, Model):
            return self.source.sha256
        if self.lowered is not None:
            return self.lowered.loaded.sha256
        if not self.source.is_file():
            return ""
        loaded: Model = self._road().part(None, "lower", self.request)
        return loaded.sha256

    def _go_on_from(self, deployment: Deployment) -> None:
        _ = deployment.tiled
        self.deployment, self.found, self.artifacts = deployment, None, None
        self.transformed = self.prepared = False

    def _searched(self, start: Deployment, *stages: str) -> Searched:
        chosen: Sequence[Move] = self._road().value(moves)
        return best_of(start, [move for move in chosen if move.stage in stages])

    def _road(self) -> Compiler[Compiled]:
        """The pipeline of `compile_model` for this network."""
        road = pipeline_for(self.options, lambda: self.request)
        if isinstance(self.source, Model):
            model = self.source
            road.replace("load", lambda request: model)
        return road

    def inputs(self) -> list[Tensor]:
        """The network's inputs, in order."""
        model = self.needed(self.model, "load the network before asking for its inputs", "front_end()")
        return [model.tensors[name] for name in model.given]

    def outputs(self) -> list[Tensor]:
        """The network's outputs, in order."""
        model = self.needed(self.model, "load the network before asking for its outputs", "front_end()")
        return [model.tensors[name] for name in model.results]

    def number_of_ops(self, verbose: bool = False) -> int:
        """Operations of one inference, two per multiply-accumulate; `verbose` prints them per node."""
        graph = self.generating(self.graph)
        total = 0
        for node in graph.nodes:
            count = 2 * multiply_accumulates(node.call)
            total += count
            if verbose and node.kernel is not None:
                print(f"{node.call.node.name} ({node.call.node.op}): {count}")
        return total

    @property
    def worst_case_buffer_size(self) -> dict[str, int]:
        """Worst-case bytes of buffers by memory level: inputs and outputs wherever they lie, constants where they rest.

        Tables of tiles and copies are among the constants once the code was generated.
        """
        placed, code = self.generating(self.placed), self.artifacts
        constants = sum(frozen.constant.size_bytes for frozen in placed.plan.frozen_slots)
        known = (constants, 0) if code is None else (code.constant_bytes, code.table_bytes)
        levels = memory_reports(placed, self.request.levels, *known)
        sizes = {name: level.worst_case - (level.stack or 0) for name, level in levels.items()}
        outside = {s for s in (*placed.plan.input_slots, *placed.plan.output_slots) if s not in placed.slot_offsets}
        sizes[placed.level] += sum(placed.plan.slots[slot].tensor.size_bytes for slot in sorted(outside))
        return sizes

    def compiled(self) -> Compiled:
        """Every stage's value as `compile_model` gives them, e.g. for `write` and `run_model`."""
        outcome = self.generating(self.found)
        return compiled(replace(outcome, reports=self.reports), self.generating(self.artifacts), {})

    def generate_function(self, verbose: CodeGenVerbosity = QUIET) -> str:
        """Prepare where that was not done, and give the C of the whole network."""
        return generate_function(self, verbose)

    def export_state(self, folder: Path, file_name: str) -> Path:
        """Write everything that was decided as JSON and npz; returns the JSON file. Needs a parsed network."""
        network = self.lowered
        if network is None or not self.parsed:
            raise OrderError("You need to parse the network before exporting its state!", fix="call front_end() first")
        levels = {level.name: level.size for level in self.request.levels}
        decisions = None if self.deployment is None else self.decisions()
        platform, target = self.request.platform.name, self.target.name
        state = State(platform, target, levels, network, decisions, self.transformed, self.verbosity)
        return save(state, Path(folder), file_name)

    def import_state(self, folder: Path, file_name: str) -> None:
        """Take over what `export_state` wrote, up to the step that it had reached.

        StateError where it is damaged, or where it cannot be followed on this target; then nothing is changed.
        """
        path = json_file(Path(folder), file_name)
        state = read(path)
        before = dict(vars(self))
        try:
            self._take_state(path, state)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    def _take_state(self, path: Path, state: State) -> None:
        if state.platform != self.request.platform.name:
            raise refused(path, f"it is of platform '{state.platform}', this is '{self.request.platform.name}'")
        other, own = state.network.loaded.sha256, self.source_sha256()
        if own and own != other:
            raise refused(path, f"it is of another model: sha256 {other[:16]}, this is {own[:16]}")
        self.start(state.network)
        self.parse()
        if state.decisions is None:
            return
        try:
            self.follow(state.decisions)
        except (StateError, UsageError, DoesNotFit, UnsupportedNode) as error:
            raise refused(path, str(error)) from error
        if state.transformed:
            try:
                self.code_transform(state.verbosity)
            except DoesNotFit as error:
                raise refused(path, str(error)) from error
            self.prepared = True
