"""What the search chooses between: the kernels of every node, the views among them, and the outputs of the network."""

from __future__ import annotations

from collections.abc import Iterator

from tilewright.binding.answers import Answers, is_view
from tilewright.binding.candidates import Refusals, no_kernel
from tilewright.binding.layouts import ROW_MAJOR, VIEW
from tilewright.binding.order import Order
from tilewright.binding.search import Choice
from tilewright.model import Model, Node
from tilewright.ops.operator import Call


def choices_of(model: Model, platform: str, answers: Answers, refused: Refusals, order: Order) -> Iterator[Choice]:
    """Every node in order, and behind it the outputs that it makes; UnsupportedNode where no kernel takes a node."""
    outputs = frozenset(model.outputs)
    for node in model.nodes:
        call, tried = answers.call(model, node), answers.candidates(model, node, refused, order)
        rules = tuple(dict.fromkeys(c.kernel.layout for c in tried if c.refusal is None))
        if not rules and not is_view(call):
            raise no_kernel(call, tried, platform)
        yield Choice(call, rules or (VIEW,), tried)
        for tensor in call.outputs:
            if tensor.name in outputs:
                end = Node(tensor.name, "Output", (tensor.name,), ())
                yield Choice(Call(end, (tensor,), (), operator=None), (ROW_MAJOR,), is_output=True)
