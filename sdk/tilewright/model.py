"""The network between the stages: typed tensors, nodes and constants, all frozen.

`frontend` makes a `Model`, `passes` rewrite it into another, `binding` reads it. Shapes are static. A tensor with a
`quantisation` holds codes `q` that stand for the real values `scale * (q - zero_point)`; operators on such tensors
compute integers (see `ops/requantize.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from math import prod
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Attribute = int | float | str | bytes | tuple[int, ...] | tuple[float, ...] | tuple[str, ...] | Array
Shape = tuple[int, ...]


class DType(Enum):
    """Element types. The value is the name that reports and `types=` declarations use."""

    F16 = "f16"
    BF16 = "bf16"
    F32 = "f32"
    F64 = "f64"
    I4 = "i4"
    U4 = "u4"
    I8 = "i8"
    U8 = "u8"
    I16 = "i16"
    U16 = "u16"
    I32 = "i32"
    U32 = "u32"
    I64 = "i64"
    U64 = "u64"
    BOOL = "bool"

    @cached_property
    def bits(self) -> int:
        """Bits of one element in memory; four-bit types are packed two to a byte, low nibble first."""
        return 8 if self is DType.BOOL else int(self.value.lstrip("bfiu"))

    @property
    def numpy(self) -> np.dtype[np.generic]:
        """The NumPy type that holds one element; four-bit types are held in eight bits."""
        if self is DType.BF16:
            import ml_dtypes  # NumPy has no such type of its own

            dtype: np.dtype[np.generic] = np.dtype(ml_dtypes.bfloat16)
            return dtype
        return np.dtype(_NUMPY[self])

    @property
    def is_float(self) -> bool:
        """True for floating-point types."""
        return self in (DType.F16, DType.BF16, DType.F32, DType.F64)

    @property
    def is_signed(self) -> bool:
        """True for types that hold negative numbers."""
        return self.is_float or self.value[0] == "i"

    @property
    def range(self) -> tuple[int, int]:
        """Smallest and largest value of an integer type."""
        if self is DType.BOOL:
            return 0, 1
        return (-(1 << self.bits - 1), (1 << self.bits - 1) - 1) if self.is_signed else (0, (1 << self.bits) - 1)

    @staticmethod
    def of(dtype: npt.DTypeLike) -> DType:
        """The type of a NumPy array's elements; KeyError for one that has no counterpart."""
        numpy_type = np.dtype(dtype)
        return DType.BF16 if numpy_type.name == "bfloat16" else _FROM_NUMPY[numpy_type]


_NUMPY: dict[DType, str] = {
    DType.F16: "float16", DType.F32: "float32", DType.F64: "float64",
    DType.I4: "int8", DType.U4: "uint8", DType.I8: "int8", DType.U8: "uint8", DType.I16: "int16", DType.U16: "uint16",
    DType.I32: "int32", DType.U32: "uint32", DType.I64: "int64", DType.U64: "uint64", DType.BOOL: "bool",
}  # fmt: skip
_FROM_NUMPY = {np.dtype(name): dtype for dtype, name in _NUMPY.items() if dtype not in (DType.I4, DType.U4)}


def restored(array: Array) -> Array:
    """An array from a .npy or .npz file with its type: NumPy writes the elements of bfloat16 as two nameless bytes."""
    return array.view(DType.BF16.numpy) if array.dtype == np.dtype("V2") else array


Numerics = Literal["exact", "tflm"]
"""How real numbers become codes: correctly rounded, or as TensorFlow Lite Micro does (`ops/quantised/twice.py`)."""


@dataclass(frozen=True)
class Quantisation:
    """`real = scale * (code - zero_point)`, one pair or one pair per index of `axis`. Scales are float32 values.

    `numerics` says how operators make such codes.
    """

    scale: tuple[float, ...]
    zero_point: tuple[int, ...]
    axis: int | None = None
    numerics: Numerics = "exact"


