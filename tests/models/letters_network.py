"""A small decoder that writes one character after the other: its sizes, its weights by name, and its step as ONNX.

Root mean square normalisation, rotary embedding of neighbouring pairs, grouped queries, SiLU gates, one table for
embedding and classifier: the parts of the networks of this kind. Caches of keys and values are inputs and outputs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

Array = NDArray[np.float32]
VOCABULARY = "\n" + "".join(chr(code) for code in range(32, 127))
EPSILON = 1e-5


@dataclass(frozen=True)
class Sizes:
    """Widths of the decoder, and how many positions its caches hold."""

    width: int = 64
    layers: int = 2
    heads: int = 4
    key_heads: int = 2
    hidden: int = 96
    positions: int = 128

    @property
    def depth(self) -> int:
        """Elements of a head."""
        return self.width // self.heads


def angles(sizes: Sizes) -> tuple[Array, Array]:
    """Cosines and sines as [position, pair]."""
    pairs = np.arange(sizes.depth // 2)
    turns = np.arange(sizes.positions)[:, None] / 10000.0 ** (2 * pairs / sizes.depth)
    return np.cos(turns).astype(np.float32), np.sin(turns).astype(np.float32)


def shapes(sizes: Sizes) -> dict[str, tuple[int, ...]]:
    """Every array of weights by name; products are x @ w."""
    width, keys = sizes.width, sizes.key_heads * sizes.depth
    found: dict[str, tuple[int, ...]] = {"table": (len(VOCABULARY), width), "norm": (width,)}
    for layer in range(sizes.layers):
        found |= {
            f"{layer}.norm_attention": (width,), f"{layer}.q": (width, width), f"{layer}.k": (width, keys),
            f"{layer}.v": (width, keys), f"{layer}.o": (width, width), f"{layer}.norm_gates": (width,),
            f"{layer}.gate": (width, sizes.hidden), f"{layer}.up": (width, sizes.hidden),
            f"{layer}.down": (sizes.hidden, width),
        }  # fmt: skip
    return found


@dataclass
class _Drawing:
    """The graph as it is drawn."""

    sizes: Sizes
    weights: dict[str, Array]
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)
    inputs: list[onnx.ValueInfoProto] = field(default_factory=list)
    outputs: list[onnx.ValueInfoProto] = field(default_factory=list)

    def constant(self, name: str, values: object, dtype: type[np.generic] = np.int64) -> str:
        """A constant of this name, made once."""
        if all(one.name != name for one in self.constants):
            array = np.array(values, dtype, order="C")
            self.constants.append(numpy_helper.from_array(array, name))
        return name

    def weight(self, name: str) -> str:
        """An array of weights."""
        return self.constant(name, self.weights[name], np.float32)

    def op(self, kind: str, inputs: list[str], result: str, **attributes: Any) -> str:
        """One node with one result, which names it."""
        self.nodes.append(helper.make_node(kind, inputs, [result], result, **attributes))
        return result

    def norm(self, x: str, weight: str, result: str) -> str:
        """Root mean square normalisation."""
        return self.op("RMSNormalization", [x, self.weight(weight)], result, axis=-1, epsilon=EPSILON)

    def rotated(self, x: str, heads: int) -> str:
        """Neighbouring pairs of every head, turned by the angles of the position: [1, heads, 1, depth]."""
        half = self.sizes.depth // 2
        pairs = self.constant(f"pairs{heads}", [1, heads, 1, half, 2])
        whole = self.constant(f"heads{heads}", [1, heads, 1, self.sizes.depth])
        self.op("Reshape", [x, pairs], f"{x}_pairs")
        for place, part in enumerate(("first", "second")):
            self.op("Gather", [f"{x}_pairs", self.constant(f"place{place}", place)], f"{x}_{part}", axis=4)
        self.op("Mul", [f"{x}_first", "cosine"], f"{x}_fc")
        self.op("Mul", [f"{x}_second", "sine"], f"{x}_ss")
        self.op("Sub", [f"{x}_fc", f"{x}_ss"], f"{x}_real")
        self.op("Mul", [f"{x}_first", "sine"], f"{x}_fs")
        self.op("Mul", [f"{x}_second", "cosine"], f"{x}_sc")
        self.op("Add", [f"{x}_fs", f"{x}_sc"], f"{x}_imaginary")
        axis = self.constant("axis4", [4])
        for part in ("real", "imaginary"):
            self.op("Unsqueeze", [f"{x}_{part}", axis], f"{x}_{part}5")
        self.op("Concat", [f"{x}_real5", f"{x}_imaginary5"], f"{x}_joined", axis=4)
        return self.op("Reshape", [f"{x}_joined", whole], f"{x}_rotated")

    def cached(self, name: str, new: str) -> str:
        """The cache with this position's row in it."""
        shape = [1, self.sizes.key_heads, self.sizes.positions, self.sizes.depth]
        self.inputs.append(helper.make_tensor_value_info(f"past_{name}", TensorProto.FLOAT, shape))
        self.outputs.append(helper.make_tensor_value_info(f"present_{name}", TensorProto.FLOAT, shape))
        return self.op("TensorScatter", [f"past_{name}", new, "pos"], f"present_{name}", axis=2)

    def attention(self, x: str, layer: int) -> str:
        """Scores over the filled rows, their softmax, and what it mixes."""
        sizes, at = self.sizes, f"l{layer}_"
        h = self.norm(x, f"{layer}.norm_attention", f"{at}normal")
        for part in "qkv":
            self.op("MatMul", [h, self.weight(f"{layer}.{part}")], at + part)
        q, k = self.rotated(f"{at}q", sizes.heads), self.rotated(f"{at}k", sizes.key_heads)
        row = self.constant(f"heads{sizes.key_heads}", [1, sizes.key_heads, 1, sizes.depth])
        v = self.op("Reshape", [f"{at}v", row], f"{at}v_row")
        keys, values = self.cached(f"{at}k", k), self.cached(f"{at}v", v)
        group = self.constant("group", [1, sizes.key_heads, sizes.heads // sizes.key_heads, sizes.depth])
        self.op("Reshape", [q, group], f"{at}q_group")
        self.op("Transpose", [keys], f"{at}keys_turned", perm=[0, 1, 3, 2])
        self.op("MatMul", [f"{at}q_group", f"{at}keys_turned"], f"{at}products")
        self.op("Mul", [f"{at}products", self.constant("scale", sizes.depth**-0.5, np.float32)], f"{at}scaled")
        self.op("Add", [f"{at}scaled", "bias"], f"{at}scores")
        self.op("Softmax", [f"{at}scores"], f"{at}shares", axis=-1)
        self.op("MatMul", [f"{at}shares", values], f"{at}mixed")
        self.op("Reshape", [f"{at}mixed", self.constant("row", [1, sizes.width])], f"{at}mixed_row")
        self.op("MatMul", [f"{at}mixed_row", self.weight(f"{layer}.o")], f"{at}attended")
        return self.op("Add", [x, f"{at}attended"], f"{at}x")

    def gates(self, x: str, layer: int) -> str:
        """The feed-forward part: down(silu(gate) * up)."""
        at = f"l{layer}_"
        h = self.norm(x, f"{layer}.norm_gates", f"{at}normal2")
        self.op("MatMul", [h, self.weight(f"{layer}.gate")], f"{at}gate")
        self.op("Sigmoid", [f"{at}gate"], f"{at}open")
        self.op("Mul", [f"{at}gate", f"{at}open"], f"{at}silu")
        self.op("MatMul", [h, self.weight(f"{layer}.up")], f"{at}up")
        self.op("Mul", [f"{at}silu", f"{at}up"], f"{at}gated")
        self.op("MatMul", [f"{at}gated", self.weight(f"{layer}.down")], f"{at}down")
        return self.op("Add", [x, f"{at}down"], f"{at}y")


def step(sizes: Sizes, weights: dict[str, Array], name: str) -> onnx.ModelProto:
    """One token's step: token and position in, scores of the next token and the caches out."""
    graph = _Drawing(sizes, weights)
    for given in ("token", "pos"):
        graph.inputs.append(helper.make_tensor_value_info(given, TensorProto.INT64, [1]))
    graph.outputs.append(helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, len(VOCABULARY)]))
    for part, values in zip(("cosine", "sine"), angles(sizes), strict=True):
        graph.op("Gather", [graph.constant(f"{part}s", values, np.float32), "pos"], f"{part}_row", axis=0)
        shape = graph.constant("angle_shape", [1, 1, 1, sizes.depth // 2])
        graph.op("Reshape", [f"{part}_row", shape], part)
    graph.op("LessOrEqual", [graph.constant("count", np.arange(sizes.positions)), "pos"], "seen")
    shown, hidden = graph.constant("shown", 0.0, np.float32), graph.constant("hidden", -1e9, np.float32)
    graph.op("Where", ["seen", shown, hidden], "bias")
    x = graph.op("Gather", [graph.weight("table"), "token"], "x", axis=0)
    for layer in range(sizes.layers):
        x = graph.gates(graph.attention(x, layer), layer)
    x = graph.norm(x, "norm", "last")
    graph.op("Transpose", ["table"], "classifier", perm=[1, 0])
    graph.op("MatMul", [x, "classifier"], "logits")
    drawn = helper.make_graph(graph.nodes, name, graph.inputs, graph.outputs, graph.constants)
    model = helper.make_model(drawn, opset_imports=[helper.make_opsetid("", 24)], ir_version=11)
    onnx.checker.check_model(model, full_check=True)
    return model
