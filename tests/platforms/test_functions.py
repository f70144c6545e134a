"""Functions of floats without the library: as near as they say everywhere, and right at the ends."""

from __future__ import annotations

from collections.abc import Callable
from math import erf
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from graphs import node, onnx_model
from tilewright.compile import compile_model
from tilewright.conformance.program import STRICT, run_batch
from tilewright.conformance.subject import subject
from tilewright.options import CompileOptions
from tilewright.plugins import platform
from tilewright.target import load_target

BOUND = 2.5e-7
"""Of a result, relative to it: two units of the last place."""
SELU = 1.67326319217681884765625, 1.05070102214813232421875
Reals = npt.NDArray[np.float64]


def sigmoid(x: Reals) -> Reals:
    """In double."""
    return np.asarray(1 / (1 + np.exp(-x)))


WANTED: dict[str, Callable[[Reals], Reals]] = {
    "Sigmoid": sigmoid,
    "Swish": lambda x: x * sigmoid(x),
    "Tanh": np.tanh,
    "Erf": np.vectorize(erf),
    "Elu": lambda x: np.where(x < 0, np.expm1(x), x),
    "Selu": lambda x: np.asarray(SELU[1] * np.where(x < 0, SELU[0] * np.expm1(x), x)),
}
ENDS = {"Sigmoid": (0.0, 1.0), "Tanh": (-1.0, 1.0), "Erf": (-1.0, 1.0), "Elu": (-1.0, np.inf)}


@pytest.mark.parametrize("flags", [("-O2",), ("-O1", "-U__SSE2__")], ids=["vectors", "branches"])
def test_functions_are_near_everywhere_and_right_at_the_ends(flags: tuple[str, ...], tmp_path: Path) -> None:
    small = np.logspace(-30, 0, 500)
    x = np.concatenate([np.linspace(-30, 30, 4001), small, -small, [-86, 86, np.nan, -np.inf, np.inf]])
    given = x.astype(np.float32)
    nodes = [node(name, "x", name, name.lower()) for name in WANTED]
    path = tmp_path / "functions.onnx"
    onnx.save(onnx_model(nodes, {"x": [given.size]}, list(WANTED), opset=24), path)
    compiled = compile_model(path, CompileOptions(), load_target("host"))
    assert {i.kernel.name for i in compiled.plan.instructions if i.kernel is not None} == {"FunctionsF32"}
    made = subject(compiled.placed, platform("generic"), [[given]])
    (outcome,) = run_batch([made], tmp_path, flags=(*flags, *STRICT))
    assert not outcome.failure
    (found,) = outcome.runs
    for name, result in zip(WANTED, found, strict=True):
        inner, right = result[:-3].astype(np.float64), WANTED[name](given[:-3].astype(np.float64))
        smallest = np.finfo(np.float32).smallest_normal
        assert np.abs(inner - right).max(where=np.abs(right) < smallest, initial=0.0) <= smallest
        assert (np.abs(inner - right) <= BOUND * np.abs(right) + smallest).all(), name
        assert np.isnan(result[-3]), name
        if name in ENDS:
            assert tuple(result[-2:].tolist()) == ENDS[name], name


def distributions(x: npt.NDArray[np.float32]) -> Reals:
    """Softmax of rows in double, of differences in float."""
    with np.errstate(invalid="ignore", over="ignore"):
        raised = np.exp((x - x.max(axis=1, keepdims=True)).astype(np.float64))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("flags", [("-O2",), ("-O1", "-U__SSE2__")], ids=["vectors", "branches"])
def test_distributions_are_near_and_keep_what_is_no_number(flags: tuple[str, ...], tmp_path: Path) -> None:
    given = np.random.default_rng(1).normal(0, 20, (9, 37)).astype(np.float32)
    given[1, 5:] = -np.inf  # a mask
    given[2] = [*range(36), 300]  # the largest comes last
    given[3, 0], given[4, 9], given[5, 7], given[6] = np.nan, np.nan, np.inf, -np.inf
    given[7] = np.linspace(-3e38, 3e38, 37)
    path = tmp_path / "distributions.onnx"
    onnx.save(onnx_model([node("Softmax", "x", "y", "y")], {"x": [9, 37]}, ["y"], opset=17), path)
    compiled = compile_model(path, CompileOptions(), load_target("host"))
    assert {i.kernel.name for i in compiled.plan.instructions if i.kernel is not None} == {"SoftmaxF32"}
    made = subject(compiled.placed, platform("generic"), [[given]])
    (outcome,) = run_batch([made], tmp_path, flags=(*flags, *STRICT))
    assert not outcome.failure
    ((result,),) = outcome.runs
    smallest = float(np.finfo(np.float32).smallest_normal)
    np.testing.assert_allclose(result, distributions(given), rtol=1e-6, atol=smallest)
