"""Small TensorFlow Lite files, written with the plain FlatBuffers builder: the schema's slots stand here once more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import flatbuffers
import numpy as np
from tilewright.model import Array

CODES = {
    "ADD": 0, "AVERAGE_POOL_2D": 1, "CONCATENATION": 2, "CONV_2D": 3, "DEPTHWISE_CONV_2D": 4, "DEPTH_TO_SPACE": 5,
    "DEQUANTIZE": 6, "FULLY_CONNECTED": 9, "LOGISTIC": 14, "MAX_POOL_2D": 17, "MUL": 18, "RELU": 19, "RESHAPE": 22,
    "RESIZE_BILINEAR": 23, "SOFTMAX": 25, "SPACE_TO_DEPTH": 26, "SVDF": 27, "TANH": 28, "CUSTOM": 32, "PAD": 34,
    "GATHER": 36, "BATCH_TO_SPACE_ND": 37, "SPACE_TO_BATCH_ND": 38, "TRANSPOSE": 39, "MEAN": 40, "SUB": 41,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": 44, "STRIDED_SLICE": 45, "SPLIT": 49, "TRANSPOSE_CONV": 67, "PACK": 83,
    "UNPACK": 88, "RESIZE_NEAREST_NEIGHBOR": 97, "LEAKY_RELU": 98, "REVERSE_V2": 105, "ELU": 111, "QUANTIZE": 114,
    "HARD_SWISH": 117, "WHILE": 119, "BATCH_MATMUL": 126, "CALL_ONCE": 129, "VAR_HANDLE": 142, "READ_VARIABLE": 143,
    "ASSIGN_VARIABLE": 144, "MAXIMUM": 55, "ARG_MAX": 56, "RELU6": 21, "PRELU": 54, "LESS": 58, "EQUAL": 71, "RSQRT":
    76, "SQUARED_DIFFERENCE": 99, "ABS": 101, "ADD_N": 106, "SELECT_V2": 123, "LOG_SOFTMAX": 50, "CAST": 53, "IF":
    118, "RFFT2D": 131, "BROADCAST_ARGS": 145, "DYNAMIC_UPDATE_SLICE": 151, "L2_NORMALIZATION": 11, "DIV": 42,
    "CUMSUM": 128, "TILE": 69, "EXPAND_DIMS": 70, "SQUEEZE": 43, "SLICE": 65,
}  # fmt: skip
OPTIONS = {
    "ADD": 11, "AVERAGE_POOL_2D": 5, "CONCATENATION": 10, "CONV_2D": 1, "DEPTHWISE_CONV_2D": 2, "DEPTH_TO_SPACE": 94,
    "FULLY_CONNECTED": 8, "MAX_POOL_2D": 5, "MUL": 21, "SUB": 28, "SOFTMAX": 9, "SPACE_TO_DEPTH": 19, "SVDF": 6,
    "MEAN": 27, "UNIDIRECTIONAL_SEQUENCE_LSTM": 71, "STRIDED_SLICE": 32, "SPLIT": 35, "TRANSPOSE_CONV": 49, "PACK": 59,
    "LEAKY_RELU": 75, "CALL_ONCE": 103, "VAR_HANDLE": 111, "RESIZE_NEAREST_NEIGHBOR": 74, "RESIZE_BILINEAR": 15,
    "ARG_MAX": 40, "IF": 92, "WHILE": 93, "L2_NORMALIZATION": 12, "DIV": 29, "CUMSUM": 102, "BATCH_MATMUL": 101,
}  # fmt: skip
"""Numbers of the union `BuiltinOptions`."""
TYPES = {"float32": 0, "float16": 1, "int32": 2, "uint8": 3, "int64": 4, "bool": 6, "int16": 7, "int8": 9}
RESOURCE = 13


@dataclass(frozen=True)
class T:
    """A tensor. `kind` is a NumPy type's name or "resource"; `scale` is one number or one for each index of `axis`."""

    shape: Sequence[int]
    kind: str = "float32"
    scale: float | Sequence[float] | None = None
    zero: int = 0
    data: Array | None = None
    axis: int = 0
    variable: bool = False
    sparse: bool = False


@dataclass(frozen=True)
class Op:
    """An operator with its operands by place in the list of tensors; options are (slot, kind of number, number)."""

    name: str
    inputs: Sequence[int]
    outputs: Sequence[int]
    options: Sequence[tuple[int, str, Any]] = ()
    custom: str = ""
    custom_options: bytes = b""


@dataclass(frozen=True)
class G:
    """A subgraph."""

    tensors: Sequence[T]
    operators: Sequence[Op]
    inputs: Sequence[int] = ()
    outputs: Sequence[int] = ()


