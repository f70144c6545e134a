"""Networks with state for tests: a few by hand, and any number drawn by seed."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from deployed import after, deployment
from graphs import node, onnx_model
from tilewright.frontend.load import load
from tilewright.memory.placed import PlacedPlan
from tilewright.model import Model
from tilewright.options import CompileOptions, StateWish
from tilewright.passes.driver import run as run_passes
from tilewright.passes.states import split_states
from tilewright.plugins import platform
from tilewright.schedule.moves import MOVES

IN_PLACE, COPYING = CompileOptions(), CompileOptions(disabled_passes=frozenset({"state"}))


def loaded(model: onnx.ModelProto, pairs: str, name: str = "net", *, split: bool = True) -> Model:
    """The model as binding takes it, with states `past=present,...`; without `split` rows stay together."""
    named = tuple((past, present) for past, _, present in (pair.partition("=") for pair in pairs.split(",")))
    found = load(model, name=name, state=StateWish(named))
    return run_passes(split_states(found) if split else found)[0]


def stacked() -> onnx.ModelProto:
    """A cache of two layers in one tensor: each takes its row, makes the next one of it, and puts that back."""
    values = {"i0": np.array(0), "p0": np.array([[0]]), "p1": np.array([[1]]), "i1": np.array([1])}
    values |= {"half": np.array([0.5], np.float32), "first": np.array([0]), "flat": np.array([4, 4])}
    nodes = [
        node("Gather", "k i0", "a", "take0"), node("Mul", "a half", "a1", "decay0"), node("Add", "a1 x", "a2", "add0"),
        node("Unsqueeze", "a2 first", "a3", "back0"), node("ScatterND", "k p0 a3", "k1", "put0"),
        node("Gather", "k1 i1", "b", "take1"), node("Reshape", "b flat", "b1", "same1"),
        node("Add", "b1 a2", "b2", "add1"), node("Unsqueeze", "b2 first", "b3", "back1"),
        node("ScatterND", "k1 p1 b3", "k_out", "put1"), node("Relu", "b2", "y", "end"),
    ]  # fmt: skip
    return onnx_model(nodes, {"x": (4, 4), "k": (2, 4, 4)}, ["y", "k_out"], values)


def placed(model: Model, options: CompileOptions = IN_PLACE, name: str = "generic") -> PlacedPlan:
    """The model deployed with all moves."""
    return after(deployment(model, platform(name), options=options), *MOVES).deployment.finished()


def filtered() -> onnx.ModelProto:
    """h' = h / 2 + x, y = relu(h')."""
    nodes = [node("Mul", "h half", "m", "decay"), node("Add", "m x", "h_out", "add"), node("Relu", "h_out", "y", "end")]
    return onnx_model(nodes, {"x": (1, 8), "h": (1, 8)}, ["y", "h_out"], {"half": np.array([0.5], np.float32)})


class _Draw:
    """A network that grows node by node over matrices of `rows` x `columns`."""

    def __init__(self, draw: np.random.Generator, rows: int, columns: int) -> None:
        self.draw, self.rows, self.columns = draw, rows, columns
        self.nodes: list[onnx.NodeProto] = []
        self.made: list[str] = []
        self.constants: dict[str, object] = {"half": np.array([0.5], np.float32), "flat": np.array([-1], np.int64)}
        self.constants["shape"] = np.array([rows, columns], np.int64)

    def add(self, op: str, inputs: str, **attributes: Any) -> str:
        """A node; the name of its result."""
        name = f"t{len(self.nodes)}"
        self.nodes.append(node(op, inputs, name, f"n{len(self.nodes)}", **attributes))
        return name

    def constant(self, values: object) -> str:
        """Indices."""
        name = f"c{len(self.constants)}"
        self.constants[name] = np.asarray(values, np.int64)
        return name

    def part(self, of: str, start: int, end: int) -> str:
        """Some rows of a matrix."""
        return self.add("Slice", f"{of} {self.constant([start])} {self.constant([end])} {self.constant([0])}")

    def step(self, a: str, b: str) -> str:
        """A matrix made of two."""
        add, constant, count = self.add, self.constant, int(self.draw.integers(1, self.rows))
        places = self.draw.permutation(self.rows)[:count].reshape(count, 1)
        kind = self.draw.choice(["Add", "Sub", "half", "Tanh", "rows", "elements", "shift", "where", "flat", "turn"])
        if kind in ("Add", "Sub"):
            return add(kind, f"{a} {b}")
        if kind == "half":
            return add("Mul", f"{a} half")
        if kind == "Tanh":
            return add("Tanh", a)
        if kind == "rows":
            return add("ScatterND", f"{a} {constant(places)} {self.part(b, 0, count)}")
        if kind == "elements":
            everywhere = constant(np.repeat(places, self.columns, axis=1))
            return add("ScatterElements", f"{a} {everywhere} {self.part(b, 0, count)}", axis=0)
        if kind == "shift":
            return add("Concat", f"{self.part(a, count, self.rows)} {self.part(b, 0, count)}", axis=0)
        if kind == "where":
            return add("Where", f"{add('Less', 'x half')} {a} {b}")
        if kind == "flat":
            return add("Reshape", f"{add('Relu', add('Reshape', f'{a} flat'))} shape")
        turned = f"{constant([-1])} {constant([-self.rows - 1])} {constant([0])} {constant([-1])}"
        return add("Slice", f"{a} {turned}")

    def stacked(self) -> str:
        """Two layers that keep their caches in k, one row each; the name of its next value."""
        at, whole = int(self.draw.integers(2)), "k"
        for row in (at, 1 - at):
            taken = self.add("Gather", f"{whole} {self.constant(row)}")
            self.made.append(self.add("Add", f"{self.add('Mul', f'{taken} half')} {self.made[-1]}"))
            put = self.add("Unsqueeze", f"{self.made[-1]} {self.constant([0])}")
            whole = self.add("ScatterND", f"{whole} {self.constant([[row]])} {put}")
        return whole


def drawn(seed: int) -> tuple[onnx.ModelProto, str]:
    """A network of small matrices with one to three states, and its pairs; some have one of two rows beside them."""
    draw = np.random.default_rng(seed)
    rows, columns, states = int(draw.integers(2, 6)), int(draw.integers(1, 7)), int(draw.integers(1, 4))
    net = _Draw(draw, rows, columns)
    past = [f"h{n}" for n in range(states)]
    while len(net.made) < states + int(draw.integers(2, 7)):
        known = ["x", *past, *net.made]
        a, b = (known[int(draw.integers(len(known)))] for _ in range(2))
        net.made.append(net.step(a, b))
    inputs: dict[str, tuple[int, ...]] = dict.fromkeys(("x", *past), (rows, columns))
    whole = net.stacked() if draw.random() < 0.4 else ""
    present = [net.made[int(at)] for at in draw.permutation(len(net.made))[:states]]
    if whole:
        inputs["k"] = (2, rows, columns)
        past, present = [*past, "k"], [*present, whole]
    last = net.add("Relu", net.add("Add", f"{net.made[-1]} x"))
    pairs = ",".join(f"{a}={b}" for a, b in zip(past, present, strict=True))
    return onnx_model(net.nodes, inputs, [last, *present], net.constants), pairs
