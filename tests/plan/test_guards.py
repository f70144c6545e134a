"""What only one outcome of a condition needs runs only then: branches of an If, turns of a Loop, Where by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from frontend.test_loops import asked
from graphs import node, onnx_model
from onnx import TensorProto, helper
from tilewright.binding.guards import Guard
from tilewright.cli import main
from tilewright.conformance.program import SANITIZE, STRICT, run_batch
from tilewright.conformance.subject import load_and_pass, place, subject
from tilewright.plan.guards import guards_of, skipped
from tilewright.plan.plan import ExecutionPlan
from tilewright.plugins import platform

W = np.arange(9, dtype=np.float32).reshape(3, 3)
CONSTANTS = {"w": W / 8, "zero": np.float32(0), "half": np.float32(0.5)}


def branch(name: str, *nodes: onnx.NodeProto) -> onnx.GraphProto:
    return helper.make_graph(list(nodes), name, [], [helper.make_tensor_value_info(f"{name}_y", 1, [3, 3])])


def chosen() -> onnx.ModelProto:
    """An If in an If: a product, or one of two functions of another product; `shared` is read outside too."""
    inner = node(
        "If", "large", "else_y", "inner",
        then_branch=branch("high", node("MatMul", "shared w", "up", "only_high"), node("Neg", "up", "high_y", "up")),
        else_branch=branch("low", node("Tanh", "shared", "low_y", "only_low")),
    )  # fmt: skip
    outer = node(
        "If", "positive", "taken", "outer",
        then_branch=branch("then", node("MatMul", "x w", "a", "only_then"), node("Softmax", "a", "then_y", "soft")),
        else_branch=branch("else", node("Greater", "x00 half", "large", "test"), inner),
    )  # fmt: skip
    nodes = [
        node("ReduceSum", "x", "sum", "sum", keepdims=0),
        node("Greater", "sum zero", "positive", "question"),
        node("ReduceMax", "x", "x00", "most", keepdims=0),
        node("Exp", "x", "shared", "shared"),
        outer,
        node("Add", "taken shared", "y", "last"),
    ]
    return onnx_model(nodes, {"x": [3, 3]}, ["y"], CONSTANTS)


def plan_of(proto: onnx.ModelProto, **more: Any) -> ExecutionPlan:
    return place(load_and_pass(proto, "m", **more), platform("generic")).plan


def guards_by_name(plan: ExecutionPlan) -> dict[str, set[tuple[str, bool]]]:
    names = [slot.tensor.name for slot in plan.slots]
    return {
        instruction.name: {(names[guard.slot], guard.value) for guard in own}
        for instruction, own in zip(plan.instructions, guards_of(plan), strict=True)
    }


def test_each_branch_runs_for_its_own_outcome_and_what_is_shared_always() -> None:
    guards = guards_by_name(plan_of(chosen()))
    (large,) = {name for own in guards.values() for name, _ in own} - {"positive"}
    then, other = ("positive", True), ("positive", False)
    of_branches = {name.rpartition("/")[2]: own for name, own in guards.items() if "/" in name}
    assert of_branches["only_then"] == of_branches["soft"] == {then}
    assert of_branches["only_high"] == of_branches["up"] == {other, (large, True)}
    assert of_branches["only_low"] == {other, (large, False)}
    for name in ("sum", "question", "shared", "last"):
        assert guards[name] == set()


def test_a_condition_that_is_computed_later_guards_nothing() -> None:
    nodes = [
        node("MatMul", "x w", "a", "early"),
        node("ReduceSum", "x", "s", "sum", keepdims=0),
        node("Greater", "s zero", "c", "question"),
        node("MatMul", "x w2", "b", "late"),
        node("Where", "c a b", "y", "choice"),
    ]
    plan = plan_of(onnx_model(nodes, {"x": [3, 3]}, ["y"], {**CONSTANTS, "w2": W}))
    guards = guards_by_name(plan)
    order = [instruction.name for instruction in plan.instructions]
    assert order.index("early") < order.index("question") < order.index("late")
    assert guards["early"] == set()
    assert guards["late"] == {("c", False)}


def test_turns_behind_the_end_of_a_loop_are_left_out_with_their_conditions() -> None:
    guards = guards_by_name(plan_of(asked("- yes x", yes=np.bool_(True)), bounds={"loop": 4}))
    assert all(
        own
        for name, own in guards.items()
        if name.rpartition("/")[2] in ("Add", "ReduceSum", "Less") and name > "loop/1"
    )


def test_outcomes_say_what_is_left_out() -> None:
    guards = (frozenset[Guard[int]](), frozenset({Guard(0, True)}), frozenset({Guard(0, False), Guard(1, True)}))
    yes, no = np.array(True), np.array(False)
    assert skipped(guards, [yes, yes]) == {2}
    assert skipped(guards, [no, yes]) == {1}
    assert skipped(guards, [no, no]) == {1, 2}


def test_every_outcome_in_c_is_that_of_onnx_runtime(tmp_path: Path) -> None:
    generic, subjects, wanted = platform("generic"), [], []
    loops: list[dict[str, Any]] = [
        {"n": np.array(turns), "x": np.full((2, 3), 2.0, np.float32)} for turns in (0, 1, 3, 5)
    ]
    branches: list[dict[str, Any]] = [{"x": W - 9}, {"x": W * 0 + 0.1 - W / 9}, {"x": W}]
    networks: list[tuple[onnx.ModelProto, list[dict[str, Any]], dict[str, int]]] = [
        (chosen(), branches, {}), (asked("n - x"), loops, {"loop": 5})
    ]  # fmt: skip
    for at, (proto, feeds, bounds) in enumerate(networks):
        placed = place(load_and_pass(proto, f"m{at}", bounds=bounds), generic)
        assert any(guards_of(placed.plan))
        inputs = [placed.plan.slots[slot].tensor.name for slot in placed.plan.input_slots]
        subjects.append(subject(placed, generic, [[feed[name] for name in inputs] for feed in feeds]))
        session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
        wanted.append([session.run(None, feed)[0] for feed in feeds])
    for outcome, expected in zip(run_batch(subjects, tmp_path, flags=("-O1", *STRICT, *SANITIZE)), wanted, strict=True):
        assert not outcome.failure, outcome.failure
        for (found, *_), right in zip(outcome.runs, expected, strict=True):
            np.testing.assert_allclose(found, right, rtol=1e-5)


@pytest.mark.sim("qemu-system-arm")
def test_layers_that_did_not_run_are_not_compared_and_fences_hold(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    proto = chosen()
    proto.graph.output[0].type.tensor_type.elem_type = TensorProto.FLOAT
    file, inputs = tmp_path / "m.onnx", tmp_path / "x.npz"
    onnx.save(proto, file)
    np.savez(inputs, x=W)
    assert main(["run", str(file), "-t", "qemu_mps2_an386", "--inputs", str(inputs), "--layers"]) == 0
    told = capsys.readouterr().out
    assert "nothing touched outside" in told
    rows = {line.split()[1]: line.split()[-1] for line in told.splitlines() if "only_" in line}
    assert {name.rpartition("/")[2]: error == "-" for name, error in rows.items()} == {
        "only_then": False, "only_high": True, "only_low": True,
    }  # fmt: skip


@pytest.mark.parametrize(("target", "told"), [("cuda_host", True), ("host", False)])
def test_a_platform_that_leaves_nothing_out_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], target: str, told: bool
) -> None:
    file = tmp_path / "m.onnx"
    onnx.save(chosen(), file)
    assert main(["check", str(file), "-t", target]) == 0
    note = (
        "note: platform 'cuda' leaves nothing out: layers that only one outcome of a condition needs run in "
        "every call, 8 here ('most', 'outer/only_then', 'outer/soft', and 5 more)"
    )
    assert (note in capsys.readouterr().err) == told
