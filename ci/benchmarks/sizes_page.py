"""The tables of docs/reports.md that hold estimates against builds, made from the recorded runs in docs/sizes.json."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
RECORD, PAGE = ROOT / "docs" / "sizes.json", ROOT / "docs" / "reports.md"
_BLOCK = re.compile(r"(<!-- sizes -->\n).*?(<!-- end of sizes -->)", re.DOTALL)


@dataclass(frozen=True)
class Level:
    """Estimates of one level of a target against builds: how many there are, how many are too small, and by how many
    hundredths of the level the least, the median and the largest are too large."""

    target: str
    name: str
    cells: int
    refuted: int
    least: float
    median: float
    most: float


@dataclass(frozen=True)
class Told:
    """How many cells were looked at, how many places tell of one, and how many cells have two figures."""

    cells: int
    places: int
    differ: int


@dataclass(frozen=True)
class Record:
    """What was compared, in words, what came out of it, and whether all commands tell the same figures."""

    networks: str
    levels: tuple[Level, ...]
    told: Told

    def text(self) -> str:
        """As JSON."""
        levels = ",\n  ".join(json.dumps(list(asdict(level).values())) for level in self.levels)
        head = f' "networks": {json.dumps(self.networks)},\n "told": {json.dumps(asdict(self.told))},\n'
        return f'{{\n{head} "levels": [\n  {levels}\n ]\n}}\n'


def read(text: str) -> Record:
    """The record of a JSON text."""
    stored = json.loads(text)
    return Record(stored["networks"], tuple(Level(*level) for level in stored["levels"]), Told(**stored["told"]))


def page(record: Record, text: str) -> str:
    """The page with the tables of this record."""
    return _BLOCK.sub(lambda block: block[1] + tables(record) + block[2], text)


def tables(record: Record) -> str:
    """What stands between the marks."""
    refuted = sum(level.refuted for level in record.levels)
    told = record.told
    lines = [
        f"`ci/bench sizes`, {record.networks}: {_number(refuted)} of {sum(level.cells for level in record.levels):,} "
        "estimates are less than a build takes. Hundredths of the whole level that they are too large:",
        "",
        "| target | level | networks | least | median | most |",
        "|---|---|---|---|---|---|",
    ]
    for level in record.levels:
        figures = (f"{figure:.1f}" for figure in (level.least, level.median, level.most))
        lines.append(f"| {level.target} | {level.name} | {level.cells} | {' | '.join(figures)} |")
    lines += [
        "",
        f"`ci/bench told` reads the bytes of {told.cells} networks on targets at {told.places} places of the commands, "
        f"before and after a build: {_number(told.differ)} of them have two figures.",
    ]
    return "\n".join(lines) + "\n"


def _number(count: int) -> str:
    return f"{count:,}" if count else "none"


def record(levels: Sequence[Level] | None = None, networks: str = "", told: Told | None = None) -> None:
    """Put what was measured into the record and its page; the rest stays."""
    before = read(RECORD.read_text(encoding="utf-8"))
    now = Record(networks or before.networks, before.levels if levels is None else tuple(levels), told or before.told)
    RECORD.write_text(now.text(), encoding="utf-8")
    PAGE.write_text(page(now, PAGE.read_text(encoding="utf-8")), encoding="utf-8")
