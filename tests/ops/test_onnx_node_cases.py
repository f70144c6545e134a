"""Every operator of the registry against the node tests that ship inside the onnx package: types, shapes, values."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from tilewright.model import Array, Attribute, DType, Node, Tensor
from tilewright.ops.index.body import body, combine, finish
from tilewright.ops.index.reference import evaluate_chain
from tilewright.ops.operator import Call, Operator
from tilewright.ops.registry import all_operators, find

SKIPS: dict[str, str] = {
    "test_batchnorm_example_training_mode": "training",
    "test_batchnorm_epsilon_training_mode": "training",
    "test_training_dropout": "training",
    "test_training_dropout_default": "training",
    "test_training_dropout_default_mask": "training",
    "test_training_dropout_mask": "training",
    "test_dft_inverse": "the expected zeros carry the noise of a float32 transform",
    "test_dft_inverse_opset19": "the expected zeros carry the noise of a float32 transform",
    "test_resize_downsample_scales_cubic_align_corners": "we follow ONNX Runtime, which rounds the size first",
    "test_resize_downsample_scales_linear_align_corners": "we follow ONNX Runtime, which rounds the size first",
}
"""Cases that are not compared, and why."""

NUMBERED: dict[int, DType] = {
    onnx.TensorProto.FLOAT16: DType.F16, onnx.TensorProto.FLOAT: DType.F32, onnx.TensorProto.DOUBLE: DType.F64,
    onnx.TensorProto.INT4: DType.I4, onnx.TensorProto.UINT4: DType.U4, onnx.TensorProto.INT8: DType.I8,
    onnx.TensorProto.UINT8: DType.U8, onnx.TensorProto.INT16: DType.I16, onnx.TensorProto.UINT16: DType.U16,
    onnx.TensorProto.INT32: DType.I32, onnx.TensorProto.UINT32: DType.U32, onnx.TensorProto.INT64: DType.I64,
    onnx.TensorProto.UINT64: DType.U64, onnx.TensorProto.BOOL: DType.BOOL,
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """One node with operand values and expected results."""

    name: str
    operator: Operator
    call: Call
    arrays: tuple[Array | None, ...]
    expected: tuple[Array | None, ...]
    rtol: float
    atol: float


def _attribute(proto: onnx.AttributeProto) -> Attribute | None:
    value = onnx.helper.get_attribute_value(proto)
    if isinstance(value, onnx.TensorProto):
        return np.asarray(numpy_helper.to_array(value))
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, (int, float)):
        return value
    if proto.type in (onnx.AttributeProto.INTS, onnx.AttributeProto.FLOATS):
        return tuple(value)
    return tuple(v.decode() for v in value) if proto.type == onnx.AttributeProto.STRINGS else None


def _types(infos: Any) -> dict[str, DType] | None:
    """Element types by name; None where one of them is of a kind or type that we do not have."""
    found = {}
    for info in infos:
        kind = info.type.tensor_type.elem_type if info.type.HasField("tensor_type") else 0
        if kind not in NUMBERED:
            return None
        found[info.name] = NUMBERED[kind]
    return found


def _arrays(names: list[str], values: dict[str, Any], types: dict[str, DType]) -> tuple[Array | None, ...]:
    def one(name: str) -> Array | None:
        value = values.get(name)
        plain = numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value
        return None if plain is None else np.asarray(plain).astype(types[name].numpy)

    return tuple(one(name) for name in names)


def _case(case: Any) -> Case | None:
    """The case as a call; None where it has several nodes, or types or operators that we do not have."""
    model = case.model
    if model is None or len(model.graph.node) != 1:
        return None
    proto = model.graph.node[0]
    operator = find(proto.op_type, proto.domain)
    ins, outs = _types(model.graph.input), _types(model.graph.output)
    if operator is None or ins is None or outs is None:
        return None
    given, wanted = case.data_sets[0]
    values = dict(zip(ins, given, strict=True))
    results = dict(zip(outs, wanted, strict=True))
    arrays = _arrays(list(proto.input), values, ins)
    expected = _arrays(list(proto.output), results, outs)
    attributes = {a.name: v for a in proto.attribute if (v := _attribute(a)) is not None}
    node = Node("it", proto.op_type, tuple(proto.input), tuple(proto.output), attributes, proto.domain)
    inputs = tuple(None if a is None else Tensor(n, ins[n], a.shape) for n, a in zip(proto.input, arrays, strict=True))
    constants = {i: a for i, a in enumerate(arrays) if a is not None}
    opset = next(o.version for o in model.opset_import if o.domain == proto.domain)
    outputs = tuple(
        Tensor(n, outs[n], e.shape) if e is not None else Tensor("", DType.F32, ())
        for n, e in zip(proto.output, expected, strict=True)
    )
    call = Call(node, inputs, outputs, constants, opset, operator=operator)
    return Case(case.name, operator, call, arrays, expected, case.rtol, case.atol)


@cache
def _cases() -> Mapping[tuple[str, str], Sequence[Case]]:
    """The cases by domain and operator, made when a test first asks: that computes all that they expect."""
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        collected: list[Any] = collect_testcases(None)
    found = defaultdict(list)
    for each in collected:
        if (case := _case(each)) is not None and case.name not in SKIPS:
            found[case.operator.domain, case.operator.name].append(case)
    return found


def each_case(operator: Operator, check: Callable[[Case], None]) -> None:
    """Check every case of an operator; what goes wrong bears the name of its case."""
    for case in _cases().get((operator.domain, operator.name), ()):
        try:
            check(case)
        except Exception as error:
            error.add_note(f"in {case.name}")
            raise


EACH_OPERATOR = pytest.mark.parametrize("operator", all_operators(), ids=lambda each: f"{each.domain}:{each.name}")


def test_most_operators_have_cases() -> None:
    assert len(_cases()) > 150
    assert sum(map(len, _cases().values())) > 1000


@EACH_OPERATOR
def test_evaluate_gives_what_the_standard_expects(operator: Operator) -> None:
    each_case(operator, _evaluated)


def _evaluated(case: Case) -> None:
    inferred = case.operator.infer(replace(case.call, outputs=()))
    for kind, expected, tensor in zip(inferred, case.expected, case.call.outputs, strict=False):
        if expected is not None:
            assert (kind.dtype, kind.shape) == (tensor.dtype, tensor.shape)
    got = case.operator.evaluate(case.call, case.arrays)
    for result, expected, tensor in zip(got, case.expected, case.call.outputs, strict=False):
        if expected is not None:
            assert (result.dtype, result.shape) == (tensor.dtype.numpy, tensor.shape)
            np.testing.assert_allclose(
                result.astype(np.float64), expected.astype(np.float64), rtol=case.rtol, atol=case.atol
            )


MOST_POINTS = 300_000


@EACH_OPERATOR
def test_index_maps_compute_what_the_operator_computes(operator: Operator) -> None:
    if operator.nests is not None:
        each_case(operator, _mapped)


def _mapped(case: Case) -> None:
    operator = case.operator
    assert operator.nests is not None
    chain = operator.nests(case.call)
    if not chain or sum(nest.points for nest in chain) > MOST_POINTS:
        return
    for nest in chain:
        assert nest.body == body(nest.body.name, *nest.body.parameters)
        assert nest.finish == finish(nest.finish.name, *nest.finish.parameters)
        assert nest.combine == combine(nest.combine.name)
    given = {operator.operand(i): array for i, array in enumerate(case.arrays) if array is not None}
    with np.errstate(all="ignore"):
        written = evaluate_chain(chain, given)
        wanted = operator.evaluate(case.call, case.arrays)
    for index, (value, tensor) in enumerate(zip(wanted, case.call.outputs, strict=False)):
        if tensor.name:
            got = written[operator.result(index)]
            assert (got.dtype, got.shape) == (value.dtype, value.shape)
            loose = max(case.rtol, 2e-3 if value.dtype == np.float16 else 1e-5)
            np.testing.assert_allclose(got.astype(np.float64), value.astype(np.float64), rtol=loose, atol=1e-5)
