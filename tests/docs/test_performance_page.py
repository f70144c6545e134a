"""Every page's figures are those of the recorded run; what was not measured is null."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def generator(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "ci"))
    import benchmarks.performance_page as found

    return found


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "ci"))
    import benchmarks.figure_tables as found

    return found


def test_the_pages_are_those_of_the_recorded_run(generator: ModuleType, tables: ModuleType) -> None:
    figures = generator.read((ROOT / "docs" / "performance.json").read_text())
    assert (ROOT / "docs" / "performance.json").read_text() == figures.text()
    found = tables.pages(figures)
    assert {file.name for file in found} == {"README.md", "peers.md", "performance.md"}
    for file, text in found.items():
        assert file.read_text(encoding="utf-8") == text, f"{file.name}: bash ci/bench figures:- writes its tables"
    for name in tables.TABLES:
        assert sum(f"<!-- figures: {name} -->" in text for text in found.values()) == 1


def test_another_figure_is_another_page(generator: ModuleType, tables: ModuleType) -> None:
    figures = generator.read((ROOT / "docs" / "performance.json").read_text())
    planted = generator.Figure(123_456_789, 4_321, 98_765, 111)
    figures.put("m4", "balanced", "vww", planted)
    changed = {file.name for file, text in tables.pages(figures).items() if file.read_text(encoding="utf-8") != text}
    assert changed == {"README.md", "peers.md", "performance.md"}
    assert "**4,432**" in tables.pages(figures)[ROOT / "docs" / "peers.md"]


def test_every_section_has_a_figure_or_null_for_every_network(generator: ModuleType) -> None:
    empty = generator.Figures()
    for section in generator.SECTIONS:
        for row in generator.rows(section, empty):
            assert len(row) == 1 + len(generator.MODELS)
            ours = row[0].startswith("tilewright") or section.key == "time"
            assert all(value == "null" for value in row[1:]) or not ours


def test_figures_survive_their_file(generator: ModuleType) -> None:
    figures = generator.Figures()
    figures.put("m4", "speed", "ad", generator.Figure(281_234, 768, 272_000))
    figures.put("m4", "speed", "vww", None)
    again = generator.read(figures.text())
    assert again.text() == figures.text()
    (section,) = [section for section in generator.SECTIONS if section.key == "m4"]
    assert generator.rows(section, again)[0] == ("tilewright --optimize speed", "null", "null", "null", "0.281")
    assert generator.cell(31.208) == "31.21"
    assert generator.cell(None) == "null"
