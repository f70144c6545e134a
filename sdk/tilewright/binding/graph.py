"""The bound graph: one kernel, one set of layouts per node; what binding gives and tiling takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from tilewright.layout import Layout
from tilewright.model import Model
from tilewright.ops.operator import Call
from tilewright.platform import Kernel, Operands, Platform


@dataclass(frozen=True)
class Refusal:
    """Why a kernel that accepts a node is not taken; `too_large` where no tile of it fits the compute level."""

    why: str
    too_large: bool = False


@dataclass(frozen=True)
class Candidate:
    """A kernel that was tried for a node, with the sentence why it was refused; None where it was taken or could be.

    `too_large` where it gave way because no tile of it fits the compute level.
    """

    kernel: Kernel
    refusal: str | None
    too_large: bool = False


@dataclass(frozen=True)
class BoundNode:
    """A node with its kernel; `kernel` is None for a view, which computes nothing.

    Where several nodes are computed as one, `parts` are they, as they were bound apart, and `rows` the rows of the last
    that are computed at a time.
    """

    call: Call
    kernel: Kernel | None
    candidates: tuple[Candidate, ...] = ()
    parts: tuple[BoundNode, ...] = ()
    rows: int = 0

    @cached_property
    def cost(self) -> float:
        """Estimated instructions; 0 for a view."""
        return 0.0 if self.kernel is None else self.kernel.cost(self.call)


@dataclass(frozen=True)
class BoundGraph:
    """Every node with its kernel, every tensor that is not constant with its layout.

    `output_names` are the names that the user knows; an output that had to be copied has another in `model.outputs`.
    """

    model: Model
    platform: Platform
    nodes: tuple[BoundNode, ...]
    layouts: Mapping[str, Layout]
    output_names: tuple[str, ...] = ()

    def operands(self, node: BoundNode) -> Operands:
        """What the node's kernel is asked about."""
        return Operands(node.call, self.layouts)
