"""Random products that are taken back: convolutions and matrices, several of one operand, targets of their own."""

from __future__ import annotations

from math import prod

import numpy as np

from tilewright.conformance.draws import Draw, Drawn, Sketch, data
from tilewright.model import Attribute
from tilewright.ops.facts import DescentWindow, descent_matrix, descent_window


def descent(r: Draw, op: str) -> Sketch:
    """One or two products of one operand, or one depthwise layer."""
    if r.random() < 0.25:
        return _depthwise(r, op)
    count, turned = r.choice((1, 1, 2)), tuple[int, ...]()
    matrix = r.random() < 0.3
    channels, rank = r.choice((1, 3, 4, 8)), r.choice((1, 2, 2))
    shape = (r.choice((1, 1, 3)), channels) if matrix else (r.choice((1, 2)), channels, *(r.randint(3, 6),) * rank)
    x = data(r, shape)
    operands: list[Drawn | None] = [x, data(r, shape) if r.random() < 0.3 else None]
    windows = tuple[int, ...]()
    for _ in range(count):
        results = r.choice((1, 3, 4, 5, 8))
        if matrix:
            turns = r.random() < 0.5
            window = descent_matrix(turned=turns)
            operands += [data(r, (channels, results) if turns else (results, channels))]
            operands += [data(r, (shape[0], results))]
        else:
            groups = r.choice([g for g in (1, 1, 2, channels) if channels % g == 0])
            kernel, stride, dilation = r.randint(1, 3), r.choice((1, 1, 2)), r.choice((1, 1, 2))
            begin = r.randint(0, (kernel - 1) * dilation)
            reach = (kernel - 1) * dilation + 1
            sizes = tuple((size + begin + r.randint(0, 1) - reach) // stride + 1 for size in shape[2:])
            spread = tuple(max(1, size) for size in sizes)
            operands += [data(r, (groups * results, channels // groups, *(kernel,) * rank))]
            operands += [data(r, (shape[0], groups * results, *spread))]
            window = descent_window(groups, (stride,) * rank, (dilation,) * rank, (begin,) * rank)
        windows, turned = windows + window.numbers, (*turned, int(window.turned))
        weights = operands[-2]
        assert weights is not None
        operands.append(data(r, weights.values.shape) if r.random() < 0.3 else None)
    attributes: dict[str, Attribute] = {
        "windows": windows,
        "turned": turned,
        "rate": -0.25,
        "decay": r.choice((1.0, 0.5)),
    }
    attributes["masked"] = r.randint(0, 1)
    return Sketch(op, tuple(operands), attributes, outputs=1 + count)


def _depthwise(r: Draw, op: str) -> Sketch:
    """One result of every channel; the window reaches no farther than the padding goes."""
    channels, rank = r.choice((2, 3, 8)), r.choice((1, 2, 2))
    kernel, dilation = r.randint(1, 4), r.choice((1, 1, 2))
    begin = r.randint(0, (kernel - 1) * dilation)
    reach = (kernel - 1) * dilation + 1
    sizes = tuple(r.randint(max(1, reach - 2 * begin), 10) for _ in range(rank))
    outs = tuple(max(1, size + 2 * begin - reach + 1) for size in sizes)
    x, w = data(r, (1, channels, *sizes)), data(r, (channels, 1, *(kernel,) * rank))
    more = data(r, x.values.shape) if r.random() < 0.4 else None
    target = data(r, w.values.shape) if r.random() < 0.4 else None
    window = descent_window(channels, (1,) * rank, (dilation,) * rank, (begin,) * rank)
    attributes: dict[str, Attribute] = {
        "windows": window.numbers, "turned": (0,), "rate": -0.25, "decay": r.choice((1.0, 0.5)),
        "masked": r.randint(0, 1),
    }  # fmt: skip
    return Sketch(op, (x, more, w, data(r, (1, channels, *outs)), target), attributes, outputs=2)


def descent_pair(r: Draw, op: str) -> Sketch:
    """A layer behind a depthwise one, or behind one that is taken back no further."""
    alone, channels, rank = r.random() < 0.5, r.choice((2, 3, 4, 8)), r.choice((1, 2, 2))
    kernel, dilation = r.randint(1, 3), r.choice((1, 1, 2))
    begin, reach = r.randint(0, (kernel - 1) * dilation), (kernel - 1) * dilation + 1
    inside = r.choice((1, 3, 4)) if alone else channels
    stride = r.choice((1, 2)) if alone else 1
    sizes = tuple(r.randint(max(1, reach - 2 * begin), 9) for _ in range(rank))
    between = tuple((size + 2 * begin - reach) // stride + 1 for size in sizes)
    x = data(r, (1, inside, *sizes))
    w = data(r, (channels, inside if alone else 1, *(kernel,) * rank))
    bias = data(r, (channels,)) if r.random() < 0.6 else None
    held = data(r, w.values.shape) if r.random() < 0.3 else None
    more = data(r, (1, channels, *between)) if r.random() < 0.3 else None
    results, window = r.choice((1, 3, 4, 5)), r.choice((1, 3))
    wide = data(r, (results, channels, *(window,) * rank))
    behind = data(r, (1, results, *between))
    operands = (x, w, bias, held, more, wide, behind, data(r, wide.values.shape) if r.random() < 0.3 else None)
    groups, sliding = 1 if alone else channels, (stride,) * rank
    before = descent_window(groups, sliding, (dilation,) * rank, (begin,) * rank)
    last = descent_window(1, (1,) * rank, (1,) * rank, (window // 2,) * rank)
    if not alone and r.random() < 0.4:
        return _signed(r, op, operands, between, (before, rank, results))
    attributes: dict[str, Attribute] = {
        "windows": before.numbers + last.numbers, "between": between, "rate": -0.25, "decay": r.choice((1.0, 0.5)),
        "rectified": r.randint(0, 1), "masked": r.randint(0, 1) if not alone else 0,
    }  # fmt: skip
    return Sketch(op, operands, attributes, outputs=3 if alone else 4)


def _signed(
    r: Draw, op: str, operands: tuple[Drawn | None, ...], between: tuple[int, ...],
    behind: tuple[DescentWindow, int, int],
) -> Sketch:  # fmt: skip
    """The same before a mean over planes: signs of a pointwise layer, and one number a plane as its gradient."""
    before, rank, results = behind
    first = operands[1]
    assert first is not None
    channels = len(first.values)
    last = descent_window(1, (1,) * rank, (1,) * rank, (0,) * rank)
    wide, narrow = data(r, (results, channels, *(1,) * rank)), data(r, (1, results, *(1,) * rank))
    signs = np.random.default_rng(r.getrandbits(32)).integers(0, 256, (prod(between), -(-results // 8)))
    attributes: dict[str, Attribute] = {
        "windows": before.numbers + last.numbers, "between": between, "rate": -0.25, "decay": r.choice((1.0, 0.5)),
        "rectified": r.randint(0, 1), "masked": r.randint(0, 1),
    }  # fmt: skip
    held = data(r, wide.values.shape) if operands[7] is not None else None
    told = Drawn(signs.astype(np.uint8), "fixed")
    return Sketch(op, (*operands[:4], None, wide, narrow, held, told), attributes, outputs=4)


def pooled_conv(r: Draw, op: str) -> Sketch:
    """One image, one group, any window."""
    rank, kernel, stride, dilation = r.choice((1, 2, 2)), r.randint(1, 3), r.choice((1, 1, 2)), r.choice((1, 1, 2))
    pad = r.randint(0, (kernel - 1) * dilation)
    sizes = tuple(r.randint((kernel - 1) * dilation + 1, 8) for _ in range(rank))
    channels, results = r.choice((1, 3, 4, 8)), r.choice((1, 3, 7, 8, 9, 16))
    attributes: dict[str, Attribute] = {
        "strides": (stride,) * rank, "dilations": (dilation,) * rank, "pads": (pad,) * 2 * rank
    }  # fmt: skip
    weights, bias = data(r, (results, channels, *(kernel,) * rank)), data(r, (results,)) if r.random() < 0.6 else None
    return Sketch(op, (data(r, (1, channels, *sizes)), weights, bias), attributes, outputs=3)
