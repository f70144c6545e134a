"""Every rule of the placement's checker and of `validate`, each with a wrong example that this rule alone refuses."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from deployed import after, deployment, optimised
from graphs import node, onnx_model
from plan.plans import chain, model_of, plan_of
from tilewright.binding.order import as_offered
from tilewright.errors import UsageError
from tilewright.memory.allocators.allocator import Allocator, Found, Task
from tilewright.memory.allocators.first_fit import first_fit
from tilewright.memory.check import WrongPlacement, check
from tilewright.memory.packing import normalise
from tilewright.memory.place import place
from tilewright.memory.placed import PlacedPlan
from tilewright.memory.planner import place_plan
from tilewright.memory.problem import LIVE_SET, SEARCH, Buffer, Overlap, PlacementProblem, PlacementSolution, View
from tilewright.memory.validate import validate
from tilewright.platforms.generic.platform import PLATFORM as GENERIC
from tilewright.plugins import kernels_of, platform
from tilewright.schedule.moves.aliases import Aliases
from tilewright.schedule.moves.kernels import ScratchAtPeak
from tilewright.schedule.moves.recompute import Recompute

DIGITS = Path(__file__).parents[1] / "models" / "digits_int8" / "model.onnx"
A, B = Buffer("a", 0, 4, 8), Buffer("b", 3, 6, 8)


def placed(problem: PlacementProblem, offsets: dict[str, int], **said: object) -> PlacementSolution:
    """A solution by hand that says the truth about itself, but for what is given."""
    peak = max(offsets[b.name] + b.size for b in problem.buffers if b.name in offsets)
    return replace(PlacementSolution(offsets, peak, peak, "hand"), **said)  # type: ignore[arg-type]


PAIR = PlacementProblem((A, B))
IN_PLACE = PlacementProblem((A, B), None, (Overlap("a", "b", 2),))
TURNED = PlacementProblem((Buffer("b", 3, 6, 8), Buffer("a", 3, 4, 8)), None, (Overlap("a", "b", 2),))
"""As `IN_PLACE`, but both are born at one step and the later one stands first."""
SHOWN = PlacementProblem((Buffer("a", 0, 4, 8), Buffer("v", 2, 5, 4)), None, (), (View("v", "a", 4),))
CROSSED = PlacementProblem((Buffer("a", 0, 1, 2), Buffer("b", 0, 2, 1), Buffer("c", 1, 2, 2)))

WRONG: list[tuple[str, PlacementProblem, PlacementSolution, str]] = [
    ("no offset", PAIR, PlacementSolution({"a": 0}, 8, 8, "hand"), "buffer 'b' has no offset"),
    ("no such buffer", PAIR, PlacementSolution({"a": 0, "b": 8, "c": 0}, 16, 16, "hand"),
     "offset of 'c', which is no buffer of the problem"),
    ("below zero", PlacementProblem((replace(A, align=4),)), placed(PAIR, {"a": -4}), "buffer 'a' lies at -4: offsets"),
    ("misaligned", PlacementProblem((replace(A, align=4),)), placed(PAIR, {"a": 2}), "buffer 'a' lies at 2: its align"),
    ("above its pin", PlacementProblem((replace(A, pinned=4),)), placed(PAIR, {"a": 8}), "at 8: it is pinned at 4"),
    ("below its pin", PlacementProblem((replace(A, pinned=4),)), placed(PAIR, {"a": 0}), "at 0: it is pinned at 4"),
    ("a view too low", SHOWN, placed(SHOWN, {"a": 0, "v": 0}), "view 'v' lies at 0: 'a' puts it at 4"),
    ("a view too high", SHOWN, placed(SHOWN, {"a": 0, "v": 8}), "view 'v' lies at 8: 'a' puts it at 4"),
    ("alive in one step", PAIR, placed(PAIR, {"a": 0, "b": 7}), r"'a' at \[0, 8\) and 'b' at \[7, 15\) share bytes"),
    ("one inside the other", PAIR, placed(PAIR, {"a": 0, "b": 0}), "share bytes: both are alive at step 3"),
    ("an overlap too far up", IN_PLACE, placed(IN_PLACE, {"a": 1, "b": 0}), "overlap asks for another order"),
    ("an overlap upside down", IN_PLACE, placed(IN_PLACE, {"a": 0, "b": 4}), "overlap asks for another order"),
    ("a twin's overlap too far up", TURNED, placed(TURNED, {"a": 1, "b": 0}), "overlap asks for another order"),
    ("a twin's overlap upside down", TURNED, placed(TURNED, {"a": 0, "b": 4}), "overlap asks for another order"),
    ("a peak too high", PAIR, placed(PAIR, {"a": 0, "b": 8}, peak=17), "the peak is said to be 17"),
    ("a peak too low", PAIR, placed(PAIR, {"a": 0, "b": 8}, peak=15, lower_bound=15), "the peak is said to be 15"),
    ("above the capacity", replace(PAIR, capacity=15), placed(PAIR, {"a": 0, "b": 8}), "is 16: the capacity is 15"),
    ("a bound above the peak", PAIR, placed(PAIR, {"a": 0, "b": 8}, lower_bound=17), "bound is said to be 17"),
    ("a live set too low", PAIR, placed(PAIR, {"a": 0, "b": 8}, lower_bound=15), "live set: the live set needs 16"),
    ("a live set too high", PAIR, placed(PAIR, {"a": 0, "b": 9}, lower_bound=17), "live set: the live set needs 16"),
    ("a search for nothing", PAIR, placed(PAIR, {"a": 0, "b": 8}, bound_by=SEARCH), "live set alone needs 16"),
    ("a search below it", PAIR, placed(PAIR, {"a": 0, "b": 8}, bound_by=SEARCH, lower_bound=9), "alone needs 16"),
    ("a proof by nobody", PAIR, placed(PAIR, {"a": 0, "b": 8}, bound_by="faith"), "proved by 'faith'"),
]  # fmt: skip


@pytest.mark.parametrize(("problem", "solution", "sentence"), [w[1:] for w in WRONG], ids=[w[0] for w in WRONG])
def test_a_wrong_placement_is_refused(problem: PlacementProblem, solution: PlacementSolution, sentence: str) -> None:
    with pytest.raises(WrongPlacement, match=sentence):
        check(problem, solution)


RIGHT: list[tuple[PlacementProblem, PlacementSolution]] = [
    (PAIR, placed(PAIR, {"a": 0, "b": 8})),
    (PAIR, placed(PAIR, {"a": 0, "b": 9}, lower_bound=16)),
    (PAIR, placed(PAIR, {"a": 0, "b": 9}, lower_bound=17, bound_by=SEARCH)),
    (replace(PAIR, capacity=16), placed(PAIR, {"a": 8, "b": 0})),
    (replace(PAIR, buffers=(A, replace(B, lower=4))), placed(PAIR, {"a": 0, "b": 0}, bound_by=LIVE_SET)),
    (IN_PLACE, placed(IN_PLACE, {"a": 2, "b": 0})),
    (TURNED, placed(TURNED, {"a": 2, "b": 0})),
    (SHOWN, placed(SHOWN, {"a": 0, "v": 4})),
    (CROSSED, placed(CROSSED, {"a": 0, "b": 2, "c": 0})),
]


@pytest.mark.parametrize("number", range(len(RIGHT)))
def test_a_right_placement_is_taken(number: int) -> None:
    check(*RIGHT[number])


PINNED = (Buffer("a", 0, 4, 8, 1, 4), Buffer("b", 3, 6, 8, 1, 2))

REFUSED: list[tuple[str, PlacementProblem, str]] = [
    ("a size below zero", PlacementProblem((replace(A, size=-1),)), "buffer 'a' has -1 bytes"),
    ("no life", PlacementProblem((replace(A, upper=0),)), r"buffer 'a' lives in \[0, 0\): it dies before it is born"),
    ("no alignment", PlacementProblem((replace(A, align=0),)), "buffer 'a' has alignment 0"),
    ("a pin between", PlacementProblem((replace(A, align=4, pinned=6),)), "buffer 'a' is pinned at 6"),
    ("a pin below zero", PlacementProblem((replace(A, align=4, pinned=-4),)), "buffer 'a' is pinned at -4"),
    ("a name twice", PlacementProblem((A, A)), "two buffers are named 'a'"),
    ("a capacity below zero", PlacementProblem((A,), -1), "the capacity is -1 bytes"),
    ("a view of nothing", PlacementProblem((A,), None, (), (View("a", "x"),)), "names no buffer 'x'"),
    ("a view that is nothing", PlacementProblem((A,), None, (), (View("x", "a"),)), "names no buffer 'x'"),
    ("a view of itself", PlacementProblem((A,), None, (), (View("a", "a"),)), "the views a -> a form a cycle"),
    ("a view of two", PlacementProblem((A, B, replace(A, name="c")), None, (), (View("c", "a"), View("c", "b"))),
     "buffer 'c' is a view of both 'a' and 'b'"),
    ("a view too long", PlacementProblem((A, replace(B, size=4)), None, (), (View("b", "a", 5),)), "bytes 5 to 9"),
    ("a view before", PlacementProblem((A, replace(B, size=4)), None, (), (View("b", "a", -1),)), "bytes -1 to 3"),
    ("a view too late", PlacementProblem((A, replace(B, lower=5)), None, (), (View("b", "a"),)), "nobody keeps"),
    ("a view at an odd byte", PlacementProblem((A, replace(B, size=4, align=4)), None, (), (View("b", "a", 2),)),
     "view 'b' starts 2 bytes into 'a'"),
    ("an overlap of nothing", PlacementProblem((A,), None, (Overlap("a", "x", 0),)), "names no buffer 'x'"),
    ("an overlap with itself", PlacementProblem((A,), None, (Overlap("a", "a", 0),)), "is given twice or with itself"),
    ("an overlap twice", PlacementProblem((A, B), None, (Overlap("a", "b", 0), Overlap("a", "b", 1))), "given twice"),
    ("an overlap both ways", PlacementProblem(TURNED.buffers, None, (Overlap("a", "b", 0), Overlap("b", "a", 0))),
     "is given twice"),
    ("an overlap still read", PlacementProblem((replace(A, upper=5), B), None, (Overlap("a", "b", 0),)),
     "'b' may not overlap 'a'"),
    ("an overlap with what is younger", PlacementProblem((replace(A, lower=4, upper=5), replace(B, upper=9)), None,
     (Overlap("b", "a", 0),)), "'a' may not overlap 'b'"),
    ("views with other pins", PlacementProblem((replace(A, pinned=8), replace(B, size=4, pinned=4)), None, (),
     (View("b", "a"),)), "their pins contradict each other"),
    ("views with other pins, lower", PlacementProblem((replace(A, pinned=4), replace(B, size=4, pinned=8)), None, (),
     (View("b", "a"),)), "their pins contradict each other"),
    ("a view's pin too low", PlacementProblem((A, replace(B, size=4, pinned=2)), None, (), (View("b", "a", 4),)),
     "then 'a' would start at -2"),
    ("pins in one place", PlacementProblem(PINNED), "the pins of 'b' at 2 and 'a' at 4 overlap"),
    ("pins nearer than permitted", PlacementProblem(PINNED, None, (Overlap("a", "b", 3),)), "'b' at 2 and 'a' at 4"),
    ("pins upside down", PlacementProblem((PINNED[0], replace(PINNED[1], pinned=6)), None, (Overlap("a", "b", 0),)),
     "'a' at 4 and 'b' at 6 overlap"),
]  # fmt: skip


@pytest.mark.parametrize(("problem", "sentence"), [w[1:] for w in REFUSED], ids=[w[0] for w in REFUSED])
def test_a_wrong_problem_is_refused(problem: PlacementProblem, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        validate(problem)


def test_a_right_problem_is_taken() -> None:
    validate(PlacementProblem(PINNED, None, (Overlap("a", "b", 2),)))
    validate(PlacementProblem((A, replace(B, lower=4)), None, (), (View("b", "a"),)))
    validate(PlacementProblem((replace(A, pinned=4), replace(B, size=4, pinned=8)), None, (), (View("b", "a", 4),)))
    validate(TURNED)


# ------------------------------------------------------------------------------------------- small sums by hand
def test_gaps_and_holes_are_exact() -> None:
    """Two bytes of distance in steps of four are four; a hole as large as a buffer takes it."""
    four = (Buffer("a", 0, 4, 8, 4), Buffer("b", 3, 6, 8, 4))
    solution = place(PlacementProblem(four, None, (Overlap("a", "b", 2),)))
    assert (solution.offsets, solution.peak) == ({"a": 4, "b": 0}, 12)
    exact = normalise(PlacementProblem((Buffer("a", 0, 9, 4), Buffer("b", 0, 2, 6), Buffer("c", 0, 9, 4),
                                        Buffer("d", 2, 9, 6))))  # fmt: skip
    assert first_fit(exact, [0, 1, 2, 3]) == [0, 2, 5, 2]
    assert exact.unit == 2


def test_ends_are_rounded_to_alignments() -> None:
    packing = normalise(PlacementProblem((Buffer("a", 0, 2, 3), Buffer("b", 0, 2, 8, 4))))
    assert first_fit(packing, [0, 1]) == [0, 4]
    assert place(PlacementProblem((Buffer("a", 0, 2, 3), Buffer("b", 0, 2, 8, 4)))).peak == 11


def test_idle_bytes_above_the_last_buffer_are_not_needed() -> None:
    """Five bytes in a row of eight leave three idle, but not below another buffer."""
    solution = place(PlacementProblem((Buffer("a", 0, 2, 8, 4), Buffer("b", 0, 2, 5, 4))))
    assert (solution.peak, solution.lower_bound) == (13, 13)


def test_a_hole_between_two_views_takes_what_is_as_large() -> None:
    """The first and the last two bytes of eight are written early; what lives meanwhile has four."""
    whole = Buffer("whole", 4, 6, 8)
    parts = (Buffer("first", 0, 5, 2), Buffer("last", 0, 5, 2), Buffer("between", 0, 3, 4))
    found = place(PlacementProblem((whole, *parts), None, (), (View("first", "whole"), View("last", "whole", 6))))
    assert found.offsets == {"whole": 0, "first": 0, "last": 6, "between": 2}
    assert found.status == "optimal"


def test_a_view_starts_where_it_was_said() -> None:
    problem = PlacementProblem((Buffer("a", 0, 4, 12), Buffer("v", 3, 6, 6)), None, (), (View("v", "a", 3),))
    assert place(problem).offsets == {"a": 0, "v": 3}


def test_a_union_is_aligned_for_all_its_members() -> None:
    buffers = (Buffer("low", 0, 9, 3), Buffer("a", 0, 1, 4), Buffer("b", 1, 2, 4, 8))
    assert place(PlacementProblem(buffers), allocator="onnx2c_unions").offsets == {"low": 0, "a": 8, "b": 8}


def test_what_an_overlap_saves_is_counted_from_both_sides() -> None:
    """Two operands die at the step that makes one result: it lies over one of them, not over both."""
    buffers = (Buffer("a", 0, 2, 8), Buffer("b", 0, 2, 8), Buffer("c", 1, 3, 8))
    one = place(PlacementProblem(buffers, None, (Overlap("a", "c", 0), Overlap("b", "c", 0))))
    assert (one.peak, one.lower_bound) == (16, 16)
    buffers = (Buffer("a", 0, 2, 8), Buffer("c", 1, 3, 8), Buffer("d", 1, 3, 8))
    other = place(PlacementProblem(buffers, None, (Overlap("a", "c", 0), Overlap("a", "d", 0))))
    assert (other.peak, other.lower_bound) == (16, 16)


def test_a_gap_that_is_closed_is_proved() -> None:
    """`close` asks at the bound; what is impossible there becomes the next bound, until the two meet."""
    asked: list[int] = []

    def answer(task: Task) -> Found:
        from tilewright.memory.allocators.allocator import Answer, close, placed_at

        def decide(packing: object, capacity: int, effort: float) -> Answer:
            asked.append(capacity)
            return Answer(None, True, 0.0)

        return close(task, placed_at(task.packing, [0, 4], 8), decide)

    packing = normalise(PlacementProblem((Buffer("a", 0, 1, 4, 4), Buffer("b", 0, 1, 4, 4))))
    assert packing.unit == 4
    result = Allocator("test", "", answer).place(Task(packing, 8, 8, 1.0))
    assert (result.peak, result.bound) == (20, 20)
    assert asked == [8, 15, 17]


# ------------------------------------------------------------------------------------------- plans and passes
def test_a_constant_has_its_own_alignment() -> None:
    nodes = [node("Exp", "x", "a"), node("MatMul", "a w", "b"), node("Softmax", "b", "y")]
    plan = plan_of(onnx_model(nodes, {"x": (2, 3)}, ["y"], {"w": np.ones((3, 3), np.float32)}), passes=False)
    (frozen,) = plan.frozen_slots
    level = platform("generic").compute_in
    copied = replace(frozen, home=level, constant=replace(frozen.constant, align=64))
    found = place_plan(replace(plan, frozen_slots=(copied,)), platform("generic"))
    assert next(b.align for b in found.problem.buffers if b.name == "constant0") == 64
    assert found.frozen_offsets[0] % 64 == 0
    lives = {b.name: (b.lower, b.upper) for b in found.problem.buffers}
    assert lives["constant0"] == (0, 3)
    streamed = place_plan(replace(plan, frozen_slots=(replace(copied, streamed=True),)), platform("generic"))
    assert {b.name: (b.lower, b.upper) for b in streamed.problem.buffers}["constant0"] == (1, 2)


def test_memory_of_the_caller_takes_no_bytes() -> None:
    plan = plan_of(chain(["LogSoftmax"] * 3))
    own = place_plan(plan, platform("generic"))
    callers = place_plan(plan, platform("generic"), io="caller")
    assert {*own.slot_offsets} == {0, 1, 2, 3}
    assert {*callers.slot_offsets} == {1, 2}
    assert {b.name for b in callers.problem.buffers if b.name.startswith("slot")} == {"slot1", "slot2"}


def test_views_that_make_the_peak_grow_are_left_out() -> None:
    """Two parts of a Concat with a constant between them leave a hole, in which what lives meanwhile does not fit."""
    wide = np.ones((8, 96), np.float32)
    nodes = [
        node("MatMul", "x thin", "a"), node("Exp", "a", "b"), node("MatMul", "b wide", "w"),
        node("ReduceSum", "w one", "s"), node("Concat", "a more b", "c", axis=1), node("ReduceSum", "c one", "t"),
        node("Add", "s t", "y"),
    ]  # fmt: skip
    constants = {"thin": wide[:, :8], "wide": wide, "one": np.array([1]), "more": np.ones((1, 64), np.float32)}
    model = model_of(onnx_model(nodes, {"x": (1, 8)}, ["y"], constants, opset=18), passes=False)
    start = deployment(model)
    found = after(start, Aliases())
    (report,) = found.reports
    assert found.deployment.peak == start.peak - report.saved_bytes
    assert report.saved_bytes >= 0
    fast = after(optimised(start, "speed"), Aliases()).deployment
    assert any(i.aliasing is not None for i in fast.plan.instructions)
    assert fast.peak > start.peak


def test_a_second_run_that_saves_nothing_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer live bytes need not be a lower peak once everything has its place."""
    nodes = [
        node("Expand", "x wide", "a", "early"), node("ReduceSum", "a axes", "b"), node("Expand", "b wider", "c"),
        node("Softmax", "c", "d"), node("ReduceSum", "d axes", "e"), node("Add", "a e", "y"),
    ]  # fmt: skip
    constants = {"wide": np.array([1, 4096]), "wider": np.array([1, 16384]), "axes": np.array([1])}
    start = deployment(model_of(onnx_model(nodes, {"x": (1, 1)}, ["y"], constants), passes=False))
    size = optimised(start, "size")
    twice = after(size, Recompute())
    (report,) = twice.reports
    assert (len(twice.deployment.plan.instructions), report.added_operations > 0) == (7, True)
    assert report.saved_bytes == start.peak - twice.deployment.peak > 0
    real = start.placed
    monkeypatch.setattr("tilewright.memory.placing.place_plan", lambda *_, **__: real)
    again = after(optimised(start, "size"), Recompute())
    assert again.deployment.decisions.recomputed == ()


@pytest.mark.parametrize("falls", [0, 1])
def test_a_kernel_gives_way_only_for_fewer_bytes(monkeypatch: pytest.MonkeyPatch, falls: int) -> None:
    """Whatever has scratch is said to stand at the peak; only a peak that falls is a reason to bind another kernel."""
    model, kernels = model_of(DIGITS), kernels_of(GENERIC)
    peaks = count(1 << 20, -64 * falls)

    def at_the_top(*given: Any, **named: Any) -> PlacedPlan:
        found, peak = place_plan(*given, **named), next(peaks)
        regions = tuple(replace(region, offset=peak - region.size) for region in found.regions)
        return replace(found, solution=replace(found.solution, peak=peak), regions=regions)

    monkeypatch.setattr("tilewright.memory.placing.place_plan", at_the_top)
    start = deployment(model, GENERIC, kernels, order=as_offered)
    chosen = after(start, ScratchAtPeak()).deployment.bound
    bound = start.bound
    scratch = [n.call.node.name for n in bound.nodes if n.kernel is not None and n.kernel.scratch(bound.operands(n))]
    assert scratch
    assert ([n.kernel for n in chosen.nodes] != [n.kernel for n in bound.nodes]) is bool(falls)
