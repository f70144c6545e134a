"""Evidence of the machine code for all inputs: instructions of a run, of its slices, and layers that are proved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import NetworkFiles
from tilewright.cli import main
from tilewright.evidence.document import Evidence, load
from tilewright.evidence.verdict import problems, remarks
from tilewright.evidence.verify import differences
from tilewright.target import load_target, missing_tools

BOARD = "qemu_mps2_an386"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, network: Callable[[str], NetworkFiles]) -> Path:
    pytest.importorskip("pypcode")
    pytest.importorskip("z3")
    for tool, _ in missing_tools(load_target(BOARD)):
        pytest.skip(f"{tool} is not installed")
    goal = tmp_path_factory.mktemp("evidence") / "out"
    words = ["evidence", str(network("digits_int8").model), "-t", BOARD, "-o", str(goal), "--quantized-io", "-q"]
    assert main([*words, "--slice", "5000", "--only", "time,proofs"]) == 0
    return goal


@pytest.fixture(scope="module")
def evidence(folder: Path) -> Evidence:
    return load(folder)


def test_layers_and_slices_lie_inside_the_bound_of_the_run(evidence: Evidence) -> None:
    time = evidence.time
    assert time is not None
    assert time.cost is not None
    assert (time.missing, time.core) == ("", "Cortex-M4")
    layers = [layer.cost.most for layer in time.layers if layer.cost is not None]
    slices = [one.cost.most for one in time.slices]
    assert len(slices) > 1
    assert sum(layers) < sum(slices) < time.cost.most < 1.01 * sum(slices)
    assert max(layers) < max(slices)


def test_layers_are_proved_and_a_wrong_one_is_a_fault(evidence: Evidence, folder: Path) -> None:
    assert evidence.proofs is not None
    proof = evidence.proofs.proof
    assert proof is not None
    assert proof.proved >= 4
    assert problems(evidence) == ()
    assert any(sentence.endswith("each with its reason") for sentence in remarks(evidence))
    wrong = replace(proof.layers[1], verdict="refuted", why="element 0 is 3, not 4")
    refuted = replace(evidence, proofs=replace(evidence.proofs, proof=replace(proof, layers=(wrong,))))
    assert problems(refuted) == (
        f"layer '{wrong.name}' is wrong for some codes of its operands: element 0 is 3, not 4",
    )
    assert [told for told in differences(evidence, refuted) if told == "section 'proofs' says something else"]
    page = (folder / "evidence.html").read_text(encoding="utf-8")
    assert f"The machine code of {proof.proved} of {len(proof.layers)} layers is proved" in page
    assert 'id="time"' in page


def test_what_cannot_be_bounded_or_proved_says_why(
    tmp_path: Path, network: Callable[[str], NetworkFiles], capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["evidence", str(network("digits").model), "-t", "host", "-q", "-o"]
    assert main([*words, str(tmp_path / "proofs"), "--only", "proofs"]) == 6
    assert "no layer computes on codes" in capsys.readouterr().err
    pytest.importorskip("pypcode")
    assert main([*words, str(tmp_path / "time"), "--only", "time"]) == 6
    assert "the section 'time' cannot be made" in capsys.readouterr().err
