"""Random calls of operators: shapes, attributes and operands, before an element type is chosen.

Values are real numbers; `kernels.py` turns them into floats, integers or codes. An operand that is no data (a shape,
axes, indices) has its type already.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from tilewright.model import Array, Attribute, Shape

Role = Literal["data", "weight", "bias", "fixed", "parameter"]
Draw = random.Random
EMPTY = 0.05
"""How often an axis has no elements, where a shape may."""
OPERANDS = (1, 2, 2, 3, 3, 4, 5, 8, 15, 16, 17, 26, 27, 33, 64)
"""How many operands an operator of any number of them is given: around the powers of two and the letters."""


@dataclass(frozen=True)
class Drawn:
    """One operand: real values, or the elements themselves where it is `fixed`; constant or given at run time.

    A `parameter` stays a real number where data are codes.
    """

    values: Array
    role: Role = "data"
    constant: bool = False


@dataclass(frozen=True)
class Sketch:
    """A call without types; None stands for an omitted operand. `axis` is that of a weight's channels, `absent` are the
    results that are omitted."""

    op: str
    operands: tuple[Drawn | None, ...]
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    outputs: int = 1
    axis: int = 0
    domain: str = ""
    absent: tuple[int, ...] = ()


Sketcher = Callable[[Draw, str], Sketch]


def reals(r: Draw, shape: Shape, low: float = -2.0, high: float = 2.0) -> Array:
    """Uniform numbers."""
    return np.random.default_rng(r.getrandbits(32)).uniform(low, high, shape)


def data(r: Draw, shape: Shape) -> Drawn:
    """A run-time operand."""
    return Drawn(reals(r, shape))


def fixed(values: Sequence[int] | Array, constant: bool = True) -> Drawn:
    """An operand of integers that is known at compile time unless said otherwise."""
    return Drawn(np.asarray(values, np.int64), "fixed", constant)


def shape_of(r: Draw, low: int = 1, high: int = 4, most: int = 6, *, empty: bool = False) -> Shape:
    """A random shape of `low` to `high` axes, now and then of axes of one element; `empty` allows one of none."""
    shape = [r.randint(1, most) for _ in range(r.randint(low, high))]
    if r.random() < 0.12:
        shape = [1 if r.random() < 0.7 else size for size in shape]
    if empty and r.random() < EMPTY:
        shape[r.randrange(len(shape))] = 0
    return tuple(shape)


def batch_of(r: Draw, *sizes: int) -> int:
    """One of the sizes, now and then none at all."""
    return 0 if r.random() < EMPTY / 2 else r.choice(sizes)


# ------------------------------------------------------------------------------------------------ windows
def _window(r: Draw, rank: int, least: int = 1) -> dict[str, Attribute]:
    kernel = tuple(r.randint(least, 3) for _ in range(rank))
    dilations = tuple(r.choice((1, 1, 2, 3)) for _ in range(rank))
    limits = [(k - 1) * d for k, d in zip(kernel, dilations, strict=True)]
    return {
        "kernel_shape": kernel, "dilations": dilations, "strides": tuple(r.choice((1, 1, 2, 3)) for _ in range(rank)),
        "pads": tuple(r.randint(0, limit) for limit in limits) + tuple(r.randint(0, limit) for limit in limits),
    }  # fmt: skip


def _whole(window: Mapping[str, Attribute], name: str) -> tuple[int, ...]:
    value = window[name]
    assert isinstance(value, tuple)
    return tuple(int(v) for v in value)


def _spatial(r: Draw, window: Mapping[str, Attribute], most: int = 9) -> Shape:
    reach = [(k - 1) * d + 1 for k, d in zip(_whole(window, "kernel_shape"), _whole(window, "dilations"), strict=True)]
    return tuple(r.randint(low, max(low, most)) for low in reach)


def conv(r: Draw, op: str) -> Sketch:
    """Convolutions in one to three dimensions: grouped, depthwise, with and without bias, of weights that change."""
    rank = r.choice((2, 2, 2, 2, 1, 3))
    window = _window(r, rank)
    if r.random() < 0.4:  # as many rows as before
        sizes = _whole(window, "kernel_shape")
        pads = [(k - 1) * d for k, d in zip(sizes, _whole(window, "dilations"), strict=True)]
        half = tuple(p // 2 for p in pads)
        window |= {"strides": (1,) * rank, "pads": half + tuple(p - h for p, h in zip(pads, half, strict=True))}
    elif r.random() < 0.15:  # windows that lie in the padding alone
        window |= {"pads": tuple(pad + r.randint(0, 2) for pad in _whole(window, "pads"))}
    kind = r.choice(("plain", "plain", "depthwise", "depthwise", "multiplied", "grouped", "pointwise"))
    if kind == "pointwise":
        window = {
            "kernel_shape": (1,) * rank,
            "dilations": (1,) * rank,
            "strides": (1,) * rank,
            "pads": (0,) * 2 * rank,
        }
    groups = 1 if kind in ("plain", "pointwise") else r.choice((2, 3, 5, 8, 17) if "dep" in kind else (2, 3))
    inner = 1 if kind in ("depthwise", "multiplied") else r.choice((1, 2, 3, 4, 5, 8))
    outer = 1 if kind == "depthwise" else r.choice((1, 2, 3, 4, 5, 8, 9))
    sizes = _spatial(r, window, 6 if rank == 3 else 9)
    weight = Drawn(reals(r, (groups * outer, inner, *_whole(window, "kernel_shape"))), "weight", True)
    bias = [Drawn(reals(r, (groups * outer,)), "bias", True)] if r.random() < 0.6 else []
    image = data(r, (batch_of(r, 1, 1, 2), groups * inner, *sizes))
    operands = (weight, *bias)
    if op == "Conv" and r.random() < 0.15:  # weights that change, as those of a training
        operands = tuple(replace(each, constant=False) for each in operands)
    return Sketch(op, (image, *operands), {**window, "group": groups})


def conv_transpose(r: Draw, op: str) -> Sketch:
    """Transposed convolutions with groups and output padding."""
    rank = r.choice((1, 2, 2, 3))
    kernel = tuple(r.randint(1, 3) for _ in range(rank))
    strides = tuple(r.randint(1, 3) for _ in range(rank))
    groups, inner, outer = r.choice((1, 1, 2, 3)), r.randint(1, 4), r.randint(1, 4)
    dilations = tuple(r.choice((1, 2, 3)) for _ in range(rank))
    reach = [(k - 1) * d for k, d in zip(kernel, dilations, strict=True)]
    attributes: dict[str, Attribute] = {
        "strides": strides, "group": groups, "dilations": dilations,
        "pads": tuple(r.randint(0, limit) for limit in reach) + tuple(r.randint(0, limit) for limit in reach),
        "output_padding": tuple(r.randint(0, s - 1) for s in strides),
    }  # fmt: skip
    weight = Drawn(reals(r, (groups * inner, outer, *kernel)), "weight", True)
    bias = [Drawn(reals(r, (groups * outer,)), "bias", True)] if r.random() < 0.5 else []
    image = data(r, (batch_of(r, 1, 1, 2), groups * inner, *(r.randint(1, 5) for _ in range(rank))))
    return Sketch(op, (image, weight, *bias), attributes, axis=1)


def pool(r: Draw, op: str) -> Sketch:
    """Pools with padding, dilation and ceiling."""
    rank = r.choice((1, 2, 2, 3))
    window = _window(r, rank)
    more: dict[str, Attribute] = {"ceil_mode": r.randint(0, 1)}
    if op == "AveragePool":
        more["count_include_pad"] = r.randint(0, 1)
    if op == "LpPool":
        more["p"] = r.randint(1, 3)
    outputs = 2 if op == "MaxPool" and r.random() < 0.2 else 1
    image = data(r, (batch_of(r, 1, 2), r.randint(1, 5), *_spatial(r, window, 6)))
    return Sketch(op, (image,), {**window, **more}, outputs)


def image(r: Draw, op: str) -> Sketch:
    """An operator over the spatial axes of an image."""
    return Sketch(op, (data(r, (r.choice((1, 2)), r.randint(1, 7), *(r.randint(1, 6) for _ in range(2)))),))


# ------------------------------------------------------------------------------------------------ products
def gemm(r: Draw, op: str) -> Sketch:
    """Matrices in both orders, with and without an addend of any shape that broadcasts, and factors."""
    m, n, k = batch_of(r, 1, 1, 2, 3, 5), r.choice((1, 2, 3, 4, 7, 10, 16)), r.choice((1, 2, 3, 4, 7, 16, 33))
    flip, turn = r.random() < 0.2, r.random() < 0.5
    b = Drawn(reals(r, (n, k) if turn else (k, n)), "weight", True)
    c = [Drawn(reals(r, (n,)), "bias", True)] if r.random() < 0.7 else []
    return Sketch(
        op, (data(r, (k, m) if flip else (m, k)), b, *c), {"transA": int(flip), "transB": int(turn)},
        axis=0 if turn else 1,
    )  # fmt: skip


def matmul(r: Draw, op: str) -> Sketch:
    """A constant right-hand side, or two run-time operands; up to three batch axes that broadcast, and vectors."""
    m, n, k = batch_of(r, 1, 2, 3, 5), r.choice((1, 2, 3, 4, 7, 16)), r.choice((1, 2, 3, 4, 7, 16, 33))
    if r.random() < 0.6:
        rows = (*(r.randint(1, 3) for _ in range(r.choice((0, 0, 1, 1, 2, 3)))), m) if r.random() < 0.9 else ()
        return Sketch(op, (data(r, (*rows, k)), Drawn(reals(r, (k, n)), "weight", True)), axis=1)
    batch = tuple(r.randint(1, 3) for _ in range(r.choice((0, 1, 2, 2))))
    left, right = (tuple(1 if r.random() < 0.2 else size for size in batch[r.choice((0, 0, 1)) :]) for _ in range(2))
    if r.random() < 0.1:
        return Sketch(op, (data(r, (k,)), data(r, (*right, k, n))))
    return Sketch(
        op, (data(r, (*left, m, k)), data(r, (*right, k) if r.random() < 0.1 and not right else (*right, k, n)))
    )


def matmul_integer(r: Draw, op: str) -> Sketch:
    """As MatMul, each operand with a zero point of the run time, a constant one, or none."""
    return _with_zeros(r, matmul(r, op))


def conv_integer(r: Draw, op: str) -> Sketch:
    """As Conv, each operand with a zero point of the run time, a constant one, or none."""
    return _with_zeros(r, conv(r, op))


def _with_zeros(r: Draw, plain: Sketch) -> Sketch:
    shapes = [None if r.random() < 0.3 else r.choice(((), (1,))) for _ in range(2)]
    zeros = (None if shape is None else Drawn(reals(r, shape), "data", r.random() < 0.3) for shape in shapes)
    sides = (replace(each, role="data") for each in plain.operands[:2] if each is not None)
    return replace(plain, operands=(*sides, *zeros))


# ------------------------------------------------------------------------------------------------ element by element
def unary(r: Draw, op: str) -> Sketch:
    """One operand."""
    return Sketch(op, (data(r, shape_of(r, empty=True)),))


def broadcast(r: Draw, op: str) -> Sketch:
    """Two operands of shapes that broadcast, some of them constant."""
    return _broadcast(r, op, 2, {"direction": r.choice(("LEFT", "RIGHT"))} if op == "BitShift" else {})


def variadic(r: Draw, op: str) -> Sketch:
    """One to 64 operands of shapes that broadcast, some of them constant."""
    return _broadcast(r, op, r.choice(OPERANDS), {})


def _broadcast(r: Draw, op: str, count: int, attributes: Mapping[str, Attribute]) -> Sketch:
    full = shape_of(r, 1, 4, 5, empty=True)
    operands = []
    for index in range(count):
        cut = full[r.choice((0, 0, r.randint(0, len(full)))) :]
        shape = tuple(1 if r.random() < 0.25 else size for size in cut)
        operands.append(Drawn(reals(r, shape), "data", index > 0 and r.random() < 0.3))
    return Sketch(op, tuple(operands), attributes)


def prelu(r: Draw, op: str) -> Sketch:
    """A slope per channel."""
    channels = r.randint(1, 6)
    slope = Drawn(reals(r, r.choice(((1,), (channels, 1, 1))), 0, 0.5), "data", True)
    return Sketch(op, (data(r, (1, channels, 3, r.randint(1, 4))), slope))


def clip(r: Draw, op: str) -> Sketch:
    """Limits that are constant, given at run time or left out, and now and then cross."""
    ends = r.choice(((-1.0, 1.5), (-1.0, 1.5), (0.0, 0.0), (1.0, -1.0)))
    constant = r.random() < 0.7
    low, high = (None if r.random() < 0.15 else Drawn(np.asarray(v), "data", constant) for v in ends)
    return Sketch(op, (data(r, shape_of(r, empty=True)), low, high))


def cast(r: Draw, op: str) -> Sketch:
    """To one of the common types."""
    return Sketch(op, (data(r, shape_of(r)),), {"to": r.choice((1, 2, 3, 5, 6, 7, 9, 11, 12))})


def where(r: Draw, op: str) -> Sketch:
    """A condition and two values."""
    shape = shape_of(r, empty=True)
    condition = Drawn(reals(r, shape) > 0, "fixed", r.random() < 0.3)
    return Sketch(op, (condition, data(r, shape), data(r, (1,) if r.random() < 0.3 else shape)))


# ------------------------------------------------------------------------------------------------ along an axis
def along(**choices: Sequence[Attribute]) -> Sketcher:
    """One operand, an axis, and attributes of which one value each is chosen."""

    def sketch(r: Draw, op: str) -> Sketch:
        shape = shape_of(r, 1, 4)
        picked = {name: r.choice(list(values)) for name, values in choices.items()}
        return Sketch(op, (data(r, shape),), {"axis": r.randrange(-len(shape), len(shape)), **picked})

    return sketch


def reduce(r: Draw, op: str) -> Sketch:
    """Some axes or all."""
    shape = shape_of(r, 1, 4, 5, empty=True)
    axes = sorted(r.sample(range(len(shape)), r.randint(1, len(shape))))
    return Sketch(op, (data(r, shape), fixed(axes)), {"keepdims": r.randint(0, 1)})


def top_k(r: Draw, op: str) -> Sketch:
    """The k first along an axis, with their indices."""
    shape = shape_of(r, 1, 3)
    axis = r.randrange(len(shape))
    attributes: dict[str, Attribute] = {"axis": axis, "largest": r.randint(0, 1)}
    k = r.randint(1, shape[axis])
    if r.random() < 0.3:  # k is given at run time, up to a bound
        attributes |= {"bound": r.randint(1, shape[axis])}
        return Sketch(op, (data(r, shape), fixed([k], False)), attributes, 3)
    return Sketch(op, (data(r, shape), fixed([k])), attributes, 2)


def running(r: Draw, op: str) -> Sketch:
    """Running totals."""
    shape = shape_of(r, 1, 3)
    axis = fixed(np.asarray(r.randrange(len(shape))))
    return Sketch(op, (data(r, shape), axis), {"exclusive": r.randint(0, 1), "reverse": r.randint(0, 1)})


def layer_norm(r: Draw, op: str) -> Sketch:
    """Scale and shift over the last axes."""
    shape = shape_of(r, 2, 3)
    axis = r.randrange(1, len(shape))
    parameters = [Drawn(reals(r, shape[axis:]), "parameter", True) for _ in range(1 if op == "RMSNormalization" else 2)]
    return Sketch(op, (data(r, shape), *parameters), {"axis": axis})


def per_channel(count: int, **attributes: Attribute) -> Sketcher:
    """An image and `count` positive constants per channel."""

    def sketch(r: Draw, op: str) -> Sketch:
        channels = r.choice((2, 4, 6))
        constants = [Drawn(reals(r, (channels,), 0.5, 1.5), "parameter", True) for _ in range(count)]
        images = r.choice((1, 1, 2))
        return Sketch(op, (data(r, (images, channels, r.randint(2, 4), r.randint(1, 4))), *constants), attributes)

    return sketch
