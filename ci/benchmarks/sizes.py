"""What `check` says of bytes, held against builds: is any "fits" refuted, by how much are estimates too large.

bash ci/bench sizes                         every network of tests/models and the trained ones on `BOARDS`
bash ci/bench sizes:all,every=3,drawn=200   every target with a compiler here, each network on every third of them
bash ci/bench sizes:drawn=200               200 drawn networks as well, each on one board in turn
bash ci/bench sizes:qemu_microbit           these boards only
bash ci/bench sizes:all,drawn=200,record    writes docs/sizes.json and its tables in docs/reports.md too
bash ci/bench sizes:smallest                the smallest sizes too: each fits, one step less does not, for both --io

A level is refuted where a build takes more of it than was estimated: then there is a size that fits by the one and not
by the other. The excess is of the whole level. What a build took is remembered by its C, compiler and flags.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import get_args

from benchmarks.sizes_page import Level, record
from code_cache import key_of, remember_levels, remembered_levels
from measure_code import compiler
from tilewright.compile import Compiled, compile_model
from tilewright.conformance.graphs import network
from tilewright.errors import DoesNotFit, TilewrightError
from tilewright.fitting import LARGE, fitted, measured
from tilewright.options import CompileOptions, InputOutput
from tilewright.plugins import platform
from tilewright.target import Target, known_targets, load_target, missing_tools

TITLE = "estimated bytes against built ones (excess over the whole level), and the smallest sizes that are named"
ROOT = Path(__file__).parents[2]
BOARDS = ("qemu_mps2_an385", "qemu_mps2_an386", "qemu_rv32imc", "qemu_pulp")
NEVER_MEASURED = ("cortex-m0plus", "cortex-m33", "cortex-m7", "rv32imac")
"""Cores whose estimates are those of another one."""

ORDINALS = {2: "second", 3: "third"}

Row = tuple[str, ...]
Cell = tuple[Path, str]


def table(*parts: str) -> list[Row]:
    """A row per board and level: cells, refuted ones, least, median and largest excess; then one for the smallest."""
    numbers = {name: int(value) for name, _, value in (part.partition("=") for part in parts) if value}
    boards = [part for part in parts if part not in ("smallest", "all", "record") and "=" not in part]
    boards = [*_all_boards(), *NEVER_MEASURED] if "all" in parts else boards or list(BOARDS)
    every = numbers.get("every", 1)
    rows: list[Row] = [("board", "level", "cells", "refuted", "least", "median", "most", "largest in")]
    with tempfile.TemporaryDirectory() as folder:
        cells = [
            (model, board) for at, model in enumerate(_models()) for place, board in enumerate(boards)
            if (at + place) % every == 0
        ]  # fmt: skip
        cells += [(_drawn(seed, Path(folder)), boards[seed % len(boards)]) for seed in range(numbers.get("drawn", 0))]
        if "smallest" in parts:
            return [*rows, *_smallest(cells)]
        levels, failed = _against_builds(cells)
    if "record" in parts:
        drawn = f", {numbers['drawn']} drawn ones each on one target in turn" if "drawn" in numbers else ""
        on = f"every {ORDINALS.get(every, f'{every}th')} of {len(boards)} targets" if every > 1 else "every target"
        record(tuple(levels), f"{len(_models())} networks each on {on}{drawn}")
    rows += [_row(level, odd) for level, odd in levels.items()]
    return [*rows, ("cells without a plan", "", str(failed), "", "", "", "", "")]


def _all_boards() -> list[str]:
    """Targets of which something is estimated and whose compiler is here."""
    targets = ((name, load_target(name)) for name in known_targets())
    return [
        name for name, target in targets
        if target.simulator not in ("native", "cuda") and not any("gcc" in tool for tool, _ in missing_tools(target))
    ]  # fmt: skip


def _models() -> list[Path]:
    named = os.environ.get("TILEWRIGHT_MODELS")
    trained = Path(named) if named else ROOT.parent / "shared" / "models"
    return [model for place in (ROOT / "tests" / "models", trained) for model in sorted(place.glob("*/model.onnx"))]


def _drawn(seed: int, folder: Path) -> Path:
    file = folder / f"drawn_{seed}.onnx"
    file.write_bytes(network(seed, quantised=seed % 4 != 0).SerializeToString())
    return file


def _against_builds(cells: list[Cell]) -> tuple[dict[Level, str], int]:
    """Every level with the network whose estimate is most too large, and how many cells have no plan."""
    ratios_of: dict[tuple[str, str], list[tuple[float, str]]] = defaultdict(list)
    failed = 0
    with ProcessPoolExecutor(int(os.environ.get("JOBS") or os.cpu_count() or 1)) as pool:
        for (model, board), ratios in zip(cells, pool.map(_ratios, *zip(*cells, strict=True)), strict=True):
            failed += ratios is None  # unsupported there, or no plan
            name = model.stem if model.stem != "model" else model.parent.name
            for level, ratio in ratios or ():
                ratios_of[board, level].append((ratio, name))
                if ratio < 1:
                    print(f"refuted: {name} on {board}, {level}: {ratio:.3f}", file=sys.stderr, flush=True)
    levels = {}
    for (board, level), known in sorted(ratios_of.items()):
        refuted = sum(ratio < 1 for ratio, _ in known)
        figures = (min(known)[0], statistics.median(ratio for ratio, _ in known), max(known)[0])
        least, median, most = (round(100 * (figure - 1), 1) for figure in figures)
        levels[Level(board, level, len(known), refuted, least, median, most)] = max(known)[1]
    return levels, failed


def _row(level: Level, odd: str) -> Row:
    shown = (f"{figure:.1f} %" for figure in (level.least, level.median, level.most))
    return (level.target, level.name, str(level.cells), str(level.refuted), *shown, odd)


def _ratios(model: Path, board: str) -> list[tuple[str, float]] | None:
    """Of every level that holds an estimate: bytes estimated over bytes built; None where there is no plan."""
    target = load_target(board)
    levels = {level.name for level in platform(target.platform).memory} - {"l1", "l2"}
    sizes = {name: LARGE for name in target.memories if name in levels}
    try:
        done = compile_model(model, CompileOptions(level_sizes=sizes), target)
        built = levels_built(done, target)
    except TilewrightError:
        return None
    return [(name, row.total / max(1, built[name])) for name, row in done.report.memory.items() if row.estimated]


def levels_built(done: Compiled, target: Target) -> Mapping[str, int]:
    """Bytes of every memory level as a build tells them."""
    files = done.artifacts.files
    key = key_of(
        "\0".join(path + files[path] for path in sorted(files)),
        (compiler(target), *target.flags, *target.library_flags),
    )
    return remembered_levels(key) or remember_levels(
        key, {name: row.total for name, row in measured(done, done.report, target).memory.items()}
    )


def _smallest(cells: Iterable[Cell]) -> list[Row]:
    """Named smallest sizes that were tried with both --io, and those that do not fit, or do one step below."""
    questions = [
        (model, board, level, io)
        for model, board in cells
        for level in load_target(board).memories
        for io in get_args(InputOutput)
    ]
    tried = wrong = 0
    with ProcessPoolExecutor(int(os.environ.get("JOBS") or os.cpu_count() or 1)) as pool:
        for question, answer in zip(questions, pool.map(_neighbours, *zip(*questions, strict=True)), strict=True):
            tried, wrong = tried + (answer is not None), wrong + (answer is False)
            if answer is False:
                print("wrong smallest size:", *question, file=sys.stderr, flush=True)
    return [("smallest sizes", "", str(tried), str(wrong), "", "", "", "")]


def _neighbours(model: Path, board: str, level: str, io: InputOutput) -> bool | None:
    """Whether the named size fits and one step less does not; None where nothing is named."""
    options, step = CompileOptions(io=io), 8
    told = _error(model, board, replace(options, level_sizes={level: 64}))
    if told is None or list(told.smallest) != [level]:
        return None
    size = told.smallest[level]
    enough = _error(model, board, replace(options, level_sizes={level: size}))
    return enough is None and _error(model, board, replace(options, level_sizes={level: size - step})) is not None


def _error(model: Path, board: str, options: CompileOptions) -> DoesNotFit | None:
    try:
        return fitted(model, options, load_target(board)).error
    except DoesNotFit as error:
        return error
    except TilewrightError:
        return None
