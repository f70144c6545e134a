"""What the search chooses between: the kernels of every node, the views among them, and the outputs of the network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tilewright.binding.candidates import Refusals, candidates, make_call, no_kernel
from tilewright.binding.layouts import ROW_MAJOR, VIEW
from tilewright.binding.order import Order
from tilewright.binding.search import Choice
from tilewright.model import Model, Node
from tilewright.ops.operator import Call, Kind
from tilewright.ops.weights import refuse_overflow
from tilewright.platform import Kernel


def choices_of(
    model: Model, platform: str, offered: Mapping[str, tuple[Kernel, ...]], refused: Refusals, order: Order
) -> Iterator[Choice]:
    """Every node in order, and behind it the outputs that it makes; UnsupportedNode where no kernel takes a node."""
    outputs = frozenset(model.outputs)
    for node in model.nodes:
        call = make_call(model, node)
        refuse_overflow(call)
        tried = () if _is_view(call) else candidates(call, offered.get(node.op, ()), refused, order)
        rules = tuple(dict.fromkeys(c.kernel.layout for c in tried if c.refusal is None))
        if not rules and not _is_view(call):
            raise no_kernel(call, tried, platform)
        yield Choice(call, rules or (VIEW,), tried)
        for tensor in call.outputs:
            if tensor.name in outputs:
                end = Node(tensor.name, "Output", (tensor.name,), ())
                yield Choice(Call(end, (tensor,), (), operator=None), (ROW_MAJOR,), is_output=True)


def _is_view(call: Call) -> bool:
    """A view shows the same elements under the same type and quantisation."""
    if call.operator is None or call.operator.kind is not Kind.VIEW or 0 in call.constants or len(call.outputs) != 1:
        return False
    x, y = call.tensor(0), call.outputs[0]
    return (y.dtype, y.quantisation, y.elements) == (x.dtype, x.quantisation, x.elements)
