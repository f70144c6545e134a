"""`run --layers` where layers, or what lies inside of them, differ though the outputs match."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tilewright.cli import main
from tilewright.report.build import InnerReport, RunReport


def test_a_tensor_inside_of_a_layer_that_differs_is_named(
    fake: Any, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    fake.run = RunReport(False, 0.0, 0, 0, 10)
    same, wrong = InnerReport("s", "conv_1", 0.0, 0, 0), InnerReport("t", "conv_2", 2.0, 2, 7)
    first, second, *others = fake.report.layers
    fake.report = replace(fake.report, layers=(first, replace(second, mismatches=0, inner=(same, wrong)), *others))
    assert main(["run", model, "-t", "host", "--layers"]) == 5
    assert f"the first is 'conv_2' inside of '{second.name}', whose largest error is 2 steps" in capsys.readouterr().err


def test_run_exits_5_where_only_layers_differ(
    fake: Any, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fake.run = RunReport(False, 0.0, 0, 0, 10)
    first, second, *others = fake.report.layers
    wrong = replace(second, name="conv", max_abs_error=3.0, max_lsb_error=3, mismatches=7)
    fake.report = replace(fake.report, layers=(replace(first, mismatches=0), wrong, *others))
    assert main(["run", model, "-t", "host", "--layers", "-o", str(tmp_path / "out")]) == 5
    captured = capsys.readouterr()
    assert (
        "layers of 'digits' differ on 'host' though its outputs match: 1 of 2 layers; "
        "the first is 'conv', whose largest error is 3 steps" in captured.err
    )
    assert "outputs match (10 elements), layers differ" in captured.out
