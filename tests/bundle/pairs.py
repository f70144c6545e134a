"""Networks that belong into one image: the two halves of a small language model, a wake word and what follows it."""

from __future__ import annotations

import numpy as np
import onnx
from graphs import node, onnx_model

WIDTH, CACHE = 64, 12


def _weights() -> dict[str, object]:
    draw = np.random.default_rng(7)
    shapes = {"q": WIDTH, "k": WIDTH, "v": WIDTH, "up": 3 * WIDTH}
    values: dict[str, object] = {
        f"w_{name}": (draw.standard_normal((WIDTH, size)) / 6).astype(np.float32) for name, size in shapes.items()
    }
    values["w_down"] = (draw.standard_normal((3 * WIDTH, WIDTH)) / 9).astype(np.float32)
    return values


def language_model(rows: int) -> onnx.ModelProto:
    """One layer of attention over a cache of keys and values that takes `rows` of it at a time, from `pos` on."""
    values = {**_weights(), "axis": np.array([1]), "scale": np.array(WIDTH**-0.5, np.float32)}
    nodes = [
        node("MatMul", "x w_q", "q", "queries"), node("MatMul", "x w_k", "k", "keys"),
        node("MatMul", "x w_v", "v", "values"), node("Unsqueeze", "pos axis", "at", "where"),
        node("ScatterND", "k_cache at k", "k_new", "keep_keys"),
        node("ScatterND", "v_cache at v", "v_new", "keep_values"),
        node("Transpose", "k_new", "k_turned", "turn", perm=[1, 0]), node("MatMul", "q k_turned", "raw", "scores"),
        node("Mul", "raw scale", "scaled", "scale_scores"), node("Add", "scaled mask", "masked", "hide"),
        node("Softmax", "masked", "weights", "attend", axis=-1), node("MatMul", "weights v_new", "mixed", "mix"),
        node("Add", "mixed x", "kept", "residual"), node("MatMul", "kept w_up", "wide", "up"),
        node("Relu", "wide", "bent", "bend"), node("MatMul", "bent w_down", "y", "down"),
    ]  # fmt: skip
    inputs: dict[str, tuple[int, ...]] = {"x": (rows, WIDTH), "pos": (rows,), "mask": (rows, CACHE)}
    inputs |= {"k_cache": (CACHE, WIDTH), "v_cache": (CACHE, WIDTH)}
    return onnx_model(
        nodes, inputs, ["y", "k_new", "v_new"], values, types={"pos": onnx.TensorProto.INT64}
    )  # fmt: skip


PAIRS = "k_cache=k_new,v_cache=v_new"


def convolutional(channels: int, frames: int, seed: int) -> onnx.ModelProto:
    """A network of two convolutions over frames; a wake word is a narrow one, a classifier a wide one."""
    draw = np.random.default_rng(seed)
    values: dict[str, object] = {
        "w0": (draw.standard_normal((channels, 8, 3)) / 5).astype(np.float32),
        "w1": (draw.standard_normal((4, channels, 3)) / 5).astype(np.float32),
    }
    nodes = [node("Conv", "x w0", "a", "first"), node("Relu", "a", "b", "bend"), node("Conv", "b w1", "y", "second")]
    return onnx_model(nodes, {"x": (1, 8, frames)}, ["y"], values)
