"""What lives from call to call: resource variables, and the tensors that LSTM and SVDF keep."""

from __future__ import annotations

import numpy as np
import pytest
from tflite_files import G, Op, T, single, streaming, window, written
from tilewright.errors import UnsupportedError
from tilewright.frontend.load import load
from tilewright.model import Array
from tilewright.tflite.convert import to_onnx

RNG = np.random.default_rng(3)


def test_a_variable_is_a_state_with_its_first_value() -> None:
    model = load(window())
    (state,) = model.states
    assert (state.past, state.present) == ("ring", "ring/next")
    assert state.initial is not None
    assert state.initial.tolist() == [[1, 2, 3]]
    assert (model.given, model.results) == (("t0",), ("t3",))
    assert model.tensors["ring"].dtype is model.tensors["ring/next"].dtype


def test_a_variable_that_nobody_sets_begins_with_its_zero_point() -> None:
    (state,) = load(streaming()).states
    assert state.initial is not None
    assert set(state.initial.reshape(-1).tolist()) == {-5}
    model = load(single("SVDF", *svdf_tensors(np.int8)))
    (state,) = model.states
    assert state.initial is None  # codes of 16 bits have the zero point 0


def svdf_tensors(kind: type) -> tuple[list[T], list[T], list[tuple[int, str, int]]]:
    """Two units of rank two over a memory of three."""
    feature, time = RNG.integers(-9, 9, (4, 5)), RNG.integers(-9, 9, (4, 3))
    if kind is np.float32:
        tensors = [T((1, 5)), T((4, 5), data=feature), T((4, 3), data=time), T((2,), data=np.asarray([1.0, -1.0])),
                   T((1, 12), variable=True)]  # fmt: skip
        return tensors, [T((1, 2))], [(0, "i", 2)]
    tensors = [
        T((1, 5), "int8", 0.5), T((4, 5), "int8", 0.25, data=feature), T((4, 3), "int16", 0.125, data=time),
        T((2,), "int32", 0.0625, data=np.asarray([10, -10])), T((1, 12), "int16", 0.125, variable=True),
    ]  # fmt: skip
    return tensors, [T((1, 2), "int8", 1.0)], [(0, "i", 2)]


def test_svdf_is_two_products_over_the_last_calls() -> None:
    import onnxruntime

    tensors, results, options = svdf_tensors(np.float32)
    model = to_onnx(single("SVDF", tensors, results, options))
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    state, memory = np.zeros((1, 12), np.float32), np.zeros((4, 3))
    feature, time = (np.asarray(t.data, np.float64) for t in tensors[1:3])
    for _ in range(5):
        x = RNG.standard_normal((1, 5)).astype(np.float32)
        names = [entry.name for entry in session.get_inputs()]
        y, state = (np.asarray(v) for v in session.run(None, dict(zip(names, (x, state), strict=True))))
        memory = np.concatenate([memory[:, 1:], (feature @ x[0])[:, None]], axis=1)
        expected = (memory * time).sum(1).reshape(2, 2).sum(1) + np.asarray([1, -1])
        np.testing.assert_allclose(y[0], expected, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(state.reshape(4, 3), memory, rtol=1e-5, atol=1e-5)


def lstm_file(
    clip: float = 0.0, lifted: float = 0.0, steps: int = 3
) -> tuple[bytes, list[Array], list[Array], list[Array]]:
    """A sequence of some steps, two units; weights by gate: input, forget, cell, output. `lifted` opens all gates."""
    given = [RNG.standard_normal((2, 4)).astype(np.float32) for _ in range(4)]
    recurrent = [RNG.standard_normal((2, 2)).astype(np.float32) for _ in range(4)]
    sums = [(RNG.standard_normal(2) + lifted).astype(np.float32) for _ in range(4)]
    tensors = [T((1, steps, 4)), *(T(w.shape, data=w) for w in (*given, *recurrent, *sums)), T((1, 2), variable=True),
               T((1, 2), variable=True), T((1, steps, 2))]  # fmt: skip
    inputs = [*range(9), -1, -1, -1, *range(9, 13), -1, -1, 13, 14, -1, -1, -1, -1]
    op = Op("UNIDIRECTIONAL_SEQUENCE_LSTM", inputs, [15], [(0, "b", 4), (1, "f", clip)])
    return written(G(tensors, [op], [0], [15])), given, recurrent, sums


@pytest.mark.parametrize(("clip", "lifted", "calls"), [(0.0, 0.0, 2), (9.5, 9.0, 5)])
def test_a_recurrent_layer_goes_on_where_the_call_before_ended(clip: float, lifted: float, calls: int) -> None:
    import onnxruntime

    content, given, recurrent, sums = lstm_file(clip, lifted)
    session = onnxruntime.InferenceSession(to_onnx(content).SerializeToString(), providers=["CPUExecutionProvider"])
    held = [np.zeros((1, 2), np.float32)] * 2
    hidden, cell = np.zeros(2), np.zeros(2)
    for _ in range(calls):
        x = RNG.standard_normal((1, 3, 4)).astype(np.float32)
        names = [entry.name for entry in session.get_inputs()]
        y, *held = (np.asarray(v) for v in session.run(None, dict(zip(names, (x, *held), strict=True))))
        for frame in range(3):
            gates = [w @ x[0, frame] + r @ hidden + b for w, r, b in zip(given, recurrent, sums, strict=True)]
            i, f, o = (1 / (1 + np.exp(-gates[n])) for n in (0, 1, 3))
            cell = np.clip(f * cell + i * np.tanh(gates[2]), -clip or -np.inf, clip or np.inf)
            hidden = o * np.tanh(cell)
            np.testing.assert_allclose(y[0, frame], hidden, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(held[1][0], cell, rtol=1e-4, atol=1e-5)
    assert (cell == clip).any() == bool(clip)


def test_forms_of_recurrent_layers_that_onnx_does_not_have_are_refused() -> None:
    with pytest.raises(UnsupportedError, match=r"limited to 9, which ONNX's LSTM does not do; from 9\.02 on"):
        load(lstm_file(9.0)[0])
    with pytest.raises(UnsupportedError, match="limited in each of 1025 steps, at most 1024 are written out"):
        load(lstm_file(10.0, steps=1025)[0])


def test_the_scale_of_a_variable_is_one() -> None:
    tensors = [T((1, 3), "int8", 0.5), T((), "resource"), T((1, 3), "int8", 0.25)]
    ops = [Op("VAR_HANDLE", [], [1], [(1, "s", "v")]), Op("READ_VARIABLE", [1], [2]), Op("ASSIGN_VARIABLE", [1, 0], [])]
    with pytest.raises(UnsupportedError, match="tensors 't2' and 't0' are one variable: they differ in type, shape"):
        load(written(G(tensors, ops, [0], [2])))
