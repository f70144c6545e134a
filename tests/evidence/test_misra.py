"""No required rule of MISRA C:2012 is departed from in the C for microcontrollers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import tilewright
from conftest import NetworkFiles
from tilewright.codegen.terms import plus, times
from tilewright.compile import write
from tilewright.evidence.document import Misra
from tilewright.evidence.misra import misra


def _checked(model: Path, board: str, folder: Path) -> Misra:
    target = tilewright.load_target(board)
    compiled = tilewright.compile_model(model, tilewright.CompileOptions(quantized_io=True), target)
    (folder / "project").mkdir()
    compiled = write(compiled, folder / "project")
    found = misra(folder / "project", [compiled.artifacts.parts.code], target, folder)
    if found.missing:
        pytest.skip(found.missing)
    return found


@pytest.mark.parametrize(
    ("name", "board"),
    [("digits", "qemu_mps2_an386"), ("odd_lstm", "qemu_mps2_an386"), ("odd_unet_int8", "qemu_rv32imc")]
    + [("digits_int8", board) for board in ("qemu_mps2_an386", "qemu_mps2_an385", "qemu_rv32imc")],
)
def test_no_required_rule_is_departed_from(
    name: str, board: str, network: Callable[[str], NetworkFiles], tmp_path: Path
) -> None:
    found = _checked(network(name).model, board, tmp_path)
    assert found.unchecked == ()
    departures = {finding.rule: finding.places for finding in found.findings if finding.category != "advisory"}
    assert departures == {}


def test_terms_that_change_nothing_are_not_printed() -> None:
    assert [plus("x", 3), plus("x", -3), plus("x", 0), plus("0", 4), plus("", 0)] == ["x + 3", "x - 3", "x", "4", "0"]
    assert [times("i", 3), times("i", 1), times("i", 0)] == ["i * 3", "i", "0"]
