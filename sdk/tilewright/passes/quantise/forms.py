"""Every spelling of a quantised network into one: QuantizeLinear and DequantizeLinear around float operators.

QOperator nodes (QLinearConv, QGemm, ...), QONNX's Quant and IntQuant and the integer Clip of QCDQ are rewritten;
`DynamicQuantizeLinear`, `ConvInteger` and `MatMulInteger` are operators of their own and stay.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import prod

import numpy as np

from tilewright.errors import UnsupportedNode
from tilewright.model import Array, Attribute, DType, Model, Node
from tilewright.ops.quantised.operators import MICROSOFT, QONNX_DOMAINS
from tilewright.passes.quantise.graph import Graph, operand, read_quantisation

Rewrite = Callable[[Graph, Node], list[Node]]


def to_qdq(model: Model) -> Model:
    """The same network in QDQ form; `quantisation_form` says which form it was, "" for a float network."""
    model = replace(model, nodes=tuple(map(_own_domain, model.nodes)))
    graph = Graph(model)
    form = _form(model)
    nodes: list[Node] = []
    for node in graph.nodes:
        rewrite = _rewrite_of(node)
        nodes += rewrite(graph, node) if rewrite else [node]
    graph.nodes = nodes
    if form == "QCDQ":
        _real_clips(graph)
    return graph.finish(form)


def _own_domain(node: Node) -> Node:
    """ONNX Runtime's own QuantizeLinear and DequantizeLinear (of 4 and 16 bits, before opset 21) are ONNX's."""
    contributed = node.domain == MICROSOFT and node.op in ("QuantizeLinear", "DequantizeLinear")
    return replace(node, domain="") if contributed else node


def _form(model: Model) -> str:
    operators = {(node.domain, node.op) for node in model.nodes}
    if any(domain in QONNX_DOMAINS and op in ("Quant", "IntQuant") for domain, op in operators):
        return "QONNX"
    if any(key in _QOPERATORS for key in operators):
        return "QOperator"
    if ("", "DequantizeLinear") not in operators:
        return "QOperator" if operators & {("", "ConvInteger"), ("", "MatMulInteger")} else ""
    producers = model.producers()
    for node in model.nodes:
        if node.op == "Clip" and (source := producers.get(node.inputs[0])) and source.op == "QuantizeLinear":
            return "QCDQ"
    return "QDQ"


def _rewrite_of(node: Node) -> Rewrite | None:
    if node.domain in QONNX_DOMAINS and node.op in ("Quant", "IntQuant"):
        return _quant
    return _QOPERATORS.get((node.domain, node.op))


def _dequantised(graph: Graph, node: Node, code: str, scale: str, zero: str, axis: int = 0) -> tuple[str, Node]:
    """A DequantizeLinear of `code` before `node`, and the name of its result."""
    for name, what in ((scale, "scale"), (zero, "zero point")):
        if name and graph.value(name) is None:
            raise UnsupportedNode(
                f"node '{node.name}' ({node.op}): its {what} is not known at compile time",
                why=f"input '{name}' is computed at run time",
                fix="give it as an initialiser, or freeze it with --freeze",
                node=node.name,
                tensor=name,
            )
    source = graph.tensors[code]
    real = graph.tensor(f"{code}_real", DType.F32, source.shape)
    inputs = (code, _flat(graph, scale), _flat(graph, zero)) if zero else (code, _flat(graph, scale))
    return real, graph.node(f"{node.name}_{real}", "DequantizeLinear", inputs, (real,), {"axis": axis}, of=node)


def _triple(node: Node, first: int) -> tuple[str, str, str]:
    """Names of codes, scale and zero point from operand `first` on."""
    return operand(node, first), operand(node, first + 1), operand(node, first + 2)


def _flat(graph: Graph, name: str) -> str:
    """A constant's name after its shape: scales of shape (1,) are scalars, those of more axes are vectors."""
    value = graph.value(name)
    if value is None:
        raise UnsupportedNode(
            f"tensor '{name}' is not known at compile time",
            why="a scale or zero point of a quantised operator is computed at run time",
            fix="give it as an initialiser, or freeze it with --freeze",
            tensor=name,
        )
    half = value.dtype == np.float16  # an operator on codes computes in single precision
    if not half and (value.ndim == 0 or (value.ndim == 1 and value.size > 1)):
        return name
    dtype = DType.F32 if half else graph.tensors[name].dtype
    return graph.constant(f"{name}_flat", value.reshape(() if value.size == 1 else -1), dtype)


