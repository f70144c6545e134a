"""Mutations of a protobuf message: of its bytes, of any field of any part, and of what models are made of."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import onnx

NUMBERS = [0, 1, -1, 2, 7, 255, -128, 1 << 15, 1 << 31, -(1 << 31), 1 << 40, (1 << 63) - 1, -(1 << 63)]
NAMES = [
    "",
    "x",
    "y",
    "a",
    "w",
    "a b",
    "int",
    '"); system("',
    "n" * 4096,
    "Ünïcödé 層",
    "a\nb\0c",
    "../../etc/passwd",
    "%n",
]
OPS = sorted({schema.name for schema in onnx.defs.get_all_schemas()})
REALS = [0.0, -1.0, float("nan"), float("inf"), -float("inf"), 1e38, 1e-38]


def mutated(content: bytes, random: Random) -> bytes:
    """The model after one to four mutations; every twentieth model is cut off or overwritten in its bytes."""
    if random.random() < 0.05:
        return _bytes(content, random)
    proto = onnx.ModelProto.FromString(content)
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        random.choices((_any_field, _node, _value, _attribute, _edge), (4, 2, 2, 2, 3))[0](proto, random)
    try:
        content = proto.SerializeToString()
    except ValueError:  # larger than protobuf writes
        return content
    return _bytes(content, random) if random.random() < 0.05 else content


def _bytes(content: bytes, random: Random) -> bytes:
    data = bytearray(content)
    for _ in range(random.choice((1, 1, 3, 10))):
        where = random.randrange(len(data))
        match random.randrange(4):
            case 0:
                data[where] = random.randrange(256)
            case 1:
                del data[where : where + random.randrange(1, 20)]
            case 2:
                data[where:where] = random.randbytes(random.randrange(1, 20))
            case _:
                del data[where:]
        if not data:
            return b""
    return bytes(data)


def _parts(message: Any) -> list[Any]:
    """The message and all messages inside it."""
    messages = [message]
    for part in messages:  # grows while it is walked
        for descriptor, value in part.ListFields():
            if descriptor.message_type is not None:
                messages.extend(value if descriptor.is_repeated else [value])
    return messages


def _any_field(proto: onnx.ModelProto, random: Random) -> None:
    part = random.choice(_parts(proto))
    descriptor = random.choice(part.DESCRIPTOR.fields)
    if random.random() < 0.25:
        part.ClearField(descriptor.name)
    elif descriptor.message_type is not None:
        _message_field(part, descriptor, proto, random)
    elif descriptor.is_repeated:
        values = getattr(part, descriptor.name)
        if values and random.random() < 0.5:
            values[random.randrange(len(values))] = _scalar(descriptor, random)
        else:
            values.extend(_scalar(descriptor, random) for _ in range(random.choice((1, 2, 9))))
    else:
        setattr(part, descriptor.name, _scalar(descriptor, random))


def _message_field(part: Any, descriptor: Any, proto: onnx.ModelProto, random: Random) -> None:
    alike = [other for other in _parts(proto) if other.DESCRIPTOR is descriptor.message_type]
    copy = type(random.choice(alike)).FromString(random.choice(alike).SerializeToString()) if alike else None
    value = getattr(part, descriptor.name)
    if not descriptor.is_repeated:
        value.CopyFrom(copy) if copy is not None else value.SetInParent()
    elif value and random.random() < 0.5:
        del value[random.randrange(len(value))]
    elif copy is not None:
        value.append(copy)
    else:
        value.add()


def _scalar(descriptor: Any, random: Random) -> Any:
    kind = descriptor.cpp_type
    if kind == descriptor.CPPTYPE_STRING:
        if descriptor.type == descriptor.TYPE_BYTES:
            return random.choice((b"", b"\xff\xfe", random.randbytes(9), random.choice(NAMES).encode()))
        return random.choice((random.choice(NAMES), random.choice(OPS)))
    if kind in (descriptor.CPPTYPE_FLOAT, descriptor.CPPTYPE_DOUBLE):
        return random.choice(REALS)
    if kind == descriptor.CPPTYPE_ENUM:
        return random.choice(descriptor.enum_type.values).number
    if kind == descriptor.CPPTYPE_INT32:
        return max(-(1 << 31), min((1 << 31) - 1, random.choice(NUMBERS)))
    if kind in (descriptor.CPPTYPE_UINT64, descriptor.CPPTYPE_UINT32):
        return abs(random.choice(NUMBERS)) % (1 << 31)
    return min(random.choice(NUMBERS), (1 << 63) - 1)


def _all_nodes(proto: onnx.ModelProto) -> list[onnx.NodeProto]:
    return [part for part in _parts(proto) if isinstance(part, onnx.NodeProto)]


def _node(proto: onnx.ModelProto, random: Random) -> None:
    nodes = _all_nodes(proto)
    if not nodes:
        return
    node = random.choice(nodes)
    actions: list[Callable[[], object]] = [
        lambda: setattr(node, "op_type", random.choice(OPS)),
        lambda: setattr(node, "domain", random.choice(("", "acme", "ai.onnx", "ai.onnx.ml", "com.microsoft", "?"))),
        lambda: setattr(node, "name", random.choice(NAMES)),
        lambda: proto.graph.node.append(node),
    ]
    random.choice(actions)()


def _value(proto: onnx.ModelProto, random: Random) -> None:
    """Dimensions, element types and contents of tensors and inputs."""
    parts = _parts(proto)
    kinds: list[Any] = [random.choice((onnx.TensorProto, onnx.TensorShapeProto.Dimension, onnx.TypeProto.Tensor))]
    chosen = [part for part in parts if isinstance(part, kinds[0])]
    if not chosen:
        return
    part: Any = random.choice(chosen)
    if isinstance(part, onnx.TensorShapeProto.Dimension):
        if random.random() < 0.3:
            part.dim_param = random.choice(NAMES)
        else:
            part.dim_value = random.choice([*NUMBERS[:-2], 3, 5])
    elif isinstance(part, onnx.TypeProto.Tensor):
        part.elem_type = random.randrange(0, 30)
    elif random.random() < 0.5 and part.dims:
        part.dims[random.randrange(len(part.dims))] = random.choice(NUMBERS)
    elif random.random() < 0.5:
        part.data_type = random.randrange(0, 30)
    else:
        part.raw_data = random.choice(
            (b"", part.raw_data[:-1], part.raw_data * 2, random.randbytes(len(part.raw_data)))
        )


def _attribute(proto: onnx.ModelProto, random: Random) -> None:
    attributes = [attribute for node in _all_nodes(proto) for attribute in node.attribute]
    if not attributes:
        return
    attribute = random.choice(attributes)
    if attribute.ints and random.random() < 0.6:
        attribute.ints[random.randrange(len(attribute.ints))] = min(random.choice(NUMBERS), (1 << 63) - 1)
    elif attribute.HasField("i") and random.random() < 0.6:
        attribute.i = min(random.choice(NUMBERS), (1 << 63) - 1)
    elif attribute.HasField("f") and random.random() < 0.6:
        attribute.f = random.choice(REALS)
    elif random.random() < 0.3:
        attribute.name = random.choice(("axis", "axes", "perm", "group", "to", "pads", "mode", "value", "hidden_size"))
    elif random.random() < 0.5:
        attribute.ints.extend(random.choices(NUMBERS[:7], k=3))
    else:
        attribute.type = random.randrange(0, 15)


def _edge(proto: onnx.ModelProto, random: Random) -> None:
    """Let a node read or write another tensor, more of them, or fewer."""
    nodes = _all_nodes(proto)
    names = [name for node in nodes for name in (*node.input, *node.output)] or [""]
    if not nodes:
        return
    node = random.choice(nodes)
    ends: Any = random.choice((node.input, node.input, node.output))
    if ends and random.random() < 0.7:
        omitted = random.random() < 0.1
        ends[random.randrange(len(ends))] = "" if omitted else random.choice([*names, random.choice(NAMES)])
    elif ends and random.random() < 0.5:
        del ends[-1]
    else:
        ends.append(random.choice(names))
