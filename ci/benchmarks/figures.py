"""One run that measures every figure of README.md, docs/performance.md and docs/peers.md and writes their tables.

bash ci/bench figures              every section (an hour on a small machine)
bash ci/bench figures:m4,time      some of them; the others keep the figures of docs/performance.json
bash ci/bench figures:-            none: the pages are written anew from the recorded figures
"""

from __future__ import annotations

from benchmarks.figure_tables import pages
from benchmarks.performance import measured
from benchmarks.performance_page import SECTIONS, rows

TITLE = "README.md, docs/performance.md, docs/peers.md (millions of instructions of one inference)"


def table(*parts: str) -> list[tuple[str, ...]]:
    """Measure the sections, record them, write the pages, and give the rows."""
    figures = measured(parts)
    for file, text in pages(figures).items():
        file.write_text(text, encoding="utf-8")
    lines: list[tuple[str, ...]] = [("section", "", "ResNet-8", "DS-CNN", "VWW", "AD")]
    return lines + [(section.key, *row) for section in SECTIONS for row in rows(section, figures)]
