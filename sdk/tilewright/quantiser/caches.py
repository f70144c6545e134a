"""Caches of keys and values as codes or as halves: a row at a position, with one largest element for all heads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.errors import UnsupportedError
from tilewright.quantiser.codes import HIGHEST

if TYPE_CHECKING:
    import onnx

LEAST = 1e-30
PAST, PRESENT = "past", "present"
HALF = 16
"""Bits of an element of caches in float16."""
HIGHEST_OF_FOUR = 7
"""The code of four bits of a row's largest element."""


def coded_caches(model: onnx.ModelProto, bits: int) -> onnx.ModelProto:
    """The network with its caches in codes of 8 or 4 bits, or in float16; UnsupportedError where it has none.

    A cache is an input of floats [1, heads, rows, depth] whose name has `past` in it, and an output of the same name
    with `present`, which a TensorScatter writes a row into. Codes of four bits lie two in a byte of uint8,
    [1, heads, rows, depth / 2]: the first half of a row in the low bits, the second in the high ones; so depth is even.
    """
    import onnx

    made = onnx.ModelProto()
    made.CopyFrom(model)
    graph, nodes, real = made.graph, list[Any](), dict[str, str]()
    inputs, outputs = ({one.name: one for one in ports} for ports in (graph.input, graph.output))
    for node in made.graph.node:
        past, present = node.input[0] if node.input else "", node.output[0]
        if node.op_type != "TensorScatter" or past not in inputs or present not in outputs or node.domain:
            nodes.append(node)
            continue
        shape = [one.dim_value for one in inputs[past].type.tensor_type.shape.dim]
        axis = next((attribute.i for attribute in node.attribute if attribute.name == "axis"), -2)
        right = len(shape) == 4 and shape[0] == 1 and min(shape) > 0 and axis in (2, -2) and present != past
        right = right and shape[3] % max(8 // bits, 1) == 0
        if not right or inputs[past].type.tensor_type.elem_type != 1 or past.replace(PAST, PRESENT) != present:
            nodes.append(node)
            continue
        cache, ports = _CacheNodes(graph, nodes, present), (inputs[past], outputs[present])
        real[present] = _halved(cache, node, ports) if bits == HALF else _code(cache, node, shape, ports, bits)
    if not real:
        raise UnsupportedError(
            "--cache finds no cache of floats",
            why="it takes past_x and present_x of [1, heads, rows, depth] that a TensorScatter writes a row into"
            + (", of an even depth" if bits == 4 else ""),
            fix="leave it out",
        )  # fmt: skip
    for node in nodes:
        for at, name in enumerate(node.input):
            if name in real and not node.name.startswith(f"{name}/"):
                node.input[at] = real[name]
    whole = onnx.GraphProto(node=nodes)
    del graph.node[:]
    graph.node.extend(whole.node)
    del graph.value_info[:]
    return made


@dataclass(frozen=True)
class _CacheNodes:
    """Where the nodes of one cache go, and what their names begin with."""

    graph: Any
    nodes: list[Any]
    present: str

    def constant(self, name: str, values: Any) -> str:
        """An initialiser of this name behind that of the cache."""
        from onnx import numpy_helper

        self.graph.initializer.append(numpy_helper.from_array(np.asarray(values), f"{self.present}/{name}"))
        return f"{self.present}/{name}"

    def op(self, kind: str, inputs: list[str], name: str, **attributes: Any) -> str:
        """A node with one result, named like it."""
        from onnx import helper

        whole = name if name.startswith(self.present) else f"{self.present}/{name}"
        self.nodes.append(helper.make_node(kind, inputs, [whole], whole, **attributes))
        return whole


def _halved(nodes: _CacheNodes, node: Any, ports: tuple[Any, Any]) -> str:
    """One cache in float16; what its readers are given in its place."""
    from onnx import TensorProto

    past, new, position = node.input
    for port in ports:
        port.type.tensor_type.elem_type = TensorProto.FLOAT16
    half = nodes.op("Cast", [new], "half", to=TensorProto.FLOAT16)
    nodes.op("TensorScatter", [past, half, position], nodes.present, axis=2)
    return nodes.op("Cast", [nodes.present], "real", to=TensorProto.FLOAT)


def _code(nodes: _CacheNodes, node: Any, shape: list[int], ports: tuple[Any, Any], bits: int) -> str:
    """One cache in codes; what its readers are given in its place."""
    from onnx import TensorProto, helper

    (past, new, position), present, (heads, rows, depth) = node.input, node.output[0], shape[1:]
    constant, op, highest = nodes.constant, nodes.op, HIGHEST if bits == 8 else HIGHEST_OF_FOUR
    for port in ports:
        port.type.tensor_type.elem_type = TensorProto.INT8 if bits == 8 else TensorProto.UINT8
        port.type.tensor_type.shape.dim[3].dim_value = depth * bits // 8
    sizes = [1, 1, rows, 1]
    nodes.graph.input.append(helper.make_tensor_value_info(f"{past}_most", TensorProto.FLOAT, sizes))
    nodes.graph.output.append(helper.make_tensor_value_info(f"{present}_most", TensorProto.FLOAT, sizes))
    flat = op("Reshape", [new, constant("row", np.array([1, heads * depth]))], "flat")
    size = op("Abs", [flat], "size")
    most = op("ReduceMax", [size, constant("last", np.array([-1]))], "reduced", keepdims=1)
    most = op("Max", [most, constant("least", np.float32(LEAST))], "largest")
    factor = op("Div", [constant("highest", np.float32(highest)), most], "factor")
    whole = op("Round", [op("Mul", [flat, factor], "scaled")], "whole")
    codes = op("Cast", [whole], "codes", to=TensorProto.INT8)
    codes = op("Reshape", [codes, constant("heads", np.array([1, heads, 1, depth]))], "row_of_heads")
    op("TensorScatter", [past, codes if bits == 8 else _packed(nodes, codes), position], present, axis=2)
    most = op("Reshape", [most, constant("one", np.array([1, 1, 1, 1]))], "most")
    op("TensorScatter", [f"{past}_most", most, position], f"{present}_most", axis=2)
    held = present if bits == 8 else _unpacked(nodes)
    unit = constant("unit", np.float32(1 / (highest << 8 - bits)))
    scale = op("Mul", [f"{present}_most", unit], "scale")
    return op("Mul", [op("Cast", [held], "cast", to=TensorProto.FLOAT), scale], "real")


def _packed(nodes: _CacheNodes, codes: str) -> str:
    """Two codes of four bits in each byte."""
    from onnx import TensorProto, helper

    whole = nodes.op("Cast", [codes], "bytes", to=TensorProto.UINT8)
    halves = [f"{nodes.present}/low", f"{nodes.present}/high"]
    nodes.nodes.append(helper.make_node("Split", [whole], halves, f"{nodes.present}/halves", axis=3, num_outputs=2))
    low = nodes.op("BitwiseAnd", [halves[0], nodes.constant("low_bits", np.uint8(15))], "low_bits_of_row")
    high = nodes.op("BitShift", [halves[1], nodes.constant("four_bits", np.uint8(4))], "shifted", direction="LEFT")
    return nodes.op("BitwiseOr", [low, high], "packed")


def _unpacked(nodes: _CacheNodes) -> str:
    """Sixteen times the codes of four bits that the cache holds, in int8."""
    from onnx import TensorProto

    four, mask = nodes.constant("four", np.uint8(4)), nodes.constant("high_bits", np.uint8(240))
    low = nodes.op("BitShift", [nodes.present, four], "first", direction="LEFT")
    high = nodes.op("BitwiseAnd", [nodes.present, mask], "second")
    return nodes.op("Cast", [nodes.op("Concat", [low, high], "both", axis=3)], "unpacked", to=TensorProto.INT8)
