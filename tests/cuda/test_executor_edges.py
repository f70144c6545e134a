"""Host operators inside of sweeps, many regions, and what is asked of an executor that has no memory any more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from cuda.gpu import Built, built, gpu_plan
from graphs import node, onnx_model
from plan.plans import chain, model_of, random_inputs
from tilewright.errors import UsageError
from tilewright.model import Array
from tilewright.ops.operator import Call
from tilewright.plan.execute import evaluate_call, run_slots
from tilewright.run.cuda_executor import CUDAGraphExecutor
from tilewright.run.cuda_library import CudaError

SWEPT = ("Relu", "Exp", "Mul", "Neg")


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Four elementwise operators in one sweep."""
    nodes = [node("Relu", "x", "a"), node("Exp", "a", "b"), node("Mul", "b x", "c"), node("Neg", "c", "y")]
    plan = gpu_plan(model_of(onnx_model(nodes, {"x": (4, 8)}, ["y"]), passes=False))
    assert plan.groups == ((0, 4),)
    return built(plan, tmp_path_factory.mktemp("sweep"))


def marked(call: Call, arrays: Sequence[Array | None]) -> tuple[Array, ...]:
    """What the host computes is not what the device would: a result that is only the device's shows."""
    return tuple(result + np.float32(1) for result in evaluate_call(call, arrays))


def expected(found: Built, inputs: Sequence[Array], host: str, patched: bool) -> Array:
    values: dict[str, Array] = {"x": inputs[0]}
    for instruction in found.plan.instructions:
        names = [t.name for t in instruction.call.inputs if t is not None]
        compute = marked if patched and instruction.op_name == host else evaluate_call
        (values[instruction.call.outputs[0].name],) = compute(instruction.call, [values[name] for name in names])
    return values[found.plan.instructions[-1].call.outputs[0].name]


@pytest.mark.parametrize("mode", ["longest", "all"])
@pytest.mark.parametrize("host", SWEPT)
def test_a_host_operator_inside_of_a_sweep(sweep: Built, host: str, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What follows takes what the host computed, and no more of the sweep runs than the region holds."""
    monkeypatch.setattr("tilewright.run.cuda_executor.evaluate_call", marked)
    with CUDAGraphExecutor(
        sweep.plan, regions=mode, layout=sweep.layout, library=sweep.library, host_operators={host}, poison=True
    ) as executor:
        for call in range(4):
            inputs = random_inputs(sweep.plan, call)
            (output,) = executor.run(*inputs)
            assert np.allclose(output, expected(sweep, inputs, host, True), rtol=1e-5, atol=1e-6)
        assert executor.capture_error is None
        assert executor.stats.replays == 3


def test_steps_of_a_sweep_are_its_instructions(sweep: Built) -> None:
    with CUDAGraphExecutor(sweep.plan, layout=sweep.layout, library=sweep.library, poison=True) as executor:
        inputs = random_inputs(sweep.plan)
        slots = run_slots(sweep.plan, inputs)
        for instruction, (result,) in zip(sweep.plan.instructions, executor.run_steps(*inputs), strict=True):
            assert np.allclose(result, slots[instruction.outputs[0]], rtol=1e-5, atol=1e-6)
        assert executor.run(*inputs)[0].tobytes() == executor.run(*inputs)[0].tobytes()


def test_more_regions_than_a_table_of_64(tmp_path: Path) -> None:
    plan = gpu_plan(model_of(chain(["Softmax", "Tanh"] * 66), passes=False))
    found = built(plan, tmp_path)
    with CUDAGraphExecutor(
        plan, regions="all", layout=found.layout, library=found.library, host_operators={"Tanh"}, poison=True
    ) as executor:
        for call in range(3):
            inputs = random_inputs(plan, call)
            assert np.allclose(executor.run(*inputs)[0], run_slots(plan, inputs)[plan.output_slot], rtol=1e-5)
        assert len(executor.stats.nodes) == 66
        for function in ("replay", "drop", "end_capture"):
            for region in (-1, 1000):
                assert executor.library.code(function, region) != 0
        assert executor.library.code("nodes", 1000) == executor.library.code("nodes", -1) == 0


@pytest.mark.parametrize(
    "ask",
    [
        lambda e: e.read_slot(0),
        lambda e: e.slot_address(0),
    ],
    ids=["read", "address"],
)
def test_without_memory_there_are_no_slots(sweep: Built, ask: Callable[[CUDAGraphExecutor], object]) -> None:
    executor = CUDAGraphExecutor(sweep.plan, layout=sweep.layout, library=sweep.library)
    with pytest.raises(UsageError, match="slot 4000: the plan does not have it; give one from 0 to 4"):
        executor.slot_address(4000)
    with pytest.raises(UsageError, match="slot -1: the plan does not have it"):
        executor.read_slot(-1)
    ask(executor)
    executor.destroy()
    with pytest.raises(UsageError, match="there is nothing on the device: the executor was destroyed; call run first"):
        ask(executor)
    executor.run(*random_inputs(sweep.plan))
    ask(executor)
    executor.close()
    executor.close()
    with pytest.raises(UsageError, match="the executor is closed: its library is gone; make a new one"):
        executor.run(*random_inputs(sweep.plan))


def test_the_library_refuses_what_it_has_no_memory_for(sweep: Built) -> None:
    """Every function of the C interface, as a caller that is not ours would use it."""
    executor = CUDAGraphExecutor(sweep.plan, layout=sweep.layout, library=sweep.library)
    library = executor.library
    for slot, sample, size in ((-1, 0, 1), (5, 0, 1), (0, 1, 1), (0, -1, 1), (0, 0, 1 << 40)):
        with pytest.raises(CudaError, match="CUDA error 1"):
            library.read(slot, sample, min(size, 1 << 20))
    for start, end in ((-1, 1), (0, 5), (3, 2)):
        assert library.code("run_range", start, end) == 1
    assert library.code("init", 0) == 1
    executor.destroy()
    for function, arguments in {
        "poison": (1,), "copy_in": (), "copy_out": (), "advance_state": (), "run_range": (0, 1), "run_megakernel": (),
        "begin_capture": (), "end_capture": (0,), "replay": (0,), "sync": (),
    }.items():  # fmt: skip
        assert library.code(function, *arguments) == 1, function
    with pytest.raises(CudaError, match="CUDA error 1"):
        library.address(0)
    assert library.code("destroy") == 0
    executor.close()


def test_a_second_init_begins_anew(sweep: Built) -> None:
    with CUDAGraphExecutor(sweep.plan, layout=sweep.layout, library=sweep.library) as executor:
        executor.library.init(3)
        executor.library.write(0, 2, np.full(8, 7, np.uint8))
        assert set(executor.library.read(0, 2, 8)) == {7}
