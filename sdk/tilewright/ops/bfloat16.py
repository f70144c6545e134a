"""What every operator means on bfloat16: it computes in float32, and each result is rounded once, to nearest even.

The registry puts this in front of each operator's own meaning, so that none knows the type. A float64 or a wide integer
that is cast becomes float32 first, as in ONNX Runtime.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from tilewright.model import Array, DType, Tensor
from tilewright.ops.index.nest import Access, Nest
from tilewright.ops.operator import Call, Nests, Operator

_OWN = frozenset({"BitCast", "QuantizeLinear"})
"""Operators on bits, and the one that says in which type it divides."""


def holds_bfloat16(call: Call) -> bool:
    """True where an operand or result is bfloat16."""
    return any(tensor is not None and tensor.dtype is DType.BF16 for tensor in (*call.inputs, *call.outputs))


def widened_array(array: Array) -> Array:
    """bfloat16 as float32, everything else as it is."""
    return array.astype(np.float32) if array.dtype.name == "bfloat16" else array


def widened_call(call: Call) -> Call:
    """The call with float32 in the place of bfloat16."""
    inputs = tuple(None if tensor is None else _wide(tensor) for tensor in call.inputs)
    constants = {index: widened_array(value) for index, value in call.constants.items()}
    return replace(call, inputs=inputs, outputs=tuple(map(_wide, call.outputs)), constants=constants)


def _wide(tensor: Tensor) -> Tensor:
    return replace(tensor, dtype=DType.F32) if tensor.dtype is DType.BF16 else tensor


def with_bfloat16(operator: Operator) -> Operator:
    """The operator with its meaning and its index maps on bfloat16 added."""
    if operator.name in _OWN:
        return operator

    def evaluate(call: Call, arrays: Sequence[Array | None]) -> tuple[Array, ...]:
        if not holds_bfloat16(call):
            return operator.evaluate(call, arrays)
        wide = [None if array is None else widened_array(array) for array in arrays]
        with np.errstate(all="ignore"):
            results = operator.evaluate(widened_call(call), wide)
            rounded = [
                array.astype(tensor.dtype.numpy) if tensor.dtype is DType.BF16 else array
                for tensor, array in zip(call.outputs, results, strict=False)
            ]
        return (*rounded, *results[len(rounded) :])

    return replace(operator, evaluate=evaluate, nests=_with_narrow_ends(operator, operator.nests))


def _with_narrow_ends(operator: Operator, nests: Nests | None) -> Nests | None:
    """Index maps whose operands and results are bfloat16; what lies between them stays float32."""
    if nests is None:
        return None

    def narrowed(call: Call) -> tuple[Nest, ...]:
        if not holds_bfloat16(call):
            return nests(call)
        named = [
            *((operator.operand(index), tensor) for index, tensor in enumerate(call.inputs)),
            *((operator.result(index), tensor) for index, tensor in zip(call.present, call.outputs, strict=False)),
        ]
        kinds = {name: tensor.dtype for name, tensor in named if tensor is not None}
        return tuple(_narrow(nest, kinds) for nest in nests(widened_call(call)))

    return narrowed


def _narrow(nest: Nest, kinds: Mapping[str, DType]) -> Nest:
    def one(access: Access) -> Access:
        tensor = access.tensor
        own = tensor.values or tensor.iota or kinds.get(tensor.name) is not DType.BF16
        return access if own else replace(access, tensor=replace(tensor, dtype=DType.BF16))

    return replace(nest, out=one(nest.out), ins=tuple(map(one, nest.ins)), after=tuple(map(one, nest.after)))