def _quantised(graph: Graph, node: Node, scale: str, zero: str) -> tuple[str, Node]:
    """A QuantizeLinear after `node` that writes the node's result, and the name of the real tensor that it reads."""
    code = node.outputs[0]
    real = graph.tensor(f"{code}_real", DType.F32, graph.tensors[code].shape)
    attributes: dict[str, Attribute] = {} if zero else {"output_dtype": 2}
    inputs = (real, _flat(graph, scale), _flat(graph, zero)) if zero else (real, _flat(graph, scale))
    return real, graph.node(f"{node.name}_quantise", "QuantizeLinear", inputs, (code,), attributes, of=node)


def _plain(node: Node, without: tuple[str, ...] = ()) -> dict[str, Attribute]:
    return {name: value for name, value in node.attributes.items() if name not in without}


def _conv(graph: Graph, node: Node) -> list[Node]:
    x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero = node.inputs[:8]
    real_x, dequantise_x = _dequantised(graph, node, x, x_scale, x_zero)
    real_w, dequantise_w = _dequantised(graph, node, w, w_scale, w_zero)
    real_y, quantise = _quantised(graph, node, y_scale, y_zero)
    before, inputs = [dequantise_x, dequantise_w], [real_x, real_w]
    if bias := operand(node, 8):
        real_bias, dequantise_bias = _bias(graph, node, bias, x_scale, w_scale)
        before.append(dequantise_bias)
        inputs.append(real_bias)
    return [*before, replace(node, op="Conv", domain="", inputs=tuple(inputs), outputs=(real_y,)), quantise]


def _bias(graph: Graph, node: Node, bias: str, x_scale: str, w_scale: str) -> tuple[str, Node]:
    with np.errstate(over="ignore", under="ignore"):
        scale = graph.constants[x_scale].astype(np.float32).reshape(-1) * graph.constants[w_scale].astype(np.float32)
    scale = scale.reshape(() if scale.size == 1 else -1)
    if not np.isfinite(scale).all():
        raise UnsupportedNode(
            f"node '{node.name}' ({node.op}): its bias '{bias}' has no finite scale",
            why=f"the product of the scales '{x_scale}' and '{w_scale}' is larger than any float32",
            fix="calibrate with data of the size that the network sees",
            node=node.name,
            tensor=bias,
        )
    return _dequantised(graph, node, bias, graph.constant(f"{bias}_scale", scale, DType.F32), "")


def _matmul(graph: Graph, node: Node) -> list[Node]:
    a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero = node.inputs[:8]
    last = len(graph.tensors[b].shape) - 1
    real_a, dequantise_a = _dequantised(graph, node, a, a_scale, a_zero, len(graph.tensors[a].shape) - 2)
    real_b, dequantise_b = _dequantised(graph, node, b, b_scale, b_zero, last)
    real_y, quantise = _quantised(graph, node, y_scale, y_zero)
    product = replace(node, op="MatMul", domain="", inputs=(real_a, real_b), outputs=(real_y,))
    return [dequantise_a, dequantise_b, product, quantise]


def _gemm(graph: Graph, node: Node) -> list[Node]:
    a, a_scale, a_zero, b, b_scale, b_zero = node.inputs[:6]
    real_a, dequantise_a = _dequantised(graph, node, a, a_scale, a_zero)
    real_b, dequantise_b = _dequantised(graph, node, b, b_scale, b_zero, 0 if node.attributes.get("transB", 0) else 1)
    nodes, inputs = [dequantise_a, dequantise_b], [real_a, real_b]
    if bias := operand(node, 6):
        real_bias, dequantise_bias = _bias(graph, node, bias, a_scale, b_scale)
        nodes.append(dequantise_bias)
        inputs.append(real_bias)
    attributes = {**_plain(node), "beta": 1.0}
    if not operand(node, 7):
        return [*nodes, replace(node, op="Gemm", domain="", inputs=tuple(inputs), attributes=attributes)]
    real_y, quantise = _quantised(graph, node, operand(node, 7), operand(node, 8))
    product = replace(node, op="Gemm", domain="", inputs=tuple(inputs), outputs=(real_y,), attributes=attributes)
    return [*nodes, product, quantise]


