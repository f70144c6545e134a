"""Functions of floats where there is no float unit: near the true value at every size."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from onnx import TensorProto, helper
from tilewright.conformance.program import STRICT, run_batch
from tilewright.conformance.subject import load_and_pass, place, subject
from tilewright.model import Array
from tilewright.ops.index.scalars import erf
from tilewright.plugins import kernels_of, platform

Reals = npt.NDArray[np.float64]
Meaning = Callable[[Reals], Reals]
SMALLEST = float(np.finfo(np.float32).smallest_normal)
SELU = 1.67326319217681884765625, 1.05070102214813232421875


def _sigmoid(x: Reals) -> Reals:
    return np.asarray(np.exp(-np.logaddexp(0, -x)))


def _mish(x: Reals) -> Reals:
    power = np.exp(np.minimum(x, 40))
    return np.asarray(x * (power * (power + 2)) / (power * (power + 2) + 2))


def _line(slope: float, offset: float) -> Meaning:
    return lambda x: np.clip(np.float32(slope) * x + np.float32(offset), 0, 1)


RELATIVE: list[tuple[str, dict[str, Any], Meaning]] = [
    ("Sigmoid", {}, _sigmoid),
    ("Swish", {}, lambda x: x * _sigmoid(x)),
    ("Tanh", {}, np.tanh),
    ("Erf", {}, erf),
    ("Elu", {}, lambda x: np.where(x < 0, np.expm1(np.minimum(x, 0)), x)),
    ("Selu", {}, lambda x: SELU[1] * np.where(x < 0, SELU[0] * np.expm1(np.minimum(x, 0)), x)),
    ("Exp", {}, np.exp),
    ("Mish", {}, _mish),
    ("Softplus", {}, lambda x: np.logaddexp(0, x)),
]
"""Within 2e-7 of themselves."""
CANCELLED: list[tuple[str, dict[str, Any], Meaning]] = [
    ("Gelu", {}, lambda x: 0.5 * x * (1 + erf(x / sqrt(2)))),
    ("Gelu", {"approximate": "tanh"}, lambda x: x * _sigmoid(1.5957691216057308 * (x + 0.044715 * x * x * x))),
    ("HardSwish", {}, lambda x: x * np.clip(x / 6 + 0.5, 0, 1)),
    ("HardSigmoid", {"alpha": 0.3, "beta": -1.25}, _line(0.3, -1.25)),
    ("HardSigmoid", {"alpha": -2.5, "beta": 1.5}, _line(-2.5, 1.5)),
]
"""Sums that cancel: within 2e-7 of the operand's size, or of 1."""


def _found(op: str, attributes: dict[str, Any], x: Array, folder: Path) -> Array:
    """What the kernel's C gives on this machine."""
    generic = platform("generic")
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, x.shape) for name in "xy"]
    node = helper.make_node(op, ["x"], ["y"], op, **attributes)
    graph = helper.make_graph([node], "g", ports[:1], ports[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 24)], ir_version=10)
    named = [one for one in kernels_of(generic) if (one.name, one.op) == ("FunctionsWhole", op)]
    made = subject(place(load_and_pass(model, "g"), generic, named), generic, [[x]])
    (outcome,) = run_batch([made], folder, flags=("-O2", *STRICT))
    assert outcome.failure == ""
    return outcome.runs[0][0]


def _inputs() -> Array:
    """Floats of every size, those near ends of a polynomial, infinite ones and one that is no number at the end."""
    every = np.arange(0, 1 << 32, 40009, dtype=np.uint64).astype(np.uint32).view(np.float32)
    every = every[np.isfinite(every) & (np.abs(every) >= SMALLEST)]
    usual = np.random.default_rng(3).normal(0, 3, 20000).astype(np.float32)
    ends = np.array([2**-3, 2**-13, 1, 2, 3.95, 5.586144, 8, 16, 32, 64, 86], np.float32)
    near = np.concatenate([np.nextafter(ends, np.float32(way)) for way in (0, 99)])
    return np.concatenate([every, usual, ends, -ends, near, -near, np.array([0, np.inf, -np.inf, np.nan], np.float32)])


@pytest.mark.parametrize(("op", "attributes", "meaning"), [*RELATIVE, *CANCELLED])
def test_every_size_of_input(op: str, attributes: dict[str, Any], meaning: Meaning, tmp_path: Path) -> None:
    x = _inputs()
    found = _found(op, attributes, x, tmp_path).astype(np.float64)
    with np.errstate(all="ignore"):
        wide = x.astype(np.float64)
        right, single = meaning(wide), meaning(wide).astype(np.float32)
    assert np.isnan(found[-1])
    assert np.array_equal(np.isnan(found), np.isnan(right) | np.isnan(x))
    real = np.isfinite(single)
    assert np.array_equal(found[~real & ~np.isnan(single)], single[~real & ~np.isnan(single)])
    size = np.abs(right) if (op, attributes, meaning) in RELATIVE else np.maximum(1, np.abs(wide))
    away = np.abs(found[real] - right[real]) - 2 * SMALLEST * np.maximum(1, np.abs(x[real]))
    worst = np.argmax(away - 2e-7 * size[real])
    assert (away <= 2e-7 * size[real]).all(), (x[real][worst], found[real][worst], right[real][worst])


def test_a_multiple_of_the_operand(tmp_path: Path) -> None:
    x = np.random.default_rng(5).normal(0, 9, 3000).astype(np.float32)
    wide = x.astype(np.float64)
    assert np.allclose(_found("Swish", {"alpha": 1.702}, x, tmp_path), wide * _sigmoid(1.702 * wide), 1e-5, 1e-30)
    assert np.allclose(_found("Elu", {"alpha": 0.3}, x, tmp_path), np.where(x < 0, 0.3 * np.expm1(wide), wide), 1e-6)
