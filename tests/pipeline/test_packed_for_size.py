"""`--optimize size` keeps weights of four bits packed wherever that costs no RAM."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import onnx
from integers.qdq_writer import Writer
from onnx import TensorProto, helper
from tilewright.compile import compile_model
from tilewright.options import CompileOptions
from tilewright.target import load_target

RNG = np.random.default_rng(8)
CHANNELS = (3, 16, 16, 32, 48)


def pictures() -> onnx.ModelProto:
    """Four convolutions with weights of four bits; the first at the peak, the others where little is alive."""
    write = Writer(21)
    last, weights = write.pair("x", 0.02, -4), []
    for number, (inputs, outputs) in enumerate(pairwise(CHANNELS)):
        name = f"w{number}"
        write.parameters(name, 0.05, 0)
        weights.append((name, RNG.integers(-8, 8, (outputs, inputs, 3, 3))))
        write.add("DequantizeLinear", f"{name} {name}_s {name}_z", f"{name}_d")
        write.add("Conv", f"{last} {name}_d", f"c{number}", pads=[1, 1, 1, 1], strides=[2, 2])
        write.add("Relu", f"c{number}", f"r{number}")
        last = write.pair(f"r{number}", 0.05, -128)
    write.add("Identity", last, "y")
    zeros = [write.constants.pop(f"w{number}_z") for number in range(len(weights))]
    proto = write.model({"x": (1, 3, 64, 64)})
    for (name, codes), zero in zip(weights, zeros, strict=True):
        for what, array in ((name, codes), (f"{name}_z", np.asarray(zero))):
            tensor = helper.make_tensor(what, TensorProto.INT4, array.shape, array.reshape(-1).tolist())
            proto.graph.initializer.append(tensor)
    return proto


def test_deep_layers_are_packed_beside_a_wide_one(tmp_path: Path) -> None:
    onnx.save(pictures(), tmp_path / "pictures.onnx")
    board = load_target("qemu_mps2_an386")
    made = {
        aim: compile_model(tmp_path / "pictures.onnx", CompileOptions(quantized_io=True, optimize=aim), board)
        for aim in ("balanced", "size")
    }
    deep_weights = sum(inputs * outputs * 9 for inputs, outputs in pairwise(CHANNELS[2:]))
    assert made["size"].placed.solution.peak <= made["balanced"].placed.solution.peak
    saved_bytes = made["balanced"].artifacts.constant_bytes - made["size"].artifacts.constant_bytes
    assert saved_bytes >= deep_weights // 2
