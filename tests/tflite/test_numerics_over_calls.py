"""`--numerics tflm` of layers that keep something from call to call, against the wheel of TensorFlow Lite Micro."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from tflite_files import T, single
from tflm_codes import codes_of, lowered
from tilewright.cli import main
from tilewright.errors import UnsupportedError
from tilewright.model import Array

RNG = np.random.default_rng(23)
CALLS = 8


def svdf(kind: str, zero_point: int = 0) -> bytes:
    """Six units of rank two over a memory of four, whose state is of the type `kind` and clips now and then."""
    feature, reach = RNG.integers(-127, 128, (12, 9)), 127 if kind == "int8" else 8000
    time = RNG.integers(-reach, reach + 1, (12, 4))
    scales = (0.11, 0.004) if kind == "int8" else (0.00043, 0.00009)
    total = scales[0] * scales[1]
    tensors = [
        T((1, 9), "int8", 0.05, -3), T((12, 9), "int8", 0.0123, data=feature),
        T((12, 4), kind, scales[1], data=time), T((6,), "int32", total, data=RNG.integers(-3, 3, 6) * 1000),
        T((1, 48), kind, scales[0], zero_point, variable=True),
    ]  # fmt: skip
    return single("SVDF", tensors, [T((1, 6), "int8", 0.19, 12)], [(0, "i", 2), (1, "b", 1)])


FRAMES = {"t0": RNG.integers(-128, 128, (CALLS, 1, 9)).astype(np.int8)}
CASES = {"svdf of 16 bits": (svdf("int16"), FRAMES), "svdf of 8 bits": (svdf("int8"), FRAMES)}


def over_calls(content: bytes, frames: dict[str, Array]) -> list[Array]:
    """The first result of every call, by the semantics."""
    model = lowered(content)
    held = {}
    for state in model.states:
        past = model.tensors[state.past]
        held[state.past] = np.zeros(past.shape, past.dtype.numpy) if state.initial is None else state.initial
    results: list[Array] = []
    for call in range(CALLS):
        given = {name: values[call] for name, values in frames.items()}
        values = dict(zip(model.outputs, codes_of(model, {**held, **given}), strict=True))
        held = {state.past: values[state.present] for state in model.states}
        results.append(values[model.results[0]])
    return results


@pytest.mark.parametrize("case", CASES)
def test_every_call_gives_the_codes_of_the_kernels(case: str) -> None:
    runtime = pytest.importorskip("tflite_micro", reason="tflite-micro is not installed").runtime
    content, frames = CASES[case]
    interpreter = runtime.Interpreter.from_bytes(content, arena_size=1 << 20)
    for call, codes in enumerate(over_calls(content, frames)):
        for index, values in enumerate(frames.values()):
            interpreter.set_input(values[call], index)
        interpreter.invoke()
        assert np.array_equal(codes, interpreter.get_output(0)), call


def total(results: Sequence[Array]) -> int:
    """A sum that sees order and value."""
    return sum(int((codes.astype(np.int64).reshape(-1) * np.arange(1, codes.size + 1)).sum()) for codes in results)


def test_codes_over_calls_are_recorded() -> None:
    """As the wheel 0.dev20261023182759 gave them."""
    assert {case: total(over_calls(*CASES[case])) for case in CASES} == RECORDED


RECORDED = {"svdf of 16 bits": 448, "svdf of 8 bits": 1482}


@pytest.mark.parametrize("case", ["svdf of 16 bits"])
def test_the_generated_code_keeps_them(case: str, tmp_path: Path) -> None:
    file = tmp_path / "net.tflite"
    file.write_bytes(CASES[case][0])
    assert main(["run", str(file), "-t", "host", "--numerics", "tflm", "--frames", str(CALLS)]) == 0


def test_a_state_that_wraps_around_is_refused() -> None:
    with pytest.raises(UnsupportedError) as caught:
        lowered(svdf("int8", 5))
    why = "its codes are limited before the zero point is added, and wrap around behind it"
    assert str(caught.value) == f"tensor 'SVDF_0/gemm': --numerics tflm does not have it: {why}; use --numerics exact"
