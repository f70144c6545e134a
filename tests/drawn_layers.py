"""Networks of drawn convolutions and dense layers of codes that an accelerator takes: unconnected, so one image runs
them all."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

Kinds = ("one", "three", "apart", "dense")


@dataclass(frozen=True)
class Drawn:
    """One layer: inputs [rows, columns, channels], `bits` of its weights; `unsigned` codes in and out."""

    kind: str
    rows: int
    columns: int
    ins: int
    outs: int
    stride: int
    pads: tuple[int, int, int, int]
    bits: int
    zero: int
    unsigned: bool
    seed: int

    @property
    def taps(self) -> int:
        """Taps along each axis."""
        return 3 if self.kind in ("three", "apart") else 1


def draw(rng: np.random.Generator, seed: int) -> Drawn:
    """Sizes around multiples of six, channels around 28 and 32, all kinds of padding."""
    kind = Kinds[rng.choice(4, p=[0.3, 0.35, 0.25, 0.1])]
    rows, columns = (int(rng.choice([2, 3, 5, 6, 7, 8, 11, 12, 13])) for _ in range(2))
    ins = int(rng.choice([1, 3, 8, 16, 27, 28, 29, 32, 33, 40, 57]))
    outs = int(rng.choice([1, 4, 5, 16, 31, 32, 33, 48]))
    if kind == "apart":
        ins = outs = int(rng.choice([4, 7, 27, 28, 29, 32, 56, 60]))
    padded = kind in ("three", "apart")
    top, left, bottom, right = (int(pad) for pad in rng.integers(0, 2, 4)) if padded else (0, 0, 0, 0)
    rows, columns = max(rows, 3 - top - bottom), max(columns, 3 - left - right)
    unsigned = bool(rng.integers(2))
    low, high = (0, 256) if unsigned else (-128, 128)
    zero = int(rng.choice([low, 0, high - 1, int(rng.integers(low, high))]))
    stride = 1 if kind == "dense" else int(rng.choice([1, 1, 2]))
    bits = int(rng.choice([8, 8, 4, 2, 6]))
    return Drawn(kind, rows, columns, ins, outs, stride, (top, left, bottom, right), bits, zero, unsigned, seed)


def network(layers: list[Drawn], path: Path) -> Path:
    """All layers side by side."""
    return _saved(layers, path, chained=False)


def chain(layers: list[Drawn], path: Path) -> Path:
    """Every layer behind the one before, whose codes it reads."""
    return _saved(layers, path, chained=True)


def _saved(layers: list[Drawn], path: Path, *, chained: bool) -> Path:
    nodes: list[onnx.NodeProto] = []
    held: list[onnx.TensorProto] = []
    given: list[onnx.ValueInfoProto] = []
    made: list[onnx.ValueInfoProto] = []
    for number, layer in enumerate(layers):
        node, constants, shapes = _layer(layer, number)
        nodes.append(node)
        held += constants
        kind = TensorProto.UINT8 if layer.unsigned else TensorProto.INT8
        if chained and number:
            node.input[:3] = [f"{name}{number - 1}" for name in ("y", "ys", "yz")]
            made.clear()
            held = [one for one in held if one.name not in (f"xs{number}", f"xz{number}")]
            made.append(helper.make_tensor_value_info(f"y{number}", kind, shapes[1]))
            continue
        given.append(helper.make_tensor_value_info(f"x{number}", kind, shapes[0]))
        made.append(helper.make_tensor_value_info(f"y{number}", kind, shapes[1]))
    graph = helper.make_graph(nodes, "drawn", given, made, held)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), str(path))
    return path


def _layer(layer: Drawn, n: int) -> tuple[onnx.NodeProto, list[onnx.TensorProto], tuple[list[int], list[int]]]:
    rng = np.random.default_rng(layer.seed)
    codes = np.uint8 if layer.unsigned else np.int8
    depth = 1 if layer.kind == "apart" else layer.ins
    half = 1 << layer.bits - 1
    spread = 0.02 * 0.01 * half * 40 * (depth * layer.taps**2) ** 0.5 / 64
    scales = (0.01 * rng.uniform(0.3, 1, layer.outs)).astype(np.float32)
    numbers: dict[str, Any] = {
        "xs": np.float32(0.02), "xz": codes(layer.zero), "ws": scales, "wz": np.zeros(layer.outs, np.int8),
        "ys": np.float32(spread), "yz": codes(rng.integers(0, 100)),
    }  # fmt: skip
    if layer.kind == "dense":
        weights = rng.integers(-half, half, (layer.ins, layer.outs)).astype(np.int8)
        names = [f"{name}{n}" for name in ("x", "xs", "xz", "w", "ws", "wz", "ys", "yz")]
        node = helper.make_node("QLinearMatMul", names, [f"y{n}"], name=f"layer{n}")
        shapes = [layer.rows, layer.ins], [layer.rows, layer.outs]
    else:
        weights = rng.integers(-half, half, (layer.outs, depth, layer.taps, layer.taps)).astype(np.int8)
        numbers["b"] = rng.integers(-2000, 2000, layer.outs).astype(np.int32)
        names = [f"{name}{n}" for name in ("x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b")]
        node = helper.make_node(
            "QLinearConv", names, [f"y{n}"], name=f"layer{n}", kernel_shape=[layer.taps] * 2, pads=list(layer.pads),
            strides=[layer.stride] * 2, group=layer.outs if layer.kind == "apart" else 1,
        )  # fmt: skip
        top, left, bottom, right = layer.pads
        out = [
            (size + pads - layer.taps) // layer.stride + 1
            for size, pads in ((layer.rows, top + bottom), (layer.columns, left + right))
        ]
        shapes = [1, layer.ins, layer.rows, layer.columns], [1, layer.outs, *out]
    numbers["w"] = weights
    return node, [numpy_helper.from_array(np.asarray(v), f"{name}{n}") for name, v in numbers.items()], shapes
