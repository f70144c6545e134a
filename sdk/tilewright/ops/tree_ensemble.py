"""TreeEnsemble: decision trees as tables, which the frontend makes of the operators of ai.onnx.ml.

A node is an entry of `features`, `splits` and `others`. It compares one feature of the row with its split: where the
test holds the next node follows, else the node that `others` names. A leaf has the feature -1; its `others` is the
first of its entries in `targets` and `weights`. A target of -1 - t means t, and that another entry of the leaf follows.
"""

from __future__ import annotations

import numpy as np

from tilewright.model import Array, DType
from tilewright.ops.operands import Arrays, given, maybe, result
from tilewright.ops.operator import Call, Kind, Operator, TensorType

DOMAIN = "tilewright"
TESTS = ("<=", "<", ">=", ">", "==", "!=")
"""The test that each number in `modes` stands for; without `modes` all are the first."""
MISSING = 8
"""Added to a mode where a feature that is NaN passes the test."""
AGGREGATES = ("SUM", "MIN", "MAX")
_OPERANDS = ("x", "roots", "features", "splits", "others", "targets", "weights", "modes")


def _infer(call: Call) -> tuple[TensorType, ...]:
    shape, targets = call.shape(), call.integer("n_targets")
    x, splits, weights = call.tensor(0), call.tensor(3), call.tensor(6)
    if len(shape) != 2 or x.dtype not in (DType.F32, DType.F64) or targets < 1:
        raise call.invalid(f"it takes rows of floats and gives at least one number, not {shape} and {targets}")
    if splits.dtype is not x.dtype or weights.dtype is not x.dtype or call.text("aggregate", "SUM") not in AGGREGATES:
        raise call.invalid("its splits and weights are of the type of its rows, and it adds, or takes an extreme")
    for index in range(1, len(call.inputs)):
        call.constant(index, "a table of trees")
    return (result(call, x.dtype, (shape[0], targets)),)


def _passes(value: Array, split: Array, mode: int) -> Array:
    tests = (np.less_equal, np.less, np.greater_equal, np.greater, np.equal, np.not_equal)
    passed = tests[mode % MISSING](value, split)
    return np.asarray(passed | (np.isnan(value) & (mode >= MISSING)))


def _reached(x: Array, tables: tuple[Array, Array, Array], root: int, modes: Array | None) -> Array:
    """The leaf of one tree for each row."""
    features, splits, others = tables
    nodes = np.full(len(x), root)
    while (inner := features[nodes] >= 0).any():
        rows, at = np.flatnonzero(inner), nodes[inner]
        value, split = x[rows, features[at]], splits[at]
        kinds = np.zeros(len(at), np.int64) if modes is None else modes[at].astype(np.int64)
        passed = np.zeros(len(at), bool)
        for mode in np.unique(kinds):
            passed |= (kinds == mode) & _passes(value, split, int(mode))
        nodes[inner] = np.where(passed, at + 1, others[at])
    return nodes


def _evaluate(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    x, roots, features, splits, others, targets, weights = (given(arrays, index) for index in range(7))
    kind = call.text("aggregate", "SUM")
    start = {"SUM": 0, "MIN": np.inf, "MAX": -np.inf}[kind]
    combine = {"SUM": np.add, "MIN": np.minimum, "MAX": np.maximum}[kind]
    total = np.full((len(x), call.integer("n_targets")), start, x.dtype)
    for root in roots:
        leaves = _reached(x, (features, splits, others), int(root), maybe(arrays, 7))
        for row, leaf in enumerate(leaves):
            entry, more = int(others[leaf]), True
            while more:
                target = int(targets[entry])
                more, target = target < 0, target if target >= 0 else -1 - target
                total[row, target] = combine(total[row, target], weights[entry])
                entry += 1
    return (np.where(np.isinf(total), np.zeros_like(total), total) if kind != "SUM" else total,)


OPERATORS = (Operator("TreeEnsemble", _infer, _evaluate, _OPERANDS, kind=Kind.OPAQUE, domain=DOMAIN, sketch="trees"),)
