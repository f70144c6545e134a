"""The generic platform's C on a core whose `int` has 16 bits: the same results, or a compiler that says why not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from avr_core import Refused, avr_gcc, run_on_avr, sources
from conftest import NetworkFiles
from onnx import TensorProto, helper
from tilewright.compile import compile_model
from tilewright.conformance.kernels import Attempt, attempts, bound, difference
from tilewright.conformance.subject import Subject
from tilewright.options import CompileOptions
from tilewright.plan.execute import run
from tilewright.platform import Kernel
from tilewright.plugins import find_platforms, kernels_of
from tilewright.target import load_target

Network = Callable[[str], NetworkFiles]
SEED, DEEP = 8, 2000
REASONS = {
    "a double of 32 bits": "computes with double, which must have 64 bits",
    "a large array": "counts its elements with int, which must hold",
    "half floats": "_Float16",
    "a function that avr-libc lacks": "implicit declaration of function",
    "too large for the core": "will not fit",
    "too large for its RAM": "region `data' overflowed",
}
"""What may keep a network from the core, and the words in which the compiler says it."""
PRODUCTS = (
    "ConvI8", "ConvShortI8", "ConvDotI8", "DepthwiseI8", "DepthwiseRowsI8", "DenseI8", "DenseDotI8", "SumCodes",
    "TransposedSumCodes", "PackedCodes", "PackedConvDot", "PackedDenseDot", "ProductI8",
)  # fmt: skip
CODES = (
    "PairCodes", "SettledCodes", "MeanCodes", "ResizeCodes", "SoftmaxI8", "QuantiseSteps", "QuantiseF32", "Running", 
    "TopK", "ScatterElements", "GatherND", "ReverseSequence", "MaxUnpool", "TensorScatter", "Gather",
    "GatherElements", "CopyBytes",
)  # fmt: skip
OF_ONE_ELEMENT = (
    "Mul", "Mod", "BitShift", "Shrink", "Clip", "Cast", "Sum", "Pow", "Neg", "Abs", "Sign", "BitwiseNot", "PRelu",
)  # fmt: skip
OF_MANY = ("ArgMax", "ReduceSum", "ReduceProd", "MatMulInteger", "MaxPool", "Resize", "Pad", "OneHot", "Concat")


def kernels(names: Sequence[str], operators: Sequence[str] = ()) -> list[Kernel]:
    """Those of the generic platform by name, and for some operators only."""
    chosen = [k for k in find_platforms()["generic"].own_kernels() if k.name in names]
    return [k for k in chosen if not operators or k.op in operators]


def compare(chosen: Sequence[Kernel], folder: Path, each: int = 1) -> tuple[set[str], list[str]]:
    """Kernels that ran, and a sentence for each drawn call that computes something else or is refused for no reason."""
    platform = find_platforms()["generic"]
    relayouts = [kernel for kernel in kernels_of(platform) if kernel.op == "Relayout"]
    ran, wrong = set[str](), list[str]()
    for attempt in few(attempts(chosen, platform, relayouts, SEED, each)):
        subject = attempt.subject
        try:
            outcomes = run_on_avr(subject, folder / subject.name)
        except Refused as said:
            if not any(reason in str(said) for reason in REASONS.values()):
                wrong.append(f"{attempt}: {said}")
            continue
        ran.add(attempt.kernel.name)
        for arrays, results in zip(subject.runs, outcomes, strict=True):
            with np.errstate(all="ignore"):
                wanted = run(subject.placed.plan, arrays)
            for tensor, got, want in zip(subject.outputs, results, wanted, strict=True):
                if why := difference(tensor, got, want, bound(attempt.kernel, tensor)):
                    wrong.append(f"{attempt}: '{tensor.name}' {why}")
    return ran, wrong


def few(found: Sequence[Attempt]) -> list[Attempt]:
    """Of the calls with weights at their ends one of each operator, and one with a deep sum; of the others all."""
    taken, known = [], set[tuple[str, str, bool]]()
    for attempt in found:
        if attempt.at_the_ends:
            call = attempt.trial.call
            kind = (attempt.kernel.name, call.node.op, call.tensor(1).elements >= DEEP)
            if kind in known:
                continue
            known.add(kind)
        taken.append(attempt)
    return taken


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_of_codes(name: str, tmp_path: Path) -> None:
    chosen = kernels([name])
    ran, wrong = compare(chosen, tmp_path, each=6 if len(chosen) == 1 else 2)
    assert not wrong, "\n".join(wrong)
    assert ran == {name}


def test_other_kernels_of_integers(tmp_path: Path) -> None:
    ran, wrong = compare(kernels(CODES), tmp_path, each=2)
    assert not wrong, "\n".join(wrong)
    assert ran == set(CODES)


def test_loops_from_index_maps(tmp_path: Path) -> None:
    elementwise, moving = kernels(["ElementwiseLoops"], OF_ONE_ELEMENT), kernels(["NestLoops"], OF_MANY)
    ran, wrong = compare([*elementwise, *moving, *kernels(["TableCodes"], ["Relu"])], tmp_path, each=2)
    assert not wrong, "\n".join(wrong)
    assert ran == {"ElementwiseLoops", "NestLoops", "TableCodes"}


def compiled(model: Path, inputs: Path) -> Subject:
    """A network for the generic platform, with its own inputs."""
    done = compile_model(model, CompileOptions(), load_target("host"))
    drawn = np.load(inputs)
    arrays = [drawn[done.plan.slots[slot].tensor.name] for slot in done.plan.input_slots]
    return Subject(done.placed, done.artifacts, (tuple(arrays),))


@pytest.mark.parametrize("name", ["digits_int8", "odd_several"])
def test_a_network_computes_what_numpy_does(name: str, network: Network, tmp_path: Path) -> None:
    """One of integers, bit by bit, and one of floats."""
    files = network(name)
    subject = compiled(files.model, files.inputs)
    (results,) = run_on_avr(subject, tmp_path / "run")
    wanted = run(subject.placed.plan, subject.runs[0])
    for got, want in zip(results, wanted, strict=True):
        tolerance = 0 if name.endswith("_int8") else 1e-5
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)
    assert any(np.ptp(want) > 0 for want in wanted)


def test_what_an_int_cannot_count_stops_the_compiler(network: Network, tmp_path: Path) -> None:
    files = network("odd_mobile")
    subject = compiled(files.model, files.inputs)
    said = avr_gcc(tmp_path, "-std=c99", "-fsyntax-only", sources(subject, tmp_path)[0])
    assert f'error: #error "odd_mobile {REASONS["a large array"]}' in said


def test_what_needs_a_double_of_64_bits_stops_the_compiler(tmp_path: Path) -> None:
    x, y = (helper.make_tensor_value_info(name, TensorProto.DOUBLE, [3]) for name in "xy")
    graph = helper.make_graph([helper.make_node("Add", ["x", "x"], ["y"])], "g", [x], [y])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), tmp_path / "wide.onnx")
    done = compile_model(tmp_path / "wide.onnx", CompileOptions(), load_target("host"))
    said = avr_gcc(
        tmp_path, "-std=c99", "-fsyntax-only", sources(Subject(done.placed, done.artifacts, ()), tmp_path)[0]
    )
    assert f'error: #error "wide {REASONS["a double of 32 bits"]}' in said
