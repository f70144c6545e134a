"""Equal constants of several nodes lie in one place, unless weights are told apart by node."""

from __future__ import annotations

import numpy as np
from graphs import node, onnx_model
from onnx import TensorProto
from plan.test_guards import plan_of
from tilewright.model import Array
from tilewright.plan.constants import with_own_constants
from tilewright.plan.plan import ExecutionPlan

W = np.arange(4096, dtype=np.float32).reshape(64, 64)


def products(*weights: Array) -> ExecutionPlan:
    names = ["x", *(f"r{at}" for at in range(len(weights)))]
    nodes = [node("MatMul", f"{names[at]} w{at}", names[at + 1], f"n{at}") for at in range(len(weights))]
    held = {f"w{at}": value for at, value in enumerate(weights)}
    return plan_of(onnx_model(nodes, {"x": [2, 64]}, [names[-1]], held))


def test_equal_weights_of_two_nodes_are_one_constant_and_others_are_not() -> None:
    other = W.copy()
    other[0, 1] += 1
    plan = products(W, W.copy(), other)
    one, two, three = (instruction.frozen for instruction in plan.instructions)
    assert one == two
    named = {slot.index: slot.constant.name for slot in plan.frozen_slots}
    weights = [next(index for index in read if named[index] == "w") for read in (one, three)]
    assert weights[0] != weights[1]  # what a kernel keeps beside its weights may be equal


def test_two_equal_constants_of_one_node_keep_their_parameters() -> None:
    zeros = np.zeros(3, np.float32)
    choice = onnx_model([node("Where", "c a b", "y")], {"c": [2, 3]}, ["y"], {"a": zeros, "b": zeros},
                        types={"c": TensorProto.BOOL})  # fmt: skip
    (instruction,) = plan_of(choice, passes=False).instructions
    assert len(set(instruction.frozen)) == 2


def test_nodes_have_constants_of_their_own_where_asked() -> None:
    plan = with_own_constants(products(W, W, W))
    read = [index for instruction in plan.instructions for index in instruction.frozen]
    assert sorted(read) == [slot.index for slot in plan.frozen_slots]
    assert {plan.frozen_slots[i.frozen[0]].node for i in plan.instructions} == {i.name for i in plan.instructions}
