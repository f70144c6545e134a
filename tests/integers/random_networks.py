"""Random quantised networks in QDQ form: small, of every operator that has an integer meaning, seeded."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from graphs import node, onnx_model
from onnx import TensorProto

TYPES = {np.int8: TensorProto.INT8, np.uint8: TensorProto.UINT8, np.int16: TensorProto.INT16}


@dataclass(frozen=True)
class Real:
    """A dequantised tensor: name, shape, scale and type of its codes."""

    name: str
    shape: tuple[int, ...]
    scale: float
    zero: int
    dtype: type


Moved = tuple[str, tuple[int, ...]] | None
"""Name and shape of a result; None where the operator does not fit."""


def window(sizes: Sequence[int], kernel: Sequence[int], stride: Sequence[int], pads: Sequence[int]) -> list[int]:
    """Sizes of the result of a window over two axes."""
    axes = zip(sizes, kernel, stride, pads[:2], pads[2:], strict=True)
    return [(n + a + b - k) // s + 1 for n, k, s, a, b in axes]


@dataclass
class Network:
    """A network that grows by one random operator at a time."""

    seed: int
    draw: random.Random = field(init=False)
    numbers: np.random.Generator = field(init=False)
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: dict[str, npt.ArrayLike] = field(default_factory=dict)
    known: list[Real] = field(default_factory=list)
    count: int = 0

    def __post_init__(self) -> None:
        self.draw = random.Random(self.seed)
        self.numbers = np.random.default_rng(self.seed)

    # ------------------------------------------------------------------ pieces
    def name(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def constant(self, stem: str, value: npt.ArrayLike) -> str:
        name = self.name(stem)
        self.constants[name] = value
        return name

    def add(self, op: str, inputs: str, **attributes: Any) -> str:
        output = self.name(op.lower())
        self.nodes.append(node(op, inputs, output, f"node_{output}", **attributes))
        return output

    def scale(self, about: float) -> float:
        """A scale near `about`; now and then a power of two, where ties are frequent."""
        value = about * self.draw.uniform(0.6, 1.7)
        if self.draw.random() < 0.15:
            value = 2.0 ** round(np.log2(value))
        return float(np.float32(value))

    def zero(self, dtype: type) -> int:
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        if dtype is np.int16:
            return 0
        return self.draw.choice([low, 0, self.draw.randint(low, high)]) if low else self.draw.choice([0, 128, 117])

    def quantised(self, real: str, shape: tuple[int, ...], about: float, like: Real | None = None) -> Real:
        """QuantizeLinear and DequantizeLinear behind a tensor."""
        dtype = like.dtype if like else self.draw.choice([np.int8, np.int8, np.int8, np.uint8])
        scale, zero = (like.scale, like.zero) if like else (self.scale(about), self.zero(dtype))
        s, z = self.constant("s", np.float32(scale)), self.constant("z", dtype(zero))
        code = self.add("QuantizeLinear", f"{real} {s} {z}")
        found = Real(self.add("DequantizeLinear", f"{code} {s} {z}"), shape, scale, zero, dtype)
        self.known.append(found)
        return found

    def weights(self, shape: tuple[int, ...], axis: int) -> tuple[str, npt.NDArray[np.float32]]:
        """Dequantised weights and their scales, per tensor or per channel of `axis`."""
        codes = self.numbers.integers(-127, 128, shape).astype(np.int8)
        per_channel = self.draw.random() < 0.6
        size = shape[axis] if per_channel else 1
        scales = self.numbers.uniform(0.002, 0.02, size).astype(np.float32)
        if self.draw.random() < 0.1:
            scales = np.exp2(np.round(np.log2(scales))).astype(np.float32)
        scales = scales if per_channel else scales.reshape(())
        zero = np.zeros(scales.shape, np.int8)
        if not per_channel and self.draw.random() < 0.2:
            zero = np.asarray(self.draw.randint(-20, 20), np.int8)
        names = [self.constant(stem, value) for stem, value in (("w", codes), ("ws", scales), ("wz", zero))]
        return self.add("DequantizeLinear", " ".join(names), axis=axis), scales

    def bias(self, channels: int, unit: npt.NDArray[np.float32]) -> str:
        """Nothing, an int32 bias in units of the accumulator, or a real one."""
        kind = self.draw.choice(["none", "codes", "real"])
        if kind == "none":
            return ""
        codes = self.numbers.integers(-3000, 3000, channels).astype(np.int32)
        spread = np.broadcast_to(unit, (channels,)).astype(np.float32)
        if kind == "real":
            return self.constant("b", (codes * spread * np.float32(1.00037)).astype(np.float32))
        zeros = np.zeros(channels, np.int32)
        names = [self.constant("b", codes), self.constant("bs", spread), self.constant("bz", zeros)]
        return self.add("DequantizeLinear", " ".join(names), axis=0)

    def activated(self, name: str, about: float) -> str:
        """Perhaps an activation that becomes a clamp."""
        kind = self.draw.choice(["", "", "Relu", "Clip"])
        if kind == "Relu":
            return self.add("Relu", name)
        if kind == "Clip":
            low, high = self.constant("low", np.float32(-20 * about)), self.constant("high", np.float32(30 * about))
            return self.add("Clip", f"{name} {low} {high}")
        return name

    def pick(self, rank: int | None = None) -> Real | None:
        """One of the newest tensors."""
        fitting = [real for real in self.known[-6:] if rank is None or len(real.shape) == rank]
        return self.draw.choice(fitting) if fitting else None

    # ------------------------------------------------------------------ operators
    def conv(self) -> bool:
        x = self.pick(4)
        if x is None:
            return False
        channels, (h, w) = x.shape[1], x.shape[2:]
        kernel = [self.draw.choice([k for k in (1, 2, 3) if k <= size + 2]) for size in (h, w)]
        pads = [self.draw.randint(0, k // 2) for k in (*kernel, *kernel)]
        stride = [self.draw.choice([1, 1, 2]) for _ in kernel]
        outs = window((h, w), kernel, stride, pads)
        if min(outs) < 1:
            return False
        depthwise = self.draw.random() < 0.3
        outputs = channels * self.draw.choice([1, 1, 2]) if depthwise else self.draw.choice([1, 3, 4, 5, 8])
        group = channels if depthwise else 1
        weights, scales = self.weights((outputs, channels // group, *kernel), 0)
        bias = self.bias(outputs, np.float32(x.scale) * scales)
        about = float(x.scale * np.mean(scales) * 60 * 75 * (channels // group * prod(kernel)) ** 0.5) / 60
        name = self.add("Conv", f"{x.name} {weights} {bias}".strip(), pads=pads, strides=stride, group=group)
        self.quantised(self.activated(name, about), (x.shape[0], outputs, *outs), about)
        return True

    def conv_transpose(self) -> bool:
        x = self.pick(4)
        if x is None or prod(x.shape[2:]) > 40:
            return False
        outputs, kernel, stride = self.draw.choice([1, 2, 3]), self.draw.choice([2, 3]), self.draw.choice([1, 2])
        weights, scales = self.weights((x.shape[1], outputs, kernel, kernel), 1)
        bias = self.bias(outputs, np.float32(x.scale) * scales)
        pad = self.draw.randint(0, 1)
        outs = [(size - 1) * stride + kernel - 2 * pad for size in x.shape[2:]]
        if min(outs) < 1:
            return False
        about = float(x.scale * np.mean(scales) * 75 * (x.shape[1] * kernel) ** 0.5)
        name = self.add(
            "ConvTranspose", f"{x.name} {weights} {bias}".strip(), pads=[pad] * 4, strides=[stride] * 2,
        )  # fmt: skip
        self.quantised(name, (x.shape[0], outputs, *outs), about)
        return True

    def dense(self) -> bool:
        x = self.pick()
        if x is None or len(x.shape) < 2:
            return False
        if len(x.shape) > 3 or self.draw.random() < 0.3:
            flat = self.constant("shape", np.asarray([x.shape[0], -1]))
            x = Real(self.add("Reshape", f"{x.name} {flat}"), (x.shape[0], prod(x.shape[1:])), x.scale, x.zero, x.dtype)
        depth, columns = x.shape[-1], self.draw.choice([1, 4, 7])
        gemm = len(x.shape) == 2 and self.draw.random() < 0.5
        turned = int(gemm and self.draw.random() < 0.5)
        weights, scales = self.weights((columns, depth) if turned else (depth, columns), 0 if turned else 1)
        bias = self.bias(columns, np.float32(x.scale) * scales)
        about = float(x.scale * np.mean(scales) * 75 * depth**0.5)
        if gemm:
            name = self.add("Gemm", f"{x.name} {weights} {bias}".strip(), transB=turned)
        else:
            name = self.add("MatMul", f"{x.name} {weights}")
            name = self.add("Add", f"{name} {bias}") if bias else name
        self.quantised(self.activated(name, about), (*x.shape[:-1], columns), about)
        return True

    def pool(self) -> bool:
        x = self.pick(4)
        if x is None or min(x.shape[2:]) < 2:
            return False
        kind = self.draw.choice(["MaxPool", "AveragePool", "GlobalAveragePool", "ReduceMean"])
        if kind == "GlobalAveragePool":
            self.quantised(self.add(kind, x.name), (*x.shape[:2], 1, 1), x.scale * 0.6)
            return True
        if kind == "ReduceMean":
            keep = self.draw.randint(0, 1)
            name = self.add(kind, x.name, axes=[2, 3], keepdims=keep)
            self.quantised(name, (*x.shape[:2], *((1, 1) if keep else ())), x.scale * 0.6)
            return True
        kernel = [self.draw.choice([2, 3]) if size > 2 else 2 for size in x.shape[2:]]
        pads = [self.draw.randint(0, 1) for _ in range(4)]
        stride = [self.draw.choice([1, 2]) for _ in kernel]
        outs = window(x.shape[2:], kernel, stride, pads)
        more = {} if kind == "MaxPool" else {"count_include_pad": self.draw.randint(0, 1)}
        name = self.add(kind, x.name, kernel_shape=kernel, pads=pads, strides=stride, **more)
        like = x if self.draw.random() < 0.6 else None
        self.quantised(name, (*x.shape[:2], *outs), x.scale, like)
        return True

    def pair(self) -> bool:
        a = self.pick()
        if a is None:
            return False
        b = self.draw.choice([real for real in self.known if real.shape == a.shape])
        op = self.draw.choice(["Add", "Add", "Sub", "Mul", "Max", "Min"])
        about = a.scale * b.scale * 60 if op == "Mul" else max(a.scale, b.scale)
        if self.draw.random() < 0.2:
            right = self.constant("c", np.float32(self.draw.uniform(-2, 2)))
        else:
            right = b.name
        self.quantised(self.activated(self.add(op, f"{a.name} {right}"), about), a.shape, about)
        return True

    def function(self) -> bool:
        x = self.pick()
        if x is None:
            return False
        op, about = self.draw.choice([
            ("Relu", x.scale), ("LeakyRelu", x.scale), ("Sigmoid", 1 / 256), ("Tanh", 1 / 128), ("HardSwish", x.scale),
            ("HardSigmoid", 1 / 256), ("Elu", x.scale), ("swish", x.scale), ("Softmax", 1 / 256),
        ])  # fmt: skip
        if op == "swish":
            name = self.add("Mul", f"{x.name} {self.add('Sigmoid', x.name)}")
        else:
            name = self.add(op, x.name)
        self.quantised(name, x.shape, about)
        return True

    def interpolated(self) -> bool:
        x = self.pick(4)
        if x is None or prod(x.shape) > 300:
            return False
        sizes = [x.shape[0], x.shape[1], *(size * self.draw.choice([1, 2]) for size in x.shape[2:])]
        mode = self.draw.choice(["linear", "linear", "cubic"])
        name = self.add("Resize", f"{x.name} - - {self.constant('sizes', np.asarray(sizes))}", mode=mode,
                        coordinate_transformation_mode=self.draw.choice(["half_pixel", "asymmetric"]))  # fmt: skip
        self.quantised(name, tuple(sizes), x.scale, x if self.draw.random() < 0.6 else None)
        return True

    def move(self) -> bool:
        x = self.pick()
        if x is None:
            return False
        found = self.draw.choice([self.reordered, self.cut, self.joined, self.grown, self.split])(x)
        if found is None:
            return False
        name, shape = found
        if self.draw.random() < 0.3:
            self.known.append(Real(name, shape, x.scale, x.zero, x.dtype))
        else:
            self.quantised(name, shape, x.scale, x if self.draw.random() < 0.7 else None)
        return True

    def reordered(self, x: Real) -> Moved:
        rank = len(x.shape)
        if self.draw.random() < 0.5:
            perm = self.draw.sample(range(rank), rank)
            return self.add("Transpose", x.name, perm=perm), tuple(x.shape[axis] for axis in perm)
        shape = (x.shape[0], prod(x.shape[1:])) if rank > 2 else (x.shape[0], 1, *x.shape[1:])
        return self.add("Reshape", f"{x.name} {self.constant('shape', np.asarray(shape))}"), shape

    def cut(self, x: Real) -> Moved:
        axis = self.draw.randrange(len(x.shape))
        if x.shape[axis] < 2:
            return None
        names = [self.constant("i", np.asarray([v])) for v in (1, x.shape[axis], axis)]
        shape = tuple(size - (index == axis) for index, size in enumerate(x.shape))
        return self.add("Slice", f"{x.name} {' '.join(names)}"), shape

    def joined(self, x: Real) -> Moved:
        if prod(x.shape) > 600:
            return None
        axis = self.draw.randrange(1, len(x.shape)) if len(x.shape) > 1 else 0
        other = self.draw.choice([real for real in self.known if real.shape == x.shape])
        shape = tuple(size * (1 + (index == axis)) for index, size in enumerate(x.shape))
        return self.add("Concat", f"{x.name} {other.name}", axis=axis), shape

    def grown(self, x: Real) -> Moved:
        rank = len(x.shape)
        if rank == 4 and prod(x.shape) <= 300 and self.draw.random() < 0.5:
            scales = self.constant("scales", np.asarray([1, 1, 2, 2], np.float32))
            name = self.add("Resize", f"{x.name} - {scales}", mode="nearest", nearest_mode="floor",
                            coordinate_transformation_mode="asymmetric")  # fmt: skip
            return name, (*x.shape[:2], x.shape[2] * 2, x.shape[3] * 2)
        amounts = [self.draw.randint(0, 1) for _ in range(2 * rank)]
        name = self.add("Pad", f"{x.name} {self.constant('pads', np.asarray(amounts))}")
        return name, tuple(n + a + b for n, a, b in zip(x.shape, amounts[:rank], amounts[rank:], strict=True))

    def split(self, x: Real) -> Moved:
        if len(x.shape) < 2 or x.shape[1] % 2:
            return None
        first, second = self.name("split"), self.name("split")
        self.nodes.append(node("Split", x.name, f"{first} {second}", f"node_{first}", axis=1))
        shape = (x.shape[0], x.shape[1] // 2, *x.shape[2:])
        self.quantised(first, shape, x.scale, x)
        return second, shape


def random_network(seed: int, size: int = 6) -> onnx.ModelProto:
    """A network of about `size` operators; the same seed gives the same network."""
    net = Network(seed)
    shape = (1, net.draw.choice([1, 2, 3, 4, 8]), net.draw.randint(3, 8), net.draw.randint(3, 8))
    net.quantised("x", shape, 0.03)
    steps: list[Callable[[], bool]] = [
        net.conv, net.conv, net.conv, net.dense, net.pool, net.pair, net.pair, net.function, net.move, net.move,
        net.conv_transpose, net.interpolated,
    ]  # fmt: skip
    done = tries = 0
    while done < size and tries < 5 * size:
        tries += 1
        done += net.draw.choice(steps)()
    read = {name for each in net.nodes for name in each.input}
    outputs = [each.output[0] for each in net.nodes if not set(each.output) & read][-3:]
    proto = onnx_model(net.nodes, {"x": shape}, outputs, net.constants, opset=17)
    return proto
