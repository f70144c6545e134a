"""Faults put into a generated file are noticed: by wrong results, or by a capture that is refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cuda.gpu import Built, build_text
from plan.plans import random_inputs
from tilewright.plan.execute import run_slots
from tilewright.run.cuda_executor import CUDAGraphExecutor


@dataclass(frozen=True)
class Outcome:
    """For every call whether all outputs were right, and whether the executor gave up capturing."""

    right: tuple[bool, ...]
    failed: bool


def trial(found: Built, library: Path) -> Outcome:
    """Four calls: the first warms up, the second captures. Every slot is compared, for outputs alone forgive much."""
    plan = found.plan
    made = [slot for instruction in plan.instructions for slot in instruction.outputs]
    right = []
    with CUDAGraphExecutor(plan, layout=found.layout, library=library, poison=True) as executor:
        for call in range(4):
            inputs = random_inputs(plan, call)
            expected = run_slots(plan, inputs)
            executor.run(*inputs)
            right.append(all(np.array_equal(executor.read_slot(slot), expected[slot]) for slot in made))
        return Outcome(tuple(right), executor.failed)


def offset_of(found: Built, slot: int) -> int:
    return found.layout.offsets[slot]


def overlapping(found: Built) -> str:
    """The skip connection of the first Add is put where the convolution beside it writes."""
    add = next(i for i in found.plan.instructions if i.op_name == "Add")
    first, second = add.inputs
    producer = next(i for i in found.plan.instructions if second in i.outputs)
    assert producer.index < add.index
    text = found.text
    for index in range(min(i.index for i in found.plan.instructions if first in i.outputs), add.index + 1):
        start = text.index(f"static __device__ void step_{index}(")
        end = text.index("\n}", start)
        step = text[start:end].replace(f"memory + {offset_of(found, first)})", f"memory + {offset_of(found, second)})")
        text = text[:start] + step + text[end:]
    return text


def padding(found: Built) -> str:
    """The first guard against reading over the edge is off by one."""
    changed, count = re.subn(
        r">= 0 && ((?:\w+ \+ )*\w+ \+ -?\d+|\w+ \+ \w+ - \d+) < (\d+)", _narrow, found.text, count=2
    )
    assert count
    return changed


def _narrow(found: re.Match[str]) -> str:
    return f">= 0 && {found[1]} < {int(found[2]) - 1}"


def in_launch(found: Built, statement: str) -> str:
    middle = len(found.plan.instructions) // 2
    case = f"    case {middle}:\n"
    assert case in found.text
    return found.text.replace(case, f"{case}        {statement}\n")


MOVE = """
EXPORT NAME_move(void)
{
    unsigned char *other = nullptr;
    CHECK(cudaMalloc((void **)&other, SAMPLE_BYTES * (size_t)samples));
    memory = other;
    return 0;
}
"""

REFUSED = Outcome((True, True, True, True), True)


def test_the_file_as_it_is(gpu_network: Callable[..., Built]) -> None:
    found = gpu_network("resnet8_int8", "disjoint")
    assert trial(found, found.library) == Outcome((True, True, True, True), False)


@pytest.mark.parametrize(
    "change",
    [
        overlapping,
        padding,
        lambda found: found.text.replace("WEIGHTS, sizeof WEIGHTS,", "WEIGHTS, 0,", 1),
        lambda found: re.sub(r"(_copy_in\(void\)\n\{\n)", r"\1    return 0;\n", found.text, count=1),
        lambda found: found.text.replace("if (at < (long long)samples", "if (at + 1 < (long long)samples", 1),
        lambda found: found.text.replace("(bits >> 32)", "(bits >> 31)", 1),
    ],
    ids=["overlap", "padding", "weights forgotten", "input not copied", "last element left out", "wrong shift"],
)
def test_faults_give_wrong_results(
    gpu_network: Callable[..., Built], tmp_path: Path, change: Callable[[Built], str]
) -> None:
    found = gpu_network("resnet8_int8", "disjoint")
    text = change(found)
    assert text != found.text
    assert not any(trial(found, build_text(text, tmp_path)).right)


@pytest.mark.parametrize(
    "statement",
    [
        "CHECK(cudaStreamSynchronize(stream));",
        "{ void *more = nullptr; CHECK(cudaMalloc(&more, 64)); CHECK(cudaFree(more)); }",
        "CHECK(cudaMemcpy(memory, memory, 1, cudaMemcpyDeviceToDevice));",
        "CHECK(cudaMemset(memory, 0, 0));",
    ],
    ids=["synchronise", "allocate", "synchronous copy", "synchronous fill"],
)
def test_what_a_capture_forbids_is_refused_and_the_results_stay_right(
    gpu_network: Callable[..., Built], tmp_path: Path, statement: str
) -> None:
    found = gpu_network("digits_int8", "disjoint")
    assert trial(found, build_text(in_launch(found, statement), tmp_path)) == REFUSED


def test_a_graph_that_replays_old_addresses_is_noticed(gpu_network: Callable[..., Built], tmp_path: Path) -> None:
    found = gpu_network("digits_int8")
    library = build_text(found.text + MOVE.replace("NAME", found.plan.name), tmp_path)

    def move(executor: CUDAGraphExecutor, call: int) -> None:
        if call == 2:
            function: Any = getattr(executor.library._library, f"{found.plan.name}_move")
            assert function() == 0

    plan = found.plan
    with CUDAGraphExecutor(plan, layout=found.layout, library=library, poison=True) as executor:
        stale = []
        for call in range(4):
            inputs = random_inputs(plan, call)
            move(executor, call)
            executor.run(*inputs)
            made = executor.read_slot(plan.output_slot)
            stale.append(not np.array_equal(made, run_slots(plan, inputs)[plan.output_slot]))
    assert stale == [False, False, True, True]
