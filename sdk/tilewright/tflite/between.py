"""Floats that stand between codes, in a file whose operators say themselves what they compute in.

DEQUANTIZE, an operator of floats and QUANTIZE make the same ONNX nodes as that operator on codes. Exactly rounded they
are one; TensorFlow Lite Micro computes the first in float32 and the second in integers, so that results are told where
the two may differ.
"""

from __future__ import annotations

from tilewright.tflite import schema
from tilewright.tflite.file import FileOperator, FileTensor
from tilewright.tflite.origin import Meaning, Origin, joined
from tilewright.tflite.unlike import FLOATS_BETWEEN, MOVED_CODES
from tilewright.tflite.writer import Writer

MOVING = frozenset({
    "RESHAPE", "SQUEEZE", "EXPAND_DIMS", "TRANSPOSE", "PAD", "MIRROR_PAD", "SLICE", "STRIDED_SLICE", "TILE",
    "BROADCAST_TO", "REVERSE_V2", "CONCATENATION", "PACK", "UNPACK", "SPLIT", "SPLIT_V", "GATHER", "GATHER_ND",
    "RESIZE_NEAREST_NEIGHBOR", "DEPTH_TO_SPACE", "SPACE_TO_DEPTH", "SPACE_TO_BATCH_ND", "BATCH_TO_SPACE_ND",
    "MAX_POOL_2D", "RELU",
})  # fmt: skip
"""What takes codes of one scale to codes of that scale, whether it reads them as integers or as floats."""
COPYING = (MOVING - {"RELU"}) | {"PADV2", "SELECT", "SELECT_V2", "DYNAMIC_UPDATE_SLICE", "EMBEDDING_LOOKUP"}
"""What copies codes without a look at their scales."""
ORDERING = frozenset({"ARG_MAX", "ARG_MIN"})
FUSED = {"CONCATENATION": schema.Concatenation.ACTIVATION, "MAX_POOL_2D": schema.Pool2D.ACTIVATION}


def follow(writer: Writer, operator: FileOperator) -> None:
    """Keep where the floats of an operator come from, and tell of its results that are no floats any more."""
    operands = [writer.origins[index] for index in operator.inputs if index in writer.origins]
    for index in operator.outputs:
        tensor = writer.tensor(index)
        if _is_float(tensor):
            origin = _origin(writer, operator, operands)
            if origin is not None and index not in writer.origins:
                writer.origins[index] = origin
        elif operands and not _same(operator, operands, tensor):
            writer.unlike[writer.names[index]] = FLOATS_BETWEEN
        elif operator.name in COPYING and not _of_its_scale(writer, operator, tensor):
            writer.unlike[writer.names[index]] = MOVED_CODES


def hand_over(outer: Writer, outside: int, inner: Writer, inside: int) -> None:
    """Let a tensor of another graph have the origin of this one."""
    if outside in outer.origins:
        known = [inner.origins[inside]] if inside in inner.origins else []
        inner.origins[inside] = joined([outer.origins[outside], *known]) or outer.origins[outside]


def _origin(writer: Writer, operator: FileOperator, operands: list[Origin]) -> Origin | None:
    source = writer.tensor(operator.inputs[0]) if operator.inputs and operator.inputs[0] >= 0 else None
    if operator.name == "DEQUANTIZE" and source is not None and (meaning := _meaning(source)) is not None:
        return Origin(frozenset({meaning})) if source.data is None else None
    field = FUSED.get(operator.name)
    moves = operator.name in MOVING and (field is None or not operator.integer(field))
    return joined(operands, computed=not moves)


def _same(operator: FileOperator, operands: list[Origin], result: FileTensor) -> bool:
    """True where the result is that of the operator on codes."""
    origin = joined(operands)
    if origin is None or origin.computed:
        return origin is None
    if operator.name == "QUANTIZE":
        return origin.codes == {_meaning(result)}
    return operator.name in ORDERING and len(origin.codes) == 1


def _of_its_scale(writer: Writer, operator: FileOperator, result: FileTensor) -> bool:
    """True where codes that are copied mean what the result says: no code is worth another one there."""
    wanted = _meaning(result)
    given = [_meaning(writer.tensor(index)) for index in operator.inputs if index >= 0]
    return wanted is None or all(
        one is None or (one[::2] == wanted[::2] and abs(one[1] / wanted[1] - 1) * (1 << wanted[0].bits) < 0.5)
        for one in given
    )


def _is_float(tensor: FileTensor) -> bool:
    return tensor.dtype is not None and tensor.dtype.is_float and tensor.scales is None


def _meaning(tensor: FileTensor) -> Meaning | None:
    """What codes with one scale mean; None for any other tensor."""
    if tensor.scales is None or tensor.dtype is None or not tensor.scales.single:
        return None
    return tensor.dtype, float(tensor.scales.scale[0]), int(tensor.scales.zero_point[0])
