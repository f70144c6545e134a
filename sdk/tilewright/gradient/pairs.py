"""A layer that is taken back right behind the one before it, as one node: what lies between both is never stored.

Where the operand of a Descent was computed again for it alone, by a layer that is taken back channel by channel next,
all of that is one DescentPair: the planes between are made, taken back and forgotten, a few at a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tilewright.model import Attribute, Model, Node, Tensor
from tilewright.ops.descent import FIRST_TERM, OF_A_TERM, descent_terms
from tilewright.ops.descent_pair import channel_by_channel
from tilewright.ops.registry import call_of
from tilewright.ops.relayout import DOMAIN

PAIR = "DescentPair"


@dataclass(frozen=True)
class _Pair:
    """The nodes of a pair: the layer before, made again, and both taken back; sums of the gradient between."""

    layer: Node
    relu: Node | None
    behind: Node
    before: Node
    sums: Node | None

    def node(self, sums: str, between: Sequence[int]) -> Node:
        """All of it in one."""
        b, f = self.behind, self.before
        attributes: dict[str, Attribute] = {
            "windows": (*_numbers(f), *_numbers(b)), "between": tuple(between), "rate": b.attributes["rate"],
            "decay": b.attributes["decay"], "rectified": int(self.relu is not None),
            "masked": f.attributes["masked"] if f.outputs[0] else 0,
        }  # fmt: skip
        bias = self.layer.inputs[2] if len(self.layer.inputs) > 2 else ""
        inputs = (f.inputs[0], f.inputs[2], bias, f.inputs[4], b.inputs[1], *b.inputs[2:5])
        outputs = (f.outputs[1], sums, b.outputs[1], *f.outputs[:1])
        return Node(f"{b.name}/pair", PAIR, inputs, outputs if f.outputs[0] else outputs[:3], attributes, DOMAIN)


def paired(
    model: Model, nodes: Sequence[Node], tensors: Mapping[str, Tensor]
) -> tuple[tuple[Node, ...], dict[str, Tensor]]:
    """The nodes with every pair in the place of the layer that is taken back first, and tensors that they need more."""
    writers = {name: node for node in nodes for name in node.outputs if name}
    readers: dict[str, list[Node]] = {}
    for node in nodes:
        for name in set(node.inputs):
            readers.setdefault(name, []).append(node)
    gone, made, more = set[str](), dict[str, Node](), dict[str, Tensor]()
    for node in nodes:
        pair = _pair(model, node, writers, readers, tensors) if node.op == "Descent" else None
        if pair is None or {pair.layer.name, pair.behind.name, pair.before.name} & gone:
            continue
        between = tensors[pair.behind.inputs[0]]
        sums = pair.sums.outputs[0] if pair.sums is not None else f"{pair.behind.outputs[0]}/sums"
        if pair.sums is None:
            more[sums] = replace(between, name=sums, shape=between.shape[1:2])
        made[pair.behind.name] = pair.node(sums, between.shape[2:])
        gone |= {one.name for one in (pair.layer, pair.relu, pair.before, pair.sums) if one is not None}
        gone.add(pair.behind.name)
    return tuple(made.get(node.name, node) for node in nodes if node.name in made or node.name not in gone), more


def _numbers(descent: Node) -> tuple[int, ...]:
    windows = descent.attributes["windows"]
    assert isinstance(windows, tuple), "windows are numbers"
    return tuple(int(number) for number in windows)


def _pair(
    model: Model, behind: Node, writers: Mapping[str, Node], readers: Mapping[str, list[Node]],
    tensors: Mapping[str, Tensor],
) -> _Pair | None:  # fmt: skip
    """The pair whose second layer a Descent takes back; None where there is none."""
    x, dx = behind.inputs[0], behind.outputs[0]
    layer, relu = writers.get(x), None
    if layer is not None and layer.op == "Relu":
        relu, layer = layer, writers.get(layer.inputs[0])
    if layer is None or layer.op != "Conv" or layer.clamp is not None or not dx or dx in model.outputs:
        return None
    alone = all(len(readers[name]) == 1 and name not in model.outputs for name in {x, layer.outputs[0]})
    if not alone or behind.attributes["masked"] != int(relu is not None) or not _of_one(behind):
        return None
    before = next((node for node in readers.get(dx, ()) if node.op == "Descent" and node.inputs[3:4] == (dx,)), None)
    others = [node for node in readers.get(dx, ()) if node is not before]
    if before is None or len(others) > 1 or not _of_one(before) or before.inputs[1]:
        return None
    alike = all(before.attributes[name] == behind.attributes[name] for name in ("rate", "decay"))
    if not alike or before.inputs[::2][:2] != layer.inputs[:2] or before.inputs[0] == dx:
        return None
    sums = others[0] if others else None
    if sums is not None and not _is_sum(model, sums, tensors):
        return None
    return _Pair(layer, relu, behind, before, sums) if _possible(model, behind, before, tensors) else None


def _of_one(descent: Node) -> bool:
    return len(descent.inputs) == FIRST_TERM + OF_A_TERM


def _is_sum(model: Model, node: Node, tensors: Mapping[str, Tensor]) -> bool:
    """True for the sum over all but channels, as a vector."""
    x, y = tensors[node.inputs[0]].shape, tensors[node.outputs[0]].shape
    axes = model.constants.get(node.inputs[1]) if len(node.inputs) > 1 else None
    given = axes is not None and {int(axis) % len(x) for axis in axes.reshape(-1)} == {0, *range(2, len(x))}
    return node.op == "ReduceSum" and given and y == x[1:2]


def _possible(model: Model, behind: Node, before: Node, tensors: Mapping[str, Tensor]) -> bool:
    """True where one node does what both do."""
    terms = []
    for node in (behind, before):
        inputs = [tensors[name] if name else None for name in node.inputs]
        call = call_of(node, inputs, [tensors[name] for name in node.outputs if name], {}, model.opset)
        terms.append(descent_terms(call)[0])
    last, first = terms
    return last.groups == 1 and not last.matrix and channel_by_channel(first, back=bool(before.outputs[0]))
