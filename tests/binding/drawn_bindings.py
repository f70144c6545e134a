"""Small platforms and networks drawn by seed, for the search of kernels and layouts."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path

import numpy as np
from tilewright.kernel import LayoutRule
from tilewright.model import Attribute, DType, Model, Node, Shape, Tensor
from tilewright.ops.operator import Call
from tilewright.platform import Kernel, KernelMethods, MemoryLevel, Platform, parse_types

PLATFORM = Platform(name="acme", summary="", memory=[MemoryLevel("ram"), MemoryLevel("flash")])
SHAPES: tuple[Shape, ...] = ((1, 2, 3, 2), (2, 3, 2), (1, 1, 12), (6, 2), (12,), (4, 3), (1, 2, 6))
TAKES: tuple[LayoutRule, ...] = ("default", "channels_last", "any", "any", "same", "same", "like", "axes", "rows")
GIVES: tuple[LayoutRule, ...] = ("default", "channels_last", "same", "same", "like", "any")


class Methods(KernelMethods):
    """A kernel's methods: it may refuse tensors of a rank."""

    def __init__(self, refused_rank: int = -1) -> None:
        self.refused_rank = refused_rank

    def accepts(self, call: Call) -> str | None:
        """None, or the sentence against the rank."""
        return f"rank {self.refused_rank}" if len(call.tensor(0).shape) == self.refused_rank else None


def kernel(
    name: str, op: str, layout: tuple[LayoutRule, LayoutRule], types: str = "*... -> *...", refused_rank: int = -1
) -> Kernel:
    """A kernel of which only declarations matter."""
    methods = Methods(refused_rank)
    return Kernel(name, op, parse_types(types), layout, Path(name), (), "exact", methods, PLATFORM.name)


@dataclass(frozen=True)
class Case:
    """A network and the kernels that are offered for it."""

    model: Model
    kernels: tuple[Kernel, ...]


def case(seed: int) -> Case:
    """Two to six nodes: operators on one or two operands, with one or two results, and views; outputs of any kind."""
    draw = random.Random(seed)
    sketch = _Sketch(draw)
    for number in range(draw.randint(2, 6)):
        sketch.node(f"n{number}")
    model = sketch.model()
    ops = sorted({node.op for node in model.nodes if node.op.startswith("Op")})
    return Case(model, tuple(k for op in ops for k in _kernels(draw, op)) + _relayouts(draw))


def _kernels(draw: random.Random, op: str) -> list[Kernel]:
    kernels = []
    for number in range(draw.choice((1, 1, 2, 2, 3))):
        types = "f32, *... -> *..." if draw.random() < 0.08 else "*... -> *..."
        layout = (draw.choice(TAKES), draw.choice(GIVES))
        kernels.append(kernel(f"{op}K{number}", op, layout, types))
    return kernels


def _relayouts(draw: random.Random) -> tuple[Kernel, ...]:
    kind = draw.choice(("none", "none", "none", "none", "f32", "i8", "rank", "all"))
    types = {"f32": "f32 -> f32", "i8": "i8 -> i8"}.get(kind, "* -> *")
    rank = draw.choice((2, 3, 4)) if kind == "rank" else -1
    return () if kind == "none" else (kernel("Move", "Relayout", ("any", "any"), types, rank),)


class _Sketch:
    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.tensors: dict[str, Tensor] = {}
        self.nodes: list[Node] = []
        self.inputs = [self._tensor(f"x{number}", draw.choice(SHAPES[:3])) for number in range(draw.randint(1, 2))]
        self.values = list(self.inputs)
        self.constant = self._tensor("c", SHAPES[0])

    def _tensor(self, name: str, shape: Shape, dtype: DType | None = None) -> str:
        dtype = dtype or (DType.F32 if self.draw.random() < 0.7 else DType.I8)
        self.tensors[name] = Tensor(name, dtype, shape)
        return name

    def node(self, name: str) -> None:
        """One more node on values that are there, the latest ones above all."""
        kind = self.draw.choice(("op", "op", "two", "two", "two", "results", "view", "view"))
        x = self.draw.choice(self.values[-2:] if self.draw.random() < 0.8 else self.values)
        if kind == "view":
            self._view(name, x)
            return
        y = self.draw.choice([*self.values, self.constant])
        inputs = (x, y) if kind == "two" else (x,)
        shape = self.tensors[x].shape if self.draw.random() < 0.8 else self.draw.choice(SHAPES[:4])
        count = 2 if kind == "results" else 1
        outputs = tuple(self._tensor(f"{name}y{i}", shape if i == 0 else SHAPES[0]) for i in range(count))
        self.nodes.append(Node(name, f"Op{kind}{self.draw.randint(0, 1)}", inputs, outputs))
        self.values += outputs

    def _view(self, name: str, x: str) -> None:
        tensor, op = self.tensors[x], self.draw.choice(("Reshape", "Reshape", "Transpose", "Identity"))
        attributes: Mapping[str, Attribute] = {}
        shape = tensor.shape
        if op == "Reshape":
            shape = self.draw.choice([s for s in SHAPES if prod(s) == prod(shape)])
        elif op == "Transpose":
            perm = tuple(self.draw.sample(range(len(shape)), len(shape)))
            attributes, shape = {"perm": perm}, tuple(shape[axis] for axis in perm)
        y = self._tensor(f"{name}y", shape, tensor.dtype)
        self.nodes.append(Node(name, op, (x,), (y,), attributes))
        self.values.append(y)

    def model(self) -> Model:
        """The network with the last value and up to two others as outputs."""
        others = self.draw.sample(self.values, min(len(self.values), self.draw.choice((0, 0, 1, 2))))
        if self.draw.random() < 0.05:
            others.append(self.constant)
        outputs = tuple(dict.fromkeys((self.values[-1], *others)))
        constants = {self.constant: np.zeros(SHAPES[0], self.tensors[self.constant].dtype.numpy)}
        return Model("drawn", tuple(self.nodes), self.tensors, constants, tuple(self.inputs), outputs, 21)
