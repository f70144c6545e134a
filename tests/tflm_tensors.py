"""Every tensor of codes of a TensorFlow Lite file against the wheel of TensorFlow Lite Micro, call after call.

    PYTHONPATH=tests python tests/tflm_tensors.py CALLS FILE...

prints one line a file. The network is held as it is lowered, where every layer of the file still stands, and as it is
planned, where some are one. Names tell which tensor of ours is which of the file, and its shape and scale must agree.
Where ours has fewer channels, each must be one of the file's, in their order, and all others must hold one code in all
calls, unless a depthwise layer follows, of whose result that is asked.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from tflm_codes import lowered, values_of
from tilewright.frontend.load import load
from tilewright.model import Array, DType, Model, Tensor
from tilewright.passes.quantise.known import require_known
from tilewright.passes.quantise.lower import lower
from tilewright.tflite.file import FileTensor, Subgraph, read_network
from tilewright.tflite.writer import Writer, to_first

READ, ASSIGN, HANDLE = "READ_VARIABLE", "ASSIGN_VARIABLE", "VAR_HANDLE"
DEPTHWISE = "DEPTHWISE_CONV_2D"
CALLED_AFTER = {"RESHAPE": False, "SQUEEZE": False, "EXPAND_DIMS": False, "MAX_POOL_2D": True}
"""Operators whose result is called after them, not after their tensor; whether it has its channels first."""


@dataclass(frozen=True)
class Held:
    """A tensor of ours by name, the one of the file by index, whether ours has its channels first, and the axis of its
    channels where it has fewer."""

    ours: str
    theirs: int
    first: bool = False
    fewer: int | None = None


@dataclass
class Channels:
    """Over all calls so far: which channels of ours were which of the file's, [ours, theirs]; which of the file's held
    one code, where that is asked of those that ours lacks, and the first code of each."""

    asked: bool
    equal: Array = field(default_factory=lambda: np.ones((1, 1), np.bool_))
    constant: Array = field(default_factory=lambda: np.ones(1, np.bool_))
    held: Array | None = None

    def see(self, ours: Array, theirs: Array, axis: int) -> None:
        """The codes of one call."""
        rows = [np.moveaxis(codes, axis, 0).reshape(codes.shape[axis], -1) for codes in (ours, theirs)]
        self.held = rows[1][:, :1] if self.held is None else self.held
        self.equal = self.equal & (rows[0][:, None] == rows[1][None]).all(axis=2)
        self.constant = self.constant & (rows[1] == self.held).all(axis=1)

    def differing(self) -> int:
        """Channels of ours that are none of the file's in order, and channels of the file that ours lacks and that
        differ."""
        place, found = 0, set[int]()
        for row in self.equal:
            same = np.flatnonzero(row[place:])
            if same.size:
                place += int(same[0]) + 1
                found.add(place - 1)
        lost = set(np.flatnonzero(~self.constant).tolist()) - found if self.asked else set[int]()
        return len(self.equal) - len(found) + len(lost)


@dataclass(frozen=True)
class Told:
    """What a comparison found: tensors of codes that are compared, all that the file computes, codes, and how many
    differ by the name of our tensor."""

    tensors: int
    computed: int
    codes: int
    differing: Mapping[str, int]


def as_lowered(content: bytes) -> Model:
    """The network in integers before any pass."""
    model = lower(replace(load(content), numerics="tflm"))
    require_known(model)
    return model


def compared(content: bytes, model: Model, calls: int, seed: int = 5) -> Told:
    """Drawn inputs, the same for both, over some calls; what the call before left is each side's own."""
    graph = read_network(content).subgraphs[0]
    pairs = [pair for pair in held(content, model) if pair.theirs not in graph.inputs]
    wheel, differing, codes = _Wheel(content), dict.fromkeys((pair.ours for pair in pairs), 0), 0
    deep = {index for operator in graph.operators if operator.name == DEPTHWISE for index in operator.inputs[:1]}
    parts = {pair.ours: Channels(pair.theirs not in deep) for pair in pairs if pair.fewer is not None}
    for given, values in over_calls(content, model, calls, seed):
        wheel.call(given)
        for pair in pairs:
            theirs = wheel.tensor(pair.theirs).reshape(graph.tensors[pair.theirs].shape)
            theirs = theirs.transpose(to_first(theirs.ndim)) if pair.first else theirs
            ours = values[pair.ours]
            codes += ours.size if pair.fewer is not None else theirs.size
            if pair.fewer is not None:
                parts[pair.ours].see(ours, theirs, pair.fewer)
            else:
                differing[pair.ours] += int((theirs != _end(ours, theirs.shape)).sum())
    differing |= {ours: channels.differing() for ours, channels in parts.items()}
    computed = {index for operator in graph.operators for index in operator.outputs if _coded(graph.tensors[index])}
    told = {ours: count for ours, count in differing.items() if count}
    return Told(len({pair.theirs for pair in pairs} & computed), len(computed), codes, told)


def over_calls(
    content: bytes, model: Model, calls: int, seed: int
) -> Iterator[tuple[list[Array], Mapping[str, Array]]]:
    """The inputs of each call and what every tensor holds behind it."""
    graph, rng, past = read_network(content).subgraphs[0], np.random.default_rng(seed), dict[str, Array]()
    for state in model.states:
        tensor = model.tensors[state.past]
        past[state.past] = np.zeros(tensor.shape, tensor.dtype.numpy) if state.initial is None else state.initial
    for _ in range(calls):
        given = [_drawn(rng, graph.tensors[index]) for index in graph.inputs]
        values = values_of(model, {**past, **dict(zip(model.given, given, strict=True))})
        yield given, values
        past = {state.past: values[state.present] for state in model.states}


