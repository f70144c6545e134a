"""Random gradients in codes: layers that are taken back in integers, masks, sums, slopes, pools and biases."""

from __future__ import annotations

import numpy as np

from tilewright.conformance.draws import Draw, Drawn, Sketch, data, reals
from tilewright.model import Array, Attribute, Shape
from tilewright.ops.facts import descent_matrix, descent_window


def _codes(r: Draw, *shape: int) -> Drawn:
    return Drawn(np.random.default_rng(r.getrandbits(32)).integers(-127, 128, shape).astype(np.int8), "fixed")


def _whole(r: Draw, low: int, high: int, size: int = 1, *, constant: bool = False) -> Drawn:
    return Drawn(np.asarray([r.randint(low, high) for _ in range(size)], np.int32), "fixed", constant)


def code_descent(r: Draw, op: str) -> Sketch:
    """A layer that learns and is taken back, or one of both: convolutions of any groups, and matrices."""
    matrix, channels, rank = r.random() < 0.25, r.choice((1, 4, 6, 8)), r.choice((1, 2, 2))
    turned, axis = r.random() < 0.5, 0
    shape: Shape
    if matrix:
        rows, results = r.choice((1, 1, 3)), r.choice((1, 3, 4, 5, 8))
        x, axis = data(r, (rows, channels)), int(turned)
        shape = (channels, results) if turned else (results, channels)
        gradient, window = _codes(r, rows, results), descent_matrix(turned=turned)
    else:
        groups = r.choice([g for g in (1, 2, 2, channels, channels) if channels % g == 0])
        kernel, stride, dilation = r.choice((1, 2, 3, 3)), r.choice((1, 1, 2)), r.choice((1, 2))
        begin, reach = r.randint(0, (kernel - 1) * dilation), (kernel - 1) * dilation + 1
        sizes, images = (r.randint(3, 7),) * rank, r.choice((1, 1, 2))
        outs = tuple(max(1, (size + begin + r.randint(0, 1) - reach) // stride + 1) for size in sizes)
        results = (1 if groups == channels and r.random() < 0.6 else r.choice((1, 3, 4, 5, 8))) * groups
        x, shape = data(r, (images, channels, *sizes)), (results, channels // groups, *(kernel,) * rank)
        gradient = _codes(r, images, results, *outs)
        window = descent_window(groups, (stride,) * rank, (dilation,) * rank, (begin,) * rank)
    learns = r.random() < 0.8
    back = not learns or r.random() < 0.7
    weights = Drawn(reals(r, shape), "weight", not learns)
    attributes: dict[str, Attribute] = {
        "window": window.numbers, "turned": int(window.turned), "own": r.randint(0, 99), "before": r.randint(0, 8),
        "places": r.choice((2, 12, 20, 40)), "share_bits": 0, "low": r.choice((-256, -128, -20)),
        "high": r.choice((256, 127, 40)),
    }  # fmt: skip
    shares = None
    if back and r.random() < 0.5:
        attributes["share_bits"] = 4
        shares = Drawn(np.asarray(reals(r, (results,), 0.0, 1.0) * (1 << 14), np.int16), "fixed", True)
    exponent = _whole(r, *r.choice(((-9, 3), (-9, 3), (9, 24))))
    operands = [x, gradient, exponent, weights, _whole(r, 0, 10**6), None, shares, None, None]
    operands[5] = _whole(r, 0, 12) if back else None
    if learns:
        operands[7], operands[8] = _codes(r, *shape), _whole(r, -(10**9), 10**9, results, constant=True)
    absent = () if back else (0, 1, 2)
    return Sketch(op, tuple(operands), attributes, outputs=5 if learns else 3, axis=axis, absent=absent)


def bias_descent(r: Draw, op: str) -> Sketch:
    """Sums of images and of rows."""
    channels, axis = r.randint(1, 5), r.choice((1, 1, -1))
    shape = (
        (r.randint(1, 2), channels, *(r.randint(1, 5) for _ in range(r.randint(1, 2)))) if axis > 0 else (3, channels)
    )
    attributes: dict[str, Attribute] = {"axis": 1, "places": r.choice((3, 20, 70)), "limit": r.choice((1000, 1 << 28))}
    operands = (
        _codes(r, *shape), _whole(r, -9, 6), _whole(r, -900, 900, channels),
        _whole(r, -(2**31 - 1), 2**31 - 1, channels, constant=True),
    )  # fmt: skip
    return Sketch(op, operands, attributes)


def gradient_codes(r: Draw, op: str) -> Sketch:
    """Numbers of any size, or all zero."""
    values = reals(r, (r.randint(1, 3), r.randint(1, 9))) * r.choice((0.0, 1e-35, 1e-3, 1.0, 1e30))
    return Sketch(op, (Drawn(values),), outputs=2)


def gradient_mask(r: Draw, op: str) -> Sketch:
    """A gradient as large as the results, or one of whole planes."""
    shape = tuple(r.randint(1, 5) for _ in range(r.choice((2, 3, 4))))
    narrow = tuple(1 if r.random() < 0.3 else size for size in shape) if r.random() < 0.5 else shape
    attributes: dict[str, Attribute] = {"low": r.choice((-256, -128, 0)), "high": r.choice((256, 100))}
    return Sketch(op, (_codes(r, *narrow), _codes(r, *shape)), attributes)


def gradient_sum(r: Draw, op: str) -> Sketch:
    """Gradients of like and of unlike sizes."""
    shape = tuple(r.randint(1, 5) for _ in range(r.choice((2, 4))))
    attributes: dict[str, Attribute] = {
        "factors": (r.randint(-(1 << 14), 1 << 14), r.randint(1 << 13, 1 << 14)),
        "offsets": (r.randint(-3, 3), r.randint(-40, 3)),
    }  # fmt: skip
    operands = (_codes(r, *shape), _whole(r, -20, 9), _codes(r, *shape), _whole(r, -20, 9))
    return Sketch(op, operands, attributes, outputs=2)


def gradient_slopes(r: Draw, op: str) -> Sketch:
    """Slopes of any sign."""
    shape = tuple(r.randint(1, 5) for _ in range(r.choice((2, 4))))
    slopes: Array = np.asarray(reals(r, (256,), -1.0, 1.0) * (1 << 14), np.int16)
    return Sketch(op, (_codes(r, *shape), _codes(r, *shape), Drawn(slopes, "fixed", True)))


def _pool(r: Draw) -> tuple[tuple[int, ...], tuple[int, ...], dict[str, Attribute]]:
    """Sizes, results, and the window."""
    rank, kernel, stride, dilation = r.choice((1, 2, 2)), r.randint(1, 3), r.choice((1, 2, 3)), r.choice((1, 1, 2))
    begin, reach = r.randint(0, (kernel - 1) * dilation), (kernel - 1) * dilation + 1
    sizes = tuple(r.randint(reach, 8) for _ in range(rank))
    outs = tuple((size + begin + r.randint(0, begin) - reach) // stride + 1 for size in sizes)
    attributes: dict[str, Attribute] = {
        "kernel": (kernel,) * rank, "strides": (stride,) * rank, "dilations": (dilation,) * rank,
        "begins": (begin,) * rank, "bits": r.randint(0, 3),
    }  # fmt: skip
    return sizes, outs, attributes


def gradient_max_pool(r: Draw, op: str) -> Sketch:
    """Windows that overlap or not, over codes many of which are equal."""
    (sizes, outs, attributes), channels = _pool(r), r.randint(1, 4)
    x = np.random.default_rng(r.getrandbits(32)).integers(-3, 4, (1, channels, *sizes)).astype(np.int8)
    return Sketch(op, (_codes(r, 1, channels, *outs), Drawn(x, "fixed")), attributes)


def gradient_mean_pool(r: Draw, op: str) -> Sketch:
    """Windows that overlap or not."""
    (sizes, outs, attributes), channels = _pool(r), r.randint(1, 4)
    return Sketch(op, (_codes(r, r.randint(1, 2), channels, *outs),), {**attributes, "sizes": sizes})
