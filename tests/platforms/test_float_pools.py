"""Float pools over borders, in rows and pictures and in both orders of memory, on this machine and on a core."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from board_layers import Network, check_network, kernels
from drawn_pools import DRAWN, Pool, drawn_pools
from graphs import node, onnx_model
from onnx import helper
from ops.building import call, evaluated
from tilewright.compile import Compiled, compile_model
from tilewright.conformance.program import STRICT, run_batch
from tilewright.conformance.subject import subject
from tilewright.model import Array
from tilewright.options import CompileOptions
from tilewright.plugins import kernels_of, platform
from tilewright.target import load_target


def on_this_machine(pools: list[Pool], work: Path) -> tuple[Compiled, list[Array], tuple[Array, ...]]:
    """All pools in one program, a few of the values of every third one no numbers; the inputs and the results."""
    generator = np.random.default_rng(3)
    inputs = {f"x{number}": shape for number, (_, shape, _) in enumerate(pools)}
    arrays = [generator.standard_normal(shape).astype(np.float32) for shape in inputs.values()]
    for x in arrays[::3]:
        special = generator.choice([np.nan, np.inf, -np.inf], x.shape).astype(np.float32)
        np.copyto(x, special, where=generator.random(x.shape) < 0.1)
    nodes = [node(op, f"x{n}", f"y{n}", f"pool{n}", **more) for n, (op, _, more) in enumerate(pools)]
    path = work / "pools.onnx"
    onnx.save(onnx_model(nodes, inputs, [f"y{n}" for n in range(len(pools))], opset=22), path)
    compiled = compile_model(path, CompileOptions(allocator="greedy"), load_target("host"))
    made = subject(compiled.placed, platform("generic"), [arrays])
    (outcome,) = run_batch([made], work, flags=("-O2", *STRICT))
    assert not outcome.failure
    return compiled, arrays, outcome.runs[0]


def test_drawn_pools_equal_their_meaning(tmp_path: Path) -> None:
    """Largest values are equal, no numbers and infinities among them; so are means, which add in the same order."""
    pools = drawn_pools(5)
    compiled, arrays, results = on_this_machine(pools, tmp_path)
    taken = kernels(compiled)
    assert sum(name == "PoolF32" for name in taken.values()) > 0.8 * DRAWN
    for (op, shape, attributes), x, got in zip(pools, arrays, results, strict=True):
        with np.errstate(invalid="ignore"):
            wanted = evaluated(call(op, shape, opset=22, **attributes), [x])["y"]
        np.testing.assert_array_equal(got, wanted, err_msg=f"{op} {shape} {attributes}")


def board_pools() -> Network:
    """Pools of rows and of channels that lie side by side behind a convolution."""
    network = Network(np.random.default_rng(7))
    for number, (op, shape, attributes) in enumerate(drawn_pools(6)[:8]):
        n = f"pool{number}"
        network.inputs[f"{n}_x"] = (shape, np.float32)
        read = f"{n}_x"
        if number % 2 and shape[0] == 1:
            kept = np.eye(shape[1], dtype=np.float32).reshape(shape[1], shape[1], *(1 for _ in shape[2:]))
            network.nodes.append(helper.make_node("Conv", [read, network.constant(f"{n}_w", kept)], [f"{n}_c"]))
            read = f"{n}_c"
        del attributes["dilations"]
        network.nodes.append(helper.make_node(op, [read], [f"{n}_y"], n, **attributes))
        network.outputs[f"{n}_y"] = np.float32
    return network


def test_drawn_pools_on_a_core(tmp_path: Path) -> None:
    taken = kernels(check_network(board_pools(), "qemu_mps2_an386", tmp_path))
    assert sum(name == "PoolF32" for name in taken.values()) >= 5


def test_windows_that_the_loops_take() -> None:
    """What the kernel refuses: indices, three axes, windows of padding only."""
    kernel = next(k for k in kernels_of(platform("generic")) if k.name == "PoolF32")
    indices = call("MaxPool", (1, 2, 6, 6), kernel_shape=(2, 2), outputs=2)
    assert "places of the largest" in str(kernel.methods.accepts(indices))
    volume = call("AveragePool", (1, 2, 6, 6, 6), kernel_shape=(2, 2, 2))
    assert "3 spatial axes" in str(kernel.methods.accepts(volume))
    gaps = call("MaxPool", (1, 1, 1), kernel_shape=(2,), dilations=(2,), pads=(1, 1))
    assert "padding only" in str(kernel.methods.accepts(gaps))
