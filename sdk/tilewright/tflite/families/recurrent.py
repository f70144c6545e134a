"""UNIDIRECTIONAL_SEQUENCE_LSTM and SVDF: layers with tensors that live from call to call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tilewright.errors import UnsupportedNode
from tilewright.tflite import schema
from tilewright.tflite.families.convolution import bias
from tilewright.tflite.file import FileOperator
from tilewright.tflite.unlike import COPIED_STATE, CUT_LIMIT, WRAPPED_STATE
from tilewright.tflite.writer import Writer, operand

GATES = (0, 3, 1, 2)
"""ONNX's order of gates, input, output, forget, cell, as places in TensorFlow Lite's: input, forget, cell, output."""
WEIGHTS, RECURRENT, PEEPHOLES, BIASES, PROJECTION, STATES, NORMS = 1, 5, 9, 12, 16, 18, 20

LEAST_CLIP = 9.02
"""1 - tanh of this is less than half of float32's step below 1."""
MOST_STEPS = 1024
LARGEST_CODE = 32767
"""Of a cell of 16 bits."""


def lstm(writer: Writer, operator: FileOperator) -> None:
    """UNIDIRECTIONAL_SEQUENCE_LSTM without peepholes, projection and norms: ONNX's LSTM in real numbers.

    A cell with a limit of `LEAST_CLIP` or more is limited behind each step. Hochreiter, Schmidhuber: Long short-term
    memory, 1997.
    """
    options = schema.Recurrent
    _refuse(writer, operator)
    x, y, hidden, cell = operator.inputs[0], operator.outputs[0], operator.inputs[STATES], operator.inputs[STATES + 1]
    units = writer.tensor(hidden).shape[-1]
    time_major = operator.integer(options.TIME_MAJOR)
    real = writer.value(x)
    if not time_major:
        real = writer.op("Transpose", real, perm=(1, 0, 2))
    gates = []
    for begin in (WEIGHTS, RECURRENT):
        joined = writer.op("Concat", *(writer.value(operator.inputs[begin + gate]) for gate in GATES), axis=0)
        gates.append(writer.op("Unsqueeze", joined, writer.numbers("axis", [0])))
    sums = [_gate_bias(writer, operator, BIASES + gate, x, operator.inputs[WEIGHTS + gate], units) for gate in GATES]
    zeros = writer.constant("zeros", np.zeros(4 * units, np.float32))
    start = writer.op("Unsqueeze", writer.op("Concat", *sums, zeros, axis=0), writer.numbers("axis", [0]))
    held = []
    for index in (hidden, cell):
        writer.keep_variable(index)
        held.append(writer.op("Unsqueeze", writer.value(index), writer.numbers("axis", [0])))
    clip = operator.real(options.CELL_CLIP)
    layer = _Layer(writer, (*gates, start), units, writer.names[y])
    if clip:
        steps = writer.tensor(x).shape[0 if time_major else 1]
        sequence, *last = layer.with_limited_cell(real, held, clip, steps)
    else:
        sequence, *last = layer.over(real, held)
    shape = writer.tensor(y).shape
    sequence = writer.op("Squeeze", sequence, writer.numbers("axis", [1]))
    if not time_major:
        sequence = writer.op("Transpose", sequence, perm=(1, 0, 2))
    _note_unlike(writer, operator, sequence, clip)
    writer.define(y, sequence)
    for index, name in zip((hidden, cell), last, strict=True):
        writer.keep_next(index, writer.op("Reshape", name, writer.numbers("shape", writer.tensor(index).shape)))
    assert len(shape) == 3, operator.label


def _note_unlike(writer: Writer, operator: FileOperator, sequence: str, clip: float) -> None:
    """What integer kernels do with a state's codes that real numbers do not say."""
    hidden, cell = (writer.tensor(operator.inputs[STATES + place]).scales for place in range(2))
    result = writer.tensor(operator.outputs[0]).scales
    if hidden is None or cell is None or result is None:
        return
    if (hidden.scale[0], hidden.zero_point[0]) != (result.scale[0], result.zero_point[0]):
        writer.unlike[sequence] = COPIED_STATE
    steps = float(clip) / float(cell.scale[0])
    if clip and steps < LARGEST_CODE and steps != int(steps):
        writer.unlike[sequence] = CUT_LIMIT


