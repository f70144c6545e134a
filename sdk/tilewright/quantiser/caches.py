"""Caches of keys and values as codes: one row of int8 at a position, with one largest element for all heads of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.errors import UnsupportedError
from tilewright.quantiser.codes import HIGHEST

if TYPE_CHECKING:
    import onnx

LEAST = 1e-30
PAST, PRESENT = "past", "present"


def coded_caches(model: onnx.ModelProto) -> onnx.ModelProto:
    """The network with its caches in int8; UnsupportedError where it has none that can be.

    A cache is an input of floats [1, heads, rows, depth] whose name has `past` in it, and an output of the same name
    with `present`, which a TensorScatter writes a row into.
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
        if not right or inputs[past].type.tensor_type.elem_type != 1 or past.replace(PAST, PRESENT) != present:
            nodes.append(node)
            continue
        real[present] = _code(graph, nodes, node, shape, (inputs[past], outputs[present]))
    if not real:
        raise UnsupportedError(
            "--cache finds no cache of floats",
            why="it takes past_x and present_x of [1, heads, rows, depth] that a TensorScatter writes a row into",
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


def _code(graph: Any, nodes: list[Any], node: Any, shape: list[int], ports: tuple[Any, Any]) -> str:
    """One cache in codes; what its readers are given in its place."""
    from onnx import TensorProto, helper, numpy_helper

    (past, new, position), present, (heads, rows, depth) = node.input, node.output[0], shape[1:]

    def constant(name: str, values: Any) -> str:
        graph.initializer.append(numpy_helper.from_array(np.asarray(values), f"{present}/{name}"))
        return f"{present}/{name}"

    def op(kind: str, inputs: list[str], name: str, **attributes: Any) -> str:
        nodes.append(helper.make_node(kind, inputs, [name], name, **attributes))
        return name

    for port in ports:
        port.type.tensor_type.elem_type = TensorProto.INT8
    sizes = [1, 1, rows, 1]
    graph.input.append(helper.make_tensor_value_info(f"{past}_most", TensorProto.FLOAT, sizes))
    graph.output.append(helper.make_tensor_value_info(f"{present}_most", TensorProto.FLOAT, sizes))
    flat = op("Reshape", [new, constant("row", np.array([1, heads * depth]))], f"{present}/flat")
    size = op("Abs", [flat], f"{present}/size")
    most = op("ReduceMax", [size, constant("last", np.array([-1]))], f"{present}/reduced", keepdims=1)
    most = op("Max", [most, constant("least", np.float32(LEAST))], f"{present}/largest")
    factor = op("Div", [constant("highest", np.float32(HIGHEST)), most], f"{present}/factor")
    whole = op("Round", [op("Mul", [flat, factor], f"{present}/scaled")], f"{present}/whole")
    codes = op("Cast", [whole], f"{present}/codes", to=TensorProto.INT8)
    codes = op("Reshape", [codes, constant("heads", np.array([1, heads, 1, depth]))], f"{present}/row_of_heads")
    op("TensorScatter", [past, codes, position], present, axis=2)
    most = op("Reshape", [most, constant("one", np.array([1, 1, 1, 1]))], f"{present}/most")
    op("TensorScatter", [f"{past}_most", most, position], f"{present}_most", axis=2)
    unit = constant("unit", np.float32(1 / HIGHEST))
    scale = op("Mul", [f"{present}_most", unit], f"{present}/scale")
    real = op("Mul", [op("Cast", [present], f"{present}/cast", to=TensorProto.FLOAT), scale], f"{present}/real")
    return real
