"""The SDK's own stages as a pipeline: a user's step, a user's tiler, clock, allocator and progress."""

from __future__ import annotations

import contextlib
import io
import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from deployed import deployment
from tilewright.binding.graph import BoundGraph
from tilewright.binding.order import as_offered
from tilewright.codegen.emit import emit
from tilewright.compile import (
    Compiled,
    allocator,
    clock,
    compile_model,
    compiled,
    compiler,
    moves,
    progress,
    solver_seconds,
    tiler,
)
from tilewright.errors import UnsupportedError, UsageError
from tilewright.frontend.load import load
from tilewright.model import Model
from tilewright.options import CompileOptions
from tilewright.passes.quantise import lower as quantised
from tilewright.platform import Feature
from tilewright.schedule.deployment import Deployment
from tilewright.schedule.moves import Offer, Offers
from tilewright.schedule.moves.tiles import Tiles
from tilewright.schedule.question import Lowered
from tilewright.schedule.request import Request
from tilewright.schedule.search import Found, best_of, finish
from tilewright.schedule.tile import tile
from tilewright.target import load_target
from tilewright.tiling.tiled_graph import TiledGraph

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
    done = compile_model(DIGITS, CompileOptions(), HOST, pipeline=mine)
    assert [stage for stage, _ in itertools.groupby(told)] == told, "no stage is announced twice in a row"
    assert list(dict.fromkeys(told)) == STAGES
    seconds = dict(done.report.tool.seconds)
    assert list(seconds) == [*STAGES, "total"]
    assert seconds.pop("total") == sum(seconds.values()) == next(ticks) // 2
    again = compile_model(DIGITS, CompileOptions(), HOST)
    assert again.report.tool.seconds["total"] % 1, "the SDK's own pipeline is as it was"


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
    done = compile_model(DIGITS, CompileOptions(), HOST, pipeline=mine)
    assert seen == [len(done.bound.nodes)]


def read(asked: Request) -> Model:
    return load(asked.source, name="mine")


def plain(loaded: Model) -> Lowered:
    return Lowered(loaded, quantised.lower(loaded))


def hurried(network: Lowered) -> Found:
    return finish(best_of(deployment(network.model), (Tiles(),)))


def written(found: Found) -> Compiled:
    request = found.deployment.question.request
    return compiled(found, emit(found.placed, request.levels, ()), {})


@pytest.mark.parametrize(("step", "own"), [("load", read), ("lower", plain), ("search", hurried), ("emit", written)])
def test_every_step_can_be_a_plain_function(step: str, own: Callable[..., object]) -> None:
    mine = compiler.copy()
    mine.replace(step, own)
    done = compile_model(DIGITS, CompileOptions(), HOST, pipeline=mine)
    name = "mine" if step == "load" else "digits"
    assert f"int {name}_run(void)" in done.artifacts.text(f"src/{name}.c")
    assert done.report.memory["ram"].worst_case > 0


def test_a_move_of_ones_own() -> None:
    """Kernels by the order of preference, whatever they cost."""

    @dataclass(frozen=True)
    class Preferred:
        name: str = "preferred"
        stage: str = "binding"
        needs: Feature | None = None

        def propose(self, now: Deployment) -> Offers:
            yield Offer([now.rebound(order=as_offered)], "any")

        def added_work(self, before: Deployment, after: Deployment) -> float:
            return 0.0

    mine = compiler.copy()
    mine.dependency_overrides[moves] = lambda: (Preferred(), Tiles())
    done = compile_model(DIGITS, CompileOptions(), HOST, pipeline=mine)
    expected = deployment(done.model, order=as_offered).bound
    names = [[bound.kernel and bound.kernel.name for bound in graph.nodes] for graph in (done.bound, expected)]
    assert names[0] == names[1]
    assert [report.name for report in done.report.passes][-2:] == ["preferred", "overlap"]


def test_a_step_of_ones_own_is_named_in_its_error() -> None:
    def refuse(found: Found) -> Found:
        raise UnsupportedError("not today")

    mine = compiler.copy()
    mine.insert(refuse, after="search")
    with pytest.raises(UnsupportedError, match="not today") as caught:
        compile_model(DIGITS, CompileOptions(), HOST, pipeline=mine)
    assert caught.value.where.step == "refuse"
    assert caught.value.__notes__ == ["in step 'refuse'"]
