"""`--explain`: for every node each candidate, with what it would have cost or the sentence why it was refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from tilewright.binding.graph import BoundGraph, BoundNode
from tilewright.binding.layouts import demanded
from tilewright.binding.order import Counts
from tilewright.ops.operator import Call
from tilewright.ops.products import units_of_work
from tilewright.platform import Kernel, Operands, Platform
from tilewright.report.calls import StateReport
from tilewright.rows.chain import RowChain


class Times(Protocol):
    """What knows modelled cycles of a layer by kernel."""

    def cycles(self, call: Call, kernel: Kernel) -> int | None:
        """None for a kernel that computes no tiles, or of which none fits."""

    def jobs(self, call: Call, kernel: Kernel) -> tuple[int, int] | None:
        """Cycles of the engine and of the cores for a kernel's jobs; None for one that gives none, or does not say."""


def explain(graph: BoundGraph, counts: Counts | None = None, times: Times | None = None) -> str:
    """One paragraph per node: what was taken, what else would do, what was refused and why.

    Every kernel that accepts the node stands with its instructions (declared, or from the `counts` of a lock file) and
    its bytes of flash for constants and of scratch. With `times` of several engines, it also stands with cycles.
    """
    return "\n".join(_lines(graph, counts or {}, times))


def explain_states(states: Sequence[StateReport]) -> Iterator[str]:
    """One paragraph per state: whether its next value is written over the last one, and what forbids it."""
    for state in states:
        yield f"state {state.name} <- {state.output}: {state.dtype}{list(state.shape)}, {state.bytes:,} B"
        yield f"    copied after every call: {state.copied}" if state.copied else "    in place: nothing is copied"


def _lines(graph: BoundGraph, counts: Counts, times: Times | None) -> Iterator[str]:
    for bound in graph.nodes:
        call = bound.call
        node = call.node
        shapes = ", ".join("-" if t is None else f"{t.type_token}{list(t.shape)}" for t in call.inputs)
        results = ", ".join(f"{t.type_token}{list(t.shape)}" for t in call.outputs)
        yield f"{node.name} ({node.op}): {shapes} -> {results}"
        if bound.kernel is None:
            yield "    view: no bytes move"
            continue
        engine = f" on {bound.kernel.engine}" if bound.kernel.engine else ""
        counted = counts.get(node.name, {})
        price = _price(graph, bound, bound.kernel, counted) + _in_cycles(bound, bound.kernel, times)
        yield f"    takes {bound.kernel.name} of {bound.kernel.platform}{engine}, {bound.kernel.numerics}: {price}"
        yield from _apart(graph, bound, counts)
        yield from _parted(bound, bound.kernel, times)
        for candidate in bound.candidates:
            if candidate.kernel is bound.kernel:
                continue
            why = candidate.refusal or f"would do: {_price(graph, bound, candidate.kernel, counted)}"
            why += "" if candidate.refusal else _in_cycles(bound, candidate.kernel, times)
            yield f"    {candidate.kernel.name} of {candidate.kernel.platform}: {why}"


def _apart(graph: BoundGraph, bound: BoundNode, counts: Counts) -> Iterator[str]:
    """For a chain its nodes, with their kernels on some rows and, if they were computed one after the other, on all."""
    chain = bound.kernel.methods if bound.kernel is not None else None
    if not isinstance(chain, RowChain):
        return
    shown = replace(graph, layouts={**graph.layouts, **chain.whole_layouts})
    for number, (stage, part) in enumerate(zip(chain.stages, bound.parts, strict=True)):
        assert part.kernel is not None
        held = f", {chain.walked.held[number]} kept" if number < len(chain.walked.held) else ""
        calls = chain.walked.count(number)
        yield (
            f"    {part.call.node.name} ({part.call.node.op}): {stage.step.rows} of {stage.step.height} rows at a time"
            f"{held}, by {stage.kernel.name}: {calls} times about {round(stage.band.cost):,} instructions, "
            f"{stage.scratch_bytes:,} B of scratch"
        )
        price = _price(shown, part, part.kernel, counts.get(part.call.node.name, {}))
        yield f"        apart by {part.kernel.name}: {price}, {stage.result.size_bytes:,} B of result"


def _in_cycles(bound: BoundNode, kernel: Kernel, times: Times | None) -> str:
    """What a kernel's layer is modelled to take alone, where several engines have a kernel that accepts it."""
    if times is None or bound.parts or len({c.kernel.engine for c in bound.candidates if c.refusal is None}) < 2:
        return ""
    cycles, jobs = times.cycles(bound.call, kernel), times.jobs(bound.call, kernel)
    if cycles is None:
        return ""
    both = f": its jobs {jobs[0]:,}, the cores beside them {jobs[1]:,}" if jobs else ""
    return f", about {cycles:,} cycles in tiles on {kernel.engine}{both}"


def _parted(bound: BoundNode, kernel: Kernel, times: Times | None) -> Iterator[str]:
    """For a layer in jobs what a part of it on the cores, beside the jobs, would save at best.

    Of a part f of the layer the cores take f of what their own kernel takes; both are done at once where the engine's
    jobs on the rest take as long as the cores with the rest's results and that part.
    """
    jobs = times.jobs(bound.call, kernel) if times is not None else None
    others = [c.kernel for c in bound.candidates if c.refusal is None and not c.kernel.gives_jobs]
    alone = [cycles for other in others if times and (cycles := times.cycles(bound.call, other)) is not None]
    if jobs is None or not alone:
        return
    engine, cores = jobs
    if engine <= cores:
        yield "    parted between both: saves nothing, the cores work as long as the engine already"
        return
    part = (engine - cores) / (engine - cores + min(alone))
    yield (
        f"    parted between both: {part:.1%} of it on the cores would save {round(part * engine):,} cycles at best, "
        "less what a second kernel takes to begin"
    )


def _price(graph: BoundGraph, bound: BoundNode, kernel: Kernel, counted: Mapping[str, int]) -> str:
    """Instructions, flash and scratch of a kernel on this node, on operands in the layouts that it asks for."""
    layouts = {**graph.layouts, **demanded(kernel.layout, bound.call, graph.layouts)}
    operands = Operands(bound.call, layouts)
    if kernel.name in counted:
        instructions = f"{counted[kernel.name]:,} instructions counted"
    else:
        instructions = _estimate(graph.platform, bound.call, kernel)
    flash = sum(constant.size_bytes for constant in kernel.constants(operands))
    return f"{instructions}, {flash:,} B of flash, {kernel.scratch(operands):,} B of scratch"


def _estimate(platform: Platform, call: Call, kernel: Kernel) -> str:
    """What a kernel declares, or what the platform found that it takes for each result or product."""
    cost = kernel.declared_cost(call)
    if cost is not None:
        cores = f" on the cores of {kernel.platform}" if kernel.platform != platform.name else ""
        return f"about {round(cost):,} instructions{cores}"
    rate = platform.rates.get(kernel.name)
    if rate is None:
        return "instructions not declared"
    unit = "cycles" if platform.copies else "instructions"
    return f"about {round(rate.each * units_of_work(call)):,} {unit} at {rate.each:g} each"
