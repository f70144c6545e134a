"""The generic platform's integer kernels in one C program: bit for bit what the semantics says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from graphs import node
from integers.codes import feeds_for
from integers.qdq_writer import Writer
from onnx import TensorProto, helper
from tilewright.conformance.program import STRICT, run_batch
from tilewright.conformance.subject import Subject, load_and_pass, place, subject
from tilewright.model import Array, DType
from tilewright.plan.execute import run
from tilewright.plugins import kernels_of, platform

RNG = np.random.default_rng(5)
SEVERAL = ("Conv", "Gemm", "MatMul", "DynamicQuantizeLinear")
Networks = Iterator[tuple[str, str, onnx.ModelProto]]


def four_bits(kind: str, signed: bool, channels: bool) -> onnx.ModelProto:
    """A Conv or MatMul whose weights have four bits."""
    table: dict[str, tuple[tuple[int, ...], int, tuple[int, ...], dict[str, Any]]] = {
        "conv": ((6, 3, 3, 3), 0, (1, 3, 6, 5), {"pads": [1, 1, 1, 1]}),
        "depthwise": ((4, 1, 3, 2), 0, (1, 4, 6, 5), {"group": 4, "pads": [1, 0, 1, 1], "strides": [2, 1]}),
        "batch": ((5, 3, 1, 1), 0, (2, 3, 6, 5), {}),
        "matmul": ((7, 5), 1, (3, 7), {}),
        "patches": ((13, 3, 3, 3), 0, (1, 3, 7, 5), {"pads": [1, 1, 1, 1], "dilations": [2, 1], "strides": [1, 2]}),
        "groups": ((20, 7, 2, 1), 0, (1, 14, 6, 5), {"group": 2}),
        "rows": ((21, 13), 1, (5, 21), {}),
    }
    shape, axis, x, attributes = table[kind]
    write = Writer(21)
    real = write.pair("x", 0.02, -4)
    count = shape[axis] if channels else 1
    scales = RNG.uniform(0.01, 0.1, count).astype(np.float32)
    write.constants["ws"] = scales if channels else scales.reshape(())
    write.add("DequantizeLinear", "w ws wz", "wd", axis=axis)
    write.add("MatMul" if axis else "Conv", f"{real} wd", "m", **attributes)
    write.add("Identity", write.pair("m", 0.02), "y")
    proto = write.model({"x": x})
    values = RNG.integers(-8, 8, shape) if signed else RNG.integers(0, 16, shape)
    zeros = np.full(count if channels else (), 0 if signed else 8)
    for name, array in (("w", values), ("wz", zeros)):
        element = TensorProto.INT4 if signed else TensorProto.UINT4
        proto.graph.initializer.append(helper.make_tensor(name, element, array.shape, array.reshape(-1).tolist()))
    return proto


def pair_of(op: str, scales: tuple[float, float, float], dtype: type = np.int8) -> onnx.ModelProto:
    """Two quantised operands of the run time."""
    write = Writer(21)
    left, right = write.pair("x", scales[0], 3, dtype), write.pair("v", scales[1], 0, dtype)
    write.add("Identity", write.pair(write.add(op, f"{left} {right}", "f"), scales[2], 1, dtype), "y")
    shape = (6, 40) if op != "MatMul" else (2, 8, 8)
    return write.model({"x": shape, "v": shape})


def transposed(stride: int, dilation: int, groups: int) -> onnx.ModelProto:
    """A ConvTranspose with a real bias."""
    write = Writer()
    real = write.pair("x", 0.03, -7)
    weights = write.weights("w", RNG.integers(-127, 128, (4, 3, 3, 2)).astype(np.int8), 0.004)
    write.constants["b"] = RNG.standard_normal(3 * groups).astype(np.float32)
    write.add("ConvTranspose", f"{real} {weights} b", "c", strides=[stride, 1], dilations=[1, dilation], group=groups,
              pads=[1, 0, 0, 1])  # fmt: skip
    write.add("Identity", write.pair("c", 0.03), "y")
    return write.model({"x": (2, 4, 5, 4)})


def constant_times(bias: bool) -> onnx.ModelProto:
    """A constant matrix, as of the edges of a graph, times what is computed."""
    write = Writer()
    write.constants["w"] = RNG.integers(-128, 128, (5, 7)).astype(np.int8)
    write.constants["b"] = RNG.standard_normal(6).astype(np.float32)
    left = write.add("DequantizeLinear", f"w {write.parameters('w', 0.02, 9)}", "wd")
    operands = f"{left} {write.pair('x', 0.03, -7)}"
    product = write.add("Gemm", f"{operands} b", "m") if bias else write.add("MatMul", operands, "m")
    write.add("Identity", write.pair(product, 0.05, 4), "y")
    return write.model({"x": (7, 6)})


def joined() -> onnx.ModelProto:
    """Sixteen-bit codes of two scales in one tensor."""
    write = Writer(21)
    left, right = write.pair("x", 0.001, 0, np.int16), write.pair("v", 0.002, 0, np.int16)
    write.add("Identity", write.pair(write.add("Concat", f"{left} {right}", "j", axis=1), 0.003, 0, np.int16), "y")
    return write.model({"x": (2, 30), "v": (2, 20)})


def dynamic() -> onnx.ModelProto:
    """Scales that are measured at run time."""
    write = Writer()
    write.constants |= {"w": RNG.integers(-127, 128, (6, 4)).astype(np.int8), "wz": np.int8(0), "ws": np.float32(0.01)}
    write.nodes.append(node("DynamicQuantizeLinear", "x", "q s z", "dynamic"))
    write.add("MatMulInteger", "q w z wz", "i")
    write.add("Cast", "i", "f", to=TensorProto.FLOAT)
    write.add("Mul", f"f {write.add('Mul', 's ws', 'k')}", "y")
    return write.model({"x": (5, 6)})


def networks() -> Networks:
    """(name, kernel that must be chosen, model)."""
    for kind in ("conv", "depthwise", "batch", "matmul"):
        for signed in (True, False):
            for channels in (True, False):
                name = f"four_{kind}_{int(signed)}{int(channels)}"
                yield name, "PackedCodes", four_bits(kind, signed, channels)
    for kind, kernel in (("patches", "PackedConvDot"), ("groups", "PackedConvDot"), ("rows", "PackedDenseDot")):
        for signed in (True, False):
            yield f"four_{kind}_{int(signed)}", kernel, four_bits(kind, signed, channels=True)
    for op in ("Add", "Sub", "Mul", "Div", "Min", "Max"):
        of_three = op in ("Add", "Sub", "Mul")
        tied, wide = ("PairCodes", "SettledCodes") if of_three else ("RealCodes", "RealCodes")
        yield f"tied_{op}", tied, pair_of(op, (0.5, 0.5, 1.0 if op != "Mul" else 0.5))
        yield f"tied_wide_{op}", tied if op != "Mul" else wide, pair_of(op, (0.25, 0.5, 2.0), np.int16)
        yield f"wide_{op}", wide, pair_of(op, (0.0013, 0.0007, 0.0017), np.int16)
    yield "two_matrices", "ProductI8", pair_of("MatMul", (0.02, 0.013, 0.03))
    yield "constant_times", "ProductI8", constant_times(bias=False)
    yield "constant_times_biased", "SumCodes", constant_times(bias=True)
    for stride, dilation, groups in ((1, 1, 1), (2, 1, 2), (2, 2, 1), (3, 1, 4)):
        yield f"up_{stride}{dilation}{groups}", "TransposedSumCodes", transposed(stride, dilation, groups)
    yield "joined", "RequantiseReal", joined()
    yield "alone_dynamic", "DynamicCodes", dynamic()
    yield "alone_dynamic_whole", "WholeCodes", dynamic()


def test_every_integer_kernel_computes_the_semantics(tmp_path: Path) -> None:
    generic = platform("generic")
    subjects: list[Subject] = []
    expected: list[tuple[Array, ...]] = []
    for name, kernel, proto in networks():
        model = load_and_pass(proto, name)
        alone = name.startswith(("four_", "alone_"))  # others come first, which hold such weights in bytes
        kernels = [k for k in kernels_of(generic) if k.name == kernel or k.op not in SEVERAL or not alone]
        placed = place(model, generic, kernels)
        assert kernel in {instruction.kernel.name for instruction in placed.plan.instructions}, name
        runs = [[feeds_for(model, seed)[key] for key in model.inputs] for seed in range(3)]
        subjects.append(subject(placed, generic, runs))
        expected += [run(placed.plan, inputs) for inputs in runs]
    outcomes = run_batch(subjects, tmp_path, flags=("-O0", *STRICT))
    assert [outcome.failure for outcome in outcomes] == [""] * len(subjects)
    found = [each for outcome in outcomes for each in outcome.runs]
    for index, (ours, theirs) in enumerate(zip(found, expected, strict=True)):
        for got, wanted in zip(ours, theirs, strict=True):
            assert np.allclose(got, wanted, 1e-5, 1e-6), subjects[index // 3].name
            if subjects[index // 3].name != "dynamic":
                assert np.array_equal(got, wanted), subjects[index // 3].name


NEAR = {
    "Add": (0.00321, 0.00739, 0.0182), "Sub": (0.43185, 0.01039, 0.49566), "Mul": (0.00427, 0.0024, 0.00168),
}  # fmt: skip
"""Scales for which no factors are right for every pair of codes."""


SETTLED: dict[str, tuple[str, tuple[float, float, float], type[np.signedinteger[Any]]]] = {
    "coarse_add": ("Add", (0.031, 0.047, 0.06), np.int8), "coarse_sub": ("Sub", (0.03, 0.07, 0.08), np.int8),
    "scaled_ties": ("Add", (0.3, 0.15, 0.6), np.int8), "small_mul": ("Mul", (0.3, 0.1, 0.06), np.int8),
    "tied_add": ("Add", (0.25, 0.5, 1.0), np.int8), "tied_mul": ("Mul", (0.25, 0.5, 1.0), np.int8),
    "wide_add": ("Add", (0.0013, 0.0007, 0.0017), np.int16), "wide_sub": ("Sub", (0.03, 0.0004, 0.031), np.int16),
    "wide_mul": ("Mul", (0.0013, 0.0007, 0.013), np.int16), "tied_wide": ("Add", (0.25, 0.5, 2.0), np.int16),
    "tied_wide_mul": ("Mul", (0.25, 0.5, 2048.0), np.int16), "to_wide": ("Mul", (0.3, 0.1, 0.0001), np.int8),
}  # fmt: skip
"""Scales that make ties everywhere, or codes too wide to try every pair of when compiling."""


def test_every_pair_of_codes_that_is_settled_next_to_a_tie(tmp_path: Path) -> None:
    generic = platform("generic")
    subjects, expected, settled = [], [], 0
    draw = np.random.default_rng(4)
    for name, (op, scales, kind) in SETTLED.items():
        limits, result = np.iinfo(kind), np.int16 if name == "to_wide" else kind
        zeros = draw.integers(-9, 9, 3)
        codes = [np.arange(-128, 128)] * 2
        if kind == np.int16:
            codes = [np.unique(np.append(draw.integers(limits.min, limits.max, 1500), [limits.min, limits.max]))] * 2
        sizes = ((codes[0].size, 1), (1, codes[1].size))
        write = Writer(21)
        left, right = (write.pair(n, scales[i], int(zeros[i]), kind) for i, n in enumerate("xv"))
        joined = write.pair(write.add(op, f"{left} {right}", "f"), scales[2], int(zeros[2]), result)
        write.add("Identity", joined, "y")
        placed = place(load_and_pass(write.model(dict(zip("xv", sizes, strict=True))), name), generic)
        taken = {instruction.kernel.name for instruction in placed.plan.instructions}
        assert taken & {"PairCodes", "SettledCodes"}, (name, taken)
        settled += "SettledCodes" in taken
        feeds = [((codes[i] - zeros[i]) * np.float32(scales[i])).astype(np.float32).reshape(sizes[i]) for i in range(2)]
        subjects.append(subject(placed, generic, [feeds]))
        steps = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply}[op](*feeds) / np.float32(scales[2])
        assert steps.dtype == np.float32
        low, high = np.iinfo(result).min, np.iinfo(result).max
        expected.append(np.clip(np.rint(steps) + zeros[2], low, high) - zeros[2])
    assert settled > 4
    outcomes = run_batch(subjects, tmp_path, flags=("-O2", *STRICT))
    for (name, (_, scales, _)), outcome, wanted in zip(SETTLED.items(), outcomes, expected, strict=True):
        assert outcome.failure == "", name
        assert len(np.unique(wanted)) > 20, name
        real = (wanted.astype(np.float32) * np.float32(scales[2])).astype(np.float32)
        assert np.array_equal(outcome.runs[0][0].reshape(real.shape), real), name


def test_every_pair_of_codes_where_some_are_listed(tmp_path: Path) -> None:
    generic = platform("generic")
    subjects, expected = [], []
    codes = np.arange(-128, 128)
    for op, scales in NEAR.items():
        write = Writer(21)
        left, right = write.pair("x", scales[0], 3), write.pair("v", scales[1], 0)
        write.add("Identity", write.pair(write.add(op, f"{left} {right}", "f"), scales[2], 1), "y")
        placed = place(load_and_pass(write.model({"x": (256, 1), "v": (1, 256)}), op), generic)
        assert "NearCodes" in {instruction.kernel.name for instruction in placed.plan.instructions}, op
        left_values, right_values = (
            (codes - zero) * np.float32(scale) for zero, scale in ((3, scales[0]), (0, scales[1]))
        )
        feeds = [left_values.astype(np.float32).reshape(256, 1), right_values.astype(np.float32).reshape(1, 256)]
        subjects.append(subject(placed, generic, [feeds]))
        expected.append(run(placed.plan, feeds))
    for outcome, wanted in zip(run_batch(subjects, tmp_path, flags=("-O2", *STRICT)), expected, strict=True):
        assert outcome.failure == ""
        assert len(np.unique(wanted[0])) > 20
        assert np.array_equal(outcome.runs[0][0], wanted[0])


def test_weights_of_four_bits_take_half_a_byte() -> None:
    generic = platform("generic")
    kernels = [k for k in kernels_of(generic) if k.name == "PackedCodes" or k.op != "MatMul"]
    placed = place(load_and_pass(four_bits("matmul", True, True), "four"), generic, kernels)
    (weights,) = (f.constant for f in placed.plan.frozen_slots if f.constant.dtype is DType.I4)
    assert weights.values.size == 5 * 8  # each of five columns of seven weights begins a byte
