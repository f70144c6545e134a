"""What the families write with: ONNX nodes between the tensors of a file, real numbers between codes.

TensorFlow Lite's images are [batch, row, column, channel], ONNX's [batch, channel, row, column]. A tensor is written in
the order in which it is computed; the other order is a Transpose that is written once, when somebody first reads it.
What computes element by element stays in the order of its operands, so that a chain of layers has none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.errors import ModelError, UnsupportedNode
from tilewright.model import Array, DType, Shape
from tilewright.tflite.file import PART_LIMIT, FileOperator, FileTensor, Network, Scales, Subgraph
from tilewright.tflite.origin import Origin
from tilewright.tflite.schema import Activation

if TYPE_CHECKING:
    import onnx

QUANTISED = (DType.I4, DType.I8, DType.U8, DType.I16)
WHOLE_LIMITS = (-2147483648.0, 2147483520.0)
"""The least and the largest float32 that is a number of 32 bits."""


class Writer:
    """The ONNX graph so far, and which of its names hold the tensors of a subgraph of the file, the first by default.

    A graph inside of another, `outer`, has names that nobody else has, and its constants stand outside.
    """

    def __init__(self, network: Network, place: int = 0, outer: Writer | None = None) -> None:
        self.network, self.graph = network, network.subgraphs[place]
        self.nodes: list[onnx.NodeProto] = []
        self.initialisers: list[onnx.TensorProto] = [] if outer is None else outer.initialisers
        self.taken: set[str] = set() if outer is None else outer.taken
        self.path: tuple[int, ...] = (place,) if outer is None else (*outer.path, place)
        self.inside = "" if outer is None else f"{outer.label}/"
        self.left: list[int] = [PART_LIMIT] if outer is None else outer.left
        self.left[0] -= len(self.graph.operators) + len(self.graph.tensors)
        if outer is not None and self.left[0] < 0:
            raise ModelError("the TensorFlow Lite file is damaged", why="its graphs name one another too often")
        self.label: str = ""  # of the operator that is written
        self.names = ["" if tensor.dtype is None else self.fresh(tensor.name) for tensor in self.graph.tensors]
        self.reals: dict[tuple[int, bool], str] = {}
        self.coded: dict[int, str] = {}
        self.variables: dict[int, str] = {}
        self.assigned: dict[str, int] = {}
        self.first_values: dict[str, Array] = {}
        self.states: dict[str, KeptState] = {}
        self.next: dict[str, str] = {}
        self.unlike: dict[str, str] = {}
        self.origins: dict[int, Origin] = {}

    # ------------------------------------------------------------------------------------------------ names, nodes
    def fresh(self, wanted: str) -> str:
        """`wanted`, with a number where it is taken."""
        name, count = wanted, 1
        while name in self.taken:
            count += 1
            name = f"{wanted}_{count}"
        self.taken.add(name)
        return name

    def constant(self, wanted: str, value: Array, dtype: DType | None = None) -> str:
        """A new initialiser."""
        from onnx import TensorProto, helper, numpy_helper

        name = self.fresh(wanted if "/" in wanted else f"{self.label}/{wanted}")
        if dtype is DType.I4:
            flat = np.ascontiguousarray(value).reshape(-1)
            self.initialisers.append(helper.make_tensor(name, TensorProto.INT4, value.shape, flat.tolist()))
        else:
            self.initialisers.append(numpy_helper.from_array(np.array(value, order="C"), name))
        return name

    def op(self, kind: str, *inputs: str, name: str = "", **attributes: Any) -> str:
        """A node with one result; its name."""
        return self.ops(kind, inputs, [self.fresh(name or f"{self.label}/{kind.lower()}")], attributes)[0]

    def ops(self, kind: str, inputs: Sequence[str], outputs: Sequence[str], attributes: Mapping[str, Any]) -> list[str]:
        """A node with results of these names."""
        from onnx import helper

        label = self.fresh(f"{self.label or outputs[0]}/{kind}")
        self.nodes.append(helper.make_node(kind, list(inputs), list(outputs), label, **attributes))
        return list(outputs)

    def numbers(self, wanted: str, values: Sequence[int]) -> str:
        """A constant vector of int64."""
        return self.constant(wanted, np.asarray(values, np.int64))

    # ------------------------------------------------------------------------------------------------ what is read
    def tensor(self, index: int) -> FileTensor:
        """A tensor of the graph."""
        return self.graph.tensors[index]

    def value(self, index: int, first: bool = False) -> str:
        """The name of a tensor's real numbers, or of its integers where it has no scale.

        `first` asks for channels before rows and columns, which makes sense for three axes and more.
        """
        tensor = self.tensor(index)
        if tensor.dtype is None:
            raise ModelError(f"tensor '{tensor.name}' is no value", why="it is the handle of a variable")
        first = first and len(tensor.shape) >= 3
        if (index, first) not in self.reals:
            if (index, not first) in self.reals:
                self._turn(index, first)
            elif tensor.data is not None:
                self._constant(index, first)
            else:
                raise ModelError(
                    f"tensor '{tensor.name}' is read before anything writes it",
                    why="operators stand in the order of execution", fix="convert the network again",
                )  # fmt: skip
        return self.reals[index, first]

    def codes(self, index: int) -> str:
        """The name of a tensor as the file holds it: its codes where it has a scale."""
        tensor = self.tensor(index)
        if tensor.scales is None or tensor.dtype not in QUANTISED or index in self.coded:
            return self.coded.get(index) or self.value(index)
        if tensor.data is not None:
            return self.constant(f"{self.names[index]}/codes", tensor.data, tensor.dtype)
        name = self.fresh(f"{self.names[index]}/codes")
        self.coded[index] = self._quantised(name, index, self.value(index))
        return name

    def channels_first(self, indices: Sequence[int]) -> bool:
        """True where every computed operand is held with its channels first already."""
        computed = [index for index in indices if self.tensor(index).data is None]
        ranks = {len(self.tensor(index).shape) for index in computed}
        return bool(computed) and len(ranks) == 1 and all((index, True) in self.reals for index in computed)

    def together(self, operator: FileOperator) -> tuple[list[str], bool]:
        """The operands of what computes element by element, in one order of axes; True where channels come first."""
        indices = [index for index in operator.inputs if index >= 0]
        rank = len(self.tensor(operator.outputs[0]).shape)
        ranks = {len(self.tensor(index).shape) for index in indices if self.tensor(index).data is None}
        first = rank >= 3 and ranks == {rank} and self.channels_first(indices)
        return [self._aligned(index, rank) if first else self.value(index) for index in indices], first

    def _aligned(self, index: int, rank: int) -> str:
        """An operand with its channels first; a constant of fewer axes gets axes of one before them."""
        tensor = self.tensor(index)
        if tensor.data is None or len(tensor.shape) == rank or not tensor.shape:
            return self.value(index, first=True)
        missing = rank - len(tensor.shape)
        value = tensor.data.reshape((1,) * missing + tensor.shape).transpose(to_first(rank))
        axis = 0 if tensor.scales is None else first_axis(tensor.scales.axis + missing, rank)
        return self.parameters(index, value, axis)

    def known(self, operator: FileOperator, place: int, what: str) -> list[int]:
        """The numbers of a constant operand; UnsupportedNode where it is computed at run time."""
        index = operand(operator, place)
        data = self.tensor(index).data if index >= 0 else None
        if data is None:
            raise UnsupportedNode(
                f"operator '{operator.label}': {what} are no constant" if what.endswith("s") else
                f"operator '{operator.label}': {what} is no constant",
                why="code without a heap needs sizes before it runs", fix="convert the network with constants there",
                node=operator.label,
            )  # fmt: skip
        return [int(number) for number in data.reshape(-1).tolist()]

    def is_real(self, index: int) -> bool:
        """True for real numbers: floats, and codes with a scale."""
        tensor = self.tensor(index)
        return tensor.scales is not None or tensor.dtype is None or tensor.dtype.is_float

    def _turn(self, index: int, first: bool) -> None:
        rank = len(self.tensor(index).shape)
        order = to_first(rank) if first else to_last(rank)
        name = self.fresh(f"{self.names[index]}/{'channels_first' if first else 'channels_last'}")
        self.reals[index, first] = self.op("Transpose", self.reals[index, not first], name=name, perm=order)

    def _constant(self, index: int, first: bool) -> None:
        tensor = self.tensor(index)
        assert tensor.data is not None, tensor.name
        value = tensor.data.transpose(to_first(tensor.data.ndim)) if first else tensor.data
        axis = 0 if tensor.scales is None else tensor.scales.axis
        axis = to_first(tensor.data.ndim).index(axis) if first and axis < tensor.data.ndim else axis
        self.reals[index, first] = self.parameters(index, value, axis)

    def parameters(self, index: int, value: Array, axis: int, scales: Scales | None = None) -> str:
        """The real numbers of constant codes that were brought into another shape; scales count `axis`."""
        tensor = self.tensor(index)
        scales = scales or tensor.scales
        assert tensor.dtype is not None, tensor.name
        codes = self.constant(f"{self.names[index]}/value", value, tensor.dtype)
        if scales is None or tensor.dtype not in (*QUANTISED, DType.I32):
            return codes
        return self.dequantised(codes, scales, tensor.dtype, axis, tensor.name)

    def whole_parameters(self, index: int, codes: Array, scales: Scales) -> str:
        """Constant codes of 32 bits under scales that are not the tensor's own."""
        name = self.constant(f"{self.names[index]}/codes", codes)
        return self.dequantised(name, scales, DType.I32, what=self.tensor(index).name)

    def dequantised(self, codes: str, scales: Scales, dtype: DType, axis: int = 0, what: str = "") -> str:
        """A DequantizeLinear of codes."""
        if not (scales.scale > 0).all():
            raise ModelError(f"tensor '{what}' is damaged", why="a scale is zero", fix="convert it again", tensor=what)
        operands = [self.constant(f"{codes}/scale", scales.scale.reshape(() if scales.single else (-1,)))]
        zero = scales.zero_point.reshape(() if scales.single else (-1,))
        low, high = dtype.range
        if (zero < low).any() or (zero > high).any():
            raise ModelError(f"tensor '{what}' is damaged", why="a zero point is not a code", tensor=what)
        if dtype is not DType.I32:
            operands.append(self.constant(f"{codes}/zero_point", zero.astype(dtype.numpy), dtype))
        attributes = {} if scales.single else {"axis": axis}
        return self.op("DequantizeLinear", codes, *operands, name=f"{codes}/real", **attributes)

    # --------------------------------------------------------------------------------------------- what is written
    def define(self, index: int, real: str, first: bool = False, activation: int = Activation.NONE) -> None:
        """Let `real` hold the numbers of a tensor, behind a fused activation, and as codes where it has scales."""
        tensor = self.tensor(index)
        first = first and len(tensor.shape) >= 3
        real = self.activated(real, activation, tensor.name)
        if tensor.scales is not None and tensor.dtype in QUANTISED:
            if not tensor.scales.single:
                raise UnsupportedNode(
                    f"tensor '{tensor.name}' is computed and has {tensor.scales.scale.size} scales",
                    why="only constants have a scale for each channel", fix="quantise it per tensor",
                )  # fmt: skip
            assert tensor.dtype is not None, tensor.name
            scale = self.constant(f"{self.names[index]}/scale", tensor.scales.scale.reshape(()))
            zero = tensor.scales.zero_point.astype(tensor.dtype.numpy).reshape(())
            point = self.constant(f"{self.names[index]}/zero_point", zero)
            name = f"{self.names[index]}/{'codes_first' if first else 'codes'}"
            codes = self.op("QuantizeLinear", real, scale, point, name=name)
            if not first or len(tensor.shape) < 3:
                self.coded[index] = codes
            real = self.op("DequantizeLinear", codes, scale, point, name=f"{name}/real")
        self.reals[index, first] = real

    def define_codes(self, index: int, codes: str) -> None:
        """Let these be a tensor as the file holds it."""
        tensor = self.tensor(index)
        self.reals[index, False] = codes
        if tensor.scales is not None and tensor.dtype in (*QUANTISED, DType.I32):
            self.coded[index] = codes
            self.reals[index, False] = self.dequantised(codes, tensor.scales, tensor.dtype, what=tensor.name)

    def define_whole(self, index: int, real: str) -> None:
        """Let codes of 32 bits with one scale and no zero point be a tensor: ONNX has no QuantizeLinear of these."""
        tensor = self.tensor(index)
        assert tensor.scales is not None, tensor.name
        steps = self.op("Round", self.op("Div", real, self.constant("scale", tensor.scales.scale.reshape(()))))
        limits = [self.constant("limit", np.asarray(limit, np.float32)) for limit in WHOLE_LIMITS]
        self.coded[index] = self.cast(self.op("Clip", steps, *limits), index)
        self.reals[index, False] = self.dequantised(self.coded[index], tensor.scales, DType.I32, what=tensor.name)

    def activated(self, real: str, activation: int, what: str) -> str:
        """A real number behind a fused activation."""
        match activation:
            case Activation.NONE:
                return real
            case Activation.RELU:
                return self.op("Relu", real, name=f"{real}/relu")
            case Activation.TANH:
                return self.op("Tanh", real, name=f"{real}/tanh")
            case Activation.RELU6 | Activation.RELU_N1_TO_1:
                low, high = (0.0, 6.0) if activation == Activation.RELU6 else (-1.0, 1.0)
                limits = [self.constant(f"{real}/limit", np.asarray(limit, np.float32)) for limit in (low, high)]
                return self.op("Clip", real, *limits, name=f"{real}/limited")
        raise UnsupportedNode(
            f"tensor '{what}' has the fused activation {activation}", why="it is none of Relu, Relu6 and Tanh",
            fix="convert the network with an activation of its own",
        )  # fmt: skip

    def given(self, index: int, name: str) -> None:
        """An input of the graph or the first value of a variable, under `name`: codes where the tensor has scales."""
        tensor = self.tensor(index)
        if tensor.scales is not None and tensor.dtype in (*QUANTISED, DType.I32):
            if tensor.dtype is DType.I32 and tensor.scales.zero_point.any():
                raise UnsupportedNode(
                    f"tensor '{tensor.name}' holds codes of 32 bits with a zero point", why="ONNX has none",
                    fix="quantise it to 16 bits", tensor=tensor.name,
                )  # fmt: skip
            self.coded[index] = name
            self.reals[index, False] = self.dequantised(name, tensor.scales, tensor.dtype, what=tensor.name)
        else:
            self.reals[index, False] = name

    def reshape_defined(self, index: int, shape: Shape) -> None:
        """Give a tensor that was defined in another shape its own."""
        dims = self.numbers("shape", shape)
        self.reals[index, False] = self.op("Reshape", self.reals[index, False], dims)
        self.coded.pop(index, None)

    def cast(self, real: str, index: int) -> str:
        """A number in the element type of a tensor."""
        from onnx import helper

        dtype = self.tensor(index).dtype
        assert dtype is not None, index
        return self.op("Cast", real, to=helper.np_dtype_to_tensor_dtype(dtype.numpy))

    def coded_like(self, index: int, real: str) -> str:
        """A number that passes through the codes of a tensor, where that has a scale."""
        tensor = self.tensor(index)
        if tensor.scales is None or tensor.dtype not in QUANTISED:
            return real
        assert tensor.dtype is not None, tensor.name
        scale = self.constant("scale", tensor.scales.scale.reshape(-1)[:1].reshape(()))
        zero = self.constant("zero_point", tensor.scales.zero_point[:1].astype(tensor.dtype.numpy).reshape(()))
        return self.op("DequantizeLinear", self.op("QuantizeLinear", real, scale, zero), scale, zero)

    # -------------------------------------------------------------------------------- what lives from call to call
    def keep(self, wanted: str, index: int, initial: Array | None) -> KeptState:
        """Make a tensor one that the call before left: an input of the graph. Unassigned it holds zeros."""
        tensor = self.tensor(index)
        if tensor.dtype is None:
            raise ModelError(f"tensor '{tensor.name}' is no value", why="it is the handle of a variable")
        zero = 0 if tensor.scales is None else int(tensor.scales.zero_point[0])
        first = np.full(tensor.shape, zero, tensor.dtype.numpy) if initial is None else initial
        state = KeptState(self.fresh(wanted or tensor.name), index, first.reshape(tensor.shape))
        if state.initial.dtype != tensor.dtype.numpy:
            raise ModelError(f"tensor '{tensor.name}' is damaged", why="its first value is of another type")
        self.states[wanted] = state
        self.given(index, state.past)
        return state

    def keep_variable(self, index: int) -> None:
        """Make a variable tensor of the interpreter a state; what is written to it comes by `keep_next`."""
        if self.names[index] in self.states:
            raise UnsupportedNode(
                f"tensor '{self.tensor(index).name}' is the state of two operators", why="each must have its own",
                fix="convert the network again", tensor=self.tensor(index).name,
            )  # fmt: skip
        self.keep(self.names[index], index, None)

    def keep_next(self, index: int, real: str) -> None:
        """What a variable tensor holds behind the call."""
        self.next[self.names[index]] = real

    def result(self, index: int, name: str, real: str = "") -> None:
        """Write a node whose result has this name: the tensor as the file holds it, codes where it has scales."""
        tensor = self.tensor(index)
        real = real or self.value(index)
        if tensor.scales is not None and tensor.dtype in QUANTISED:
            self._quantised(name, index, real)
        elif tensor.scales is not None and index in self.coded:
            self.ops("Identity", (self.coded[index],), [name], {})
        else:
            self.ops("Identity", (real,), [name], {})

    def _quantised(self, name: str, index: int, real: str) -> str:
        """A real number as the codes of a tensor, under `name`."""
        tensor = self.tensor(index)
        assert tensor.scales is not None, tensor.name
        assert tensor.dtype is not None, tensor.name
        scale = self.constant(f"{name}/scale", tensor.scales.scale.reshape(-1)[:1].reshape(()))
        zero = self.constant(f"{name}/zero_point", tensor.scales.zero_point.astype(tensor.dtype.numpy).reshape(()))
        return self.ops("QuantizeLinear", (real, scale, zero), [name], {})[0]


@dataclass(frozen=True)
class KeptState:
    """A tensor that lives from call to call: the input that it becomes, and what the first call reads."""

    past: str
    index: int
    initial: Array


def to_first(rank: int) -> list[int]:
    """The order of axes that brings the last behind the first."""
    return [0, rank - 1, *range(1, rank - 1)]


def to_last(rank: int) -> list[int]:
    """The order of axes that brings the second to the end."""
    return [0, *range(2, rank), 1]


def first_axis(axis: int, rank: int) -> int:
    """Where an axis of a tensor with its channels last is in one with its channels first."""
    return to_first(rank).index(axis % rank)


def operand(operator: FileOperator, place: int) -> int:
    """The tensor of an operand, -1 where it is omitted."""
    return operator.inputs[place] if place < len(operator.inputs) else -1


def subgraph(network: Network, index: int) -> Subgraph:
    """A subgraph of the file; ModelError where it has none of this number."""
    if not 0 <= index < len(network.subgraphs):
        raise ModelError("the TensorFlow Lite file is damaged", why=f"there is no subgraph {index}")
    return network.subgraphs[index]
