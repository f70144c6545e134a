"""The last layer before a mean over planes, where it is taken back as one of a pair: its result is never stored.

The mean is taken as pixels are made, and what a gradient needs of the planes are signs, a bit for each element: that is
a `PooledConv` in the place of Conv, Relu and mean, and a DescentPair that reads its signs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from tilewright.gradient.pairs import PAIR
from tilewright.model import DType, Model, Node, Tensor
from tilewright.ops.codes import Mean
from tilewright.ops.descent_pair import FIRST_OF_PAIR
from tilewright.ops.pooled_conv import sign_bytes
from tilewright.ops.registry import call_of, codes_of
from tilewright.ops.relayout import DOMAIN

POOLED = "PooledConv"
_WEIGHTS, _GRADIENT = FIRST_OF_PAIR, FIRST_OF_PAIR + 1


@dataclass(frozen=True)
class _Pooled:
    """The forward layer, its Relu and the mean; backwards the mask, what it is multiplied by, and the pair."""

    conv: Node
    relu: Node
    mean: Node
    masked: Node
    narrow: str
    pair: Node


def pooled(
    model: Model, nodes: Sequence[Node], tensors: Mapping[str, Tensor]
) -> tuple[tuple[Node, ...], dict[str, Tensor]]:
    """The nodes with such a layer pooled as it is made, and tensors that they need more."""
    one = _Graph(model, nodes, tensors).pooled()
    if one is None:
        return tuple(nodes), {}
    results = tensors[one.conv.inputs[1]].shape[0]
    shape = tensors[one.mean.outputs[0]].shape
    names = {what: f"{one.conv.name}/{what}" for what in ("signs", "counts", "sums")}
    pixels = prod(tensors[one.relu.outputs[0]].shape[2:])
    more = {
        names["signs"]: Tensor(names["signs"], DType.U8, (pixels, sign_bytes(results))),
        names["counts"]: Tensor(names["counts"], DType.F32, shape),
        names["sums"]: Tensor(names["sums"], DType.F32, shape),
    }  # fmt: skip
    made = Node(
        one.conv.name, POOLED, one.conv.inputs, (one.mean.outputs[0], names["signs"], names["counts"]),
        one.conv.attributes, DOMAIN,
    )  # fmt: skip
    changed, gradient = list[Node](), one.masked.outputs[0]
    for node in nodes:
        if node.name == one.conv.name:
            changed.append(made)
        elif node.name == one.pair.name:
            inputs = (*node.inputs[:_GRADIENT], one.narrow, *node.inputs[_GRADIENT + 1 :], names["signs"])
            changed.append(replace(node, inputs=inputs))
        elif node.name == one.masked.name:
            changed.append(Node(f"{node.name}/sums", "Mul", (one.narrow, names["counts"]), (names["sums"],)))
        elif node.name not in (one.relu.name, one.mean.name):
            read = tuple(names["sums"] if name == gradient else name for name in node.inputs)
            changed.append(replace(node, inputs=read))
    return _needed(model, changed), more


def _needed(model: Model, nodes: Sequence[Node]) -> tuple[Node, ...]:
    """The nodes that something reads."""
    wanted, left = set(model.outputs), list[Node]()
    for node in reversed(nodes):
        if wanted.intersection(node.outputs):
            left.append(node)
            wanted.update(node.inputs)
    return tuple(reversed(left))


class _Graph:
    """Who writes and who reads what."""

    def __init__(self, model: Model, nodes: Sequence[Node], tensors: Mapping[str, Tensor]) -> None:
        self.model, self.nodes, self.tensors = model, nodes, tensors
        self.writers = {name: node for node in nodes for name in node.outputs if name}
        self.readers: dict[str, list[Node]] = {}
        for node in nodes:
            for name in set(node.inputs):
                self.readers.setdefault(name, []).append(node)

    def pooled(self) -> _Pooled | None:
        """The layer of the first pair taken back, where it is one."""
        pair = next((node for node in self.nodes if node.op == PAIR and len(node.inputs) == FIRST_OF_PAIR + 3), None)
        if pair is None or len(pair.outputs) < 4:
            return None
        masked = self.writers.get(pair.inputs[_GRADIENT])
        conv = next(
            (node for node in self.nodes if node.op == "Conv" and node.inputs[1] == pair.inputs[_WEIGHTS]), None
        )
        if masked is None or masked.op != "Mul" or conv is None or conv.clamp is not None:
            return None
        sign = self.writers.get(masked.inputs[0])
        relu = self._only(conv.outputs[0], "Relu")
        if sign is None or sign.op != "Sign" or relu is None or not self._is_sum_of(masked, pair):
            return None
        readers = [node for node in self.readers.get(relu.outputs[0], []) if node is not sign]
        mean = readers[0] if len(readers) == 1 and self._is_mean(readers[0], relu.outputs[0]) else None
        if mean is None or relu.outputs[0] in self.model.outputs or not self._is_pointwise(conv):
            return None
        return _Pooled(conv, relu, mean, masked, masked.inputs[1], pair)

    def _only(self, name: str, op: str) -> Node | None:
        readers = self.readers.get(name, [])
        return readers[0] if len(readers) == 1 and readers[0].op == op and name not in self.model.outputs else None

    def _is_sum_of(self, masked: Node, pair: Node) -> bool:
        """True where nothing but the pair and sums over planes read the masked gradient."""
        others = [node for node in self.readers[masked.outputs[0]] if node is not pair]
        shape = self.tensors[masked.outputs[0]].shape
        plain = all(node.op == "ReduceSum" and self.tensors[node.outputs[0]].shape == shape[1:2] for node in others)
        narrow = self.tensors[masked.inputs[1]].shape
        return plain and narrow == (1, shape[1], *(1 for _ in shape[2:]))

    def _is_mean(self, node: Node, name: str) -> bool:
        """True for the mean over whole planes."""
        fact, shape = codes_of(node), self.tensors[name].shape
        if not isinstance(fact, Mean) or not fact.windows or prod(self.tensors[node.outputs[0]].shape[2:]) > 1:
            return False
        inputs = [self.tensors[one] if one else None for one in node.inputs]
        call = call_of(node, inputs, [self.tensors[one] for one in node.outputs if one], {}, self.model.opset)
        if call.operator is None or call.operator.window is None:
            return True
        window = call.operator.window(call)
        return window.kernel == shape[2:] and not any((*window.begins, *window.ends))

    def _is_pointwise(self, conv: Node) -> bool:
        whole, weights = self.tensors[conv.outputs[0]].shape, self.tensors[conv.inputs[1]].shape
        alike = whole[0] == 1 and whole[2:] == self.tensors[conv.inputs[0]].shape[2:]
        return alike and prod(weights[2:]) == 1 and conv.attributes.get("group", 1) == 1
