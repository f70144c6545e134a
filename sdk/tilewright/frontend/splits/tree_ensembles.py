"""TreeEnsembleClassifier, TreeEnsembleRegressor (versions 1 to 5) and TreeEnsemble of ai.onnx.ml."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tilewright.frontend.splits import scores
from tilewright.frontend.splits.parts import Parts
from tilewright.frontend.splits.scores import ML
from tilewright.frontend.splits.trees import Entries, Forest, ensemble
from tilewright.frontend.splits.trees_of_sets import MEMBER, sets_of, without_sets
from tilewright.model import DType
from tilewright.ops.tree_ensemble import MISSING

_TESTS = {
    "BRANCH_LEQ": 0, "BRANCH_LT": 1, "BRANCH_GTE": 2, "BRANCH_GT": 3, "BRANCH_EQ": 4, "BRANCH_NEQ": 5,
}  # fmt: skip
_LEAF = "LEAF"
Numbers = npt.NDArray[Any]


def _list(parts: Parts, name: str, count: int = -1) -> Numbers:
    """An attribute that is a list of numbers, as floats or integers, or as a tensor by the name behind it."""
    stored = parts.stored(f"{name}_as_tensor")
    if stored is None:
        stored = parts.stored(name)
    values = np.asarray(parts.numbers(name, ()) if stored is None else stored).reshape(-1)
    if count >= 0 and values.size != count:
        raise parts.invalid(f"attribute '{name}' has {values.size} values, the trees have {count}")
    return values


def _forest(parts: Parts, prefix: str) -> Forest:
    """The trees of the older form, whose nodes are numbered in each tree."""
    modes = parts.node.attributes.get("nodes_modes", ())
    if not isinstance(modes, tuple) or not modes:
        raise parts.invalid("it has no trees")
    count = len(modes)
    trees, ids, features, yes, no = (
        _list(parts, f"nodes_{name}", count).astype(np.int64)
        for name in ("treeids", "nodeids", "featureids", "truenodeids", "falsenodeids")
    )
    splits = _list(parts, "nodes_values", count)
    missing = parts.numbers("nodes_missing_value_tracks_true", ()) or (0,) * count
    place = {(int(tree), int(node)): index for index, (tree, node) in enumerate(zip(trees, ids, strict=True))}
    entries: dict[int, list[tuple[int, float]]] = {}
    passed, failed, kinds = [-1] * count, [-1] * count, [0] * count
    for index, mode in enumerate(modes):
        if mode == _LEAF:
            entries[index] = []
            continue
        if mode not in _TESTS:
            raise parts.unsupported(f"its node tests '{mode}'", "train with tests of one threshold")
        kinds[index] = _TESTS[str(mode)] + (MISSING if missing[index] else 0)
        tree = int(trees[index])
        passed[index], failed[index] = place.get((tree, int(yes[index])), -1), place.get((tree, int(no[index])), -1)
    weights = _list(parts, f"{prefix}_weights")
    owners = [_list(parts, f"{prefix}_{name}", weights.size).astype(int) for name in ("treeids", "nodeids", "ids")]
    for tree, node, target, weight in zip(*owners, weights, strict=True):
        leaf = entries.get(place.get((tree, node), -1))
        if leaf is None:
            raise parts.invalid(f"a weight belongs to node {node} of tree {tree}, which is no leaf")
        leaf.append((int(target), float(weight)))
    reached = {*passed, *failed}
    roots = [index for index in range(count) if index not in reached]
    if len(roots) != len(set(trees.tolist())):
        raise parts.invalid(f"its {len(set(trees.tolist()))} trees have {len(roots)} roots")
    leaves: dict[int, Entries] = {index: tuple(leaf) for index, leaf in entries.items()}
    return Forest(features.tolist(), splits.tolist(), kinds, passed, failed, leaves, roots)


def _aggregated(parts: Parts, forest: Forest, targets: int) -> str:
    """Scores in float, base values added."""
    kind = parts.text("aggregate_function", "SUM")
    if kind not in ("SUM", "AVERAGE", "MIN", "MAX"):
        raise parts.invalid(f"attribute 'aggregate_function' is '{kind}'")
    sums = ensemble(parts, forest, targets, "SUM" if kind == "AVERAGE" else kind)
    wide = parts.tensor(0).dtype is DType.F64
    dtype = DType.F64 if wide else DType.F32
    if kind == "AVERAGE":
        sums = parts.op("Div", sums, parts.constant(len(forest.roots), dtype))
    base = _list(parts, "base_values")
    if base.size in (1, targets) and base.any():
        sums = parts.op("Add", sums, parts.constant(base, dtype))
    elif base.size not in (0, 1, targets):
        raise parts.invalid(f"it has {base.size} base values for {targets} targets")
    return parts.op("Cast", sums, to=1) if wide else sums


def _regressor(parts: Parts) -> None:
    sums = _aggregated(parts, _forest(parts, "target"), parts.whole("n_targets", 1))
    scores.transformed(parts, sums, parts.text("post_transform", "NONE"), parts.output(0))


def _classifier(parts: Parts) -> None:
    """As ONNX Runtime: two classes whose leaves all weigh one of them have one score."""
    names = parts.node.attributes.get("classlabels_strings") or parts.numbers("classlabels_int64s", ())
    assert isinstance(names, tuple)
    count, kind = len(names), parts.text("post_transform", "NONE")
    forest = _forest(parts, "class")
    ids = set(_list(parts, "class_ids").astype(int).tolist())
    if count == 2 and len(ids) == 1:
        _one_score(parts, forest, ids.pop(), kind)
        return
    sums = _aggregated(parts, forest, max(count, 1))
    if count == 2:
        parts_of = parts.slice(sums, 1, 1, 2)
        scores.labels(parts, scores.above(parts, parts_of, 0.0), *_LABELS, count)
    else:
        scores.labels(parts, scores.largest(parts, sums), *_LABELS, count)
    if parts.output(1):
        scores.transformed(parts, sums, kind, parts.output(1))


_LABELS = ("classlabels_int64s", "classlabels_strings")


def _one_score(parts: Parts, forest: Forest, target: int, kind: str) -> None:
    if target not in (0, 1) or _list(parts, "base_values").size > 1:
        raise parts.unsupported("two classes share one score and have base values", "export with one base value")
    moved = {node: tuple((0, weight) for _, weight in leaf) for node, leaf in forest.entries.items()}
    one = Forest(forest.features, forest.splits, forest.modes, forest.passed, forest.failed, moved, forest.roots)
    score = _aggregated(parts, one, 1)
    positive = bool((_list(parts, "class_weights") >= 0).all())
    scores.labels(parts, scores.above(parts, score, 0.5 if positive else 0.0), *_LABELS, 2)
    if not target:
        scores.pair(parts, score, kind, complement=positive)
    elif parts.output(1):  # the other class has the score 0
        both = parts.op("Concat", parts.op("Sub", score, score), score, axis=1)
        scores.transformed(parts, both, kind, parts.output(1))


def _ensemble(parts: Parts) -> None:
    """Version 5: inner nodes and leaves are numbered apart."""
    features = _list(parts, "nodes_featureids").astype(int)
    count = features.size
    splits, modes = (_list(parts, name, count) for name in ("nodes_splits", "nodes_modes"))
    asking, sets = np.flatnonzero(modes == MEMBER).tolist(), sets_of(_list(parts, "membership_values").tolist())
    if len(asking) != len(sets):
        raise parts.invalid(
            f"{len(asking)} of its nodes ask for members, attribute 'membership_values' has {len(sets)} sets"
        )
    missing = parts.numbers("nodes_missing_value_tracks_true", ()) or (0,) * count
    kinds = [int(mode) + (MISSING if track else 0) for mode, track in zip(modes, missing, strict=True)]
    children = []
    for word in ("true", "false"):
        nodes, leaves = (_list(parts, f"nodes_{word}{what}", count).astype(int) for what in ("nodeids", "leafs"))
        children.append([int(node) + (count if leaf else 0) for node, leaf in zip(nodes, leaves, strict=True)])
    weights, targets = _list(parts, "leaf_weights"), _list(parts, "leaf_targetids").astype(int)
    entries = {count + k: ((int(t), float(w)),) for k, (t, w) in enumerate(zip(targets, weights, strict=True))}
    padding = [0] * len(entries)
    roots = [int(root) for root in _list(parts, "tree_roots")]
    forest = Forest([*features.tolist(), *padding], [*splits.tolist(), *padding], [*kinds, *padding],
                    [*children[0], *padding], [*children[1], *padding], entries, roots)  # fmt: skip
    forest = without_sets(forest, dict(zip(asking, sets, strict=True)))
    aggregate = ("AVERAGE", "SUM", "MIN", "MAX")[parts.whole("aggregate_function", 1) % 4]
    sums = ensemble(parts, forest, parts.whole("n_targets", 1), "SUM" if aggregate == "AVERAGE" else aggregate)
    if aggregate == "AVERAGE":
        sums = parts.op("Div", sums, parts.like(0, len(roots)))
    kind = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")[parts.whole("post_transform", 0) % 5]
    scores.transformed(parts, sums, kind, parts.output(0))


SPLITS = {
    (ML, "TreeEnsembleClassifier"): _classifier,
    (ML, "TreeEnsembleRegressor"): _regressor,
    (ML, "TreeEnsemble"): _ensemble,
}