def _binary(op: str) -> Rewrite:
    def rewrite(graph: Graph, node: Node) -> list[Node]:
        real_a, dequantise_a = _dequantised(graph, node, *_triple(node, 0))
        real_b, dequantise_b = _dequantised(graph, node, *_triple(node, 3))
        real_y, quantise = _quantised(graph, node, node.inputs[6], operand(node, 7))
        sum_ = replace(node, op=op, domain="", inputs=(real_a, real_b), outputs=(real_y,))
        return [dequantise_a, dequantise_b, sum_, quantise]

    return rewrite


def _unary(op: str, dropped: tuple[str, ...] = ()) -> Rewrite:
    """Operators whose inputs are x, x_scale, x_zero, y_scale, y_zero."""

    def rewrite(graph: Graph, node: Node) -> list[Node]:
        if node.attributes.get("channels_last", 0):
            raise UnsupportedNode(
                f"node '{node.name}' ({node.op}): channels_last is not supported",
                why="it is a layout that ONNX Runtime makes for itself",
                fix="export the model before ONNX Runtime optimises it",
                node=node.name,
            )
        real_x, dequantise = _dequantised(graph, node, *_triple(node, 0))
        real_y, quantise = _quantised(graph, node, node.inputs[3], operand(node, 4))
        plain = _plain(node, ("channels_last", "opset", *dropped))
        return [dequantise, replace(node, op=op, domain="", inputs=(real_x,), outputs=(real_y,), attributes=plain),
                quantise]  # fmt: skip

    return rewrite


def _softmax(graph: Graph, node: Node) -> list[Node]:
    """QLinearSoftmax, of the opset that it names: before 13 all axes from `axis` on were one."""
    x, y = graph.tensors[node.inputs[0]], graph.tensors[node.outputs[0]]
    axis = int(node.attributes.get("axis", -1)) % max(len(x.shape), 1)  # type: ignore[arg-type]
    if int(node.attributes.get("opset", 13)) >= 13 or prod(x.shape[axis + 1 :]) == 1:  # type: ignore[arg-type]
        return _unary("Softmax")(graph, node)
    sizes = prod(x.shape[:axis]), prod(x.shape[axis:])
    flat, soft = graph.tensor(f"{x.name}_flat", x.dtype, sizes), graph.tensor(f"{y.name}_flat", y.dtype, sizes)
    shapes = [
        graph.constant(f"{node.name}_{word}", np.asarray(shape, np.int64), DType.I64)
        for word, shape in (("flat", sizes), ("shape", x.shape))
    ]
    inner = replace(node, inputs=(flat, *node.inputs[1:]), outputs=(soft,), attributes={**node.attributes, "axis": 1})
    return [
        graph.node(f"{node.name}_flatten", "Reshape", (x.name, shapes[0]), (flat,), of=node),
        *_unary("Softmax")(graph, inner),
        graph.node(f"{node.name}_unflatten", "Reshape", (soft, shapes[1]), (y.name,), of=node),
    ]


def _concat(graph: Graph, node: Node) -> list[Node]:
    nodes, inputs = [], []
    for first in range(2, len(node.inputs), 3):
        real, dequantise = _dequantised(graph, node, *_triple(node, first))
        nodes.append(dequantise)
        inputs.append(real)
    real_y, quantise = _quantised(graph, node, node.inputs[0], node.inputs[1])
    return [*nodes, replace(node, op="Concat", domain="", inputs=tuple(inputs), outputs=(real_y,)), quantise]


_MICROSOFT: dict[str, Rewrite] = {
    "QLinearAdd": _binary("Add"),
    "QLinearMul": _binary("Mul"),
    "QLinearSigmoid": _unary("Sigmoid"),
    "QLinearLeakyRelu": _unary("LeakyRelu"),
    "QLinearAveragePool": _unary("AveragePool"),
    "QLinearGlobalAveragePool": _unary("GlobalAveragePool"),
    "QLinearSoftmax": _softmax,
    "QLinearConcat": _concat,
    "QLinearConv": _conv,
    "QGemm": _gemm,
}
_QOPERATORS: dict[tuple[str, str], Rewrite] = {
    ("", "QLinearConv"): _conv,
    ("", "QLinearMatMul"): _matmul,
    **{("com.microsoft", op): rewrite for op, rewrite in _MICROSOFT.items()},
}


