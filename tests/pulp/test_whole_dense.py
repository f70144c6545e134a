"""Float products of matrices on a cluster without float units: odd shapes, tiles, and sums that are made of floats."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import pytest
from board_layers import board_or_skip
from graphs import node, onnx_model
from tilewright.cli import main
from tilewright.compile import compile_model
from tilewright.options import CompileOptions
from tilewright.target import load_target


@dataclass(frozen=True)
class Product:
    """Shapes of both operands; whether the second is an input, and whether there is a bias with a Relu."""

    a: tuple[int, ...]
    b: tuple[int, ...]
    given: bool = False
    gemm: bool = False


PRODUCTS = {
    "odd": Product((3, 37), (37, 29), gemm=True),
    "row": Product((1, 64), (64, 50), gemm=True),
    "column": Product((2, 9, 15), (15, 1)),
    "leading": Product((2, 3, 5, 12), (12, 20)),
    "each": Product((3, 7, 11), (3, 11, 9), given=True),
    "shared": Product((2, 5, 7), (7, 13), given=True),
    "one": Product((1, 1), (1, 1), given=True),
}


def network() -> onnx.ModelProto:
    draw, nodes, weights = np.random.default_rng(5), [], {}
    inputs: dict[str, tuple[int, ...]] = {}
    for name, one in PRODUCTS.items():
        inputs[f"{name}_a"] = one.a
        if one.given:
            inputs[f"{name}_b"] = one.b
        else:
            weights[f"{name}_b"] = draw.standard_normal(one.b).astype(np.float32)
        read = f"{name}_a {name}_b"
        if one.gemm:
            weights[f"{name}_c"] = draw.standard_normal(one.b[-1]).astype(np.float32)
            nodes += [node("Gemm", f"{read} {name}_c", f"{name}_g"), node("Relu", f"{name}_g", name)]
        else:
            nodes.append(node("MatMul", read, name))
    return onnx_model(nodes, inputs, list(PRODUCTS), weights)


@pytest.mark.parametrize("board", ["qemu_pulp", "gvsoc_pulp_open"])
def test_every_shape_is_equal_in_tiles(board: str, tmp_path: Path) -> None:
    board_or_skip(board)
    onnx.save(network(), tmp_path / "net.onnx")
    size = 8 if board == "qemu_pulp" else 16
    done = compile_model(
        tmp_path / "net.onnx", CompileOptions(level_sizes={"l1": size * 1024}), load_target(board)
    )  # fmt: skip
    layers = [one for one in done.plan.instructions if one.call.node.op in ("Gemm", "MatMul")]
    assert {one.kernel.name for one in layers} == {"TiledWholeDense", "TiledWholeMatMul"}
    assert any(one.schedule.tiles > 1 for one in layers if one.schedule is not None)
    assert main(["run", str(tmp_path / "net.onnx"), "-t", board, "--set", f"l1={size}K", "-q"]) == 0


@pytest.mark.parametrize("case", ["apart", "zeros", "infinite"])
def test_sums_that_whole_numbers_do_not_know(case: str, tmp_path: Path) -> None:
    board_or_skip("qemu_pulp")
    draw, model = np.random.default_rng(8), network()
    inputs = {
        f"{name}_{which}": draw.standard_normal(shape).astype(np.float32)
        for name, one in PRODUCTS.items()
        for which, shape in (("a", one.a), *((("b", one.b),) if one.given else ()))
    }
    if case == "apart":  # large elements meet zeros, every sum is one of small numbers
        for name, one in PRODUCTS.items():
            inputs[f"{name}_a"][..., one.a[-1] // 2] = 3e8
            if one.given:
                inputs[f"{name}_b"][..., one.a[-1] // 2, :] = 0
        for held in model.graph.initializer:
            if held.name.endswith("_b"):
                weights = onnx.numpy_helper.to_array(held).copy()
                weights[len(weights) // 2] = 0
                held.CopyFrom(onnx.numpy_helper.from_array(weights, held.name))
    else:
        for values in inputs.values():
            flat = values.reshape(-1)
            flat[::7] = np.inf if case == "infinite" else 0
            flat[1::3] *= np.float32(1 if case == "infinite" else 1e-42)
    onnx.save(model, tmp_path / "net.onnx")
    np.savez(tmp_path / "inputs.npz", **inputs)
    arguments = ["run", str(tmp_path / "net.onnx"), "-t", "qemu_pulp", "--inputs", str(tmp_path / "inputs.npz"), "-q"]
    assert main(arguments) == 0
