"""MatMul by weights with a scale for each block becomes MatMulBlocks, whose codes stay packed in read-only memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tilewright.model import Array, DType, Node
from tilewright.ops.matmul_blocks import CODES, DOMAIN
from tilewright.passes.quantise.graph import Graph, operand


@dataclass(frozen=True)
class _Weights:
    """Names of codes, scales and zero points (empty: none) as [columns, depth or blocks], and the block's size."""

    codes: str
    scale: str
    zero: str
    block: int


def keep_blocks(graph: Graph) -> None:
    """Rewrite every MatMul, with the Add of a bias behind it, whose right-hand side is constant codes in blocks."""
    writers, readers = graph.producers(), graph.consumers()
    changed: dict[str, Node | None] = {}
    for node in graph.nodes:
        if node.op != "MatMul" or node.domain or node.clamp:
            continue
        packed = _weights(graph, writers, node.inputs[1])
        shape, before = graph.tensors[node.inputs[0]].shape, graph.tensors[node.inputs[0]].dtype
        if packed is None or before is not DType.F32 or len(shape) < 1:
            continue
        add, bias = _bias(graph, readers, node)
        last = node if add is None else add
        changed[node.name] = None
        changed[last.name] = Node(
            last.name, "MatMulBlocks", (node.inputs[0], packed.codes, packed.scale, packed.zero, bias), last.outputs,
            {"block_size": packed.block}, DOMAIN,
        )  # fmt: skip
    graph.nodes = [new for node in graph.nodes if (new := changed.get(node.name, node)) is not None]


def _weights(graph: Graph, writers: dict[str, Node], name: str) -> _Weights | None:
    """The parts of a matrix that a DequantizeLinear with blocks makes, perhaps with a Transpose behind it."""
    writer = writers.get(name)
    turned = writer is not None and writer.op == "Transpose" and not writer.domain
    if turned and writer is not None:
        if len(graph.tensors[name].shape) != 2 or tuple(_perm(writer)) != (1, 0):
            return None
        writer = writers.get(writer.inputs[0])
    if writer is None or writer.op != "DequantizeLinear" or writer.domain:
        return None
    codes, block = graph.value(writer.inputs[0]), writer.attributes.get("block_size", 0)
    scale, zero = graph.value(operand(writer, 1)), graph.value(operand(writer, 2))
    dtype, axis = graph.tensors[writer.inputs[0]].dtype, writer.attributes.get("axis", 1)
    if codes is None or scale is None or codes.ndim != 2 or dtype not in CODES or not isinstance(block, int):
        return None
    if not block or scale.dtype != np.float32 or (operand(writer, 2) and zero is None) or not isinstance(axis, int):
        return None
    if axis % 2 != (1 if turned else 0) or (dtype.bits == 4 and block % 2 and block < codes.shape[axis % 2]):
        return None
    return _Weights(
        _turned(graph, writer.inputs[0], codes, dtype, not turned),
        _turned(graph, writer.inputs[1], scale, DType.F32, not turned),
        "" if zero is None or not zero.any() else _turned(graph, writer.inputs[2], zero, dtype, not turned), block,
    )  # fmt: skip


def _perm(node: Node) -> tuple[int, ...]:
    given = node.attributes.get("perm", (1, 0))
    return tuple(int(axis) for axis in given) if isinstance(given, tuple | list) else ()


def _turned(graph: Graph, name: str, value: Array, dtype: DType, turn: bool) -> str:
    return graph.constant(f"{name}_rows", np.ascontiguousarray(value.T), dtype) if turn else name


def _bias(graph: Graph, readers: dict[str, list[Node]], node: Node) -> tuple[Node | None, str]:
    """The Add of a constant for each column that alone reads a product, and the bias's name; else nothing."""
    result = node.outputs[0]
    if result in graph.outputs or len(readers[result]) != 1:
        return None, ""
    (add,) = readers[result]
    if add.op != "Add" or add.domain or add.clamp or add.inputs.count(result) != 1:
        return None, ""
    name = add.inputs[1 - add.inputs.index(result)]
    value, shape = graph.value(name), graph.tensors[result].shape
    if value is None or value.size != shape[-1] or not value.ndim or value.shape[-1] != shape[-1]:
        return None, ""
    if graph.tensors[add.outputs[0]].shape != shape or graph.tensors[name].dtype is not DType.F32:
        return None, ""
    return add, graph.constant(f"{name}_flat", value.reshape(-1), DType.F32)
