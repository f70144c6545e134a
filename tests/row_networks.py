"""Networks whose nodes can be chained by rows, drawn by seed, and a compilation in which every chain is taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from make_odd import Sketch, odd_inputs
from quantise import quantise
from tilewright.binding.graph import BoundNode
from tilewright.binding.order import by_cost
from tilewright.compile import Compiled, compile_model, compiler, moves
from tilewright.options import CompileOptions
from tilewright.platform import Feature
from tilewright.rows.links import Links
from tilewright.schedule.decisions import RowChain
from tilewright.schedule.deployment import Deployment
from tilewright.schedule.moves import MOVES, Offer, Offers
from tilewright.target import load_target


def drawn(seed: int, codes: bool = True) -> onnx.ModelProto:
    """Three to five nodes in a row: windows of every kind, sums with another branch, activations."""
    random = np.random.default_rng(seed)
    net = Sketch(f"rows_{seed}")
    channels, height, width = (int(random.integers(*span)) for span in ((2, 9), (9, 20), (5, 12)))
    x = net.convolution(net.input("image", 1, 3, height, width), 3, channels, (1, 1))
    for step in range(int(random.integers(3, 6))):
        kind = random.choice(["window", "depthwise", "pointwise", "pool", "add"])
        if kind == "add":
            beside = net.input(f"beside_{step}", 1, 2, height, width)
            x = net.node("Add", x, net.convolution(beside, 2, channels, (1, 1)))
            continue
        kernel = (1, 1) if kind == "pointwise" else tuple(int(k) for k in random.integers(1, 4, 2))
        stride = tuple(int(s) for s in np.minimum(random.integers(1, 3, 2), kernel))
        begins, ends = (tuple(int(random.integers(0, k)) for k in kernel) for _ in range(2))
        sizes = [(n + b + e - k) // s + 1 for n, b, e, k, s in zip((height, width), begins, ends, kernel, stride,
                                                                   strict=True)]  # fmt: skip
        if min(sizes) < 3:
            continue
        more: dict[str, Any] = {"strides": list(stride), "pads": [*begins, *ends]}
        if kind == "pool":
            x = net.node("MaxPool", x, kernel_shape=list(kernel), **more)
        else:
            group = channels if kind == "depthwise" else 1
            outputs = channels if group > 1 else int(random.integers(2, 10))
            x = net.convolution(x, channels, outputs, kernel, group, **more)
            x = net.node("Relu", x) if random.random() < 0.5 else x
            channels = outputs
        height, width = sizes
    net.output(x, "result")
    model = net.finish()
    return quantise(model, odd_inputs(model, 8)) if codes else model


def strided() -> onnx.ModelProto:
    """A depthwise layer of stride 2 behind wide layers: a row of it reads two new rows of each."""
    net = Sketch("strided")
    x = net.node("Relu", net.convolution(net.input("image", 1, 3, 17, 12), 3, 8, (3, 3)))
    x = net.node("Relu", net.convolution(x, 8, 8, (3, 3), 8))
    x = net.node("Relu", net.convolution(x, 8, 24, (1, 1)))
    net.output(net.convolution(x, 24, 24, (3, 3), 24, strides=[2, 2]), "result")
    model = net.finish()
    return quantise(model, odd_inputs(model, 8))


def inverted_residual(folder: Path) -> Path:
    """A block of MobileNetV2: eight channels widened to forty-eight, and added to what they were."""
    net = Sketch("inverted")
    six = (net.constant(np.array(0, np.float32)), net.constant(np.array(6, np.float32)))
    x = net.convolution(net.input("image", 1, 8, 16, 16), 8, 8, (1, 1))
    y = net.node("Clip", net.convolution(x, 8, 48, (1, 1)), *six)
    y = net.node("Clip", net.convolution(y, 48, 48, (3, 3), 48), *six)
    y = net.node("Add", x, net.convolution(y, 48, 8, (1, 1)))
    net.output(net.node("GlobalAveragePool", y), "means")
    model = net.finish()
    onnx.save(quantise(model, odd_inputs(model, 8)), folder / "inverted.onnx")
    return folder / "inverted.onnx"


def pairs(folder: Path, size: int, blocks: Sequence[tuple[int, int]]) -> Path:
    """The head of a MobileNetV1 of a square image: pairs of depthwise and pointwise layers, each given by the channels
    that it comes to and its stride."""
    net = Sketch("pairs")
    x = net.node("Relu", net.convolution(net.input("image", 1, 3, size, size), 3, 8, (3, 3), strides=[2, 2]))
    inner = 8
    for outer, stride in blocks:
        x = net.node("Relu", net.convolution(x, inner, inner, (3, 3), inner, strides=[stride, stride]))
        x = net.node("Relu", net.convolution(x, inner, outer, (1, 1)))
        inner = outer
    net.output(net.node("GlobalAveragePool", x), "means")
    model = net.finish()
    onnx.save(quantise(model, odd_inputs(model, 4)), folder / "pairs.onnx")
    return folder / "pairs.onnx"


def chained(
    model: onnx.ModelProto,
    folder: Path,
    target: str,
    rows: int,
    options: CompileOptions | None = None,
    *,
    single_rows: bool = False,
) -> Compiled:
    """The network with every chain that can be had, the longest first, `rows` rows at a time."""
    path = folder / f"{model.graph.name}.onnx"
    onnx.save(model, path)

    run = compiler.copy()
    others = {stage: [move for move in MOVES if move.stage == stage] for stage in ("passes", "tiling", "plan")}
    run.dependency_overrides[moves] = lambda: (
        *others["passes"], _EveryChain(rows, single_rows), *others["tiling"], *others["plan"],
    )  # fmt: skip
    return compile_model(path, options or CompileOptions(quantized_io=True), load_target(target), pipeline=run)


@dataclass(frozen=True)
class _EveryChain:
    """A move that takes every chain that can be had, the longest first, `rows` rows at a time."""

    rows: int
    single_rows: bool = False
    name: str = "every_chain"
    stage: str = "binding"
    needs: Feature | None = None

    def propose(self, now: Deployment) -> Offers:
        """All of them at once."""
        request = now.question.request
        links, taken = Links(now.bound, request.kernels, by_cost), list[BoundNode]()
        for nodes in sorted(links.paths(), key=len, reverse=True):
            made = links.chain(nodes, self.rows, single_rows=self.single_rows)
            used = {part.call.node.name for chain in taken for part in chain.parts}
            if made is not None and used.isdisjoint(nodes):
                taken.append(made)
        decided = [
            RowChain(tuple(part.call.node.name for part in chain.parts), self.rows, self.single_rows) for chain in taken
        ]
        yield Offer([Deployment(now.question, replace(now.decisions, row_chains=tuple(decided)))], "any")

    def added_work(self, before: Deployment, after: Deployment) -> float:
        """Not told."""
        return 0.0


def chains_of(compiled: Compiled) -> list[BoundNode]:
    """The chains of a compiled network."""
    return [bound for bound in compiled.bound.nodes if bound.parts]


def longest(compiled: Compiled) -> BoundNode:
    """The chain of the most nodes."""
    return max(chains_of(compiled), key=lambda bound: len(bound.parts))
