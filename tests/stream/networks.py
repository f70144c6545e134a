"""Networks along time, drawn by seed: convolutions, pools, recurrent layers, residuals; some look ahead."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from graphs import node, onnx_model


class Draw:
    """A network [1, channels, time] that grows node by node."""

    def __init__(self, seed: int, frames: int, *, causal: bool = True) -> None:
        self.draw, self.frames, self.causal = np.random.default_rng(seed), frames, causal
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, object] = {}
        self.channels, self.name, self.stride = 3, "x", 1

    def weights(self, *shape: int) -> str:
        name = f"w{len(self.constants)}"
        self.constants[name] = (self.draw.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)
        return name

    def integers(self, *values: int) -> str:
        name = f"i{len(self.constants)}"
        self.constants[name] = np.array(values, np.int64)
        return name

    def add(self, op: str, inputs: str, **attributes: Any) -> str:
        name = f"t{len(self.nodes)}"
        self.nodes.append(node(op, inputs, name, f"n{len(self.nodes)}", **attributes))
        return name

    def convolution(self, stride: int = 1) -> str:
        """One of any kernel and dilation, padded in front by itself, by a Pad, on both sides with a cut, or not."""
        kernel, dilation = int(self.draw.integers(1, 4)), int(self.draw.integers(1, 4))
        span, wide = (kernel - 1) * dilation, int(self.draw.integers(2, 5))
        w = self.weights(wide, self.channels, kernel)
        common: dict[str, Any] = {"dilations": [dilation], "strides": [stride]}
        how = self.draw.choice(["own", "pad", "chomp"] if self.causal else ["own", "same", "none"])
        if how == "pad" and span:
            padded = self.add("Pad", f"{self.name} {self.integers(0, 0, span, 0, 0, 0)}")
            made = self.add("Conv", f"{padded} {w}", **common)
        elif how == "chomp" and span and stride == 1:
            both = self.add("Conv", f"{self.name} {w}", pads=[span, span], **common)
            made = self.add("Slice", f"{both} {self.integers(0)} {self.integers(-span)} {self.integers(2)}")
        elif how == "same":
            made = self.add("Conv", f"{self.name} {w}", pads=[span // 2, span - span // 2], **common)
        elif how == "none":
            made = self.add("Conv", f"{self.name} {w}", **common)
        else:
            made = self.add("Conv", f"{self.name} {w}", pads=[span, 0], **common)
        self.channels = wide
        return made

    def pool(self) -> str:
        kernel = int(self.draw.integers(2, 4))
        op = str(self.draw.choice(["MaxPool", "AveragePool"]))
        return self.add(op, self.name, kernel_shape=[kernel], pads=[kernel - 1, 0] if self.causal else [0, 0])

    def normalised(self) -> str:
        of = [self.weights(self.channels, 1) for _ in range(3)]
        for each in (*of, positive := self.weights(self.channels, 1)):
            self.constants[each] = np.abs(np.asarray(self.constants[each])).reshape(-1) + 0.5
        return self.add("BatchNormalization", f"{self.name} {of[0]} {of[1]} {of[2]} {positive}")

    def recurrent(self) -> str:
        op = str(self.draw.choice(["LSTM", "GRU"]))
        gates, hidden = {"LSTM": 4, "GRU": 3}[op], 3
        turned = self.add("Transpose", self.name, perm=[2, 0, 1])
        w, r = self.weights(1, gates * hidden, self.channels), self.weights(1, gates * hidden, hidden)
        walked = self.add(op, f"{turned} {w} {r}", hidden_size=hidden)
        flat = self.add("Squeeze", f"{walked} {self.integers(1)}")
        self.channels = hidden
        return self.add("Transpose", flat, perm=[1, 2, 0])

    def residual(self) -> str:
        """A sum of two branches: without padding the frames of the longer way come later."""
        kernel, dilation = int(self.draw.integers(2, 4)), int(self.draw.integers(1, 3))
        span = (kernel - 1) * dilation
        w = self.weights(self.channels, self.channels, kernel)
        if self.causal:
            long = self.add("Conv", f"{self.name} {w}", dilations=[dilation], pads=[span, 0])
        else:
            before = int(self.draw.integers(0, span + 1))
            long = self.add("Conv", f"{self.name} {w}", dilations=[dilation], pads=[before, span - before])
        return self.add("Add", f"{self.add('Relu', long)} {self.name}")

    def grow(self, steps: int, kinds: tuple[str, ...]) -> None:
        for _ in range(steps):
            kind = str(self.draw.choice(kinds))
            if kind == "stride" and self.stride > 2:
                kind = "convolution"
            if kind == "stride":
                self.name, self.stride = self.convolution(2), 2 * self.stride
            elif kind == "Relu":
                self.name = self.add("Relu", self.name)
            else:
                self.name = {
                    "convolution": self.convolution, "pool": self.pool, "normalised": self.normalised,
                    "recurrent": self.recurrent, "residual": self.residual,
                }[kind]()  # fmt: skip

    def model(self) -> onnx.ModelProto:
        return onnx_model(self.nodes, {"x": (1, 3, self.frames)}, [self.name], self.constants)


KINDS = ("convolution", "pool", "normalised", "residual", "Relu", "stride")


def causal(seed: int, frames: int = 48) -> onnx.ModelProto:
    net = Draw(seed, frames)
    net.grow(int(net.draw.integers(2, 6)), (*KINDS, "recurrent"))
    return net.model()


def looking_ahead(seed: int, frames: int = 64) -> onnx.ModelProto:
    net = Draw(seed, frames, causal=False)
    net.grow(int(net.draw.integers(2, 5)), KINDS)
    return net.model()