def _quant(graph: Graph, node: Node) -> list[Node]:
    """QONNX: `y = (clip(round(x / scale + zero), lowest, highest) - zero) * scale` as Clip, Quantize, Dequantize."""
    scale, zero, bits = (graph.value(operand(node, index)) for index in (1, 2, 3))
    if scale is None or zero is None or bits is None or bits.size != 1:
        raise UnsupportedNode(
            f"node '{node.name}' ({node.op}): scale, zero point and bit width must be known at compile time",
            fix="give them as initialisers",
            node=node.name,
        )
    mode = node.attributes.get("rounding_mode", "ROUND")
    if mode not in ("ROUND", "ROUND_TO_EVEN", "HALF_EVEN"):
        raise UnsupportedNode(
            f"node '{node.name}' ({node.op}): rounding mode {mode!r} is not supported",
            why="QuantizeLinear rounds half to even",
            fix="export with rounding mode ROUND",
            node=node.name,
        )
    signed, narrow = bool(node.attributes.get("signed", 1)), bool(node.attributes.get("narrow", 0))
    width = float(bits.reshape(-1)[0])
    # Four bits pack constants; tensors of the run time take a byte each and are limited to the narrow range.
    constant = graph.value(node.inputs[0]) is not None
    candidates = (_SIGNED if signed else _UNSIGNED)[0 if constant else 1 :]
    if constant and signed:
        candidates = (*candidates, DType.I32)
    dtype = next((d for d in candidates if d.bits >= width), None)
    if dtype is None or width != int(width):
        raise UnsupportedNode(
            f"node '{node.name}' ({node.op}): {width:g} bits are not supported",
            why="codes have 1 to 16 bits, those of a constant bias up to 32",
            fix="quantise to 8 bits",
            node=node.name,
        )
    lowest = (-(1 << int(width) - 1) if signed else 0) + int(signed and narrow)
    highest = (1 << int(width) - 1) - 1 if signed else (1 << int(width)) - 1 - int(narrow)
    return _quant_nodes(graph, node, scale, zero, dtype, (lowest, highest))


_SIGNED = (DType.I4, DType.I8, DType.I16)
_UNSIGNED = (DType.U4, DType.U8, DType.U16)


def _quant_nodes(
    graph: Graph, node: Node, scale: Array, zero: Array, dtype: DType, limits: tuple[int, int]
) -> list[Node]:
    source = graph.tensors[node.inputs[0]]
    axis = _scale_axis(node, scale, source.shape)
    flat_scale = scale.astype(np.float32).reshape(() if axis is None else -1)
    flat_zero = np.broadcast_to(np.rint(zero).astype(np.int64).reshape(-1), (max(flat_scale.size, 1),))
    scale_name = graph.constant(f"{node.name}_scale", flat_scale, DType.F32)
    zero_name = graph.constant(f"{node.name}_zero", flat_zero.reshape(flat_scale.shape), dtype)
    nodes: list[Node] = []
    operands, real = (scale_name, zero_name), node.inputs[0]
    if limits != dtype.range:
        if axis is not None or real in graph.constants:
            real = _clip_constant(graph, node, real, scale, zero, limits)
        else:
            border, real = _behind_border(graph, node, real, operands, dtype)
            clip = _real_clip(graph, node, real, (float(scale.reshape(-1)[0]), int(flat_zero[0])), limits)
            nodes += [*border, clip]
            real = clip.outputs[0]
    attributes: dict[str, Attribute] = {} if axis is None else {"axis": axis}
    code = graph.tensor(f"{node.outputs[0]}_codes", dtype, source.shape)
    nodes.append(graph.node(f"{node.name}_quantise", "QuantizeLinear", (real, *operands), (code,), attributes, of=node))
    nodes.append(graph.node(f"{node.name}_dequantise", "DequantizeLinear", (code, *operands), node.outputs, attributes))
    return nodes


