"""Calls in fixed point: those that are drawn in floats, with steps that their operands and results leave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tilewright.conformance.draws import Draw
from tilewright.conformance.trials import Trial
from tilewright.model import Array, DType, Tensor
from tilewright.ops.fixed.meaning import fixed_operands, of_one_step
from tilewright.ops.fixed.tensors import bits_for, codes_of_reals, in_fixed

TOKEN = "qi32"


def in_fixed_point(made: Trial, r: Draw) -> Trial:
    """The trial of floats in fixed point; the same where no operand of it can be. Some bits may stay unused."""
    call = made.call
    assert call.operator is not None
    if call.node.op == "DequantizeLinear":
        return _converted(made, r)
    with np.errstate(all="ignore"):
        results = call.operator.evaluate(call, list(made.arrays))
    taken = [place for place in fixed_operands(call) if _is_real(call.inputs[place])]
    sizes = {place: _most(made.arrays[place]) for place in taken}
    spare = r.choice((0, 0, 1, 5))
    bits = {call.node.inputs[place]: bits_for(size) - spare for place, size in sizes.items()}
    bits |= {tensor.name: bits_for(_most(result)) - r.choice((0, 0, 2))
             for tensor, result in zip(call.outputs, results, strict=True) if _is_real(tensor)}  # fmt: skip
    for names in of_one_step(call):
        known = [name for name in names if name in bits]
        bits |= dict.fromkeys(known, min((bits[name] for name in known), default=0))
    inputs, arrays = list(call.inputs), list(made.arrays)
    for place in taken:
        tensor, array = inputs[place], arrays[place]
        assert tensor is not None
        assert array is not None
        inputs[place], arrays[place] = in_fixed(tensor, bits[tensor.name]), codes_of_reals(array, bits[tensor.name])
    outputs = tuple(in_fixed(tensor, bits[tensor.name]) if _is_real(tensor) else tensor for tensor in call.outputs)
    constants = {place: array for place, array in enumerate(arrays) if place in call.constants and array is not None}
    return Trial(replace(call, inputs=tuple(inputs), outputs=outputs, constants=constants), tuple(arrays))


def _converted(made: Trial, r: Draw) -> Trial:
    """A conversion to floats of numbers of any size."""
    call, bits = made.call, r.randint(-20, 60)
    shape, draw = call.shape(), np.random.default_rng(r.getrandbits(32))
    codes = (draw.integers(-(1 << 31), 1 << 31, shape) >> draw.integers(0, 32, shape)).astype(np.int32)
    x, step = in_fixed(call.tensor(0), bits), Tensor("step", DType.F32, ())
    scale = np.array(2.0**-bits, np.float32)
    node = replace(call.node, inputs=(x.name, step.name), attributes={})
    return Trial(replace(call, node=node, inputs=(x, step), constants={1: scale}), (codes, scale))


def _is_real(tensor: Tensor | None) -> bool:
    return tensor is not None and tensor.dtype is DType.F32 and tensor.quantisation is None


def _most(array: Array | None) -> float:
    return 1.0 if array is None or not array.size else float(np.abs(array.astype(np.float64)).max()) or 1.0


def names_fixed_point(tokens: Sequence[str]) -> bool:
    """True where a kernel's operand or result may be in fixed point."""
    return any(TOKEN in token.rstrip("?.").split("|") for token in tokens)
