"""Channels that hold one code for all inputs go, and every other code stays what it was."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from integers.qdq_writer import Writer
from state.networks import placed
from tilewright.compile import compile_model, run_model, write
from tilewright.frontend.load import load
from tilewright.model import Model
from tilewright.options import CompileOptions, RunOptions
from tilewright.passes.driver import run as passes
from tilewright.passes.quantise.lower import lower
from tilewright.plan.execute import run_slots
from tilewright.target import load_target

SCALE, ZERO = 0.05, -128
SHUT, OPEN = -2_000_000, 2_000_000
"""Biases behind which a limited sum always has its least or its largest code."""


class Network(Writer):
    """Layers of codes between 0 and 6, of which some channels are shut or open for good."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.draw = np.random.default_rng(seed)
        self.last, self.channels = "x_d", 3

    def coded(self, real: str, scale: float = SCALE, zero: int = ZERO) -> None:
        self.last = self.pair(real, scale, zero)

    def bias(self, name: str, channels: int, fixed: dict[int, int], unit: npt.NDArray[np.float32]) -> str:
        values = self.draw.integers(-2000, 2000, channels)
        for channel, value in fixed.items():
            values[channel] = value
        self.constants[f"{name}_b"] = values.astype(np.int32)
        self.constants[f"{name}_bs"] = unit.astype(np.float32)
        self.constants[f"{name}_bz"] = np.zeros(channels, np.int32)
        return self.add("DequantizeLinear", f"{name}_b {name}_bs {name}_bz", f"{name}_bd", axis=0)

    def conv(
        self, name: str, results: int, kernel: int, fixed: dict[int, int], group: int = 1, pads: int = 0,
        scale: float = 0.05, zero: int = -128,
    ) -> None:  # fmt: skip
        """A convolution with Relu6; `fixed` are biases of channels that no input moves."""
        scales = self.draw.uniform(0.002, 0.004, results).astype(np.float32)
        codes = self.draw.integers(-127, 128, (results, self.channels // group, kernel, kernel)).astype(np.int8)
        weights = self.weights(f"{name}_w", codes, scales)
        bias = self.bias(name, results, fixed, np.float32(SCALE) * scales)
        self.add("Conv", f"{self.last} {weights} {bias}", name, group=group, pads=[pads] * 4)
        self.add("Relu", name, f"{name}_r")
        self.coded(f"{name}_r", scale, zero)
        self.channels = results

    def written(self, file: Path, shape: tuple[int, ...] = (1, 3, 9, 8)) -> Path:
        self.pair("x", SCALE, ZERO)
        self.nodes = self.nodes[-2:] + self.nodes[:-2]
        self.add("Identity", self.last, "y")
        onnx.save(self.model({"x": shape}), file)
        return file


def lowered(file: Path) -> Model:
    return lower(load(file))


def same_codes(model: Model, seed: int = 0) -> Model:
    """The network without constant channels, whose results are those of the network with them."""
    fewer, all_of_them = passes(model)[0], passes(model, disabled=("constant_channels",))[0]
    plans = [placed(each).plan for each in (fewer, all_of_them)]
    draw = np.random.default_rng(seed)
    shape = model.tensors[model.inputs[0]].shape
    for spread in (0.0, 0.5, 4.0, 40.0):
        values = (draw.standard_normal(shape) * spread).astype(np.float32)
        ours, theirs = (run_slots(plan, [values])[plan.output_slots[0]] for plan in plans)
        assert np.array_equal(ours, theirs)
    return fewer


def channels_of(model: Model) -> list[int]:
    """Results of each convolution."""
    return [model.tensors[node.outputs[0]].shape[1] for node in model.nodes if node.op == "Conv"]


def test_shut_channels_go_through_depthwise_layers_and_pools(tmp_path: Path) -> None:
    network = Network(1)
    shut = dict.fromkeys((0, 3, 4, 9, 10), SHUT)
    network.conv("a", 12, 3, shut, pads=1)
    network.conv("b", 12, 3, shut, group=12, pads=1)
    network.add("MaxPool", network.last, "m", kernel_shape=[2, 2], strides=[2, 2])
    network.coded("m")
    network.conv("c", 5, 1, {})
    assert channels_of(same_codes(lowered(network.written(tmp_path / "n.onnx")))) == [8, 8, 5]


def test_a_shut_channel_that_a_padded_window_opens_stays(tmp_path: Path) -> None:
    network = Network(2)
    network.conv("a", 8, 1, dict.fromkeys((1, 2, 5, 6), SHUT))
    network.conv("b", 8, 3, dict.fromkeys((1, 2), SHUT), group=8, pads=1)
    network.conv("c", 3, 1, {})
    # channels 5 and 6 are shut before the depthwise layer and open behind it, constant all the same: 0 adds nothing
    assert channels_of(same_codes(lowered(network.written(tmp_path / "n.onnx")))) == [4, 4, 3]


def test_a_channel_that_changes_at_the_border_alone_stays(tmp_path: Path) -> None:
    network = Network(8)
    network.conv("a", 8, 1, dict.fromkeys((0, 1, 2, 3), OPEN))
    network.conv("b", 8, 3, {2: 200_000, 3: SHUT}, group=8, pads=1)
    taps = np.array(network.constants["b_w"])
    taps[2] = -127
    network.constants["b_w"] = taps
    network.conv("c", 3, 1, {})
    # inside nine taps of -127 shut channel 2, in the corners four do not; channel 3 goes, and comes back for a multiple
    assert channels_of(same_codes(lowered(network.written(tmp_path / "n.onnx")))) == [8, 8, 3]


@pytest.mark.parametrize("pads", [0, 1])
def test_open_channels_go_into_the_bias_where_nothing_is_padded(tmp_path: Path, pads: int) -> None:
    network = Network(3)
    network.conv("a", 8, 3, dict.fromkeys((0, 2, 5, 7), OPEN))
    network.conv("b", 6, 3, {}, pads=pads)
    model = same_codes(lowered(network.written(tmp_path / "n.onnx")))
    assert channels_of(model) == ([4, 6] if pads == 0 else [8, 6])


def test_branches_lose_what_all_of_them_can_do_without(tmp_path: Path) -> None:
    network = Network(4)
    network.conv("a", 8, 3, dict.fromkeys((0, 1, 2, 3), SHUT), pads=1)
    trunk = network.last
    network.conv("b", 8, 1, dict.fromkeys((2, 3, 4, 5), SHUT))
    network.add("Add", f"{trunk} {network.last}", "sum")
    network.coded("sum", 0.1)
    added = network.last
    network.add("Concat", f"{added} {added}", "joined", axis=1)
    network.coded("joined", 0.1)
    network.channels = 16
    network.conv("c", 3, 1, {})
    # the sum keeps channels 2 and 3 out of both operands, and two more for a multiple of four
    assert channels_of(same_codes(lowered(network.written(tmp_path / "n.onnx"))))[-1] == 3


def test_channels_go_through_flattening_squeezing_and_scaling(tmp_path: Path) -> None:
    network = Network(5)
    shut = dict.fromkeys((0, 1, 6, 7), SHUT)
    network.conv("a", 8, 3, shut)
    trunk = network.last
    network.add("GlobalAveragePool", trunk, "mean")
    network.coded("mean")
    network.conv("squeezed", 4, 1, {})
    network.channels = 4
    network.conv("gate", 8, 1, {1: SHUT})
    network.add("Mul", f"{trunk} {network.last}", "scaled")
    network.coded("scaled", 0.2)
    codes = network.draw.integers(-127, 128, (8 * 42, 5)).astype(np.int8)
    weights = network.weights("g_w", codes, np.float32(0.003))
    network.add("Flatten", network.last, "flat", axis=1)
    network.coded("flat", 0.2)
    bias = network.bias("g", 5, {}, np.full(5, 0.2 * 0.003, np.float32))
    network.add("Gemm", f"{network.last} {weights} {bias}", "g")
    network.coded("g", 3.0, 0)
    model = same_codes(lowered(network.written(tmp_path / "n.onnx")))
    (gemm,) = (node for node in model.nodes if node.op == "Gemm")
    assert model.tensors[gemm.inputs[1]].shape == (4 * 42, 5)


def test_outputs_keep_all_their_channels(tmp_path: Path) -> None:
    network = Network(6)
    network.conv("a", 8, 3, dict.fromkeys(range(8), SHUT))
    assert channels_of(same_codes(lowered(network.written(tmp_path / "n.onnx")))) == [8]


def test_the_file_is_compared_where_its_channels_lie(tmp_path: Path) -> None:
    network = Network(7)
    shut = dict.fromkeys((0, 3, 4, 9), SHUT)
    network.conv("a", 12, 3, shut, pads=1)
    network.conv("b", 12, 3, shut, group=12, pads=1)
    network.conv("c", 5, 1, {})
    file, target = network.written(tmp_path / "n.onnx"), load_target("host")
    compiled = compile_model(file, CompileOptions(), target)
    write(compiled, tmp_path / "build")
    report = run_model(compiled, target, RunOptions(), tmp_path / "build")
    assert report.run is not None
    assert report.run.match
    assert report.run.reference is not None
    assert (report.run.reference.mismatches, report.run.reference.unlike) == (0, ())
    assert (report.run.reference.tensors or 0) >= 3
