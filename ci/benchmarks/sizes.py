"""What `check` says of bytes, held against builds: is any "fits" refuted, by how much are estimates too large.

bash ci/bench sizes                         every network of tests/models and the trained ones on `BOARDS`
bash ci/bench sizes:drawn=200               200 drawn networks as well, each on one board in turn
bash ci/bench sizes:qemu_microbit           these boards only
bash ci/bench sizes:smallest                the smallest sizes too: each fits, one step less does not, for both --io

A level is refuted where a build takes more of it than was estimated: then there is a size that fits by the one and not
by the other. The excess is of the whole level.
"""

from __future__ import annotations

import os
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from tilewright.conformance.graphs import network
from tilewright.errors import DoesNotFit, TilewrightError
from tilewright.fitting import LARGE, fitted, measured
from tilewright.options import CompileOptions, InputOutput
from tilewright.target import Target, load_target

TITLE = "estimated bytes against built ones (excess over the whole level), and the smallest sizes that are named"
ROOT = Path(__file__).parents[2]
BOARDS = ("qemu_mps2_an385", "qemu_mps2_an386", "qemu_rv32imc", "qemu_pulp")

Row = tuple[str, ...]


def table(*parts: str) -> list[Row]:
    """A row per board and level: cells, refuted ones, least, median and largest excess; then one for the smallest."""
    drawn = next((int(part.partition("=")[2]) for part in parts if part.startswith("drawn=")), 0)
    boards = [part for part in parts if part != "smallest" and "=" not in part] or list(BOARDS)
    rows: list[Row] = [("board", "level", "cells", "refuted", "least", "median", "most", "largest in")]
    with tempfile.TemporaryDirectory() as folder:
        cells = [(model, board) for model in _models() for board in boards]
        cells += [(_drawn(seed, Path(folder)), boards[seed % len(boards)]) for seed in range(drawn)]
        rows += _against_builds(cells)
    return rows + (_smallest(cells) if "smallest" in parts else [])


def _models() -> list[Path]:
    named = os.environ.get("TILEWRIGHT_MODELS")
    trained = Path(named) if named else ROOT.parent / "shared" / "models"
    return [model for place in (ROOT / "tests" / "models", trained) for model in sorted(place.glob("*/model.onnx"))]


def _drawn(seed: int, folder: Path) -> Path:
    file = folder / f"drawn_{seed}.onnx"
    file.write_bytes(network(seed, quantised=seed % 4 != 0).SerializeToString())
    return file


def _against_builds(cells: Iterable[tuple[Path, str]]) -> Iterator[Row]:
    found: dict[tuple[str, str], list[tuple[float, str]]] = defaultdict(list)
    failed = 0
    for model, board in cells:
        try:
            for level, ratio in _ratios(model, load_target(board)):
                found[board, level].append((ratio, model.stem if model.stem != "model" else model.parent.name))
        except TilewrightError:
            failed += 1  # unsupported there, or no plan
    for (board, level), ratios in found.items():
        refuted = sum(ratio < 1 for ratio, _ in ratios)
        figures = (min(ratios)[0], statistics.median(ratio for ratio, _ in ratios), max(ratios)[0])
        shown = (f"{100 * (figure - 1):.1f} %" for figure in figures)
        yield (board, level, str(len(ratios)), str(refuted), *shown, max(ratios)[1])
    yield ("cells without a plan", "", str(failed), "", "", "", "", "")


def _ratios(model: Path, target: Target) -> Iterator[tuple[str, float]]:
    """Of every level that holds an estimate: bytes estimated over bytes built."""
    sizes = {name: LARGE for name in target.memories if name not in ("l1", "l2")}
    done = fitted(model, CompileOptions(level_sizes=sizes), target)
    built = measured(done.compiled, done.compiled.report, target).memory
    for name, row in done.compiled.report.memory.items():
        if row.estimated:
            yield name, row.total / max(1, built[name].total)


def _smallest(cells: Iterable[tuple[Path, str]]) -> list[Row]:
    """Named smallest sizes that were tried with both --io, and those that do not fit, or do one step below."""
    tried = wrong = 0
    for model, board in cells:
        for level in load_target(board).memories:
            for io in ("arena", "caller"):
                answer = _neighbours(model, board, level, io)
                tried, wrong = tried + (answer is not None), wrong + (answer is False)
    return [("smallest sizes", "", str(tried), str(wrong), "", "", "", "")]


def _neighbours(model: Path, board: str, level: str, io: InputOutput) -> bool | None:
    """Whether the named size fits and one step less does not; None where nothing is named."""
    asked, step = CompileOptions(io=io), 8
    told = _error(model, board, replace(asked, level_sizes={level: 64}))
    if told is None or list(told.smallest) != [level]:
        return None
    size = told.smallest[level]
    enough = _error(model, board, replace(asked, level_sizes={level: size}))
    return enough is None and _error(model, board, replace(asked, level_sizes={level: size - step})) is not None


def _error(model: Path, board: str, options: CompileOptions) -> DoesNotFit | None:
    try:
        return fitted(model, options, load_target(board)).error
    except DoesNotFit as error:
        return error
    except TilewrightError:
        return None
