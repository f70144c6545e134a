"""Fast Fourier transforms of floats: points of many factors, real and complex, in both directions, in C."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from graphs import node, onnx_model
from in_c import Trial, hold
from tilewright.conformance.subject import load_and_pass, place
from tilewright.platforms.generic.kernels.transform_f32 import order, radices
from tilewright.plugins import platform

RANDOM = np.random.default_rng(9)


def real(*shape: int) -> npt.NDArray[np.float32]:
    return RANDOM.standard_normal(shape).astype(np.float32)


def pairs(x: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    return np.stack((x.real, x.imag), -1).astype(np.float32)


def whole(given: int, length: int, parts: int, *, inverse: int = 0, onesided: int = 0) -> Trial:
    """A DFT over the points of two rows."""
    x = real(2, given, parts)
    values = (x[..., 0] if parts == 1 else x[..., 0] + 1j * x[..., 1]).astype(complex)
    constants = {"n": np.array(length), "a": np.array(1)}
    made = node("DFT", "x n a", "y", "t", inverse=inverse, onesided=onesided)
    if inverse and onesided:
        want = np.fft.irfft(values, length, 1)[..., None].astype(np.float32)
    elif inverse:
        want = pairs(np.fft.ifft(values, length, 1))
    else:
        want = pairs(np.fft.fft(values, length, 1)[:, : length // 2 + 1 if onesided else length])
    return Trial(onnx_model([made], {"x": list(x.shape)}, ["y"], constants, 20), {"x": x}, {"y": want})


def framed(samples: int, length: int, step: int, *, window: bool, onesided: int, parts: int = 1) -> Trial:
    """An STFT of two signals."""
    x, weights = real(2, samples, parts), RANDOM.random(length).astype(np.float32)
    constants = {"s": np.array(step), "n": np.array(length)} | ({"w": weights} if window else {})
    made = node("STFT", f"x s {'w' if window else '-'} n", "y", "t", onesided=onesided)
    values = x[..., 0] if parts == 1 else x[..., 0] + 1j * x[..., 1]
    places = np.arange(1 + (samples - length) // step)[:, None] * step + np.arange(length)
    spectrum = np.fft.fft(values[:, places].astype(complex) * (weights if window else 1), length, -1)
    want = pairs(spectrum[..., : length // 2 + 1 if onesided else length])
    return Trial(onnx_model([made], {"x": list(x.shape)}, ["y"], constants, 20), {"x": x}, {"y": want})


TRIALS = {
    "fours": whole(64, 64, 2), "a two": whole(32, 32, 2), "threes and a five": whole(45, 45, 2),
    "a prime": whole(31, 31, 2), "all of them": whole(168, 168, 2), "real, even": whole(64, 64, 1, onesided=1),
    "real, half of it odd": whole(42, 42, 1, onesided=1), "real, odd": whole(27, 27, 1, onesided=1),
    "real, both sides": whole(40, 40, 1), "back": whole(60, 60, 2, inverse=1),
    "back to real points": whole(33, 64, 2, inverse=1, onesided=1),
    "back to an odd number of them": whole(20, 33, 2, inverse=1, onesided=1),
    "more points than there are": whole(50, 80, 1, onesided=1), "fewer points than there are": whole(90, 64, 1),
    "too few for a result of real points": whole(12, 48, 2, inverse=1, onesided=1),
    "frames": framed(200, 64, 24, window=True, onesided=1),
    "frames of both sides": framed(100, 30, 7, window=False, onesided=0),
    "frames of an odd length": framed(100, 25, 10, window=True, onesided=1),
    "frames of complex points": framed(90, 32, 10, window=True, onesided=0, parts=2),
}  # fmt: skip


def test_transforms_in_c(tmp_path: Path) -> None:
    hold(list(TRIALS.values()), tmp_path, rtol=1e-4, atol=2e-5)


def kernel_of(trial: Trial) -> str:
    placed = place(load_and_pass(trial.proto, "net"), platform("generic"))
    (name,) = (one.kernel.name for one in placed.plan.instructions if one.kernel is not None)
    return name


def test_who_computes_what() -> None:
    assert {kernel_of(trial) for trial in TRIALS.values()} == {"FastTransform"}
    assert kernel_of(whole(12, 12, 2)) == "Dft"
    assert kernel_of(whole(37, 37, 2)) == "Dft"
    assert kernel_of(framed(90, 82, 2, window=True, onesided=1)) == "Stft"


def test_every_point_stands_somewhere_before_the_first_step() -> None:
    for points in range(1, 200):
        places = order(radices(points))
        assert sorted(places.tolist()) == list(range(points))
