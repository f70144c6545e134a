"""Layers whose weights stay as they are and learn the product of two thin matrices beside them.

Hu et al., LoRA: Low-Rank Adaptation of Large Language Models (2021): y = x W + (x A) B, A drawn, B zero at first, so
that the network begins as it is. A convolution has one of its own windows with few results, and a pointwise one behind.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

import numpy as np

from tilewright.errors import UsageError
from tilewright.gradient.network import Network
from tilewright.model import Array, DType, Model, Node, Tensor
from tilewright.ops.codes import Products
from tilewright.ops.registry import find

WORD = "lora"
MOST = 256


@dataclass(frozen=True)
class _Layer:
    """What stands beside a layer: the operator of both products, the shapes of their weights, and how many products
    a sum of the first has."""

    op: str
    down: tuple[int, ...]
    up: tuple[int, ...]
    depth: int


def rank_of(wish: str) -> int | None:
    """The rank that `lora:4` asks for; None for other words. UsageError for one that is no rank."""
    word, _, text = wish.partition(":")
    if word != WORD:
        return None
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= MOST):
        raise UsageError(f"--update {wish}", why=f"a rank is 1 to {MOST}", fix=f"write for example {WORD}:4")
    return int(text)


def with_low_rank(model: Model, rank: int) -> tuple[Model, tuple[str, ...]]:
    """The network with both matrices beside every layer whose weights are larger than they, and their names in order.

    UsageError where no layer is.
    """
    network = Network(model)
    nodes, network.nodes = network.nodes, []
    names: list[str] = []
    for node in nodes:
        layer = _layer(network, node, rank)
        if layer is None:
            network.nodes.append(node)
        else:
            names += _beside(network, node, layer)
    if not names:
        raise UsageError(
            f"--update {WORD}:{rank}", why=f"no layer has weights of more than {rank} inputs and outputs",
            fix="use a smaller rank, or all",
        )  # fmt: skip
    return network.model(model.name), tuple(names)


def _layer(network: Network, node: Node, rank: int) -> _Layer | None:
    """The products beside a node; None where it has no constant weights, or ones that are hardly larger."""
    operator = find(node.op, node.domain)
    if operator is None or operator.descent is None or node.inputs[1] not in network.constants:
        return None
    codes, weights = operator.codes_of(node), network.tensor(node.inputs[1])
    shape = weights.shape
    if not isinstance(codes, Products) or len(shape) < 2 or weights.dtype is not DType.F32:
        return None
    outputs, depth = shape[codes.weight_axis(node, len(shape))], codes.depth(node, shape)
    plain = all(
        node.attributes.get(name, usual) == usual for name, usual in (("group", 1), ("transA", 0), ("alpha", 1.0))
    )
    if not plain or min(outputs, depth) <= rank:
        return None
    if operator.window is not None:
        return _Layer(node.op, (rank, *shape[1:]), (outputs, rank, *(1 for _ in shape[2:])), depth)
    return _Layer("MatMul", (depth, rank), (rank, outputs), depth) if len(shape) == 2 else None


def _beside(network: Network, node: Node, layer: _Layer) -> tuple[str, str]:
    """The node with its products added to the network, and the names of their weights."""
    (result,) = node.outputs
    whole = network.fresh(f"{result}/frozen")
    network.tensors[whole] = replace(network.tensor(result), name=whole)
    network.nodes.append(replace(node, outputs=(whole,)))
    weights = node.inputs[1]
    a = _constant(network, f"{weights}/lora_a", _drawn(weights, layer))
    b = _constant(network, f"{weights}/lora_b", np.zeros(layer.up, np.float32))
    thin = network.append(layer.op, (node.inputs[0], a), node.attributes if layer.op == node.op else None)
    added = network.append(layer.op, (thin, b))
    network.nodes.append(Node(f"{node.name}/lora", "Add", (whole, added), (result,)))
    return a, b


def _constant(network: Network, name: str, value: Array) -> str:
    name = network.fresh(name)
    network.tensors[name] = Tensor(name, DType.F32, value.shape)
    network.constants[name] = value
    return name


def _drawn(weights: str, layer: _Layer) -> Array:
    """The first matrix as torch draws the weights of layers, the same for the same name and shape."""
    seed = int.from_bytes(hashlib.sha256(f"{weights} {layer.down}".encode()).digest()[:8], "little")
    limit = 1 / np.sqrt(layer.depth)
    return np.random.default_rng(seed).uniform(-limit, limit, layer.down).astype(np.float32)
