"""RNN, GRU and LSTM: how far their states may lie from those of exact inputs, step by step.

Errors of the input go through the gates by their weights' magnitudes and the steepest slope that each gate may have
where it lies. What the kernel itself rounds is what it declares: tests show that, nothing proves it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tilewright.evidence.error_bounds.value import SLACK, Known, NoBound, Step, box
from tilewright.model import Array
from tilewright.ops.operator import Call
from tilewright.ops.recurrent import GATES, Activation, cell


@dataclass(frozen=True)
class _Near:
    """A value and how far from it another one may lie."""

    value: Array
    apart: Array

    def __add__(self, other: _Near) -> _Near:
        return _Near(self.value + other.value, self.apart + other.apart)

    def __mul__(self, other: _Near) -> _Near:
        apart = np.abs(self.value) * other.apart + np.abs(other.value) * self.apart + self.apart * other.apart
        return _Near(self.value * other.value, apart)

    def through(self, matrix: Array) -> _Near:
        """The product with a constant matrix, transposed."""
        return _Near(self.value @ matrix.T, self.apart @ np.abs(matrix).T)

    def gate(self, activation: Activation) -> _Near:
        """An activation of it, between -1 and 1 and steepest near zero."""
        slope = activation.falling_slope
        assert slope is not None, "the usual activations are Sigmoid and Tanh"
        nearest = np.maximum(np.abs(self.value) - self.apart, 0.0)
        return _Near(activation(self.value), np.minimum(slope(nearest) * self.apart, 2.0))


@dataclass(frozen=True)
class _Cell:
    """The weights of one direction, gate by gate."""

    w: Array
    r: Array
    wide: Array
    narrow: Array
    activations: tuple[Activation, ...]
    reset_first: bool


def recurrent(call: Call, operands: Sequence[Known], declared: float) -> Step | NoBound:
    """RNN, GRU and LSTM in one direction, with constant weights, usual activations and a state that begins at zero."""
    weights = _cell(call)
    if isinstance(weights, NoBound):
        return weights
    if not declared:
        return NoBound("its kernel declares no accuracy")
    x = operands[0]
    radius = (x.high - x.low) / 2
    exact, meant = _run(call, weights, _Near(x.centre, radius)), _run(call, weights, _Near(x.centre, radius + x.error))
    own = exact.apart + SLACK * (1 + np.abs(exact.value))
    low, high = box(exact.value - own, exact.value + own, np.abs(exact.value))
    nothing = np.zeros_like(low)
    carried = exact.apart + meant.apart if x.error.any() else nothing
    remainder = carried + declared * (1 + np.abs(exact.value) + own)
    return Step(
        low, high, [x.error], lambda errors: nothing, nothing, nothing, remainder, lambda rows: nothing[None],
        lambda rows: [None], f"{declared:g}, which the kernel declares and tests show, not proved",
    )  # fmt: skip


def _cell(call: Call) -> _Cell | NoBound:
    plain = call.text("direction", "forward") == "forward" and not call.integer("layout", 0)
    odd = [name for name in ("activations", "clip", "input_forget") if name in call.node.attributes]
    given = [index for index in range(3, len(call.inputs)) if call.optional(index) is not None]
    if not plain or odd or any(index != 3 for index in given) or len(call.outputs) > 1:
        return NoBound("only one direction with the usual activations, a state from zero and one result has a rule")
    if any(index not in call.constants for index in (1, 2, *given)):
        return NoBound("its weights are computed at run time")
    gates = GATES[call.node.op]
    w, r = (call.constants[i].astype(np.float64)[0] for i in (1, 2))
    hidden = r.shape[1]
    bias = call.constants[3].astype(np.float64)[0] if 3 in call.constants else np.zeros(2 * gates * hidden)
    wide, narrow = bias.reshape(2, gates, hidden)
    by_gate = w.reshape(gates, hidden, -1), r.reshape(gates, hidden, -1)
    (usual,) = cell(call).activations
    return _Cell(by_gate[0], by_gate[1], wide, narrow, usual, not call.integer("linear_before_reset", 0))


def _run(call: Call, cell: _Cell, x: _Near) -> _Near:
    """All steps: the states of all of them, or the last one, as the node gives them."""
    batch, hidden = x.value.shape[1], cell.r.shape[2]
    h = c = _Near(np.zeros((batch, hidden)), np.zeros((batch, hidden)))
    states = list[_Near]()
    for at in range(x.value.shape[0]):
        h, c = _STEPS[GATES[call.node.op]](cell, _Near(x.value[at], x.apart[at]), h, c)
        states.append(h)
    index = next(place for place, name in enumerate(call.node.outputs) if name)
    if index == 0:
        every = _Near(np.stack([s.value for s in states])[:, None], np.stack([s.apart for s in states])[:, None])
        return replace(every, value=every.value.reshape(call.outputs[0].shape))
    last = h if index == 1 else c
    return _Near(last.value[None], last.apart[None])


def _total(cell: _Cell, gate: int, x: _Near, h: _Near) -> _Near:
    total = x.through(cell.w[gate]) + h.through(cell.r[gate])
    return replace(total, value=total.value + cell.wide[gate] + cell.narrow[gate])


def _rnn(cell: _Cell, x: _Near, h: _Near, c: _Near) -> tuple[_Near, _Near]:
    (activation,) = cell.activations
    return _total(cell, 0, x, h).gate(activation), c


def _gru(cell: _Cell, x: _Near, h: _Near, c: _Near) -> tuple[_Near, _Near]:
    of_gates, of_candidate = cell.activations
    update, reset = (_total(cell, gate, x, h).gate(of_gates) for gate in (0, 1))
    if cell.reset_first:
        again = (reset * h).through(cell.r[2])
        again = replace(again, value=again.value + cell.narrow[2])
    else:
        inner = h.through(cell.r[2])
        again = reset * replace(inner, value=inner.value + cell.narrow[2])
    total = x.through(cell.w[2]) + again
    new = replace(total, value=total.value + cell.wide[2]).gate(of_candidate)
    z, apart = update.value, np.abs(h.value - new.value)
    moved = z * h.apart + (1 - z) * new.apart + apart * update.apart + update.apart * (h.apart + new.apart)
    return _Near((1 - z) * new.value + z * h.value, moved), c


def _lstm(cell: _Cell, x: _Near, h: _Near, c: _Near) -> tuple[_Near, _Near]:
    of_gates, of_candidate, of_output = cell.activations
    enter, leave, forget = (_total(cell, gate, x, h).gate(of_gates) for gate in (0, 1, 2))
    after = forget * c + enter * _total(cell, 3, x, h).gate(of_candidate)
    return leave * after.gate(of_output), after


_STEPS = {1: _rnn, 3: _gru, 4: _lstm}
"""By the number of gates."""
