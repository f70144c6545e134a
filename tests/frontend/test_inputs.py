"""Shapes of inputs: fixed, open, asked for, frozen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from graphs import Dimensions, node, onnx_model
from onnx import TensorProto, helper
from tilewright.errors import ModelError, UsageError
from tilewright.frontend.load import frozen_inputs, load
from tilewright.model import DType


@pytest.mark.parametrize("batch", ["N", "batch_size", None])
def test_an_open_batch_is_one_and_said_so(batch: str | None) -> None:
    model = load(onnx_model([node("Relu", "x", "y")], {"x": [batch, 3, 8]}, ["y"]))
    assert model.tensors["y"].shape == (1, 3, 8)
    assert model.notes == ("input 'x': the batch size is open in the model and is taken as 1",)


@pytest.mark.parametrize(
    ("shape", "why", "fix"),
    [
        (["N", 3, "H", 8], "dimension 2 ('H') of [N, 3, H, 8] is open", "x=1,3,?,8 with a number for each '?'"),
        (["L"], "dimension 0 ('L') of [L] is open", "x=? with a number for each '?'"),
        ([1, None], "dimension 1 of [1, ?] is open", "x=1,? with a number for each '?'"),
    ],
)
def test_open_shapes_say_what_to_write(shape: Dimensions, why: str, fix: str) -> None:
    with pytest.raises(ModelError) as caught:
        load(onnx_model([node("Relu", "x", "y")], {"x": shape}, ["y"]))
    assert str(caught.value) == f"the shape of input 'x' is not fixed: {why}; write --shape {fix}"
    assert caught.value.where.tensor == "x"


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        ([1, 0], "input 'x' cannot be used: dimension 1 is 0; write --shape x=1,? with sizes of your own"),
        ([-1, 3], "input 'x' cannot be used: dimension 0 is -1; write --shape x=1,3 with sizes of your own"),
        ([1, 1 << 40], "tensor 'x' cannot be used: its shape [1, 1099511627776] means 4398046511104 bytes, the limit"),
        ([1 << 15, 1 << 15], "tensor 'x' cannot be used: its shape [32768, 32768] means 4294967296 bytes, the limit"),
    ],
)
def test_absurd_shapes_are_refused(shape: Dimensions, text: str) -> None:
    with pytest.raises(ModelError) as caught:
        load(onnx_model([node("Relu", "x", "y")], {"x": shape}, ["y"]))
    assert str(caught.value).startswith(text)


def test_an_input_without_a_shape_or_that_is_no_tensor_is_refused() -> None:
    proto = onnx_model([node("Relu", "x", "y")], {"x": [1]}, ["y"])
    proto.graph.input[0].type.tensor_type.ClearField("shape")
    with pytest.raises(ModelError, match=r"the shape of input 'x' is not known: .* write --shape x=1,\.\.\."):
        load(proto)
    assert load(proto, shapes={"x": (2, 2)}).tensors["y"].shape == (2, 2)
    proto.graph.input[0].CopyFrom(helper.make_tensor_sequence_value_info("x", TensorProto.FLOAT, [1]))
    with pytest.raises(ModelError, match="input 'x' cannot be used: it is not a tensor \\(sequence\\)"):
        load(proto)
    proto.graph.input[0].CopyFrom(helper.make_tensor_value_info("x", TensorProto.FLOAT8E4M3FN, [1]))
    with pytest.raises(ModelError, match="tensor 'x' cannot be used: elements of type float8e4m3fn are not supported"):
        load(proto)


def test_shapes_asked_for_settle_symbols_for_all_inputs() -> None:
    proto = onnx_model([node("Add", "a b", "y")], {"a": ["N", "L"], "b": ["N", "L"]}, ["y"])
    assert load(proto, shapes={"a": (2, 7)}).tensors["b"].shape == (2, 7)
    with pytest.raises(UsageError) as caught:
        load(proto, shapes={"a": (2, 7), "b": (3, 7)})
    assert str(caught.value).startswith("dimension 'N' cannot be 3 in input 'b': it is 2 in input 'a'")


@pytest.mark.parametrize("name", ["?", "", " ", "-1", "None", "unknown", "*"])
def test_a_name_that_means_unknown_stands_for_a_size_of_its_own_each_time(name: str) -> None:
    proto = onnx_model(
        [node("Relu", "x", "y"), node("Neg", "z", "w")], {"x": [1, 3, "a", "b"], "z": [4, 1]}, ["y", "w"]
    )
    for value in proto.graph.input:
        for dimension in value.type.tensor_type.shape.dim:
            if dimension.HasField("dim_param") or dimension.dim_value == 4:
                dimension.dim_param = name
    model = load(proto, shapes={"x": (1, 3, 48, 192), "z": (5, 1)})
    assert model.tensors["y"].shape == (1, 3, 48, 192)
    assert model.tensors["w"].shape == (5, 1)
    with pytest.raises(ModelError, match=r"dimension 2 of \[1, 3, \?, \?\] is open; write --shape x=1,3,\?,\?"):
        load(proto)


@pytest.mark.parametrize("name", ["_", "n?", "H", "-1x"])
def test_any_other_name_is_one_size_everywhere(name: str) -> None:
    proto = onnx_model([node("Relu", "x", "y")], {"x": [name, name]}, ["y"])
    assert load(proto, shapes={"x": (4, 4)}).tensors["y"].shape == (4, 4)
    with pytest.raises(UsageError, match="cannot be 5 in input 'x': it is 4 in input 'x'"):
        load(proto, shapes={"x": (4, 5)})


def test_a_fixed_shape_may_be_changed_and_this_is_noted() -> None:
    model = load(onnx_model([node("Relu", "x", "y")], {"x": [1, 3, 8]}, ["y"]), shapes={"x": (1, 3, 16)})
    assert model.tensors["y"].shape == (1, 3, 16)
    assert model.notes == ("input 'x' has shape [1, 3, 16] as asked for, the model says [1, 3, 8]",)


@pytest.mark.parametrize(
    ("shapes", "text"),
    [
        ({"z": (1,)}, "--shape z: the model has no input 'z'; there are 'x'"),
        ({"x": (1, 2)}, "input 'x' cannot have shape [1, 2]: the model gives it 3 dimensions: [N, 3, 8]; "),
        (
            {"x": (1, -3, 2)},
            "input 'x' cannot have shape [1, -3, 2]; every dimension is at least 1, or 0 for an input ",
        ),
    ],
)
def test_shapes_that_do_not_fit_the_model_are_usage_errors(shapes: dict[str, tuple[int, ...]], text: str) -> None:
    with pytest.raises(UsageError) as caught:
        load(onnx_model([node("Relu", "x", "y")], {"x": ["N", 3, 8]}, ["y"]), shapes=shapes)
    assert str(caught.value).startswith(text)


def test_an_input_without_elements_is_a_constant() -> None:
    proto = onnx_model([node("Concat", "past x", "y", axis=1)], {"past": [1, "P", 4], "x": [1, 2, 4]}, ["y"])
    model = load(proto, shapes={"past": (1, 0, 4)})
    assert model.inputs == ("x",)
    assert model.tensors["y"].shape == (1, 2, 4)
    assert model.notes[-1] == "input 'past' of shape [1, 0, 4] has no elements and is taken as a constant"


def test_a_frozen_input_is_a_constant_and_what_follows_is_folded() -> None:
    proto = onnx_model([node("Neg", "k", "n"), node("Add", "x n", "y")], {"x": [1, 4], "k": ["K"]}, ["y"])
    model = load(proto, frozen={"k": np.arange(4, dtype=np.float64)})
    assert model.inputs == ("x",)
    assert [each.op for each in model.nodes] == ["Add"]
    np.testing.assert_array_equal(model.constants["n"], -np.arange(4, dtype=np.float32))
    with pytest.raises(UsageError, match="--freeze q: the model has no input 'q'"):
        load(proto, frozen={"q": np.zeros(4)})


def test_a_frozen_value_must_survive_the_input_s_type() -> None:
    proto = onnx_model([node("Neg", "x", "y")], {"x": [2]}, ["y"], types={"x": TensorProto.INT8, "y": TensorProto.INT8})
    assert load(proto, frozen={"x": np.array([1, 2], np.int64)}).tensors["y"].dtype is DType.I8
    with pytest.raises(
        UsageError, match="input 'x' cannot be frozen to this value: it holds int64 values that i8 does not"
    ):
        load(proto, frozen={"x": np.array([1, 300], np.int64)})


def test_an_input_that_is_an_initialiser_is_a_constant_and_unused_initialisers_are_dropped() -> None:
    constants = {"w": np.ones(4, np.float32), "unused": np.ones(1000, np.float32)}
    model = load(onnx_model([node("Add", "x w", "y")], {"x": [1, 4], "w": [4]}, ["y"], constants))
    assert model.inputs == ("x",)
    assert set(model.constants) == {"w"}


def test_an_unused_initialiser_of_a_type_that_we_do_not_read_is_no_fault() -> None:
    proto = onnx_model([node("Relu", "x", "y")], {"x": [1, 4]}, ["y"])
    proto.graph.initializer.append(TensorProto(name="text", data_type=TensorProto.STRING, dims=[1], string_data=[b"a"]))
    assert load(proto).outputs == ("y",)


@pytest.mark.parametrize(("name", "values"), [("int4", [-8, -1, 0, 7]), ("uint4", [0, 1, 8, 15])])
def test_four_bit_values_saved_by_ml_dtypes_can_be_frozen(name: str, values: list[int], tmp_path: Path) -> None:
    np.save(tmp_path / "like.npy", np.asarray(values, np.int8).astype(getattr(ml_dtypes, name)))
    proto = onnx_model([node("Cast", "like", "y", to=TensorProto.INT32), node("Add", "y x", "z")],
                       {"like": [4], "x": [4]}, ["z"], types={"like": getattr(TensorProto, name.upper()), "x": 6,
                                                              "z": 6}, opset=21)  # fmt: skip
    model = load(proto, frozen=frozen_inputs({"like": tmp_path / "like.npy"}))
    assert values in [array.tolist() for array in model.constants.values()]


@pytest.mark.parametrize("dtype", ["V1", "V2", "<U3", "<M8[s]", "complex64", [("a", "i1")]])
def test_values_that_are_no_numbers_cannot_be_frozen(dtype: Any) -> None:
    proto = onnx_model([node("Cast", "like", "y", to=TensorProto.INT32), node("Add", "y x", "z")],
                       {"like": [4], "x": [4]}, ["z"], types={"like": TensorProto.INT4, "x": 6, "z": 6},
                       opset=21)  # fmt: skip
    value = np.full(4, 100, np.uint8).view("V1") if dtype == "V1" else np.zeros(4, np.dtype(dtype))
    with pytest.raises(
        UsageError, match="input 'like' cannot be frozen to this value: its elements are of type"
    ) as caught:
        load(proto, frozen={"like": value})
    assert caught.value.code == 2
    assert str(caught.value).endswith("which is no number that NumPy knows; save it as int8")
