"""What codes of eight bits cost: `tilewright quantize` beside ONNX Runtime's static quantisation, per channel.

bash ci/bench quantise                 all networks
bash ci/bench quantise:digits,vit      these

Both are given the same calibration samples, and are judged by the NumPy executor on others. `mobile` and `vit` are
made by small_networks.py. The float networks of MLPerf Tiny lie in ../shared/models; their data sets are not
there, so their inputs are drawn with the range and the spectrum of such, and what counts is the float network's answer.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import onnx
from quantise import quantise
from tilewright.frontend.load import load
from tilewright.model import Array, Model
from tilewright.quantiser.static.accuracy import classes, integers_of, noise_of
from tilewright.quantiser.static.quantise import quantised
from tilewright.quantiser.static.samples import Samples, divided
from tilewright.quantiser.static.trial import decibels, session_of

TITLE = "what codes of eight bits cost"
ROOT = Path(__file__).parents[2]
SMALL, SHARED = ROOT / "build" / "quantise", ROOT.parent / "shared" / "models"
CALIBRATION, JUDGED = 120, 240
Row = tuple[str, ...]


def table(*names: str) -> list[Row]:
    """A row per network and quantiser."""
    rows: list[Row] = [("network", "codes by", "samples", "right", "as float", "signal to noise", "seconds")]
    for name in names or ("digits", "mobile", "vit", "resnet8", "vww", "dscnn", "ad"):
        file = file_of(name)
        if not file.is_file():
            rows.append((name, "-", "not here", "", "", "", ""))
            continue
        rows += _rows(name, file)
    return rows


def file_of(name: str) -> Path:
    """Where a network lies."""
    if name == "digits":
        return ROOT / "tests" / "models" / "digits" / "model.onnx"
    return SMALL / f"{name}.onnx" if name in ("mobile", "vit") else SHARED / f"{name}_f32" / "model.onnx"


def _rows(name: str, file: Path) -> list[Row]:
    model, proto = load(file), onnx.load(file)
    (given,) = model.inputs
    values, labels = data(name)
    shaped = values.reshape(-1, *model.tensors[given].shape)
    calibration, judged = (
        Samples({given: shaped[part]}, None if labels is None else labels[part])
        for part in (slice(CALIBRATION), slice(CALIBRATION, None))
    )
    real = [[each[one] for one in model.outputs] for each in session_of(model, list(model.outputs)).over(judged)]
    rows = [_row(name, "float", real, real, judged, model, 0.0)]
    start = time.perf_counter()
    peer = quantise(proto, [{given: one} for one in calibration.inputs[given]]).SerializeToString()
    middle = time.perf_counter()
    ours = quantised(model, divided(calibration)).content
    for by, content, seconds in (
        ("onnxruntime", peer, middle - start), ("tilewright", ours, time.perf_counter() - middle),
    ):  # fmt: skip
        rows.append(_row(name, by, integers_of(content).outputs(judged), real, judged, model, seconds))
    return rows


def _row(
    name: str, by: str, outputs: list[list[Array]], real: list[list[Array]], samples: Samples, model: Model,
    seconds: float,
) -> Row:  # fmt: skip
    mine, theirs = classes(outputs), classes(real)
    assert mine is not None
    right = "" if samples.labels is None else f"{(mine == samples.labels).mean():.2%}"
    noise = "" if by == "float" else f"{decibels(noise_of(model, outputs, real)):.1f} dB"
    return (
        name,
        by,
        str(samples.count),
        right,
        f"{(mine == theirs).mean():.2%}",
        noise,
        f"{seconds:.0f}" if noise else "",
    )


def data(name: str) -> tuple[Array, Array | None]:
    """Samples to calibrate with, those to judge by behind them, and labels where they are known."""
    random = np.random.default_rng(1)
    if name in ("digits", "mobile", "vit"):
        from sklearn.datasets import load_digits

        raw = load_digits()
        order = np.random.default_rng(20).permutation(len(raw.images))  # the first 360 or more are never trained on
        order = np.concatenate([order[-CALIBRATION:], order[:360]])
        return (raw.images[order] / 16).astype(np.float32), raw.target[order]
    count = CALIBRATION + JUDGED
    if name in ("resnet8", "vww"):
        images = pictures(random, count, 32 if name == "resnet8" else 96)
        return images if name == "resnet8" else images / np.float32(255), None
    if name == "dscnn":
        walk = np.cumsum(random.normal(size=(count, 49, 10)), 1) * 0.3 + random.normal(size=(count, 1, 10)) * 3
        return np.clip(walk / 6, -1, 1).astype(np.float32), None
    walk = random.normal(size=(count, 640)) * 0.3 + np.cumsum(random.normal(size=(count, 640)), 1) * 0.03
    return np.clip(walk, -1, 1).astype(np.float32), None


def pictures(random: np.random.Generator, count: int, size: int) -> Array:
    """Pictures [count, size, size, 3] from 0 to 255: the spectrum of natural images, and ellipses on them."""
    frequency = np.fft.fftfreq(size)[:, None] ** 2 + np.fft.fftfreq(size)[None] ** 2
    frequency[0, 0] = 1
    rows, columns = np.mgrid[:size, :size]
    images = []
    for _ in range(count):
        noise = random.normal(size=(2, 3, size, size))
        spectrum = (noise[0] + 1j * noise[1]) / frequency**0.75
        spectrum[1:] = 0.7 * spectrum[:1] + 0.3 * spectrum[1:]
        image = np.fft.ifft2(spectrum).real
        image = image / image.std() * 45 + random.uniform(60, 190)
        for _ in range(3):
            y, x, radius = *random.uniform(0, size, 2), random.uniform(size / 8, size / 3)
            inside = (rows - y) ** 2 + (columns - x) ** 2 * random.uniform(0.5, 3) < radius**2
            image[:, inside] += random.normal(size=(3, 1)) * 50
        images.append(np.clip(image, 0, 255).transpose(1, 2, 0))
    return np.round(np.stack(images)).astype(np.float32)
