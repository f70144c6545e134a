"""What every command tells of a network's bytes on a target, cell by cell: no two may differ.

bash ci/bench told                     the networks of `NETWORKS` on `BOARDS`
bash ci/bench told:qemu_mps2_an386     these boards only
bash ci/bench told:record              all, and the count is written into docs/sizes.json and docs/reports.md

Without a build: the tables of `check`, `memory`, `compile` and `report`, their JSON, the page, `diff` and the header.
After one: `check --measure`, `compile --measure`, `run` and the report of each.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks.sizes_page import Told, record
from tilewright.cli import main

TITLE = "bytes as every command tells them"
ROOT = Path(__file__).parents[2]
BOARDS = ("stm32f407", "qemu_mps2_an385", "qemu_rv32imc", "qemu_pulp")
NETWORKS = (
    "ad_int8", "digits", "digits_int8", "dscnn", "dscnn_int8", "odd_lstm", "odd_mobile_int8", "odd_several",
    "odd_temporal", "odd_transformer", "odd_unet_int8", "resnet8_int8",
)  # fmt: skip

Row = tuple[str, ...]
Totals = Mapping[str, int]


def table(*boards: str) -> list[Row]:
    """A row per cell: bytes of each level estimated and built, how many places tell them, and those that differ."""
    named = [board for board in boards if board != "record"]
    places = set[int]()
    rows: list[Row] = [("network", "target", "estimated", "built", "places", "differ")]
    for name in NETWORKS:
        for board in named or BOARDS:
            model = ROOT / "tests" / "models" / name / "model.onnx"
            with tempfile.TemporaryDirectory() as folder:
                sides = (told(model, board, Path(folder)), told_after_a_build(model, board, Path(folder)))
            shown = (", ".join(f"{level} {size:,}" for level, size in side["check"].items()) for side in sides)
            count = sum(map(len, sides))
            places.add(count)
            rows.append((name, board, *shown, str(count), ", ".join(name for side in sides for name in odd(side))))
    if "record" in boards:
        record(told=Told(len(rows) - 1, max(places), sum(bool(row[-1]) for row in rows[1:])))
    return rows


def odd(sides: Mapping[str, Totals]) -> list[str]:
    """Places that tell something else than `check`."""
    return [place for place, totals in sides.items() if totals != sides["check"]]


def told(model: Path, board: str, work: Path) -> dict[str, Totals]:
    """Bytes of every level by place, without a build."""
    project, other, page = work / "project", work / "other", work / "page.html"
    totals: dict[str, Totals] = {}
    for verb in ("check", "memory"):
        text = said(verb, str(model), "-t", board, "--json", str(work / verb))
        rows = json.loads((work / verb).read_text())["rows"]
        totals[verb] = of_report(rows[0])
        totals[f"{verb}, table"] = of_table(text, totals[verb])
    known = totals["check"]
    totals["compile, table"] = of_table(said("compile", str(model), "-t", board, "-o", str(project)), known)
    report = json.loads((project / "report.json").read_text())
    totals["report.json"] = of_report(report)
    totals["report, table"] = of_table(said("report", str(project), "--html", str(page)), known)
    totals["page"] = of_page(page.read_text())
    totals["header"] = of_header(next((project / "src").glob(f"{report['model']['name']}.h")).read_text(), report)
    # a report whose bytes all differ, so that every level is a row
    for level in report["memory"].values():
        level["activations"], level["worst_case"] = level["activations"] + 8, level["worst_case"] + 8
        level["total"] += 8
    other.mkdir()
    (other / "report.json").write_text(json.dumps(report))
    text = said("diff", str(other / "report.json"), str(project / "report.json"))
    totals["diff"] = {
        level: int(size.replace(",", "")) for level, size in re.findall(r"^(\w+) +total +[\d,]+ +([\d,]+)", text, re.M)
    }
    return totals


def told_after_a_build(model: Path, board: str, work: Path) -> dict[str, Totals]:
    """Bytes of every level by place, built."""
    totals: dict[str, Totals] = {}
    text = said("check", str(model), "-t", board, "--measure", "--json", str(work / "measured"))
    known = totals["check"] = of_report(json.loads((work / "measured").read_text())["rows"][0])
    totals["check --measure, table"] = of_table(text, known)
    built = work / "built"
    text = said("compile", str(model), "-t", board, "--measure", "-o", str(built))
    totals["compile --measure, table"] = of_table(text, known)
    totals["compile --measure"] = of_report(json.loads((built / "report.json").read_text()))
    text = said("run", str(model), "-t", board, "--json", str(work / "run"))
    totals["run"] = of_report(json.loads((work / "run").read_text()))
    totals["run, table"] = of_table(text, known)
    return totals


def said(*words: str) -> str:
    """What a command prints."""
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()):
        code = main(list(words))
    if code not in (0, 4):
        raise SystemExit(f"{' '.join(words)}: exit code {code}")
    return out.getvalue()


def of_report(report: Mapping[str, Mapping[str, Mapping[str, int]]]) -> Totals:
    """Levels in which something lies."""
    return {level: row["total"] for level, row in report["memory"].items() if row["total"]}


def of_table(text: str, levels: Totals) -> Totals:
    """The column `total` of a table of memory levels."""
    lines = text.splitlines()
    heads = next(line for line in lines if line.startswith("memory ") and " total" in line)
    end = heads.index(" total") + len(" total")
    totals = {}
    for level in levels:
        row = next(line for line in lines if line.startswith(f"{level} "))
        totals[level] = int(re.sub(r"\D", "", row[:end].split()[-1]))
    return totals


def of_page(page: str) -> Totals:
    """The figure of every level's card."""
    cards = re.findall(r'<article class="card level">\s*<h3>(\w+)</h3>\s*<p class="big[^"]*">([\d,]+)', page)
    return {level: size for level, size in ((name, int(text.replace(",", ""))) for name, text in cards) if size}


def of_header(header: str, report: Mapping[str, Mapping[str, Mapping[str, int]]]) -> Totals:
    """What is placed, as the header defines it, with the stack and code that it names the report for."""
    placed = dict(re.findall(r"^#define \w+?_([A-Z0-9]+)_BYTES (\d+) /\*", header, re.M))
    return dict(_with_program(placed, report))


def _with_program(
    placed: Mapping[str, str], report: Mapping[str, Mapping[str, Mapping[str, int]]]
) -> Iterator[tuple[str, int]]:
    for level, row in report["memory"].items():
        if row["total"]:
            yield level, int(placed.get(level.upper(), 0)) + (row["stack"] or 0) + (row["code"] or 0)