@dataclass(frozen=True)
class _Layer:
    """ONNX's LSTM with these weights and sums of `units` units; results are named behind `name`."""

    writer: Writer
    parameters: tuple[str, ...]
    units: int
    name: str

    def over(self, x: str, held: Sequence[str]) -> list[str]:
        """The sequence of results, the last one and the last cell, from what the layer held."""
        names = [self.writer.fresh(f"{self.name}/{part}") for part in ("sequence", "hidden", "cell")]
        self.writer.ops("LSTM", (x, *self.parameters, "", *held), names, {"hidden_size": self.units})
        return names

    def with_limited_cell(self, x: str, held: Sequence[str], limit: float, steps: int) -> list[str]:
        """As `over`, a step at a time: behind each the cell is limited.

        The result of that step is of the limited cell in TensorFlow Lite and of the other here, which is one number:
        from `LEAST_CLIP` on the hyperbolic tangent is 1 in float32.
        """
        limits = [self.writer.constant("limit", np.asarray(side, np.float32)) for side in (-limit, limit)]
        results = []
        for step in range(steps):
            cut = [self.writer.numbers("cut", [number]) for number in (step, step + 1, 0)]
            one = x if steps == 1 else self.writer.op("Slice", x, *cut)
            sequence, hidden, cell = self.over(one, held)
            held = [hidden, self.writer.op("Clip", cell, *limits)]
            results.append(sequence)
        return [results[0] if steps == 1 else self.writer.op("Concat", *results, axis=0), *held]


def _gate_bias(writer: Writer, operator: FileOperator, place: int, x: int, w: int, units: int) -> str:
    held = bias(writer, operator, place, x, w)
    return held[0] if held else writer.constant("zeros", np.zeros(units, np.float32))


def _refuse(writer: Writer, operator: FileOperator) -> None:
    """UnsupportedNode for forms whose numbers ONNX's LSTM does not give."""

    def given(begin: int, count: int) -> bool:
        return any(operand(operator, place) >= 0 for place in range(begin, begin + count))

    options, why = schema.Recurrent, ""
    clip = operator.real(options.CELL_CLIP)
    shape = writer.tensor(operator.inputs[0]).shape
    steps = shape[0 if operator.integer(options.TIME_MAJOR) else 1] if len(shape) == 3 else 1
    if operand(operator, WEIGHTS) < 0:
        why = "its input gate is coupled with its forget gate"
    elif given(PEEPHOLES, 3):
        why = "its gates look at the cell"
    elif given(PROJECTION, 2):
        why = "its result is projected"
    elif given(NORMS, 4):
        why = "its gates are normalised"
    elif clip and not clip >= LEAST_CLIP:
        why = f"its cell is limited to {clip:g}, which ONNX's LSTM does not do; from {LEAST_CLIP:g} on it is added"
    elif clip and steps > MOST_STEPS:
        why = f"its cell is limited in each of {steps} steps, at most {MOST_STEPS} are written out"
    elif operator.integer(options.DIAGONAL):
        why = "its recurrent weights are diagonal"
    elif operator.integer(options.LSTM_ACTIVATION) not in (schema.Activation.TANH, schema.Activation.NONE):
        why = "its activation is not tanh"
    if why:
        raise UnsupportedNode(
            f"operator '{operator.label}' cannot be converted", why=why, fix="convert a plain LSTM",
            node=operator.label,
        )  # fmt: skip


def svdf(writer: Writer, operator: FileOperator) -> None:
    """SVDF: a product over features now, another over the last calls. Nakkiran et al.: Compressing deep neural
    networks using a rank-constrained topology, 2015. The second is a convolution in groups over the state.

    On codes the runtimes leave a fused activation to the range of the result, so nothing is limited here either.
    """
    x, feature, time = operator.inputs[:3]
    state, y = operator.inputs[4], operator.outputs[0]
    filters, memory = writer.tensor(time).shape
    batch, rank = writer.tensor(x).shape[0], operator.integer(schema.Recurrent.RANK)
    units = filters // max(rank, 1)
    held = writer.tensor(state)
    writer.keep_variable(state)
    past = writer.op("Reshape", writer.value(state), writer.numbers("shape", (batch, filters, memory)))
    cut = [writer.numbers("cut", [number]) for number in (1, memory, 2)]
    older = writer.op("Slice", past, *cut)
    summed = writer.op("Gemm", writer.value(x), writer.value(feature), transB=1)
    if held.scales is not None and held.scales.zero_point.any():
        writer.unlike[summed] = WRAPPED_STATE
    now = writer.coded_like(state, summed)
    now = writer.op("Reshape", now, writer.numbers("shape", (batch, filters, 1)))
    window = writer.coded_like(state, writer.op("Concat", older, now, axis=2))
    weights = writer.tensor(time)
    assert weights.data is not None, operator.label
    kernel = writer.parameters(time, weights.data.reshape(units, rank, memory), 0)
    operands = [window, kernel, *bias(writer, operator, 3, state, time)]
    real = writer.op("Conv", *operands, group=units, kernel_shape=[memory])
    coded = writer.tensor(y).scales is not None
    writer.define(y, real, activation=0 if coded else operator.integer(schema.Recurrent.SVDF_ACTIVATION))
    writer.reshape_defined(y, writer.tensor(y).shape)
    writer.keep_next(state, writer.op("Reshape", window, writer.numbers("shape", held.shape)))


OPERATORS = {"UNIDIRECTIONAL_SEQUENCE_LSTM": lstm, "SVDF": svdf}
