"""The stages as one object with a life cycle, for those who deploy step by step and look at every step.

    deployer = TilerDeployerWrapper(NetworkDeployer(Path("model.onnx"), load_target("host")))
    deployer.prepare()                      # front_end, mid_end, back_end
    print(deployer.worst_case_buffer_size)
    source = deployer.generate_function()

`NetworkDeployer` holds what each stage returned; a method called before what it needs raises `OrderError`.
`TilerDeployerWrapper` adds tiling to any deployer: whatever it does not know itself, it asks of the inner one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tilewright.binding.bind import bind
from tilewright.binding.candidates import by_operator, candidates, make_call, no_kernel
from tilewright.binding.graph import BoundGraph
from tilewright.codegen.artifacts import Artifacts
from tilewright.compile import Compiled, Request, emitter, kernel_order, make_request, model_name
from tilewright.errors import TilewrightError, UnsupportedNode, UsageError
from tilewright.frontend.load import frozen_inputs, load
from tilewright.memory.peak import within_peak
from tilewright.memory.placed import PlacedPlan
from tilewright.memory.planner import place_plan
from tilewright.model import Model, Tensor
from tilewright.ops.operator import Kind
from tilewright.ops.products import multiply_accumulates
from tilewright.options import CompileOptions
from tilewright.passes.driver import PassReport
from tilewright.passes.driver import run as run_passes
from tilewright.passes.quantise.lower import integer_border, lower
from tilewright.plan.build import build
from tilewright.plan.check import check as check_plan
from tilewright.plan.plan import ExecutionPlan, TiledGraph
from tilewright.report.collect import collect
from tilewright.target import Target
from tilewright.tiling.tiler import MemoryMap, Tiler, TilingSolution, memory_map_of, solution_of


class OrderError(UsageError):
    """A step of the deployer was asked for before the step that it needs."""


@dataclass(frozen=True)
class CodeGenVerbosity:
    """What the generated code tells while it runs: marks around every layer, around every tile, or both."""

    tiled_profiling: bool = False
    untiled_profiling: bool = False


QUIET = CodeGenVerbosity()


class NetworkDeployer:
    """One network on its way to one target. `source` is an ONNX file, or a model that is loaded already."""

    def __init__(self, source: Path | Model, target: Target, options: CompileOptions | None = None) -> None:
        self.source, self.target = source, target
        self.options = options or CompileOptions()
        path = source if isinstance(source, Path) else Path(f"{source.name}.onnx")
        self.request: Request = make_request(path, self.options, target)
        self.loaded: Model | None = None
        self.model: Model | None = None
        self.graph: BoundGraph | None = None
        self.tiled: TiledGraph | None = None
        self.placed: PlacedPlan | None = None
        self.artifacts: Artifacts | None = None
        self.passes: Sequence[PassReport] = ()
        self.refusal: UnsupportedNode | None = None
        self.parsed = self.bound = self.transformed = self.prepared = False

    def prepare(self, verbose: CodeGenVerbosity = QUIET) -> None:
        """The whole way: front end, mid end, back end; afterwards code can be taken out."""
        _prepare(self, verbose)

    def front_end(self) -> None:
        """Load the network, lower it, and parse it."""
        if isinstance(self.source, Model):
            self.loaded = self.source
        else:
            self.loaded = load(
                self.source, shapes=self.options.shapes, frozen=frozen_inputs(self.options.freeze),
                name=model_name(self.source),
            )  # fmt: skip
        self.model = self.lower(self.loaded)
        self.parse()

    def lower(self, model: Model) -> Model:
        """The network with quantised patterns as integers, then folded, fused and cleaned up."""
        lowered = lower(model)
        if self.options.quantized_io:
            lowered = integer_border(lowered)
        found, self.passes = run_passes(lowered, disabled=tuple(self.options.disabled_passes))
        return found

    def parse(self, default_channels_first: bool = True) -> bool:
        """Look for the kernels that every node could take; UnsupportedNode where one finds none.

        ONNX puts channels first and binding chooses the layouts in memory, so that is the only default there is.
        """
        if not default_channels_first:
            raise UsageError("the network is in ONNX, whose channels come first",
                             fix="leave default_channels_first alone; binding chooses layouts")  # fmt: skip
        model = self._needed(self.model, "lower the network before parsing it", "front_end()")
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
        """Choose one kernel and one layout each, by backtracking; False where there is no choice, see `refusal`."""
        if not self.parsed or self.model is None:
            raise OrderError("You need to parse the network before binding!", fix="call front_end() first")
        asked, model, order = self.request, self.model, kernel_order(self.request)(self.model)
        try:
            graph = bind(model, asked.platform, asked.kernels, {}, order)
        except UnsupportedNode as error:
            self.refusal = error
            return False
        if self.options.optimize != "speed":
            graph = within_peak(graph, partial(bind, model, asked.platform, asked.kernels), order, self.options.io)
        self.graph, self.tiled, self.placed, self.artifacts = graph, TiledGraph(graph, {}), None, None
        self.bound, self.transformed, self.prepared = True, False, False
        return True

    def mid_end(self) -> None:
        """Bind, then plan and place every buffer."""
        _mid_end(self)

    def finish_mid_end(self) -> None:
        """Plan and place what was bound and, where there is a tiler, tiled."""
        if self.placed is None:
            plan, asked, chosen = self.execution_plan(), self.options, self.request.platform
            effort = asked.solver_seconds / 5.0
            self.placed = place_plan(plan, chosen, io=asked.io, allocator=asked.allocator, effort=effort)

    def back_end(self, verbose: CodeGenVerbosity = QUIET) -> None:
        """Generate the code."""
        self.code_transform(verbose)

    def code_transform(self, verbose: CodeGenVerbosity = QUIET) -> None:
        """Expand every layer into its code; `verbose` switches its marks on."""
        if not self.bound or self.placed is None:
            raise OrderError("You need to bind the network before transforming code!", fix="call mid_end() first")
        made = emitter(self.request)(self.placed, self.request.levels, self.target.flags)
        self.artifacts = made.marked(layers=verbose.untiled_profiling, tiles=verbose.tiled_profiling)
        self.transformed = True

    def execution_plan(self) -> ExecutionPlan:
        """The flat instruction list of what was bound and tiled."""
        tiled = self._needed(self.tiled, "bind the network before planning it", "mid_end()")
        plan = build(tiled)
        check_plan(plan)
        return plan

    def inputs(self) -> list[Tensor]:
        """The network's inputs, in order."""
        model = self._needed(self.model, "load the network before asking for its inputs", "front_end()")
        return [model.tensors[name] for name in model.inputs]

    def outputs(self) -> list[Tensor]:
        """The network's outputs, in order."""
        model = self._needed(self.model, "load the network before asking for its outputs", "front_end()")
        return [model.tensors[name] for name in model.outputs]

    def number_of_ops(self, verbose: bool = False) -> int:
        """Operations of one inference, two per multiply-accumulate; `verbose` prints them per node."""
        graph = self._generating(self.graph)
        total = 0
        for node in graph.nodes:
            count = 2 * multiply_accumulates(node.call)
            total += count
            if verbose and node.kernel is not None:
                print(f"{node.call.node.name} ({node.call.node.op}): {count}")
        return total

    @property
    def worst_case_buffer_size(self) -> dict[str, int]:
        """Worst-case bytes by memory level: inputs and outputs wherever they lie, constants where they rest."""
        placed = self._generating(self.placed)
        sizes = {level.name: 0 for level in self.request.levels}
        sizes[placed.level] = placed.arena_bytes
        outside = {s for s in (*placed.plan.input_slots, *placed.plan.output_slots) if s not in placed.slot_offsets}
        sizes[placed.level] += sum(placed.plan.slots[slot].tensor.size_bytes for slot in sorted(outside))
        rest = self.request.platform.constants_in
        sizes[rest] = sizes.get(rest, 0) + sum(f.constant.size_bytes for f in placed.plan.frozen_slots)
        compute = self.request.platform.compute_in
        if compute != placed.level:
            sizes[compute] = sizes.get(compute, 0) + placed.plan.compute_bytes
        return sizes

    def compiled(self) -> Compiled:
        """Every stage's value as `compile_model` gives them, e.g. for `write` and `run_model`."""
        loaded, model, graph, tiled, placed, made = map(
            self._generating, (self.loaded, self.model, self.graph, self.tiled, self.placed, self.artifacts)
        )
        report = collect(
            loaded=loaded, graph=graph, model=model, placed=placed, passes=self.passes,
            levels=self.request.levels, constant_bytes=made.constant_bytes,
            table_bytes=made.table_bytes, target=self.target.name, seconds={},
        )  # fmt: skip
        return Compiled(self.request, loaded, model, graph, tiled, placed.plan, placed, made, report)

    def generate_function(self, verbose: CodeGenVerbosity = QUIET) -> str:
        """Prepare where that was not done, and give the C of the whole network."""
        return _generate_function(self, verbose)

    def generate_inference_code(self) -> str:
        """The function that runs one inference."""
        return self._made().parts.run

    def generate_inference_initialization_code(self) -> str:
        """Static memory and what sets it up."""
        return self._made().parts.memory

    def generate_buffer_initialization_code(self) -> str:
        """Forward declarations of every constant that the inference reads."""
        return self._made().parts.declarations

    def generate_buffer_allocation_code(self) -> str:
        """The functions that say where inputs and outputs lie; memory is static, nothing is allocated at run time."""
        return "\n".join(self._made().parts.ports)

    def generate_buffer_deallocation_code(self) -> str:
        """Nothing: memory is static. The network must be bound all the same."""
        self._made()
        return ""

    def generate_io_buffer_initialization_code(self) -> str:
        """Declarations of the inputs and outputs with their sizes, from the header."""
        return self._made().parts.port_declarations

    def generate_global_definition_code(self) -> str:
        """The definitions of all constants."""
        return self._made().text(self._made().parts.weights)

    def generate_include_string(self) -> str:
        """The include lines of the network's C file."""
        return self._made().parts.includes

    def generate_engine_initialization_code(self) -> str:
        """What must run once before the first inference: nothing, no platform has engines that are set up."""
        self._made()
        return ""

    def export_state(self, folder: Path, file_name: str) -> Path:
        """Write everything that was decided as JSON and npz; returns the JSON file. Needs a parsed network."""
        from tilewright.deployer_state import save

        return save(self, Path(folder), file_name)

    def import_state(self, folder: Path, file_name: str) -> None:
        """Take over what `export_state` wrote, up to the step that it had reached; StateError where it is damaged."""
        from tilewright.deployer_state import restore

        restore(self, Path(folder), file_name)

    def _made(self) -> Artifacts:
        made: Artifacts = self._generating(self.artifacts)
        return made

    def _generating(self, value: Any) -> Any:
        if not self.parsed or not self.bound or value is None:
            raise OrderError("You need to parse and bind the network before generating code!", fix="call prepare()")
        return value

    def _needed(self, value: Any, what: str, fix: str) -> Any:
        if value is None:
            raise OrderError(f"You need to {what}!", fix=f"call {fix} first")
        return value


