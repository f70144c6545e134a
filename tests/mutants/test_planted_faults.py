"""The table of planted faults: each can be planted, and the runner tells a noticed fault from one that survives."""

from __future__ import annotations

from pathlib import Path

import mutants
import pytest


def test_every_fault_can_be_planted() -> None:
    faults = list(mutants.read_faults())
    assert faults
    assert {
        f"{fault.area}: {fault.name}": mutants.complaint(fault) for fault in faults if mutants.complaint(fault)
    } == {}
    named = [(fault.area, fault.name) for fault in faults]
    assert len(named) == len(set(named))


def test_noticed_survived_and_broken_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sdk" / "tilewright").mkdir(parents=True)
    for folder in ("platforms", "targets", "tests", "ci"):
        (tmp_path / folder).mkdir()
    source = tmp_path / "sdk" / "tilewright" / "twice.py"
    source.write_text("def twice(x: int) -> int:\n    return 2 * x\n")
    (tmp_path / "sdk" / "tilewright" / "__init__.py").write_text("")
    (tmp_path / "tests" / "test_twice.py").write_text(
        "from tilewright.twice import twice\n\n\ndef test_two() -> None:\n    assert twice(2) == 4\n"
    )
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    monkeypatch.setattr(mutants, "COPIED", ("sdk", "platforms", "targets", "tests", "ci"))

    def fault(old: str, new: str) -> mutants.Fault:
        return mutants.Fault("area", new, "sdk/tilewright/twice.py", old, new, ("tests/test_twice.py",))

    faults = [fault("2 * x", "3 * x"), fault("2 * x", "x * x"), fault("absent", "x")]
    judge = mutants.Judge(tmp_path / "work", jobs=1, again=False)
    outcomes = [judge.judge(each) for each in faults]
    assert [verdict.outcome for verdict in outcomes] == ["noticed", "survived", "broken"]
    assert outcomes[0].detail == "FAILED tests/test_twice.py::test_two"
    lines = "\n".join(mutants.table(list(zip(faults, outcomes, strict=True))))
    assert "survived: area: x * x (sdk/tilewright/twice.py)" in lines
    assert "no reason is given" in lines
    again = mutants.Judge(tmp_path / "work", jobs=1, again=False)
    assert [again.known.get(each.key(), None) for each in faults[:2]] == outcomes[:2]
