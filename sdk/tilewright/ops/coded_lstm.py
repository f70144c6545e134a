"""CodedLstm: an LSTM on codes in whole numbers, its state in 16 bits, its cell and its gates in fixed point.

DynamicQuantizeLSTM becomes it; no file contains it. Sums of products are exact. A sigmoid is within 2^-15 of that of
its argument, a tanh within 2^-14, so that from one state a step gives the next within 2^-12 of the real one's. `x` is
[steps, batch, inputs] in codes of one scale and zero point, which may come at run time; weights are
[directions, 4 * hidden, inputs or hidden] in the standard's order i, o, f, c, with a scale for each row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tilewright.model import Array, DType
from tilewright.ops.operands import Arrays, given, maybe, needs_rank, result, wanted
from tilewright.ops.operator import Call, Kind, Operator, TensorType, remembered
from tilewright.ops.relayout import DOMAIN

GATES = 4
STATE = 1 << 15
CELL = 1 << 20
GATE = 1 << 16
"""What 1 is in the state, in the cell, and in gates before and behind their functions."""
FURTHEST = 1 << 28
"""Gates before their functions reach no further from what an input, or a bias, gives alone."""
CELL_START = 1 << 30
MOST_STEPS = 1000
"""A cell that begins within 1,024 moves by 1 a step at most, so it stays within 32 bits."""
LARGEST_CODE = 255
CURVE_STEP = 11
CURVE_END = 16 * GATE
"""The sigmoid is interpolated between points 2^11 apart, 1/32, from -16 to 16."""
_DIRECTIONS = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}


def curve() -> Array:
    """The sigmoid less a half at -16, -16 + 1/32, ..., 16 in units of 2^-16."""
    points = np.arange(-CURVE_END, CURVE_END + 1, 1 << CURVE_STEP, dtype=np.float64) / GATE
    return np.minimum(np.rint(GATE / 2 * np.tanh(points / 2)), GATE // 2 - 1).astype(np.int64)


@dataclass(frozen=True)
class LstmSizes:
    """`directions` hold True for each that runs backwards."""

    steps: int
    batch: int
    inputs: int
    hidden: int
    directions: tuple[bool, ...]


@dataclass(frozen=True)
class LstmNumbers:
    """What sums become gates by, for each row [directions, 4 * hidden].

    The state's part is (high word of sum * `multipliers`, rounded) / 2^`shift`. The input's sums are shifted to the
    left by `lift`, one more where rows differ and the high word of their product with `ratios` follows, and multiplied
    by the scale of the input times `factor`. `starts` are the biases.
    """

    starts: Array
    multipliers: Array
    shift: int
    lift: int
    ratios: Array | None
    factor: np.float32


def lstm_sizes(call: Call) -> LstmSizes:
    """Sizes and directions; ModelError where they contradict one another."""
    steps, batch, inputs = needs_rank(call, 0, 3, call.node.op)
    directions = _DIRECTIONS[call.text("direction", "forward")]
    hidden, count = call.shape(5)[-1], len(directions)
    rows, state = GATES * hidden, (count, batch, hidden)
    shapes = {1: (), 2: (), 3: (count, rows, inputs), 4: (count, rows), 5: (count, rows, hidden), 6: (count, rows),
              7: (count, 2 * rows), 8: state, 9: state}  # fmt: skip
    for index, shape in shapes.items():
        if (index < 7 or call.optional(index) is not None) and call.shape(index) != shape:
            raise call.invalid(f"'{call.tensor(index).name}' has the shape {call.shape(index)}, expected {shape}")
    return LstmSizes(steps, batch, inputs, hidden, directions)


def reaches(w: Array, r: Array) -> tuple[int, int]:
    """How far sums over any input and over any state can be from zero."""
    parts = (int(np.abs(each.astype(np.int64)).sum(-1).max(initial=0)) for each in (w, r))
    return next(parts) * LARGEST_CODE, next(parts) * STATE


def too_wide(steps: int, w: Array, w_scale: Array, r: Array, r_scale: Array, bias: Array | None) -> str | None:
    """Why such an LSTM has no form in whole numbers; None where it has."""
    input_reach, state_reach = reaches(w, r)
    scales = np.concatenate([w_scale.reshape(-1), r_scale.reshape(-1)]).astype(np.float64)
    if steps > MOST_STEPS:
        return f"a cell is added up over more than {MOST_STEPS} steps"
    if not (np.isfinite(scales).all() and (scales > 0).all() and scales.max(initial=0) < 0.25):
        return "a scale of its weights is not between 0 and 0.25"
    if input_reach >= 1 << 30 or state_reach >= 1 << 31:
        return "a sum of products leaves 32 bits"
    if bias is not None and not (np.abs(bias) < FURTHEST / GATE / 4).all():
        return "a bias is too large for the gates' fixed point"
    return None


@remembered
def lstm_numbers(call: Call) -> LstmNumbers:
    """The numbers of a call, whose weights, scales and biases are constant."""
    w, w_scale, r, r_scale = (call.constant(index, "its weights and their scales") for index in range(3, 7))
    rows = w_scale.shape
    bias = call.constant(7, "its bias").astype(np.float64) if call.optional(7) is not None else None
    starts = np.zeros(rows) if bias is None else bias.reshape(rows[0], 2, -1).sum(1)
    steps = r_scale.astype(np.float64) * (GATE // STATE)
    shift = 1
    while shift < 24 and steps.max() * 2.0 ** (33 + shift) < (1 << 31) - 1:
        shift += 1
    lift = 30 - reaches(w, r)[0].bit_length()
    largest = float(w_scale.astype(np.float64).max())
    ratios = np.minimum(np.rint(w_scale.astype(np.float64) / largest * 2.0**31), (1 << 31) - 1).astype(np.int64)
    return LstmNumbers(
        starts=np.rint(starts * GATE).astype(np.int64),
        multipliers=np.rint(steps * 2.0 ** (32 + shift)).astype(np.int64),
        shift=shift,
        lift=lift,
        ratios=None if (w_scale == w_scale.reshape(-1)[0]).all() else ratios,
        factor=np.float32(largest * GATE / 2.0**lift),
    )


def input_factor(scale: float, factor: np.float32) -> tuple[int, int]:
    """scale * factor as (mantissa of 31 bits, bits to shift the high word to the right by), as C takes it apart."""
    bits = int(np.float32(np.float32(scale) * factor).view(np.int32))
    exponent = bits >> 23 & 255
    mantissa = bits & 0x7FFFFF | (0x800000 if exponent else 0)
    return mantissa << 7, min(max(125 - max(exponent, 1), -30), 30)


def _curved(v: Array) -> Array:
    """The sigmoid of fixed point less a half, in units of 2^-16; so also the tanh of half of `v` in units of 2^-15."""
    limited = v.clip(-CURVE_END, CURVE_END - 1)
    points, at, rest = curve(), (limited + CURVE_END) >> CURVE_STEP, limited & ((1 << CURVE_STEP) - 1)
    sums = points[at] * ((1 << CURVE_STEP) - rest) + points[at + 1] * rest
    return np.asarray(sums + (1 << CURVE_STEP - 1) >> CURVE_STEP)


def sigmoid(v: Array) -> Array:
    """Of fixed point, in fixed point."""
    return _curved(v) + GATE // 2


def tanh(v: Array) -> Array:
    """Of fixed point, in units of 2^-15."""
    return _curved(2 * v)


def _shifted(high: Array, right: int) -> Array:
    if right > 0:
        return np.asarray(high + (1 << right - 1) >> right)
    return np.asarray((high << -right).clip(-FURTHEST, FURTHEST))


def _whole(values: Array, unit: int, limit: int) -> Array:
    """Floats as whole numbers of 1 / unit within the limit; what is no number becomes the lowest."""
    scaled = values * np.float32(unit)
    limited = np.where(scaled >= -limit, np.where(scaled <= limit, scaled, np.float32(limit)), np.float32(-limit))
    half = np.where(limited < 0, np.float32(-0.5), np.float32(0.5))
    return np.asarray(np.trunc(limited + half).astype(np.int64))


def _infer(call: Call) -> tuple[TensorType, ...]:
    sizes = lstm_sizes(call)
    if call.tensor(3).dtype is not DType.I8 or call.tensor(5).dtype is not DType.I8:
        raise call.invalid("weights are codes of eight bits")
    sequence = (sizes.steps, len(sizes.directions), sizes.batch, sizes.hidden)
    state = result(call, DType.F32, (len(sizes.directions), sizes.batch, sizes.hidden))
    return wanted(call, result(call, DType.F32, sequence), state, state)


def _evaluate(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    sizes, numbers = lstm_sizes(call), lstm_numbers(call)
    x = given(arrays, 0).astype(np.int64) - int(given(arrays, 2))
    mantissa, right = input_factor(float(given(arrays, 1)), numbers.factor)
    sequences, states, cells = [], [], []
    for n, backwards in enumerate(sizes.directions):
        h, c = (
            np.zeros((sizes.batch, sizes.hidden), np.int64) if start is None else _whole(start[n], unit, limit)
            for start, unit, limit in ((maybe(arrays, 8), STATE, STATE - 1), (maybe(arrays, 9), CELL, CELL_START))
        )
        w, r = (given(arrays, index)[n].astype(np.int64).T for index in (3, 5))
        y = np.zeros((sizes.steps, sizes.batch, sizes.hidden), np.int64)
        for t in reversed(range(sizes.steps)) if backwards else range(sizes.steps):
            sums = (x[t] @ w) << numbers.lift
            if numbers.ratios is not None:
                sums = 2 * sums * numbers.ratios[n] >> 32
            own = (h @ r) * numbers.multipliers[n] >> 32
            own = own + (1 << numbers.shift - 1) >> numbers.shift
            gates = numbers.starts[n] + own + _shifted(sums * mantissa >> 32, right)
            enter, leave, forget, fresh = np.split(gates, GATES, axis=1)
            moved = sigmoid(enter) * tanh(fresh) + (STATE * GATE // CELL // 2) >> 11
            c = (c * sigmoid(forget) + GATE // 2 >> 16) + moved
            h = sigmoid(leave) * tanh(c >> 4) + GATE // 2 >> 16
            y[t] = h
        sequences.append(y)
        states.append(h)
        cells.append(c)
    every = (np.stack(sequences, 1) / STATE, np.stack(states) / STATE, np.stack(cells).astype(np.float32) / CELL)
    return tuple(each.astype(np.float32) for each in every[: len(call.outputs)])


def _products(call: Call) -> int:
    sizes = lstm_sizes(call)
    rows = len(sizes.directions) * GATES * sizes.hidden
    return sizes.steps * sizes.batch * rows * (sizes.inputs + sizes.hidden)


OPERATORS = (
    Operator(
        "CodedLstm", _infer, _evaluate,
        ("x", "x_scale", "x_zero", "w", "w_scale", "r", "r_scale", "b", "initial_h", "initial_c"), ("y", "y_h", "y_c"),
        kind=Kind.SEQUENTIAL, domain=DOMAIN, sketch="coded_lstm", required_results=0, products=_products,
    ),
)  # fmt: skip
