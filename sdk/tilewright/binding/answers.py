"""What every kernel says of every node, asked once for all bindings of one network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tilewright.binding.candidates import Refusals, in_order, make_call, own_refusal
from tilewright.binding.graph import Candidate
from tilewright.binding.order import Order
from tilewright.model import Model, Node
from tilewright.ops.operator import Call, Kind
from tilewright.ops.weights import refuse_overflow
from tilewright.platform import Kernel


@dataclass(frozen=True)
class Answers:
    """The calls of a network's nodes with what the kernels, by name of the operator, say of them."""

    offered: Mapping[str, tuple[Kernel, ...]]
    by_node: dict[str, tuple[Call, tuple[Candidate, ...]]] = field(default_factory=dict)

    def call(self, model: Model, node: Node) -> Call:
        """The node with its operands; an error where sums of its constants cannot be told."""
        return self._of(model, node)[0]

    def candidates(self, model: Model, node: Node, refused: Refusals, order: Order) -> tuple[Candidate, ...]:
        """Every kernel for the node's operator; those that accept it come first, sorted by `order`. Views have none."""
        return in_order(*self._of(model, node), refused, order)

    def _of(self, model: Model, node: Node) -> tuple[Call, tuple[Candidate, ...]]:
        known = self.by_node.get(node.name)
        if known is None or known[0].node is not node:
            call = make_call(model, node)
            refuse_overflow(call)
            kernels = () if is_view(call) else self.offered.get(node.op, ())
            known = call, tuple(Candidate(kernel, own_refusal(call, kernel)) for kernel in kernels)
            self.by_node[node.name] = known
        return known


def is_view(call: Call) -> bool:
    """A view shows the same elements under the same type and quantisation."""
    if call.operator is None or call.operator.kind is not Kind.VIEW or 0 in call.constants or len(call.outputs) != 1:
        return False
    x, y = call.tensor(0), call.outputs[0]
    return (y.dtype, y.quantisation, y.elements) == (x.dtype, x.quantisation, x.elements)
