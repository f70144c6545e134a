"""The tables of estimates against builds are those of the recorded runs, and none of these refuted an estimate."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType

import pytest
from conftest import ROOT


@pytest.fixture
def generator(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "ci"))
    import benchmarks.sizes_page as found

    return found


def test_the_page_is_that_of_the_recorded_runs(generator: ModuleType) -> None:
    text = generator.RECORD.read_text(encoding="utf-8")
    record = generator.read(text)
    assert record.text() == text
    page = generator.PAGE.read_text(encoding="utf-8")
    assert generator.page(record, page) == page
    planted = replace(record.levels[0], median=99.9)
    assert "| 99.9 |" in generator.page(replace(record, levels=(planted, *record.levels[1:])), page)


def test_no_build_refuted_an_estimate_and_no_command_tells_another_figure(generator: ModuleType) -> None:
    record = generator.read(generator.RECORD.read_text(encoding="utf-8"))
    assert [level for level in record.levels if level.refuted or level.least < 0] == []
    assert record.told.cells == 48
    assert record.told.differ == 0
