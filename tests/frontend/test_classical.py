"""Operators of ai.onnx.ml compute what ONNX Runtime computes, as nodes and in C."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from graphs import execute, node, onnx_model, reference
from in_c import Trial, hold
from tilewright.errors import ModelError, UnsupportedNode
from tilewright.frontend.load import load

ML = "ai.onnx.ml"
RANDOM = np.random.default_rng(17)
INT64 = onnx.TensorProto.INT64


def case(op: str, x: Any, results: str, version: int = 3, **attributes: Any) -> Trial:
    """One node of one operand; the first of two results is a label."""
    x = np.asarray(x)
    kinds = {"x": onnx.helper.np_dtype_to_tensor_dtype(x.dtype)}
    names = results.split()
    if len(names) > 1:
        kinds[names[0]] = INT64
    results = results.removesuffix(" -")
    made = node(op, "x", results, "n", ML, **attributes)
    proto = onnx_model([made], {"x": x.shape}, [each for each in names if each != "-"], types=kinds)
    proto.opset_import.add(domain=ML, version=version)
    return Trial(proto, {"x": x})


def grown(trees: int, depth: int, features: int, modes: tuple[str, ...]) -> dict[str, Any]:
    """Random trees, not all branches of one depth."""
    found: dict[str, list[Any]] = {name: [] for name in ("treeids", "nodeids", "featureids", "values", "modes",
                                                        "truenodeids", "falsenodeids")}  # fmt: skip
    for tree in range(trees):
        count, work = 1, [(0, 0)]
        while work:
            name, level = work.pop(0)
            leaf = level == depth or (level > 1 and RANDOM.random() < 0.25)
            children = (0, 0) if leaf else (count, count + 1)
            if not leaf:
                work += [(children[0], level + 1), (children[1], level + 1)]
                count += 2
            values = (tree, name, 0 if leaf else int(RANDOM.integers(features)),
                      0.0 if leaf else float(np.float32(RANDOM.integers(-3, 4) / 2)),
                      "LEAF" if leaf else str(RANDOM.choice(modes)), *children)  # fmt: skip
            for key, value in zip(found, values, strict=True):
                found[key].append(value)
    return {f"nodes_{name}": values for name, values in found.items()}


def weighed(nodes: dict[str, Any], prefix: str, targets: list[int], signed: bool = True) -> dict[str, Any]:
    """Weights for every leaf and target."""
    leaves = [i for i, mode in enumerate(nodes["nodes_modes"]) if mode == "LEAF"]
    owners = [(nodes["nodes_treeids"][i], nodes["nodes_nodeids"][i], t) for i in leaves for t in targets]
    weights = RANDOM.standard_normal(len(owners)) if signed else RANDOM.random(len(owners)) / 8
    return {
        f"{prefix}_treeids": [tree for tree, _, _ in owners], f"{prefix}_nodeids": [name for _, name, _ in owners],
        f"{prefix}_ids": [target for _, _, target in owners], f"{prefix}_weights": weights.astype(np.float32).tolist(),
    }  # fmt: skip


X = (RANDOM.integers(-8, 9, (6, 5)) / 4).astype(np.float32)
LEQ = ("BRANCH_LEQ",)
ALL = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")


def forest(op: str, trees: int, targets: list[int], modes: tuple[str, ...] = LEQ, x: Any = X, **more: Any) -> Trial:
    nodes = grown(trees, 4, 5, modes)
    signed = more.pop("signed", True)
    if op == "TreeEnsembleRegressor":
        return case(op, x, "y", **nodes, **weighed(nodes, "target", targets, signed), n_targets=len(targets), **more)
    return case(op, x, "l y", **nodes, **weighed(nodes, "class", targets, signed), **more)


MISSING = np.where(X > 1.5, np.nan, X).astype(np.float32)
TREES = {
    "one target": forest("TreeEnsembleRegressor", 7, [0], base_values=[0.5]),
    "three targets, all tests, NaN": forest("TreeEnsembleRegressor", 5, [0, 1, 2], ALL, MISSING),
    "less": forest("TreeEnsembleRegressor", 5, [0], ("BRANCH_LT",), MISSING),
    "mean": forest("TreeEnsembleRegressor", 4, [0, 1], aggregate_function="AVERAGE"),
    "least": forest("TreeEnsembleRegressor", 4, [0, 1], aggregate_function="MIN"),
    "greatest": forest("TreeEnsembleRegressor", 4, [0, 1], aggregate_function="MAX", base_values=[1.0, 2.0]),
    "doubles": forest("TreeEnsembleRegressor", 4, [0], x=X.astype(np.float64)),
    "integers": forest("TreeEnsembleClassifier", 4, [0, 1, 2], classlabels_int64s=[0, 1, 2], x=X.astype(np.int64)),
    "three classes": forest("TreeEnsembleClassifier", 6, [0, 1, 2], classlabels_int64s=[0, 1, 2]),
    "labels": forest("TreeEnsembleClassifier", 6, [0, 1, 2], classlabels_int64s=[7, 3, 11], post_transform="SOFTMAX"),
    "two classes": forest("TreeEnsembleClassifier", 6, [0, 1], classlabels_int64s=[0, 1]),
    "logistic": forest("TreeEnsembleClassifier", 6, [0], classlabels_int64s=[0, 1], post_transform="LOGISTIC"),
    "logistic 1": forest("TreeEnsembleClassifier", 6, [1], classlabels_int64s=[0, 1], post_transform="LOGISTIC"),
    "one class, signed": forest("TreeEnsembleClassifier", 6, [0], classlabels_int64s=[4, 9], base_values=[0.25]),
    "one class, positive": forest("TreeEnsembleClassifier", 6, [0], classlabels_int64s=[0, 1], signed=False),
}


def floats(*shape: int) -> list[float]:
    return RANDOM.standard_normal(shape).astype(np.float32).reshape(-1).tolist()


VECTORS = {"support_vectors": floats(9, 5), "kernel_params": [0.2, 0.5, 3.0]}
PAIRS = {"vectors_per_class": [3, 2, 4], "coefficients": floats(2, 9), "rho": floats(3), "classlabels_ints": [5, 2, 8]}
TWO = {"vectors_per_class": [4, 5], "coefficients": floats(9), "rho": floats(1), "classlabels_ints": [0, 1]}
IDS = np.array([[3, 1], [7, 9], [-4, 2]])
ENCODED: dict[str, Any] = {"keys_int64s": [1, 3, 7], "values_int64s": [10, 30, 70], "default_int64": -5}
MODELS = {
    "LinearRegressor": case("LinearRegressor", X, "y", 1, coefficients=floats(2, 5), intercepts=floats(2), targets=2),
    "LinearClassifier": case("LinearClassifier", X, "l y", 1, coefficients=floats(3, 5), intercepts=floats(3),
                             classlabels_ints=[4, 1, 6], post_transform="SOFTMAX", multi_class=1),
    "LinearClassifier two": case("LinearClassifier", X, "l y", 1, coefficients=floats(2, 5), intercepts=floats(2),
                                 classlabels_ints=[0, 1], post_transform="LOGISTIC"),
    "LinearClassifier one": case("LinearClassifier", X, "l y", 1, coefficients=floats(5), intercepts=floats(1),
                                 classlabels_ints=[0, 1], post_transform="LOGISTIC"),
    **{
        f"SVMRegressor {kind}": case("SVMRegressor", X, "y", 1, kernel_type=kind, n_supports=9,
                                     coefficients=floats(9), rho=floats(1), **VECTORS)
        for kind in ("LINEAR", "RBF", "POLY", "SIGMOID")
    },
    "SVMRegressor one class": case("SVMRegressor", X, "y", 1, kernel_type="RBF", n_supports=9, one_class=1,
                                   coefficients=floats(9), rho=[0.1], **VECTORS),
    "SVMClassifier three": case("SVMClassifier", X, "l y", 1, kernel_type="RBF", **VECTORS, **PAIRS),
    "SVMClassifier two": case("SVMClassifier", X, "l y", 1, kernel_type="POLY", **VECTORS, **TWO),
    "SVMClassifier probable": case("SVMClassifier", X, "l y", 1, kernel_type="RBF", prob_a=[-1.5], prob_b=[0.25],
                                   **VECTORS, **TWO),
    "Scaler": case("Scaler", X, "y", 1, scale=floats(5), offset=floats(5)),
    "Scaler integers": case("Scaler", IDS, "y", 1, scale=[0.5], offset=[2.0]),
    **{f"Normalizer {norm}": case("Normalizer", X, "y", 1, norm=norm) for norm in ("L1", "L2")},
    "Normalizer MAX": case("Normalizer", np.abs(X) + 1, "y", 1, norm="MAX"),
    "Binarizer": case("Binarizer", X, "y", 1, threshold=0.25),
    "Imputer": case("Imputer", MISSING, "y", 1, imputed_value_floats=floats(5), replaced_value_float=float("nan")),
    "OneHotEncoder": case("OneHotEncoder", IDS, "y", 1, cats_int64s=[1, 7, 2]),
    "LabelEncoder": case("LabelEncoder", IDS, "l -", 4, **ENCODED),
    "LabelEncoder far": case("LabelEncoder", IDS * 1000, "l -", 4, **{**ENCODED, "keys_int64s": [3000, 1000, 9000]}),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_models(name: str) -> None:
    trial = MODELS[name]
    expected = reference(trial.proto, trial.feeds)
    found = execute(load(trial.proto), trial.feeds)
    for output, want in expected.items():
        assert found[output].dtype == want.dtype
        atol = 2.5e-3 if "probable" in name else 2e-6  # there ONNX Runtime ends an iteration early
        np.testing.assert_allclose(found[output], want, rtol=2e-5, atol=atol, err_msg=output)


def test_columns_by_number() -> None:
    made = node("ArrayFeatureExtractor", "x i", "y", "n", ML)
    proto = onnx_model([made], {"x": X.shape}, ["y"], {"i": np.array([[4, 0]])})
    proto.opset_import.add(domain=ML, version=1)
    np.testing.assert_array_equal(execute(load(proto), {"x": X})["y"], X[:, [4, 0]])


def test_dictionaries_are_refused_with_the_way_round() -> None:
    trial = case("ZipMap", X[:, :2], "y", 1, classlabels_int64s=[0, 1])
    with pytest.raises(UnsupportedNode, match="it makes a list of dictionaries; convert with zipmap=False"):
        load(trial.proto)


def test_a_forest_of_version_5() -> None:
    tensor = onnx.numpy_helper.from_array
    trial = case(
        "TreeEnsemble", X, "y", 5, n_targets=2, aggregate_function=1, post_transform=0, tree_roots=[0, 2],
        nodes_modes=tensor(np.array([0, 3, 1], np.uint8)), nodes_featureids=[0, 2, 1],
        nodes_splits=tensor(np.array([0.5, -0.25, 0.0], np.float32)), nodes_truenodeids=[1, 0, 2],
        nodes_trueleafs=[0, 1, 1], nodes_falsenodeids=[3, 1, 2], nodes_falseleafs=[1, 1, 1],
        leaf_targetids=[0, 1, 0, 1], leaf_weights=tensor(np.array([5.0, 12.5, -13.5, 0.75], np.float32)),
    )  # fmt: skip
    want = reference(trial.proto, trial.feeds)["y"]
    np.testing.assert_allclose(execute(load(trial.proto), trial.feeds)["y"], want, rtol=1e-6)


def with_sets(depth: int) -> Trial:
    """A tree whose tests are of members or of one number, drawn, with rows that hold NaN."""
    nodes: list[dict[str, Any]] = []
    members: list[float] = []
    leaves = 0

    def grow(left: int) -> int:
        nonlocal leaves
        at, mode = len(nodes), int(RANDOM.choice([0, 4, 5, 6, 6, 6]))
        made: dict[str, Any] = {"featureids": int(RANDOM.integers(3)), "modes": mode, "splits": RANDOM.integers(6),
                                "missing_value_tracks_true": int(RANDOM.integers(2))}  # fmt: skip
        nodes.append(made)
        if mode == 6:
            members.extend([*RANDOM.permutation(6)[: RANDOM.integers(1, 4)].tolist(), np.nan])
        for way in ("true", "false"):
            leaf = left <= 1 or bool(RANDOM.random() < 0.25)
            leaves += leaf
            made |= {f"{way}leafs": int(leaf), f"{way}nodeids": leaves - 1 if leaf else grow(left - 1)}
        return at

    roots = [grow(depth) for _ in range(2)]
    tensor = onnx.numpy_helper.from_array
    lists: dict[str, Any] = {f"nodes_{name}": [made[name] for made in nodes] for name in nodes[0]}
    lists["nodes_modes"] = tensor(np.array(lists["nodes_modes"], np.uint8))
    lists["nodes_splits"] = tensor(np.array(lists["nodes_splits"], np.float32))
    lists["leaf_weights"] = tensor(RANDOM.integers(1, 99, leaves).astype(np.float32))
    rows = RANDOM.integers(0, 7, (48, 3)).astype(np.float32)
    rows[RANDOM.random(rows.shape) < 0.1] = np.nan
    lists["membership_values"] = tensor(np.array(members, np.float32))
    return case("TreeEnsemble", rows, "y", 5, n_targets=1, aggregate_function=1, post_transform=0, tree_roots=roots,
                leaf_targetids=[0] * leaves, **lists)  # fmt: skip


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 5])
def test_members_of_sets(depth: int) -> None:
    trial = with_sets(depth)
    session = onnxruntime.InferenceSession(trial.proto.SerializeToString())
    np.testing.assert_array_equal(execute(load(trial.proto), trial.feeds)["y"], session.run(None, trial.feeds)[0])


@pytest.mark.parametrize("missing", [[0, 0, 0], [0, 1, 0], [1, 0, 1], [1, 1, 1]])
def test_two_sets_lead_to_one_leaf(missing: list[int]) -> None:
    tensor = onnx.numpy_helper.from_array
    rows = np.stack(np.meshgrid(*[[*range(6), np.nan]] * 3), -1).reshape(-1, 3).astype(np.float32)
    trial = case(
        "TreeEnsemble", rows, "y", 5, n_targets=1, aggregate_function=1, post_transform=0, tree_roots=[0],
        leaf_targetids=[0, 0], leaf_weights=tensor(np.array([7, 9], np.float32)), nodes_featureids=[0, 1, 2],
        nodes_modes=tensor(np.array([6, 6, 0], np.uint8)), nodes_splits=tensor(np.array([0, 0, 3], np.float32)),
        nodes_trueleafs=[1, 1, 1], nodes_truenodeids=[0, 0, 0], nodes_falseleafs=[0, 0, 1],
        nodes_falsenodeids=[1, 2, 1], nodes_missing_value_tracks_true=missing,
        membership_values=tensor(np.array([1, 2, np.nan, 3, 4, np.nan], np.float32)),
    )  # fmt: skip
    (first, second, last), unknown = rows.T, np.isnan(rows.T) & np.array(missing, bool)[:, None]
    passes = np.isin(first, (1, 2)) | np.isin(second, (3, 4)) | (last <= 3) | unknown.any(axis=0)
    found = execute(load(trial.proto), trial.feeds)["y"]
    np.testing.assert_array_equal(found[:, 0], np.where(passes, 7, 9))
    session = onnxruntime.InferenceSession(trial.proto.SerializeToString())
    np.testing.assert_array_equal(found, session.run(None, trial.feeds)[0])


def test_sets_that_are_missing_are_told() -> None:
    proto = with_sets(4).proto
    (sets,) = (each for each in proto.graph.node[0].attribute if each.name == "membership_values")
    sets.t.CopyFrom(onnx.numpy_helper.from_array(np.array([1.0], np.float32)))
    with pytest.raises(ModelError, match=r"of its nodes ask for members, attribute 'membership_values' has 1 sets"):
        load(proto)


def test_trees_in_c(tmp_path: Path) -> None:
    chosen = ("one target", "three targets, all tests, NaN", "least", "greatest", "doubles", "labels", "logistic")
    hold([*(TREES[name] for name in chosen), with_sets(4)], tmp_path)


def test_what_is_no_forest() -> None:
    broken = forest("TreeEnsembleRegressor", 2, [0])
    attributes = {each.name: each for each in broken.proto.graph.node[0].attribute}
    first = attributes["nodes_truenodeids"].ints[0]
    attributes["nodes_truenodeids"].ints[0] = 0  # the root leads to itself
    with pytest.raises(
        ModelError, match=r"node 'n' \(TreeEnsembleRegressor\) is invalid: it has no tree, or nodes that no root"
    ):
        load(broken.proto)
    attributes["nodes_truenodeids"].ints[0] = first
    attributes["nodes_featureids"].ints[0] = 5
    with pytest.raises(ModelError, match="its trees read feature 5 of rows of 5"):
        load(broken.proto)
    text = forest("TreeEnsembleClassifier", 2, [0, 1], classlabels_strings=["no", "yes"])
    with pytest.raises(UnsupportedNode, match=r"its labels are text .* train with labels that are numbers, or end"):
        load(text.proto)


@pytest.mark.parametrize("name", TREES)
def test_trees(name: str) -> None:
    trial = TREES[name]
    found, expected = execute(load(trial.proto), trial.feeds), reference(trial.proto, trial.feeds)
    for output, want in expected.items():
        assert found[output].dtype == want.dtype
        np.testing.assert_allclose(found[output], want, rtol=1e-5, atol=1e-6, err_msg=output)
