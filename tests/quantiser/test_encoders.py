"""Encoders in integers from end to end: quantised by us, equal to ONNX Runtime; hidden tokens have no say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from board_layers import board_or_skip
from encoder_networks import TOKENS, WORDS, image_encoder, text_encoder
from tilewright.cli import main
from tilewright.report.build import Report

SAMPLES = 10


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both networks in codes."""
    folder, draw = tmp_path_factory.mktemp("encoders"), np.random.default_rng(5)
    lengths = draw.integers(2, TOKENS + 1, SAMPLES)
    mask = (np.arange(TOKENS) < lengths[:, None]).astype(np.int64)[:, None]
    samples: dict[str, dict[str, Any]] = {
        "text": {"ids": draw.integers(0, WORDS, mask.shape), "mask": mask},
        "image": {"image": draw.normal(size=(SAMPLES, 1, 3, 8, 8)).astype(np.float32)},
    }
    for kind, model in (("text", text_encoder()), ("image", image_encoder())):
        onnx.save(model, folder / f"{kind}.onnx")
        np.savez(folder / f"{kind}.npz", **samples[kind])
        words = ["quantize", str(folder / f"{kind}.onnx"), "-o", str(folder / f"{kind}_codes.onnx"), "-q"]
        assert main([*words, "--calibrate", str(folder / f"{kind}.npz")]) == 0
        np.savez(folder / f"{kind}_one.npz", **{name: values[0] for name, values in samples[kind].items()})
    return folder


def _run(folder: Path, kind: str, target: str, *more: str) -> Report:
    told = folder / f"{kind}_{target}.json"
    words = ["run", str(folder / f"{kind}_codes.onnx"), "-t", target, "--inputs", str(folder / f"{kind}_one.npz")]
    assert main([*words, "--json", str(told), "-q", *more]) == 0
    return Report.from_json(json.loads(told.read_text()))


@pytest.mark.parametrize(
    ("kind", "target", "more"), [("text", "qemu_mps2_an386", ()), ("image", "host", ("--integer-only",))]
)
def test_an_encoder_in_codes_equals_onnxruntime(folder: Path, kind: str, target: str, more: tuple[str, ...]) -> None:
    if target != "host":
        board_or_skip(target)
    report = _run(folder, kind, target, *more)
    assert report.run is not None
    assert report.run.match
    assert report.run.reference is not None
    assert (report.run.reference.mismatches, report.run.reference.explained) == (0, 0)
    assert [layer.kernel for layer in report.layers if layer.op == "LayerNormalization"] == ["NormalisedI8"] * 3


def test_hidden_tokens_have_no_say(folder: Path) -> None:
    plain = onnxruntime.SessionOptions()
    plain.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(folder / "text_codes.onnx", plain)
    mask = np.array([[1, 1, 1, 0, 0, 0, 0]])
    ids = np.random.default_rng(1).integers(0, WORDS, (1, TOKENS))
    others = np.where(mask > 0, ids, (ids + 7) % WORDS)
    answers = [session.run(None, {"ids": one, "mask": mask})[0] for one in (ids, others)]
    np.testing.assert_array_equal(*answers)
