"""Puts the nodes of a function, or of the branch of an If, in the place of the node that calls it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from tilewright.errors import ModelError, UnsupportedNode
from tilewright.frontend.raw import Body, RawAttribute, RawNode, Reference, Value, import_function
from tilewright.frontend.values import ONNX_TYPE
from tilewright.model import Tensor

if TYPE_CHECKING:
    import onnx

Fresh = Callable[[str], str]


def instantiate(
    body: Body, call: RawNode, arguments: Mapping[str, RawAttribute], fresh: Fresh
) -> tuple[tuple[RawNode, ...], dict[str, Value]]:
    """The nodes and constants of `body` with the names of the caller's graph; `fresh` makes names unique there."""
    if len(call.inputs) > len(body.inputs) or len(call.outputs) > len(body.outputs):
        why = f"it takes {len(body.inputs)} inputs and gives {len(body.outputs)} outputs"
        fix = "check how the model was exported"
        raise ModelError(f"{call.where()} does not fit its function", why=why, fix=fix, node=call.label)
    inputs = (*call.inputs, *[""] * (len(body.inputs) - len(call.inputs)))
    outputs = (*call.outputs, *[""] * (len(body.outputs) - len(call.outputs)))
    names: dict[str, str] = dict(zip(body.inputs, inputs, strict=True))
    written = {name for node in body.nodes for name in node.outputs if name}
    copies: list[tuple[str, str]] = []  # outputs that no inner node writes under their own name
    for formal, actual in zip(body.outputs, outputs, strict=True):
        if formal in written and formal not in names and actual:
            names[formal] = actual
        elif actual:
            copies.append((formal, actual))
    for name in (*body.constants, *sorted(written)):
        if name not in names:
            names[name] = fresh(f"{call.label}/{name}")
    scope = {**body.scope, **names, "": ""}
    environment = {**body.defaults, **body.arguments, **arguments}

    def renamed(node: RawNode) -> RawNode:
        attributes = {name: _bound(value, scope, environment) for name, value in node.attributes.items()}
        return replace(
            node,
            name=f"{call.label}/{node.label}",
            loop=call.loop,
            under=call.under,
            inputs=tuple(scope.get(name, name) for name in node.inputs),
            outputs=tuple(scope.get(name, name) for name in node.outputs),
            attributes={name: value for name, value in attributes.items() if value is not None},
        )

    nodes = [renamed(node) for node in body.nodes]
    nodes += [
        RawNode("", "Identity", (scope.get(source, source),), (target,), opsets=body.opsets)
        for source, target in copies
    ]
    return tuple(nodes), {scope[name]: value for name, value in body.constants.items()}


def _bound(
    value: RawAttribute, scope: Mapping[str, str], environment: Mapping[str, RawAttribute]
) -> RawAttribute | None:
    if isinstance(value, Reference):
        return environment.get(value.name)
    return replace(value, scope=scope, arguments=environment) if isinstance(value, Body) else value


def standard_function(node: RawNode, operands: tuple[Tensor | None, ...]) -> Body | None:
    """How the standard itself computes an operator out of others, in its newest version; None where it does not say."""
    import onnx

    if not onnx.defs.has(node.op, node.domain):
        return None
    schema: Any = onnx.defs.get_schema(node.op, node.domain)
    if schema.has_function:
        return _fixed_function(node.op, node.domain)
    versions = schema.context_dependent_function_opset_versions if schema.has_context_dependent_function else []
    if not versions:
        return None
    types = [onnx.TypeProto() for _ in operands]
    for proto, tensor in zip(types, operands, strict=True):
        if tensor is not None:
            proto.tensor_type.elem_type = ONNX_TYPE[tensor.dtype]
            for extent in tensor.shape:
                proto.tensor_type.shape.dim.add().dim_value = extent
    serialised = [proto.SerializeToString() for proto in types]
    text = schema.get_context_dependent_function_with_opset_version(
        max(versions), _message(node).SerializeToString(), serialised
    )
    function = onnx.FunctionProto()
    function.ParseFromString(text)
    return _with_defaults(schema, import_function(function, {"": max(versions)})) if function.node else None


@cache
def _fixed_function(op: str, domain: str) -> Body:
    import onnx

    schema: Any = onnx.defs.get_schema(op, domain)
    return _with_defaults(schema, import_function(schema.function_body, {"": schema.since_version}))


def _with_defaults(schema: Any, body: Body) -> Body:
    """The function with the defaults of the operator's attributes, which its body refers to."""
    import onnx

    defaults: dict[str, RawAttribute] = dict(body.defaults)
    for name, attribute in schema.attributes.items():
        if attribute.default_value.name:
            value = onnx.helper.get_attribute_value(attribute.default_value)
            value = value.decode() if isinstance(value, bytes) else value
            defaults.setdefault(name, tuple(value) if isinstance(value, list) else value)
    return replace(body, defaults=defaults)


def _message(node: RawNode) -> onnx.NodeProto:
    import onnx

    attributes: dict[str, Any] = {}
    for name, value in node.attributes.items():
        if isinstance(value, Value):
            dtype, array = value.dtype, value.array
            attributes[name] = onnx.helper.make_tensor(name, ONNX_TYPE[dtype], array.shape, array.tobytes(), raw=True)
        elif isinstance(value, Body | Reference):
            raise UnsupportedNode(
                f"{node.where()} has an attribute that no standard function takes",
                why="it holds a graph",
                fix="export the model with plain operators",
                node=node.label,
            )
        else:
            attributes[name] = value
    return onnx.helper.make_node(node.op, node.inputs, node.outputs, node.name, domain=node.domain, **attributes)
