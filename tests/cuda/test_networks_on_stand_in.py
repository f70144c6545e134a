"""NumPy, eager calls, replays and the megakernel agree on every slot, bit for bit on codes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cuda.gpu import INT8, Built, built, gpu_plan
from plan.plans import random_inputs
from tilewright.graphs.runner import PlanRunner
from tilewright.plan.execute import run_slots
from tilewright.plan.liveness import storages
from tilewright.run.cuda_executor import CUDAGraphExecutor

RELATIVE = 1e-5


def close(found: Any, expected: Any) -> bool:
    """Codes are equal; floats differ by at most the bound of the kernels, taken over the largest value."""
    if expected.dtype.kind != "f":
        return bool(np.array_equal(found, expected))
    scale = max(float(np.abs(expected).max()), 1.0)
    return bool(np.abs(found.astype(np.float64) - expected).max() <= 50 * RELATIVE * scale)


def spread(values: Any) -> int:
    """Distinct values: a network whose activations have collapsed would hide faults."""
    return len(np.unique(values))


@pytest.mark.parametrize("name", INT8)
def test_every_slot_is_bit_exact(gpu_network: Callable[..., Built], name: str) -> None:
    """With disjoint places every slot can be read after a replay, which no eager call has touched in between."""
    found = gpu_network(name, "disjoint")
    plan = found.plan
    made = [slot for instruction in plan.instructions for slot in instruction.outputs]
    with CUDAGraphExecutor(plan, layout=found.layout, library=found.library, poison=True) as executor:
        for call in range(3):
            inputs = random_inputs(plan, call)
            expected = run_slots(plan, inputs)
            outputs = executor.run(*inputs)
            for slot in made:
                assert np.array_equal(executor.read_slot(slot), expected[slot]), (call, plan.slots[slot].tensor.name)
            for slot, output in zip(plan.output_slots, outputs, strict=True):
                assert output.tobytes() == expected[slot].tobytes()
            wide = [slot for slot in made if plan.slots[slot].tensor.elements > 64]
            assert all(spread(expected[slot]) > 8 for slot in wide), "the activations have collapsed"
        assert executor.stats.replays == 2
        assert executor.capture_error is None


@pytest.mark.parametrize("name", INT8)
def test_eager_replay_and_megakernel_in_packed_memory(gpu_network: Callable[..., Built], name: str) -> None:
    found = gpu_network(name)
    plan = found.plan
    live = [s for s in storages(plan, pinned=frozenset(plan.input_slots)) if s.kind not in ("input", "io")]
    times = range(len(plan.instructions))
    aligned = [(s.first, s.last, -(-s.size_bytes // 256) * 256) for s in live]
    assert found.layout.total_bytes == max(sum(n for a, b, n in aligned if a <= t <= b) for t in times)
    with CUDAGraphExecutor(plan, layout=found.layout, library=found.library, poison=True) as executor:
        inputs = random_inputs(plan, 5)
        expected = run_slots(plan, inputs)
        steps = executor.run_steps(*inputs)
        for instruction, results in zip(plan.instructions, steps, strict=True):
            for slot, result in zip(instruction.outputs, results, strict=True):
                assert np.array_equal(result, expected[slot])
        ways = [executor.run(*inputs) for _ in range(3)] + [executor.run_megakernel(inputs)]
        for outputs in ways:
            for slot, output in zip(plan.output_slots, outputs, strict=True):
                assert output.tobytes() == expected[slot].tobytes()
        assert executor.regions.captured >= 0.95 * len(plan.instructions)


def test_resnet8_takes_its_live_set(gpu_network: Callable[..., Built]) -> None:
    packed, disjoint = gpu_network("resnet8_int8"), gpu_network("resnet8_int8", "disjoint")
    assert packed.layout.total_bytes == 49_152
    assert disjoint.layout.total_bytes > 2 * 49_152
    assert all(i.kernel.platform == "cuda" for i in packed.plan.instructions)


@pytest.mark.parametrize("name", ["digits", "odd_mobile", "odd_temporal"])
def test_floats_stay_within_their_bound(gpu_network: Callable[..., Built], name: str) -> None:
    found = gpu_network(name)
    plan = found.plan
    with CUDAGraphExecutor(plan, layout=found.layout, library=found.library, poison=True) as executor:
        inputs = random_inputs(plan, 1)
        expected = run_slots(plan, inputs)
        for instruction, results in zip(plan.instructions, executor.run_steps(*inputs), strict=True):
            for slot, result in zip(instruction.outputs, results, strict=True):
                assert close(result, expected[slot]), instruction.name
        eager, captured, replayed = (executor.run(*inputs) for _ in range(3))
        for one, two, three in zip(eager, captured, replayed, strict=True):
            assert one.tobytes() == two.tobytes() == three.tobytes()


def test_several_samples_at_once(gpu_network: Callable[..., Built]) -> None:
    found = gpu_network("digits_int8")
    plan = found.plan
    each = [random_inputs(plan, seed) for seed in range(7)]
    together = [np.stack(values) for values in zip(*each, strict=True)]
    with CUDAGraphExecutor(plan, layout=found.layout, library=found.library, samples=7, poison=True) as executor:
        for _ in range(3):
            (outputs,) = executor.run(*together)
            for row, inputs in zip(outputs, each, strict=True):
                assert np.array_equal(row, run_slots(plan, inputs)[plan.output_slot])
        (outputs,) = executor.run_megakernel(together)
        assert np.array_equal(outputs[3], run_slots(plan, each[3])[plan.output_slot])


def test_the_megakernel_is_the_hook_of_a_runner(gpu_network: Callable[..., Built]) -> None:
    found = gpu_network("digits_int8")
    runner = PlanRunner(found.plan)
    inputs = random_inputs(found.plan)
    plain = runner.run(*inputs)
    with CUDAGraphExecutor(found.plan, layout=found.layout, library=found.library) as executor:
        runner.set_megakernel_fn(executor.run_megakernel)
        assert np.array_equal(runner.run(*inputs)[0], plain[0])
        runner.set_megakernel_fn(None)


@pytest.mark.parametrize("name", ["resnet8_int8", "dscnn_int8", "vww_int8", "ad_int8"])
def test_trained_networks_are_bit_exact(trained: Callable[[str], Any], tmp_path: Path, name: str) -> None:
    files = trained(name)
    found = built(gpu_plan(files.model), tmp_path)
    plan = found.plan
    given, _ = files.arrays()
    inputs = [given[plan.slots[slot].tensor.name] for slot in plan.input_slots]
    expected = run_slots(plan, inputs)
    with CUDAGraphExecutor(plan, layout=found.layout, library=found.library, poison=True) as executor:
        for _ in range(3):
            for slot, output in zip(plan.output_slots, executor.run(*inputs), strict=True):
                assert output.tobytes() == expected[slot].tobytes()
