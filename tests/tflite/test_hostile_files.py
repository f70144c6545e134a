"""Damaged and hostile files end in one sentence; what is true of a file but not supported is said."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from tflite_files import G, Op, T, single, window, written
from tilewright.errors import ModelError, UnsupportedError
from tilewright.frontend.load import load
from tilewright.tflite.file import read_network


def small() -> bytes:
    """Convolution, reshape and product with codes."""
    rng = np.random.default_rng(1)
    w, rows = rng.integers(-9, 9, (3, 2, 2, 2)).astype(np.int8), rng.integers(-9, 9, (4, 48)).astype(np.int8)
    tensors = [
        T((1, 5, 5, 2), "int8", 0.5), T(w.shape, "int8", [0.1, 0.2, 0.3], data=w), T((1, 4, 4, 3), "int8", 1.0),
        T((2,), "int32", data=np.asarray([1, 48])), T((1, 48), "int8", 1.0), T(rows.shape, "int8", 0.1, data=rows),
        T((1, 4), "int8", 3.0),
    ]  # fmt: skip
    ops = [
        Op("CONV_2D", [0, 1], [2], [(0, "b", 1), (1, "i", 1), (2, "i", 1)]), Op("RESHAPE", [2, 3], [4]),
        Op("FULLY_CONNECTED", [4, 5, -1], [6]),
    ]  # fmt: skip
    return written(G(tensors, ops, [0], [6]))


@pytest.mark.parametrize("content", [small(), window()], ids=["codes", "variables"])
def test_mutated_files_are_loaded_or_refused_in_a_sentence(content: bytes) -> None:
    rng, loaded = np.random.default_rng(11), 0
    for _ in range(250):
        changed = bytearray(content)
        for at in rng.integers(8, len(changed), rng.integers(1, 4)):
            changed[at] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, int(rng.integers(256))])
        cut = int(rng.integers(12, len(changed))) if rng.integers(8) == 0 else len(changed)
        with suppress(UnsupportedError):  # whatever else is raised fails here
            load(bytes(changed[:cut]))
            loaded += 1
    assert loaded


def test_a_file_cut_off_anywhere_is_one_sentence() -> None:
    content = small()
    for size in range(8, len(content), 7):
        with pytest.raises(ModelError, match=r"the TensorFlow Lite file is damaged: .* lie outside of its|is damaged"):
            load(content[:size])


def one(tensor: T, op: str = "RELU", result: T | None = None) -> bytes:
    return single(op, [tensor], [result or T(tensor.shape, tensor.kind)])


X = T((1, 4))
PUBLISH = (
    "no plug-in has an operator of this name in the domain 'tflite.custom'; publish one under the entry points "
    "'tilewright.operators', or cut the network before it"
)
SENTENCES = {
    "tensor 't1' has sparse weights: only dense weights are read; convert the network without sparse encoding":
        single("ADD", [X, T((1, 4), sparse=True, data=np.zeros((1, 4)))], [X]),
    f"custom operator Mine is not supported: {PUBLISH}":
        written(G([X, X], [Op("CUSTOM", [0], [1], custom="Mine")], [0], [1])),
    "operator RFFT2D is not supported: it is not known here; cut the network before it": single("RFFT2D", [X], [X]),
    "tensor 't1' is read before anything writes it: operators stand in the order of execution; convert the network "
    "again": written(G([X, X, X], [Op("ADD", [0, 1], [2])], [0], [2])),
    "the TensorFlow Lite file is damaged: RELU_0 names tensor 9 of 2; convert or download it again":
        written(G([X, X], [Op("RELU", [9], [1])], [0], [1])),
    "tensor 't1' is damaged: its shape [1, 5] takes 20 bytes, its buffer has 16; convert or download it again":
        single("ADD", [X, T((1, 5), data=np.zeros((1, 4)))], [X]),
    "tensor 't1' is damaged: 3 scales do not fit axis 0 of its shape [1, 4]; convert or download it again":
        single("ADD", [X, T((1, 4), "int8", [1, 2, 3], data=np.zeros((1, 4)))], [X]),
    "operator 'QUANTIZE_0' makes codes of int32: only codes of 4, 8 and 16 bits are made, and those of 32 without a "
    "zero point; cut the network before it":
        single("QUANTIZE", [T((1, 4), "int8", 0.1)], [T((1, 4), "int32", 0.1, 5)]),
    "operator 'MEAN_0': its axes are no constant: code without a heap needs sizes before it runs; convert the network "
    "with constants there": single("MEAN", [X, T((1,), "int32")], [T((1,))]),
    "operator 'CONCATENATION_0' is damaged: axis 99 is none of 2; convert or download it again":
        single("CONCATENATION", [X, X], [T((1, 8))], [(0, "i", 99)]),
    "operator 'MEAN_0' is damaged: axis -3 is none of 2; convert or download it again":
        single("MEAN", [X, T((1,), "int32", data=np.asarray([-3]))], [T((1,))]),
    "operator 'SOFTMAX_0' is damaged: an option is nan; convert or download it again":
        single("SOFTMAX", [X], [X], [(0, "f", float("nan"))]),
    "operator 'CONV_2D_0' is damaged: an image of shape [1, 4] and a kernel of shape [1, 4] do not go together; "
    "convert it again": single("CONV_2D", [X, T((1, 4), data=np.zeros((1, 4)))], [X]),
}  # fmt: skip


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_fault_is_named(sentence: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        load(SENTENCES[sentence])
    assert str(caught.value) == sentence


def test_an_error_names_the_file(tmp_path: Path) -> None:
    file = tmp_path / "net.tflite"
    file.write_bytes(small()[:40])
    with pytest.raises(ModelError) as caught:
        load(file)
    assert caught.value.where.file == str(file)


def test_constants_that_are_named_again_and_again_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    content = single("ADD", [X, T((1, 4), data=np.zeros((1, 4)))], [X])
    monkeypatch.setattr("tilewright.tflite.file.CONSTANTS_LIMIT_BYTES", 15)
    with pytest.raises(ModelError, match="its constants take more than 15 bytes"):
        read_network(content)
