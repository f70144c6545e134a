"""Updates at indices that are known: the runs hold every place in its order, and the C writes what the indices say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from graphs import node, onnx_model
from tilewright.compile import compile_model
from tilewright.conformance.program import STRICT, run_batch
from tilewright.conformance.subject import subject
from tilewright.options import CompileOptions
from tilewright.platforms.generic.kernels.scatter_runs import Runs, runs_of
from tilewright.plugins import platform
from tilewright.target import load_target

REDUCED: dict[str, Any] = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}
Grid = npt.NDArray[np.int64]


def unrolled(runs: Runs) -> list[int]:
    """Every place, by the loops that the C has."""
    places = list(runs.starts)
    for level in runs.levels:
        places = [place + turn * level.step for place in places for turn in range(level.count)]
    return [place + j for place in places for j in range(runs.length)]


@pytest.mark.parametrize(
    ("places", "length", "levels", "starts"),
    [
        (np.arange(12), 12, 0, 1),
        (np.arange(60).reshape(5, 12)[:, 3:7].reshape(-1), 4, 1, 1),
        (np.arange(240).reshape(4, 5, 12)[1:3, ::2, 1:3].reshape(-1), 2, 2, 1),
        (np.array([7, 8, 2, 3, 2, 3, 11, 12]), 2, 0, 4),
        (np.array([9, 6, 3, 0]), 1, 1, 1),
        (np.array([5, 5, 5]), 1, 1, 1),
        (np.array([4]), 1, 0, 1),
    ],
)
def test_runs_hold_every_place_in_its_order(places: Grid, length: int, levels: int, starts: int) -> None:
    runs = runs_of(places)
    assert unrolled(runs) == places.tolist()
    assert (runs.length, len(runs.levels), len(runs.starts)) == (length, levels, starts)


def test_drawn_runs() -> None:
    generator = np.random.default_rng(7)
    for _ in range(200):
        shape = tuple(generator.integers(1, 6, 3))
        grid = np.arange(int(np.prod(shape))).reshape(shape)
        cut = tuple(slice(int(generator.integers(0, size)), None, int(generator.integers(1, 3))) for size in shape)
        places = grid[cut].reshape(-1)
        if generator.integers(0, 3) == 0:
            places = generator.permutation(places)
        assert unrolled(runs_of(places)) == places.tolist()


def elements(x: Any, indices: Grid, updates: Any, axis: int, reduction: str) -> Any:
    """ScatterElements, element by element."""
    result = x.copy()
    for place in np.ndindex(indices.shape):
        to = (*place[:axis], indices[place], *place[axis + 1 :])
        result[to] = updates[place] if reduction == "none" else REDUCED[reduction](result[to], updates[place])
    return result


def slices(x: Any, indices: Grid, updates: Any, reduction: str) -> Any:
    """ScatterND, tuple by tuple."""
    result = x.copy()
    for place in np.ndindex(indices.shape[:-1]):
        to = tuple(indices[place])
        result[to] = updates[place] if reduction == "none" else REDUCED[reduction](result[to], updates[place])
    return result


def test_updates_at_known_indices_in_c(tmp_path: Path) -> None:
    generator = np.random.default_rng(11)
    nodes: list[onnx.NodeProto] = []
    inputs, constants = dict[str, list[int]](), dict[str, object]()
    given, wanted = list[Any](), list[Any]()

    def layer(op: str, x: Any, indices: Grid, updates: Any, right: Any, **attributes: Any) -> None:
        n = len(nodes)
        inputs.update({f"x{n}": list(x.shape), f"u{n}": list(updates.shape)})
        constants[f"i{n}"] = indices
        nodes.append(node(op, f"x{n} i{n} u{n}", f"y{n}", f"scatter{n}", **attributes))
        given.extend([x, updates])
        wanted.append(right)

    def drawn(*shape: int) -> npt.NDArray[np.float32]:
        return generator.normal(0, 2, shape).astype(np.float32)

    x, rows = drawn(13, 7), np.repeat(generator.integers(-13, 13, (21, 1)), 7, axis=1)
    for reduction in ("add", "max", "min", "mul"):
        updates = drawn(21, 7)
        right = elements(x, rows, updates, 0, reduction)
        layer("ScatterElements", x, rows, updates, right, axis=0, reduction=reduction)
    columns = np.stack([generator.permutation(7)[:3] for _ in range(11)]) - 7
    updates = drawn(11, 3)
    layer("ScatterElements", x, columns, updates, elements(x, columns, updates, 1, "none"), axis=1)
    cube = drawn(2, 5, 9)
    grid = np.stack(np.meshgrid(range(2), range(-3, 0), range(9), indexing="ij"), -1)
    updates = drawn(2, 3, 9)
    layer("ScatterND", cube, grid, updates, slices(cube, grid, updates, "none"))
    tuples = generator.integers(-2, 2, (6, 2))
    updates = drawn(6, 9)
    layer("ScatterND", cube, tuples, updates, slices(cube, tuples, updates, "add"), reduction="add")
    long = drawn(9000, 8)
    tuples = np.array([[8999], [3], [8500]])
    updates = drawn(3, 8)
    layer("ScatterND", long, tuples, updates, slices(long, tuples, updates, "none"))
    path = tmp_path / "scatter.onnx"
    outputs = [f"y{n}" for n in range(len(nodes))]
    onnx.save(onnx_model(nodes, inputs, outputs, constants, opset=18), path)
    compiled = compile_model(path, CompileOptions(), load_target("host"))
    assert {i.kernel.name for i in compiled.plan.instructions if i.kernel is not None} == {"ScatterRuns"}
    (outcome,) = run_batch([subject(compiled.placed, platform("generic"), [given])], tmp_path, flags=("-O2", *STRICT))
    assert not outcome.failure
    for found, right in zip(outcome.runs[0], wanted, strict=True):
        np.testing.assert_array_equal(found, right)
