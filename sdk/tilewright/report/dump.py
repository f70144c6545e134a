"""`--dump-dir`: the value of every stage as a text file, written when the stage ends, so that a failure leaves traces.

`1_frontend.txt` is what the first step of the pipeline returned, and so on; a person reads them side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from tilewright.binding.graph import BoundGraph
from tilewright.memory.placed import PlacedPlan
from tilewright.model import Model, Tensor
from tilewright.output.staged import make_folder, write_text
from tilewright.pipeline import Compiler, Depends
from tilewright.plan.plan import ExecutionPlan
from tilewright.platform import Feature
from tilewright.report.explain import explain
from tilewright.report.text import printable, table
from tilewright.schedule.deployment import Deployment
from tilewright.schedule.moves import Move, Offer, Offers
from tilewright.tiling.tiled_graph import TiledGraph

T = TypeVar("T")


def add_dumps(compiler: Compiler[T], folder: Path, moves: Callable[..., Sequence[Move]]) -> None:
    """Write what each step of the pipeline gives into `folder`, and what the search has after each stage.

    `moves` is the pipeline's dependency that gives the moves of the search.
    """
    compiler.insert(partial(_dumped, folder, "1_frontend.txt", _model), after="load")
    compiler.insert(partial(_dumped, folder, "2_passes.txt", lambda network: _model(network.model)), after="lower")
    compiler.insert(partial(_dumped, folder, "6_memory.txt", lambda outcome: _placed(outcome.placed)), after="search")
    watched = (
        ("binding", _Watch(folder / "3_binding.txt", lambda now: _bound(now.graph))),
        ("tiling", _Watch(folder / "4_tiling.txt", lambda now: _tiled(now.tiled))),
        ("plan", _Watch(folder / "5_plan.txt", lambda now: _plan(now.plan))),
    )
    unwatched = compiler.dependency_overrides.get(moves) or partial(moves)

    def with_watches(chosen: Sequence[Move] = Depends(unwatched)) -> Sequence[Move]:
        """The moves, and behind those of each stage one that writes what there is."""
        order = list(chosen)
        for stage, watch in watched:
            last = max((at for at, move in enumerate(order) if _ORDER[move.stage] <= _ORDER[stage]), default=-1)
            order.insert(last + 1, replace(watch, stage=stage))
        return order

    compiler.dependency_overrides[moves] = with_watches


_ORDER = {"passes": 0, "binding": 1, "tiling": 2, "plan": 3}


@dataclass(frozen=True)
class _Watch:
    """A move that changes nothing and writes down what the search has."""

    file: Path
    describe: Callable[[Deployment], str]
    name: str = ""
    stage: str = ""
    needs: Feature | None = None

    def propose(self, now: Deployment) -> Offers:
        """Write; offer nothing."""
        make_folder(self.file.parent)
        write_text(self.file, self.describe(now) + "\n")
        yield Offer([])

    def added_work(self, before: Deployment, after: Deployment) -> float:
        """None."""
        return 0.0


def _dumped(folder: Path, name: str, describe: Callable[[T], str], value: T) -> T:
    make_folder(folder)
    write_text(folder / name, describe(value) + "\n")
    return value


def _model(model: Model) -> str:
    lines = [f"model {model.name}, opset {model.opset}, sha256 {model.sha256}"]
    lines += [f"input {_typed(model.tensors[name])}" for name in model.inputs]
    lines += [f"output {_typed(model.tensors[name])}" for name in model.outputs]
    lines += [f"constant {_typed(model.tensors[name])}" for name in model.constants]
    for node in model.nodes:
        operands = ", ".join(_typed(model.tensors[name]) if name else "-" for name in node.inputs)
        results = ", ".join(_typed(model.tensors[name]) for name in node.outputs if name)
        clamp = f" clamp [{node.clamp.low}, {node.clamp.high}]" if node.clamp else ""
        lines.append(f"{printable(node.name)}: {node.op}({operands}) -> {results}{clamp}")
        shown = {
            name: value
            for name, value in sorted(node.attributes.items())
            if isinstance(value, int | float | str | tuple)
        }
        lines += [f"    {name} = {value}" for name, value in shown.items()]
    return "\n".join(lines)


def _typed(tensor: Tensor) -> str:
    quantised = ""
    if tensor.quantisation is not None:
        scales, zeros = tensor.quantisation.scale, tensor.quantisation.zero_point
        quantised = f" scale {scales[0]:g} zero point {zeros[0]}" + (
            f" and {len(scales) - 1} more" if len(scales) > 1 else ""
        )
    return f"{printable(tensor.name)} {tensor.type_token}{list(tensor.shape)}{quantised}"


def _bound(graph: BoundGraph) -> str:
    layouts = [f"{printable(name)}: {layout}" for name, layout in graph.layouts.items()]
    return "\n".join([explain(graph), "", "layouts", *layouts])


def _tiled(tiled: TiledGraph) -> str:
    lines = []
    for bound in tiled.graph.nodes:
        name = bound.call.node.name
        schedule = tiled.schedules.get(name)
        lines.append(f"{printable(name)}: " + ("whole" if schedule is None else f"{schedule.tiles} tiles"))
        if schedule is not None:
            lines.append("    sizes " + ", ".join(f"{loop} {size}" for loop, size in schedule.sizes.items()))
            lines.append("    order " + " ".join(schedule.order))
            lines.append(
                "    in flight " + ", ".join(f"{operand} {depth}" for operand, depth in schedule.depth.items())
            )
    return "\n".join(lines)


def _plan(plan: ExecutionPlan) -> str:
    return "\n".join(_plan_lines(plan))


def _plan_lines(plan: ExecutionPlan) -> Iterator[str]:
    yield f"plan {plan.name} for {plan.platform}, inputs {list(plan.input_slots)}, outputs {list(plan.output_slots)}"
    for slot in plan.slots:
        view = f", {slot.storage[1]} bytes into slot {slot.storage[0]}" if slot.storage else ""
        yield f"slot {slot.index}: {_typed(slot.tensor)}, {slot.tensor.size_bytes} bytes{view}"
    for frozen in plan.frozen_slots:
        constant = frozen.constant
        holds = f"{constant.values.size} {constant.dtype.value}"
        yield f"frozen {frozen.index}: {constant.name} of {printable(frozen.node)}, {holds}"
    for instruction in plan.instructions:
        kernel, scratch = instruction.kernel, instruction.scratch_bytes
        engine = f" on {kernel.engine}" if kernel.engine else ""
        yield f"{instruction.index}: {kernel.name}{engine} ({printable(instruction.name)}), scratch {scratch} bytes"
        reads, writes = list(instruction.inputs), list(instruction.outputs)
        yield f"    slots {reads}, frozen {list(instruction.frozen)} -> slots {writes}"


def _placed(placed: PlacedPlan) -> str:
    head = (
        f"{placed.arena_bytes} bytes of {placed.level}, live set {placed.live_set}, lower bound {placed.lower_bound}, "
        f"{placed.solution.status} by {placed.solution.allocator}"
    )
    rows = [[r.name, r.level, str(r.offset), str(r.size), str(r.first), str(r.last), r.kind] for r in placed.regions]
    columns = table(["buffer", "level", "offset", "size", "first", "last", "kind"], rows, right=(2, 3, 4, 5))
    return f"{head}\n\n{columns}"
