"""The bound graph of a binding: the nodes with their kernels, and the Relayouts between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from tilewright.binding.graph import BoundGraph, BoundNode
from tilewright.binding.layouts import Rule, demanded, runtime_operands
from tilewright.binding.outputs import copies, roots
from tilewright.binding.relayouts import Relayouts, relayout_call
from tilewright.layout import Layout
from tilewright.model import Model, Node, Tensor
from tilewright.ops.operator import Call
from tilewright.platform import Platform


@dataclass
class _Writer:
    """Collects the bound nodes and the Relayouts between them; one Relayout serves all readers of a layout."""

    model: Model
    layouts: dict[str, Layout]
    relayouts: Relayouts
    nodes: list[BoundNode] = field(default_factory=list)
    tensors: dict[str, Tensor] = field(default_factory=dict)
    made: dict[tuple[str, Layout], Tensor] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)

    def moved(self, tensor: Tensor, layout: Layout) -> Tensor:
        """The tensor in another layout; a Relayout is added where there is none yet."""
        key = (tensor.name, layout)
        if key not in self.made:
            self.made[key] = self.copy(tensor, layout, f"{tensor.name}_relayout")
        return self.made[key]

    def copy(self, tensor: Tensor, layout: Layout, name: str) -> Tensor:
        """A copy of the tensor in some layout, under a name like this one."""
        result = Tensor(self.fresh(name), tensor.dtype, tensor.shape, tensor.quantisation)
        value = self.model.constants.get(tensor.name)
        call = relayout_call(tensor, result, self.fresh(f"{result.name}_copy"), value)
        kernel = self.relayouts.kernel(tensor.name)
        assert kernel is not None, "the search makes sure that there is one"
        self.tensors[result.name] = result
        self.layouts[result.name] = layout
        self.nodes.append(BoundNode(call, kernel))
        return result

    def fresh(self, name: str) -> str:
        """A name that no tensor and no node has yet."""
        if not self.names:
            self.names = {*self.model.tensors, *(node.name for node in self.model.nodes)}
        count, free = 0, name
        while free in self.names:
            count += 1
            free = f"{name}_{count}"
        self.names.add(free)
        return free


def with_relayouts(
    model: Model,
    platform: Platform,
    bound: Sequence[tuple[BoundNode, Rule]],
    layouts: Mapping[str, Layout],
    relayouts: Relayouts,
) -> BoundGraph:
    """Insert the Relayouts that the nodes need under their rules, and those that graph outputs need."""
    writer = _Writer(model, dict(layouts), relayouts)
    for node, rule in bound:
        call = node.call
        by_name = {t.name: t for _, t in runtime_operands(call)}
        moved = {
            name: writer.moved(by_name[name], layout) for name, layout in demanded(rule, call, writer.layouts).items()
        }
        writer.nodes.append(BoundNode(_renamed(call, moved), node.kernel, node.candidates))
    shown = roots([node.call for node in writer.nodes if node.kernel is None])
    outputs = list(model.outputs)
    for at in sorted(copies(model, shown, writer.layouts, relayouts.copied)):
        tensor = model.tensors[outputs[at]]
        writer.layouts.setdefault(tensor.name, Layout.default(tensor.shape))
        outputs[at] = writer.copy(tensor, Layout.default(tensor.shape), f"{tensor.name}_out").name
    nodes = tuple(node.call.node for node in writer.nodes)
    changed = model.replace(nodes=nodes, tensors={**model.tensors, **writer.tensors}, outputs=tuple(outputs))
    return BoundGraph(changed, platform, tuple(writer.nodes), writer.layouts, model.outputs)


def _renamed(call: Call, names: Mapping[str, Tensor]) -> Call:
    """The call with some operands replaced."""
    if not names:
        return call
    node = call.node
    inputs = tuple(names[n].name if n in names and i not in call.constants else n for i, n in enumerate(node.inputs))
    tensors = tuple(
        names[t.name] if t is not None and t.name in names and i not in call.constants else t
        for i, t in enumerate(call.inputs)
    )
    renamed = Node(node.name, node.op, inputs, node.outputs, node.attributes, node.domain, node.clamp)
    return replace(call, node=renamed, inputs=tensors)
