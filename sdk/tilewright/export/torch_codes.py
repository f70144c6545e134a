"""Quantised operators as PyTorch expressions: codes as whole numbers in float tensors, the SDK's integer semantics.

Sums of products run in float64, which holds every sum that fits 32 bits, and `requantise` rounds them in 64-bit
integers; a function of one tensor of eight bits is a table; everything else is DequantizeLinear, float32,
QuantizeLinear.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from tilewright.export.torch_expressions import expression, has_expression
from tilewright.export.torch_layers import convolution, matrix_product, sum_pool, transposed
from tilewright.export.torch_site import Site, real, tuple_of
from tilewright.model import Array, DType, Quantisation, Tensor
from tilewright.ops.codes import (
    AsIntegers,
    Exponentials,
    Interpolates,
    Mean,
    Moves,
    Normalises,
    Pairwise,
    Products,
    Table,
)
from tilewright.ops.operator import Call
from tilewright.ops.quantised.linear import accumulator, channel_axis, requantisation, split_bias
from tilewright.ops.quantised.lookup import lookup_table
from tilewright.ops.quantised.mean import fact, window_counts
from tilewright.ops.quantised.meaning import same_meaning, table
from tilewright.ops.quantised.real import code_limits, real_call, rounds_twice, the_quantisation
from tilewright.ops.quantised.softmax import softmax_axis, softmax_form
from tilewright.ops.registry import find
from tilewright.ops.requantize import Requantisation, float32_multipliers, per_axis


def is_quantised(call: Call) -> bool:
    """True where at least one operand or result holds codes."""
    return any(tensor is not None and tensor.quantisation is not None for tensor in (*call.inputs, *call.outputs))


def codes(site: Site) -> str:
    """The expression of a node on codes."""
    call, op = site.call, site.call.node.op
    first, result = call.optional(0), call.outputs[0]
    if op == "DequantizeLinear":
        return dequantised(site, site.operand(), call.tensor(0))
    if op == "QuantizeLinear":
        source = site.operand()
        real_text = source if first is None or first.quantisation is None else dequantised(site, source, first)
        return quantised(site, real_text, result)
    if op == "Lookup":
        return _lookup(site, lookup_table(call))
    both = first is not None and first.quantisation is not None and result.quantisation is not None
    if both and type(call.codes) in _INTEGER:
        return _INTEGER[type(call.codes)](site)
    if isinstance(call.codes, Moves | AsIntegers | Interpolates):
        return _moved(site)
    return _literally(site)


def _scale(site: Site, word: str, quantisation: Quantisation, rank: int) -> tuple[str, str]:
    """Texts of scale and zero point: numbers, or tables where an axis counts them."""
    if quantisation.axis is None:
        return real(quantisation.scale[0]), str(quantisation.zero_point[0])
    scale = per_axis(quantisation.scale, quantisation.axis, rank, np.float32)
    zero = per_axis(quantisation.zero_point, quantisation.axis, rank, np.int64)
    zero_text = str(int(zero.flat[0])) if zero.min() == zero.max() else site.table(f"{word}_zero_point", zero)
    return site.table(f"{word}_scale", scale), zero_text


def dequantised(site: Site, text: str, tensor: Tensor) -> str:
    """The real numbers that a text of codes stands for."""
    scale, zero = _scale(site, "in", the_quantisation(tensor), len(tensor.shape))
    return f"{site.helper('dequantise')}({text}, {scale}, {zero})"


def quantised(site: Site, text: str, tensor: Tensor) -> str:
    """The codes of a text of real numbers."""
    scale, zero = _scale(site, "out", the_quantisation(tensor), len(tensor.shape))
    low, high = code_limits(site.call, tensor)
    return f"{site.helper('quantise')}({text}, {scale}, {zero}, {low}, {high})"


def _centred(site: Site, index: int) -> str:
    """Codes of an operand minus their zero point, in float64."""
    tensor, text = site.call.tensor(index), site.operand(index)
    meaning = the_quantisation(tensor)
    zero = per_axis(meaning.zero_point, meaning.axis, len(tensor.shape), np.int64)
    if zero.min() != zero.max():
        return f"({text}.double() - {site.table(f'operand{index}_zero_point', zero)})"
    shift = -int(zero.flat[0])
    return f"({text}.double() {'+' if shift > 0 else '-'} {abs(shift)})" if shift else f"{text}.double()"


def _linear(site: Site) -> str:
    call = site.call
    x, w = _centred(site, 0), _centred(site, 1)
    if site.optional(2) is None:
        bias, residue = None, None
    else:
        whole, residue = split_bias(call)
        bias = f"{site.operand(2)}.double()" if residue is None else f"{site.table('bias', whole)}.double()"
    form = requantisation(call)
    accumulator(call)  # refuses sums beyond 32 bits
    _check_width(site, form)
    if call.node.op == "Conv":
        sums = convolution(site, x, w, bias)
    elif call.node.op == "ConvTranspose":
        sums = transposed(site, x, w, bias)
    else:
        sums = matrix_product(site, x, w) + (f" + {bias}" if bias else "")
    return _requantised(site, sums, form, residue)


def _requantised(site: Site, sums: str, form: Requantisation, residue: Array | None = None) -> str:
    shape = [1] * len(site.call.outputs[0].shape)
    if form.channels > 1:
        shape[channel_axis(site.call)] = form.channels
    multipliers = np.asarray([float(m) for m in form.multipliers], np.float32)
    if len(set(form.multipliers)) == 1:
        factor = real(float(multipliers[0]))
    else:
        factor = site.table("multiplier", multipliers.reshape(shape))
    rest = "" if residue is None else f", residue={site.table('residue', residue.reshape(shape))}"
    limits = f"{form.zero_point}, {form.low}, {form.high}"
    return f"{site.helper('requantise')}({sums}, {factor}, {limits}{rest})"


def _check_width(site: Site, form: Requantisation) -> None:
    """The emitted function splits a multiplier below 2**20; no network has a larger one."""
    for multiplier in form.multipliers:
        if multiplier >= 1 << 20:
            raise site.refuse(f"its multiplier {float(multiplier):g} is too large for 64-bit sums")


def _mean(site: Site) -> str:
    call = site.call
    x = _centred(site, 0)
    counts = window_counts(call)
    if fact(call).windows:
        shape = call.shape()[2:]
        whole = call.node.op.startswith("Global") or (tuple(call.outputs[0].shape[2:]) == (1,) * len(shape))
        axes = tuple_of(range(2, len(call.shape())))
        window = call.node.attributes.get("kernel_shape", shape)
        sums = f"{x}.sum({axes}, keepdim=True)" if whole and window == shape else sum_pool(site, x)
    else:
        node = replace(call.node, op="ReduceSum", clamp=None)
        plain = replace(call, node=node, inputs=_real_inputs(call), operator=find(node.op))
        sums = expression(replace(site, call=plain, texts=(x, *site.texts[1:])))
    if len(counts) != 1:
        raise site.refuse("windows of different sizes are not written on codes")
    a, b = the_quantisation(call.tensor(0)), the_quantisation(call.outputs[0])
    (ratio,) = float32_multipliers(a.scale[0], (1.0,), b.scale[0])
    count = int(counts[0]) if fact(call).divides else 1
    _check_width(site, Requantisation((ratio,), 0, 0, 0))
    low, high = code_limits(call, call.outputs[0])
    text = f"{sums}, {real(float(ratio))}, {b.zero_point[0]}, {low}, {high}"
    return f"{site.helper('requantise')}({text}{f', count={count}' if count > 1 else ''})"


def _real_inputs(call: Call) -> tuple[Tensor | None, ...]:
    return real_call(call, DType.F64).inputs


def _softmax(site: Site) -> str:
    if rounds_twice(site.call):
        raise site.refuse("a softmax of TensorFlow Lite Micro's codes is not written")
    form = softmax_form(site.call)
    exponentials = site.table("exponentials", form.exponentials)
    limits = f"{form.zero_point}, {form.low}, {form.high}, {softmax_axis(site.call)}"
    name = site.helper("softmax_codes")
    return f"{name}({site.operand()}, {exponentials}, {form.factor}, {form.fraction_bits}, {limits})"


def _normalised(site: Site) -> str:
    raise site.refuse("normalisations of codes are not written yet")


def _moved(site: Site) -> str:
    """A move of codes; operands of another scale are brought to the scale of the result first."""
    call, target = site.call, site.call.outputs[0]
    texts: list[str | None] = []
    for index, tensor in enumerate(call.inputs):
        text = site.texts[index] if index < len(site.texts) else None
        meaning = tensor.quantisation if tensor is not None else None
        if tensor is None or meaning is None or target.quantisation is None or same_meaning(tensor, target):
            texts.append(text)
        else:
            plain = replace(site, call=replace(call, node=replace(call.node, clamp=None)))
            texts.append(quantised(plain, dequantised(site, site.operand(index), tensor), target))
    text = _float_text(replace(site, texts=tuple(texts)))
    if call.node.clamp is None or target.quantisation is None:
        return text
    low, high = code_limits(call, target)
    return f"{text}.clamp({low}, {high})"


def _literally(site: Site) -> str:
    """A table for a function of one tensor of at most eight bits, else the operator in float32 between conversions."""
    call = site.call
    assert call.operator is not None
    rest = range(1, len(call.inputs))
    single = all(i in call.constants and call.constants[i].size == 1 for i in rest if call.optional(i) is not None)
    one = len(call.outputs) == 1 and call.outputs[0].quantisation is not None
    first = call.optional(0)
    few = first is not None and first.quantisation is not None and first.dtype.bits <= 8 and 0 not in call.constants
    if single and one and few and call.shape() == call.outputs[0].shape and isinstance(call.codes, Table | Pairwise):
        return _lookup(site, table(call.operator, call))
    texts: list[str | None] = []
    for index, tensor in enumerate(call.inputs):
        if tensor is None or tensor.quantisation is None:
            texts.append(site.optional(index) if tensor is not None else None)
        else:
            texts.append(dequantised(site, site.operand(index), tensor))
    constants = {i: value for i, value in call.constants.items() if call.tensor(i).quantisation is None}
    real_site = replace(site, call=real_call(call, DType.F32, constants), texts=tuple(texts))
    text = _float_text(real_site)
    return quantised(site, text, call.outputs[0]) if call.outputs[0].quantisation else text


def _float_text(site: Site) -> str:
    if not has_expression(site):
        raise site.refuse("this operator has no line in PyTorch")
    return expression(site)


def _lookup(site: Site, entries: Array) -> str:
    low = site.call.tensor(0).dtype.range[0]
    return f"{site.helper('lookup')}({site.operand()}, {site.table('table', entries)}, {low})"


_INTEGER: Mapping[type, Callable[[Site], str]] = {
    Products: _linear,
    Mean: _mean,
    Exponentials: _softmax,
    Normalises: _normalised,
}
