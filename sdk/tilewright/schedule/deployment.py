"""From decisions to a placed plan: the only way there is. Every stage is computed once, when it is first asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

from tilewright.binding.bind import bind
from tilewright.binding.candidates import Refusals
from tilewright.binding.graph import BoundGraph, Candidate
from tilewright.binding.order import Order
from tilewright.errors import StateError, UsageError
from tilewright.memory.check_guards import check_guards
from tilewright.memory.check_states import check_states
from tilewright.memory.placed import PlacedPlan
from tilewright.model import Model
from tilewright.ops.operator import Call
from tilewright.plan.aliasing.apply import with_aliasing
from tilewright.plan.aliasing.states import Settled, names_in_place, settle_states, states_apart
from tilewright.plan.build import build
from tilewright.plan.check import check as check_plan
from tilewright.plan.plan import ExecutionPlan
from tilewright.plan.recompute import again
from tilewright.plan.schedule import schedule_batches, with_groups
from tilewright.platform_facts import Feature
from tilewright.rows.check import check
from tilewright.rows.links import Links, with_chains
from tilewright.schedule.decisions import Again, Decisions, RowChain
from tilewright.schedule.question import Question
from tilewright.schedule.stacks import reserved_for_stacks
from tilewright.tiling.apply import apply_solution
from tilewright.tiling.solution import TilingSolution, solution_of
from tilewright.tiling.switches import TileOptions
from tilewright.tiling.tiled_graph import TiledGraph

NO_REFUSALS: Refusals = {}
OPEN = Decisions()
"""Nothing is decided yet."""


@dataclass(frozen=True)
class Deployment:
    """A question with its answer so far. `decisions` say everything; the stages follow from them.

    `model` has the order of nodes, `bound` the kernels, `graph` the row chains as well, `tiled` the tiles; `outline` is
    the plan of the graph before tiling, without constants; `plan` has aliases and what is computed twice, and `placed`
    the offsets that the quick allocator gives. Where decisions cannot be followed: StateError or UsageError.
    """

    question: Question
    decisions: Decisions = OPEN

    @cached_property
    def model(self) -> Model:
        """The network in the order in which it runs."""
        return _ordered(self.question.lowered.model, self.decisions.order)

    @cached_property
    def bound(self) -> BoundGraph:
        """A kernel for every node: those decided, for others the first of the order of preference."""
        return _bound(self)

    @cached_property
    def graph(self) -> BoundGraph:
        """The bound graph with its row chains."""
        return _chained(self)

    @cached_property
    def outline(self) -> ExecutionPlan:
        """The plan before tiling, without constants: enough for live ranges."""
        return settle_states(build(TiledGraph(self.graph, {}), constants=False), _states(self)).plan

    @cached_property
    def tiled(self) -> TiledGraph:
        """The graph cut as decided; whole where nothing was decided."""
        return _tiled(self)

    @cached_property
    def planned(self) -> ExecutionPlan:
        """The plan of the tiled graph, in which every instruction writes and runs for itself."""
        built = build(self.tiled)
        return with_groups(built, schedule_batches(built)) if self.question.request.platform.sweeps else built

    @cached_property
    def plan(self) -> ExecutionPlan:
        """The plan with aliases, with what is computed twice, and with states in place."""
        return self.settled.plan

    @cached_property
    def settled(self) -> Settled:
        """The plan, and why some states have two places and a copy."""
        settled_plan = settle_states(_with_again(self.aliased, self.decisions.recomputed), _states(self))
        decided = self.decisions.states_in_place
        if decided is not None and decided != names_in_place(settled_plan.plan):
            raise StateError("some states cannot lie in place as decided", why="they belong to another network")
        return settled_plan

    @cached_property
    def aliased(self) -> ExecutionPlan:
        """The plan with the aliases decided."""
        names = self.decisions.aliased
        plan = alias(self.question, self.planned, names)
        if names != {i.name for i in plan.instructions if i.aliasing is not None}:
            raise StateError("some instructions cannot be aliased as decided", why="they belong to another network")
        return plan

    @cached_property
    def placed(self) -> PlacedPlan:
        """The plan with an offset for every byte, found quickly; of the outline where that is all there is."""
        return self.question.placing.place(self._ranges)

    @property
    def least(self) -> tuple[int, int]:
        """Bytes that it takes however it is placed, and at how many instructions at least it is then as full."""
        return self.question.placing.least(self._ranges)

    @property
    def _ranges(self) -> ExecutionPlan:
        """The plan that has its live ranges: the outline where that is all there is."""
        return self.plan if _beyond_outline(self.decisions) else self.outline

    @property
    def peak(self) -> int:
        """Bytes of the home level that it takes, placed quickly."""
        return self.placed.solution.peak

    @property
    def decided(self) -> Decisions:
        """The decisions with the order and the kernels that follow from them written out."""
        order = tuple(node.name for node in self.model.nodes)
        return replace(self.decisions, order=order, kernels=kernels_of_graph(self.bound))

    def decided_with(self, placed: PlacedPlan) -> Decisions:
        """The decisions with the offsets of its placed plan, and the states that lie in place there."""
        in_place = names_in_place(placed.plan) if placed.plan.state else None
        return replace(self.decided, offsets=dict(placed.solution.offsets), states_in_place=in_place)

    def finished(self) -> PlacedPlan:
        """The plan as it is deployed: checked, placed by the allocator that was asked for or as decided."""
        check_plan(self.plan)
        question = self.question
        placed = question.placing.place(self.plan, question.allocator, question.effort, self.decisions.offsets)
        check_states(placed)
        if question.request.platform.can(Feature.SKIPPING):
            check_guards(placed)
        return placed

    # ----------------------------- deployments that differ in one decision; those that follow it are open again
    def with_order(self, model: Model) -> Deployment:
        """Its nodes in the order of `model`; kernels are open again."""
        decisions = Decisions(order=tuple(node.name for node in model.nodes))
        return _knowing(Deployment(self.question, decisions), model=model)

    def rebound(self, refused: Refusals = NO_REFUSALS, order: Order | None = None) -> Deployment:
        """Bound anew without some kernels, or by another order; UnsupportedNode where a node is left without one."""
        request = self.question.request
        graph = bind(
            self.model, request.platform, request.kernels, refused, order or self.question.order, self.question.answers
        )
        return self.with_kernels(graph)

    def rebound_as(self, kernels: Mapping[str, str], refused: Refusals = NO_REFUSALS) -> Deployment:
        """Bound anew, by these kernels of nodes where that can be."""
        return self.rebound(refused, partial(_decided_first, self.question.order, kernels))

    def with_kernels(self, graph: BoundGraph) -> Deployment:
        """With the kernels of a graph that was bound from the same model; later decisions are open again."""
        decisions = Decisions(order=self.decisions.order, kernels=kernels_of_graph(graph))
        return _knowing(Deployment(self.question, decisions), model=self.model, bound=graph)

    def with_row_chains(self, chains: Sequence[RowChain], graph: BoundGraph) -> Deployment:
        """With these chains, which make `graph` of the bound one."""
        decided = self.decisions
        decisions = Decisions(order=decided.order, kernels=decided.kernels, row_chains=tuple(chains))
        return _knowing(Deployment(self.question, decisions), model=self.model, bound=self.bound, graph=graph)

    def with_possible_chains(self, chains: Sequence[RowChain]) -> Deployment:
        """With those of these chains that its kernels can be."""
        if not chains:
            return self
        links = Links(self.bound, self.question.request.kernels, self.question.order)
        chain_of = {
            choice: links.chain(choice.nodes, choice.rows, single_rows=choice.single_rows)
            for choice in chains
            if links.bound.keys() >= set(choice.nodes)
        }
        possible = {choice: chain for choice, chain in chain_of.items() if chain is not None}
        return self.with_row_chains(list(possible), with_chains(self.bound, list(possible.values())))

    def with_tiles(self, tiled: TiledGraph) -> Deployment:
        """Cut as `tiled` is, whose graph may have been bound anew."""
        now = self if tiled.graph is self.graph else self.with_kernels(tiled.graph)
        decisions = replace(
            now.decisions, tiles=solution_of(tiled), stacks_beside=tiled.stack_bytes > 0, aliased=frozenset(),
            recomputed=(), offsets=None,
        )  # fmt: skip
        cut = Deployment(self.question, decisions)
        return _knowing(cut, model=now.model, bound=now.bound, graph=tiled.graph, tiled=tiled)

    def with_aliases(self, plan: ExecutionPlan) -> Deployment:
        """With the aliases of a plan that was made of its own, and no others."""
        names = frozenset(i.name for i in plan.instructions if i.aliasing is not None)
        return _knowing(
            Deployment(self.question, replace(self.decisions, aliased=names, recomputed=(), offsets=None)),
            model=self.model, bound=self.bound, graph=self.graph, tiled=self.tiled, planned=self.planned, aliased=plan,
        )  # fmt: skip

    def with_again(self, repeated: Sequence[Again]) -> Deployment:
        """With these instructions computed twice."""
        return _knowing(
            Deployment(self.question, replace(self.decisions, recomputed=tuple(repeated), offsets=None)),
            model=self.model, bound=self.bound, graph=self.graph, tiled=self.tiled, planned=self.planned,
            aliased=self.aliased,
        )  # fmt: skip

    def with_possible_again(self, repeated: Sequence[Again]) -> Deployment:
        """With those of these instructions computed twice of which it has both."""
        plan, possible = self.aliased, list[Again]()
        for repeat in repeated:
            try:
                plan = again(plan, repeat.node, repeat.before)
            except UsageError:
                continue
            possible.append(repeat)
        return self.with_again(possible)

    def with_offsets(self, offsets: Mapping[str, int]) -> Deployment:
        """With every buffer where these bytes say, by its name."""
        return _knowing(
            Deployment(self.question, replace(self.decisions, offsets=dict(offsets))), model=self.model,
            bound=self.bound, graph=self.graph, tiled=self.tiled, planned=self.planned, aliased=self.aliased,
            plan=self.plan,
        )  # fmt: skip


def _knowing(deployment: Deployment, **stages: Model | BoundGraph | TiledGraph | ExecutionPlan) -> Deployment:
    """The deployment with stages that are known already, by the names of its properties."""
    vars(deployment).update(stages)
    return deployment


def kernels_of_graph(graph: BoundGraph) -> dict[str, str]:
    """The kernel's name by node, for the nodes of the network that have one."""
    own = {node.name for node in graph.model.nodes}
    return {b.call.node.name: b.kernel.name for b in graph.nodes if b.kernel is not None and b.call.node.name in own}


