"""Small layers proved for all inputs on three cores, and faults in their C that a proof notices."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from onnx import helper
from quantised_nodes import MICROSOFT, Drawn, convolution, one_operand, product, written
from tilewright.compile import Compiled, compile_model, write
from tilewright.errors import ToolMissing, UsageError
from tilewright.options import CompileOptions
from tilewright.prove.model import prove_project
from tilewright.prove.result import LayerProof, NetworkProof
from tilewright.target import Target, load_target

RV32 = pytest.param("qemu_rv32imc", marks=pytest.mark.sim("riscv64-unknown-elf-gcc"))
M3 = pytest.param("qemu_mps2_an385", marks=pytest.mark.sim("arm-none-eabi-gcc"))
M4 = pytest.param("qemu_mps2_an386", marks=pytest.mark.sim("arm-none-eabi-gcc"))
Network = Callable[[Path], Path]
mean = partial(one_operand, op="QLinearGlobalAveragePool")
sigmoid = partial(one_operand, op="QLinearSigmoid", scale=0.00390625)


def add(folder: Path) -> Path:
    """QLinearAdd of scales for which there is an integer form."""
    drawn = Drawn(0)
    left = ["x", drawn.add("xs", 0.05, np.float32), drawn.add("xz", 3, np.int8)]
    right = ["x2", drawn.add("ws", 0.03, np.float32), drawn.add("wz", -9, np.int8)]
    result = [drawn.add("ys", 0.0625, np.float32), drawn.add("yz", 4, np.int8)]
    node = helper.make_node("QLinearAdd", [*left, *right, *result], ["y"], "pair", domain=MICROSOFT)
    return written(folder, "pair", [node], drawn, {"x": [1, 3, 2, 2], "x2": [1, 3, 2, 2]})


def compiled_for(model: Path, target: Target, folder: Path) -> Compiled:
    return write(compile_model(model, CompileOptions(), target), folder)


def proved(make: Network, target: Target, folder: Path, change: tuple[str, str] = ("", "")) -> NetworkProof:
    """The proof of a network whose C has `change[1]` in the place of `change[0]`."""
    compiled = compiled_for(make(folder), target, folder / "project")
    file = next((folder / "project" / "src").glob("*[!s].c"))
    text = file.read_text()
    assert change[0] in text, text
    file.write_text(text.replace(*change) if change[0] else text)
    return prove_project(compiled, target, folder / "project")


def of_kernel(proof: NetworkProof, op: str) -> LayerProof:
    return next(layer for layer in proof.layers if layer.op == op)


@pytest.mark.parametrize(
    ("make", "op", "name"),
    [
        pytest.param(product, "MatMul", *M4.values, marks=M4.marks),
        pytest.param(convolution, "Conv", *M3.values, marks=M3.marks),
        pytest.param(product, "MatMul", *RV32.values, marks=RV32.marks),
        pytest.param(add, "Add", *M4.values, marks=M4.marks),
        pytest.param(add, "Add", *RV32.values, marks=RV32.marks),
        pytest.param(mean, "GlobalAveragePool", *RV32.values, marks=RV32.marks),
        pytest.param(sigmoid, "Sigmoid", *M3.values, marks=M3.marks),
    ],
)
def test_every_layer_is_proved(make: Network, op: str, name: str, tmp_path: Path) -> None:
    proof = proved(make, load_target(name), tmp_path)
    assert [layer.why for layer in proof.layers if layer.verdict != "proved"] == []
    assert of_kernel(proof, op).elements > 0


FAULTS = [
    pytest.param(("code = code > high ? high : code;", ""), "should be", id="no upper limit"),
    pytest.param(("int32_t addend = 1152;", "int32_t addend = 1216;"), "should be", id="rounding"),
    pytest.param((", 8u);", ", 8u) + 1;"), "should be", id="zero point"),
    pytest.param(("} while (w != end);", "} while (w != end - 4);"), "should be", id="one turn too few"),
]


@pytest.mark.sim("riscv64-unknown-elf-gcc")
@pytest.mark.sim("qemu-system-riscv32")
@pytest.mark.parametrize(("change", "why"), FAULTS)
def test_a_fault_in_the_c_is_refuted_by_an_input(change: tuple[str, str], why: str, tmp_path: Path) -> None:
    layer = of_kernel(proved(product, load_target("qemu_rv32imc"), tmp_path, change), "MatMul")
    assert layer.verdict == "refuted"
    assert why in layer.why
    assert layer.counterexample is not None
    # QEMU stores the same wrong code for that input: the lifted instructions mean what they do
    assert layer.counterexample.confirmed_by == "qemu_rv32imc"
    assert layer.counterexample.stored != layer.counterexample.meant


@pytest.mark.sim("arm-none-eabi-gcc")
def test_the_portable_kernels_are_proved_through_a_board_of_their_own(tmp_path: Path) -> None:
    board = tmp_path / "portable"
    shutil.copytree(load_target("qemu_mps2_an385").folder, board)
    file = board / "target.toml"
    text = file.read_text().replace('"qemu_mps2_an385"', '"portable"').replace('"cortex_m"', '"generic"')
    file.write_text(text)
    padded = partial(convolution, pads=[1, 1, 1, 1])
    proof = proved(padded, load_target(str(board)), tmp_path)
    assert [layer.why for layer in proof.layers if layer.verdict != "proved"] == []
    assert {layer.kernel for layer in proof.layers} == {"ConvI8", "Relayout"}


@pytest.mark.sim("riscv64-unknown-elf-gcc")
def test_what_is_not_proved_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = load_target("qemu_rv32imc")
    compiled = compiled_for(product(tmp_path), target, tmp_path / "project")
    (layer,) = prove_project(compiled, target, tmp_path / "project", blocks=10).layers
    assert layer.verdict == "gave up"
    assert "the limit of work is reached" in layer.why
    with pytest.raises(UsageError, match="no layer has this name"):
        prove_project(compiled, target, tmp_path / "project", ["other"])
    monkeypatch.setitem(sys.modules, "pypcode", None)
    with pytest.raises(ToolMissing, match="pypcode is not installed") as missing:
        prove_project(compiled, target, tmp_path / "project")
    assert missing.value.code == 6
