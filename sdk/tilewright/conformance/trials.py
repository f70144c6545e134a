"""From a sketch to a model of one node in a chosen element type, with the operands of one run."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tilewright.conformance.draws import Drawn, Sketch
from tilewright.conformance.draws_micro import in_scales_of_micro
from tilewright.frontend.shapes import OPSET
from tilewright.model import Array, Clamp, DType, Model, Node, Numerics, Quantisation, Tensor
from tilewright.ops.codes import AsIntegers, Exponentials, Mean, Products
from tilewright.ops.operator import Call, Operator
from tilewright.ops.quantised.twice_elements import FIXED, ROUNDED_TWICE
from tilewright.ops.quantised.twice_elements import unknown as element_twice_unknown
from tilewright.ops.registry import find

_ROUNDED = (*ROUNDED_TWICE, "Div")
_WEIGHTS = (*(DType.I8,) * 6, DType.I4, DType.U8)
_CLAMPS = (Clamp(0.0, float("inf")), Clamp(0.0, 6.0), Clamp(-1.0, 1.0))


@dataclass(frozen=True)
class Trial:
    """A call with the values of its operands."""

    call: Call
    arrays: tuple[Array | None, ...]


def trial(sketch: Sketch, token: str, r: random.Random) -> Trial:
    """The sketch with its data in the type `token` (`f32`, `qi8`, ...).

    A TilewrightError of the operator's shape rule says that it is not defined for this type.
    """
    operator = find(sketch.op, sketch.domain)
    assert operator is not None, sketch.op
    if token.startswith("q"):
        trial(sketch, "f32", r)  # codes stand for real numbers
    kind = DType(token.removeprefix("q"))
    made = [_operand(i, drawn, sketch, kind, token, r) for i, drawn in enumerate(sketch.operands)]
    if token.startswith("q"):
        made = [_bias(m, made, d) for m, d in zip(made, sketch.operands, strict=True)]
    tensors = tuple(None if m is None else m[0] for m in made)
    arrays = tuple(None if m is None else m[1] for m in made)
    constants = {
        i: a for i, (a, d) in enumerate(zip(arrays, sketch.operands, strict=True)) if d and d.constant and a is not None
    }
    names = tuple("" if i in sketch.absent else f"y{i}" for i in range(sketch.outputs))
    fusible = operator.clamps and sketch.outputs == 1 and (kind.is_float or token.startswith("q"))
    # The bound of half floats is of the largest result, which a limit from above would hide.
    clamps = _CLAMPS[:1] if kind is DType.F16 else _CLAMPS
    clamp = r.choice(clamps) if fusible and r.random() < 0.3 else None
    node = Node(
        "it", sketch.op, tuple(t.name if t else "" for t in tensors), names, sketch.attributes, sketch.domain, clamp
    )
    call = Call(node, tensors, (), constants, OPSET, operator=operator)
    outputs = tuple(
        Tensor(name, result.dtype, result.shape)
        for name, result in zip(names, operator.infer(call), strict=True)
        if name
    )
    call = replace(call, outputs=outputs)
    if sketch.op == "QuantizeLinear" and kind is DType.F32 and r.random() < 0.5:
        return Trial(_with_meaning(call, r), arrays)
    return Trial(_quantised(call, arrays, operator, r) if token.startswith("q") else call, arrays)


def _with_meaning(call: Call, r: random.Random) -> Call:
    """The call whose result knows that its integers are codes, as at the border of a quantised network."""
    scales, zeros = (call.constants[i].reshape(-1).tolist() for i in (1, 2))
    axis = call.integer("axis", 1) if len(scales) > 1 else None
    numerics: Numerics = "tflm" if axis is None and call.outputs[0].dtype.bits > 4 and r.random() < 0.4 else "exact"
    quantisation = Quantisation(tuple(scales), tuple(zeros), axis, numerics)
    return replace(call, outputs=(replace(call.outputs[0], quantisation=quantisation),))


def _operand(
    index: int, drawn: Drawn | None, sketch: Sketch, kind: DType, token: str, r: random.Random
) -> tuple[Tensor, Array] | None:
    if drawn is None:
        return None
    name = f"x{index}"
    if drawn.role == "fixed":
        values = drawn.values
        return Tensor(name, DType.of(values.dtype), values.shape), values
    if token.startswith("q") and drawn.role == "parameter":
        return Tensor(name, DType.F32, drawn.values.shape), drawn.values.astype(np.float32)
    if token.startswith("q"):
        whole = kind is DType.I16 and sketch.op == "Conv" and drawn.role == "weight" and r.random() < 0.15
        return _codes(name, drawn, kind, None if whole else sketch.axis, r)
    if kind.is_float:
        return Tensor(name, kind, drawn.values.shape), drawn.values.astype(kind.numpy)
    if kind is DType.BOOL:
        return Tensor(name, kind, drawn.values.shape), drawn.values > 0
    low, high = kind.range
    wide = np.clip(np.rint(drawn.values * r.choice((2, 40, 1e9))), max(low, -(2**62)), min(high, 2**62))
    return Tensor(name, kind, drawn.values.shape), wide.astype(kind.numpy)


def _codes(name: str, drawn: Drawn, kind: DType, axis: int | None, r: random.Random) -> tuple[Tensor, Array]:
    """Codes of the whole range, sometimes all at its end; weights symmetric and mostly per channel.

    Those without an axis of channels are of their operand's type under one scale, as SVDF has them.
    """
    shape = drawn.values.shape
    generator = np.random.default_rng(r.getrandbits(32))
    weight = drawn.role == "weight"
    stored = r.choice(_WEIGHTS) if weight and axis is not None else kind
    low, high = stored.range
    low = -high if weight and stored is DType.I8 else low
    values = generator.integers(low, high, shape, endpoint=True)
    if r.random() < 0.15:
        values = np.full(shape, low, np.int64)
    zero = (low + high + 1) // 2 if weight and stored is DType.U8 else 0
    if weight and axis is not None and r.random() < 0.8:
        count = shape[axis]
        scales = tuple(float(np.float32(s)) for s in generator.uniform(0.002, 0.02, (count,)).tolist())
        quantisation = Quantisation(scales, (zero,) * count, axis)
    else:
        zero = zero if weight else r.choice((0, low, high, int(generator.integers(low, high))))
        quantisation = Quantisation((float(np.float32(generator.uniform(0.005, 0.05))),), (zero,))
    return Tensor(name, stored, shape, quantisation), values.astype(stored.numpy)


def _bias(
    made: tuple[Tensor, Array] | None, all_made: Sequence[tuple[Tensor, Array] | None], drawn: Drawn | None
) -> tuple[Tensor, Array] | None:
    """A bias is int32 in units of the product of both scales."""
    if made is None or drawn is None or drawn.role != "bias":
        return made
    values = np.rint(drawn.values * 1000).astype(np.int32)
    return Tensor(made[0].name, DType.I32, values.shape), values


def _quantised(call: Call, arrays: Sequence[Array | None], operator: Operator, r: random.Random) -> Call:
    """The call whose results hold codes too, with a scale that makes use of them."""
    x = call.tensor(0)
    outputs = []
    if isinstance(call.codes, AsIntegers):
        return in_scales_of_micro(call, r) or call
    if isinstance(call.codes, Exponentials) and r.random() < 0.5 and (settled := in_scales_of_micro(call, r)):
        return settled
    for index, y in enumerate(call.outputs):
        if index and y.dtype is not x.dtype:
            outputs.append(y)
            continue
        if y.dtype is not x.dtype and y.dtype is not DType.I32:
            outputs.append(y)
            continue
        if r.random() < 0.3 and x.quantisation is not None and not isinstance(call.codes, Products):
            outputs.append(replace(y, dtype=x.dtype, quantisation=x.quantisation))
            continue
        if isinstance(call.codes, Products) and x.dtype is call.tensor(1).dtype is DType.I16:
            scale = float(np.float32(max(_reach(call, arrays), 10.0) * r.uniform(0.3, 1.2) / 128))
            outputs.append(replace(y, dtype=DType.I8, quantisation=Quantisation((scale,), (7,), None, "tflm")))
            continue
        if isinstance(call.codes, Exponentials) and x.dtype is DType.I8 and r.random() < 0.5:
            outputs.append(_shares(y, r))
            continue
        if call.node.op in FIXED and x.dtype is DType.I16 and r.random() < 0.5:
            outputs.append(replace(y, dtype=x.dtype, quantisation=Quantisation((2.0**-15,), (0,), None, "tflm")))
            continue
        numerics: Numerics = "tflm" if call.node.op in _ROUNDED and r.random() < 0.4 else "exact"
        low, high = x.dtype.range
        reach = _reach(call, arrays) * r.uniform(0.3, 1.2)
        zero = r.choice((0, low, (low + high) // 2, r.randint(low, high)))
        scale = float(np.float32(max(reach, 1e-3) * 2 / (high - low)))
        outputs.append(replace(y, dtype=x.dtype, quantisation=Quantisation((scale,), (zero,), None, numerics)))
    return _known(replace(call, outputs=tuple(outputs)))


def _known(call: Call) -> Call:
    """The call, with exact codes where TensorFlow Lite Micro has no others."""
    (y, *others), meaning = call.outputs, call.outputs[0].quantisation
    if call.node.op not in (*_ROUNDED, *FIXED) or meaning is None or element_twice_unknown(call) is None:
        return call
    return replace(call, outputs=(replace(y, quantisation=replace(meaning, numerics="exact")), *others))


def _shares(y: Tensor, r: random.Random) -> Tensor:
    """A result of Softmax in a form that TensorFlow Lite Micro has."""
    dtype, scale, zero = r.choice(((DType.I8, 2.0**-8, -128), (DType.I16, 2.0**-16, -32768)))
    return replace(y, dtype=dtype, quantisation=Quantisation((scale,), (zero,), numerics="tflm"))


def _reach(call: Call, arrays: Sequence[Array | None]) -> float:
    """About how large the real results are."""
    sizes = []
    for tensor, array in zip(call.inputs, arrays, strict=True):
        if tensor is not None and array is not None and array.size and tensor.quantisation is not None:
            scale, zero = max(tensor.quantisation.scale), tensor.quantisation.zero_point[0]
            sizes.append(float(np.abs(array.astype(np.float64) - zero).mean() * scale))
    if isinstance(call.codes, Products) and len(sizes) > 1:
        count = np.prod(call.shape(1)) / max(call.outputs[0].shape[call.codes.result_axis], 1)
        return float(sizes[0] * sizes[1] * max(count, 1.0) ** 0.5 * 2)
    if isinstance(call.codes, Exponentials):
        return 0.5
    if call.node.op == "Mul":
        return float(np.prod(sizes))
    if call.codes == Mean(divides=False):
        return 4 * max(sizes, default=1.0)
    return 2 * max(sizes, default=1.0)


def one_node_model(trial: Trial, name: str, r: random.Random, *, transposed: bool) -> tuple[Model, tuple[Array, ...]]:
    """A model of one node, and its inputs; `transposed` gives run-time operands in other memory orders."""
    call = trial.call
    nodes, tensors, inputs, arrays = [], {}, [], []
    for index, (tensor, array) in enumerate(zip(call.inputs, trial.arrays, strict=True)):
        if tensor is None or array is None:
            continue
        tensors[tensor.name] = tensor
        if index in call.constants:
            continue
        rank = len(tensor.shape)
        per_channel = tensor.quantisation is not None and tensor.quantisation.axis is not None
        if not transposed or rank < 2 or r.random() < 0.3 or per_channel:
            inputs.append(tensor.name)
            arrays.append(array)
            continue
        perm = tuple(r.sample(range(rank), rank))
        if rank > 2 and r.random() < 0.6:
            perm = (0, rank - 1, *range(1, rank - 1))  # from channels last
        back = np.argsort(perm)
        stored = Tensor(f"{tensor.name}_in", tensor.dtype, tuple(tensor.shape[a] for a in back), tensor.quantisation)
        tensors[stored.name] = stored
        nodes.append(Node(f"turn{index}", "Transpose", (stored.name,), (tensor.name,), {"perm": perm}))
        inputs.append(stored.name)
        arrays.append(np.ascontiguousarray(array.transpose(back)))
    for tensor in call.outputs:
        tensors[tensor.name] = tensor
    constants = {call.node.inputs[i]: np.asarray(value) for i, value in call.constants.items()}
    present = tuple(one for one in call.node.outputs if one)
    model = Model(name, (*nodes, call.node), tensors, constants, tuple(inputs), present, OPSET)
    return model, tuple(arrays)
