"""Trains the digits network on the images that ship inside scikit-learn and writes it as ONNX with test vectors.

    python tests/models/make_digits.py [-o tests/models]

writes `digits/` (float32) and `digits_int8/` (QDQ). Training is seeded; another BLAS may round differently, so the
files are committed and this script says how they came to be.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from network_files import first_output, save_network, session
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from quantise import quantise
from training import Array, Convolution, Dense, HalvingMaxPool, Layer, Relu, train

SEED = 20
HELD_OUT = 360
EPOCHS = 60


@dataclass(frozen=True)
class Digits:
    """Images as [n, 1, 8, 8] between 0 and 1, their digits; the first `HELD_OUT` are never trained on."""

    images: Array
    labels: NDArray[np.int64]

    def held_out(self) -> tuple[Array, NDArray[np.int64]]:
        """The images kept for measuring."""
        return self.images[:HELD_OUT], self.labels[:HELD_OUT]

    def training(self) -> tuple[Array, NDArray[np.int64]]:
        """The images to train and calibrate on."""
        return self.images[HELD_OUT:], self.labels[HELD_OUT:]


def load() -> Digits:
    """All 1,797 images in one seeded order."""
    from sklearn.datasets import load_digits

    raw = load_digits()
    order = np.random.default_rng(SEED).permutation(len(raw.images))
    images = (raw.images[order] / 16.0).astype(np.float32).reshape(-1, 1, 8, 8)
    return Digits(images, np.asarray(raw.target, np.int64)[order])


def layers() -> list[Layer]:
    """Convolution, strided convolution, a depthwise-separable pair, pooling and a dense layer."""
    random = np.random.default_rng(SEED)
    return [
        Convolution(random, 1, 8, 3), Relu(),
        Convolution(random, 8, 16, 3, stride=2), Relu(),
        Convolution(random, 16, 16, 3, depthwise=True), Relu(),
        Convolution(random, 16, 24, 1), Relu(),
        HalvingMaxPool(),
        Dense(random, 96, 10),
    ]  # fmt: skip


def to_onnx(network: list[Layer]) -> onnx.ModelProto:
    """The network as an exporter of a training framework would write it: NCHW, opset 17, softmax at the end."""
    nodes, weights, tensor = [], [], "input"
    for number, layer in enumerate(network):
        result = f"t{number}"
        inputs = [tensor]
        for suffix, values in zip(("weight", "bias"), layer.parameters, strict=False):
            weights.append(numpy_helper.from_array(values, f"layer{number}.{suffix}"))
            inputs.append(weights[-1].name)
        if isinstance(layer, Convolution):
            group = len(layer.parameters[0]) if layer.depthwise else 1
            nodes.append(
                helper.make_node(
                    "Conv", inputs, [result], f"conv{number}", kernel_shape=[layer.kernel] * 2,
                    strides=[layer.stride] * 2, pads=[layer.padding] * 4, group=group,
                )
            )  # fmt: skip
        elif isinstance(layer, Relu):
            nodes.append(helper.make_node("Relu", inputs, [result], f"relu{number}"))
        elif isinstance(layer, HalvingMaxPool):
            pool = helper.make_node("MaxPool", inputs, [result], f"pool{number}", kernel_shape=[2, 2], strides=[2, 2])
            nodes.append(pool)
        else:
            nodes.append(helper.make_node("Flatten", [tensor], ["flat"], "flatten"))
            nodes.append(helper.make_node("Gemm", ["flat", *inputs[1:]], [result], f"dense{number}", transB=1))
        tensor = result
    nodes.append(helper.make_node("Softmax", [tensor], ["output"], "softmax", axis=1))
    graph = helper.make_graph(
        nodes, "digits", [helper.make_tensor_value_info("input", TensorProto.FLOAT, [1, 1, 8, 8])],
        [helper.make_tensor_value_info("output", TensorProto.FLOAT, [1, 10])], weights,
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    return model


def correct(model: onnx.ModelProto, images: Array, labels: NDArray[np.int64]) -> int:
    """Images that ONNX Runtime classifies correctly."""
    running = session(model)
    answers = [int(first_output(running, image[None]).argmax()) for image in images]
    return int((np.array(answers) == labels).sum())


def main() -> None:
    """Train, measure, quantise, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("-o", "--output", type=Path, default=Path(__file__).parent)
    options = parser.parse_args()
    digits = load()
    network = layers()
    train(network, *digits.training(), np.random.default_rng(SEED), EPOCHS)
    images, labels = digits.held_out()
    model = to_onnx(network)
    calibration = [{"input": image[None]} for image in digits.training()[0][:200]]
    small = quantise(model, calibration)
    for name, form in (("digits", model), ("digits_int8", small)):
        save_network(options.output / name, form, {"input": images[:1]}, {"samples": images[:16]})
        print(f"{name}: {correct(form, images, labels)} of {len(images)} held-out images correct")


if __name__ == "__main__":
    main()
