"""Exact real values of single results of quantised operators, by whole numbers and fractions.

Written from the standard's text and sharing no code with `ops/`: where two runtimes disagree, this decides. A value
comes with the error that float32 evaluation of the operator may have; sums of products and means have none. The ratio
of scales is the float32 value that QLinearConv computes, as docs/integers.md says.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

Whole = npt.NDArray[np.int64]
Value = tuple[Fraction, Fraction]
"""A result in output steps without its zero point, and how far float32 evaluation may be from it."""

TABLE_ERROR = Fraction(1, 1 << 20)
"""Of a function's result and of what it is summed from: sixteen units of float32's last place."""
PAIR_ERROR = Fraction(1, 1 << 22)
"""Of both operands: dequantising two, one operation and one division, each rounded to float32."""
SOFTMAX_ERROR = Fraction(1, 1 << 16)
"""Output steps between the quotient of rounded exponentials and the real one."""


@dataclass(frozen=True)
class Codes:
    """An operand: its codes, and scales and zero points, one each or along `axis`."""

    values: Whole
    scale: npt.NDArray[np.float32]
    zero: Whole
    axis: int = 0

    def centred(self) -> Whole:
        """Codes minus their zero point."""
        if self.zero.size == 1:
            return self.values - int(self.zero.reshape(-1)[0])
        shape = [1] * self.values.ndim
        shape[self.axis] = self.zero.size
        return self.values - self.zero.reshape(shape)

    @property
    def one_scale(self) -> Fraction:
        """The scale where there is one for all."""
        return Fraction(float(self.scale.reshape(-1)[0]))


@dataclass(frozen=True)
class Result:
    """One use of an operator: operands, bias in units of the product of the scales, and the shape of the result."""

    operator: str
    operands: tuple[Codes, ...]
    shape: tuple[int, ...]
    scale: np.float32
    attributes: Mapping[str, Any]
    bias: Whole | None = None
    opset: int = 21


def exact_values(result: Result, places: Sequence[int]) -> Iterator[Value] | None:
    """The values at flat `places` of the result; None for an operator or a form that is not known here."""
    maker = _OPERATORS.get(result.operator)
    if maker is not None:
        return maker(result, places)
    function = _FUNCTIONS.get(result.operator)
    return None if function is None else _table(result, places, function)


def _ratio(result: Result, channel: int) -> Fraction:
    """Input scale times weight scale over output scale, rounded to float32 after each operation."""
    left, right = result.operands[0].scale.reshape(-1)[0], result.operands[1].scale.reshape(-1)
    scale = right[channel if right.size > 1 else 0]
    return Fraction(float(np.float32(np.float32(left * scale) / result.scale)))


def _bias(result: Result, channel: int) -> int:
    return 0 if result.bias is None else int(result.bias.reshape(-1)[channel if result.bias.size > 1 else 0])


@dataclass(frozen=True)
class _Window:
    """Where the windows of a convolution or pool lie."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    begins: tuple[int, ...]
    dilations: tuple[int, ...]

    def taps(self, position: Sequence[int], sizes: Sequence[int]) -> list[tuple[list[int], list[int]]]:
        """Per axis the taps that lie inside of the operand, and the places that they read."""
        taps = []
        for axis, at in enumerate(position):
            first = at * self.strides[axis] - self.begins[axis]
            reads = [(k, first + k * self.dilations[axis]) for k in range(self.kernel[axis])]
            inside = [(k, place) for k, place in reads if 0 <= place < sizes[axis]]
            taps.append(([k for k, _ in inside], [place for _, place in inside]))
        return taps


