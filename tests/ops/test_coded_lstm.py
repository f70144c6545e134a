"""An LSTM in whole numbers: near to the real one by a bound, the same in NumPy and in C, refused where it cannot be."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from board_layers import board_or_skip
from graphs import execute, node, onnx_model, ops, reference
from tilewright.conformance.author import Row, examine
from tilewright.conformance.boards import on_board
from tilewright.frontend.load import load
from tilewright.model import DType, Node, Tensor
from tilewright.ops.coded_lstm import GATE, sigmoid, tanh
from tilewright.ops.operator import Call
from tilewright.ops.registry import call_of
from tilewright.ops.relayout import DOMAIN
from tilewright.platforms.cortex_m.kernels import coded_lstm as cortex_m
from tilewright.plugins import find_platforms
from tilewright.target import load_target

Arrays = dict[str, npt.NDArray[Any]]
INPUTS, HIDDEN, STEPS = 6, 5, 4


def _operands(random: np.random.Generator, inputs: int = INPUTS, hidden: int = HIDDEN) -> list[npt.NDArray[Any]]:
    rows = 4 * hidden
    return [
        random.integers(0, 256, (1, 1, inputs)).astype(np.uint8), np.array(0.013, np.float32), np.array(117, np.uint8),
        random.integers(-127, 128, (1, rows, inputs)).astype(np.int8),
        random.uniform(1e-3, 8e-3, (1, rows)).astype(np.float32),
        random.integers(-127, 128, (1, rows, hidden)).astype(np.int8),
        random.uniform(1e-3, 8e-3, (1, rows)).astype(np.float32),
        random.uniform(-1, 1, (1, 2 * rows)).astype(np.float32),
        random.uniform(-1, 1, (1, 1, hidden)).astype(np.float32),
        random.uniform(-3, 3, (1, 1, hidden)).astype(np.float32),
    ]  # fmt: skip


def _call(operands: list[npt.NDArray[Any]]) -> Call:
    tensors = [Tensor(f"x{place}", DType.of(each.dtype), each.shape) for place, each in enumerate(operands)]
    constants = {place: operands[place] for place in range(3, 8)}
    made = Node("n", "CodedLstm", tuple(one.name for one in tensors), ("y", "h", "c"), {}, domain=DOMAIN)
    return call_of(made, tensors, (), constants)


def _step(operands: list[npt.NDArray[Any]]) -> tuple[npt.NDArray[Any], ...]:
    call = _call(operands)
    assert call.operator is not None
    types = call.operator.infer(call)
    results = [Tensor(name, one.dtype, one.shape) for name, one in zip("yhc", types, strict=True)]
    return call.operator.evaluate(replace(call, outputs=tuple(results)), operands)


def _real_step(operands: list[npt.NDArray[Any]]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    x, scale, zero, w, w_scale, r, r_scale, bias, h, c = (each.astype(np.float64) for each in operands)
    gates = ((x - zero) * scale).reshape(-1) @ (w[0].T * w_scale[0]) + h.reshape(-1) @ (r[0].T * r_scale[0])
    enter, leave, forget, fresh = np.split(gates + bias[0].reshape(2, -1).sum(0), 4)

    def gate(v: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return np.asarray(1 / (1 + np.exp(-v)))

    after = gate(forget) * c.reshape(-1) + gate(enter) * np.tanh(fresh)
    return gate(leave) * np.tanh(after), after


def test_functions_are_within_their_bounds_everywhere() -> None:
    v = np.concatenate([np.arange(-20 * GATE, 20 * GATE, 97), np.array([-(1 << 30), 1 << 30])])
    real = 0.5 + 0.5 * np.tanh(v / (2 * GATE))
    assert np.abs(sigmoid(v) / GATE - real).max() < 2.0**-15
    assert np.abs(tanh(v) / (GATE / 2) - np.tanh(v / GATE)).max() < 2.0**-14


def test_a_step_is_within_its_bound_of_the_real_one() -> None:
    for seed in range(60):
        operands = _operands(np.random.default_rng(seed))
        _, h, c = _step(operands)
        real_h, real_c = _real_step(operands)
        assert np.abs(c.reshape(-1) - real_c).max() < 2.0**-12
        assert np.abs(h.reshape(-1) - real_h).max() < 2.0**-12


def _lstm(**changed: npt.NDArray[Any]) -> tuple[onnx.ModelProto, Arrays]:
    random = np.random.default_rng(7)
    constants = {
        "w": random.integers(-127, 128, (2, INPUTS, 4 * HIDDEN)).astype(np.int8),
        "r": random.integers(-127, 128, (2, HIDDEN, 4 * HIDDEN)).astype(np.int8),
        "b": random.uniform(-1, 1, (2, 8 * HIDDEN)).astype(np.float32),
        "s": random.uniform(1e-3, 6e-3, (2, 4 * HIDDEN)).astype(np.float32),
        "z": np.zeros((2, 4 * HIDDEN), np.int8), **changed,
    }  # fmt: skip
    starts = {name: random.uniform(-0.5, 0.5, (2, 1, HIDDEN)).astype(np.float32) for name in ("h", "c")}
    feeds = {"x": random.uniform(-2, 3, (STEPS, 1, INPUTS)).astype(np.float32), **starts}
    operands = f"x w r b - h c {'p' if 'p' in changed else '-'} s z s z"
    made = node("DynamicQuantizeLSTM", operands, "y yh yc", "n", "com.microsoft", direction="bidirectional",
                hidden_size=HIDDEN)  # fmt: skip
    proto = onnx_model([made], {name: each.shape for name, each in feeds.items()}, ["y", "yh", "yc"], constants, 17)
    proto.opset_import.add(domain="com.microsoft", version=1)
    return proto, feeds


def test_both_directions_are_near_to_onnx_runtime() -> None:
    proto, feeds = _lstm()
    model = load(proto)
    assert ops(model) == ["DynamicQuantizeLinear", "CodedLstm"]
    results = execute(model, feeds)
    for name, expected in reference(proto, feeds).items():
        np.testing.assert_allclose(results[name], expected, atol=0.01)


@pytest.mark.parametrize(
    "changed",
    [
        {"p": np.full((2, 3 * HIDDEN), 0.1, np.float32)},
        {"z": np.full((2, 4 * HIDDEN), 5, np.int8)},
        {"s": np.full((2, 4 * HIDDEN), 0.3, np.float32)},
        {"b": np.full((2, 8 * HIDDEN), 5000, np.float32)},
    ],
    ids=["peepholes", "weights of nine bits", "scale", "bias"],
)
def test_another_lstm_stays_in_float(changed: Arrays) -> None:
    assert ops(load(_lstm(**changed)[0])) == ["LSTM"]


def _on(board: str, folder: Path) -> Row:
    board_or_skip(board)
    chosen, target = find_platforms()["cortex_m"], load_target(board)
    kernels = [k for k in on_board(chosen, target) if k.op == "CodedLstm" and k.platform == "cortex_m"]
    kernel = max((k for k in kernels if not k.refusal), key=lambda one: one.preference)
    (row,) = examine([kernel], chosen, folder, seed=0, each=6, target=target)
    return row


@pytest.mark.parametrize("board", ["qemu_mps2_an386", "qemu_mps3_an547"])
def test_boards_give_the_same_numbers(board: str, tmp_path: Path) -> None:
    assert [fault.sentence for fault in _on(board, tmp_path).faults] == []


def test_two_weights_of_which_one_is_the_lowest_share_no_half() -> None:
    operands = _operands(np.random.default_rng(5))
    call = _call(operands)
    assert cortex_m.CodedLstmDsp().accepts(call) is None
    operands[3][0, 1, 0] = -128
    assert "a weight lies below -127" in str(cortex_m.CodedLstmDsp().accepts(_call(operands)))


def test_rows_that_lend_nothing_to_each_other_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = cortex_m.paired
    monkeypatch.setattr(cortex_m, "paired", lambda rows: right(rows) & 0xFFFFFF7F)
    assert _on("qemu_mps2_an386", tmp_path).faults
