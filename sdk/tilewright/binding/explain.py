"""`--explain`: for every node each candidate with its sentence, nearest miss first."""

from __future__ import annotations

from collections.abc import Iterator

from tilewright.binding.graph import BoundGraph


def explain(graph: BoundGraph) -> str:
    """One paragraph per node: what was taken, what was refused and why."""
    return "\n".join(_lines(graph))


def _lines(graph: BoundGraph) -> Iterator[str]:
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
        yield f"    takes {bound.kernel.name} of {bound.kernel.platform}{engine}, {bound.kernel.numerics}"
        for candidate in bound.candidates:
            if candidate.kernel is not bound.kernel:
                yield f"    {candidate.kernel.name}: {candidate.refusal or 'would do, comes later in preference'}"
