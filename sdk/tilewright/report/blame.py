"""Why a level is too small, from the report alone: the worst moment, the tensors alive then, what lies beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tilewright.errors import DoesNotFit
from tilewright.memory.blame import Peak, explain
from tilewright.memory.needs import MemoryReport
from tilewright.memory.problem import Buffer, PlacementProblem, PlacementSolution
from tilewright.report.build import Report
from tilewright.report.text import NAME_WIDTH, printable

LISTED = 4
_PLACED = ("activations", "io", "scratch")
"""Parts that the sentence names buffer by buffer."""


@dataclass(frozen=True)
class TooSmall:
    """A level that is too small for its limit: the sentence, and the layer and tensor that are most to blame."""

    sentence: str
    layer: str = ""
    tensor: str = ""


def overflow(report: Report, budgets: Mapping[str, int], *, sure: bool = False) -> DoesNotFit | None:
    """The error for levels that are larger than their memory or their budget, None where everything fits.

    With `sure` estimates count as nothing: a build is to follow, which tells.
    """
    errors: list[TooSmall] = []
    smallest: dict[str, int] = {}
    for name, level in report.memory.items():
        limits = [("the level has", level.size), ("the budget is", budgets.get(name))]
        total = level.surely if sure else level.total
        broken = [(limit, words) for words, limit in limits if limit is not None and total > limit]
        if broken:
            limit, words = min(broken)
            missing = level.total - limit
            errors.append(
                too_small(report, name, f"needs {level.total:,} B and {words} {limit:,} B, {missing:,} B less")
            )
            smallest[name] = level.total
    if not errors:
        return None
    return DoesNotFit(
        f"'{report.model.name}' does not fit on '{report.target}'",
        why="; ".join(each.sentence for each in errors),
        fix="use a larger memory, try --optimize size, or shrink these tensors",
        node=errors[0].layer, tensor=errors[0].tensor, smallest=smallest,
    )  # fmt: skip


def too_small(report: Report, name: str, needs: str) -> TooSmall:
    """What is alive in a level at its worst moment, and what else lies there; `needs` says by how much."""
    level = report.memory[name]
    beside = [
        f"{size:,} B of {part.replace('_', ' ')}" + " (estimated)" * (level.of(part) == "estimated")
        for part, size in level.parts().items()
        if size and part not in _PLACED
    ]
    peak = worst_moment(level)
    if not peak.buffers:
        return TooSmall(f"{name} {needs}" + (f": {', '.join(beside)}" if beside else ""))
    layers = report.layers
    layer = layers[peak.moment] if peak.moment < len(layers) else None
    where = f"layer {peak.moment}" + (
        f" '{printable(layer.name, NAME_WIDTH)}' ({layer.op})" if layer is not None else ""
    )
    named = ", ".join(f"'{printable(buffer.name, NAME_WIDTH)}' {buffer.size:,} B" for buffer in peak.buffers[:LISTED])
    more = f" and {len(peak.buffers) - LISTED} more" if len(peak.buffers) > LISTED else ""
    over = " as some lie over others" if sum(buffer.size for buffer in peak.buffers) > peak.live else ""
    sentence = f"{name} {needs}: at {where} these are alive: {named}{more}, {peak.live:,} B together{over}"
    if beside:
        sentence += f", beside {', '.join(beside)}"
    if level.status == "gap":
        sentence += f"; only {level.lower_bound:,} B are proved to be needed, more --solver-seconds may help"
    return TooSmall(sentence, layer.name if layer is not None else "", peak.buffers[0].name)


def worst_moment(level: MemoryReport) -> Peak:
    """The moment at which the level reaches its peak, with the buffers alive then; no buffers where none are placed."""
    buffers = tuple(Buffer(f"{n}", b.first, b.last + 1, b.size) for n, b in enumerate(level.buffers))
    top = max((b.offset + b.size for b in level.buffers), default=0)
    offsets = {f"{n}": b.offset for n, b in enumerate(level.buffers)}
    peak = explain(PlacementProblem(buffers), PlacementSolution(offsets, top, 0, ""))
    named = tuple(Buffer(level.buffers[int(b.name)].name, b.lower, b.upper, b.size) for b in peak.buffers)
    return Peak(peak.moment, peak.size, peak.live, named)