@dataclass
class _Builder:
    """The file under way; buffer 0 is the empty one."""

    flat: Any = field(default_factory=lambda: flatbuffers.Builder(1 << 12))
    buffers: list[int] = field(default_factory=list)
    codes: list[tuple[str, str]] = field(default_factory=list)

    def table(self, fields: Sequence[tuple[int, str, Any]]) -> int:
        """A table of (slot, kind, number); the kind "o" is an offset."""
        self.flat.StartObject(1 + max((slot for slot, _, _ in fields), default=0))
        for slot, kind, number in fields:
            if kind == "o":
                self.flat.PrependUOffsetTRelativeSlot(slot, number, 0)
                continue
            name = {"b": "Int8", "B": "Uint8", "i": "Int32", "I": "Uint32", "f": "Float32"}[kind]
            self.flat.ForceDefaults(True)
            getattr(self.flat, f"Prepend{name}Slot")(slot, number, 0)
            self.flat.ForceDefaults(False)
        return int(self.flat.EndObject())

    def numbers(self, values: Sequence[Any] | Array, kind: str) -> int:
        return int(self.flat.CreateNumpyVector(np.asarray(values, kind)))

    def offsets(self, values: Sequence[int]) -> int:
        self.flat.StartVector(4, len(values), 4)
        for value in reversed(values):
            self.flat.PrependUOffsetTRelative(value)
        return int(self.flat.EndVector())

    def text(self, value: str) -> int:
        return int(self.flat.CreateString(value))

    def tensor(self, tensor: T, name: str) -> int:
        buffer = 0
        if tensor.data is not None:
            stored = np.ascontiguousarray(tensor.data, tensor.kind)
            self.buffers.append(self.table([(0, "o", self.numbers(np.frombuffer(stored.tobytes(), np.uint8), "u1"))]))
            buffer = len(self.buffers) - 1
        fields = [(0, "o", self.numbers(tensor.shape, "i4")), (2, "I", buffer), (3, "o", self.text(name))]
        fields.append((1, "b", RESOURCE if tensor.kind == "resource" else TYPES[tensor.kind]))
        if tensor.scale is not None:
            scales = np.atleast_1d(np.asarray(tensor.scale, np.float32))
            parts = [(2, "o", self.numbers(scales, "f4")), (3, "o", self.numbers([tensor.zero] * scales.size, "i8"))]
            fields.append((4, "o", self.table([*parts, (6, "i", tensor.axis)])))
        if tensor.sparse:
            fields.append((6, "o", self.table([(0, "i", 0)])))
        return self.table([*fields, (5, "b", int(tensor.variable))])

    def operator(self, op: Op) -> int:
        key = (op.name, op.custom)
        if key not in self.codes:
            self.codes.append(key)
        options = self.table([
            (slot, "o", self.text(value)) if kind == "s" else (slot, kind, value) for slot, kind, value in op.options
        ])  # fmt: skip
        lists = [(1, "o", self.numbers(op.inputs, "i4")), (2, "o", self.numbers(op.outputs, "i4"))]
        own = [(5, "o", self.numbers(np.frombuffer(op.custom_options, np.uint8), "u1"))] if op.custom_options else []
        return self.table(
            [(0, "I", self.codes.index(key)), *lists, (3, "B", OPTIONS.get(op.name, 0)), (4, "o", options), *own]
        )

    def graph(self, graph: G, prefix: str) -> int:
        tensors = self.offsets([self.tensor(tensor, f"{prefix}{n}") for n, tensor in enumerate(graph.tensors)])
        operators = self.offsets([self.operator(op) for op in graph.operators])
        lists = [(1, "o", self.numbers(graph.inputs, "i4")), (2, "o", self.numbers(graph.outputs, "i4"))]
        return self.table([(0, "o", tensors), *lists, (3, "o", operators)])


def written(*graphs: G) -> bytes:
    """The file; tensors of the first graph are named t0, t1, ..."""
    builder = _Builder()
    builder.buffers.append(builder.table([]))
    subgraphs = builder.offsets([builder.graph(graph, "t" if not n else f"g{n}_") for n, graph in enumerate(graphs)])
    codes = []
    for name, custom in builder.codes:
        fields: list[tuple[int, str, Any]] = [(0, "b", min(CODES[name], 127)), (3, "i", CODES[name])]
        codes.append(builder.table([*fields, *([(1, "o", builder.text(custom))] if custom else [])]))
    parts = [builder.offsets(codes), subgraphs, builder.offsets(builder.buffers)]
    root = builder.table([(0, "I", 3), (1, "o", parts[0]), (2, "o", parts[1]), (4, "o", parts[2])])
    builder.flat.Finish(root, b"TFL3")
    return bytes(builder.flat.Output())


