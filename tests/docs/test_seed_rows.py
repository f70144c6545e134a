"""Every test that the tables of the region compiler, the pipeline compiler and the exporter name is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SECTIONS = {"The region compiler": "program", "The pipeline compiler": "pipeline", "The PyTorch exporter": "export"}


@pytest.mark.parametrize(("title", "folder"), SECTIONS.items())
def test_the_tests_that_a_table_names_exist(title: str, folder: str) -> None:
    text = (ROOT / "docs" / "seeds.md").read_text(encoding="utf-8")
    (section,) = (part for part in text.split("\n## ") if part.startswith(title))
    rows = [line for line in section.splitlines() if line.startswith("|")][2:]
    assert len(rows) >= 9
    for row in rows:
        file = ""
        named = re.findall(r"`(test_\w+\.py)?(?:::(test_\w+))?`", row.rsplit("|", 2)[1])
        assert [found for found in named if any(found)], row
        for place, test in named:
            file = place or file
            if file:
                assert f"def {test}(" in (ROOT / "tests" / folder / file).read_text(encoding="utf-8"), (file, test)
