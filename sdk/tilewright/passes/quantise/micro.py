"""What TensorFlow Lite Micro computes on codes where ONNX's nodes speak of real numbers, for `--numerics tflm`.

Comparisons of codes bring both operands to numbers of 32 bits first, which may make unlike codes equal: the order of
these numbers stands in tables. An inverse root is a table. A converted file says which layers of 16-bit codes add up in
32 bits, and which state wraps around behind its limit; both are written out here.
Sources: tensorflow/lite/micro/kernels/{comparisons,elementwise,svdf_common}.cc.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tilewright.model import Array, DType, Node, Quantisation
from tilewright.ops.logic import COMPARISONS
from tilewright.ops.quantised.function_twice import inverse_root
from tilewright.ops.quantised.linear import NARROW
from tilewright.ops.quantised.twice import Twice
from tilewright.ops.relayout import DOMAIN
from tilewright.passes.quantise.graph import Graph, read_quantisation
from tilewright.passes.quantise.micro_rows import rows_as_the_kernels_do
from tilewright.tflite.unlike import NARROW_SUMS, WRAPPED_STATE

COMPARED_SHIFT = 8
"""Bits by which codes are shifted to the left before they are compared."""


def as_the_kernels_do(graph: Graph) -> None:
    """Rewrite the nodes, and forget of `unlike` what is written out."""
    for result, word in graph.unlike:
        if word == WRAPPED_STATE and not _wrap(graph, result):
            continue
        if word == NARROW_SUMS and not _narrow(graph, result):
            continue
        if word in (WRAPPED_STATE, NARROW_SUMS):
            graph.unlike = tuple(pair for pair in graph.unlike if pair != (result, word))
    writers = graph.producers()
    rows_as_the_kernels_do(graph, writers)
    changed: list[Node] = []
    for node in graph.nodes:
        changed += _first(graph, node, writers) or (node,)
    graph.nodes = changed


def _first(graph: Graph, node: Node, writers: dict[str, Node]) -> Sequence[Node]:
    """What stands for a node; nothing where it stays."""
    if node.domain:
        return ()
    for form in (_compared, _root, _distance, _from_whole, _to_whole):
        if made := form(graph, node, writers):
            return made
    return ()


def _distance(graph: Graph, node: Node, writers: dict[str, Node]) -> Sequence[Node]:
    """A difference times itself is one operator."""
    writer = writers.get(node.inputs[0]) if node.inputs else None
    if node.op != "Mul" or len(set(node.inputs)) > 1 or writer is None or writer.op != "Sub":
        return ()
    if not all(_codes(graph, name, writers) for name in writer.inputs):
        return ()
    return (replace(node, op="SquaredDifference", inputs=writer.inputs, domain=DOMAIN),)


def _from_whole(graph: Graph, node: Node, writers: dict[str, Node]) -> Sequence[Node]:
    """Codes of fewer bits are made of those of 32 by one multiplication."""
    if node.op != "QuantizeLinear" or (held := _codes(graph, node.inputs[0], writers)) is None:
        return ()
    code, quantisation, dtype = held
    if dtype is not DType.I32 or code in graph.constants:
        return ()
    graph.quantise_tensor(code, quantisation)
    return (replace(node, inputs=(code, *node.inputs[1:])),)


def _to_whole(graph: Graph, node: Node, writers: dict[str, Node]) -> Sequence[Node]:
    """Codes of 32 bits are made of others so too: `Cast(Clip(Round(x / scale)))` is how a converted file writes it."""
    if node.op != "Cast" or graph.tensors[node.outputs[0]].dtype is not DType.I32:
        return ()
    quotient = _before(_before(_before(node, "Clip", writers), "Round", writers), "Div", writers)
    if quotient is None:
        return ()
    scale, held = graph.value(quotient.inputs[1]), _codes(graph, quotient.inputs[0], writers)
    if held is None or scale is None or scale.size != 1 or held[2] not in (DType.I8, DType.I16):
        return ()
    meaning = Quantisation((float(scale.reshape(-1)[0]),), (0,), None, "tflm")
    graph.quantise_tensor(held[0], held[1])
    graph.quantise_tensor(node.outputs[0], meaning)
    zero = graph.constant(f"{node.name}_zero", np.zeros((), np.int32), DType.I32)
    return (
        graph.node(f"{node.name}_whole", "QuantizeLinear", (held[0], quotient.inputs[1], zero), node.outputs, of=node),
    )


def _before(node: Node | None, op: str, writers: dict[str, Node]) -> Node | None:
    """The operator `op` that writes a node's first operand."""
    writer = writers.get(node.inputs[0]) if node is not None else None
    return writer if writer is not None and writer.op == op else None