def single(op: str, tensors: Sequence[T], results: Sequence[T], options: Sequence[tuple[int, str, Any]] = ()) -> bytes:
    """A file with one operator; what has no data and is no variable is an input."""
    every = [*tensors, *results]
    inputs = [n for n, tensor in enumerate(tensors) if tensor.data is None and not tensor.variable]
    outputs = list(range(len(tensors), len(every)))
    return written(G(every, [Op(op, range(len(tensors)), outputs, options)], inputs, outputs))


def window(first: int = 7, scale: float = 0.5) -> bytes:
    """A variable of three codes that moves on by one: READ, CONCATENATION, STRIDED_SLICE, ASSIGN; its sum comes out."""
    past = T((1, 3), "int8", scale, first)
    cut = [T((2,), "int32", data=np.asarray(v, np.int32)) for v in ([0, 1], [1, 4], [1, 1])]
    tensors = [T((1, 1), "int8", scale, first), T((), "resource"), past, T((1, 4), "int8", scale, first), *cut,
               T((1, 3), "int8", scale, first)]  # fmt: skip
    ops = [
        Op("CALL_ONCE", [], [], [(0, "i", 1)]), Op("VAR_HANDLE", [], [1], [(1, "s", "ring")]),
        Op("READ_VARIABLE", [1], [2]), Op("CONCATENATION", [2, 0], [3], [(0, "i", 1)]),
        Op("STRIDED_SLICE", [3, 4, 5, 6], [7]), Op("ASSIGN_VARIABLE", [1, 7], []),
    ]  # fmt: skip
    start = T((1, 3), "int8", scale, first, np.asarray([[1, 2, 3]], np.int8))
    init = G([T((), "resource"), start],
             [Op("VAR_HANDLE", [], [0], [(1, "s", "ring")]), Op("ASSIGN_VARIABLE", [0, 1], [])])  # fmt: skip
    return written(G(tensors, ops, [0], [3]), init)


def streaming() -> bytes:
    """A network over frames of eight numbers that keeps the last four: `tests/models/tflite/streaming.tflite`."""
    rng = np.random.default_rng(0)
    taps, mix, rows = (rng.integers(-127, 128, s).astype(np.int8) for s in ((1, 5, 1, 8), (16, 1, 1, 8), (3, 16)))
    sums = [rng.integers(-900, 900, count) for count in (8, 16, 3)]
    cut = [T((4,), "int32", data=np.asarray(v, np.int32)) for v in ([0, 1, 0, 0], [1, 5, 1, 8], [1, 1, 1, 1])]
    frame, channels, hidden = (0.0625, -5), (0.11, 3), (0.2, -128)
    tensors = [
        T((1, 1, 1, 8), "int8", *frame), T((), "resource"), T((1, 4, 1, 8), "int8", *frame),
        T((1, 5, 1, 8), "int8", *frame), *cut, T((1, 4, 1, 8), "int8", *frame),
        T(taps.shape, "int8", [0.01 + n / 999 for n in range(8)], data=taps, axis=3),
        T((8,), "int32", [0.0625 * (0.01 + n / 999) for n in range(8)], data=sums[0]),
        T((1, 1, 1, 8), "int8", *channels), T(mix.shape, "int8", [0.007 + n / 3333 for n in range(16)], data=mix),
        T((16,), "int32", [0.11 * (0.007 + n / 3333) for n in range(16)], data=sums[1]),
        T((1, 1, 1, 16), "int8", *hidden), T((2,), "int32", data=np.asarray([1, 16], np.int32)),
        T((1, 16), "int8", *hidden), T(rows.shape, "int8", 0.013, data=rows),
        T((3,), "int32", 0.2 * 0.013, data=sums[2]), T((1, 3), "int8", 0.31, 7), T((1, 3), "int8", 1 / 256, -128),
    ]  # fmt: skip
    one = [(1, "i", 1), (2, "i", 1)]
    ops = [
        Op("VAR_HANDLE", [], [1], [(1, "s", "frames")]), Op("READ_VARIABLE", [1], [2]),
        Op("CONCATENATION", [2, 0], [3], [(0, "i", 1)]), Op("STRIDED_SLICE", [3, 4, 5, 6], [7]),
        Op("ASSIGN_VARIABLE", [1, 7], []), Op("DEPTHWISE_CONV_2D", [3, 8, 9], [10], [(0, "b", 1), *one, (3, "i", 1)]),
        Op("CONV_2D", [10, 11, 12], [13], [(0, "b", 1), *one, (3, "b", 1)]), Op("RESHAPE", [13, 14], [15]),
        Op("FULLY_CONNECTED", [15, 16, 17], [18]), Op("LOGISTIC", [18], [19]),
    ]  # fmt: skip
    return written(G(tensors, ops, [0], [19]))
