"""Div of codes in integers: every pair of drawn scales as float32 divides it, in C and on boards."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from board_layers import Network, check_network, kernels
from integers.qdq_writer import Writer
from onnx import helper
from tilewright.conformance.program import STRICT, run_batch
from tilewright.conformance.subject import load_and_pass, place, subject
from tilewright.plugins import kernels_of, platform

KERNEL = "QuotientCodes"
DRAWN = 12
Scales = tuple[float, float, float]
Case = tuple[Scales, tuple[int, int, int], type]


def drawn(count: int, seed: int) -> list[Case]:
    """Scales, zero points and types, results of few steps and of far more than a code has."""
    draw, found = np.random.default_rng(seed), list[Case]()
    for _ in range(count):
        kind = (np.int8, np.uint8)[int(draw.integers(2))]
        low, high = np.iinfo(kind).min, np.iinfo(kind).max
        first, second = draw.uniform(0.001, 1.0, 2)
        scales = (first, second, first / second * 10.0 ** draw.uniform(-2.5, 0.3))
        zeros = [int(zero) for zero in draw.choice([low, high, *draw.integers(low, high + 1, 4)], 3)]
        found.append((scales, (zeros[0], zeros[1], zeros[2]), kind))
    return found


def quotients(scales: Scales, zeros: tuple[int, int, int], kind: type) -> np.ndarray:
    """[a, b]: the code of every pair in float32's arithmetic; no number is the lowest code."""
    low, high = np.iinfo(kind).min, np.iinfo(kind).max
    codes = np.arange(low, high + 1)
    a, b = ((codes - zeros[i]).astype(np.float32) * np.float32(scales[i]) for i in range(2))
    with np.errstate(all="ignore"):
        steps = np.rint(a[:, None] / b[None, :] / np.float32(scales[2]))
    assert steps.dtype == np.float32
    return np.asarray(np.where(np.isnan(steps), low, np.clip(steps + zeros[2], low, high)), np.int64)


def test_every_pair_of_drawn_scales(tmp_path: Path) -> None:
    """One in a hundred drawn scales has no form; its codes are those of floats, and compared too."""
    generic, subjects, expected, taken = platform("generic"), [], [], 0
    for number, (scales, zeros, kind) in enumerate(drawn(DRAWN, 3)):
        write = Writer(21)
        left, right = (write.pair(n, scales[i], zeros[i], kind) for i, n in enumerate("xv"))
        write.add("Identity", write.pair(write.add("Div", f"{left} {right}", "f"), scales[2], zeros[2], kind), "y")
        codes = np.arange(np.iinfo(kind).min, np.iinfo(kind).max + 1)
        model = load_and_pass(write.model({"x": (256, 1), "v": (1, 256)}), f"div{number}")
        placed = place(model, generic, kernels_of(generic))
        taken += KERNEL in {instruction.kernel.name for instruction in placed.plan.instructions}
        feeds = [((codes - zeros[i]) * np.float32(scales[i])).astype(np.float32) for i in range(2)]
        subjects.append(subject(placed, generic, [[feeds[0].reshape(256, 1), feeds[1].reshape(1, 256)]]))
        real = (quotients(scales, zeros, kind) - zeros[2]).astype(np.float32) * np.float32(scales[2])
        expected.append(real)
    assert taken >= DRAWN - 1
    for outcome, wanted in zip(run_batch(subjects, tmp_path, flags=("-O2", *STRICT)), expected, strict=True):
        assert outcome.failure == ""
        assert np.array_equal(outcome.runs[0][0].reshape(wanted.shape), wanted)


def of_codes(scales: Scales, zeros: tuple[int, int, int], kind: type) -> Network:
    """Operands of one shape, of one code a row, and of a row for all."""
    network = Network(np.random.default_rng(5), opset=21)
    for name, left, right in (("same", (3, 40), (3, 40)), ("rows", (9, 5), (9, 1)), ("row", (6, 7), (7,))):
        reals = []
        for i, (letter, shape) in enumerate((("a", left), ("b", right))):
            scale = network.constant(f"{name}_{letter}s", np.float32(scales[i]))
            zero = network.constant(f"{name}_{letter}z", kind(zeros[i]))
            network.inputs[f"{name}_{letter}"] = (shape, kind)
            real = f"{name}_{letter}r"
            network.nodes.append(helper.make_node("DequantizeLinear", [f"{name}_{letter}", scale, zero], [real]))
            reals.append(real)
        scale, zero = (
            network.constant(f"{name}_s", np.float32(scales[2])),
            network.constant(f"{name}_z", kind(zeros[2])),
        )
        network.nodes.append(helper.make_node("Div", reals, [f"{name}_f"], name))
        network.nodes.append(helper.make_node("QuantizeLinear", [f"{name}_f", scale, zero], [f"{name}_y"]))
        network.outputs[f"{name}_y"] = kind
    return network


@pytest.mark.parametrize("board", ["qemu_mps2_an386", "qemu_mps3_an547", "qemu_rv32imc"])
def test_quotients_on_boards(board: str, tmp_path: Path) -> None:
    (case,) = drawn(1, 8)
    taken = kernels(check_network(of_codes(*case), board, tmp_path, ("random", "low", "high")))
    assert {taken[name] for name in ("same", "rows", "row")} == {KERNEL}


def test_quotients_that_meet_ties_stay_floats(tmp_path: Path) -> None:
    network = of_codes((0.5, 0.25, 0.125), (0, 3, 1), np.int8)
    taken = kernels(check_network(network, "qemu_mps2_an386", tmp_path))
    assert {taken[name] for name in ("same", "rows", "row")} == {"RealCodes"}