def _beyond_outline(decisions: Decisions) -> bool:
    return decisions.tiles is not None or bool(decisions.aliased or decisions.recomputed)


def _ordered(model: Model, order: Sequence[str]) -> Model:
    if not order:
        return model
    by_name = {node.name: node for node in model.nodes}
    if set(order) != set(by_name) or len(order) != len(by_name):
        raise StateError("the order of nodes is that of another network", why="it does not name each node once")
    ordered = model.replace(nodes=tuple(by_name[name] for name in order))
    available = {*model.inputs, *model.constants}
    for node in ordered.nodes:
        if missing := next((name for name in node.inputs if name and name not in available), None):
            raise StateError(
                "the order of nodes cannot be run", why=f"'{node.name}' reads '{missing}' before it is made"
            )
        available |= set(node.outputs)
    return ordered


def _bound(deployment: Deployment) -> BoundGraph:
    decided = deployment.decisions.kernels
    if not decided:
        return deployment.rebound().bound
    graph = deployment.rebound_as(decided).bound
    for node, kernel in kernels_of_graph(graph).items():
        if decided.get(node, "nothing") != kernel:
            raise StateError(f"node '{node}' was bound to '{decided.get(node)}' and is now bound to '{kernel}'")
    return graph


def _decided_first(
    order: Order, decided: Mapping[str, str], call: Call, accepted: Sequence[Candidate]
) -> Sequence[Candidate]:
    """The kernel that was decided, then the others in their order."""
    return sorted(order(call, accepted), key=lambda candidate: candidate.kernel.name != decided.get(call.node.name))


