"""Kernels that say so add in order, bit for bit; bounds of roundings by partial sums hold for such sums."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
import tilewright
from onnx import TensorProto, helper, numpy_helper
from tilewright.compile import write
from tilewright.evidence.error_bounds.compose import analyse, at_vector
from tilewright.evidence.replication import ordered_nodes
from tilewright.model import Array
from tilewright.run.build import build
from tilewright.run.session import read_outputs
from tilewright.run.simulate import execute
from tilewright.target import missing_tools

NODES = ("conv", "depthwise", "dense")


def _drawn(generator: np.random.Generator, *shape: int) -> Array:
    return generator.normal(size=shape).astype(np.float32)


def _network(folder: Path) -> tuple[Path, list[Array], dict[str, Array]]:
    """Two convolutions of one image, one of them by channel, and a product; the inputs and the constants."""
    generator = np.random.default_rng(3)
    shapes = {"w": (5, 4, 3, 2), "b": (5,), "v": (4, 1, 3, 3), "c": (4,), "m": (13, 6), "d": (6,)}
    constants = {name: _drawn(generator, *shape) for name, shape in shapes.items()}
    pads = {"conv": [1, 1, 1, 0], "depthwise": [1, 1, 1, 1]}
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["y0"], name="conv", pads=pads["conv"]),
        helper.make_node("Conv", ["x", "v", "c"], ["y1"], name="depthwise", group=4, pads=pads["depthwise"]),
        helper.make_node("Gemm", ["a", "m", "d"], ["y2"], name="dense"),
    ]
    inputs, outputs = (
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()]
        for shapes in (
            {"x": (1, 4, 6, 5), "a": (3, 13)},
            {"y0": (1, 5, 6, 5), "y1": (1, 4, 6, 5), "y2": (3, 6)},
        )
    )
    graph = helper.make_graph(
        nodes, "g", inputs, outputs, [numpy_helper.from_array(value, name) for name, value in constants.items()]
    )
    file = folder / "sums.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), file)
    return file, [_drawn(generator, 1, 4, 6, 5), _drawn(generator, 3, 13)], constants


def _added(start: Array, products: Sequence[tuple[Array, Array]], fused: bool) -> Array:
    """Factors multiplied and added one pair behind the other, in float32."""
    total = start.astype(np.float32)
    for a, b in products:
        product = a.astype(np.float64) * b.astype(np.float64)  # exact
        total = (total + (product if fused else product.astype(np.float32))).astype(np.float32)
    return total


def _in_order(inputs: Sequence[Array], constants: dict[str, Array], fused: bool) -> list[Array]:
    """The three results: places of the window row by row, channels in each, inputs of the product from the first on."""
    x, a = inputs
    wide = np.pad(x[0], ((0, 0), (1, 1), (1, 1)))
    window = [
        (np.broadcast_to(wide[c, h : h + 6, w : w + 5], (5, 6, 5)), constants["w"][:, c, h, w].reshape(5, 1, 1))
        for h in range(3) for w in range(2) for c in range(4)
    ]  # fmt: skip
    own = [
        (wide[:, h : h + 6, w : w + 5], constants["v"][:, 0, h, w].reshape(4, 1, 1)) for h in range(3) for w in range(3)
    ]
    rows = [(a[:, i, None], constants["m"][i]) for i in range(13)]
    starts = (
        np.broadcast_to(constants["b"].reshape(5, 1, 1), (5, 6, 5)),
        np.broadcast_to(constants["c"].reshape(4, 1, 1), (4, 6, 5)),
        np.broadcast_to(constants["d"], (3, 6)),
    )
    return [_added(start, pairs, fused) for start, pairs in zip(starts, (window, own, rows), strict=True)]


@pytest.mark.parametrize(("board", "fused"), [("host", False), ("qemu_mps2_an386", True)])
def test_kernels_that_say_so_add_in_order(board: str, fused: bool, tmp_path: Path) -> None:
    target = tilewright.load_target(board)
    for tool, _ in missing_tools(target):
        pytest.skip(f"{tool} is not installed")
    file, inputs, constants = _network(tmp_path)
    compiled = tilewright.compile_model(file, tilewright.CompileOptions(), target)
    assert ordered_nodes(compiled.plan) == {*NODES}
    (tmp_path / "project").mkdir()
    write(compiled, tmp_path / "project")
    image = build(tmp_path / "project", compiled.artifacts.interface, target, tmp_path / "build")
    outputs = read_outputs(compiled.plan, execute(image, [array.tobytes() for array in inputs]))
    for name, got, want in zip(NODES, outputs, _in_order(inputs, constants, fused), strict=True):
        np.testing.assert_array_equal(got.reshape(want.shape), want, err_msg=name)


@pytest.mark.parametrize("fused", [False, True])
def test_bounds_by_partial_sums_hold_and_are_smaller(fused: bool, tmp_path: Path) -> None:
    file, inputs, constants = _network(tmp_path)
    compiled = tilewright.compile_model(file, tilewright.CompileOptions(), tilewright.load_target("host"))
    vector = at_vector(compiled.model, dict(zip(compiled.model.inputs, inputs, strict=True)))
    loose, tight = analyse(compiled.model, vector, {}), analyse(compiled.model, vector, {}, ordered=NODES)
    for name, got in zip(compiled.model.outputs, _in_order(inputs, constants, fused), strict=True):
        exact, bound = tight.known[name].centre, tight.known[name].error
        assert (np.abs(got.reshape(exact.shape).astype(np.float64) - exact) <= bound).all()
        assert bound.max() < 0.6 * loose.known[name].error.max()
