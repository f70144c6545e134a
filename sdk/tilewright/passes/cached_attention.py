"""Attention over a state as one operator: a row of scores at a time, and no keys behind those that are filled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tilewright.model import Array, DType, Model, Node, Tensor
from tilewright.ops.transpose import permutation
from tilewright.passes.edit import Edit

name = "cached_attention"
MASKED = -65504.0
"""Added to a score, this or less means that the key is not seen: the lowest float16, the least that exporters use."""


@dataclass(frozen=True)
class _Found:
    """Softmax(q k' * scale + mask) v, whose products are the first and the last of `nodes`."""

    q: str
    k: str
    v: str
    scale: float
    mask: str
    last: Node


def apply(model: Model) -> Model:
    """Rewrite every such chain whose keys or values are a state."""
    held = {name for state in model.states for name in (state.past, state.present)}
    if not held:
        return model
    edit = Edit(model)
    written = {node.inputs[2] for node in model.nodes if node.op == "TensorScatter" and len(node.inputs) > 2}
    lengths: dict[str, str] = {}
    for node in edit.nodes():
        found = _match(edit, node)
        if found is not None and {found.k, found.v} & held:
            _rewrite(edit, found, written, lengths)
    return edit.result()


def _match(edit: Edit, node: Node) -> _Found | None:
    """The chain that ends in this product; None where it is another."""
    softmax = _before(edit, node, 0, "Softmax") if node.op == "MatMul" and not node.domain and not node.clamp else None
    if softmax is None or len(edit.tensors[node.inputs[1]].shape) != 4:
        return None
    if softmax.attributes.get("axis", -1) not in (-1, 3):
        return None
    found = next(_biased(edit, softmax), None)
    if found is None:
        return None
    scale, first, mask = found
    keys = edit.writer(first.inputs[1])
    if keys is None or keys.op != "Transpose" or permutation(edit.call(keys)) != (0, 1, 3, 2):
        return None
    whole = _Found(first.inputs[0], keys.inputs[0], node.inputs[1], scale, mask, node)
    return whole if _fits(edit, whole) else None


def _biased(edit: Edit, softmax: Node) -> Iterator[tuple[float, Node, str]]:
    """The product before a Softmax with its factor, and what is added to it on the way."""
    added = _before(edit, softmax, 0, "Add")
    for node, place in ((softmax, 0), (added, 0), (added, 1)):
        product = None if node is None else _scaled(edit, node, place)
        if node is not None and product is not None:
            yield (*product, "" if node is softmax else node.inputs[1 - place])


def _before(edit: Edit, node: Node, place: int, op: str) -> Node | None:
    """The node that makes an operand for this one alone."""
    made = edit.writer(node.inputs[place])
    plain = made is not None and made.op == op and not made.domain and made.clamp is None
    return made if plain and edit.sole_reader(node.inputs[place], node) else None


def _scaled(edit: Edit, node: Node, place: int) -> tuple[float, Node] | None:
    """A product that is an operand of `node`, with the constant that it is multiplied by."""
    if (product := _before(edit, node, place, "MatMul")) is not None:
        return 1.0, product
    times = _before(edit, node, place, "Mul")
    if times is None:
        return None
    for at in (0, 1):
        factor = edit.constant(times, 1 - at)
        if factor is None or factor.size != 1 or float(factor.reshape(-1)[0]) <= 0:
            continue
        if (product := _before(edit, times, at, "MatMul")) is not None:
            return float(factor.reshape(-1)[0]), product
    return None


def _fits(edit: Edit, found: _Found) -> bool:
    """Four axes each, equal batches and heads, plain float32."""
    names = (found.q, found.k, found.v, found.last.outputs[0])
    q, k, v = (edit.tensors[one].shape for one in names[:3])
    if any(len(shape) != 4 for shape in (q, k, v)) or not q[:2] == k[:2] == v[:2] or k[2] != v[2] or q[3] != k[3]:
        return False
    alike = all(edit.tensors[one].dtype is DType.F32 and edit.tensors[one].quantisation is None for one in names)
    mask = edit.tensors[found.mask] if found.mask else None
    scores = (*q[:3], k[2])
    if mask is None:
        return alike
    try:
        whole = np.broadcast_shapes(mask.shape, scores)
    except ValueError:
        return False
    return alike and mask.dtype is DType.F32 and whole == scores and mask.shape[-1:] == k[2:3]


def _rewrite(edit: Edit, found: _Found, written: set[str], lengths: dict[str, str]) -> None:
    keys, batch = edit.tensors[found.k].shape[2], edit.tensors[found.k].shape[0]
    position = _seen_up_to(edit, found.mask, keys) if found.mask and batch == 1 else ""
    inputs: tuple[str, ...] = (found.q, found.k, found.v, found.mask) if found.mask else (found.q, found.k, found.v)
    if position in written:
        if position not in lengths:
            lengths[position] = _one_more(edit, found.last, position)
        inputs = (found.q, found.k, found.v, "", "", "", lengths[position])
    edit.replace(found.last, Node(found.last.name, "Attention", inputs, found.last.outputs, {"scale": found.scale}))


def _one_more(edit: Edit, before: Node, position: str) -> str:
    """How many keys there are where the last of them is at `position`."""
    one = edit.add_constant(f"{position}/one", np.ones(1, np.int64))
    length = edit.add_tensor(f"{position}/length", Tensor("", DType.I64, (1,)))
    edit.insert(before, Node(edit.node_name(length), "Add", (position, one), (length,)))
    return length


def _seen_up_to(edit: Edit, mask: str, keys: int) -> str:
    """The run-time position of the last key that a mask shows, where it shows all before it and no other; else ""."""
    where = edit.writer(mask)
    if where is None or where.op != "Where" or where.domain or where.clamp is not None:
        return ""
    values = [edit.constant(where, place) for place in (1, 2)]
    test = edit.writer(where.inputs[0])
    if test is None or test.domain or any(value is None or value.size != 1 for value in values):
        return ""
    shown, hidden = (float(value.reshape(-1)[0]) for value in values if value is not None)
    op, places = test.op, (0, 1)
    if hidden == 0 and shown != 0:  # the test says which keys are hidden
        shown, hidden = hidden, shown
        op = "LessOrEqual" if op == "Greater" else "GreaterOrEqual" if op == "Less" else ""
    if op == "GreaterOrEqual":
        op, places = "LessOrEqual", (1, 0)
    if op != "LessOrEqual" or shown != 0 or hidden > MASKED:
        return ""
    counted, position = edit.constant(test, places[0]), test.inputs[places[1]]
    if counted is None or not _counts(counted, keys) or edit.tensors[position].shape != (1,):
        return ""
    return position if edit.tensors[position].dtype is DType.I64 else ""


def _counts(values: Array, size: int) -> bool:
    return values.shape[-1:] == (size,) == (values.size,) and bool((values.reshape(-1) == np.arange(size)).all())
