"""Warm-ups, regions, fallback, callbacks, state: what the executor promises, on the stand-in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from cuda.gpu import Built, build_text, built, gpu_plan
from graphs import node, onnx_model
from plan.plans import chain, model_of, random_inputs
from tilewright.errors import UsageError
from tilewright.graphs.state import add_kv_pair
from tilewright.memory.buffer_layout import compute_buffer_layout
from tilewright.model import Array
from tilewright.ops.operator import Call
from tilewright.plan.execute import evaluate_call, run_slots
from tilewright.platforms.cuda.emit import emit_network
from tilewright.run.cuda_executor import CUDAGraphExecutor, Stats

OPS = ["Relu", "Softmax", "Exp", "Add", "Softmax", "Tanh", "Softmax", "Neg"]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return built(gpu_plan(model_of(chain(OPS), passes=False)), tmp_path_factory.mktemp("small"))


def broken(small: Built, tmp_path: Path, statement: str, instruction: int = 1) -> Path:
    """The library with a statement before the launch of an instruction."""
    case = f"    case {instruction}:\n"
    assert case in small.text
    return build_text(small.text.replace(case, f"{case}        {statement}\n"), tmp_path)


SYNC = "CHECK(cudaStreamSynchronize(stream));"
MALLOC = "{ void *more = nullptr; CHECK(cudaMalloc(&more, 64)); CHECK(cudaFree(more)); }"


def check(executor: CUDAGraphExecutor, seed: int = 0) -> None:
    inputs = random_inputs(executor.plan, seed)
    for slot, output in zip(executor.plan.output_slots, executor.run(*inputs), strict=True):
        assert np.allclose(output, run_slots(executor.plan, inputs)[slot], rtol=1e-5, atol=1e-6)


def test_warm_up_then_capture_then_replay(small: Built) -> None:
    told: list[str] = []
    with CUDAGraphExecutor(
        small.plan, 2, on_captured=lambda: told.append("captured"), layout=small.layout, library=small.library
    ) as executor:
        seen = []
        for call in range(5):
            check(executor, call)
            seen.append((executor.stats.warmups, executor.stats.captures, executor.stats.replays))
        assert seen == [(1, 0, 0), (2, 0, 0), (2, 1, 1), (2, 1, 2), (2, 1, 3)]
        assert told == ["captured"]
        launches = len(small.plan.instructions) - sum(b - a - 1 for a, b in small.plan.groups)
        assert executor.stats.nodes == (launches + 2,)  # and one copy each way


def test_addresses_stay(small: Built) -> None:
    with CUDAGraphExecutor(small.plan, layout=small.layout, library=small.library) as executor:
        places = []
        for call in range(3):
            check(executor, call)
            places.append([executor.slot_address(slot) for slot in range(small.plan.slot_count)])
        assert places[0] == places[1] == places[2]


def test_regions_around_operators_of_the_host(small: Built) -> None:
    host = {"Tanh"}
    for mode, captured, nodes in (("longest", 5, 1), ("all", 7, 2)):
        with CUDAGraphExecutor(
            small.plan, regions=mode, layout=small.layout, library=small.library, host_operators=host, poison=True
        ) as executor:
            for call in range(4):
                check(executor, call)
            assert executor.regions.captured == captured
            assert len(executor.stats.nodes) == nodes
            assert executor.stats.replays == 3
            with pytest.raises(UsageError, match="a megakernel cannot run operators on the host"):
                executor.run_megakernel(random_inputs(small.plan))


def test_without_any_region_every_call_is_eager(small: Built) -> None:
    host = {i.op_name for i in small.plan.instructions}
    with CUDAGraphExecutor(small.plan, layout=small.layout, library=small.library, host_operators=host) as executor:
        for call in range(3):
            check(executor, call)
        assert executor.stats == Stats(eager=3)
        assert executor.capture_error is None


@pytest.mark.parametrize(("statement", "code"), [(SYNC, 900), (MALLOC, 900)])
def test_a_refused_capture_falls_back_for_ever(small: Built, tmp_path: Path, statement: str, code: int) -> None:
    with CUDAGraphExecutor(
        small.plan, layout=small.layout, library=broken(small, tmp_path, statement), poison=True
    ) as executor:
        for call in range(4):
            check(executor, call)
        assert executor.failed
        assert executor.stats == Stats(warmups=1, eager=3)
        assert executor.capture_error is not None
        assert executor.capture_error.cuda_code == code
        assert str(executor.capture_error).startswith(
            "the capture of region [0, 8) failed: CUDA error 900, the operation"
        )


def test_the_fallback_starts_at_the_region_not_before(small: Built, tmp_path: Path) -> None:
    """Operators of the host count their calls: one per run, also in the run whose capture fails."""
    calls: list[str] = []

    def counted(call: Call, arrays: Sequence[Array | None]) -> tuple[Array, ...]:
        calls.append(call.node.op)
        return evaluate_call(call, arrays)

    library = broken(small, tmp_path, SYNC, instruction=6)
    restored: list[str] = []

    def snapshot() -> Callable[[], None]:
        return lambda: restored.append("put back")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tilewright.run.cuda_executor.evaluate_call", counted)
        with CUDAGraphExecutor(
            small.plan, regions="all", snapshot_cache=snapshot, layout=small.layout, library=library,
            host_operators={"Tanh"}, poison=True,
        ) as executor:  # fmt: skip
            for call in range(4):
                check(executor, call)
                assert len(calls) == call + 1
            assert executor.capture_error is not None
            assert "region [6, 8)" in str(executor.capture_error)
            assert restored == ["put back"]


def test_destroy_frees_and_a_later_run_captures_again(small: Built) -> None:
    executor = CUDAGraphExecutor(small.plan, layout=small.layout, library=small.library)
    for call in range(3):
        check(executor, call)
    executor.destroy()
    executor.destroy()
    assert executor.stats.nodes == ()
    check(executor, 9)
    assert executor.stats.captures == 2
    executor.close()


def test_inputs_are_checked(small: Built) -> None:
    with CUDAGraphExecutor(small.plan, layout=small.layout, library=small.library) as executor:
        with pytest.raises(UsageError, match="the plan takes 1 inputs: 0 were given"):
            executor.run()
        with pytest.raises(UsageError, match=r"input 'x' is float64\[2, 8\]: the executor takes float32\[2, 8\]"):
            executor.run(np.zeros((2, 8)))
        with pytest.raises(UsageError, match="0 samples at once"):
            CUDAGraphExecutor(small.plan, samples=0)


def test_state_advances_once_per_call(tmp_path: Path) -> None:
    nodes = [node("Add", "total x", "next", "add"), node("Softmax", "next", "y", "soft")]
    plan = gpu_plan(model_of(onnx_model(nodes, {"total": (5,), "x": (5,)}, ["next", "y"])))
    plan = add_kv_pair(plan, "total", "next")
    found = built(plan, tmp_path / "good")
    case = "    case 1:\n"
    bad = build_text(found.text.replace(case, f"{case}        {SYNC}\n"), tmp_path / "bad")
    one = np.ones(5, np.float32)
    for library in (found.library, bad):
        with CUDAGraphExecutor(plan, layout=found.layout, library=library, poison=True) as executor:
            assert [int(executor.run(one)[0][0]) for _ in range(4)] == [1, 2, 3, 4]
            restore = executor.snapshot_state()
            assert executor.run(one)[0][0] == 5
            restore()
            assert executor.run(one)[0][0] == 5
            executor.reset_stateful()
            assert executor.run(one)[0][0] == 1
            assert executor.failed is (library is bad)


def test_groups_are_one_launch(tmp_path: Path) -> None:
    """A sweep over operands of other widths: lives of a group are those of one instruction."""
    nodes = [
        node("Softmax", "x", "s", "s"), node("QuantizeLinear", "s scale zero", "q", "q"),
        node("Softmax", "x", "u", "u"),
        node("DequantizeLinear", "q scale zero", "f", "f"), node("Mul", "f two", "g", "g"), node("Neg", "g", "h", "h"),
        node("Add", "h u", "y", "y"),
    ]  # fmt: skip
    constants = {"scale": np.float32(0.004), "zero": np.int8(-128), "two": np.float32(2)}
    plan = gpu_plan(model_of(onnx_model(nodes, {"x": (4, 64)}, ["y"], constants), passes=False))
    assert any(high - low > 1 for low, high in plan.groups)
    layout = compute_buffer_layout(plan)
    library = build_text(emit_network(plan, layout), tmp_path)
    with CUDAGraphExecutor(plan, layout=layout, library=library, poison=True) as executor:
        for call in range(3):
            check(executor, call)
        assert executor.stats.nodes[0] < len(plan.instructions) + 2
