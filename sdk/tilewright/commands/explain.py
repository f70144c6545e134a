"""What `--explain` prints: for every node each kernel that was tried, and the sentence why it was not taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tilewright.binding.graph import BoundGraph


def explain(bound: BoundGraph) -> str:
    """One paragraph per node, candidates in the order in which binding gives them."""
    lines = []
    for bound_node in bound.nodes:
        node, kernel = bound_node.call.node, bound_node.kernel
        lines.append(f"{node.name} ({node.op}): " + (kernel.name if kernel else "a view, moves nothing"))
        for candidate in bound_node.candidates:
            tried = candidate.kernel
            if tried is not kernel:
                reason = candidate.refusal or "could do it, but another is preferred"
                lines.append(f"    not {tried.name} of {tried.platform}: {reason}")
    return "\n".join(lines)
