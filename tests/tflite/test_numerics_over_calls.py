"""`--numerics tflm` of layers that keep something from call to call, against the wheel of TensorFlow Lite Micro."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from tflite_files import G, Op, T, single, written
from tflm_codes import codes_of, lowered
from tilewright.cli import main
from tilewright.errors import UnsupportedError
from tilewright.model import Array

RNG = np.random.default_rng(23)
CALLS = 8


def svdf(kind: str, zero_point: int = 0, reach: int = 0) -> bytes:
    """Six units of rank two over a memory of four, whose state is of the type `kind` and clips now and then.

    `reach` is how large weights over time may be.
    """
    feature, reach = RNG.integers(-127, 128, (12, 9)), reach or (127 if kind == "int8" else 8000)
    time = RNG.integers(-reach, reach + 1, (12, 4))
    scales = (0.11, 0.004) if kind == "int8" else (0.00043, 0.00009)
    total = scales[0] * scales[1]
    tensors = [
        T((1, 9), "int8", 0.05, -3), T((12, 9), "int8", 0.0123, data=feature),
        T((12, 4), kind, scales[1], data=time), T((6,), "int32", total, data=RNG.integers(-3, 3, 6) * 1000),
        T((1, 48), kind, scales[0], zero_point, variable=True),
    ]  # fmt: skip
    return single("SVDF", tensors, [T((1, 6), "int8", 0.19, 12)], [(0, "i", 2), (1, "b", 1)])


def lstm(kind: str, clip: float, time_major: bool, lifted: int = 0, falls: bool = False) -> bytes:
    """Two sequences of three frames of seven, five units; `lifted` biases open all gates, so that the cell grows, or
    falls."""
    wide = kind == "int16"
    given, recurrent = RNG.integers(-127, 128, (4, 5, 7)), RNG.integers(-127, 128, (4, 5, 5))
    x, hidden = (0.0003, 0) if wide else (0.06, 9), (2.0**-15, 0) if wide else (0.0075, -5)
    frames, results = ((3, 2, 7), (3, 2, 5)) if time_major else ((2, 3, 7), (2, 3, 5))
    weights = [T((5, 7), "int8", 0.011 + gate / 999, data=w) for gate, w in enumerate(given)]
    weights += [T((5, 5), "int8", 0.009 + gate / 999, data=w) for gate, w in enumerate(recurrent)]
    biases = [RNG.integers(-900, 5000, 5) * (50 if wide else 1) + lifted for _ in range(4)]
    biases[2] *= -1 if falls else 1
    sums = [T((5,), "int64" if wide else "int32", x[0] * 0.011, data=b) for b in biases]
    states = [T((2, 5), kind, *hidden, variable=True), T((2, 5), "int16", 2.0**-11, variable=True)]
    tensors = [T(frames, kind, *x), *weights, *sums, *states, T(results, kind, *hidden)]
    inputs = [*range(9), -1, -1, -1, *range(9, 13), -1, -1, 13, 14, -1, -1, -1, -1]
    options = [(0, "b", 4), (1, "f", clip), (3, "b", int(time_major))]
    return written(G(tensors, [Op("UNIDIRECTIONAL_SEQUENCE_LSTM", inputs, [15], options)], [0], [15]))


FRAMES = {"t0": RNG.integers(-128, 128, (CALLS, 1, 9)).astype(np.int8)}
SEQUENCES = {"t0": RNG.integers(-128, 128, (CALLS, 2, 3, 7)).astype(np.int8)}
IN_TIME = {"t0": RNG.integers(-32768, 32768, (CALLS, 3, 2, 7)).astype(np.int16)}
CASES: dict[str, tuple[bytes, dict[str, Array]]] = {
    "svdf of 16 bits": (svdf("int16"), FRAMES),
    "svdf of 8 bits": (svdf("int8"), FRAMES),
    "lstm of 8 bits": (lstm("int8", 10.0, False), SEQUENCES),
    "lstm without a limit": (lstm("int8", 0.0, False), SEQUENCES),
    "lstm of 16 bits": (lstm("int16", 10.0, True), IN_TIME),
    "lstm at its limit": (lstm("int8", 9.5, False, 60000), SEQUENCES),
    "svdf that wraps around": (svdf("int8", 5), FRAMES),
    "svdf of sums that wrap around": (svdf("int16", reach=32767), FRAMES),
    "lstm that falls to its lowest code but one": (lstm("int8", 20.0, False, 60000, falls=True), SEQUENCES),
}


def over_calls(content: bytes, frames: dict[str, Array]) -> list[list[Array]]:
    """The first result of every call and the states behind it, by the semantics."""
    model = lowered(content)
    held = {}
    for state in model.states:
        past = model.tensors[state.past]
        held[state.past] = np.zeros(past.shape, past.dtype.numpy) if state.initial is None else state.initial
    results: list[list[Array]] = []
    for call in range(CALLS):
        given = {name: values[call] for name, values in frames.items()}
        values = dict(zip(model.outputs, codes_of(model, {**held, **given}), strict=True))
        held = {state.past: values[state.present] for state in model.states}
        results.append([values[model.results[0]], *held.values()])
    return results


@pytest.mark.parametrize("case", CASES)
def test_every_call_gives_the_codes_of_the_kernels(case: str) -> None:
    runtime = pytest.importorskip("tflite_micro", reason="tflite-micro is not installed").runtime
    content, frames = CASES[case]
    interpreter = runtime.Interpreter.from_bytes(content, arena_size=1 << 20)
    for call, (codes, *_) in enumerate(over_calls(content, frames)):
        for index, values in enumerate(frames.values()):
            interpreter.set_input(values[call], index)
        interpreter.invoke()
        assert np.array_equal(codes, interpreter.get_output(0)), call


def total(results: Sequence[Sequence[Array]]) -> list[int]:
    """For the results and each state a sum over all calls that sees order and value."""
    return [
        sum(int((codes.astype(np.int64).reshape(-1) * np.arange(1, codes.size + 1)).sum()) for codes in each)
        for each in zip(*results, strict=True)
    ]


def test_codes_over_calls_are_recorded() -> None:
    """Results as the wheel 0.dev20261023182759 gave them."""
    assert {case: total(over_calls(*CASES[case])) for case in CASES} == RECORDED


RECORDED = {
    "svdf of 16 bits": [-9, -18644379],
    "svdf of 8 bits": [1507, -34287],
    "lstm of 8 bits": [-47521, -9366, -80073],
    "lstm without a limit": [49117, 2009, 398742],
    "lstm of 16 bits": [9857971, 1225541, 275414],
    "lstm at its limit": [468565, 55880, 7373591],
    "svdf that wraps around": [1244, 56776],
    "svdf of sums that wrap around": [3516, 13128384],
    "lstm that falls to its lowest code but one": [-473850, -56320, -10458250],
}


@pytest.mark.parametrize(
    "case", ["svdf of 16 bits", "svdf that wraps around", "svdf of sums that wrap around", "lstm of 16 bits"]
)
def test_the_generated_code_keeps_them(case: str, tmp_path: Path) -> None:
    file = tmp_path / "net.tflite"
    file.write_bytes(CASES[case][0])
    assert main(["run", str(file), "-t", "host", "--numerics", "tflm", "--frames", str(CALLS)]) == 0


def test_layers_whose_state_the_kernels_treat_otherwise_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="the limit of its cell lies between two codes"):
        lowered(lstm("int8", 9.8765, False))
