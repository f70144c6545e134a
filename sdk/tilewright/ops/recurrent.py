"""LSTM, GRU and RNN: all activations, directions, layouts, peepholes, clipping and sequence lengths."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tilewright.model import Array
from tilewright.ops.check import same_type
from tilewright.ops.facts import Reads, lengths
from tilewright.ops.operands import Arrays, given, maybe, needs_float, needs_index, needs_rank, result, wanted
from tilewright.ops.operator import Call, Kind, Operator, TensorType
from tilewright.ops.products import pairs
from tilewright.ops.torch import Torch

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
"""Rows of W per hidden unit: GRU z, r, h; LSTM i, o, f, c."""

Step = Callable[[Array], Array]
_DEFAULTS = {"RNN": ("Tanh",), "GRU": ("Sigmoid", "Tanh"), "LSTM": ("Sigmoid", "Tanh", "Tanh")}
_ACTIVATIONS: dict[str, tuple[Callable[[Array, float, float], Array], float | None, float | None]] = {
    "Relu": (lambda x, a, b: np.maximum(x, 0), None, None),
    "Tanh": (lambda x, a, b: np.asarray(np.tanh(x)), None, None),
    "Sigmoid": (lambda x, a, b: _sigmoid(x), None, None),
    "Affine": (lambda x, a, b: np.asarray(a * x + b), 1.0, 0.0),
    "LeakyRelu": (lambda x, a, b: np.where(x < 0, a * x, x), 0.01, None),
    "ThresholdedRelu": (lambda x, a, b: np.where(x > a, x, 0 * x), 1.0, None),
    "ScaledTanh": (lambda x, a, b: np.asarray(a * np.tanh(b * x)), 1.0, 1.0),
    "HardSigmoid": (lambda x, a, b: np.clip(a * x + b, 0, 1), 0.2, 0.5),
    "Elu": (lambda x, a, b: np.where(x < 0, a * np.expm1(np.minimum(x, 0)), x), 1.0, None),
    "Softsign": (lambda x, a, b: np.asarray(x / (1 + np.abs(x))), None, None),
    "Softplus": (lambda x, a, b: np.asarray(np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))), None, None),
}
"""The function and the defaults of alpha and beta; None where the function has no such parameter."""
_SLOPES: dict[str, Step] = {
    "Tanh": lambda x: 1 / np.cosh(np.minimum(np.abs(x), 300.0)) ** 2,
    "Sigmoid": lambda x: 0.25 / np.cosh(np.minimum(np.abs(x) / 2, 300.0)) ** 2,
}
"""The slopes that fall with the distance from zero."""


def _sigmoid(x: Array) -> Array:
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + small), small / (1 + small))


@dataclass(frozen=True)
class Activation:
    """One activation of a recurrent operator with its parameters."""

    name: str
    alpha: float
    beta: float

    def __call__(self, x: Array) -> Array:
        """The activation of `x`, in the type of `x`."""
        return np.asarray(_ACTIVATIONS[self.name][0](x, self.alpha, self.beta)).astype(x.dtype)

    @property
    def falling_slope(self) -> Step | None:
        """Its slope, where that falls with the distance from zero; None where it does not."""
        return _SLOPES.get(self.name)


@dataclass(frozen=True)
class Cell:
    """What a recurrent node computes: `directions` hold True for each that runs backwards; `clip` is 0 for none."""

    steps: int
    batch: int
    inputs: int
    hidden: int
    directions: tuple[bool, ...]
    activations: tuple[tuple[Activation, ...], ...]
    clip: float
    batch_first: bool


def cell(call: Call) -> Cell:
    """Sizes, directions and activations of a recurrent node; ModelError where they contradict one another."""
    op = call.node.op
    layout = call.integer("layout", 0)
    first, second, inputs = needs_rank(call, 0, 3, op)
    steps, batch = (second, first) if layout else (first, second)
    names = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}
    if (direction := call.text("direction", "forward")) not in names:
        raise call.invalid(f"direction '{direction}' is none of {', '.join(names)}")
    directions = names[direction]
    hidden = call.integer("hidden_size", call.shape(2)[-1] if call.shape(2) else None)
    if hidden < 1:
        raise call.invalid(f"hidden_size {hidden} is less than 1")
    read = Cell(
        steps,
        batch,
        inputs,
        hidden,
        directions,
        _activations(call, len(directions)),
        call.real("clip", 0.0),
        bool(layout),
    )
    _check_shapes(call, read)
    return read


def _check_shapes(call: Call, kind: Cell) -> None:
    count, rows = len(kind.directions), GATES[call.node.op] * kind.hidden
    state = (kind.batch, count) if kind.batch_first else (count, kind.batch)
    expected = {
        1: (count, rows, kind.inputs),
        2: (count, rows, kind.hidden),
        3: (count, 2 * rows),
        4: (kind.batch,),
        5: (*state, kind.hidden),
        6: (*state, kind.hidden),
        7: (count, 3 * kind.hidden),
    }
    for index, shape in expected.items():
        if (index < 3 or call.optional(index) is not None) and call.shape(index) != shape:
            raise call.invalid(f"'{call.tensor(index).name}' has the shape {call.shape(index)}, expected {shape}")


def _activations(call: Call, count: int) -> tuple[tuple[Activation, ...], ...]:
    default = _DEFAULTS[call.node.op]
    given_names = call.node.attributes.get("activations", default * count)
    if not isinstance(given_names, tuple) or len(given_names) != len(default) * count:
        raise call.invalid(f"it needs {len(default) * count} activations")
    alphas, betas = _parameters(call, "activation_alpha"), _parameters(call, "activation_beta")
    known = {name.lower(): name for name in _ACTIVATIONS}
    activations = []
    for name in given_names:
        if not isinstance(name, str) or name.lower() not in known:
            raise call.invalid(f"activation '{name}' is none of {', '.join(_ACTIVATIONS)}")
        _, alpha, beta = _ACTIVATIONS[known[name.lower()]]
        activations.append(
            Activation(
                known[name.lower()],
                alphas.pop(0) if alpha is not None and alphas else alpha or 0.0,
                betas.pop(0) if beta is not None and betas else beta or 0.0,
            )
        )
    size = len(default)
    return tuple(tuple(activations[start : start + size]) for start in range(0, len(activations), size))


def _parameters(call: Call, name: str) -> list[float]:
    value = call.node.attributes.get(name, ())
    if not isinstance(value, tuple) or not all(isinstance(v, int | float) for v in value):
        raise call.invalid(f"attribute '{name}' must be a list of numbers")
    return [float(v) for v in value]


def _infer(call: Call) -> tuple[TensorType, ...]:
    needs_float(call)
    kind, dtype = cell(call), same_type(call, 0, 1, 2, 3, 5, 6, 7)
    if call.optional(4) is not None:
        needs_index(call, 4)
    count = len(kind.directions)
    if kind.batch_first:
        sequence = (kind.batch, kind.steps, count, kind.hidden)
        state = result(call, dtype, (kind.batch, count, kind.hidden))
    else:
        sequence = (kind.steps, count, kind.batch, kind.hidden)
        state = result(call, dtype, (count, kind.batch, kind.hidden))
    states = (state, state) if call.node.op == "LSTM" else (state,)
    return wanted(call, result(call, dtype, sequence), *states)


@dataclass(frozen=True)
class _Weights:
    """Weights of one direction: `bias` is (2, gates, hidden), `peepholes` (3, hidden) in the order i, o, f."""

    w: Array
    r: Array
    bias: Array
    peepholes: Array


def _weights(call: Call, arrays: Arrays, direction: int, kind: Cell) -> _Weights:
    gates, x = GATES[call.node.op], given(arrays, 0)
    bias, peepholes = maybe(arrays, 3), maybe(arrays, 7)
    no_bias, no_peepholes = np.zeros(2 * gates * kind.hidden, x.dtype), np.zeros(3 * kind.hidden, x.dtype)
    return _Weights(
        given(arrays, 1)[direction].reshape(gates, kind.hidden, kind.inputs),
        given(arrays, 2)[direction].reshape(gates, kind.hidden, kind.hidden),
        (no_bias if bias is None else bias[direction]).reshape(2, gates, kind.hidden),
        (no_peepholes if peepholes is None else peepholes[direction]).reshape(3, kind.hidden),
    )


def _evaluate(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    kind, x = cell(call), given(arrays, 0)
    lengths = maybe(arrays, 4)
    lengths = np.full(kind.batch, kind.steps) if lengths is None else lengths
    if lengths.size and (lengths.min() < 0 or lengths.max() > kind.steps):
        raise call.outside(4, f"a sequence length lies outside [0, {kind.steps}]")
    x = x.swapaxes(0, 1) if kind.batch_first else x
    outputs, hidden_states, cell_states = [], [], []
    for direction in range(len(kind.directions)):
        starts = [_start(arrays, index, direction, kind, x) for index in (5, 6)]
        y, h, c = _run(call, kind, direction, _weights(call, arrays, direction, kind), x, lengths, starts)
        outputs.append(y)
        hidden_states.append(h)
        cell_states.append(c)
    sequence = np.stack(outputs, 1)  # steps, directions, batch, hidden
    every = [sequence.transpose(2, 0, 1, 3) if kind.batch_first else sequence]
    for states in (hidden_states, cell_states):
        stacked = np.stack(states)
        every.append(stacked.swapaxes(0, 1) if kind.batch_first else stacked)
    return tuple(every[: len(call.outputs)])


def _start(arrays: Arrays, index: int, direction: int, kind: Cell, x: Array) -> Array:
    state = maybe(arrays, index)
    if state is None:
        return np.zeros((kind.batch, kind.hidden), x.dtype)
    return state[:, direction] if kind.batch_first else state[direction]


def _run(
    call: Call, kind: Cell, direction: int, weights: _Weights, x: Array, lengths: Array, starts: list[Array]
) -> tuple[Array, Array, Array]:
    """One direction over all steps; entries of the batch that have ended keep their state and write zeros."""
    step = {"RNN": _rnn, "GRU": _gru, "LSTM": _lstm}[call.node.op]
    h, c = starts
    outputs = np.zeros((kind.steps, kind.batch, kind.hidden), x.dtype)
    entries = np.arange(kind.batch)
    for t in range(kind.steps):
        live = t < lengths
        places = np.where(live, lengths - 1 - t, t) if kind.directions[direction] else np.full(kind.batch, t)
        after, carried = step(call, kind, direction, weights, x[places, entries], h, c)
        h, c = np.where(live[:, None], after, h), np.where(live[:, None], carried, c)
        outputs[places[live], entries[live]] = h[live]
    return outputs, h, c


def _clipped(x: Array, kind: Cell) -> Array:
    return x.clip(-kind.clip, kind.clip) if kind.clip > 0 else x


def _rnn(
    call: Call, kind: Cell, direction: int, weights: _Weights, x: Array, h: Array, c: Array
) -> tuple[Array, Array]:
    total = x @ weights.w[0].T + h @ weights.r[0].T + weights.bias[0, 0] + weights.bias[1, 0]
    return kind.activations[direction][0](_clipped(total, kind)), c


def _gru(
    call: Call, kind: Cell, direction: int, weights: _Weights, x: Array, h: Array, c: Array
) -> tuple[Array, Array]:
    gate, candidate = kind.activations[direction]
    w, r, bias = weights.w, weights.r, weights.bias
    update = gate(_clipped(x @ w[0].T + h @ r[0].T + bias[0, 0] + bias[1, 0], kind))
    reset = gate(_clipped(x @ w[1].T + h @ r[1].T + bias[0, 1] + bias[1, 1], kind))
    if call.integer("linear_before_reset", 0):
        recurrent = reset * (h @ r[2].T + bias[1, 2])
    else:
        recurrent = (reset * h) @ r[2].T + bias[1, 2]
    new = candidate(_clipped(x @ w[2].T + recurrent + bias[0, 2], kind))
    return np.asarray((1 - update) * new + update * h), c


def _lstm(
    call: Call, kind: Cell, direction: int, weights: _Weights, x: Array, h: Array, c: Array
) -> tuple[Array, Array]:
    gate, candidate, output = kind.activations[direction]
    totals = [
        x @ weights.w[g].T + h @ weights.r[g].T + weights.bias[0, g] + weights.bias[1, g] for g in range(4)
    ]  # i, o, f, c
    hole_in, hole_out, hole_forget = weights.peepholes
    enter = gate(_clipped(totals[0] + hole_in * c, kind))
    forget = 1 - enter if call.integer("input_forget", 0) else gate(_clipped(totals[2] + hole_forget * c, kind))
    after = np.asarray(forget * c + enter * candidate(_clipped(totals[3], kind)))
    leave = gate(_clipped(totals[1] + hole_out * after, kind))
    return np.asarray(leave * output(after)), after


def _reads(call: Call, operand: int) -> Reads | None:
    return lengths(call.shape()[1 if call.integer("layout", 0) else 0]) if operand == 4 else None


def _products(call: Call) -> int:
    """Both matrices of every gate, once a step, batch entry and direction; peepholes are no matrices."""
    kind = cell(call)
    gates = len(kind.directions) * GATES[call.node.op] * kind.hidden
    return kind.steps * kind.batch * gates * (kind.inputs + kind.hidden)


_OPERANDS = ("x", "w", "r", "b", "sequence_lens", "initial_h", "initial_c", "p")
OPERATORS = (
    Operator(
        "RNN",
        _infer,
        _evaluate,
        _OPERANDS[:6],
        ("y", "y_h"),
        kind=Kind.SEQUENTIAL,
        sketch="recurrent",
        reads=_reads,
        work=pairs,
        required_results=0,
        products=_products,
    ),
    Operator(
        "GRU",
        _infer,
        _evaluate,
        _OPERANDS[:6],
        ("y", "y_h"),
        kind=Kind.SEQUENTIAL,
        torch=Torch(writer="recurrent", layer=True),
        sketch="recurrent",
        reads=_reads,
        work=pairs,
        required_results=0,
        products=_products,
    ),
    Operator(
        "LSTM",
        _infer,
        _evaluate,
        _OPERANDS,
        ("y", "y_h", "y_c"),
        kind=Kind.SEQUENTIAL,
        torch=Torch(writer="recurrent", layer=True),
        sketch="recurrent",
        reads=_reads,
        work=pairs,
        required_results=0,
        products=_products,
    ),
)
