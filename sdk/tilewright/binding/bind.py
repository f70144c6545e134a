"""Binding: one kernel for every node and one layout for every tensor, by conflict-directed backtracking.

Nodes are decided in topological order, each by the cheapest kernel (see `binding/order.py`) whose demands on
operand layouts can be met, if need be by a Relayout. Where none can, the search jumps back to the latest node whose
choice of layout took part in the conflict. Views never compute: a Reshape keeps the layout, a Transpose renames it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from tilewright.binding.candidates import Refusals, by_operator, candidates, make_call, no_kernel
from tilewright.binding.check import check
from tilewright.binding.graph import BoundGraph, BoundNode, Candidate
from tilewright.binding.layouts import demanded, resulting, runtime_operands
from tilewright.binding.order import Order, by_cost
from tilewright.binding.types import mismatch
from tilewright.errors import UnsupportedNode
from tilewright.ieee import ieee
from tilewright.layout import Layout
from tilewright.model import Array, Model, Node, Tensor
from tilewright.ops.operator import Call, Kind
from tilewright.ops.registry import find
from tilewright.ops.relayout import DOMAIN
from tilewright.ops.weights import refuse_overflow
from tilewright.platform import Kernel, Platform


@dataclass
class _Choice:
    """One node of the search: what it may take, what was tried, and who is to blame where nothing is left."""

    call: Call
    view: bool
    options: tuple[Candidate, ...]
    taken: int = -1
    blamed: set[int] = field(default_factory=set)


@ieee
def bind(
    model: Model,
    platform: Platform,
    kernels: Sequence[Kernel],
    refused: Refusals = MappingProxyType({}),
    order: Order = by_cost,
) -> BoundGraph:
    """Bind every node; UnsupportedNode names the first that no kernel takes, with every kernel's sentence.

    `order` sorts the kernels that accept a node; `refused` are sentences against some of them.
    """
    offered = by_operator(kernels)
    choices = [_choice(model, node, offered, platform, refused, order) for node in model.nodes]
    layouts = _search(model, choices, offered.get("Relayout", ()), platform)
    graph = _materialise(model, platform, choices, layouts, offered.get("Relayout", ()))
    check(graph)
    return graph


def _choice(
    model: Model,
    node: Node,
    offered: Mapping[str, tuple[Kernel, ...]],
    platform: Platform,
    refused: Refusals,
    order: Order,
) -> _Choice:
    call = make_call(model, node)
    refuse_overflow(call)
    operator = find(node.op, node.domain)
    if operator is not None and operator.kind is Kind.VIEW and 0 not in call.constants and _is_view(call):
        return _Choice(call, True, ())
    tried = candidates(call, offered.get(node.op, ()), refused, order)
    if not tried or tried[0].refusal is not None:
        raise no_kernel(call, tried, platform.name)
    return _Choice(call, False, tried)


def _is_view(call: Call) -> bool:
    """A view shows the same elements under the same type and quantisation."""
    x = call.tensor(0)
    return (
        all((y.dtype, y.quantisation, y.elements) == (x.dtype, x.quantisation, x.elements) for y in call.outputs[:1])
        and len(call.outputs) == 1
    )


def view_layout(call: Call, layout: Layout) -> Layout | None:
    """Layout of a view's result on the bytes of its operand; None where a digit would have to be split."""
    if call.node.op != "Transpose":
        return layout
    shape = call.shape(0)
    perm = call.integers("perm", tuple(reversed(range(len(shape)))))
    return layout.transpose(shape, perm)


def _search(
    model: Model, choices: list[_Choice], relayouts: tuple[Kernel, ...], platform: Platform
) -> dict[str, Layout]:
    layouts = {name: Layout.default(model.tensors[name].shape) for name in model.inputs}
    maker = {name: i for i, choice in enumerate(choices) for name in choice.call.node.outputs}
    at = 0
    while at < len(choices):
        choice = choices[at]
        if _advance(choice, layouts, relayouts, maker):
            at += 1
            continue
        if not choice.blamed:
            raise no_kernel(choice.call, _layout_refusals(choice), platform.name)
        back = max(choice.blamed)
        choices[back].blamed |= choice.blamed - {back}
        for undone in choices[back + 1 : at + 1]:
            undone.taken = -1
            undone.blamed = set()
        at = back
    return layouts


def _advance(
    choice: _Choice, layouts: dict[str, Layout], relayouts: tuple[Kernel, ...], maker: Mapping[str, int]
) -> bool:
    """Take the next option whose layout demands can be met; on failure add the makers of the operands to the blamed."""
    call = choice.call
    if choice.view:
        if choice.taken >= 0:
            choice.blamed |= {maker[name] for name in call.node.inputs[:1] if name in maker}
            return False
        choice.taken = 0
        x = call.tensor(0)
        found = view_layout(call, layouts[x.name])
        layouts[call.outputs[0].name] = found or view_layout(call, Layout.default(x.shape)) or Layout.default(x.shape)
        return True
    while choice.taken + 1 < len(choice.options) and choice.options[choice.taken + 1].refusal is None:
        choice.taken += 1
        kernel = choice.options[choice.taken].kernel
        wanted = demanded(kernel, call, layouts)
        stuck = [name for name in wanted if _relayout_kernel(call, name, relayouts) is None]
        if stuck:
            choice.blamed |= {maker[name] for name in stuck if name in maker}
            continue
        layouts.update(resulting(kernel, call, {**layouts, **wanted}) if wanted else resulting(kernel, call, layouts))
        return True
    return False


