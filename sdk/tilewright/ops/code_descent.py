"""CodeDescent and BiasDescent: layers on codes taken back in integers, and the step of their weights and biases.

Weights are codes of eight bits with a `rest` of eight more behind them, so that small steps add up; a bias counts
units of its sums. The operand may be written over by its gradient channel by channel, and weights by their next values.
The gradient of the operand is as wide as the step before it was: `shift` is kept from call to call, and made greater
as soon as codes would leave their range. `tilewright.gradient.integers` makes both; no file contains them.
"""

from __future__ import annotations

from enum import IntEnum
from math import prod

import numpy as np

from tilewright.model import Array, DType, Node
from tilewright.ops.codes import AsIntegers
from tilewright.ops.descent import WINDOW, DescentTerm, products_of, taken_back, term_of
from tilewright.ops.dither import dithered, drawn, drawn_from
from tilewright.ops.gradient_codes import SHARE_BITS, exponent_type, is_open, limited, needs_codes, rounded
from tilewright.ops.operands import Arrays, given, maybe, same
from tilewright.ops.operator import Call, Kind, Operator, TensorType, remembered
from tilewright.ops.quantised.real import the_quantisation
from tilewright.ops.relayout import DOMAIN


class Place(IntEnum):
    """Operands: what the layer reads, the gradient of its result, its weights; the count of steps; how wide the
    gradient of the operand is; factors of the weights of each result; what lies behind weights, and rates of steps."""

    X, CODES, EXPONENT, WEIGHTS, COUNT, SHIFT, SHARES, REST, RATES = range(9)


class Result(IntEnum):
    """The gradient of the operand, its exponent and how wide it is next; weights, and what lies behind them."""

    DX, DX_EXPONENT, NEXT_SHIFT, NEXT, NEXT_REST = range(5)


FRACTION = 256
"""Steps of the rest that are one of a weight."""
HEAVIEST = 127 * FRACTION + 127
"""Weights and rest together are no farther from zero."""
SPARE_BITS = 6
"""Bits that the largest code of the gradient of an operand is to have: one is kept free."""
LONGEST = 24
"""A gradient is divided by no more than two to the power of this: its sums are less than 2^30."""


@remembered
def code_term(call: Call) -> DescentTerm:
    """The product that is taken back; ModelError where shapes contradict it."""
    window = call.integers("window")
    if len(window) != WINDOW:
        raise call.invalid(f"{len(window)} numbers are no window")
    turned = bool(call.integer("turned", 0))
    return term_of(call, window, turned, call.shape(Place.X), call.shape(Place.WEIGHTS), call.shape(Place.CODES), None)


def results_axis(call: Call) -> int:
    """The axis of the weights that counts results."""
    return 1 if code_term(call).turned else 0


def _infer(call: Call) -> tuple[TensorType, ...]:
    needs_codes(call, Place.CODES, Place.EXPONENT)
    code_term(call)
    results = call.shape(Place.WEIGHTS)[results_axis(call)]
    for place, dtype, shape in (
        (Place.COUNT, DType.I32, (1,)), (Place.SHIFT, DType.I32, (1,)), (Place.SHARES, DType.I16, (results,)),
        (Place.REST, DType.I8, call.shape(Place.WEIGHTS)), (Place.RATES, DType.I32, (results,)),
    ):  # fmt: skip
        tensor = call.optional(place)
        if tensor is not None and (tensor.dtype, tensor.shape) != (dtype, shape):
            raise call.invalid(f"operand {place} is {tensor.dtype.value}{list(tensor.shape)}")
    meaning = call.tensor(Place.WEIGHTS).quantisation
    if meaning is not None and any(meaning.zero_point):
        raise call.invalid("weights that are taken back in integers have the zero point 0")
    back = TensorType(DType.I8, call.shape(Place.X))
    learnt = (same(call, Place.WEIGHTS), TensorType(DType.I8, call.shape(Place.WEIGHTS)))
    return (back, exponent_type(call), exponent_type(call), *learnt)[: len(call.node.outputs)]


def shared(call: Call, weights: Array, shares: Array | None) -> Array:
    """The weights times the factors of their results, in `2^-bits`."""
    wide = weights.astype(np.int64)
    if shares is None:
        return wide
    spread = [1] * wide.ndim
    spread[results_axis(call)] = -1
    return rounded(wide * shares.astype(np.int64).reshape(spread), SHARE_BITS - call.integer("share_bits", 0))


