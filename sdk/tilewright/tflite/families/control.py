"""IF and WHILE: their graphs become the branches of ONNX's If and the body of its Loop.

Numbers come in and go out as real ones, behind the codes of their tensors, so that whoever unrolls a loop or takes a
branch sees the pairs of quantising nodes that stand between any two layers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tilewright.errors import ModelError, UnsupportedNode
from tilewright.model import DType
from tilewright.tflite import schema
from tilewright.tflite.between import hand_over
from tilewright.tflite.file import FileOperator, FileTensor
from tilewright.tflite.operators import write
from tilewright.tflite.unlike import FLOATS_BETWEEN
from tilewright.tflite.writer import Writer

if TYPE_CHECKING:
    import onnx

KEEPING = frozenset({"VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE", "CALL_ONCE"})


def branches(writer: Writer, operator: FileOperator) -> None:
    """IF: what follows the condition are the operands of either graph."""
    condition, given = writer.value(operator.inputs[0]), operator.inputs[1:]
    bodies, names = [], [writer.fresh(f"{writer.names[index]}/chosen") for index in operator.outputs]
    for field in (schema.If.THEN, schema.If.ELSE):
        inner = _entered(writer, operator, operator.integer(field))
        _give(writer, operator, inner, given, [writer.value(index) for index in given])
        results = _results(writer, operator, inner, operator.outputs)
        bodies.append(_graph(inner, operator, [], [(inner.graph.outputs[n], name) for n, name in enumerate(results)]))
        _tell(writer, inner, names)
    writer.ops("If", (condition,), names, {"then_branch": bodies[0], "else_branch": bodies[1]})
    for index, name in zip(operator.outputs, names, strict=True):
        writer.define(index, name)


def turns(writer: Writer, operator: FileOperator) -> None:
    """WHILE: one graph says whether there is another turn, the other is the turn; both take what is carried."""
    condition, turn = (operator.integer(field) for field in (schema.While.CONDITION, schema.While.BODY))
    given, start = operator.inputs, [writer.value(index) for index in operator.inputs]
    going = _asked(writer, operator, writer, condition, given, start)
    body = _entered(writer, operator, turn)
    carried = [body.fresh(f"{writer.label}/carried") for _ in given]
    _give(writer, operator, body, given, carried)
    results = _results(writer, operator, body, operator.outputs)
    for before, behind in zip(body.graph.inputs, body.graph.outputs, strict=True):
        if behind in body.origins and body.origins[behind] != body.origins.get(before):
            body.unlike[body.names[behind]] = FLOATS_BETWEEN  # the next turn reads other floats than the first
    again = _asked(writer, operator, body, condition, given, results)
    inputs = [(body.fresh(f"{writer.label}/turn"), DType.I64), (body.fresh(f"{writer.label}/going"), DType.BOOL)]
    outputs = list(zip(body.graph.outputs, results, strict=True))
    graph = _graph(body, operator, list(zip(body.graph.inputs, carried, strict=True)), outputs, inputs, again)
    names = [writer.fresh(f"{writer.names[index]}/last") for index in operator.outputs]
    _tell(writer, body, names)
    writer.ops("Loop", ("", going, *start), names, {"body": graph})
    for index, name in zip(operator.outputs, names, strict=True):
        writer.define(index, name)


def _entered(writer: Writer, operator: FileOperator, place: int, into: Writer | None = None) -> Writer:
    """A writer of a graph of the file, whose nodes are its own, or those of `into`."""
    if not 0 <= place < len(writer.network.subgraphs):
        raise ModelError(f"operator '{operator.label}' is damaged", why=f"there is no subgraph {place}")
    if place in writer.path:
        raise ModelError(f"operator '{operator.label}' is damaged", why=f"subgraph {place} holds itself")
    inner = Writer(writer.network, place, writer)
    if into is not None:
        inner.nodes = into.nodes
    keeping = next((one for one in inner.graph.operators if one.name in KEEPING), None)
    if keeping is not None or any(tensor.variable for tensor in inner.graph.tensors):
        raise UnsupportedNode(
            f"operator '{operator.label}' keeps something from call to call in one of its graphs",
            why="state is read and written in every call", fix="keep it outside of branches and loops",
            node=operator.label,
        )  # fmt: skip
    return inner


def _give(
    writer: Writer, operator: FileOperator, inner: Writer, given: Sequence[int], names: Sequence[str]
) -> None:  # fmt: skip
    """Let operands of the outer graph, by their names there, be the inputs of the inner one, and write its nodes."""
    if len(given) != len(inner.graph.inputs):
        why = f"it has {len(given)} operands for a graph of {len(inner.graph.inputs)} inputs"
        raise ModelError(f"operator '{operator.label}' is damaged", why=why)
    for outside, inside, name in zip(given, inner.graph.inputs, names, strict=True):
        _check_alike(operator, writer.tensor(outside), inner.tensor(inside))
        inner.reals[inside, False] = name
        hand_over(writer, outside, inner, inside)
    for one in inner.graph.operators:
        write(inner, one)


def _results(writer: Writer, operator: FileOperator, inner: Writer, outputs: Sequence[int]) -> list[str]:
    """Names of the inner graph's results, each written by a node of its own."""
    if len(outputs) != len(inner.graph.outputs):
        why = f"it has {len(outputs)} results of a graph of {len(inner.graph.outputs)} outputs"
        raise ModelError(f"operator '{operator.label}' is damaged", why=why)
    names = []
    for outside, inside in zip(outputs, inner.graph.outputs, strict=True):
        _check_alike(operator, writer.tensor(outside), inner.tensor(inside))
        hand_over(inner, inside, writer, outside)
        names.append(inner.op("Identity", inner.value(inside), name=f"{inner.names[inside]}/result"))
    return names


