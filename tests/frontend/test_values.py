"""Values in the file: every type we read, those we refuse, sizes that lie."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import onnx
import pytest
from graphs import node, onnx_model
from onnx import TensorProto, helper, numpy_helper
from tilewright.errors import ModelError
from tilewright.frontend.load import load
from tilewright.frontend.sparse import densify
from tilewright.frontend.values import array_of
from tilewright.model import DType

READ = "float32 float64 float16 bfloat16 int8 uint8 int16 uint16 int32 uint32 int64 uint64 bool".split()


@pytest.mark.parametrize("name", READ)
def test_every_numpy_type_is_read_from_raw_bytes_and_from_lists(name: str) -> None:
    array = np.array([[0, 1, 1], [1, 0, 1]], name)
    raw = numpy_helper.from_array(array, "t")
    number = helper.np_dtype_to_tensor_dtype(array.dtype)
    listed = helper.make_tensor("t", number, array.shape, array.reshape(-1).tolist())
    for tensor in (raw, listed):
        dtype, values = array_of(tensor)
        assert dtype.numpy == array.dtype
        assert values.dtype == array.dtype
        np.testing.assert_array_equal(values, array)


@pytest.mark.parametrize(("kind", "dtype"), [("int4", DType.I4), ("uint4", DType.U4)])
def test_four_bit_values_are_unpacked_low_nibble_first(kind: str, dtype: DType) -> None:
    values = [-8, 7, -1, 0, 3] if kind == "int4" else [15, 7, 8, 0, 3]
    tensor = numpy_helper.from_array(np.array(values, getattr(ml_dtypes, kind)), "t")
    found, array = array_of(tensor)
    assert found is dtype
    assert array.dtype == dtype.numpy
    assert array.tolist() == values


@pytest.mark.parametrize("name", ["STRING", "COMPLEX64", "FLOAT8E4M3FN", "FLOAT4E2M1", "INT2"])
def test_other_types_are_refused_by_name(name: str) -> None:
    tensor = TensorProto(name="weights", data_type=getattr(TensorProto, name), dims=[1])
    with pytest.raises(ModelError) as caught:
        array_of(tensor)
    why = f"elements of type {name.lower()} are not supported"
    assert str(caught.value) == f"tensor 'weights' cannot be used: {why}; convert the model to float32"


def test_a_type_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ModelError, match="element type 99 does not exist"):
        array_of(TensorProto(name="weights", data_type=99, dims=[1]))


@pytest.mark.parametrize(
    ("dims", "why"),
    [
        ([-1], "its shape [-1] has a negative dimension"),
        ([1 << 40], "its shape [1099511627776] means 4398046511104 bytes, the limit is 2147483648"),
        ([1 << 16, 1 << 16], "its shape [65536, 65536] means 17179869184 bytes, the limit is 2147483648"),
        ([0, 1 << 60], "its shape [0, 1152921504606846976] means 0 bytes, the limit is 2147483648"),
        ([1] * 40, "it has 40 dimensions, 32 are the most"),
    ],
)
def test_absurd_dimensions_are_refused_before_anything_is_allocated(dims: list[int], why: str) -> None:
    tensor = TensorProto(name="weights", data_type=TensorProto.FLOAT, dims=dims, raw_data=bytes(4))
    with pytest.raises(ModelError) as caught:
        array_of(tensor)
    assert str(caught.value).startswith(f"tensor 'weights' cannot be used: {why}")


@pytest.mark.parametrize(
    ("tensor", "why"),
    [
        (TensorProto(raw_data=bytes(11), dims=[3]), "its shape [3] asks for 3 values of f32, the file holds 11 bytes"),
        (TensorProto(raw_data=bytes(8), dims=[3]), "its shape [3] asks for 3 values of f32, the file holds 2 values"),
        (TensorProto(float_data=[1.0], dims=[3]), "its shape [3] asks for 3 values of f32, the file holds 1 values"),
        (TensorProto(dims=[3]), "its shape [3] asks for 3 values of f32, the file holds 0 values"),
    ],
)
def test_values_that_do_not_fill_their_shape_are_refused(tensor: onnx.TensorProto, why: str) -> None:
    tensor.data_type, tensor.name = TensorProto.FLOAT, "w"
    with pytest.raises(ModelError) as caught:
        array_of(tensor)
    assert str(caught.value) == f"tensor 'w' is damaged: {why}; export or download the model again"


def sparse(values: list[float], indices: object, dims: list[int]) -> onnx.SparseTensorProto:
    return helper.make_sparse_tensor(
        numpy_helper.from_array(np.array(values, np.float32), "s"),
        numpy_helper.from_array(np.array(indices, np.int64), "i"),
        dims,
    )


def test_sparse_values_are_stored_densely() -> None:
    for indices in ([1, 5], [[0, 1], [1, 2]]):
        np.testing.assert_array_equal(densify(sparse([7, 8], indices, [2, 3]))[1], [[0, 7, 0], [0, 0, 8]])


def test_a_sparse_initialiser_and_a_sparse_constant_are_read() -> None:
    proto = onnx_model(
        [node("Constant", "", "c"), node("Add", "x s", "z"), node("Add", "z c", "y")], {"x": [2, 3]}, ["y"]
    )
    proto.graph.sparse_initializer.append(sparse([7, 8], [1, 5], [2, 3]))
    attribute = proto.graph.node[0].attribute.add()
    attribute.name, attribute.type = "sparse_value", onnx.AttributeProto.SPARSE_TENSOR
    attribute.sparse_tensor.CopyFrom(sparse([1], [0], [2, 3]))
    model = load(proto)
    assert sorted(float(array.sum()) for array in model.constants.values()) == [1.0, 15.0]


@pytest.mark.parametrize("indices", [[1, 6], [-1, 0], [[0, 1], [2, 2]], [[0], [1]], [1]])
def test_sparse_indices_outside_the_shape_are_refused(indices: object) -> None:
    with pytest.raises(ModelError, match="sparse tensor 's' is damaged"):
        densify(sparse([7, 8], indices, [2, 3]))