def _window(result: Result, kernel: tuple[int, ...]) -> _Window | None:
    rank = len(kernel)
    strides = tuple(result.attributes.get("strides", (1,) * rank))
    dilations = tuple(result.attributes.get("dilations", (1,) * rank))
    begins = tuple(result.attributes.get("pads", (0,) * 2 * rank))[:rank]
    form = result.attributes.get("auto_pad", "NOTSET")
    if form in ("SAME_UPPER", "SAME_LOWER"):
        sizes, wide = result.operands[0].values.shape[2:], result.shape[2:]
        reach = [(n - 1) * s + (k - 1) * d + 1 for n, s, k, d in zip(wide, strides, kernel, dilations, strict=True)]
        total = [max(0, r - size) for r, size in zip(reach, sizes, strict=True)]
        begins = tuple(t // 2 if form == "SAME_UPPER" else t - t // 2 for t in total)
    elif form not in ("NOTSET", "VALID"):
        return None
    return _Window(kernel, strides, begins, dilations)


def _convolution(result: Result, places: Sequence[int]) -> Iterator[Value] | None:
    x, w = (operand.centred() for operand in result.operands)
    window = _window(result, w.shape[2:])
    if window is None or (result.operands[1].scale.size > 1 and result.operands[1].axis != 0):
        return None
    per_group = result.shape[1] // int(result.attributes.get("group", 1))

    def values() -> Iterator[Value]:
        for place in places:
            sample, channel, *position = _unravel(place, result.shape)
            taps = window.taps(position, x.shape[2:])
            first = channel // per_group * w.shape[1]
            group = range(first, first + w.shape[1])
            reads = x[sample][np.ix_(group, *(read for _, read in taps))]
            weights = w[channel][np.ix_(range(w.shape[1]), *(tap for tap, _ in taps))]
            total = int((reads * weights).sum()) + _bias(result, channel)
            yield total * _ratio(result, channel), Fraction(0)

    return values()


def _matrix_product(result: Result, places: Sequence[int]) -> Iterator[Value] | None:
    left, right = (operand.centred() for operand in result.operands)
    scales = result.operands[1].scale.size
    if left.ndim < 2 or right.ndim < 2 or (scales > 1 and result.operands[1].axis % right.ndim != right.ndim - 1):
        return None
    batch = result.shape[:-2]
    left, right = (np.broadcast_to(part, (*batch, *part.shape[-2:])) for part in (left, right))

    def values() -> Iterator[Value]:
        for place in places:
            *outer, row, column = _unravel(place, result.shape)
            here = tuple(outer)
            total = int((left[here][row] * right[here][:, column]).sum()) + _bias(result, column)
            yield total * _ratio(result, column), Fraction(0)

    return values()


def _general_product(result: Result, places: Sequence[int]) -> Iterator[Value] | None:
    attributes = result.attributes
    if attributes.get("alpha", 1.0) != 1.0 or (attributes.get("beta", 1.0) != 1.0 and result.bias is not None):
        return None
    left, right = result.operands
    if attributes.get("transA", 0):
        left = Codes(left.values.T, left.scale, left.zero)
    if attributes.get("transB", 0):
        right = Codes(right.values.T, right.scale, right.zero, 1 - right.axis % 2)
    plain = Result("MatMul", (left, right), result.shape, result.scale, {}, result.bias, result.opset)
    return _matrix_product(plain, places)


def _pool(result: Result, places: Sequence[int]) -> Iterator[Value] | None:
    attributes = result.attributes
    if attributes.get("ceil_mode", 0) or attributes.get("channels_last", 0):
        return None
    x = result.operands[0].centred()
    everything = result.operator == "GlobalAveragePool"
    window = _window(result, x.shape[2:] if everything else tuple(attributes["kernel_shape"]))
    if window is None:
        return None
    ratio = Fraction(float(np.float32(result.operands[0].scale.reshape(-1)[0] / result.scale)))

    def values() -> Iterator[Value]:
        for place in places:
            sample, channel, *position = _unravel(place, result.shape)
            reads = x[sample, channel][np.ix_(*(read for _, read in window.taps(position, x.shape[2:])))]
            count = math.prod(window.kernel) if attributes.get("count_include_pad", 0) else reads.size
            yield int(reads.sum()) * ratio / count, Fraction(0)

    return values()


def _pairs(result: Result, places: Sequence[int]) -> Iterator[Value]:
    left, right = (np.broadcast_to(operand.centred(), result.shape).reshape(-1) for operand in result.operands)
    scales = [operand.one_scale for operand in result.operands]
    step = Fraction(float(result.scale))
    for place in places:
        a, b = int(left[place]) * scales[0], int(right[place]) * scales[1]
        real = {"Add": a + b, "Sub": a - b, "Mul": a * b}[result.operator]
        size = abs(real) if result.operator == "Mul" else abs(a) + abs(b)
        yield real / step, size * PAIR_ERROR / step


def _softmax(result: Result, places: Sequence[int]) -> Iterator[Value]:
    codes, scale = result.operands[0].values, float(result.operands[0].one_scale)
    if int(result.attributes.get("opset", result.opset)) < 13:
        axis = int(result.attributes.get("axis", 1)) % codes.ndim
        codes = codes.reshape(*codes.shape[:axis], -1)
    else:
        axis = int(result.attributes.get("axis", -1)) % codes.ndim
    rows = np.moveaxis(codes, axis, -1)
    step = float(result.scale)
    for place in places:
        at = _unravel(place, codes.shape)
        row = rows[(*at[:axis], *at[axis + 1 :])]
        highest = int(row.max())
        total = math.fsum(math.exp((int(code) - highest) * scale) for code in row)
        value = Fraction(math.exp((int(row[at[axis]]) - highest) * scale) / total / step)
        yield value, SOFTMAX_ERROR


def _table(result: Result, places: Sequence[int], function: _Function) -> Iterator[Value]:
    codes, scale = result.operands[0].centred().reshape(-1), float(result.operands[0].one_scale)
    step = Fraction(float(result.scale))
    for place in places:
        value, size = function(int(codes[place]) * scale, result.attributes)
        yield Fraction(value) / step, Fraction(size) * TABLE_ERROR / step


_Function = Callable[[float, Mapping[str, Any]], tuple[float, float]]
"""From a real number to a function's value, and the largest magnitude that it is summed from."""


def _sigmoid(x: float, _: Mapping[str, Any]) -> tuple[float, float]:
    value = 1 / (1 + math.exp(-x)) if x > -700 else 0.0
    return value, max(1.0, abs(x)) * value


def _tanh(x: float, _: Mapping[str, Any]) -> tuple[float, float]:
    return math.tanh(x), abs(math.tanh(x))


def _leaky(x: float, attributes: Mapping[str, Any]) -> tuple[float, float]:
    value = x if x >= 0 else x * float(np.float32(attributes.get("alpha", 0.01)))
    return value, abs(value)


def _hard_sigmoid(x: float, attributes: Mapping[str, Any]) -> tuple[float, float]:
    alpha, beta = float(attributes.get("alpha", 0.2)), float(attributes.get("beta", 0.5))
    return min(1.0, max(0.0, alpha * x + beta)), abs(alpha * x) + abs(beta)


def _hard_swish(x: float, _: Mapping[str, Any]) -> tuple[float, float]:
    return x * min(1.0, max(0.0, x / 6 + 0.5)), abs(x) * (abs(x) / 6 + 0.5)


def _relu(x: float, _: Mapping[str, Any]) -> tuple[float, float]:
    return max(0.0, x), max(0.0, x)


_FUNCTIONS: Mapping[str, _Function] = {
    "Sigmoid": _sigmoid, "Tanh": _tanh, "LeakyRelu": _leaky, "HardSigmoid": _hard_sigmoid, "HardSwish": _hard_swish,
    "Relu": _relu,
}  # fmt: skip
_OPERATORS: Mapping[str, Callable[[Result, Sequence[int]], Iterator[Value] | None]] = {
    "Conv": _convolution, "MatMul": _matrix_product, "Gemm": _general_product, "AveragePool": _pool,
    "GlobalAveragePool": _pool, "Add": _pairs, "Sub": _pairs, "Mul": _pairs, "Softmax": _softmax,
}  # fmt: skip


def _unravel(place: int, shape: Sequence[int]) -> list[int]:
    return [int(index) for index in np.unravel_index(place, tuple(shape))]


def half_even(value: Fraction) -> int:
    """The nearest whole number, of two equally near the even one."""
    below = value.numerator // value.denominator
    rest = value - below
    return below + int(rest > Fraction(1, 2) or (rest == Fraction(1, 2) and below % 2 == 1))