def _evaluate(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    x, w, shift = given(arrays, Place.X), given(arrays, Place.WEIGHTS), maybe(arrays, Place.SHIFT)
    exponent, count = int(given(arrays, Place.EXPONENT)[0]), int(given(arrays, Place.COUNT)[0])
    own = call.integer("own")
    wide = x.astype(np.float64) - the_quantisation(call.tensor(Place.X)).zero_point[0]
    held, total = shared(call, w, maybe(arrays, Place.SHARES)), np.zeros(x.shape)
    slopes = np.rint(taken_back(code_term(call), wide, held, given(arrays, Place.CODES), total)).astype(np.int64)
    results: list[Array] = []
    if shift is not None:
        results += _back(call, x, np.rint(total).astype(np.int64), int(shift[0]), drawn_from(count, own))
        results[Result.DX_EXPONENT] = np.full(1, exponent + int(shift[0]), np.int32)
    else:
        results += [np.zeros(x.shape, np.int8), np.zeros(1, np.int32), np.zeros(1, np.int32)]
    rest, rates = maybe(arrays, Place.REST), maybe(arrays, Place.RATES)
    if rest is not None and rates is not None:
        spread = [1] * w.ndim
        spread[results_axis(call)] = -1
        steps = (slopes << call.integer("before", 0)) * rates.astype(np.int64).reshape(spread) >> 32
        steps = moved_by(steps, call.integer("places") - exponent, drawn_from(count, own + 1))
        whole = w.astype(np.int64) * FRACTION + rest
        whole = np.where(slopes == 0, whole, np.clip(whole - steps, -HEAVIEST, HEAVIEST))
        following = whole + FRACTION // 2 >> 8
        results += [following.astype(np.int8), (whole - following * FRACTION).astype(np.int8)]
    return tuple(results[: len(call.node.outputs)])


def _back(call: Call, x: Array, total: Array, bits: int, start: int) -> list[Array]:
    """The gradient of the operand, a place for its exponent, and how wide it is to be in the next call."""
    opened = is_open(call, x)
    codes = np.where(opened, limited(dithered(total, bits, drawn(start, total.size))), 0).astype(np.int8)
    length = int(np.where(opened, total ^ total >> 63, 0).max(initial=0)).bit_length()
    return [codes, np.zeros(1, np.int32), np.full(1, next_shift(bits, length), np.int32)]


def next_shift(bits: int, length: int) -> int:
    """The shift for the next call where the longest number had `length` bits: up at once, down one at a time."""
    wanted = length - SPARE_BITS
    if not length:
        return bits
    return min(max(wanted if wanted > bits else max(wanted, bits - 1), 0), LONGEST)


def moved_by(steps: Array, bits: int, start: int) -> Array:
    """Steps of weights in units of the rest: `steps / 2^bits`, limited where the exponent of a gradient is large."""
    if bits > 0:
        return dithered(steps, bits, drawn(start, steps.size))
    left = min(-bits, 31)
    limit = 2 * HEAVIEST >> left
    return np.asarray(np.clip(steps, -limit, limit) << left)


# ------------------------------------------------------------------------------------------------------ biases
def _infer_bias(call: Call) -> tuple[TensorType, ...]:
    needs_codes(call, 0, 1)
    channels = call.shape()[call.integer("axis")]
    if (call.tensor(2).dtype, call.shape(2), call.shape(3)) != (DType.I32, (channels,), (channels,)):
        raise call.invalid(f"a bias of shape {call.shape(2)} is none of {channels} results")
    return (same(call, 2),)


def _biased(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    codes, exponent, bias, rates = (given(arrays, index) for index in range(4))
    axis, limit = call.integer("axis"), call.integer("limit")
    sums = codes.astype(np.int64).sum(axis=tuple(at for at in range(codes.ndim) if at != axis))
    steps, bits = sums * rates.astype(np.int64), call.integer("places") - int(exponent[0])
    if bits > 0:
        steps = rounded(steps, min(bits, 62))
    else:
        most = limit >> min(-bits, 31)
        steps = np.where(np.abs(steps) > most, np.sign(steps) * 2 * limit, steps << min(-bits, 31))
    return (np.clip(bias - steps, -limit, limit).astype(np.int32),)


def products(call: Call) -> int:
    """Multiply-accumulates: one for the weights, one for the operand."""
    made = sum(name != "" for name in (call.node.outputs[Result.DX], *call.node.outputs[Result.NEXT : Result.NEXT + 1]))
    return made * products_of(code_term(call))


def replaces(node: Node) -> tuple[tuple[int, int], ...]:
    """The gradient over the operand, next values over what they follow."""
    pairs = (
        (Place.X, Result.DX),
        (Place.SHIFT, Result.NEXT_SHIFT),
        (Place.WEIGHTS, Result.NEXT),
        (Place.REST, Result.NEXT_REST),
    )
    return tuple((a, b) for a, b in pairs if a < len(node.inputs) and node.inputs[a] and _is_made(node, b))


def _is_made(node: Node, place: int) -> bool:
    return place < len(node.outputs) and node.outputs[place] != ""


def longest_sum(term: DescentTerm) -> int:
    """Products that one result of the gradient of the operand sums at most."""
    return term.results * term.taps


def most_meetings(term: DescentTerm) -> int:
    """Products that the slope of one weight sums at most."""
    return term.images * prod(term.outs)


OPERATORS = (
    Operator(
        "CodeDescent", _infer, _evaluate,
        ("x", "codes", "exponent", "w", "count", "shift", "shares", "rest", "rates"),
        ("dx", "dx_exponent", "next_shift", "next", "next_rest"), kind=Kind.OPAQUE, domain=DOMAIN,
        codes=AsIntegers(), sketch="code_descent", products=products, replaces=replaces,
    ),
    Operator(
        "BiasDescent", _infer_bias, _biased, ("codes", "exponent", "b", "rates"), ("next",), kind=Kind.OPAQUE,
        domain=DOMAIN, sketch="bias_descent", replaces=lambda node: ((2, 0),),
    ),
)  # fmt: skip
