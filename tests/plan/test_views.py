"""Concat, Split, Slice, Gather and Pad that share bytes instead of copying them."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import onnx
import pytest
from graphs import node, onnx_model
from plan.plans import plan_of, random_inputs
from tilewright.codegen.emit import emit
from tilewright.graphs.saved import load_plan, save_plan
from tilewright.memory.placed import PlacedPlan
from tilewright.memory.planner import place_plan
from tilewright.model import Array
from tilewright.plan.aliasing.alias_sets import view_shift
from tilewright.plan.aliasing.apply import with_aliasing
from tilewright.plan.execute import evaluate_call, run_slots
from tilewright.plan.plan import ExecutionPlan
from tilewright.platform import KiB
from tilewright.plugins import platform

GENERIC = platform("generic")
ALIGN = next(level.align for level in GENERIC.memory if level.name == "ram")


def shared_of(model: onnx.ModelProto) -> ExecutionPlan:
    """The plan of a small model, with views."""
    return with_aliasing(plan_of(model, passes=False), ALIGN)


def run_in_arena(placed: PlacedPlan, inputs: list[Array]) -> dict[int, Array]:
    """What every instruction makes where all bytes lie in one arena, as the generated code has it."""
    plan = placed.plan
    arena = np.full(placed.arena_bytes, 0xA5, np.uint8)
    callers = {s: np.full(g.size_bytes, 0xA5, np.uint8) for g in placed.storages for s in [g.root]}
    roots = {member: group.root for group in placed.storages for member in group.members}

    def at(slot: int) -> Array:
        start, memory = placed.slot_offsets.get(slot, -1), arena
        if start < 0:
            start, memory = view_shift(plan, slot), callers[roots[slot]]
        found: Array = memory[start : start + plan.slots[slot].tensor.size_bytes]
        return found

    def value(slot: int) -> Array:
        where = plan.slots[slot]
        return where.layout.unpack(at(slot).view(where.tensor.dtype.numpy), where.tensor.shape).copy()

    def put(slot: int, array: Array) -> None:
        at(slot)[:] = np.frombuffer(plan.slots[slot].layout.pack(array).tobytes(), np.uint8)

    for slot, array in zip(plan.input_slots, inputs, strict=True):
        put(slot, array)
    made: dict[int, Array] = {}
    for instruction in plan.instructions:
        arrays = [value(slot) if slot >= 0 else None for slot in instruction.inputs]
        if instruction.aliasing is None:
            for slot, result in zip(instruction.outputs, evaluate_call(instruction.call, arrays), strict=True):
                put(slot, result)
        else:
            whole = at(instruction.outputs[0])
            for copy in instruction.aliasing.copies:
                raw = (
                    np.frombuffer(plan.frozen_slots[copy.frozen].constant.values.tobytes(), np.uint8)
                    if copy.frozen is not None
                    else at(instruction.inputs[copy.operand])
                )
                whole[copy.start : copy.start + copy.size_bytes] = raw
            for fill in instruction.aliasing.fills:
                whole[fill.start : fill.start + fill.size_bytes] = fill.byte
        made.update({slot: value(slot) for slot in instruction.outputs})
    return {**made, **{slot: value(slot) for slot in plan.output_slots}}


def check_in_arena(plan: ExecutionPlan, allocator: str = "greedy", io: str = "arena") -> PlacedPlan:
    """Place the plan, run it in its arena and compare every tensor with the executor."""
    placed = place_plan(plan, GENERIC, allocator=allocator, io=io)
    inputs = random_inputs(plan)
    wanted = run_slots(plan, inputs)
    for slot, got in run_in_arena(placed, inputs).items():
        np.testing.assert_array_equal(got, wanted[slot], err_msg=plan.slots[slot].tensor.name)
    return placed


def aliasing_ops(plan: ExecutionPlan) -> list[str]:
    """The operators that share bytes, in order."""
    return [i.op_name for i in plan.instructions if i.aliasing is not None]


def test_the_parts_of_a_concat_are_written_where_the_result_lies() -> None:
    model = onnx_model(
        [node("Relu", "x", "a"), node("Tanh", "x", "b"), node("Concat", "a b", "c", axis=1), node("Abs", "c", "y")],
        {"x": [1, 4, 8, 8]},
        ["y"],
    )
    plan = shared_of(model)
    assert aliasing_ops(plan) == ["Concat"]
    placed = check_in_arena(plan)
    by_name = {plan.slots[slot].tensor.name: offset for slot, offset in placed.slot_offsets.items()}
    assert (by_name["a"] - by_name["c"], by_name["b"] - by_name["c"]) == (0, KiB)
    assert placed.arena_bytes == 2 * KiB  # b takes the place of x; with a copy a, b and c are alive at once
    assert place_plan(plan_of(model, passes=False), GENERIC).arena_bytes == 4 * KiB
    code = emit(placed, GENERIC.memory, ()).files["src/net.c"]
    assert "concat" not in code.replace("Concat", "")


@pytest.mark.parametrize(("axis", "shares"), [(0, True), (1, False)])
def test_the_parts_of_a_split_stay_in_the_operand_where_they_are_runs_of_bytes(axis: int, shares: bool) -> None:
    model = onnx_model(
        [
            node("Relu", "x", "a"),
            node("Split", "a", "b c", axis=axis),
            node("Tanh", "b", "d"),
            node("Abs", "c", "e"),
            node("Sub", "d e", "y"),
        ],
        {"x": [4, 8]},
        ["y"],
    )
    plan = shared_of(model)
    assert aliasing_ops(plan) == (["Split"] if shares else [])
    check_in_arena(plan)


def test_a_slice_and_a_gather_of_consecutive_rows_copy_nothing() -> None:
    model = onnx_model(
        [
            node("Relu", "x", "a"),
            node("Slice", "a two four zero", "b"),
            node("Gather", "a one", "c"),
            node("Add", "b c", "y"),
        ],
        {"x": [6, 8]},
        ["y"],
        {"two": np.array([2]), "four": np.array([4]), "zero": np.array([0]), "one": np.array(1)},
    )
    plan = shared_of(model)
    assert aliasing_ops(plan) == ["Slice", "Gather"]
    check_in_arena(plan)


def test_a_pad_along_the_outermost_axis_only_fills() -> None:
    model = onnx_model(
        [node("Relu", "x", "a"), node("Pad", "a pads value", "b"), node("Abs", "b", "y")],
        {"x": [3, 8]},
        ["y"],
        {"pads": np.array([1, 0, 2, 0]), "value": np.float32(0)},
    )
    plan = shared_of(model)
    (pad,) = [i for i in plan.instructions if i.aliasing]
    assert pad.aliasing
    assert [(f.start, f.size_bytes, f.byte) for f in pad.aliasing.fills] == [(0, 32, 0), (128, 64, 0)]
    placed = check_in_arena(plan)
    code = emit(placed, GENERIC.memory, ()).files["src/net.c"]
    assert code.count("memset(") == 2
    other = onnx_model(
        [node("Relu", "x", "a"), node("Pad", "a pads value", "b"), node("Abs", "b", "y")],
        {"x": [3, 8]}, ["y"], {"pads": np.array([1, 0, 2, 0]), "value": np.float32(1.5)},
    )  # fmt: skip
    assert aliasing_ops(shared_of(other)) == []  # 1.5 is not one byte over and over


def test_constants_and_operands_that_lie_elsewhere_are_copied_alone() -> None:
    model = onnx_model(
        [
            node("Relu", "x", "a"),
            node("Concat", "k a a", "b", axis=0),
            node("Concat", "a x", "c", axis=0),
            node("Tanh", "b", "y"),
            node("Tanh", "c", "z"),
        ],
        {"x": [2, 8]},
        ["y", "z"],
        {"k": np.arange(8, dtype=np.float32).reshape(1, 8)},
    )
    plan = shared_of(model)
    one, two = [i.aliasing for i in plan.instructions if i.aliasing]
    assert one is not None
    assert two is not None
    assert (len(one.pairs), [(c.operand, c.start, c.frozen is None) for c in one.copies]) == (
        1, [(0, 0, False), (2, 96, True)],
    )  # fmt: skip
    assert len(two.pairs) == 1
    check_in_arena(plan)


def test_bytes_of_a_dense_block_are_made_once() -> None:
    """Every layer reads all tensors before it: all concatenations are beginnings of the last one."""
    nodes = [node("Relu", "x", "f0")]
    for layer in range(1, 5):
        read = " ".join(f"f{i}" for i in range(layer))
        name = f"c{layer}" if layer > 1 else "f0"
        if layer > 1:
            nodes.append(node("Concat", read, name, axis=1))
        nodes.append(node("ReduceMean", f"{name} one", f"m{layer}"))
        nodes.append(node("Mul", f"m{layer} f0", f"f{layer}"))
    nodes.append(node("Concat", "f0 f1 f2 f3 f4", "c", axis=1))
    nodes.append(node("Tanh", "c", "y"))
    model = onnx_model(nodes, {"x": [1, 4, 4, 4]}, ["y"], {"one": np.array([1])}, opset=18)
    plan = shared_of(model)
    assert aliasing_ops(plan) == ["Concat"] * 4
    assert all(i.aliasing is None or not i.aliasing.copies for i in plan.instructions)
    placed = check_in_arena(plan, "auto")
    assert placed.live_set <= 2 * 5 * 256
    assert placed.solution.status == "optimal"


def test_codes_of_other_scales_are_no_views() -> None:
    from tilewright.model import DType, Quantisation, Tensor
    from tilewright.plan.aliasing.ranges import same_kind

    fine, coarse = Quantisation((0.1,), (0,)), Quantisation((0.2,), (0,))
    one = Tensor("a", DType.I8, (4,), fine)
    assert same_kind(one, Tensor("b", DType.I8, (4,), fine))
    assert not same_kind(one, Tensor("b", DType.I8, (4,), coarse))
    assert not same_kind(Tensor("a", DType.I4, (4,), fine), Tensor("b", DType.I4, (4,), fine))


@pytest.mark.parametrize(("scale", "shares"), [(0.1, ["Concat", "Split"]), (0.2, ["Split"])])
def test_a_quantised_concat_shares_where_the_scales_agree(scale: float, shares: list[str]) -> None:
    nodes = [
        node("QuantizeLinear", "x s z", "xq"), node("DequantizeLinear", "xq s z", "xd"),
        node("QuantizeLinear", "w t z", "wq"), node("DequantizeLinear", "wq t z", "wd"),
        node("Concat", "xd wd", "c", axis=0),
        node("QuantizeLinear", "c s z", "cq"), node("DequantizeLinear", "cq s z", "cd"),
        node("Split", "cd parts", "a b", axis=0),
        node("QuantizeLinear", "a s z", "aq"), node("DequantizeLinear", "aq s z", "y"),
        node("QuantizeLinear", "b s z", "bq"), node("DequantizeLinear", "bq s z", "u"),
    ]  # fmt: skip
    constants = {"s": np.float32(0.1), "t": np.float32(scale), "z": np.int8(3), "parts": np.array([1, 5])}
    plan = with_aliasing(plan_of(onnx_model(nodes, {"x": [4, 16], "w": [2, 16]}, ["y", "u"], constants)), ALIGN)
    assert aliasing_ops(plan) == shares
    check_in_arena(plan)


def test_the_memory_of_the_caller_is_not_shared() -> None:
    model = onnx_model([node("Relu", "x", "a"), node("Concat", "a x", "y", axis=0)], {"x": [2, 8]}, ["y"])
    plan = plan_of(model, passes=False)
    assert aliasing_ops(with_aliasing(plan, ALIGN, frozenset(plan.output_slots))) == []
    placed = check_in_arena(with_aliasing(plan, ALIGN))
    assert placed.storages[-1].kind == "output"


def random_model(seed: int) -> onnx.ModelProto:
    """Moves and elementwise operators over matrices of eight columns, or of three, whose rows are odd addresses."""
    r = random.Random(seed)
    nodes: list[onnx.NodeProto] = []
    rows = {"x": r.randint(2, 6), "w": r.randint(1, 3)}
    columns = r.choice((8, 8, 3))
    inputs = {name: [count, columns] for name, count in rows.items()}
    constants: dict[str, object] = {"k": np.arange(columns, dtype=np.float32).reshape(1, columns)}
    for count in range(r.randint(4, 16)):
        name, a = f"t{count}", r.choice(list(rows)[-5:])
        kind = r.choice(("Concat", "Concat", "Split", "Slice", "Pad", "one", "one", "two", "Gather"))
        if kind == "Concat":
            parts = [r.choice([*list(rows)[-5:], "k"]) for _ in range(r.randint(2, 4))]
            if all(part == "k" for part in parts):
                parts.append(a)
            total = sum(rows.get(part, 1) for part in parts)
            if total > 24:
                continue
            nodes.append(node("Concat", " ".join(parts), name, axis=0))
            rows[name] = total
        elif kind == "Split" and rows[a] > 1:
            at = r.randint(1, rows[a] - 1)
            constants[f"{name}_s"] = np.array([at, rows[a] - at])
            nodes.append(node("Split", f"{a} {name}_s", f"{name} {name}b", axis=0))
            rows |= {name: at, f"{name}b": rows[a] - at}
        elif kind == "Slice":
            low = r.randrange(rows[a])
            high = r.randint(low + 1, rows[a])
            constants |= {f"{name}_l": np.array([low]), f"{name}_h": np.array([high])}
            nodes.append(node("Slice", f"{a} {name}_l {name}_h", name))
            rows[name] = high - low
        elif kind == "Pad":
            pads = [r.randint(0, 2), 0, r.randint(0, 2), 0]
            constants[f"{name}_p"] = np.array(pads)
            nodes.append(node("Pad", f"{a} {name}_p", name))
            rows[name] = rows[a] + pads[0] + pads[2]
        elif kind == "Gather":
            constants[f"{name}_i"] = np.array([r.randrange(rows[a])])
            nodes.append(node("Gather", f"{a} {name}_i", name))
            rows[name] = 1
        elif kind == "two":
            b = r.choice([other for other in rows if rows[other] == rows[a]])
            nodes.append(node(r.choice(("Add", "Sub")), f"{a} {b}", name))
            rows[name] = rows[a]
        else:
            nodes.append(node(r.choice(("Relu", "Neg", "Abs")), a, name))
            rows[name] = rows[a]
    read = {name for each in nodes for name in each.input}
    outputs = [name for name in rows if name not in read and name not in inputs]
    return onnx_model(nodes, inputs, outputs[-3:], constants)


@pytest.mark.parametrize("block", range(6))
def test_random_networks_of_moves_keep_every_value(block: int) -> None:
    shared = 0
    for seed in range(block * 15, block * 15 + 15):
        model = random_model(seed)
        if not model.graph.output:
            continue
        plan = shared_of(model)
        shared += len(aliasing_ops(plan))
        check_in_arena(plan)
        stored = plan_of(model, passes=False)
        check_in_arena(
            with_aliasing(stored, ALIGN, frozenset((*stored.input_slots, *stored.output_slots))), io="caller"
        )
    assert shared > 12


def test_a_plan_with_views_is_saved_and_read(tmp_path: Path) -> None:
    plan = shared_of(random_model(3))
    save_plan(plan, tmp_path / "plan")
    again = load_plan(tmp_path / "plan")
    assert [i.aliasing for i in again.instructions] == [i.aliasing for i in plan.instructions]
    assert aliasing_ops(again)


def test_random_networks_of_moves_as_c(tmp_path: Path) -> None:
    from dataclasses import replace

    from tilewright.conformance.program import run_batch
    from tilewright.conformance.subject import subject

    subjects = []
    for seed in range(30):
        model = random_model(seed)
        if model.graph.output:
            plan = replace(shared_of(model), name=f"views{seed}")
            placed = place_plan(plan, GENERIC, allocator="greedy")
            subjects.append(subject(placed, GENERIC, [random_inputs(plan, run) for run in range(2)]))
    flags = ("-O1", "-fsanitize=address,undefined", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function")
    for found, outcome in zip(subjects, run_batch(subjects, tmp_path, flags=flags), strict=True):
        assert not outcome.failure, outcome.failure
        for inputs, results in zip(found.runs, outcome.runs, strict=True):
            wanted = run_slots(found.placed.plan, inputs)
            for slot, got in zip(found.placed.plan.output_slots, results, strict=True):
                np.testing.assert_array_equal(got, wanted[slot])


def test_boxes_that_are_no_runs_are_copied() -> None:
    """Two of four columns lie in every row of the operand, but not behind each other; rows in another order neither."""
    nodes = [
        node("Relu", "x", "a"), node("Slice", "a low high axis", "b"), node("Relu", "z", "d"),
        node("Gather", "d turned", "e"), node("Softmax", "b", "y"), node("Softmax", "e", "w"),
    ]  # fmt: skip
    constants = {"low": np.array([0]), "high": np.array([2]), "axis": np.array([1]), "turned": np.array([0, 2, 1])}
    model = onnx_model(nodes, {"x": [2, 4], "z": [3, 4]}, ["y", "w"], constants)
    assert aliasing_ops(with_aliasing(plan_of(model, passes=False), 4)) == []


def test_values_that_both_live_do_not_share_a_byte() -> None:
    """Both results want x's part at their own start, and x cannot lie at both."""
    nodes = [
        node("Exp", "x", "a"), node("Exp", "w", "b"), node("Concat", "a b", "c", axis=0),
        node("Concat", "b a", "d", axis=0), node("Sub", "c d", "e"), node("Softmax", "e", "y"),
    ]  # fmt: skip
    plan = with_aliasing(plan_of(onnx_model(nodes, {"x": [2, 8], "w": [2, 8]}, ["y"]), passes=False), 4)
    check_in_arena(plan)


def test_an_output_is_no_part_of_an_input() -> None:
    model = onnx_model([node("Slice", "x low high", "y")], {"x": [4, 8]}, ["y"], {"low": [1], "high": [3]})
    assert aliasing_ops(with_aliasing(plan_of(model, passes=False), 4)) == []


def test_parts_at_addresses_that_no_tensor_may_have_are_copied() -> None:
    """Three columns of bytes: the second part would start three bytes behind a multiple of four."""
    nodes = [
        node("Exp", "x", "a"),
        node("Exp", "w", "b"),
        node("Concat", "a b", "c", axis=0),
        node("Softmax", "c", "y"),
    ]
    plan = with_aliasing(plan_of(onnx_model(nodes, {"x": [1, 3], "w": [1, 3]}, ["y"]), passes=False), 8)
    (concat,) = [i for i in plan.instructions if i.aliasing]
    assert concat.aliasing
    assert [pair[0] for pair in concat.aliasing.pairs] == [0]
    assert [(copy.operand, copy.start, copy.size_bytes) for copy in concat.aliasing.copies] == [(1, 12, 12)]
