"""Neighbouring pairs turned by angles, written as four products, a difference and a sum, as one RotaryEmbedding."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tilewright.model import DType, Model, Node, Tensor
from tilewright.ops.operator import Kind
from tilewright.ops.registry import find
from tilewright.passes.edit import Edit

name = "rotary"


@dataclass(frozen=True)
class _Turn:
    """Pairs [1, heads, steps, pairs, 2], and cosines and sines [1, 1, steps, pairs]; of one step, the axes of heads and
    steps may lie the other way round.
    """

    pairs: str
    cosine: str
    sine: str


def apply(model: Model) -> Model:
    """Rewrite every Concat of such a difference and sum; the same products are rounded, and nothing else."""
    edit = Edit(model)
    for node in edit.nodes():
        if node.op == "Concat" and not node.domain and node.clamp is None and len(node.inputs) == 2:
            turn = _turn(edit, node)
            if turn is not None and _fits(edit, node, turn):
                _rewrite(edit, node, turn)
    return edit.result()


def _turn(edit: Edit, node: Node) -> _Turn | None:
    """What is turned: (a c - b s, a s + b c) of the first and second of each pair."""
    real, imaginary = (_raised(edit, tensor) for tensor in node.inputs)
    difference, total = edit.plain_writer(real, "Sub"), edit.plain_writer(imaginary, "Add")
    if difference is None or total is None:
        return None
    products = [_product(edit, tensor) for tensor in (*difference.inputs, *total.inputs)]
    if not all(products):
        return None
    ac, bs, one, other = (frozenset(product) for product in products)
    for turned, crossed in ((one, other), (other, one)):
        for a in ac & turned:
            (c,), (s,) = ac - {a} or {a}, turned - {a} or {a}
            (b, *more) = bs - {s} or {s}
            if not more and crossed == {b, c} and bs == {b, s}:
                pairs = _part(edit, a, 0)
                if pairs and pairs == _part(edit, b, 1):
                    return _Turn(pairs, c, s)
    return None


def _raised(edit: Edit, tensor: str) -> str:
    """The tensor that is given one more axis at its end; "" where there is none."""
    writer = edit.writer(tensor)
    operator = None if writer is None else find(writer.op, writer.domain)
    if writer is None or writer.clamp is not None or operator is None or operator.kind is not Kind.VIEW:
        return ""
    return writer.inputs[0] if edit.tensors[tensor].shape == (*edit.tensors[writer.inputs[0]].shape, 1) else ""


def _product(edit: Edit, tensor: str) -> tuple[str, ...]:
    writer = edit.plain_writer(tensor, "Mul")
    return writer.inputs if writer is not None else ()


def _part(edit: Edit, tensor: str, place: int) -> str:
    """The pairs whose first or second elements a Gather takes; "" where it does not."""
    writer = edit.plain_writer(tensor, "Gather")
    index = edit.constant(writer, 1) if writer is not None else None
    if writer is None or index is None or index.shape != ():
        return ""
    shape = edit.tensors[writer.inputs[0]].shape
    last = writer.attributes.get("axis", 0) in (-1, len(shape) - 1)
    return writer.inputs[0] if last and len(shape) == 5 and shape[4] == 2 and int(index) in (place, place - 2) else ""


def _fits(edit: Edit, node: Node, turn: _Turn) -> bool:
    """True where every step has angles of its own, the same for all heads; or all pairs have those of one step."""
    pairs, angles = edit.tensors[turn.pairs], [edit.tensors[one] for one in (turn.cosine, turn.sine)]
    shape = pairs.shape
    real = all(one.dtype is DType.F32 and one.quantisation is None for one in (pairs, *angles))
    one_each = {one.shape for one in angles} in ({(1, 1, shape[2], shape[3])}, {(1, 1, 1, shape[3])})
    joined = node.attributes.get("axis") in (-1, 4) and edit.tensors[node.outputs[0]].shape == shape
    return real and one_each and joined and shape[0] == 1


def _rewrite(edit: Edit, node: Node, turn: _Turn) -> None:
    shape, steps = edit.tensors[turn.pairs].shape, edit.tensors[turn.cosine].shape[2]
    heads, count = shape[1] * shape[2] // steps, shape[3]
    made: list[Node] = []

    def reshaped(tensor: str, shape: tuple[int, ...]) -> str:
        result = edit.add_tensor(f"{node.name}/{tensor}", replace(edit.tensors[tensor], shape=shape))
        made.append(_reshape(edit, tensor, result, shape))
        return result

    whole = (1, heads, steps, 2 * count)
    inputs = (
        reshaped(turn.pairs, whole),
        *(reshaped(angle, (1, steps, count)) for angle in (turn.cosine, turn.sine)),
    )
    turned = edit.add_tensor(f"{node.name}/turned", Tensor(node.name, DType.F32, whole))
    made.append(Node(edit.node_name(turned), "RotaryEmbedding", inputs, (turned,), {"interleaved": 1}))
    made.append(replace(_reshape(edit, turned, node.outputs[0], shape), name=node.name))
    edit.replace(node, *made)


def _reshape(edit: Edit, tensor: str, result: str, shape: tuple[int, ...]) -> Node:
    wanted = edit.add_constant(f"{result}/shape", np.array(shape, np.int64))
    return Node(edit.node_name(result), "Reshape", (tensor, wanted), (result,), {"allowzero": 1})
