"""The stand-in shows what a GPU would: missing barriers, launches that no GPU takes, work that nothing orders."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from cuda.gpu import Built, build_text
from plan.plans import random_inputs
from tilewright.plan.execute import run_slots
from tilewright.run.cuda_executor import CUDAGraphExecutor
from tilewright.run.cuda_library import CudaError

Changed = Callable[[Callable[[str], str]], Built]


@pytest.fixture
def changed(gpu_network: Callable[..., Built], tmp_path: Path) -> Changed:
    """Builds digits_int8 with its text changed."""

    def build(change: Callable[[str], str]) -> Built:
        built = gpu_network("digits_int8")
        text = change(built.text)
        assert text != built.text
        return Built(built.plan, built.layout, text, build_text(text, tmp_path))

    return build


def opened(built: Built) -> CUDAGraphExecutor:
    return CUDAGraphExecutor(built.plan, layout=built.layout, library=built.library, poison=True)


def right(built: Built, *, megakernel: bool = False) -> list[bool]:
    """For three calls whether the outputs were those of NumPy."""
    answers = []
    with opened(built) as executor:
        for call in range(3):
            inputs = random_inputs(built.plan, call)
            (output,) = executor.run_megakernel(inputs) if megakernel else executor.run(*inputs)
            answers.append(np.array_equal(output, run_slots(built.plan, inputs)[built.plan.output_slot]))
        assert megakernel or executor.capture_error is None
    return answers


def without_barrier(number: int) -> Callable[[str], str]:
    """Leaves out one of the barriers between the sweeps of the megakernel; -1: all of them."""

    def change(text: str) -> str:
        start = text.index("static __global__ void megakernel(")
        end = text.index("\n}\n", start)
        parts = text[start:end].split("    BARRIER;\n")
        assert len(parts) > 3
        if number < 0:
            kept = "".join(parts)
        else:
            kept = "    BARRIER;\n".join(
                [*parts[: number - 1], parts[number - 1] + parts[number], *parts[number + 1 :]]
            )
        return text[:start] + kept + text[end:]

    return change


def test_the_megakernel_waits_at_its_barriers(gpu_network: Callable[..., Built]) -> None:
    assert right(gpu_network("digits_int8"), megakernel=True) == [True] * 3


@pytest.mark.parametrize("number", [-1, 1, 2])
def test_a_missing_barrier_shows(changed: Changed, number: int) -> None:
    assert not any(right(changed(without_barrier(number)), megakernel=True))


def test_weights_that_wait_on_the_legacy_stream_are_not_there(changed: Changed) -> None:
    """Nothing orders the legacy stream before a stream that does not block."""
    built = changed(
        lambda text: text.replace(
            "cudaMemcpyAsync(frozen, WEIGHTS, sizeof WEIGHTS, cudaMemcpyHostToDevice, stream)",
            "cudaMemcpy(frozen, WEIGHTS, sizeof WEIGHTS, cudaMemcpyHostToDevice)",
        )
    )
    assert not any(right(built))


def test_results_that_nobody_waits_for_are_not_there(changed: Changed) -> None:
    sync = (
        r"(_sync\(void\)\n\{\n    REFUSE_IF\(memory == nullptr\);\n    return )\(int\)cudaStreamSynchronize\(stream\);"
    )
    built = changed(lambda text: re.sub(sync, r"\g<1>0;", text))
    assert not right(built)[0]


@pytest.mark.parametrize("shape", ["blocks(0), BLOCK", "1, 1025", "1, 0"])
def test_a_launch_that_no_gpu_takes_is_an_error(changed: Changed, shape: str) -> None:
    built = changed(lambda text: re.sub(r"(LAUNCH\(kernel_0), blocks\(\d+\), BLOCK", rf"\1, {shape}", text))
    with opened(built) as executor, pytest.raises(CudaError, match=r"'run_range' .* failed: CUDA error 9") as caught:
        executor.run(*random_inputs(built.plan))
    assert caught.value.cuda_code == 9


OTHER_THREAD = (
    "{ int code = 0; std::thread other([&code] { void *more = nullptr; code = cudaMalloc(&more, 64); "
    "if (code == 0) { (void)cudaFree(more); } }); other.join(); CHECK(code); }"
)
OWN_THREAD = "{ void *more = nullptr; CHECK(cudaMalloc(&more, 64)); CHECK(cudaFree(more)); }"


@pytest.mark.parametrize(
    ("mode", "statement", "captured"),
    [
        ("ThreadLocal", OTHER_THREAD, True),
        ("ThreadLocal", OWN_THREAD, False),
        ("Global", OTHER_THREAD, False),
        ("Relaxed", OWN_THREAD, True),
    ],
)
def test_a_capture_forbids_by_its_mode(changed: Changed, mode: str, statement: str, captured: bool) -> None:
    """The generated file captures for its own thread alone: what other threads do meanwhile is theirs."""
    built = changed(
        lambda text: text.replace("    case 0:\n", f"    case 0:\n        {statement}\n").replace(
            "cudaStreamCaptureModeThreadLocal", f"cudaStreamCaptureMode{mode}"
        )
    )
    with opened(built) as executor:
        for call in range(3):
            inputs = random_inputs(built.plan, call)
            (output,) = executor.run(*inputs)
            assert np.array_equal(output, run_slots(built.plan, inputs)[built.plan.output_slot])
        assert (executor.capture_error is None) is captured


def before_the_first_launch(statement: str, text: str) -> str:
    return text.replace("    case 0:\n", f"    case 0:\n        {statement}\n")


def test_the_generated_file_captures_for_its_own_thread(changed: Changed) -> None:
    for statement, captured in ((OTHER_THREAD, True), (OWN_THREAD, False)):
        built = changed(partial(before_the_first_launch, statement))
        with opened(built) as executor:
            for call in range(2):
                executor.run(*random_inputs(built.plan, call))
            assert (executor.capture_error is None) is captured
