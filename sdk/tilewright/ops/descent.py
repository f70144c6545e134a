"""Descent: products taken back to their common operand, and a step of descent on the weights of each.

The operand may be written over by its gradient channel by channel, and weights by their next values, so that a step of
training needs neither a gradient of weights nor a mask. `tilewright.gradient` makes it; no file contains it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product as grid
from math import prod

import numpy as np

from tilewright.model import Array, Node, Shape, Tensor
from tilewright.ops.index.affine import Affine
from tilewright.ops.index.build import axes, operand, spatial
from tilewright.ops.index.nest import Nest, Space
from tilewright.ops.operands import Arrays, given, maybe, same
from tilewright.ops.operator import Call, Kind, Operator, TensorType, remembered
from tilewright.ops.relayout import DOMAIN

FIRST_TERM, OF_A_TERM = 2, 3
"""Operands before those of the terms; weights, gradient and target of each."""
WINDOW = 7
"""Numbers of a term's window, as `DescentWindow` has them."""


@dataclass(frozen=True)
class DescentTerm:
    """One product: sizes of a group, and the window by rows and columns.

    A matrix [rows, depth] is one image whose channels are its columns; `turned` weights lie [depth, results].
    """

    images: int
    groups: int
    channels: int
    results: int
    size: tuple[int, int]
    outs: tuple[int, int]
    kernel: tuple[int, int]
    strides: tuple[int, int]
    dilations: tuple[int, int]
    begins: tuple[int, int]
    matrix: bool
    turned: bool

    @property
    def taps(self) -> int:
        """Weights between one channel and one result."""
        return prod(self.kernel)

    @property
    def weight_steps(self) -> tuple[int, int]:
        """Elements from the weights of a result, and of a channel, to those of the next."""
        if self.turned:
            return 1, self.results
        return self.channels * self.taps, self.taps

    def reach(self, axis: int, tap: int) -> tuple[slice, slice]:
        """The rows (columns) of the operand and of the gradient that meet at a tap: none where slices are empty."""
        stride, offset = self.strides[axis], tap * self.dilations[axis] - self.begins[axis]
        low = max(0, -(offset // stride))
        high = min(self.outs[axis], (self.size[axis] - 1 - offset) // stride + 1)
        high = max(low, high)
        start = low * stride + offset
        return slice(start, max(start, start + (high - low - 1) * stride + 1), stride), slice(low, high)


@remembered
def descent_terms(call: Call) -> tuple[DescentTerm, ...]:
    """The products; ModelError where shapes contradict them."""
    windows, turned = call.integers("windows"), call.integers("turned")
    count = len(turned)
    if not count or len(windows) != WINDOW * count or len(call.inputs) != FIRST_TERM + OF_A_TERM * count:
        raise call.invalid(f"{len(call.inputs)} operands are not those of {count} products")
    return tuple(_term(call, at, windows[WINDOW * at : WINDOW * (at + 1)], bool(turned[at])) for at in range(count))


def _term(call: Call, at: int, window: Shape, turned: bool) -> DescentTerm:
    place = FIRST_TERM + OF_A_TERM * at
    target = call.optional(place + 2)
    return term_of(call, window, turned, call.shape(), call.shape(place), call.shape(place + 1), target)


def term_of(
    call: Call, window: Shape, turned: bool, x: Shape, w: Shape, dy: Shape, target: Tensor | None
) -> DescentTerm:
    """The product of an operand and weights of these shapes; ModelError where they contradict each other."""
    groups, *rest = window
    matrix = len(w) == 2
    if target is not None and target.shape != w:
        raise call.invalid(f"a target of shape {target.shape} takes no step of weights of shape {w}")
    if matrix:
        inside, results = w if turned else w[::-1]
        images, size, outs, kernel = 1, (1, prod(x[:-1])), (1, prod(dy[:-1])), (1, 1)
        fits = groups == 1 and size == outs and (x[-1], dy[-1]) == (inside, results)
    else:
        images, size, outs, kernel = x[0], _two(x[2:]), _two(dy[2:]), _two(w[2:])
        inside, results = w[1], w[0] // max(groups, 1)
        fits = len(x) == len(w) == len(dy) in (3, 4) and groups > 0 and not turned
        fits = fits and (x[1], dy[1], dy[0]) == (inside * groups, w[0], images) and results * groups == w[0]
    if not fits or min(rest[:4]) < 1:
        raise call.invalid(f"operands of shapes {x}, {w} and {dy} are not those of one product")
    return DescentTerm(
        images, groups, inside, results, size, outs, kernel, (rest[0], rest[1]), (rest[2], rest[3]),
        (rest[4], rest[5]), matrix, turned,
    )  # fmt: skip


@remembered
def product_term(call: Call) -> DescentTerm | None:
    """The sizes of a product of an operand with weights, as a Descent takes it back; None for one that it does not."""
    rule = None if call.operator is None else call.operator.descent
    window = None if rule is None or len(call.shape(1)) < 2 else rule(call)
    if window is None:
        return None
    return term_of(call, window.numbers, window.turned, call.shape(), call.shape(1), call.outputs[0].shape, None)


def _two(shape: Shape) -> tuple[int, int]:
    return (1, shape[0]) if len(shape) == 1 else (shape[0], shape[1])


def _infer(call: Call) -> tuple[TensorType, ...]:
    terms = descent_terms(call)
    add = call.optional(1)
    if add is not None and add.shape != call.shape():
        raise call.invalid(f"a gradient of shape {add.shape} is none of {call.shape()}")
    return (same(call), *(same(call, FIRST_TERM + OF_A_TERM * at) for at in range(len(terms))))


def footprints(call: Call) -> tuple[Nest, ...]:
    """Groups `g` and channels `c` move every result; images `n` and rows `ih` of the operand the gradient alone, the
    step of the weights is a sum over them. A matrix has `m0`, `m1`, ... in their place. Empty where products divide
    channels differently."""
    terms = descent_terms(call)
    first, shape = terms[0], call.shape()
    if any((term.groups, term.matrix) != (first.groups, first.matrix) for term in terms):
        return ()
    picture = len(shape) - 2
    inside = axes("m", shape[:-1]) if first.matrix else {"n": shape[0], **spatial("i", shape[2:])}
    sizes = {"g": first.groups, "c": first.channels, **inside}
    for at, term in enumerate(terms):
        sizes |= {f"o{at}": term.results}
        if not first.matrix:
            sizes |= spatial(f"k{at}", term.kernel[2 - picture :])
    space = Space.of(**sizes)
    loops = dict(zip(sizes, space, strict=True))
    where = tuple(loops[name] for name in inside)
    place = (*where, loops["c"]) if first.matrix else (where[0], loops["g"] * first.channels + loops["c"], *where[1:])
    x, add = operand(call.tensor(0), "x")[place], call.optional(1)
    back = [] if add is None else [operand(add, "add")[place]]
    nests = list[Nest]()
    for at, term in enumerate(terms):
        w, dy, target = (call.optional(FIRST_TERM + OF_A_TERM * at + part) for part in range(OF_A_TERM))
        assert w is not None
        assert dy is not None
        result = loops["g"] * term.results + loops[f"o{at}"]
        if first.matrix:
            weights: tuple[Affine, ...] = (loops["c"], result) if term.turned else (result, loops["c"])
            slope = (*where, result)
        else:
            taps = tuple(loops[name] for name in spatial(f"k{at}", term.kernel[2 - picture :]))
            weights = (result, loops["c"], *taps)
            met = zip(where[1:], taps, term.strides[-picture:], term.dilations[-picture:], term.begins[-picture:],
                      strict=True)  # fmt: skip
            slope = (where[0], result, *((i + (b - k * d)) // s for i, k, s, d, b in met))
        names = [f"term{OF_A_TERM * at + part}" for part in range(OF_A_TERM)]
        own = operand(w, names[0])[weights], operand(dy, names[1])[slope]
        back += own
        held = () if target is None else (operand(target, names[2])[weights],)
        nests.append(Nest(space, operand(w, f"next{at}")[weights], (x, *own, *held)))
    whole = [Nest(space, operand(call.tensor(0), "dx")[place], (x, *back))] if 0 in call.present else []
    return (*whole, *nests)


def by_channel(term: DescentTerm, array: Array, channels: int, size: tuple[int, int]) -> Array:
    """The array as [images, groups, channels of a group, rows, columns]."""
    if term.matrix:
        return array.reshape(*size, channels).transpose(2, 0, 1)[None, None]
    return array.reshape(term.images, term.groups, channels, *size)


def _evaluate(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    x, add = given(arrays, 0), maybe(arrays, 1)
    total = np.zeros(x.shape, np.float64) if add is None else add.astype(np.float64)
    rate, decay, following = call.real("rate"), call.real("decay", 1.0), list[Array]()
    for at, term in enumerate(descent_terms(call)):
        w, dy, target = (maybe(arrays, FIRST_TERM + OF_A_TERM * at + part) for part in range(OF_A_TERM))
        assert w is not None
        assert dy is not None
        slopes = taken_back(term, x.astype(np.float64), w, dy, total)
        following.append((decay * (w if target is None else target) + rate * slopes).astype(w.dtype))
    if call.integer("masked", 0):
        total = np.where(x > 0, total, 0)
    return (total.astype(x.dtype), *following)


def taken_back(term: DescentTerm, x: Array, w: Array, dy: Array, total: Array) -> Array:
    """The slopes of the weights; what the operand's gradient is made of is added to `total`."""
    inputs = by_channel(term, x, term.channels, term.size)
    outputs = by_channel(term, dy.astype(np.float64), term.results, term.outs)
    weights = (w.T if term.turned else w).reshape(term.groups, term.results, term.channels, *term.kernel)
    slopes, sums = np.zeros(weights.shape), by_channel(term, total, term.channels, term.size)  # a view
    for tap, read, written in meetings(term):
        slopes[..., *tap] = np.einsum("ngcyx,ngoyx->goc", inputs[..., *read], outputs[..., *written])
        sums[..., *read] += np.einsum("goc,ngoyx->ngcyx", weights[..., *tap], outputs[..., *written])
    return slopes.reshape(w.T.shape).T if term.turned else slopes.reshape(w.shape)


def meetings(term: DescentTerm) -> Iterator[tuple[tuple[int, int], tuple[slice, slice], tuple[slice, slice]]]:
    """Every tap with the rows and columns of operand and gradient that meet there."""
    for tap in grid(*map(range, term.kernel)):
        read, written = zip(*(term.reach(axis, tap[axis]) for axis in (0, 1)), strict=True)
        yield (tap[0], tap[1]), (read[0], read[1]), (written[0], written[1])


def products(call: Call) -> int:
    """Multiply-accumulates: of every term two, one where no gradient of the operand is asked for."""
    each = 2 if 0 in call.present else 1
    return sum(each * products_of(term) for term in descent_terms(call))


def products_of(term: DescentTerm) -> int:
    """Multiply-accumulates of the product forwards."""
    pixels = sum(prod(len(range(*part.indices(part.stop))) for part in written) for _, _, written in meetings(term))
    return term.images * term.groups * term.results * term.channels * pixels


def replaces(node: Node) -> tuple[tuple[int, int], ...]:
    """Gradients over the operand, or over that of its other readers; next values over what takes the step."""
    pairs = [(operand, 0) for operand in (0, 1) if node.inputs[operand] and node.outputs[0]]
    for place in range(FIRST_TERM, len(node.inputs), OF_A_TERM):
        target = place + 2 if node.inputs[place + 2] else place
        pairs.append((target, 1 + (place - FIRST_TERM) // OF_A_TERM))
    return tuple(pairs)


OPERATORS = (
    Operator(
        "Descent", _infer, _evaluate, ("x", "add", "term..."), ("dx", "next..."), kind=Kind.OPAQUE, domain=DOMAIN,
        sketch="descent", products=products, replaces=replaces, footprints=footprints,
    ),
)  # fmt: skip
