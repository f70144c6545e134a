"""Inputs that are drawn: indices, lengths and divisors lie inside of what the network takes, and the run says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from graphs import onnx_model
from onnx import TensorProto, helper
from tilewright.compile import compile_model
from tilewright.errors import UsageError
from tilewright.options import CompileOptions
from tilewright.plan.execute import run
from tilewright.plan.plan import ExecutionPlan
from tilewright.run.inputs import drawn_sentences, input_arrays
from tilewright.target import load_target

TABLE = np.arange(120, dtype=np.float32).reshape(30, 4)
I32, I64, F32 = TensorProto.INT32, TensorProto.INT64, TensorProto.FLOAT
Nodes = Sequence[onnx.NodeProto]


def made(op: str, inputs: str, output: str = "y", **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(op, ["" if name == "-" else name for name in inputs.split()], [output], op.lower(),
                            **attributes)  # fmt: skip


def plan_of(
    folder: Path, nodes: Nodes, inputs: Mapping[str, Sequence[int]], constants: Mapping[str, object],
    kinds: Mapping[str, int], outputs: Sequence[str] = ("y",),
) -> ExecutionPlan:  # fmt: skip
    onnx.save(onnx_model(nodes, inputs, outputs, constants, 20, types=kinds), folder / "m.onnx")
    return compile_model(folder / "m.onnx", CompileOptions(), load_target("host")).plan


def drawn(plan: ExecutionPlan, name: str) -> set[int]:
    """All values of an input over many seeds; every one of the draws must run."""
    found: set[int] = set()
    place = [plan.slots[slot].tensor.name for slot in plan.input_slots].index(name)
    for seed in range(40):
        inputs = input_arrays(plan, None, seed)
        run(plan, inputs)
        found |= {int(value) for value in inputs[place].reshape(-1)}
    return found


WEIGHTS = {"w": np.zeros((1, 9, 4), np.float32), "r": np.zeros((1, 9, 3), np.float32)}
CASES: dict[str, tuple[Nodes, dict[str, list[int]], dict[str, object], dict[str, int], set[int]]] = {
    "rows": ([made("Gather", "t i")], {"i": [60]}, {"t": TABLE}, {"i": I64}, set(range(30))),
    "columns": ([made("Gather", "t i", axis=1)], {"i": [9]}, {"t": TABLE}, {"i": I64}, set(range(4))),
    "elements": ([made("GatherElements", "t i", axis=-1)], {"i": [30, 2]}, {"t": TABLE}, {"i": I64}, set(range(4))),
    "places": ([made("GatherND", "t i")], {"i": [9, 2]}, {"t": TABLE}, {"i": I64}, set(range(4))),
    "batches": ([made("GatherND", "t i", batch_dims=1)], {"i": [30, 1]}, {"t": TABLE}, {"i": I64}, set(range(4))),
    "scattered": (
        [made("ScatterND", "t i u")], {"i": [60, 1], "u": [60, 4]}, {"t": TABLE}, {"i": I64}, set(range(30)),
    ),
    "classes": (
        [made("OneHot", "i d v")], {"i": [9]}, {"d": np.array(6), "v": np.array([0, 1], np.float32)}, {"i": I64},
        set(range(6)),
    ),
    "turned": ([made("ReverseSequence", "x i")], {"x": [5, 3], "i": [3]}, {}, {"i": I64}, {1, 2, 3, 4, 5}),
    "turned_rows": (
        [made("ReverseSequence", "x i", time_axis=1, batch_axis=0)], {"x": [3, 4], "i": [3]}, {}, {"i": I64},
        {1, 2, 3, 4},
    ),
    "lengths": (
        [made("GRU", "x w r - i", hidden_size=3)], {"x": [6, 2, 4], "i": [2]}, dict(WEIGHTS), {"i": I32},
        {1, 2, 3, 4, 5, 6},
    ),
    "divided": ([made("Mod", "a i")], {"a": [90], "i": [90]}, {}, {"a": I32, "i": I32}, set(range(1, 128))),
    "cast": (
        [made("Cast", "i", "c", to=I64), made("Gather", "t c")], {"i": [60]}, {"t": TABLE}, {"i": F32}, set(range(30)),
    ),
    "moved": (
        [made("Unsqueeze", "i zero", "u"), made("Add", "u two", "a"), made("Gather", "t a")], {"i": [60]},
        {"t": TABLE, "zero": np.array([0]), "two": np.array([2, 3])[[0] * 30 + [1] * 30]}, {"i": I64},
        set(range(-2, 27)),
    ),
    "less": (
        [made("Sub", "i five", "a"), made("Gather", "t a")], {"i": [90]}, {"t": TABLE, "five": np.array(5)}, {"i": I64},
        set(range(5, 35)),
    ),
    "times": (
        [made("Mul", "four i", "a"), made("Gather", "t a")], {"i": [60]}, {"t": TABLE, "four": np.array(4)}, {"i": I64},
        set(range(8)),
    ),
    "chosen": (
        [made("Where", "m i zero", "a"), made("Gather", "t a")], {"m": [60], "i": [60]},
        {"t": TABLE, "zero": np.array(0)}, {"i": I64, "m": TensorProto.BOOL}, set(range(30)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_is_drawn_suits_the_nodes_that_read_it(case: str, tmp_path: Path) -> None:
    nodes, inputs, constants, kinds, expected = CASES[case]
    plan = plan_of(tmp_path, nodes, inputs, constants, kinds)
    assert drawn(plan, "i") == expected
    (sentence,) = drawn_sentences(plan)
    assert sentence.startswith(f"'i' is drawn from {min(expected)} to {max(expected)}: node '{nodes[-1].name}' (")


def test_the_smallest_axis_wins(tmp_path: Path) -> None:
    nodes = [made("Gather", "t i"), made("Gather", "few i", "z"), made("Gather", "t i", "last")]
    constants = {"t": TABLE, "few": TABLE[:7]}
    plan = plan_of(tmp_path, nodes, {"i": [20]}, constants, {"i": I64}, ("y", "z", "last"))
    assert drawn(plan, "i") == set(range(7))
    assert drawn_sentences(plan) == (
        "'i' is drawn from 0 to 6: node 'gather_2' (Gather) takes indices of axis 0, which has 7 elements",
    )


def test_other_inputs_are_drawn_as_ever(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, [made("Add", "a i")], {"a": [900], "i": [900]}, {}, {"a": I32, "i": I32})
    assert drawn(plan, "i") == set(range(-128, 128))
    assert drawn_sentences(plan) == ()
    bytes_ = plan_of(tmp_path, [made("Cast", "i", to=F32)], {"i": [900]}, {}, {"i": TensorProto.UINT8})
    assert drawn(bytes_, "i") == set(range(256))
    floats = input_arrays(plan_of(tmp_path, [made("Relu", "x")], {"x": [5]}, {}, {}), None, 3)
    assert np.array_equal(floats[0], np.random.default_rng(3).standard_normal(5).astype(np.float32))


@pytest.mark.parametrize(
    ("case", "value", "sentence"),
    [
        (
            "rows",
            30,
            "1 of its 60 elements do not suit: node 'gather' (Gather) takes indices of axis 0, which has 30 el",
        ),
        ("rows", -31, "give values from 0 to 29"),
        ("less", 35, "holds 35: 1 of its 90 elements"),
        ("less", -26, "give values from 5 to 34"),
        ("lengths", 7, "lengths of sequences of 6 steps; give values from 1 to 6"),
        ("times", 8, "holds 8"),
    ],
)
def test_an_index_of_the_users_outside_is_a_fault_of_the_inputs(
    case: str, value: int, sentence: str, tmp_path: Path
) -> None:
    nodes, inputs, constants, kinds, expected = CASES[case]
    plan = plan_of(tmp_path, nodes, inputs, constants, kinds)
    values = {plan.slots[s].tensor.name: array for s, array in zip(plan.input_slots, input_arrays(plan, None, 0),
                                                                   strict=True)}  # fmt: skip
    file = tmp_path / "in.npz"
    values["i"].reshape(-1)[1] = value
    np.savez(file, **values)  # type: ignore[arg-type]
    with pytest.raises(UsageError) as refusal:
        input_arrays(plan, file, 0)
    assert str(refusal.value).startswith(f"'i' in {file} holds {value}: ")
    assert sentence in str(refusal.value)
    assert refusal.value.code == 2
    allowed = min(expected) - 30 if case in ("rows", "less") else min(expected)  # from the end
    values["i"].reshape(-1)[1] = allowed
    np.savez(file, **values)  # type: ignore[arg-type]
    run(plan, input_arrays(plan, file, 0))


def test_an_index_that_cannot_be_followed_is_no_fault_of_the_export(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, [made("Neg", "i", "n"), made("Gather", "t n")], {"i": [2]}, {"t": TABLE}, {"i": I64})
    with pytest.raises(UsageError) as refusal:
        run(plan, [np.array([1, 31])])
    assert str(refusal.value) == (
        "the inputs do not suit node 'gather' (Gather): an index lies outside [-30, 30), in 'n'; "
        "pass values inside it with --inputs"
    )


def test_a_value_that_the_network_does_not_choose_may_be_anything(tmp_path: Path) -> None:
    nodes, inputs, constants, kinds, _ = CASES["chosen"]
    plan = plan_of(tmp_path, nodes, inputs, constants, kinds)
    chosen = np.arange(60) % 2 == 0
    np.savez(tmp_path / "in.npz", m=chosen, i=np.where(chosen, 29, 99))
    run(plan, input_arrays(plan, tmp_path / "in.npz", 0))