class TilerDeployerWrapper:
    """Adds tiling and the placement of every level to a deployer; what it lacks, the inner deployer has.

    `test_name` and `work_dir` say where and under which name `tile` leaves its solution as a state; both or neither.
    """

    def __init__(
        self,
        deployer: NetworkDeployer | TilerDeployerWrapper,
        tiler_cls: type[Tiler] = Tiler,
        test_name: str | None = None,
        work_dir: Path | str | None = None,
    ) -> None:
        platform = deployer.request.platform
        if not platform.memory or all(level.name != platform.compute_in for level in platform.memory):
            raise UsageError(f"platform '{platform.name}' declares no memory to tile for",
                             why=f"it computes in '{platform.compute_in}'", fix="list its levels")  # fmt: skip
        if (test_name is None) != (work_dir is None):
            raise UsageError("test_name and work_dir belong together", fix="give both or neither")
        self.deployer, self.tiler_cls = deployer, tiler_cls
        self.test_name, self.work_dir = test_name, None if work_dir is None else Path(work_dir)
        self.tiler: Tiler | None = None

    def __getattr__(self, name: str) -> Any:
        """Whatever the wrapper has not, the inner deployer has."""
        if name == "deployer":
            raise AttributeError(name)
        return getattr(self.deployer, name)

    def prepare(self, verbose: CodeGenVerbosity = QUIET) -> None:
        """The whole way, with tiling."""
        _prepare(self, verbose)

    def mid_end(self) -> None:
        """Bind, tile, plan and place."""
        _mid_end(self)

    def bind(self) -> bool:
        """Bind as the inner deployer does, then tile."""
        if not self.deployer.bind():
            return False
        self.tile()
        return True

    def tile(self, tiling_solution: TilingSolution | None = None, memory_map: MemoryMap | None = None) -> None:
        """Tile and place; a given solution and memory map are checked and then used instead of computed ones.

        UsageError where only one is given or where they are wrong; DoesNotFit where a level is too small.
        """
        if (tiling_solution is None) != (memory_map is None):
            raise UsageError("You need to provide both the tiling solution and the memory map to override tiling")
        inner = innermost(self)
        if not inner.bound or inner.graph is None:
            raise OrderError("You need to bind the network before tiling!", fix="call bind() first")
        self.tiler = self.tiler_cls(inner.graph, inner.request.levels)
        inner.placed, inner.artifacts = None, None
        if tiling_solution is None or memory_map is None:
            inner.tiled = self.tiler.tiled()
            inner.finish_mid_end()
        else:
            inner.tiled = self.tiler.apply(tiling_solution)
            inner.placed = self.tiler.place(inner.execution_plan(), memory_map, io=inner.options.io)
        if self.work_dir is not None and self.test_name is not None:
            self.work_dir.mkdir(parents=True, exist_ok=True)
            inner.export_state(self.work_dir, self.test_name)

    @property
    def tiling_solution(self) -> TilingSolution:
        """How every node is cut, as `tile` takes it."""
        return solution_of(innermost(self)._needed(innermost(self).tiled, "tile the network first", "bind()"))

    @property
    def memory_map(self) -> Mapping[str, Mapping[str, int]]:
        """Where every buffer lies, as `tile` takes it."""
        return memory_map_of(innermost(self)._needed(innermost(self).placed, "tile the network first", "bind()"))

    def generate_function(self, verbose: CodeGenVerbosity = QUIET) -> str:
        """Prepare with tiling where that was not done, and give the C of the whole network."""
        return _generate_function(self, verbose)


Deployer = NetworkDeployer | TilerDeployerWrapper


def innermost(deployer: Deployer) -> NetworkDeployer:
    """The deployer inside all wrappers."""
    while isinstance(deployer, TilerDeployerWrapper):
        deployer = deployer.deployer
    return deployer


def _prepare(deployer: Deployer, verbose: CodeGenVerbosity) -> None:
    deployer.front_end()
    deployer.mid_end()
    deployer.back_end(verbose)
    innermost(deployer).prepared = True


def _mid_end(deployer: Deployer) -> None:
    if not deployer.bind():
        inner = innermost(deployer)
        found = inner.refusal or TilewrightError("Could not find a valid binding for the graph")
        found.add_note("Could not find a valid binding for the graph")
        raise found
    innermost(deployer).finish_mid_end()


def _generate_function(deployer: Deployer, verbose: CodeGenVerbosity) -> str:
    inner = innermost(deployer)
    if not inner.prepared:
        _prepare(deployer, verbose)
    elif verbose != QUIET:
        inner.code_transform(verbose)
    return inner._made().text(inner._made().parts.code)
