"""The SDK's own stages as a pipeline: a user's step, a user's tiler, clock, allocator and progress."""

from __future__ import annotations

import contextlib
import io
import itertools
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tilewright.binding.graph import BoundGraph
from tilewright.compile import allocator, clock, compile_model, compiler, progress, solver_seconds, tiler
from tilewright.errors import UnsupportedError, UsageError
from tilewright.options import CompileOptions
from tilewright.plan.plan import TiledGraph
from tilewright.target import load_target
from tilewright.tiling.tile import tile

ROOT = Path(__file__).parents[2]
DIGITS = ROOT / "tests" / "models" / "digits" / "model.onnx"
HOST = load_target("host")
STAGES = ["frontend", "passes", "binding", "tiling", "plan", "memory", "codegen"]


def test_the_page_works(monkeypatch: pytest.MonkeyPatch) -> None:
    [code] = re.findall(r"^```python\n(.*?)^```$", (ROOT / "docs" / "pipeline.md").read_text(), re.M | re.S)
    monkeypatch.chdir(ROOT)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, {"__name__": "page"})
    assert printed.getvalue() == "2560\n"


def test_clock_and_progress_are_dependencies() -> None:
    told: list[str] = []
    ticks = itertools.count()
    mine = compiler.copy()
    mine.dependency_overrides[clock] = lambda: lambda: float(next(ticks))
    mine.dependency_overrides[progress] = lambda: told.append
    compiled = compile_model(DIGITS, CompileOptions(), HOST, pipeline=mine)
    assert told == STAGES == [step.name for step in compiler.steps]
    assert compiled.report.tool.seconds == {**dict.fromkeys(STAGES, 1.0), "total": 7.0}
    again = compile_model(DIGITS, CompileOptions(), HOST)
    assert again.report.tool.seconds["total"] != 7.0, "the SDK's own pipeline is as it was"


def test_allocator_and_solver_seconds_are_dependencies() -> None:
    mine = compiler.copy()
    mine.dependency_overrides[allocator] = lambda: "greedy"
    mine.dependency_overrides[solver_seconds] = lambda: 0.1
    assert compile_model(DIGITS, CompileOptions(), HOST, pipeline=mine).placed.solution.allocator.startswith("greedy")
    mine.dependency_overrides[allocator] = lambda: "magic"
    with pytest.raises(UsageError, match="there is no allocator 'magic'") as caught:
        compile_model(DIGITS, CompileOptions(), HOST, pipeline=mine)
    assert caught.value.where.step == "memory"


def test_a_tiler_of_ones_own() -> None:
    seen: list[int] = []

    def counting() -> Callable[[BoundGraph], TiledGraph]:
        def cut(graph: BoundGraph) -> TiledGraph:
            seen.append(len(graph.nodes))
            return tile(graph)

        return cut

    mine = compiler.copy()
    mine.dependency_overrides[tiler] = counting
    compiled = compile_model(DIGITS, CompileOptions(), HOST, pipeline=mine)
    assert seen == [len(compiled.bound.nodes)]


def test_a_step_of_ones_own_is_named_in_its_error() -> None:
    def refuse(graph: BoundGraph) -> BoundGraph:
        raise UnsupportedError("not today")

    mine = compiler.copy()
    mine.insert(refuse, after="binding")
    with pytest.raises(UnsupportedError, match="not today") as caught:
        compile_model(DIGITS, CompileOptions(), HOST, pipeline=mine)
    assert caught.value.where.step == "refuse"
    assert caught.value.__notes__ == ["in step 'refuse'"]