def _wrap(graph: Graph, result: str) -> bool:
    """Limit the codes of a sum less their zero point, and add that with eight bits."""
    place = next((n for n, node in enumerate(graph.nodes) if node.op == "QuantizeLinear" and node.inputs[0] == result),
                 -1)  # fmt: skip
    meaning = read_quantisation(graph, graph.nodes[place]) if place >= 0 else None
    if meaning is None or meaning[1] is not DType.I8:
        return False
    node, (quantisation, dtype) = graph.nodes[place], meaning
    zero = graph.constant(f"{node.name}_zero", np.zeros((), np.int8), dtype)
    limited = graph.tensor(f"{node.outputs[0]}_limited", dtype, graph.tensors[node.outputs[0]].shape)
    low, high = dtype.range
    table = (np.arange(low, high + 1) + quantisation.zero_point[0]).astype(np.int8)
    wrapped = graph.node(f"{node.name}_wrapped", "Lookup", (limited,), node.outputs, {"table": table}, of=node)
    graph.tensors[node.outputs[0]] = replace(graph.tensors[node.outputs[0]], dtype=dtype, quantisation=quantisation)
    graph.nodes[place : place + 1] = [replace(node, inputs=(*node.inputs[:2], zero), outputs=(limited,)), wrapped]
    return True


def _narrow(graph: Graph, result: str) -> bool:
    """Mark the layer of this result as one that adds up in 32 bits."""
    for place, node in enumerate(graph.nodes):
        if result in node.outputs:
            graph.nodes[place] = replace(node, attributes={**node.attributes, NARROW: 1})
            return True
    return False


def _compared(graph: Graph, node: Node, writers: dict[str, Node]) -> Sequence[Node]:
    """The places of two operands in the order of the numbers that they are compared as, compared."""
    if node.op not in COMPARISONS:
        return ()
    codes = [_codes(graph, name, writers) for name in node.inputs]
    if any(each is None or each[2] is not DType.I8 for each in codes):
        return ()
    known = [each for each in codes if each is not None]
    numbers = [_scaled(np.arange(-128, 128), meaning) for _, meaning, _ in known]
    order = np.unique(np.concatenate(numbers))
    nodes, operands = list[Node](), list[str]()
    for (code, _, _), scaled in zip(known, numbers, strict=True):
        places = np.searchsorted(order, scaled).astype(np.int16)
        if code in graph.constants:
            held = places[graph.constants[code].astype(np.int64) + 128]
            operands.append(graph.constant(f"{code}_place", held, DType.I16))
            continue
        operands.append(graph.tensor(f"{code}_place", DType.I16, graph.tensors[code].shape))
        nodes.append(graph.node(f"{operands[-1]}_table", "Lookup", (code,), operands[-1:], {"table": places}, of=node))
    return (*nodes, replace(node, inputs=tuple(operands)))


def _scaled(codes: Array, meaning: Quantisation) -> Array:
    centred = (codes.astype(np.int64) - meaning.zero_point[0]) << COMPARED_SHIFT
    return Twice.of(meaning.scale[0]).apply(centred)


def _codes(graph: Graph, name: str, writers: dict[str, Node]) -> tuple[str, Quantisation, DType] | None:
    """The codes that a tensor of real numbers is made of, with one scale."""
    writer = writers.get(name)
    meaning = read_quantisation(graph, writer) if writer is not None and writer.op == "DequantizeLinear" else None
    if writer is None or meaning is None or meaning[0].axis is not None:
        return None
    return writer.inputs[0], *meaning


def _root(graph: Graph, node: Node, writers: dict[str, Node]) -> Sequence[Node]:
    """The table of an inverse root between codes of eight bits, in the place of its quantisation."""
    if node.op != "QuantizeLinear":
        return ()
    root = _before(_before(node, "Reciprocal", writers), "Sqrt", writers)
    source = _codes(graph, root.inputs[0], writers) if root is not None else None
    target = read_quantisation(graph, node)
    if source is None or target is None or not source[2] is target[1] is DType.I8:
        return ()
    low, high = DType.I8.range
    table = inverse_root(np.arange(low, high + 1), source[1], target[0], DType.I8)
    graph.tensors[node.outputs[0]] = replace(
        graph.tensors[node.outputs[0]], dtype=target[1], quantisation=target[0]
    )  # fmt: skip
    return (graph.node(f"{node.name}_root", "Lookup", source[:1], node.outputs, {"table": table}, of=node),)
