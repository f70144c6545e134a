"""Functions of one number, element by element; softmax and the like along the last axis."""

from __future__ import annotations

import numpy as np

from tilewright.tflite import schema
from tilewright.tflite.file import FileOperator
from tilewright.tflite.flatbuffer import Integer
from tilewright.tflite.writer import Writer

PLAIN = {
    "ABS": "Abs", "CEIL": "Ceil", "COS": "Cos", "ELU": "Elu", "EXP": "Exp", "FLOOR": "Floor", "HARD_SWISH": "HardSwish",
    "LOG": "Log", "LOGICAL_NOT": "Not", "LOGISTIC": "Sigmoid", "NEG": "Neg", "RELU": "Relu", "ROUND": "Round",
    "SIGN": "Sign", "SIN": "Sin", "SQRT": "Sqrt", "TANH": "Tanh",
}  # fmt: skip
LIMITS = {"RELU6": (0.0, 6.0), "RELU_N1_TO_1": (-1.0, 1.0), "RELU_0_TO_1": (0.0, 1.0)}
APPROXIMATE = Integer(0, "b")


def plain(writer: Writer, operator: FileOperator) -> None:
    """One ONNX operator."""
    (real,), first = writer.together(operator)
    writer.define(operator.outputs[0], writer.op(PLAIN[operator.name], real), first)


def limited(writer: Writer, operator: FileOperator) -> None:
    """RELU6 and its kin."""
    (real,), first = writer.together(operator)
    limits = [writer.constant("limit", np.asarray(limit, np.float32)) for limit in LIMITS[operator.name]]
    writer.define(operator.outputs[0], writer.op("Clip", real, *limits), first)


def leaky(writer: Writer, operator: FileOperator) -> None:
    """LEAKY_RELU."""
    (real,), first = writer.together(operator)
    alpha = operator.real(schema.LeakyRelu.ALPHA)
    writer.define(operator.outputs[0], writer.op("LeakyRelu", real, alpha=alpha), first)


def gelu(writer: Writer, operator: FileOperator) -> None:
    """GELU, by the error function or by tanh."""
    (real,), first = writer.together(operator)
    form = "tanh" if operator.integer(APPROXIMATE) else "none"
    writer.define(operator.outputs[0], writer.op("Gelu", real, approximate=form), first)


def composed(writer: Writer, operator: FileOperator) -> None:
    """SQUARE and RSQRT."""
    (real,), first = writer.together(operator)
    result = writer.op("Mul", real, real) if operator.name == "SQUARE" else writer.op(
        "Reciprocal", writer.op("Sqrt", real)
    )  # fmt: skip
    writer.define(operator.outputs[0], result, first)


def softmax(writer: Writer, operator: FileOperator) -> None:
    """SOFTMAX of beta times the logits, and LOG_SOFTMAX."""
    real = writer.value(operator.inputs[0])
    kind, beta = "LogSoftmax", 1.0
    if operator.name == "SOFTMAX":
        kind, beta = "Softmax", operator.real(schema.Softmax.BETA)
    if beta != 1.0:
        real = writer.op("Mul", real, writer.constant("beta", np.asarray(beta, np.float32)))
    writer.define(operator.outputs[0], writer.op(kind, real, axis=-1))


def normalised(writer: Writer, operator: FileOperator) -> None:
    """L2_NORMALIZATION along the last axis."""
    real = writer.op("LpNormalization", writer.value(operator.inputs[0]), axis=-1, p=2)
    writer.define(operator.outputs[0], real, activation=operator.integer(schema.Arithmetic.ACTIVATION))


OPERATORS = {
    **dict.fromkeys(PLAIN, plain), **dict.fromkeys(LIMITS, limited), "LEAKY_RELU": leaky, "GELU": gelu,
    "SQUARE": composed, "RSQRT": composed, "SOFTMAX": softmax, "LOG_SOFTMAX": softmax, "L2_NORMALIZATION": normalised,
}  # fmt: skip
