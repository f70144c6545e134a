"""A TensorFlow Lite file as frozen values, all of it checked before anything is built of it."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, prod

import numpy as np

from tilewright.errors import ModelError, UnsupportedError
from tilewright.model import Array, DType, Shape
from tilewright.tflite import schema
from tilewright.tflite.flatbuffer import Integer, Real, Table, damaged

PART_LIMIT = 30_000  # of each kind
CONSTANTS_LIMIT_BYTES = 900 * 1024 * 1024
RANK_LIMIT = 8
NAME_BYTES = 512


@dataclass(frozen=True)
class Scales:
    """`real = scale * (code - zero_point)`: one pair, or one for each index of `axis`; scales are float32."""

    scale: Array
    zero_point: Array
    axis: int

    @property
    def single(self) -> bool:
        """True for one pair."""
        return self.scale.size == 1


@dataclass(frozen=True)
class FileTensor:
    """A tensor of a subgraph. `dtype` is None for handles of variables; `data` holds the value of a constant.

    `variable` is what the interpreter keeps from call to call, at first zeros.
    """

    name: str
    dtype: DType | None
    shape: Shape
    data: Array | None
    scales: Scales | None
    variable: bool

    @property
    def elements(self) -> int:
        """Number of elements."""
        return prod(self.shape)


@dataclass(frozen=True)
class FileOperator:
    """One operator: its name in the schema, or that of a custom one; -1 stands for an omitted tensor.

    `custom_options` are the bytes that a custom one was written with, FlexBuffers as a rule.
    """

    name: str
    custom: bool
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    options: Table | None
    place: int
    custom_options: bytes = b""

    def integer(self, field: Integer) -> int:
        """A number of its options."""
        return field.default if self.options is None else self.options.integer(field)

    def real(self, field: Real) -> float:
        """A real number of its options; ModelError for NaN and infinity."""
        number = field.default if self.options is None else self.options.real(field)
        if not isfinite(number):
            raise self.damaged(f"an option is {number}")
        return number

    def text(self, slot: int) -> str:
        """A string of its options."""
        return "" if self.options is None else self.options.text(slot, NAME_BYTES)

    def axis(self, number: int, rank: int) -> int:
        """An axis that may count from the end, from the front; ModelError where there is none."""
        if not -rank <= number < rank:
            raise self.damaged(f"axis {number} is none of {rank}")
        return number % rank

    def damaged(self, why: str) -> ModelError:
        """The error for an operator that contradicts itself."""
        return ModelError(f"operator '{self.label}' is damaged", why=why, fix="convert or download it again")

    @property
    def label(self) -> str:
        """How messages call it: an operator of this format has no name of its own."""
        return f"{self.name}_{self.place}"


@dataclass(frozen=True)
class Subgraph:
    """Tensors by index, operators in the order of execution."""

    tensors: tuple[FileTensor, ...]
    operators: tuple[FileOperator, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


@dataclass(frozen=True)
class Network:
    """The whole file; the first subgraph is the network."""

    subgraphs: tuple[Subgraph, ...]


def is_tflite(content: bytes) -> bool:
    """True for the bytes of a TensorFlow Lite file."""
    return content.startswith(schema.IDENTIFIER, schema.IDENTIFIER_OFFSET)


def read_network(content: bytes) -> Network:
    """The network in the bytes of a file; ModelError where they are damaged, UnsupportedError for sparse weights."""
    root = Table.root(content)
    buffers = root.tables(schema.ModelTable.BUFFERS, PART_LIMIT)
    codes = [_code(table) for table in root.tables(schema.ModelTable.OPERATOR_CODES, PART_LIMIT)]
    graphs = root.tables(schema.ModelTable.SUBGRAPHS, PART_LIMIT)
    if not graphs:
        raise damaged("it holds no graph")
    reader = _Reader(content, buffers)
    return Network(tuple(reader.subgraph(table, codes) for table in graphs))


def _code(table: Table) -> tuple[str, bool]:
    """(name, custom) of an operator code."""
    code = max(table.integer(schema.OperatorCodeTable.CODE), table.integer(schema.OperatorCodeTable.OLD_CODE))
    if not 0 <= code < len(schema.BUILTINS):
        return f"builtin {code}", False
    name = schema.BUILTINS[code]
    if name != schema.CUSTOM:
        return name, False
    return table.text(schema.OperatorCodeTable.CUSTOM_CODE, NAME_BYTES) or schema.CUSTOM, True


class _Reader:
    """Counts what it has read: parts may be named many times in a small file."""

    def __init__(self, content: bytes, buffers: tuple[Table, ...]) -> None:
        self.content, self.buffers = content, buffers
        self.parts = self.constants_bytes = 0

    def subgraph(self, table: Table, codes: list[tuple[str, bool]]) -> Subgraph:
        slots = schema.SubGraphTable
        tensors = tuple(self._tensor(entry, index) for index, entry in enumerate(self._tables(table, slots.TENSORS)))
        operators = tuple(
            _operator(entry, codes, place) for place, entry in enumerate(self._tables(table, slots.OPERATORS))
        )
        inputs, outputs = (tuple(table.array(slot, np.int32).tolist()) for slot in (slots.INPUTS, slots.OUTPUTS))
        for indices in (inputs, outputs):
            _check_indices(indices, len(tensors), "the graph", lowest=0)
        for operator in operators:
            self.parts += len(operator.inputs) + len(operator.outputs)
            _check_indices(operator.inputs, len(tensors), operator.label, lowest=-1)
            _check_indices(operator.outputs, len(tensors), operator.label, lowest=0)
        self._count(len(inputs) + len(outputs))
        return Subgraph(tensors, operators, inputs, outputs)

    def _tables(self, table: Table, slot: int) -> tuple[Table, ...]:
        tables = table.tables(slot, PART_LIMIT)
        self._count(len(tables))
        return tables

    def _count(self, parts: int) -> None:
        self.parts += parts
        if self.parts > 10 * PART_LIMIT:
            raise damaged(f"it has more than {10 * PART_LIMIT} parts")

    def _tensor(self, table: Table, index: int) -> FileTensor:
        slots = schema.TensorTable
        name = table.text(slots.NAME, NAME_BYTES) or f"tensor_{index}"
        if table.has(slots.SPARSITY):
            raise UnsupportedError(
                f"tensor '{name}' has sparse weights", why="only dense weights are read",
                fix="convert the network without sparse encoding", tensor=name,
            )  # fmt: skip
        extents = table.array(slots.SHAPE, np.int32)
        if extents.size > RANK_LIMIT or (extents < 0).any():
            raise _wrong(name, f"its shape {extents[:RANK_LIMIT].tolist()} makes no sense")
        shape = tuple(extents.tolist())
        kind = table.integer(slots.TYPE)
        if kind in schema.OTHER_TYPES and kind != schema.RESOURCE:
            why = f"elements of type {schema.OTHER_TYPES[kind]} are not supported"
            raise UnsupportedError(f"tensor '{name}' cannot be read", why=why, fix="use numbers", tensor=name)
        if kind not in schema.ELEMENT_TYPES and kind != schema.RESOURCE:
            raise _wrong(name, f"there is no element type {kind}")
        dtype = schema.ELEMENT_TYPES.get(kind)
        data = None if dtype is None else self._data(table.integer(slots.BUFFER), name, dtype, shape)
        scales = _scales(table.table(slots.QUANTIZATION), name, shape)
        return FileTensor(name, dtype, shape, data, scales, bool(table.integer(slots.IS_VARIABLE)))

    def _data(self, buffer: int, name: str, dtype: DType, shape: Shape) -> Array | None:
        if buffer >= len(self.buffers):
            raise _wrong(name, f"there is no buffer {buffer}")
        table, slots = self.buffers[buffer], schema.BufferTable
        held = table.array(slots.DATA, np.uint8)
        offset, size = table.integer(slots.OFFSET), table.integer(slots.SIZE)
        if not held.size and offset > 1:
            if offset + size > len(self.content):
                raise _wrong(name, f"its {size} bytes at offset {offset} lie outside of the file")
            held = np.frombuffer(self.content, np.uint8, size, offset)
        if not held.size:
            return None
        needed = -(-prod(shape) * dtype.bits // 8)
        if held.size != needed:
            raise _wrong(name, f"its shape {list(shape)} takes {needed} bytes, its buffer has {held.size}")
        self.constants_bytes += prod(shape) * max(dtype.bits // 8, 1)
        if self.constants_bytes > CONSTANTS_LIMIT_BYTES:
            raise damaged(f"its constants take more than {CONSTANTS_LIMIT_BYTES} bytes")
        if dtype.bits == 4:
            return _nibbles(held, prod(shape)).reshape(shape)
        return np.frombuffer(held.tobytes(), dtype.numpy.newbyteorder("<")).astype(dtype.numpy).reshape(shape)


def _nibbles(held: Array, count: int) -> Array:
    """Signed numbers of four bits, the lower half of a byte first."""
    pairs = np.stack([held & 15, held >> 4], axis=1).reshape(-1)[:count].astype(np.int8)
    return np.where(pairs > 7, pairs - 16, pairs).astype(np.int8)


def _operator(table: Table, codes: list[tuple[str, bool]], place: int) -> FileOperator:
    slots = schema.OperatorTable
    index = table.integer(slots.CODE_INDEX)
    if index >= len(codes):
        raise damaged(f"operator {place} has code {index}, there are {len(codes)}")
    inputs, outputs = (tuple(table.array(slot, np.int32).tolist()) for slot in (slots.INPUTS, slots.OUTPUTS))
    own = table.array(slots.CUSTOM_OPTIONS, np.uint8).tobytes()
    return FileOperator(*codes[index], inputs, outputs, table.table(slots.OPTIONS), place, own)


def _scales(table: Table | None, name: str, shape: Shape) -> Scales | None:
    if table is None:
        return None
    slots = schema.QuantizationTable
    scale, zero = table.array(slots.SCALE, np.float32), table.array(slots.ZERO_POINT, np.int64)
    if not scale.size:
        return None
    if table.integer(slots.DETAILS):
        raise UnsupportedError(
            f"tensor '{name}' has a quantisation of its own kind", why="only scales and zero points are read",
            fix="quantise it per tensor or per channel", tensor=name,
        )  # fmt: skip
    axis = 0 if len(shape) == 1 else table.integer(slots.AXIS)  # biases come with the axis of their weights
    if scale.size > 1 and (not 0 <= axis < len(shape) or shape[axis] != scale.size):
        raise _wrong(name, f"{scale.size} scales do not fit axis {axis} of its shape {list(shape)}")
    if zero.size not in (0, 1, scale.size):
        raise _wrong(name, f"{zero.size} zero points do not go with {scale.size} scales")
    if not (np.isfinite(scale).all() and (scale >= 0).all()):
        raise _wrong(name, "a scale is negative or no number")
    zeros = np.broadcast_to(zero if zero.size else np.zeros(1, np.int64), scale.shape)
    return Scales(scale.astype(np.float32), zeros.astype(np.int64), axis)


def _check_indices(indices: tuple[int, ...], count: int, what: str, lowest: int) -> None:
    for index in indices:
        if not lowest <= index < count:
            raise damaged(f"{what} names tensor {index} of {count}")


def _wrong(name: str, why: str) -> ModelError:
    return ModelError(f"tensor '{name}' is damaged", why=why, fix="convert or download it again", tensor=name)