def _scale_axis(node: Node, scale: Array, shape: tuple[int, ...]) -> int | None:
    if scale.size == 1:
        return None
    aligned = (1,) * (len(shape) - scale.ndim) + scale.shape
    axes = [axis for axis, size in enumerate(aligned) if size > 1]
    if len(axes) != 1 or len(aligned) != len(shape) or shape[axes[0]] != scale.size:
        raise UnsupportedNode(
            f"node '{node.name}' ({node.op}): scales of shape {scale.shape} for a tensor of shape {shape}",
            why="one scale, or one per channel of one axis, is supported",
            fix="quantise per tensor or per channel",
            node=node.name,
        )
    return axes[0]


def _clip_constant(graph: Graph, node: Node, name: str, scale: Array, zero: Array, limits: tuple[int, int]) -> str:
    """A constant with its values limited, also per channel; run-time tensors have one range."""
    value = graph.value(name)
    if value is None:
        raise UnsupportedNode(
            f"node '{node.name}' ({node.op}): a narrow range per channel on a tensor of the run time",
            why="only weights have a scale per channel",
            fix="quantise activations per tensor",
            node=node.name,
        )
    low, high = ((limit - zero.astype(np.float32)) * scale.astype(np.float32) for limit in limits)
    return graph.constant(f"{name}_narrow", np.clip(value, low, high), DType.F32)


def _real_clip(graph: Graph, node: Node, real: str, quantisation: tuple[float, int], limits: tuple[int, int]) -> Node:
    """A Clip of real values to the range that codes from limits[0] to limits[1] stand for."""
    scale, zero = np.float32(quantisation[0]), quantisation[1]
    bounds = [
        graph.constant(f"{node.name}_{what}", np.asarray(np.float32(limit - zero) * scale), DType.F32)
        for what, limit in zip(("low", "high"), limits, strict=True)
    ]
    output = graph.tensor(f"{real}_clipped", DType.F32, graph.tensors[real].shape)
    return graph.node(f"{node.name}_clip", "Clip", (real, *bounds), (output,), of=node)


def _behind_border(
    graph: Graph, node: Node, source: str, parameters: tuple[str, ...], dtype: DType
) -> tuple[tuple[Node, ...], str]:
    """A pair of one scale and zero point behind an input of the network, and its result; other tensors as they are."""
    if source not in graph.inputs:
        return (), source
    shape = graph.tensors[source].shape
    codes, real = graph.tensor(f"{source}_codes", dtype, shape), graph.tensor(f"{source}_real", DType.F32, shape)
    quantise = graph.node(f"{node.name}_border", "QuantizeLinear", (source, *parameters), (codes,), of=node)
    dequantise = graph.node(f"{node.name}_border_real", "DequantizeLinear", (codes, *parameters), (real,), of=node)
    return (quantise, dequantise), real


def _real_clips(graph: Graph) -> None:
    """QCDQ: an integer Clip after QuantizeLinear becomes a Clip of the real values before it.

    Of an input it stands behind another pair: the border has nothing but its conversion.
    """
    readers, writers = graph.consumers(), graph.producers()
    nodes: list[Node] = []
    for node in graph.nodes:
        if node.op == "QuantizeLinear":
            clips = [reader for reader in readers[node.outputs[0]] if reader.op == "Clip"]
            meaning = read_quantisation(graph, node)
            if len(clips) == 1 == len(readers[node.outputs[0]]) and meaning and meaning[0].axis is None:
                limits = [graph.value(operand(clips[0], index)) for index in (1, 2)]
                whole = meaning[1].range
                low, high = (
                    whole[side] if limit is None else int(limit.reshape(-1)[0]) for side, limit in enumerate(limits)
                )
                border, real = _behind_border(graph, node, node.inputs[0], node.inputs[1:], meaning[1])
                clip = _real_clip(graph, node, real, (meaning[0].scale[0], meaning[0].zero_point[0]), (low, high))
                quantise = replace(node, inputs=(clip.outputs[0], *node.inputs[1:]), outputs=clips[0].outputs)
                nodes += [*border, clip, quantise]
                continue
        source = writers.get(node.inputs[0]) if node.inputs else None
        if node.op == "Clip" and source is not None and source.op == "QuantizeLinear":
            quantisation = read_quantisation(graph, source)
            if quantisation and quantisation[0].axis is None and len(readers[node.inputs[0]]) == 1:
                continue
        nodes.append(node)
    graph.nodes = nodes
