"""The search goes round: what later moves opened is used by earlier ones, and nothing gets worse by it."""

from __future__ import annotations

from pathlib import Path

import pytest
from deployed import after, deployment, optimised
from plan.plans import model_of
from tilewright.compile import compile_model
from tilewright.options import CompileOptions
from tilewright.plugins import kernels_of, platform
from tilewright.schedule import rounds
from tilewright.schedule.moves import MOVES
from tilewright.schedule.moves.recompute import work
from tilewright.schedule.rounds import better, carried, go_round
from tilewright.target import load_target

MODELS = Path(__file__).parents[1] / "models"
TEMPORAL = MODELS / "odd_temporal" / "model.onnx"


@pytest.mark.parametrize(("optimize", "fewer"), [("size", True), ("balanced", False)])
def test_row_chains_use_what_recomputing_opened(optimize: str, fewer: bool) -> None:
    chosen = platform("cortex_m")
    start = optimised(deployment(model_of(TEMPORAL), chosen, kernels_of(chosen)), optimize)
    once = after(start, *MOVES)
    again = go_round(once, MOVES)
    assert (again.deployment.peak < once.deployment.peak) == fewer
    added = [sum(map(work, each.deployment.plan.instructions)) for each in (once, again)]
    assert fewer or added[1] <= added[0]
    assert go_round(again, MOVES).deployment.decisions == again.deployment.decisions
    if fewer:
        assert better(again.deployment, once.deployment)
        assert not better(*(optimised(each.deployment, "balanced") for each in (again, once)))


def test_the_report_counts_a_move_of_two_rounds_once() -> None:
    done = compile_model(TEMPORAL, CompileOptions(optimize="size"), load_target("qemu_mps2_an386"))
    names = [report.name for report in done.report.passes]
    assert len(names) == len(set(names))


def test_without_work_nothing_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = platform("cortex_m")
    once = after(optimised(deployment(model_of(TEMPORAL), chosen, kernels_of(chosen)), "size"), *MOVES)
    monkeypatch.setattr(rounds, "PRICED_AGAIN", 0)
    again = go_round(once, MOVES)
    assert again.deployment is once.deployment
    assert any(report.cut_off for report in again.reports)


def test_later_decisions_are_carried_over() -> None:
    held = after(optimised(deployment(model_of(TEMPORAL)), "size"), *MOVES).deployment
    assert held.decisions.row_chains or held.decisions.aliased or held.decisions.recomputed
    again = carried(held, held.rebound_as(held.decisions.kernels))
    assert again.decided == held.decided
    assert carried(held, held) is held