def _layout_refusals(choice: _Choice) -> tuple[Candidate, ...]:
    why = "an operand lies in another layout and the platform has no Relayout kernel for its type"
    return tuple(c if c.refusal else Candidate(c.kernel, why) for c in choice.options)


def _relayout_call(tensor: Tensor, result: Tensor, name: str, value: Array | None = None) -> Call:
    node = Node(name, "Relayout", (tensor.name,), (result.name,), domain=DOMAIN)
    return Call(node, (tensor,), (result,), {} if value is None else {0: value})


def _relayout_kernel(call: Call, name: str, relayouts: tuple[Kernel, ...]) -> Kernel | None:
    tensor = next(t for t in call.inputs if t is not None and t.name == name)
    probe = _relayout_call(tensor, tensor, name)
    return next((k for k in relayouts if mismatch(k, probe) is None and k.accepts(probe) is None), None)


@dataclass
class _Writer:
    """Collects the bound nodes and the Relayouts between them; one Relayout serves all readers of a layout."""

    model: Model
    layouts: dict[str, Layout]
    relayouts: tuple[Kernel, ...]
    platform: str
    nodes: list[BoundNode] = field(default_factory=list)
    tensors: dict[str, Tensor] = field(default_factory=dict)
    made: dict[tuple[str, Layout], str] = field(default_factory=dict)

    def moved(self, tensor: Tensor, layout: Layout, name: str | None = None) -> str:
        """Name of the tensor in another layout; a Relayout is added where there is none yet."""
        key = (tensor.name, layout)
        if name is None and key in self.made:
            return self.made[key]
        result = Tensor(name or self.fresh(f"{tensor.name}_relayout"), tensor.dtype, tensor.shape, tensor.quantisation)
        value = self.model.constants.get(tensor.name)
        call = _relayout_call(tensor, result, self.fresh(f"{result.name}_copy"), value)
        kernel = _relayout_kernel(call, tensor.name, self.relayouts)
        if kernel is None:
            raise UnsupportedNode(
                f"tensor '{tensor.name}' cannot be copied on platform '{self.platform}'",
                why=f"no Relayout kernel takes {tensor.type_token}",
                fix="add a Relayout kernel to the platform or inherit from generic",
                tensor=tensor.name,
            )
        self.tensors[result.name] = result
        self.layouts[result.name] = layout
        self.made[key] = result.name
        self.nodes.append(BoundNode(call, kernel))
        return result.name

    def fresh(self, name: str) -> str:
        """A tensor name that is not taken yet."""
        taken, count, found = {*self.model.tensors, *self.tensors}, 0, name
        while found in taken:
            count += 1
            found = f"{name}_{count}"
        return found


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
    return Call(renamed, tensors, call.outputs, call.constants, call.opset)


def _materialise(
    model: Model,
    platform: Platform,
    choices: Sequence[_Choice],
    layouts: dict[str, Layout],
    relayouts: tuple[Kernel, ...],
) -> BoundGraph:
    """Insert the Relayouts that the choices need, and those that graph outputs need."""
    writer = _Writer(model, layouts, relayouts, platform.name)
    for choice in choices:
        call, kernel, wanted = choice.call, None, {}
        if choice.view:
            x = call.tensor(0)
            if view_layout(call, layouts[x.name]) is None:
                wanted = {x.name: Layout.default(x.shape)}
        else:
            kernel = choice.options[choice.taken].kernel
            wanted = demanded(kernel, call, layouts)
        by_name = {t.name: t for _, t in runtime_operands(call)}
        moved = {name: writer.moved(by_name[name], layout) for name, layout in wanted.items()}
        tensors = {**model.tensors, **writer.tensors}
        call = _renamed(call, {old: tensors[new] for old, new in moved.items()})
        writer.nodes.append(BoundNode(call, kernel, choice.options))
    outputs = _outputs(model, writer)
    nodes = tuple(bound.call.node for bound in writer.nodes)
    changed = model.replace(nodes=nodes, tensors={**model.tensors, **writer.tensors}, outputs=outputs)
    return BoundGraph(changed, platform, tuple(writer.nodes), dict(writer.layouts), model.outputs)


def _outputs(model: Model, writer: _Writer) -> tuple[str, ...]:
    """Graph outputs lie row-major in bytes of their own: copies where a layout, an input or a constant stands there."""
    roots = {name: name for name in model.inputs}
    for bound in writer.nodes:
        node = bound.call.node
        for name in node.outputs:
            roots[name] = roots.get(node.inputs[0], node.inputs[0]) if bound.kernel is None else name
    outputs, taken = [], set(model.inputs)
    for name in model.outputs:
        tensor = model.tensors[name]
        layout = writer.layouts.get(name, Layout.default(tensor.shape))
        if name in model.constants or roots.get(name, name) in taken or not layout.is_default:
            writer.layouts.setdefault(name, layout)
            outputs.append(writer.moved(tensor, Layout.default(tensor.shape), writer.fresh(f"{name}_out")))
        else:
            outputs.append(name)
        taken.add(roots.get(name, name))
    return tuple(outputs)