def _chained(deployment: Deployment) -> BoundGraph:
    chosen = deployment.decisions.row_chains
    if not chosen:
        return deployment.bound
    links = Links(deployment.bound, deployment.question.request.kernels, deployment.question.order)
    chains = []
    for choice in chosen:
        known = all(name in links.bound for name in choice.nodes)
        chain = links.chain(choice.nodes, choice.rows, single_rows=choice.single_rows) if known else None
        if chain is None:
            raise StateError(f"{' + '.join(choice.nodes)} cannot be computed {choice.rows} rows at a time")
        chains.append(chain)
    graph = with_chains(deployment.bound, chains)
    check(graph)
    return graph


def _tiled(deployment: Deployment) -> TiledGraph:
    graph, solution = deployment.graph, deployment.decisions.tiles
    if solution is None:
        return TiledGraph(graph, {})
    return tiled_as(deployment.question, graph, solution, stacks_beside=deployment.decisions.stacks_beside)


def tiled_as(
    question: Question, graph: BoundGraph, solution: TilingSolution, *, stacks_beside: bool = False
) -> TiledGraph:
    """The graph cut as a solution says, every tile checked; UsageError where it says something impossible."""
    request = question.request
    room = request.stacks
    reserved = reserved_for_stacks(request.platform, request.levels, room, beside=stacks_beside)
    options = TileOptions.without(request.options.disabled_passes)
    tiled = apply_solution(graph, request.levels, reserved, options, solution)
    return replace(tiled, stack_bytes=room.all_bytes) if stacks_beside else tiled


def alias(question: Question, plan: ExecutionPlan, names: frozenset[str] | None) -> ExecutionPlan:
    """The plan with these instructions aliased, None for all that can be; the same plan where none can."""
    if names is not None and not names:
        return plan
    placing = question.placing
    home = plan.home or question.request.platform.compute_in
    level = next(level for level in question.request.platform.memory if level.name == home)
    settled = names_in_place(plan)
    apart = states_apart(plan) if settled else plan
    aliased = with_aliasing(apart, level.align, placing.outside(plan), names)
    if aliased is apart:
        return plan
    return settle_states(aliased, settled).plan if settled else aliased


def _states(deployment: Deployment) -> frozenset[str] | None:
    """The states that may lie in place; None for all."""
    if "state" in deployment.question.request.options.disabled_passes:
        return frozenset()
    return deployment.decisions.states_in_place


def _with_again(plan: ExecutionPlan, repeated: Sequence[Again]) -> ExecutionPlan:
    for repeat in repeated:
        plan = again(plan, repeat.node, repeat.before)
    return plan


def level_sizes(question: Question) -> Mapping[str, int | None]:
    """Bytes that the target has of each level at most."""
    return {
        name: max(memory.most or 0, memory.size or 0) or None
        for name, memory in question.request.target.memories.items()
    }
