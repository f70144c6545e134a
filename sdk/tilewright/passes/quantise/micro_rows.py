"""Operators over rows of codes that TensorFlow Lite Micro has kernels of its own for, for `--numerics tflm`.

LogSoftmax, a row over its length, running sums and inverse roots of 16 bits stand between DequantizeLinear and
QuantizeLinear; in the forms that the kernels take they become operators on the codes, others are told as unlike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tilewright.model import DType, Node, Quantisation, Shape
from tilewright.ops.quantised import log_shares, running_sums, unit_rows
from tilewright.ops.quantised.function_twice import MOST_ROOT_SHIFT, root_rule
from tilewright.ops.quantised.wide_matmul import LARGEST_SUM, wide_reach, wide_rule
from tilewright.ops.relayout import DOMAIN
from tilewright.passes.quantise.graph import Graph, read_quantisation
from tilewright.tflite.unlike import FORM_OF_ROWS, LONG_ROWS, STEEP_SCALES, TYPE_OF_ROWS

Held = tuple[str, Quantisation, DType]
ROWS = (log_shares.OF, unit_rows.OF, running_sums.OF)


def rows_as_the_kernels_do(graph: Graph, writers: dict[str, Node]) -> None:
    """Rewrite them all."""
    changed: list[Node] = []
    for node in graph.nodes:
        changed += _written(graph, node, writers) or (node,)
    graph.nodes = changed


def _written(graph: Graph, node: Node, writers: dict[str, Node]) -> Sequence[Node]:
    """What stands for a QuantizeLinear; nothing where it stays."""
    writer = writers.get(node.inputs[0]) if node.op == "QuantizeLinear" and not node.domain else None
    target = read_quantisation(graph, node) if writer is not None else None
    if writer is None or target is None or writer.domain:
        return ()
    if writer.op == "MatMul":
        return _wide_product(graph, node, writer, writers)
    root = _root_of(writer, writers)
    held = _codes(graph, (root or writer).inputs[0], writers)
    if held is None or (writer.op not in ROWS and root is None):
        return ()
    source, (meaning, dtype) = held[1:], target
    if root is not None:
        if held[2] is not DType.I16:
            return ()  # a table has those of eight bits
        attributes: dict[str, int] = {}
        op, why = "InverseRoots", _root_unlike(source, (meaning, dtype))
    else:
        op, attributes, why = _of_rows(graph, writer, source, (meaning, dtype))
    if why:
        graph.unlike = (*graph.unlike, (writer.outputs[0], why))
        return ()
    graph.tensors[node.outputs[0]] = replace(graph.tensors[node.outputs[0]], dtype=dtype, quantisation=meaning)
    graph.quantise_tensor(held[0], held[1])
    made = graph.node(f"{writer.name}_codes", op, held[:1], node.outputs, attributes, of=writer)
    return (replace(made, domain=DOMAIN),)


def _of_rows(
    graph: Graph, writer: Node, source: tuple[Quantisation, DType], target: tuple[Quantisation, DType]
) -> tuple[str, dict[str, int], str]:
    """The operator, its attributes, and the word for what the kernel does not take of it."""
    shape = graph.tensors[writer.outputs[0]].shape
    if source[1] is not DType.I8 or target[1] is not DType.I8:
        return "", {}, TYPE_OF_ROWS
    if writer.op == running_sums.OF:
        return _running(graph, writer, shape, source[0], target[0])
    module = log_shares if writer.op == log_shares.OF else unit_rows
    last = bool(shape) and _number(writer, "axis", -1) in (-1, len(shape) - 1)
    formed = (target[0].scale[0], target[0].zero_point[0]) == module.RESULT
    if not (last and formed and _number(writer, "p", 2) == 2):
        return "", {}, FORM_OF_ROWS
    if shape[-1] >= module.LONGEST:
        return "", {}, LONG_ROWS
    if writer.op == unit_rows.OF:
        return "UnitRows", {}, ""
    return "LogShares", {}, "" if source[0].scale[0] >= log_shares.LEAST_SCALE else STEEP_SCALES


def _running(
    graph: Graph, writer: Node, shape: Shape, source: Quantisation, target: Quantisation
) -> tuple[str, dict[str, int], str]:
    axis = graph.value(writer.inputs[1])
    if axis is None:
        return "", {}, FORM_OF_ROWS
    along = int(axis.reshape(-1)[0])
    if shape[along] > running_sums.longest(source):
        return "", {}, LONG_ROWS
    if running_sums.running_rule(source, target).shift > 0:
        return "", {}, STEEP_SCALES
    options = {name: _number(writer, name, 0) for name in ("exclusive", "reverse")}
    return "RunningSums", {"axis": along, **options}, ""


def _number(node: Node, name: str, default: int) -> int:
    """An integer attribute."""
    value = node.attributes.get(name, default)
    return value if isinstance(value, int) else default


def _wide_product(graph: Graph, node: Node, writer: Node, writers: dict[str, Node]) -> Sequence[Node]:
    """Two tensors of codes of 16 bits, multiplied: their sums have 64."""
    turns = [_turned(writers, name) for name in writer.inputs]
    held = [_codes(graph, turn.inputs[0] if turn else name, writers, constants=True)
            for turn, name in zip(turns, writer.inputs, strict=True)]  # fmt: skip
    target = read_quantisation(graph, node)
    known = [each for each in held if each is not None and each[2] is DType.I16]
    if len(known) < 2 or target is None:
        return ()
    meanings = [each[1] for each in known]
    reach = wide_reach(graph.tensors[writer.inputs[0]].shape[-1])
    multiplier, right = wide_rule(meanings[0], meanings[1], target[0])
    if target[1] is not DType.I16 or any(meaning.zero_point[0] for meaning in (*meanings, target[0])):
        graph.unlike = (*graph.unlike, (writer.outputs[0], FORM_OF_ROWS))
        return ()
    if reach >= LARGEST_SUM or right < 1 or (reach * multiplier) >> right >= 1 << 31:
        graph.unlike = (*graph.unlike, (writer.outputs[0], LONG_ROWS))
        return ()
    graph.tensors[node.outputs[0]] = replace(
        graph.tensors[node.outputs[0]], dtype=target[1], quantisation=target[0]
    )  # fmt: skip
    operands, before = list[str](), list[Node]()
    for (code, meaning, dtype), turn in zip(known, turns, strict=True):
        graph.quantise_tensor(code, meaning)
        operands.append(code)
        if turn is not None:
            shape = graph.tensors[turn.outputs[0]].shape
            operands[-1] = graph.tensor(f"{turn.outputs[0]}_codes", dtype, shape, meaning)
            before.append(
                graph.node(f"{turn.name}_codes", "Transpose", (code,), operands[-1:], turn.attributes, of=turn)
            )
    made = graph.node(f"{writer.name}_codes", "WideMatMul", operands, node.outputs, of=writer)
    return (*before, replace(made, domain=DOMAIN))


def _turned(writers: dict[str, Node], name: str) -> Node | None:
    """The Transpose that writes a tensor."""
    writer = writers.get(name)
    return writer if writer is not None and writer.op == "Transpose" and not writer.domain else None


def _root_of(writer: Node, writers: dict[str, Node]) -> Node | None:
    """The square root of which a node is the inverse."""
    before = writers.get(writer.inputs[0]) if writer.op == "Reciprocal" else None
    return before if before is not None and before.op == "Sqrt" else None


def _root_unlike(source: tuple[Quantisation, DType], target: tuple[Quantisation, DType]) -> str:
    if target[1] is not DType.I16 or source[0].zero_point[0] or target[0].zero_point[0]:
        return FORM_OF_ROWS
    return STEEP_SCALES if root_rule(source[0], target[0]).shift > MOST_ROOT_SHIFT else ""


def _codes(graph: Graph, name: str, writers: dict[str, Node], constants: bool = False) -> Held | None:
    """The codes that a tensor of real numbers is made of, with one scale."""
    writer = writers.get(name)
    meaning = read_quantisation(graph, writer) if writer is not None and writer.op == "DequantizeLinear" else None
    if writer is None or meaning is None or meaning[0].axis is not None:
        return None
    if writer.inputs[0] in graph.constants and not constants:
        return None
    return writer.inputs[0], *meaning
