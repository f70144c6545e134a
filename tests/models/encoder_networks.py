"""Small encoders of drawn weights: a classifier of tokens with an attention mask, and one of patches of an image."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

TOKENS, WORDS, WIDTH, HEADS, CLASSES = 7, 20, 16, 2, 3


def text_encoder() -> onnx.ModelProto:
    """Inputs `ids` and `mask`, [1, 7] in int64: 0 in the mask hides a token by the lowest float."""
    work = _Work()
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, [1, TOKENS]) for name in ("ids", "mask")]
    x = work.op("Gather", [work.drawn("words", WORDS, WIDTH), "ids"], "taken")
    x = work.norm(work.op("Add", [x, work.drawn("places", 1, TOKENS, WIDTH)], "placed"), "first")
    seen = work.op("Cast", [work.op("Unsqueeze", ["mask", work.given("axes", [1, 2])], "wide")], "seen", to=1)
    lowest = work.given("lowest", np.float32(np.finfo(np.float32).min))
    hidden = work.op("Mul", [work.op("Sub", [work.given("one", np.float32(1)), seen], "unseen"), lowest], "hidden")
    x = work.norm(work.op("Add", [x, work.attention(x, TOKENS, hidden)], "attended"), "second")
    x = work.norm(work.op("Add", [x, work.wide(x)], "widened"), "third")
    return work.classifier(x, "text_encoder", inputs)


def image_encoder() -> onnx.ModelProto:
    """Input `image`, [1, 3, 8, 8]: four patches and a row that the answer is read from."""
    work = _Work()
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, 8, 8])
    patches = ["image", work.drawn("patches", WIDTH, 3, 4, 4), work.drawn("patch_bias", WIDTH)]
    x = work.op("Conv", patches, "cut", kernel_shape=[4, 4], strides=[4, 4])
    x = work.op("Reshape", [x, work.given("flat", [1, WIDTH, 4])], "flattened")
    x = work.op("Transpose", [x], "rows", perm=[0, 2, 1])
    x = work.op("Concat", [work.drawn("answer", 1, 1, WIDTH), x], "joined", axis=1)
    x = work.op("Add", [x, work.drawn("places", 1, 5, WIDTH)], "placed")
    x = work.op("Add", [x, work.attention(work.norm(x, "first"), 5)], "attended")
    x = work.op("Add", [x, work.wide(work.norm(x, "second"))], "widened")
    return work.classifier(work.norm(x, "third"), "image_encoder", [image])


@dataclass
class _Work:
    nodes: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)
    draw: np.random.Generator = field(default_factory=lambda: np.random.default_rng(3))

    def given(self, name: str, values: Any) -> str:
        self.constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def drawn(self, name: str, *shape: int) -> str:
        return self.given(name, (self.draw.normal(size=shape) * shape[0] ** -0.5).astype(np.float32))

    def op(self, kind: str, inputs: list[str], name: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(kind, inputs, [name], name, **attributes))
        return name

    def norm(self, x: str, name: str) -> str:
        scale = self.given(f"{name}_scale", (1 + 0.2 * self.draw.normal(size=WIDTH)).astype(np.float32))
        return self.op("LayerNormalization", [x, scale, self.drawn(f"{name}_bias", WIDTH)], f"{name}_norm", axis=-1)

    def dense(self, x: str, name: str, sizes: tuple[int, int] = (WIDTH, WIDTH)) -> str:
        product = self.op("MatMul", [x, self.drawn(f"{name}_weights", *sizes)], f"{name}_product")
        return self.op("Add", [product, self.drawn(f"{name}_bias", sizes[1])], name)

    def attention(self, x: str, rows: int, hidden: str = "") -> str:
        split, heads = self.given("split", [1, rows, HEADS, WIDTH // HEADS]), []
        for name, order in (("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3])):
            parts = self.op("Reshape", [self.dense(x, name), split], f"{name}_parts")
            heads.append(self.op("Transpose", [parts], f"{name}_heads", perm=order))
        scores = self.op("MatMul", heads[:2], "products")
        scores = self.op("Mul", [scores, self.given("scale", np.float32((WIDTH // HEADS) ** -0.5))], "scores")
        scores = self.op("Add", [scores, hidden], "masked") if hidden else scores
        mixed = self.op("MatMul", [self.op("Softmax", [scores], "shares", axis=-1), heads[2]], "mixed")
        mixed = self.op("Transpose", [mixed], "mixed_rows", perm=[0, 2, 1, 3])
        return self.dense(self.op("Reshape", [mixed, self.given("join", [1, rows, WIDTH])], "back"), "out")

    def wide(self, x: str) -> str:
        up = self.op("Gelu", [self.dense(x, "up", (WIDTH, 2 * WIDTH))], "bent")
        return self.dense(up, "down", (2 * WIDTH, WIDTH))

    def classifier(self, x: str, name: str, inputs: list[Any]) -> onnx.ModelProto:
        first = self.op("Gather", [x, self.given("zero", np.array(0))], "read", axis=1)
        self.op("Gemm", [first, self.drawn("classes", WIDTH, CLASSES), self.drawn("class_bias", CLASSES)], "y")
        outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, CLASSES])]
        graph = helper.make_graph(self.nodes, name, inputs, outputs, self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
