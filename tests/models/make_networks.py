"""Networks with the layers and shapes of the four MLPerf Tiny networks, with seeded weights instead of trained ones.

    python tests/models/make_networks.py                   write the committed folders anew
    python tests/models/make_networks.py vww -o FOLDER     write one network to FOLDER/vww

`resnet8`, `dscnn`, `vww` (MobileNetV1-0.25) and `ad` (deep autoencoder) in float32, and `NAME_int8` in QDQ form.
Float networks come out the same on every machine; ONNX Runtime's measured ranges may differ in the last bit, so the
quantised ones are committed.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import tempfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from growing import Growing
from network_files import Arrays, save_network, session
from numpy.typing import NDArray
from quantise import codes_in_use, quantise

COMMITTED = ("dscnn", "resnet8_int8", "dscnn_int8", "vww_int8", "ad_int8")
GROWN_ON = 24
CALIBRATED_ON = 48


@dataclass(frozen=True)
class Network:
    """A network's inputs, as [*shape] between `low` and `high`, and the function that adds its layers.

    `grain` is the edge of the squares of one colour below the noise, so that inputs have structure as images do.
    """

    shape: tuple[int, ...]
    low: float
    high: float
    grain: tuple[int, ...]
    layers: Callable[[Growing], None]
    spread: float = 1.0


def resnet8(net: Growing) -> None:
    """32 x 32 x 3 to 10 classes."""
    net.transpose_to_channels_first()
    net.convolution(16, (3, 3))
    net.relu()
    for channels, stride in ((16, 1), (32, 2), (64, 2)):
        shortcut, kept = net.end, net.values
        if stride == 2:
            begin, values = net.end, net.values
            shortcut, kept = net.convolution(channels, (1, 1), (2, 2)), net.values
            net.end, net.values = begin, values
        net.convolution(channels, (3, 3), (stride, stride))
        net.relu()
        net.convolution(channels, (3, 3), means=4.0 if channels == 64 else 0.25)
        net.add(shortcut, kept)
        net.relu()
    net.average_everything()
    net.reshape(64)
    net.dense(10)
    net.softmax()


def dscnn(net: Growing) -> None:
    """49 x 10 spectrogram to 12 keywords."""
    net.reshape(1, 49, 10)
    net.convolution(64, (10, 4), (2, 2))
    net.relu()
    for means in (0.25, 0.25, 0.25, 5.0):
        net.convolution(64, (3, 3), depthwise=True)
        net.relu()
        net.convolution(64, (1, 1), means=means)
        net.relu()
    net.average_everything()
    net.reshape(64)
    net.dense(12)
    net.softmax()


def vww(net: Growing) -> None:
    """96 x 96 x 3 to person or not."""
    net.transpose_to_channels_first()
    net.convolution(8, (3, 3), (2, 2))
    net.relu()
    blocks = [(16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2), *[(128, 1)] * 5, (256, 2), (256, 1)]
    for number, (channels, stride) in enumerate(blocks, 1):
        net.convolution(net.values.shape[1], (3, 3), (stride, stride), depthwise=True)
        net.relu()
        net.convolution(channels, (1, 1), means=4.0 if number == len(blocks) else 0.25)
        net.relu()
    net.average_everything()
    net.reshape(256)
    net.dense(2)
    net.softmax()


def ad(net: Growing) -> None:
    """640 spectral values through a bottleneck of 8 and back."""
    for width in (128, 128, 128, 128, 8, 128, 128, 128, 128):
        net.dense(width)
        net.relu()
    net.dense(640)


NETWORKS = {
    "resnet8": Network((32, 32, 3), 0, 255, (8, 8, 1), resnet8),
    "dscnn": Network((49, 10, 1), -2, 2, (7, 5, 1), dscnn),
    "vww": Network((96, 96, 3), 0, 1, (16, 16, 1), vww),
    "ad": Network((640,), -1, 1, (20,), ad, spread=4.0),
}


def samples(name: str, count: int) -> NDArray[np.float32]:
    """Seeded inputs [count, *shape]: squares of one colour under noise, in 1/256 of the range."""
    network = NETWORKS[name]
    random = np.random.default_rng(zlib.crc32(f"{name} inputs".encode()))
    edges = [-(-size // grain) for size, grain in zip(network.shape, network.grain, strict=True)]
    result = np.empty((count, *network.shape), np.float32)
    for image in result:
        squares = np.kron(random.integers(0, 192, edges), np.ones(network.grain, np.int64))
        codes = squares[tuple(slice(0, size) for size in network.shape)] + random.integers(0, 64, network.shape)
        image[...] = network.low + codes / 256 * (network.high - network.low)
    return result


def grow(name: str) -> onnx.ModelProto:
    """The float network."""
    network = NETWORKS[name]
    net = Growing(name, samples(name, GROWN_ON), network.spread)
    network.layers(net)
    return net.finish()


def digest(model: onnx.ModelProto) -> str:
    """SHA-256 over operators and constants; independent of how protobuf orders its fields."""
    total = hashlib.sha256()
    for node in model.graph.node:
        total.update(node.op_type.encode())
    for tensor in model.graph.initializer:
        total.update(onnx.numpy_helper.to_array(tensor).tobytes())
    return total.hexdigest()


def spreads(model: onnx.ModelProto, inputs: Sequence[Arrays]) -> dict[str, tuple[float, float]]:
    """For each tensor: its standard deviation, and the share of it that tells one input from another."""
    shown = onnx.ModelProto()
    shown.CopyFrom(model)
    names = [node.output[0] for node in model.graph.node if node.op_type != "Softmax"]
    final = {output.name for output in model.graph.output}
    shown.graph.output.extend(
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in names if name not in final
    )
    running = session(shown)
    rows = [running.run(names, sample) for sample in inputs]
    result = {}
    for index, name in enumerate(names):
        stacked = np.stack([row[index] for row in rows]).astype(np.float64)
        result[name] = (float(stacked.std()), float(stacked.std(0).mean() / stacked.std()))
    return result


def answers(model: onnx.ModelProto, inputs: Sequence[Arrays]) -> set[int]:
    """The classes (or largest elements) that a model gives."""
    running = session(model)
    return {int(running.run(None, sample)[0].argmax()) for sample in inputs}


def write(name: str, folder: Path) -> None:
    """One network's folder, complete or not at all."""
    base = name.removesuffix("_int8")
    model = grow(base)
    if base != name:
        model = quantise(model, [{"input": value[None]} for value in samples(base, CALIBRATED_ON)])
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        save_network(Path(temporary) / name, model, {"input": samples(base, 1)})
        shutil.rmtree(folder, ignore_errors=True)
        try:
            os.replace(Path(temporary) / name, folder)
        except OSError:
            if not (folder / "model.onnx").exists():  # else another process wrote the same network first
                raise


