"""Every test that the table of the seeds names is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_tests_that_the_table_names_exist() -> None:
    text = (ROOT / "docs" / "seeds.md").read_text(encoding="utf-8")
    section = text[text.index("## The execution-plan runtime") :]
    section = section[: section.find("\n## ", 1)] if "\n## " in section[1:] else section
    named, file = set(), ""
    for found in re.finditer(r"`(test_\w+\.py)?(?:::(test_\w+))?(?:\[[^\]]*\])?`", section):
        file = found[1] or file
        if found[2] or found[1]:
            named.add((file, found[2] or ""))
    assert len(named) > 30
    for name, test in named:
        place = next((p for p in (ROOT / "tests").glob(f"*/{name}")), None)
        assert place is not None, name
        assert not test or f"def {test}(" in place.read_text(encoding="utf-8"), (name, test)
