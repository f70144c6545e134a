"""Resource variables: what a call leaves for the next one. They become inputs and outputs of the graph, as states."""

from __future__ import annotations

from tilewright.errors import ModelError, UnsupportedNode
from tilewright.tflite import schema
from tilewright.tflite.file import FileOperator
from tilewright.tflite.writer import Writer, subgraph


def handle(writer: Writer, operator: FileOperator) -> None:
    """VAR_HANDLE: the name of a variable."""
    name = f"{operator.text(schema.VarHandle.CONTAINER)}/{operator.text(schema.VarHandle.SHARED_NAME)}".strip("/")
    writer.variables[operator.outputs[0]] = name


def call_once(writer: Writer, operator: FileOperator) -> None:
    """CALL_ONCE: a subgraph that assigns constants before the first call."""
    graph = subgraph(writer.network, operator.integer(schema.Single.NUMBER))
    handles: dict[int, str] = {}
    for inner in graph.operators:
        if inner.name == "VAR_HANDLE":
            slots = schema.VarHandle
            handles[inner.outputs[0]] = f"{inner.text(slots.CONTAINER)}/{inner.text(slots.SHARED_NAME)}".strip("/")
            continue
        value = graph.tensors[inner.inputs[1]] if inner.name == "ASSIGN_VARIABLE" and len(inner.inputs) > 1 else None
        if value is None or value.data is None or inner.inputs[0] not in handles:
            raise UnsupportedNode(
                f"operator '{operator.label}' computes first values", why=f"its subgraph holds {inner.label}",
                fix="give constants as first values", node=operator.label,
            )  # fmt: skip
        writer.first_values[handles[inner.inputs[0]]] = value.data


def read(writer: Writer, operator: FileOperator) -> None:
    """READ_VARIABLE: what was assigned last, in this call or the one before."""
    index, name = operator.outputs[0], _name(writer, operator)
    assigned = writer.assigned.get(name)
    if assigned is None:
        writer.assigned[name] = index
        writer.keep(name, index, writer.first_values.get(name))
    else:
        _check_same(writer, operator, assigned, index)
        writer.define(index, writer.value(assigned))


def assign(writer: Writer, operator: FileOperator) -> None:
    """ASSIGN_VARIABLE."""
    index, name = operator.inputs[1], _name(writer, operator)
    if name in writer.states:
        _check_same(writer, operator, writer.states[name].index, index)
    writer.assigned[name] = index


def _name(writer: Writer, operator: FileOperator) -> str:
    name = writer.variables.get(operator.inputs[0])
    if name is None:
        raise ModelError(f"operator '{operator.label}' is damaged", why="its operand is the handle of no variable")
    return name


def _check_same(writer: Writer, operator: FileOperator, first: int, second: int) -> None:
    """A variable holds bytes; numbers stay the same where type, shape and scale do."""
    a, b = writer.tensor(first), writer.tensor(second)
    scales = [None if t.scales is None else (t.scales.scale.tolist(), t.scales.zero_point.tolist()) for t in (a, b)]
    if a.dtype is not b.dtype or a.elements != b.elements or scales[0] != scales[1] or a.shape != b.shape:
        raise UnsupportedNode(
            f"operator '{operator.label}': tensors '{a.name}' and '{b.name}' are one variable",
            why="they differ in type, shape or scale", fix="convert the network with one form of the variable",
            node=operator.label,
        )  # fmt: skip


OPERATORS = {"VAR_HANDLE": handle, "CALL_ONCE": call_once, "READ_VARIABLE": read, "ASSIGN_VARIABLE": assign}