def report(name: str) -> None:
    """Print what keeps a network honest: spread, codes in use, different answers."""
    base = name.removesuffix("_int8")
    model = onnx.load(str(Path(__file__).parent / name / "model.onnx")) if name != base else grow(base)
    inputs = [{"input": value[None]} for value in samples(base, 160)]
    if name == base:
        measured = spreads(model, inputs[:32])
        print(f"{name}: standard deviation {min(s for s, _ in measured.values()):.2f} to "
              f"{max(s for s, _ in measured.values()):.2f}, share between inputs at least "
              f"{min(v for _, v in measured.values()):.2f}, digest {digest(model)[:16]}")  # fmt: skip
    else:
        print(f"{name}: at least {min(codes_in_use(model, inputs).values())} of 256 codes")
    print(f"{name}: {len(answers(model, inputs))} different answers")


def main() -> None:
    """Write one network, or all committed ones."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("name", nargs="*", help=f"{', '.join(NETWORKS)}, or one of these with _int8")
    parser.add_argument("-o", "--output", type=Path, default=Path(__file__).parent)
    options = parser.parse_args()
    for name in options.name:
        if name.removesuffix("_int8") not in NETWORKS:
            parser.error(f"no network is called '{name}'")
    for name in options.name or COMMITTED:
        write(name, options.output / name)
    if not options.name:
        for name in NETWORKS:
            report(name)
            report(f"{name}_int8")


if __name__ == "__main__":
    main()
