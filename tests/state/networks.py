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


def drawn(seed: int) -> tuple[onnx.ModelProto, str]:
    """A network of small matrices with one to three states, and its pairs."""
    draw = np.random.default_rng(seed)
    rows, columns, states = int(draw.integers(2, 6)), int(draw.integers(1, 7)), int(draw.integers(1, 4))
    made: list[str] = []
    nodes: list[onnx.NodeProto] = []
    constants: dict[str, object] = {"half": np.array([0.5], np.float32), "flat": np.array([-1], np.int64)}
    constants["shape"] = np.array([rows, columns], np.int64)

    def add(op: str, inputs: str, **attributes: Any) -> str:
        name = f"t{len(nodes)}"
        nodes.append(node(op, inputs, name, f"n{len(nodes)}", **attributes))
        return name

    def constant(values: object) -> str:
        name = f"c{len(constants)}"
        constants[name] = np.asarray(values, np.int64)
        return name

    def part(of: str, start: int, end: int) -> str:
        return add("Slice", f"{of} {constant([start])} {constant([end])} {constant([0])}")

    while len(made) < states + int(draw.integers(2, 7)):
        known = ["x", *(f"h{n}" for n in range(states)), *made]
        a, b = (known[int(draw.integers(len(known)))] for _ in range(2))
        count = int(draw.integers(1, rows))
        kind = draw.choice(["add", "sub", "half", "tanh", "rows", "elements", "shift", "where", "flat", "turn"])
        if kind in ("add", "sub"):
            made.append(add(kind.capitalize(), f"{a} {b}"))
        elif kind == "half":
            made.append(add("Mul", f"{a} half"))
        elif kind == "tanh":
            made.append(add("Tanh", a))
        elif kind == "rows":
            places = constant(draw.permutation(rows)[:count].reshape(count, 1))
            made.append(add("ScatterND", f"{a} {places} {part(b, 0, count)}"))
        elif kind == "elements":
            places = constant(np.repeat(draw.permutation(rows)[:count].reshape(count, 1), columns, axis=1))
            made.append(add("ScatterElements", f"{a} {places} {part(b, 0, count)}", axis=0))
        elif kind == "shift":
            made.append(add("Concat", f"{part(a, count, rows)} {part(b, 0, count)}", axis=0))
        elif kind == "where":
            made.append(add("Where", f"{add('Less', 'x half')} {a} {b}"))
        elif kind == "flat":
            made.append(add("Reshape", f"{add('Relu', add('Reshape', f'{a} flat'))} shape"))
        else:
            turned = f"{constant([-1])} {constant([-rows - 1])} {constant([0])} {constant([-1])}"
            made.append(add("Slice", f"{a} {turned}"))
    if stacked := draw.random() < 0.4:
        at, whole = int(draw.integers(2)), "k"
        for row in (at, 1 - at):
            taken = add("Gather", f"{whole} {constant(row)}")
            made.append(add("Add", f"{add('Mul', f'{taken} half')} {made[-1]}"))
            whole = add("ScatterND", f"{whole} {constant([[row]])} {add('Unsqueeze', f'{made[-1]} {constant([0])}')}")
    chosen = draw.permutation(len(made))[:states]
    pairs = ",".join(f"h{n}={made[int(at)]}" for n, at in enumerate(chosen))
    last = add("Relu", add("Add", f"{made[-1]} x"))
    inputs: dict[str, tuple[int, ...]] = {"x": (rows, columns), **{f"h{n}": (rows, columns) for n in range(states)}}
    outputs = [last, *(made[int(at)] for at in chosen)]
    if stacked:
        inputs["k"] = (2, rows, columns)
        return onnx_model(nodes, inputs, [*outputs, whole], constants), f"{pairs},k={whole}"
    return onnx_model(nodes, inputs, outputs, constants), pairs
