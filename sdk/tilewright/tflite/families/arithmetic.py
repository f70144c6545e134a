"""Operators of two and more operands, element by element, whose shapes are broadcast from the end."""

from __future__ import annotations

from tilewright.model import DType
from tilewright.tflite import schema
from tilewright.tflite.file import FileOperator
from tilewright.tflite.unlike import MANY_ADDENDS, SUMMED_ZERO
from tilewright.tflite.writer import Writer

PLAIN = {
    "ADD": "Add", "SUB": "Sub", "MUL": "Mul", "DIV": "Div", "MAXIMUM": "Max", "MINIMUM": "Min", "POW": "Pow",
    "EQUAL": "Equal", "GREATER": "Greater", "GREATER_EQUAL": "GreaterOrEqual", "LESS": "Less",
    "LESS_EQUAL": "LessOrEqual", "LOGICAL_AND": "And", "LOGICAL_OR": "Or", "PRELU": "PRelu", "SELECT_V2": "Where",
    "SELECT": "Where",
}  # fmt: skip
ACTIVATED = ("ADD", "SUB", "MUL", "DIV")


def plain(writer: Writer, operator: FileOperator) -> None:
    """One ONNX operator of the same operands."""
    operands, first = writer.together(operator)
    activation = operator.integer(schema.Arithmetic.ACTIVATION) if operator.name in ACTIVATED else 0
    writer.define(operator.outputs[0], writer.op(PLAIN[operator.name], *operands), first, activation)


def not_equal(writer: Writer, operator: FileOperator) -> None:
    """NOT_EQUAL."""
    operands, first = writer.together(operator)
    writer.define(operator.outputs[0], writer.op("Not", writer.op("Equal", *operands)), first)


def add_n(writer: Writer, operator: FileOperator) -> None:
    """ADD_N: a sum of any number of operands."""
    operands, first = writer.together(operator)
    total = operands[0]
    for each in operands[1:]:
        total = writer.op("Add", total, each)
    scales = writer.tensor(operator.inputs[0]).scales
    if scales is not None and (len(operands) > 2 or scales.zero_point.any()):
        writer.unlike[total] = MANY_ADDENDS if len(operands) > 2 else SUMMED_ZERO
    writer.define(operator.outputs[0], total, first)


def squared_difference(writer: Writer, operator: FileOperator) -> None:
    """SQUARED_DIFFERENCE."""
    operands, first = writer.together(operator)
    difference = writer.op("Sub", *operands)
    writer.define(operator.outputs[0], writer.op("Mul", difference, difference), first)


def floored(writer: Writer, operator: FileOperator) -> None:
    """FLOOR_DIV and FLOOR_MOD: quotients are rounded down, remainders have the sign of the divisor."""
    (a, b), first = writer.together(operator)
    if writer.is_real(operator.inputs[0]):
        result = writer.op("Floor", writer.op("Div", a, b))
        if operator.name == "FLOOR_MOD":
            result = writer.op("Sub", a, writer.op("Mul", b, result))
    else:
        result = writer.op("Mod", a, b)
        if operator.name == "FLOOR_DIV":
            result = writer.op("Div", writer.op("Sub", a, result), b)
    writer.define(operator.outputs[0], result, first)


def batched_condition(writer: Writer, operator: FileOperator) -> None:
    """SELECT, whose condition of one axis speaks of the first axis of the others."""
    condition, y = writer.tensor(operator.inputs[0]), writer.tensor(operator.outputs[0])
    if condition.dtype is DType.BOOL and len(condition.shape) == 1 < len(y.shape) and condition.elements > 1:
        shape = writer.numbers("shape", (condition.elements, *(1 for _ in y.shape[1:])))
        picked = writer.op("Reshape", writer.value(operator.inputs[0]), shape)
        others = [writer.value(index) for index in operator.inputs[1:]]
        writer.define(operator.outputs[0], writer.op("Where", picked, *others))
    else:
        plain(writer, operator)


OPERATORS = {
    **dict.fromkeys(PLAIN, plain), "SELECT": batched_condition, "NOT_EQUAL": not_equal, "ADD_N": add_n,
    "SQUARED_DIFFERENCE": squared_difference, "FLOOR_DIV": floored, "FLOOR_MOD": floored,
}  # fmt: skip
