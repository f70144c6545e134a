"""Rows that are coded as they come, and their products with coded weights, as one operator each.

What `--weights` writes in standard operators; a file may bring the same by itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tilewright.model import Array, DType, Model, Node
from tilewright.ops.relayout import DOMAIN
from tilewright.ops.transpose import permutation
from tilewright.passes.edit import Edit

name = "rows_of_codes"
EXACT, HIGHEST = 1 << 24, 127
HIGHEST_CODES = (HIGHEST, 7)
"""Of eight bits and of four."""


def apply(model: Model) -> Model:
    """The network with such chains as RowCodes, CodeProduct and CodeRows."""
    edit = Edit(model)
    for node in edit.nodes():
        if node.op == "Cast" and not node.domain:
            _code_rows(edit, node)
    for node in edit.nodes():
        if node.op == "Mul" and not node.domain and node.clamp is None:
            _ = _as_product(edit, node) or _as_rows(edit, node)
    return edit.result()


@dataclass(frozen=True)
class _Weights:
    """Names of rows of codes and their factors; `block` is 0 where a row has one factor."""

    codes: str
    factors: str
    block: int


def _scalar(edit: Edit, node: Node, index: int) -> float | None:
    value = edit.constant(node, index)
    return float(value.reshape(-1)[0]) if value is not None and value.size == 1 and value.dtype == np.float32 else None


def _code_rows(edit: Edit, cast: Node) -> None:
    """Cast(Round(x * (127 / Max(ReduceMax(Abs(x)), least)))) as RowCodes, which gives the divisor too."""
    whole = edit.plain_writer(cast.inputs[0], "Round") if edit.tensors[cast.outputs[0]].dtype is DType.I8 else None
    times = edit.plain_writer(whole.inputs[0], "Mul") if whole is not None else None
    ratio = edit.plain_writer(times.inputs[1], "Div") if times is not None else None
    highest = _scalar(edit, ratio, 0) if ratio is not None else None
    most = edit.plain_writer(ratio.inputs[1], "Max") if ratio is not None and highest in HIGHEST_CODES else None
    if times is None or most is None or highest is None or len(most.inputs) != 2:
        return
    x, least, reduced = times.inputs[0], _scalar(edit, most, 1), edit.plain_writer(most.inputs[0], "ReduceMax")
    size = edit.plain_writer(reduced.inputs[0], "Abs") if reduced is not None else None
    if reduced is None or size is None or size.inputs[0] != x or least is None or not least > 0:
        return
    axes = edit.constant(reduced, 1) if len(reduced.inputs) > 1 else None
    rank = len(edit.tensors[x].shape)
    if axes is None or [int(axis) % rank for axis in axes.reshape(-1)] != [rank - 1]:
        return
    if reduced.attributes.get("keepdims", 1) != 1 or edit.tensors[x].dtype is not DType.F32:
        return
    outputs = (cast.outputs[0], most.outputs[0])
    edit.replace(cast)
    attributes = {"least": least, "highest": int(highest)}
    edit.replace(most, Node(most.name, "RowCodes", (x,), outputs, attributes, domain=DOMAIN))


def _coded_rows(edit: Edit, product: Node) -> str:
    """The codes of the rows in an integer product, or behind a Cast to floats in one that is exact."""
    made = edit.plain_writer(product.inputs[0], "Cast") if product.op == "MatMul" else None
    tensor = product.inputs[0] if made is None else made.inputs[0]
    writer = edit.writer(tensor)
    return tensor if writer is not None and (writer.op, writer.domain) == ("RowCodes", DOMAIN) else ""


def _as_product(edit: Edit, node: Node) -> bool:
    """Mul(sums, Mul(most, unit)) as CodeProduct."""
    for at in (0, 1):
        scale = edit.plain_writer(node.inputs[1 - at], "Mul")
        unit = _scalar(edit, scale, 1) if scale is not None else None
        if scale is None or unit is None:
            continue
        product, weights = _sums(edit, node.inputs[at])
        codes = _coded_rows(edit, product) if product is not None else ""
        writer = edit.writer(codes) if codes else None
        if weights is None or writer is None or writer.outputs[1] != scale.inputs[0]:
            continue
        inputs = (codes, writer.outputs[1], weights.codes, weights.factors)
        attributes = {"unit": unit, "block": weights.block}
        edit.replace(node, Node(node.name, "CodeProduct", inputs, node.outputs, attributes, domain=DOMAIN))
        return True
    return False


def _sums(edit: Edit, tensor: str) -> tuple[Node | None, _Weights | None]:
    """The product that sums are of, with its weights: Cast(MatMulInteger * factors), or an exact MatMul."""
    exact = edit.plain_writer(tensor, "MatMul")
    if exact is not None:
        turned = edit.plain_writer(exact.inputs[1], "Transpose")
        stored = _dequantised(edit, turned.inputs[0]) if turned is not None else None
        right = turned is not None and permutation(edit.call(turned)) == (1, 0)
        return (exact, stored) if right and stored is not None and _is_exact(edit, stored) else (None, None)
    cast = edit.plain_writer(tensor, "Cast")
    times = edit.plain_writer(cast.inputs[0], "Mul") if cast is not None else None
    product = edit.plain_writer(times.inputs[0], "MatMulInteger") if times is not None else None
    if times is None or product is None or any(product.inputs[2:]):
        return None, None
    columns, factors = edit.constant(product, 1), edit.constant(times, 1)
    if columns is None or factors is None or columns.dtype != np.int8 or columns.ndim != 2:
        return None, None
    if factors.size != columns.shape[1] or np.abs(factors).max(initial=0) > HIGHEST:
        return None, None
    reach = HIGHEST * np.abs(columns.astype(np.int64)).sum(0) * np.abs(factors.reshape(-1).astype(np.int64))
    if reach.max(initial=0) >= 1 << 31:
        return None, None
    codes = edit.add_constant(f"{product.inputs[1]}/rows", columns.T)
    held = edit.add_constant(f"{times.inputs[1]}/rows", factors.reshape(-1, 1).astype(np.int8))
    return product, _Weights(codes, held, 0)


def _dequantised(edit: Edit, tensor: str) -> _Weights | None:
    """Codes of four bits in blocks of a row, whose scales are whole numbers of 7 bits."""
    node = edit.plain_writer(tensor, "DequantizeLinear")
    if node is None or any(node.inputs[2:]) or node.attributes.get("axis", 1) not in (1, -1):
        return None
    block, codes, scales = node.attributes.get("block_size", 0), edit.constant(node, 0), edit.constant(node, 1)
    if codes is None or scales is None or scales.dtype != np.float32 or not isinstance(block, int) or block % 8:
        return None
    four = edit.tensors[node.inputs[0]].dtype is DType.I4 and codes.ndim == 2 and block > 0
    if not four or (scales != np.rint(scales)).any() or np.abs(scales).max(initial=0) > 127:
        return None
    held = edit.add_constant(f"{node.inputs[1]}/whole", scales.astype(np.int8))
    return _Weights(node.inputs[0], held, block)


def _is_exact(edit: Edit, weights: _Weights) -> bool:
    """True where no sum of products leaves the whole numbers of float32, whatever the codes of the rows."""
    codes, factors = edit.constants[weights.codes], edit.constants[weights.factors]
    spread = np.repeat(factors.astype(np.int64), weights.block, axis=1)[:, : codes.shape[1]]
    return bool((127 * np.abs(codes.astype(np.int64) * spread).sum(1)).max(initial=0) < EXACT)


def _as_rows(edit: Edit, node: Node) -> bool:
    """Rows of a table of codes times their factors as CodeRows."""
    rows = edit.plain_writer(node.inputs[0], "Gather")
    step = _scalar(edit, node, 1)
    if rows is not None and step is not None and rows.attributes.get("axis", 0) == 0:
        weights = _dequantised(edit, rows.inputs[0])
        return weights is not None and _take(edit, node, weights, rows.inputs[1], step)
    cast, scale = edit.plain_writer(node.inputs[0], "Cast"), edit.plain_writer(node.inputs[1], "Mul")
    rows = edit.plain_writer(cast.inputs[0], "Gather") if cast is not None else None
    step = _scalar(edit, scale, 1) if scale is not None else None
    factor = edit.plain_writer(scale.inputs[0], "Cast") if scale is not None else None
    taken = edit.plain_writer(factor.inputs[0], "Gather") if factor is not None else None
    if rows is None or taken is None or step is None or rows.inputs[1] != taken.inputs[1]:
        return False
    codes, factors = edit.constant(rows, 0), edit.constant(taken, 0)
    fits = _are_rows(codes, factors) and all(one.attributes.get("axis", 0) == 0 for one in (rows, taken))
    return fits and _take(edit, node, _Weights(rows.inputs[0], taken.inputs[0], 0), rows.inputs[1], step)


def _are_rows(codes: Array | None, factors: Array | None) -> bool:
    if codes is None or factors is None or codes.ndim != 2:
        return False
    return codes.dtype == np.int8 == factors.dtype and factors.shape == (len(codes), 1)


def _take(edit: Edit, node: Node, weights: _Weights, index: str, step: float) -> bool:
    inputs, attributes = (weights.codes, weights.factors, index), {"unit": step, "block": weights.block}
    edit.replace(node, Node(node.name, "CodeRows", inputs, node.outputs, attributes, domain=DOMAIN))
    return True
