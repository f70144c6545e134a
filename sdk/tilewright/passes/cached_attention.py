"""Attention over a state as one operator: a row of scores at a time, and no keys behind those that are filled."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

import numpy as np

from tilewright.model import Array, DType, Model, Node, Tensor
from tilewright.passes.cached_rows import Cached, cached_rows
from tilewright.passes.edit import Edit
from tilewright.passes.filled_rows import Filled, filled_rows, written_at

name = "cached_attention"
MASKED = -1e4
"""Added to a score, this or less means that the key is not seen: the least that exporters use."""


@dataclass(frozen=True)
class Chain:
    """Softmax(q k' * scale + mask) v, whose products are the first and the last of `nodes`.

    `chosen`: scores are taken where the Boolean mask is that, and hidden elsewhere; None where the mask is added.
    """

    q: str
    k: Cached
    v: Cached
    scale: float
    mask: str
    chosen: bool | None
    last: Node

    @property
    def rows(self) -> int:
        """Keys of the cache."""
        return self.k.rows


@dataclass(frozen=True)
class Positions:
    """What is known of positions and masks of a network."""

    opset: int
    written: frozenset[str]
    filled: dict[tuple[str, bool | None, int], Filled | None]
    lengths: dict[tuple[str, int, bool], str]


def apply(model: Model) -> Model:
    """Rewrite every such chain whose keys or values are a state."""
    held = {name for state in model.states for name in (state.past, state.present)}
    if not held:
        return model
    edit = Edit(model)
    known = positions(edit, model)
    for node in edit.nodes():
        chain = match(edit, node, held, model.opset)
        if chain is not None:
            _rewrite(edit, chain, known)
    return edit.result()


def positions(edit: Edit, model: Model) -> Positions:
    """The positions at which caches are written, and nothing of masks yet."""
    written = (_written(edit, model.opset, node) for node in model.nodes if node.op == "TensorScatter")
    return Positions(model.opset, frozenset(written) - {""}, {}, {})


def _written(edit: Edit, opset: int, node: Node) -> str:
    """The position at which a TensorScatter writes, which is never negative; "" where it is another number."""
    if len(node.inputs) < 3 or node.attributes.get("mode", "linear") != "linear":
        return ""
    call = edit.call(node)
    return written_at(edit, opset, node.inputs[2], call.shape()[call.integer("axis", -2)])


def match(edit: Edit, node: Node, held: Collection[str], opset: int) -> Chain | None:
    """The chain that ends in this product, over a tensor of `held` at least once; None where it is another."""
    softmax = _before(edit, node, 0, "Softmax") if node.op == "MatMul" and not node.domain and not node.clamp else None
    if softmax is None or len(edit.tensors[node.inputs[1]].shape) != 4:
        return None
    if softmax.attributes.get("axis", -1) not in (-1, 3):
        return None
    biased = next(_biased(edit, softmax), None)
    if biased is None:
        return None
    scale, first, mask, chosen = biased
    keys = cached_rows(edit, first.inputs[1], held, opset, turned=True)
    values = cached_rows(edit, node.inputs[1], held, opset, turned=False)
    if keys is None or values is None or values.scale != 1 or not {keys.name, values.name} & set(held):
        return None
    whole = Chain(first.inputs[0], keys, values, scale * keys.scale, mask, chosen, node)
    return whole if _fits(edit, whole) else None


def _biased(edit: Edit, softmax: Node) -> Iterator[tuple[float, Node, str, bool | None]]:
    """The product before a Softmax with its factor, and what is added to it on the way, or chooses it."""
    added = _before(edit, softmax, 0, "Add")
    for node, place in ((softmax, 0), (added, 0), (added, 1)):
        product = None if node is None else _scaled(edit, node, place)
        if node is not None and product is not None:
            yield (*product, "" if node is softmax else node.inputs[1 - place], None)
    where = _before(edit, softmax, 0, "Where")
    if where is None:
        return
    for place in (1, 2):
        hidden, product = edit.constant(where, 3 - place), _scaled(edit, where, place)
        if hidden is not None and product is not None and hidden.size == 1 and float(hidden.reshape(-1)[0]) <= MASKED:
            yield (*product, where.inputs[0], place == 1)


def _before(edit: Edit, node: Node, place: int, op: str) -> Node | None:
    """The node that makes an operand for this one alone."""
    made = edit.writer(node.inputs[place])
    plain = made is not None and made.op == op and not made.domain and made.clamp is None
    return made if plain and edit.sole_reader(node.inputs[place], node) else None


def _scaled(edit: Edit, node: Node, place: int) -> tuple[float, Node] | None:
    """A product that is an operand of `node`, with the constant that it is multiplied by."""
    if (product := _before(edit, node, place, "MatMul")) is not None:
        return 1.0, product
    for op, operands in (("Mul", (0, 1)), ("Div", (0,))):
        times = _before(edit, node, place, op)
        if times is None:
            continue
        for at in operands:
            factor = edit.constant(times, 1 - at)
            if factor is None or factor.size != 1 or float(factor.reshape(-1)[0]) <= 0:
                continue
            if (product := _before(edit, times, at, "MatMul")) is not None:
                value = float(factor.reshape(-1)[0])
                return 1 / value if op == "Div" else value, product
    return None


def _fits(edit: Edit, chain: Chain) -> bool:
    """Four axes each, equal batches, heads that share keys evenly, plain float32."""
    names = (chain.q, chain.k.name, chain.v.name, chain.last.outputs[0])
    q, k, v = (edit.tensors[one].shape for one in names[:3])
    if any(len(shape) != 4 for shape in (q, k, v)) or not q[0] == k[0] == v[0] or k[1] != v[1] or not k[1]:
        return False
    if k[2] != v[2] or q[3] != k[3] or q[1] % k[1]:
        return False
    alike = all(edit.tensors[one].dtype is DType.F32 and edit.tensors[one].quantisation is None for one in names)
    mask = edit.tensors[chain.mask] if chain.mask else None
    scores = (*q[:3], k[2])
    if mask is None:
        return alike
    try:
        whole = np.broadcast_shapes(mask.shape, scores)
    except ValueError:
        return False
    dtype = DType.F32 if chain.chosen is None else DType.BOOL
    return alike and mask.dtype is dtype and whole == scores and mask.shape[-1:] == k[2:3]


def _rewrite(edit: Edit, chain: Chain, known: Positions) -> None:
    """One Attention in the place of the chain; a chain that a Boolean mask chooses from only where no mask is left."""
    filled = _filled(edit, chain, known)
    counted = filled is not None and filled.position in known.written
    sure = filled is not None and filled.exact and counted
    if chain.chosen is not None and not sure:
        return
    inputs: tuple[str, ...] = (chain.q, chain.k.name, chain.v.name)
    if filled is not None:
        mask = "" if sure else chain.mask
        inputs = (*inputs, mask, "", "", _length(edit, chain, filled, counted, known))
    elif chain.mask:
        inputs = (*inputs, chain.mask)
    edit.replace(chain.last, Node(chain.last.name, "Attention", inputs, chain.last.outputs, {"scale": chain.scale}))


def filled_length(edit: Edit, chain: Chain, known: Positions) -> str:
    """How many keys are read, [batch], where the mask shows these and no others; "" where it does something else."""
    filled = _filled(edit, chain, known)
    if filled is None or not filled.exact or filled.position not in known.written:
        return ""
    return _length(edit, chain, filled, True, known)


def _filled(edit: Edit, chain: Chain, known: Positions) -> Filled | None:
    """How far the mask shows the cache, tried once for all layers that share it; None where there is none."""
    if not chain.mask:
        return None

    def hides(values: Array) -> Array:
        if chain.chosen is None:
            return np.asarray(values <= MASKED)
        return np.asarray(values != chain.chosen)

    key = (chain.mask, chain.chosen, chain.rows)
    if key not in known.filled:
        known.filled[key] = filled_rows(edit, known.opset, chain.mask, hides, chain.rows)
    return known.filled[key]


def _length(edit: Edit, chain: Chain, filled: Filled, counted: bool, known: Positions) -> str:
    """How many keys are read, [batch]; all where a position that is not `counted` from zero is negative."""
    batch = edit.tensors[chain.q].shape[0]
    key = (f"{filled.position}/{filled.ahead}/{chain.rows}", batch, counted)
    if key in known.lengths:
        return known.lengths[key]
    position, like = filled.position, Tensor("", DType.I64, (1,))

    def made(op: str, inputs: tuple[str, ...], tensor: Tensor, **attributes: int) -> str:
        result = edit.add_tensor(f"{position}/{op.lower()}", tensor)
        edit.insert(chain.last, Node(edit.node_name(result), op, inputs, (result,), dict(attributes)))
        return result

    at = position
    if edit.tensors[at].dtype is not DType.I64:
        at = made("Cast", (at,), replace(like, shape=edit.tensors[at].shape), to=7)
    if edit.tensors[at].shape != (1,):
        at = made("Reshape", (at, edit.add_constant(f"{position}/one", np.ones(1, np.int64))), like)
    ahead = edit.add_constant(f"{position}/ahead", np.full(batch, filled.ahead, np.int64))
    length = made("Add", (at, ahead), replace(like, shape=(batch,)))
    if not counted:
        zero = edit.add_constant(f"{position}/zero", np.zeros(1, np.int64))
        every = edit.add_constant(f"{position}/all", np.full(1, chain.rows, np.int64))
        negative = made("Less", (at, zero), replace(like, dtype=DType.BOOL))
        length = made("Where", (negative, every, length), replace(like, shape=(batch,)))
    known.lengths[key] = length
    return length
