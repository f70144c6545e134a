"""Concat, Split, Slice and kin as copies of runs, of words and bytes, short runs among long ones, in C."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from board_layers import Network, check_network, kernels
from graphs import execute, node, onnx_model
from in_c import Trial, hold
from ops.building import call
from tilewright.conformance.subject import load_and_pass, place
from tilewright.frontend.load import load
from tilewright.plugins import kernels_of, platform

RNG = np.random.default_rng(8)


def moved(element: type) -> onnx.ModelProto:
    """Runs of 1 to 63 elements, of one tensor and of several; loops around them that are one in one tensor only."""
    constants = {
        "from": np.array([1, 2]), "to": np.array([4, 13]), "axes": np.array([1, 2]), "parts": np.array([1, 3, 7]),
        "first": np.array([3]), "last": np.array([-1]), "across": np.array([2]),
    }  # fmt: skip
    nodes = [
        node("Slice", "x from to axes", "a"), node("Concat", "x v x", "b", axis=3), node("Concat", "x x", "c", axis=1),
        node("Split", "w parts", "d e f", axis=1), node("DepthToSpace", "x", "g", blocksize=2),
        node("Slice", "x first last across", "h"), node("Transpose", "w", "i", perm=[1, 0, 2]),
    ]  # fmt: skip
    types = dict.fromkeys(("x", "v", "w"), onnx.helper.np_dtype_to_tensor_dtype(np.dtype(element)))
    shapes = {"x": [2, 4, 13, 3], "v": [2, 4, 13, 1], "w": [5, 11, 9]}
    return onnx_model(nodes, shapes, list("abcdefghi"), constants, types=types)


def test_runs_of_every_length_in_c(tmp_path: Path) -> None:
    for element in (np.float32, np.int8, np.int16, np.int64):
        proto = moved(element)
        shapes = {each.name: [d.dim_value for d in each.type.tensor_type.shape.dim] for each in proto.graph.input}
        feeds = {name: RNG.integers(-99, 99, shape).astype(element) for name, shape in shapes.items()}
        folder = tmp_path / element.__name__
        folder.mkdir()
        hold([Trial(proto, feeds, execute(load(proto), feeds))], folder, rtol=0, atol=0)
        placed = place(load_and_pass(proto, "moved"), platform("generic"))
        taken = [one.kernel.name for one in placed.plan.instructions]
        assert taken.count("CopyRuns") >= 4, taken


def test_runs_of_bytes_and_words_on_a_core(tmp_path: Path) -> None:
    """Words that are not aligned, and every rest behind the last of them."""
    network = Network(RNG)
    for size in (8, 9, 10, 11, 12, 13, 14, 15, 23):
        for kind in (np.int8, np.float32):
            n = f"{kind.__name__}_{size}"
            network.inputs |= {f"{n}_x": ((3, size), kind), f"{n}_v": ((3, 9), kind)}
            network.nodes.append(node("Concat", f"{n}_x {n}_v", f"{n}_y", n, axis=1))
            network.outputs[f"{n}_y"] = kind
    taken = kernels(check_network(network, "qemu_mps2_an386", tmp_path))
    assert set(taken.values()) == {"CopyRuns"}


def test_what_lies_one_by_one_is_left_to_loops() -> None:
    kernel = next(k for k in kernels_of(platform("generic")) if k.name == "CopyRuns")
    assert "no 8 bytes lie side by side" in str(kernel.methods.accepts(call("Transpose", (5, 7), perm=(1, 0))))
