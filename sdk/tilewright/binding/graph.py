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
class Needs:
    """What one call takes beside its operands: bytes of scratch, and how far results may lie over dying operands."""

    scratch_bytes: int
    overlaps: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True)
class BoundNode:
    """A node with its kernel; `kernel` is None for a view, which computes nothing.

    Where several nodes are computed as one, `parts` are they, as they were bound apart, and `rows` the rows of the last
    that are computed at a time; with `single_rows` those before it are computed row by row.
    """

    call: Call
    kernel: Kernel | None
    candidates: tuple[Candidate, ...] = ()
    parts: tuple[BoundNode, ...] = ()
    rows: int = 0
    single_rows: bool = False

    @cached_property
    def cost(self) -> float:
        """Estimated instructions; 0 for a view."""
        return 0.0 if self.kernel is None else self.kernel.cost(self.call)

    def needs(self, layouts: Mapping[str, Layout]) -> Needs:
        """What its kernel says that a call of the whole node takes; asked once for the same layouts of its tensors."""
        assert self.kernel is not None
        own = tuple(layouts.get(t.name) if t is not None else None for t in (*self.call.inputs, *self.call.outputs))
        if own not in self._known_needs:
            operands = Operands(self.call, layouts)
            self._known_needs[own] = Needs(self.kernel.scratch(operands), self.kernel.overlap(operands))
        return self._known_needs[own]

    @cached_property
    def _known_needs(self) -> dict[tuple[Layout | None, ...], Needs]:
        return {}


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
