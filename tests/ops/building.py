"""Calls of operators from shapes, with random operands; families of calls with index maps."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from tilewright.model import Array, Attribute, DType, Node, Shape, Tensor
from tilewright.ops.index.nest import Nest
from tilewright.ops.operator import Call, Operator
from tilewright.ops.registry import find

Draw = random.Random
Build = Callable[[Draw], Call]


def operator(name: str) -> Operator:
    found = find(name)
    assert found is not None, name
    return found


def call(
    op: str,
    *operands: Shape | Array | None,
    outputs: int = 1,
    dtype: DType = DType.F32,
    opset: int = 21,
    **attributes: Attribute,
) -> Call:
    """A call on operands given by shape (of `dtype`) or by value (a constant); its outputs are inferred."""
    inputs: list[Tensor | None] = []
    constants = {}
    for index, given in enumerate(operands):
        if given is None:
            inputs.append(None)
        elif isinstance(given, tuple):
            inputs.append(Tensor(f"t{index}", dtype, given))
        else:
            constants[index] = given
            inputs.append(Tensor(f"t{index}", DType.of(given.dtype), given.shape))
    names = tuple(f"r{i}" for i in range(outputs))
    node = Node("it", op, tuple(t.name if t else "" for t in inputs), names, attributes)
    bare = Call(node, tuple(inputs), (), constants, opset, operator=operator(op))
    kinds = operator(op).infer(bare)
    return replace(bare, outputs=tuple(Tensor(n, k.dtype, k.shape) for n, k in zip(names, kinds, strict=True)))


def operands(made: Call, seed: int = 0, low: int = -8, high: int = 9) -> tuple[Array | None, ...]:
    """Small whole numbers for every operand, so that float sums are exact; constants as they are."""
    rng = np.random.default_rng(seed)
    return tuple(
        None if t is None else made.constants.get(i, rng.integers(low, high, t.shape).astype(t.dtype.numpy))
        for i, t in enumerate(made.inputs)
    )


def evaluated(made: Call, arrays: Sequence[Array | None]) -> dict[str, Array]:
    """What the operator computes, by the names of its results in nests."""
    op = operator(made.node.op)
    return {op.result(i): value for i, value in enumerate(op.evaluate(made, arrays))}


def named(made: Call, arrays: Sequence[Array | None]) -> dict[str, Array]:
    """The operands by their names in nests."""
    op = operator(made.node.op)
    return {op.operand(i): array for i, array in enumerate(arrays) if array is not None}


def nests(made: Call) -> tuple[Nest, ...]:
    found = operator(made.node.op).nests
    assert found is not None
    return found(made)


# ------------------------------------------------------------------------------------------------ families
def _pads(r: Draw, kernel: Sequence[int], dilations: Sequence[int]) -> tuple[int, ...]:
    limits = [(k - 1) * d for k, d in zip(kernel, dilations, strict=True)]
    return (*(r.randint(0, limit) for limit in limits), *(r.randint(0, min(2, limit)) for limit in limits))


def _window(r: Draw, rank: int) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    kernel = tuple(r.randint(1, 3) for _ in range(rank))
    dilations = tuple(r.randint(1, 2) for _ in range(rank))
    strides = tuple(r.randint(1, 3) for _ in range(rank))
    return kernel, strides, dilations, _pads(r, kernel, dilations)


def _sizes(r: Draw, kernel: Sequence[int], dilations: Sequence[int], most: int = 8) -> tuple[int, ...]:
    return tuple(r.randint((k - 1) * d + 1, most) for k, d in zip(kernel, dilations, strict=True))


def conv(rank: int, *, depthwise: bool = False) -> Build:
    def build(r: Draw) -> Call:
        kernel, strides, dilations, pads = _window(r, rank)
        groups = r.randint(2, 3) if depthwise else r.randint(1, 2)
        inner, outer = (1, 1) if depthwise else (r.randint(1, 3), r.randint(1, 3))
        x = (r.randint(1, 2), groups * inner, *_sizes(r, kernel, dilations))
        bias = [(groups * outer,)] if r.random() < 0.5 else []
        return call(
            "Conv", x, (groups * outer, inner, *kernel), *bias, strides=strides, dilations=dilations, pads=pads,
            group=groups,
        )  # fmt: skip

    return build


def conv_transpose(rank: int) -> Build:
    def build(r: Draw) -> Call:
        kernel, groups = tuple(r.randint(1, 4) for _ in range(rank)), r.randint(1, 2)
        pads = tuple(r.randint(0, (k - 1) // 2) for k in kernel) * 2
        strides = tuple(r.randint(1, 3) for _ in range(rank))
        dilations = tuple(r.randint(1, 2) for _ in range(rank))
        extra = tuple(r.randint(0, s - 1) for s in strides)
        x = (1, groups * r.randint(1, 2), *(r.randint(2, 5) for _ in range(rank)))
        return call(
            "ConvTranspose", x, (x[1], r.randint(1, 2), *kernel), strides=strides, pads=pads, group=groups,
            dilations=dilations, output_padding=extra,
        )  # fmt: skip

    return build


def pool(op: str, rank: int, outputs: int = 1) -> Build:
    def build(r: Draw) -> Call:
        kernel, strides, dilations, pads = _window(r, rank)
        x = (1, r.randint(1, 2), *_sizes(r, kernel, dilations))
        more: dict[str, Any] = {"ceil_mode": r.randint(0, 1)}
        if op == "AveragePool":
            more["count_include_pad"] = r.randint(0, 1)
        if op == "LpPool":
            more["p"] = r.randint(1, 3)
        return call(
            op, x, outputs=outputs, kernel_shape=kernel, strides=strides, dilations=dilations, pads=pads, **more
        )

    return build


def plain(op: str, rank: int, outputs: int = 1, **attributes: Any) -> Build:
    """One operand of random shape."""
    return lambda r: call(op, tuple(r.randint(1, 5) for _ in range(rank)), outputs=outputs, **attributes)


def gemm(r: Draw) -> Call:
    m, n, k = (r.randint(1, 7) for _ in range(3))
    a, b = r.randint(0, 1), r.randint(0, 1)
    c = r.choice([(), (n,), (m, 1), (1, n), (m, n), None])
    scales: dict[str, Any] = {"alpha": 0.5, "beta": 2.0} if r.random() < 0.5 else {}
    return call(
        "Gemm", (k, m) if a else (m, k), (n, k) if b else (k, n), *([] if c is None else [c]), transA=a, transB=b,
        **scales,
    )  # fmt: skip


def matmul(r: Draw) -> Call:
    batch = [r.randint(1, 3) for _ in range(2)]
    a, b = (tuple(1 if r.random() < 0.3 else s for s in batch)[r.randint(0, 2) :] for _ in range(2))
    m, k, n = (r.randint(1, 5) for _ in range(3))
    left, right = (*a, m, k), (*b, k, n)
    return call("MatMul", (k,) if r.random() < 0.1 else left, (k,) if r.random() < 0.1 else right)


def broadcast(op: str, count: int, dtype: DType = DType.F32) -> Build:
    def build(r: Draw) -> Call:
        full = [r.randint(1, 4) for _ in range(r.randint(1, 4))]
        shapes = [tuple(1 if r.random() < 0.4 else s for s in full[r.randint(0, len(full)) :]) for _ in range(count)]
        return call(op, *shapes, dtype=dtype)

    return build


def batch_norm(r: Draw) -> Call:
    x = (r.randint(1, 2), r.randint(1, 4), r.randint(1, 4))
    ones = np.ones(x[1], np.float32)
    return call("BatchNormalization", x, (x[1],), (x[1],), (x[1],), ones * 3)


def layer_norm(outputs: int) -> Build:
    def build(r: Draw) -> Call:
        x = tuple(r.randint(1, 4) for _ in range(3))
        axis = r.randint(-3, 2)
        tail = x[axis:]
        bias = [tail] if r.random() < 0.5 else []
        return call("LayerNormalization", x, tail, *bias, axis=axis, outputs=outputs)

    return build


def rms_norm(r: Draw) -> Call:
    x = tuple(r.randint(1, 4) for _ in range(3))
    axis = r.randint(-3, 2)
    return call("RMSNormalization", x, x[axis:], axis=axis, opset=23)


def group_norm(r: Draw) -> Call:
    groups, each = r.randint(1, 3), r.randint(1, 3)
    channels = groups * each
    return call("GroupNormalization", (2, channels, r.randint(1, 4)), (channels,), (channels,), num_groups=groups)


def instance_norm(r: Draw) -> Call:
    channels = r.randint(1, 3)
    return call("InstanceNormalization", (2, channels, r.randint(1, 4), 2), (channels,), (channels,))


def quantise(r: Draw) -> Call:
    x = (r.randint(1, 3), r.randint(1, 6))
    if r.random() < 0.5:
        return call("QuantizeLinear", x, np.array(0.5, np.float32), np.array(3, np.int8))
    scale = np.arange(1, x[1] + 1, dtype=np.float32) / 4
    return call("QuantizeLinear", x, scale, np.arange(x[1], dtype=np.uint8), axis=1)


def dequantise(r: Draw) -> Call:
    x = (r.randint(1, 3), r.randint(1, 6))
    block = r.randint(1, 3)
    scale = np.arange(1, -(-x[1] // block) * x[0] + 1, dtype=np.float32).reshape(x[0], -1)
    return call("DequantizeLinear", x, scale, scale.astype(np.int8), axis=1, block_size=block, dtype=DType.I8)


def conv_integer(r: Draw) -> Call:
    x, w = (1, 2, r.randint(3, 6), r.randint(3, 6)), (r.randint(1, 3), 2, r.randint(1, 3), 2)
    zeros = [np.array(3, np.int8), np.arange(w[0], dtype=np.int8)][: r.randint(0, 2)]
    return call("ConvInteger", x, w, *zeros, pads=(0, 1, 0, 1), dtype=DType.I8)


def matmul_integer(r: Draw) -> Call:
    m, k, n = (r.randint(1, 5) for _ in range(3))
    zeros = [np.array(3, np.int8), np.array(-2, np.int8)][: r.randint(0, 2)]
    return call("MatMulInteger", (m, k), (k, n), *zeros, dtype=DType.I8)


FAMILIES: Mapping[str, Build] = {
    "conv1": conv(1), "conv2": conv(2), "conv3": conv(3), "depthwise": conv(2, depthwise=True),
    "conv_transpose1": conv_transpose(1), "conv_transpose2": conv_transpose(2),
    "max_pool": pool("MaxPool", 2), "max_pool1": pool("MaxPool", 1), "max_pool_indices": pool("MaxPool", 2, 2),
    "average_pool": pool("AveragePool", 2), "lp_pool": pool("LpPool", 2),
    "global_average": plain("GlobalAveragePool", 4), "global_max": plain("GlobalMaxPool", 3),
    "gemm": gemm, "matmul": matmul,
    "conv_integer": conv_integer, "matmul_integer": matmul_integer,
    "add": broadcast("Add", 2), "where_like": broadcast("Max", 3),
    "less": broadcast("Less", 2), "relu": plain("Relu", 3), "leaky": plain("LeakyRelu", 2, alpha=0.25),
    "softmax": plain("Softmax", 3, axis=1), "log_softmax": plain("LogSoftmax", 2), "hardmax": plain("Hardmax", 2),
    "batch_norm": batch_norm, "layer_norm": layer_norm(1), "layer_norm_all": layer_norm(3), "rms_norm": rms_norm,
    "group_norm": group_norm, "instance_norm": instance_norm, "lp_norm": plain("LpNormalization", 3, axis=1),
    "mean_variance": plain("MeanVarianceNormalization", 4), "lrn": plain("LRN", 4, size=3),
    "quantise": quantise, "dequantise": dequantise,
}  # fmt: skip
"""Operators with index maps, as functions that draw a call."""