@dataclass(frozen=True)
class Length:
    """How many elements of a tensor along `axis` the data made; the rest up to its shape is padding.

    `count` names the tensor of one int64 that says it.
    """

    axis: int
    count: str


@dataclass(frozen=True)
class Tensor:
    """Name, element type and static shape of a value that flows through the network.

    `lengths` are the axes of which data decides the length: their extent in `shape` is the most there can be.
    `tells_end` marks an output that no file has: whether a loop ended at its bound though data asks for more turns.
    `kept`: where channels that never change were left out, the indices of the file's axis 1 that are held, else empty.
    """

    name: str
    dtype: DType
    shape: Shape
    quantisation: Quantisation | None = None
    lengths: tuple[Length, ...] = ()
    tells_end: bool = False
    kept: tuple[int, ...] = ()

    @property
    def elements(self) -> int:
        """Number of elements; 1 for a scalar."""
        return prod(self.shape)

    @property
    def size_bytes(self) -> int:
        """Bytes in memory, four-bit types packed."""
        return -(-self.elements * self.dtype.bits // 8)

    @property
    def type_token(self) -> str:
        """The token that a kernel's `types=` uses: `f32`, `i64`, ...; `qi8`, `qu8`, ... where quantised."""
        return ("q" if self.quantisation else "") + self.dtype.value


@dataclass(frozen=True)
class Clamp:
    """A fused activation: the real result is limited to [low, high], -inf and inf mean no limit. Relu is (0, inf).

    ValueError where the limits cross or one is NaN: whoever makes it has to say what such limits mean.
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise ValueError(f"[{self.low}, {self.high}] is no range")


@dataclass(frozen=True)
class Node:
    """One operator call. `inputs` hold tensor names, "" for an omitted optional input.

    `part_of` names the node that this one computes a part of, where that one is computed by several.
    """

    name: str
    op: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    domain: str = ""
    clamp: Clamp | None = None
    part_of: str = ""


@dataclass(frozen=True)
class Part:
    """A box of a state in the file: [low, high) along every axis of `shape`, in the pair `past` and `present`."""

    past: str
    present: str
    shape: Shape
    low: Shape
    high: Shape

    @property
    def box(self) -> tuple[slice, ...]:
        """The box as indices."""
        return tuple(slice(low, high) for low, high in zip(self.low, self.high, strict=True))

    def of(self, whole: Array) -> Array:
        """The box of a value of the state in the file."""
        return whole[self.box]


@dataclass(frozen=True)
class Window:
    """A state that holds `older` entries of `axis` more than the one in the file, the pair `past` and `present`.

    They are the oldest ones of the call before: behind all others where `newest_first`, else in front of them.
    """

    past: str
    present: str
    axis: int
    older: int
    newest_first: bool

    def of(self, held: Array) -> Array:
        """What the file has of a value of the state."""
        return self._cut(held, 0, -self.older) if self.newest_first else self._cut(held, self.older, None)

    def first(self, value: Array) -> Array:
        """The state before the first call, from that of the file."""
        if self.newest_first:
            return np.concatenate([value, self._cut(value, -self.older, None)], self.axis)
        return np.concatenate([self._cut(value, 0, self.older), value], self.axis)

    def after(self, before: Array, value: Array) -> Array:
        """The state behind a call, from those of the file before and behind it."""
        if self.newest_first:
            return np.concatenate([self._cut(value, 0, self.older), before], self.axis)
        return np.concatenate([before, self._cut(value, -self.older, None)], self.axis)

    def _cut(self, value: Array, low: int, high: int | None) -> Array:
        return value[(slice(None),) * self.axis + (slice(low, high),)]


@dataclass(frozen=True)
class State:
    """An input and an output of equal type and shape that are one tensor between calls.

    `initial` is what the first call reads, in the element type that the file gives the input; None for zeros. A state
    that is a `part` of one in the file says of which, and where; axes of one index may be missing in its own shape. One
    that is a wider `window` than that of the file says by what.
    """

    past: str
    present: str
    initial: Array | None = field(default=None, compare=False)
    part: Part | None = None
    window: Window | None = None

    @property
    def in_file(self) -> tuple[str, str]:
        """The input and the output as the file names them."""
        of = self.part or self.window
        return (self.past, self.present) if of is None else (of.past, of.present)


@dataclass(frozen=True)
class StreamedTensor:
    """An input or output of a streaming network: `frames` a call along `axis`. Frame u of all that calls have given is
    frame `u - delay` of the whole sequence, and equal to it from that one's frame `settled` on."""

    name: str
    axis: int
    frames: int
    delay: int
    settled: int


@dataclass(frozen=True)
class Stream:
    """What makes a network over a sequence of `length` frames one that is given some of them a call."""

    length: int
    inputs: tuple[StreamedTensor, ...]
    outputs: tuple[StreamedTensor, ...]


@dataclass(frozen=True)
class Model:
    """A network: nodes in topological order, every tensor by name, constants by name.

    `constants` hold values of the tensor's own element type and shape. `name` is a valid C identifier.
    `opset` is the version of the default domain after normalisation. `notes` are sentences about what the frontend
    chose for the user, e.g. a batch size. `states` are pairs of `inputs` and `outputs` that the caller never sees.
    `stream` says what a streaming network is of the whole sequence, None where the network is as in the file.
    `numerics` is what lowering gives to the quantisation of its tensors; `unlike` are results that TensorFlow Lite
    Micro computes in another way than the nodes say, each with a word of `tflite/unlike.py`.
    """

    name: str
    nodes: tuple[Node, ...]
    tensors: Mapping[str, Tensor]
    constants: Mapping[str, Array]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    opset: int
    sha256: str = ""
    quantisation_form: str = ""
    notes: tuple[str, ...] = ()
    states: tuple[State, ...] = ()
    stream: Stream | None = None
    numerics: Numerics = "exact"
    unlike: tuple[tuple[str, str], ...] = ()

    @property
    def given(self) -> tuple[str, ...]:
        """The inputs that a caller gives: those that are no state."""
        past = {state.past for state in self.states}
        return tuple(name for name in self.inputs if name not in past)

    @property
    def results(self) -> tuple[str, ...]:
        """The outputs that a caller gets: those that are no state."""
        present = {state.present for state in self.states}
        return tuple(name for name in self.outputs if name not in present)

    def replace(
        self,
        *,
        nodes: tuple[Node, ...] | None = None,
        tensors: Mapping[str, Tensor] | None = None,
        constants: Mapping[str, Array] | None = None,
        outputs: tuple[str, ...] | None = None,
        inputs: tuple[str, ...] | None = None,
        states: tuple[State, ...] | None = None,
    ) -> Model:
        """A copy with some parts changed; tensors and constants that nothing refers to any more are dropped."""
        nodes = self.nodes if nodes is None else nodes
        tensors = self.tensors if tensors is None else tensors
        constants = self.constants if constants is None else constants
        outputs = self.outputs if outputs is None else outputs
        inputs = self.inputs if inputs is None else inputs
        states = self.states if states is None else states
        used = {*inputs, *outputs}
        for node in nodes:
            used.update(node.inputs)
            used.update(node.outputs)
        return replace(
            self,
            nodes=nodes,
            inputs=inputs,
            outputs=outputs,
            states=states,
            tensors={name: tensor for name, tensor in tensors.items() if name in used},
            constants={name: value for name, value in constants.items() if name in used},
        )

    def consumers(self) -> dict[str, list[Node]]:
        """For every tensor name the nodes that read it, in order; a node that reads it twice stands once."""
        consumers: dict[str, list[Node]] = {name: [] for name in self.tensors}
        for node in self.nodes:
            for name in dict.fromkeys(node.inputs):
                if name:
                    consumers[name].append(node)
        return consumers

    def producers(self) -> dict[str, Node]:
        """For every tensor name that a node writes, that node."""
        return {name: node for node in self.nodes for name in node.outputs if name}
