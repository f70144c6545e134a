"""One operator of a file as ONNX nodes, whatever graph it stands in."""

from __future__ import annotations

import numpy as np

from tilewright.errors import ModelError, TilewrightError, UnsupportedNode
from tilewright.ops.registry import find
from tilewright.tflite.between import follow
from tilewright.tflite.file import FileOperator
from tilewright.tflite.registry import operators
from tilewright.tflite.writer import Writer

CUSTOM_DOMAIN = "tflite.custom"
"""The domain of custom operators, each under its name; the bytes of its options are `custom_options`."""


def write(writer: Writer, operator: FileOperator) -> None:
    """The nodes of one operator; an error names it."""
    family = _custom if operator.custom else operators().get(operator.name)
    if family is None:
        raise UnsupportedNode(
            f"operator {operator.name} is not supported", why="it is not known here",
            fix="cut the network before it", node=operator.label,
        )  # fmt: skip
    writer.label = f"{writer.inside}{operator.label}"
    try:
        family(writer, operator)
        follow(writer, operator)
    except TilewrightError:
        raise
    except (ArithmeticError, LookupError, ValueError, TypeError) as error:
        raise ModelError(
            f"operator '{operator.label}' is damaged",
            why=f"its operands and options do not go together ({' '.join(str(error).split())[:160]})",
            fix="convert or download it again", node=operator.label,
        ) from error  # fmt: skip


def _custom(writer: Writer, operator: FileOperator) -> None:
    """A custom operator as the node of its name in `CUSTOM_DOMAIN`, where a plug-in has published that operator."""
    from onnx import numpy_helper

    if find(operator.name, CUSTOM_DOMAIN) is None:
        raise UnsupportedNode(
            f"custom operator {operator.name} is not supported",
            why=f"no plug-in has an operator of this name in the domain '{CUSTOM_DOMAIN}'",
            fix="publish one under the entry points 'tilewright.operators', or cut the network before it",
            node=operator.label,
        )  # fmt: skip
    operands = [writer.value(index) if index >= 0 else "" for index in operator.inputs]
    names = [writer.fresh(f"{writer.names[index]}/computed") for index in operator.outputs]
    options = numpy_helper.from_array(np.frombuffer(operator.custom_options, np.uint8))
    writer.ops(operator.name, operands, names, {"domain": CUSTOM_DOMAIN, "custom_options": options})
    for index, name in zip(operator.outputs, names, strict=True):
        writer.define(index, name)
