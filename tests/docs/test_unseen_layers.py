"""The benchmark of unseen networks: on which layers CMSIS-NN was counted, and how a row is made of both counts."""

from __future__ import annotations

import tomllib
from pathlib import Path
from types import ModuleType

import onnx
import pytest
from make_odd import odd_inputs
from quantise import quantise
from tilewright.compile import compile_model
from tilewright.options import CompileOptions
from tilewright.target import load_target

ROOT = Path(__file__).parents[2]


@pytest.fixture
def unseen(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "ci"))
    import benchmarks.unseen as found

    return found


def test_every_layer_of_a_drawn_network_was_counted(unseen: ModuleType, tmp_path: Path) -> None:
    model = unseen.temporal(2)
    onnx.save(quantise(model, odd_inputs(model, 2)), tmp_path / "temporal.onnx")
    compiled = compile_model(tmp_path / "temporal.onnx", CompileOptions(), load_target("qemu_mps2_an386"))
    names = [unseen.shape(bound.call) for bound in compiled.bound.nodes if unseen.kind(bound.call)]
    counted = tomllib.loads(unseen.COUNTED.read_text())
    assert names[:2] == ["Conv 3x135 by 16x3x1", "Conv 16x135 by 16x16x3 pads 2,0"]
    assert len(names) == 10
    assert set(counted) == set(unseen.ANCHORS)
    for board in unseen.ANCHORS:
        assert set(names) <= set(counted[board])


def test_both_cores_were_counted_on_the_same_shapes(unseen: ModuleType) -> None:
    small, large = tomllib.loads(unseen.COUNTED.read_text()).values()
    assert small.keys() == large.keys()
    assert all(small[name] > large[name] for name in small)


def test_a_row_compares_the_same_shapes_and_the_fixed_layer(unseen: ModuleType) -> None:
    layers = [unseen.Layer("dense", 100, 150, 290), unseen.Layer("dense", 100, 150, 310)]
    sums = unseen.sums(layers)
    assert sums == {"dense": unseen.Sum(200, 300, 600)}
    assert unseen.cells(sums["dense"], 2.9) == ("200", "1.50", "3.00", "0.50", "yes", "2.90", "no")


def test_a_shape_that_was_not_counted_leaves_only_the_fixed_layer(unseen: ModuleType) -> None:
    layers = [unseen.Layer("dense", 100, 150, 290), unseen.Layer("dense", 100, 150, None)]
    sums = unseen.sums(layers)
    assert sums["dense"].theirs is None
    assert unseen.cells(sums["dense"], 3.0) == ("200", "1.50", "", "", "", "3.00", "yes")
