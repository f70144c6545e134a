"""Checks the attributes of a node in the file: one of each name, of a type that we read, filled as its type says."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tilewright.errors import ModelError
from tilewright.frontend.names import quoted
from tilewright.frontend.values import element_type

if TYPE_CHECKING:
    import onnx

# AttributeProto.AttributeType -> the field that holds the value
_FIELDS = {1: "f", 2: "i", 3: "s", 4: "t", 5: "g", 6: "floats", 7: "ints", 8: "strings", 11: "sparse_tensor"}
LIST_LIMIT = 1 << 20
_SINGLE = ("f", "i", "s", "t", "g", "sparse_tensor", "tp")


def check_attributes(node: onnx.NodeProto, file: str) -> None:
    """ModelError for the first attribute that cannot be read."""
    label = node.name or node.op_type
    _check(node.attribute, label, f"node {quoted(label)} ({node.op_type}) is invalid", file)


def check_defaults(function: onnx.FunctionProto, file: str) -> None:
    """ModelError for the first default of an attribute that cannot be read."""
    what = f"function {quoted(function.name)} is invalid"
    _check(function.attribute_proto, "", what, file)
    for attribute in function.attribute_proto:
        if attribute.HasField("g") or attribute.ref_attr_name:
            why = f"attribute {quoted(attribute.name)} has a default that is a graph or a reference"
            raise ModelError(what, why=why, fix="check how the model was exported", file=file)


def _check(attributes: Iterable[onnx.AttributeProto], label: str, what: str, file: str) -> None:
    seen: set[str] = set()
    for attribute in attributes:
        why = _fault(attribute, seen)
        if why:
            raise ModelError(what, why=why, fix="check how the model was exported", node=label, file=file)
        seen.add(attribute.name)
        if attribute.type == 4 and not attribute.ref_attr_name:
            element_type(attribute.t.data_type, attribute.t.name or f"attribute {attribute.name} of {label}", file)


def _fault(attribute: onnx.AttributeProto, seen: set[str]) -> str:
    name = quoted(attribute.name)
    if attribute.name in seen:
        return f"attribute {name} is there twice"
    if attribute.type not in _FIELDS:
        return f"attribute {name} has no type that we read ({attribute.type})"
    if attribute.ref_attr_name:
        return ""
    field = _FIELDS[attribute.type]
    filled = [single for single in _SINGLE if attribute.HasField(single)]
    if max(len(attribute.ints), len(attribute.floats), len(attribute.strings)) > LIST_LIMIT:
        return f"attribute {name} is a list of more than {LIST_LIMIT} values"
    if field in _SINGLE and filled != [field]:
        return f"attribute {name} does not hold a value of its own type"
    try:
        for text in (attribute.s, *attribute.strings):
            text.decode()
    except UnicodeDecodeError:
        return f"attribute {name} is not valid UTF-8 text"
    return ""
