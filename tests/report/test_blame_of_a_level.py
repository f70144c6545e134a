"""The sentence for a level that is too small: by how much, at which layer, whose tensors, what would do."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import onnx
import pytest
from graphs import node, onnx_model
from tilewright.cli import main
from tilewright.compile import compile_model
from tilewright.errors import UsageError
from tilewright.options import CompileOptions
from tilewright.report.blame import overflow, worst_moment
from tilewright.target import load_target


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """x -> wide -> narrow -> y: the layer that reads the wide tensor and writes the narrow one needs most."""
    nodes = [
        node("MatMul", "x a", "wide", "widen"),
        node("MatMul", "wide b", "narrow", "shrink"),
        node("MatMul", "narrow c", "y", "end"),
    ]
    sizes = {"a": (4, 100), "b": (100, 20), "c": (20, 4)}
    constants = {name: np.ones(shape, np.float32) for name, shape in sizes.items()}
    onnx.save(onnx_model(nodes, {"x": [1, 4]}, ["y"], constants), tmp_path / "net.onnx")
    return tmp_path / "net.onnx"


def test_the_worst_layer_and_its_tensors_are_named(model: Path) -> None:
    report = compile_model(model, CompileOptions(), load_target("host")).report
    error = overflow(report, {"ram": 400, "flash": 9000})
    assert error is not None
    assert str(error) == (
        "'net' does not fit on 'host': ram needs 480 B and the budget is 400 B, 80 B less: at layer 1 'shrink' "
        "(MatMul) these are alive: 'wide' 400 B, 'narrow' 80 B, 480 B together; flash needs 9,920 B "
        "and the budget is 9,000 B, 920 B less: 9,920 B of constants; "
        "use a larger memory, try --optimize size, or shrink these tensors"
    )
    assert (error.where.node, error.where.tensor) == ("shrink", "wide")
    assert error.smallest == {"ram": 480, "flash": 9920}
    assert overflow(report, {"ram": 480, "flash": 9920}) is None


def test_the_smallest_size_would_do_and_one_byte_less_would_not(model: Path) -> None:
    found = compile_model(model, CompileOptions(level_sizes={"ram": 480}), load_target("host")).report
    assert overflow(found, {}) is None
    error = overflow(compile_model(model, CompileOptions(level_sizes={"ram": 479}), load_target("host")).report, {})
    assert error is not None
    assert "ram needs 480 B and the level has 479 B, 1 B less" in error.why
    assert worst_moment(found.memory["ram"]).moment == 1


def test_a_table_of_targets_says_so_below(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(model), "-t", "host,qemu_microbit", "--budget", "ram=400"]) == 4
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines[-2:]] == ["host", "qemu_microbit"]
    assert "at layer 1 'shrink' (MatMul)" in lines[-1]
    assert re.search(r"beside [\d,]+ B of stack \(estimated\)", lines[-1])


def test_contradictory_sizes_are_one_sentence(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(model), "-t", "host", "--budget", "ram=64K", "--budget", "ram=32K"]) == 2
    assert "--budget ram=32K: 'ram' was given another value before; give it once" in capsys.readouterr().err
    assert main(["check", str(model), "-t", "host", "--budget", "ram=64K", "--budget", "ram=65536"]) == 0
    capsys.readouterr()
    with pytest.raises(UsageError, match="--budget ram=65536 contradicts --set ram=1024: a budget cannot be larger"):
        CompileOptions(level_sizes={"ram": 1024}, budgets={"ram": 65536})
