"""Weights in blocks stay packed: MatMulNBits and DequantizeLinear with blocks, in C, held against ONNX Runtime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from board_layers import board_or_skip
from onnx import TensorProto, helper, numpy_helper
from tilewright.compile import Compiled, compile_model, run_model, write
from tilewright.options import CompileOptions, RunOptions
from tilewright.target import load_target

RANDOM = np.random.default_rng(27)
MICROSOFT = "com.microsoft"


def model(nodes: list[onnx.NodeProto], shape: tuple[int, ...], columns: int, constants: list[Any]) -> onnx.ModelProto:
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)
    gives = helper.make_tensor_value_info("y", TensorProto.FLOAT, (*shape[:-1], columns))
    graph = helper.make_graph(nodes, "blocks", [given], [gives], constants)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid(MICROSOFT, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def n_bits(shape: tuple[int, ...], columns: int, block: int, *, bits: int = 4, zeros: bool) -> onnx.ModelProto:
    """MatMulNBits as ONNX Runtime's quantiser writes it, with an Add behind it."""
    depth = shape[-1]
    blocks = -(-depth // block)
    codes = RANDOM.integers(0, 256, (columns, blocks, block * bits // 8), np.uint8)
    scale = (RANDOM.random((columns, blocks)) / 16 + 0.01).astype(np.float32)
    zero = RANDOM.integers(0, 256, (columns, -(-blocks * bits // 8)), np.uint8)
    names, constants = ["x", "w", "s"], [(codes, "w"), (scale, "s"), (RANDOM.random(columns, np.float32), "b")]
    if zeros:
        names, constants = [*names, "z"], [*constants, (zero, "z")]
    node = helper.make_node(
        "MatMulNBits", names, ["t"], domain=MICROSOFT, N=columns, K=depth, bits=bits, block_size=block
    )
    add = helper.make_node("Add", ["b", "t"], ["y"])
    return model([node, add], shape, columns, [numpy_helper.from_array(*each) for each in constants])


def blocked(shape: tuple[int, ...], columns: int, block: int, *, turned: bool) -> onnx.ModelProto:
    """DequantizeLinear with blocks of signed codes before a MatMul, or of rows before a Transpose."""
    depth = shape[-1]
    wide, narrow = (depth, columns), (-(-depth // block), columns)
    if turned:
        wide, narrow = wide[::-1], narrow[::-1]
    codes = RANDOM.integers(-8, 8, wide)
    scale = (RANDOM.random(narrow) / 16 + 0.01).astype(np.float32)
    constants = [
        helper.make_tensor("w", TensorProto.INT4, wide, codes.reshape(-1)), numpy_helper.from_array(scale, "s"),
    ]  # fmt: skip
    nodes = [helper.make_node("DequantizeLinear", ["w", "s"], ["d"], axis=int(turned), block_size=block)]
    if turned:
        nodes.append(helper.make_node("Transpose", ["d"], ["m"], perm=[1, 0]))
    nodes.append(helper.make_node("MatMul", ["x", "m" if turned else "d"], ["y"]))
    return model(nodes, shape, columns, constants)


def compiled(proto: onnx.ModelProto, folder: Path, target: str = "host") -> Compiled:
    onnx.save(proto, folder / "blocks.onnx")
    found = compile_model(folder / "blocks.onnx", CompileOptions(), load_target(target))
    assert [bound.call.node.op for bound in found.bound.nodes if bound.kernel] == ["MatMulBlocks"]
    return found


def held(found: Compiled, folder: Path, target: str = "host") -> None:
    """The C gives what NumPy gives, and that is what ONNX Runtime gives."""
    (folder / "project").mkdir()
    written = write(found, folder / "project")
    report = run_model(written, load_target(target), RunOptions(), folder / "project")
    assert report.run is not None
    assert report.run.match


CASES = {
    "four bits, zero points, a bias": lambda: n_bits((1, 96), 24, 32, zeros=True),
    "four bits, a last block of odd length, rows": lambda: n_bits((2, 3, 45), 7, 16, zeros=True),
    "four bits, symmetric, one block": lambda: n_bits((1, 31), 6, 128, zeros=False),
    "eight bits, zero points": lambda: n_bits((1, 70), 9, 16, bits=8, zeros=True),
    "signed": lambda: blocked((1, 64), 12, 16, turned=False),
    "signed, rows of the matrix": lambda: blocked((3, 64), 12, 32, turned=True),
}


@pytest.mark.parametrize("name", CASES)
def test_codes_in_blocks_are_computed_as_they_lie(name: str, tmp_path: Path) -> None:
    held(compiled(CASES[name](), tmp_path), tmp_path)


@pytest.mark.parametrize(("block", "zeros"), [(16, True), (128, False)])
def test_flash_is_hardly_more_than_the_file(block: int, zeros: bool, tmp_path: Path) -> None:
    found = compiled(n_bits((1, 256), 512, block, zeros=zeros), tmp_path)
    file_bytes = (tmp_path / "blocks.onnx").stat().st_size
    assert found.artifacts.constant_bytes <= 1.1 * file_bytes


def test_blocks_that_begin_within_a_byte_become_floats(tmp_path: Path) -> None:
    onnx.save(blocked((1, 12), 4, 3, turned=True), tmp_path / "blocks.onnx")
    found = compile_model(tmp_path / "blocks.onnx", CompileOptions(), load_target("host"))
    assert [bound.call.node.op for bound in found.bound.nodes if bound.kernel] == ["MatMul"]


DSP_CASES = {
    "two rows, columns that make no four": ((2, 100), 11, 32),
    "an even number of blocks of sixteen": ((1, 288), 16, 16),
    "an odd one": ((1, 75), 5, 16),
    "several sums in a block, segments": ((1, 300), 9, 128),
    "a block of forty-eight": ((1, 400), 4, 48),
    "a block of sixty-four": ((3, 2, 70), 6, 64),
    "less than a block": ((1, 31), 6, 128),
    "less than four": ((2, 3), 3, 16),
}


@pytest.mark.parametrize("zeros", [True, False])
@pytest.mark.parametrize("name", DSP_CASES)
def test_on_a_core_with_dual_products(name: str, zeros: bool, tmp_path: Path) -> None:
    target = "qemu_mps2_an386"
    board_or_skip(target)
    shape, columns, block = DSP_CASES[name]
    held(compiled(n_bits(shape, columns, block, zeros=zeros), tmp_path, target), tmp_path, target)


@pytest.mark.parametrize("zeros", [True, False])
@pytest.mark.parametrize("target", ["qemu_mps2_an505", "qemu_mps3_an547"])
def test_with_and_without_a_float_unit(target: str, zeros: bool, tmp_path: Path) -> None:
    board_or_skip(target)
    held(compiled(n_bits((2, 100), 11, 32, zeros=zeros), tmp_path, target), tmp_path, target)


@pytest.mark.parametrize(("code", "block"), [(0, 16), (255, 64), (0, 128)])
def test_sums_as_large_as_they_get_have_their_place(code: int, block: int, tmp_path: Path) -> None:
    target = "qemu_mps2_an386"
    board_or_skip(target)
    proto = n_bits((3, 256), 6, block, zeros=True)
    for index, value in enumerate((code, 255 - code)):
        tensor = proto.graph.initializer[3 * index]
        tensor.CopyFrom(numpy_helper.from_array(np.full_like(numpy_helper.to_array(tensor), value), tensor.name))
    rows = np.stack([np.full(256, 3.7), np.full(256, -3.7), np.arange(256) / 7]).astype(np.float32)
    check_rows(proto, rows, tmp_path, target)


def check_rows(proto: onnx.ModelProto, rows: npt.NDArray[np.float32], folder: Path, target: str) -> None:
    found = compiled(proto, folder, target)
    np.savez(folder / "rows.npz", x=rows)
    (folder / "project").mkdir()
    options = RunOptions(inputs=folder / "rows.npz")
    report = run_model(write(found, folder / "project"), load_target(target), options, folder / "project")
    assert report.run is not None
    assert report.run.match


def test_rows_of_any_size_are_computed(tmp_path: Path) -> None:
    """Values that are zero, very small, very large and of one sign, some in segments of their own."""
    target = "qemu_mps2_an386"
    board_or_skip(target)
    rows = RANDOM.standard_normal((6, 300)).astype(np.float32)
    rows[0], rows[1, :256], rows[3, 256:], rows[4] = 0, 0, np.abs(rows[3, 256:]) * 10, rows[4] * np.float32(1e-34)
    rows[2, 5], rows[5, 280] = 3e30, -400
    check_rows(n_bits((6, 300), 5, 16, zeros=True), rows, tmp_path, target)