def _asked(
    writer: Writer, operator: FileOperator, into: Writer, place: int, given: Sequence[int], names: Sequence[str]
) -> str:  # fmt: skip
    """The answer of a condition's graph to these numbers, among the nodes of `into`."""
    inner = _entered(writer, operator, place, into)
    _give(writer, operator, inner, given, names)
    answers = inner.graph.outputs
    if len(answers) != 1 or inner.tensor(answers[0]).dtype is not DType.BOOL or inner.tensor(answers[0]).elements != 1:
        raise ModelError(f"operator '{operator.label}' is damaged", why="its condition is not one truth value")
    return inner.op("Reshape", inner.value(answers[0]), inner.numbers("scalar", []))


def _check_alike(operator: FileOperator, outside: FileTensor, inside: FileTensor) -> None:
    """What is handed over are bytes: numbers stay the same where type, shape and scale do."""
    scales = [None if t.scales is None else (t.scales.scale.tolist(), t.scales.zero_point.tolist())
              for t in (outside, inside)]  # fmt: skip
    if outside.dtype is None or (outside.dtype, outside.shape, scales[0]) != (inside.dtype, inside.shape, scales[1]):
        raise UnsupportedNode(
            f"operator '{operator.label}': '{outside.name}' is '{inside.name}' in one of its graphs",
            why="they differ in type, shape or scale", fix="convert the network again", node=operator.label,
        )  # fmt: skip


def _tell(writer: Writer, inner: Writer, names: Sequence[str]) -> None:
    """What a kernel of the inner graph computes in another way is told of the operator's results."""
    for word in inner.unlike.values():
        writer.unlike[names[0] if names else ""] = word


def _graph(
    inner: Writer, operator: FileOperator, inputs: Sequence[tuple[int, str]], outputs: Sequence[tuple[int, str]],
    counted: Sequence[tuple[str, DType]] = (), again: str = "",
) -> onnx.GraphProto:  # fmt: skip
    """The inner graph with its inputs and outputs by tensor and name; a loop's has the turn and its condition first."""
    from onnx import helper

    def info(index: int, name: str) -> onnx.ValueInfoProto:
        tensor = inner.tensor(index)
        assert tensor.dtype is not None, name
        dtype = DType.F32 if tensor.scales is not None else tensor.dtype
        return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(dtype.numpy), tensor.shape)

    first = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(dtype.numpy), [])
             for name, dtype in counted]  # fmt: skip
    answer = [helper.make_tensor_value_info(again, helper.np_dtype_to_tensor_dtype(DType.BOOL.numpy), [])]
    return helper.make_graph(
        inner.nodes, f"{operator.label}_{inner.path[-1]}", [*first, *(info(*one) for one in inputs)],
        [*(answer if again else ()), *(info(*one) for one in outputs)],
    )  # fmt: skip


OPERATORS = {"IF": branches, "WHILE": turns}