def held(content: bytes, model: Model) -> list[Held]:
    """Which tensors of the model are which of the file: codes of 8 and 16 bits that are computed."""
    network = read_network(content)
    graph, names = network.subgraphs[0], Writer(network).names
    index_of = {names[index]: index for index, tensor in enumerate(graph.tensors) if _coded(tensor)}
    by_label = {op.label: op for op in graph.operators if op.name in CALLED_AFTER}
    pairs = list(_states(graph, model, names))
    for ours in [name for node in model.nodes for name in node.outputs]:
        parts = ours.split("/")
        stems = ["/".join(parts[:count]) for count in range(len(parts), 0, -1)]
        stem = next((stem for stem in stems if stem in index_of), "")
        called = by_label.get(parts[0])
        if stem:
            theirs, first = index_of[stem], "first" in ours.removeprefix(stem)
        elif called is not None:
            theirs, first = called.outputs[0], CALLED_AFTER[called.name]
        else:
            continue
        first = first and len(graph.tensors[theirs].shape) >= 3
        if _alike(model.tensors[ours], graph.tensors[theirs], first):
            pairs.append(Held(ours, theirs, first))
        elif (axis := _fewer(model.tensors[ours], graph.tensors[theirs], first)) is not None:
            pairs.append(Held(ours, theirs, first, axis))
    return pairs


def _states(graph: Subgraph, model: Model, names: list[str]) -> Iterator[Held]:
    """What the file reads of its variables and writes to them."""
    called = {op.outputs[0]: op.text(1) for op in graph.operators if op.name == HANDLE}
    for op in graph.operators:
        for state in model.states:
            if op.name == READ and called.get(op.inputs[0]) == state.past:
                yield Held(state.past, op.outputs[0])
            if op.name == ASSIGN and called.get(op.inputs[0]) == state.past:
                yield Held(state.present, op.inputs[1])
    for index, tensor in enumerate(graph.tensors):
        for state in model.states:
            if tensor.variable and state.past in (names[index], f"{names[index]}_2"):
                yield Held(state.present, index)


def _end(ours: Array, shape: tuple[int, ...]) -> Array:
    """A tensor in the shape of the file, of a state the last elements: it may hold the whole window, of which the file
    keeps all but the first."""
    if ours.ndim != len(shape):
        return ours.reshape(shape)
    return ours[tuple(slice(size - length, None) for size, length in zip(ours.shape, shape, strict=True))]


def _alike(ours: Tensor, theirs: FileTensor, first: bool) -> bool:
    shape = _shape(theirs, first)
    if shape != ours.shape and (first or _without_ones(shape) != _without_ones(ours.shape)):
        return False
    return _of_one_meaning(ours, theirs)


def _fewer(ours: Tensor, theirs: FileTensor, first: bool) -> int | None:
    """The axis of channels where ours has fewer of them and is alike in all else."""
    shape, axis = _shape(theirs, first), 1 if first else len(theirs.shape) - 1
    if len(shape) != len(ours.shape) or len(shape) < 2 or not 0 < ours.shape[axis] < shape[axis]:
        return None
    rest = [(a, b) for place, (a, b) in enumerate(zip(ours.shape, shape, strict=True)) if place != axis]
    return axis if all(a == b for a, b in rest) and _of_one_meaning(ours, theirs) else None


def _shape(theirs: FileTensor, first: bool) -> tuple[int, ...]:
    return tuple(theirs.shape[axis] for axis in to_first(len(theirs.shape))) if first else tuple(theirs.shape)


def _of_one_meaning(ours: Tensor, theirs: FileTensor) -> bool:
    if ours.quantisation is None or theirs.scales is None or theirs.dtype is not ours.dtype:
        return False
    scale, zero = ours.quantisation.scale[0], ours.quantisation.zero_point[0]
    return (scale, zero) == (float(theirs.scales.scale[0]), int(theirs.scales.zero_point[0]))


def _without_ones(shape: Sequence[int]) -> list[int]:
    return [length for length in shape if length != 1]


def _coded(tensor: FileTensor) -> bool:
    return tensor.scales is not None and tensor.dtype in (DType.I8, DType.I16) and tensor.data is None


def _drawn(rng: np.random.Generator, tensor: FileTensor) -> Array:
    assert tensor.dtype is not None, tensor.name
    if tensor.dtype.is_float:
        return np.asarray(rng.uniform(-1, 1, tensor.shape), np.float32)
    low, high = tensor.dtype.range
    return rng.integers(low, high + 1, tensor.shape).astype(tensor.dtype.numpy)


class _Wheel:
    """The interpreter of the wheel, which keeps what every tensor holds."""

    def __init__(self, content: bytes) -> None:
        runtime: Any = import_module("tflite_micro").runtime
        kept = runtime.InterpreterConfig.kPreserveAllTensors
        self.interpreter = runtime.Interpreter.from_bytes(content, arena_size=1 << 26, intrepreter_config=kept)

    def call(self, given: list[Array]) -> None:
        for index, value in enumerate(given):
            self.interpreter.set_input(value, index)
        self.interpreter.invoke()

    def tensor(self, index: int) -> Array:
        return np.asarray(self.interpreter.GetTensor(index, 0)["tensor_data"])


if __name__ == "__main__":
    for file in sys.argv[2:]:
        told = Path(file).read_bytes()
        found = [compared(told, form(told), int(sys.argv[1])) for form in (as_lowered, lowered)]
        for form, each in zip(("lowered", "planned"), found, strict=True):
            differ = sum(each.differing.values())
            print(f"{Path(file).name}, {form}: {each.tensors} of {each.computed} tensors, {each.codes} codes, "
                  f"{differ} differ {dict(each.differing)}")  # fmt: skip
