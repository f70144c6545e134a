"""No arm of a float convolution is left that the windows of its blocks never take."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from graphs import node, onnx_model
from tilewright.compile import compile_model, write
from tilewright.options import CompileOptions
from tilewright.run.build import build
from tilewright.target import load_target, missing_tools
from tilewright.timing.bound import Analysis


@pytest.mark.parametrize(
    ("channels", "width", "stride"), [(1, 10, 2), (3, 9, 2), (1, 21, 2), (3, 21, 2), (1, 5, 1), (3, 5, 1), (2, 11, 1)]
)
def test_blocks_of_four_have_the_arms_that_they_take(channels: int, width: int, stride: int, tmp_path: Path) -> None:
    """Rows of five pixels with padding at both ends have no four inside; longer rows have both kinds."""
    pytest.importorskip("pypcode")
    target = load_target("qemu_mps2_an386")
    for tool, _ in missing_tools(target):
        pytest.skip(f"{tool} is not installed")
    weights = np.random.default_rng(1).normal(size=(4, channels, 3, 2 + stride)).astype(np.float32)
    conv = node("Conv", "x w", "y", strides=[stride, stride], pads=[1, 1, 1, stride])
    onnx.save(onnx_model([conv], {"x": [1, channels, 9, width]}, ["y"], {"w": weights}), tmp_path / "m.onnx")
    compiled = compile_model(tmp_path / "m.onnx", CompileOptions(), target)
    assert "ConvFpu" in {one.kernel.name for one in compiled.bound.nodes if one.kernel is not None}
    told = compiled.artifacts.files["src/m.c"]
    assert "float line[" not in told or ("from = x" in told) == (width > 10)
    (tmp_path / "c").mkdir()
    write(compiled, tmp_path / "c")
    image = build(tmp_path / "c", compiled.artifacts.interface, target, tmp_path / "b", extra_flags=("-g1",))
    assert [one for one in Analysis(image).bound().unreached if one.dead] == []
