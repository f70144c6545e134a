"""Random calls of operators that move data, sample it or run along it; see `draws`."""

from __future__ import annotations

import numpy as np

from tilewright.conformance.draws import EMPTY, OPERANDS, Draw, Drawn, Sketch, data, fixed, reals, shape_of
from tilewright.model import Attribute


def concat(r: Draw, op: str) -> Sketch:
    """One to 64 operands along one axis, some of them empty."""
    shape = shape_of(r, 1, 4)
    axis = r.randrange(len(shape))
    sizes = [0 if r.random() < EMPTY else r.randint(1, 4) for _ in range(r.choice(OPERANDS))]
    parts = [(*shape[:axis], size, *shape[axis + 1 :]) for size in sizes]
    return Sketch(op, tuple(data(r, part) for part in parts), {"axis": axis})


def split(r: Draw, op: str) -> Sketch:
    """One to 64 parts of different lengths."""
    shape, sizes = list(shape_of(r, 1, 4)), [r.randint(1, 3) for _ in range(r.choice(OPERANDS))]
    axis = r.randrange(len(shape))
    shape[axis] = sum(sizes)
    return Sketch(op, (data(r, tuple(shape)), fixed(sizes)), {"axis": axis}, len(sizes))


def cut(r: Draw, op: str) -> Sketch:
    """Slices with steps of both signs."""
    shape = shape_of(r, 1, 4)
    starts, ends, steps = [], [], []
    for size in shape:
        low = r.randrange(size)
        high = r.randint(low + 1, size)
        step = r.choice((1, 1, 2, -1))
        starts.append(low if step > 0 else high - 1)
        ends.append(high if step > 0 else low - 1 if low else -size - 1)
        steps.append(step)
    return Sketch(op, (data(r, shape), fixed(starts), fixed(ends), fixed(range(len(shape))), fixed(steps)))


def pad(r: Draw, op: str) -> Sketch:
    """All modes of padding."""
    shape = tuple(r.randint(3, 5) for _ in range(r.randint(1, 4)))
    mode = r.choice(("constant", "edge", "reflect"))
    return Sketch(op, (data(r, shape), fixed([r.randint(0, 2) for _ in range(2 * len(shape))])), {"mode": mode})


def transpose(r: Draw, op: str) -> Sketch:
    """Any order of axes."""
    shape = shape_of(r, 2, 4, empty=True)
    return Sketch(op, (data(r, shape),), {"perm": tuple(r.sample(range(len(shape)), len(shape)))})


def gather(r: Draw, op: str) -> Sketch:
    """Indices of both signs, known or not."""
    shape = shape_of(r, 1, 3)
    axis = r.randrange(len(shape))
    index_shape = shape if op == "GatherElements" else shape_of(r, 1, 2, 3)
    indices = np.array([r.randrange(-shape[axis], shape[axis]) for _ in range(int(np.prod(index_shape)))]).reshape(
        index_shape
    )
    return Sketch(op, (data(r, shape), fixed(indices, r.random() < 0.4)), {"axis": axis})


def tuples(r: Draw, op: str) -> Sketch:
    """Tuples of indices into the first axes."""
    shape = shape_of(r, 2, 3)
    depth, count = r.randint(1, len(shape)), r.randint(1, 4)
    places = np.array([[r.randrange(-size, size) for size in shape[:depth]] for _ in range(count)])
    if op == "GatherND":
        return Sketch(op, (data(r, shape), fixed(places, False)))
    updates = data(r, (count, *shape[depth:]))
    return Sketch(
        op, (data(r, shape), fixed(places, r.random() < 0.4), updates), {"reduction": r.choice(("none", "add", "max"))}
    )


def scatter(r: Draw, op: str) -> Sketch:
    """Updates along one axis."""
    shape = shape_of(r, 1, 3)
    axis = r.randrange(len(shape))
    taken = tuple(r.randint(1, size) for size in shape)
    indices = np.array([r.randrange(-shape[axis], shape[axis]) for _ in range(int(np.prod(taken)))]).reshape(taken)
    reduction = "none" if op == "Scatter" else r.choice(("none", "add", "mul", "min"))
    known = fixed(indices, r.random() < 0.4)
    return Sketch(op, (data(r, shape), known, data(r, taken)), {"axis": axis, "reduction": reduction})


def expand(r: Draw, op: str) -> Sketch:
    """Axes of one element that become longer, or everything repeated."""
    shape = shape_of(r, 1, 3, 4)
    if op == "Tile":
        return Sketch(op, (data(r, shape), fixed([r.randint(1, 3) for _ in shape])))
    small = tuple(1 if r.random() < 0.5 else size for size in shape)
    return Sketch(op, (data(r, small), fixed(shape)))


def blocks(r: Draw, op: str) -> Sketch:
    """Blocks of two or three."""
    size = r.choice((2, 3))
    channels, high, wide = r.randint(1, 3), r.randint(1, 3), r.randint(1, 3)
    if op == "DepthToSpace":
        return Sketch(
            op,
            (data(r, (1, channels * size * size, high, wide)),),
            {"blocksize": size, "mode": r.choice(("DCR", "CRD"))},
        )
    return Sketch(op, (data(r, (1, channels, high * size, wide * size)),), {"blocksize": size})


def resize(r: Draw, op: str) -> Sketch:
    """Nearest and linear, to given sizes."""
    channels = r.randint(1, 3)
    old, new = [r.randint(1, 4) for _ in range(2)], [r.randint(1, 7) for _ in range(2)]
    attributes: dict[str, Attribute] = {
        "mode": r.choice(("nearest", "linear")),
        "coordinate_transformation_mode": r.choice(("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel")),
    }
    return Sketch(op, (data(r, (1, channels, *old)), None, None, fixed([1, channels, *new])), attributes)


def recurrent(r: Draw, op: str) -> Sketch:
    """One or two directions, with biases, a first state and peepholes; limits, and activations of a list."""
    steps, batch = r.randint(1, 4), r.randint(1, 3)
    inputs, hidden = (r.choice((1, 2, 3, 4, 5, 6, 7, 9, 12, 17)) for _ in range(2))
    gates, both = {"RNN": 1, "GRU": 3, "LSTM": 4}[op], r.random() < 0.4
    count = 2 if both else 1
    weights = [(count, gates * hidden, inputs), (count, gates * hidden, hidden), (count, 2 * gates * hidden)]
    operands: list[Drawn | None] = [data(r, (steps, batch, inputs))]
    operands += [Drawn(reals(r, shape, -0.5, 0.5), "data", True) for shape in weights]
    if r.random() < 0.5:
        operands += [None, data(r, (count, batch, hidden))]
    attributes: dict[str, Attribute] = {"hidden_size": hidden, "direction": "bidirectional" if both else "forward"}
    if op == "GRU":
        attributes["linear_before_reset"] = r.randint(0, 1)
    if op == "LSTM" and len(operands) > 4 and r.random() < 0.6:
        operands += [None, Drawn(reals(r, (count, 3 * hidden), -1, 1), "data", True)]
        attributes["input_forget"] = r.randint(0, 1)
    if r.random() < 0.3:
        attributes["clip"] = 0.5
    if r.random() < 0.4:
        names = {"RNN": 1, "GRU": 2, "LSTM": 3}[op] * count
        forms = ("Sigmoid", "Tanh", "Elu", "HardSigmoid", "Softsign")
        attributes["activations"] = tuple(r.choice(forms) for _ in range(names))
    return Sketch(op, tuple(operands), attributes, 2)


def attention(r: Draw, op: str) -> Sketch:
    """Shared key heads, causal or not."""
    batch, heads, shared, queries, keys, depth = (r.choice((1, 2)) for _ in range(6))
    q = data(r, (batch, heads * shared, queries + 1, depth + 1))
    k, v = (data(r, (batch, heads, keys + 2, depth + 1)) for _ in range(2))
    return Sketch(op, (q, k, v), {"is_causal": r.randint(0, 1)}, r.choice((1, 1, 3)))


def sampled(r: Draw, op: str) -> Sketch:
    """Positions inside and outside the image."""
    shape = (r.randint(1, 2), r.randint(1, 3), r.randint(1, 5), r.randint(1, 5))
    attributes: dict[str, Attribute] = {
        "mode": r.choice(("linear", "nearest", "cubic")), "align_corners": r.randint(0, 1),
        "padding_mode": r.choice(("zeros", "border", "reflection")),
    }  # fmt: skip
    return Sketch(op, (data(r, shape), data(r, (shape[0], r.randint(1, 4), r.randint(1, 4), 2))), attributes)


def squares(r: Draw, op: str) -> Sketch:
    """Square matrices."""
    size = r.randint(1, 5)
    return Sketch(op, (data(r, (*shape_of(r, 0, 1), size, size)),))


def sequences(r: Draw, op: str) -> Sketch:
    """Lengths of the run time along the first two axes."""
    shape = shape_of(r, 2, 4)
    batch = r.randint(0, 1)
    lengths = fixed([r.randint(0, shape[1 - batch]) for _ in range(shape[batch])], False)
    return Sketch(op, (data(r, shape), lengths), {"batch_axis": batch, "time_axis": 1 - batch})


def unpool(r: Draw, op: str) -> Sketch:
    """Any indices, each once."""
    channels, high, wide = r.randint(1, 2), r.randint(1, 3), r.randint(1, 3)
    count = channels * high * wide
    places = np.array(r.sample(range(count * 4), count)).reshape(1, channels, high, wide)
    return Sketch(
        op, (data(r, (1, channels, high, wide)), fixed(places, False)), {"kernel_shape": (2, 2), "strides": (2, 2)}
    )


def spectrum(r: Draw, op: str) -> Sketch:
    """Transforms of real and complex signals, or of frames of them."""
    long = r.choice((0, 16, 18, 20, 21, 25, 32, 34, 48))
    if op == "STFT":
        length, step = long or r.randint(1, 6), r.randint(1, 3)
        signal = data(r, (r.randint(1, 2), length + r.randint(0, 6), 1))
        window = Drawn(reals(r, (length,)), "data", r.random() < 0.5)
        return Sketch(op, (signal, fixed(np.asarray(step)), window), {"onesided": r.randint(0, 1)})
    inverse, onesided = r.randint(0, 1), r.randint(0, 1)
    parts = 1 if onesided and not inverse else 2
    last = r.random() < 0.5
    given = max(2, long + r.randint(-3, 3)) if last and long else r.randint(2, 5)
    x = data(r, (r.randint(1, 2), r.randint(2, 6), given, parts))
    points = fixed(np.asarray(long or r.randint(1, 7))) if r.random() < 0.5 else None
    axis = fixed(np.asarray(2 if last else r.choice((1, 2))))
    return Sketch(op, (x, points, axis), {"inverse": inverse, "onesided": onesided})


def cache(r: Draw, op: str) -> Sketch:
    """Run-time starts that fit."""
    batch, size, count = r.randint(1, 3), r.randint(2, 5), r.randint(1, 2)
    starts = fixed([r.randint(0, size - count) for _ in range(batch)], False)
    inner = r.randint(1, 3)
    shape, update = (batch, 2, size, inner), (batch, 2, count, inner)
    return Sketch(op, (data(r, shape), data(r, update), starts), {"mode": r.choice(("linear", "circular"))})


def shift(r: Draw, op: str) -> Sketch:
    """A window that moves on by some of its entries, or by all."""
    shape = shape_of(r, 1, 4)
    axis = r.randrange(len(shape))
    update = (*shape[:axis], r.randint(1, shape[axis]), *shape[axis + 1 :])
    return Sketch(op, (data(r, shape), data(r, update)), {"axis": axis, "newest_first": r.randint(0, 1)})


def put(r: Draw, op: str) -> Sketch:
    """An entry along any axis, at positions inside and outside of it."""
    shape = shape_of(r, 1, 4)
    axis = r.randrange(len(shape))
    entry = (*shape[:axis], 1, *shape[axis + 1 :])
    position = fixed([r.randint(-1, shape[axis])], False)
    return Sketch(op, (data(r, shape), data(r, entry), position), {"axis": axis})


def rotary(r: Draw, op: str) -> Sketch:
    """Heads as an axis, with positions of the run time or without any; turned whole or in part."""
    batch, heads, steps, half, length = (r.randint(1, 3) for _ in range(5))
    others = r.choice((0, 0, 2))
    x = data(r, (batch, heads, steps, 2 * half + others))
    attributes: dict[str, Attribute] = {"interleaved": r.randint(0, 1)}
    if others:
        attributes["rotary_embedding_dim"] = 2 * half
    if r.random() < 0.3:
        return Sketch(op, (x, *(data(r, (batch, steps, half)) for _ in range(2))), attributes)
    places = [[r.randrange(length) for _ in range(steps)] for _ in range(batch)]
    return Sketch(op, (x, *(data(r, (length, half)) for _ in range(2)), fixed(np.array(places), False)), attributes)


def quantising(r: Draw, op: str) -> Sketch:
    """Scale and zero point for the whole tensor or for each channel."""
    shape = shape_of(r, 2, 3)
    count = shape[1] if r.random() < 0.5 else 1
    scale = reals(r, (count,) if count > 1 else (), 0.01, 0.1).astype(np.float32)
    kind = r.choice((np.int8, np.uint8, np.int16))
    zero = np.random.default_rng(r.getrandbits(32)).integers(0, 9, scale.shape).astype(kind)
    codes = np.random.default_rng(r.getrandbits(32)).integers(0, 127, shape).astype(kind)
    x = data(r, shape) if op == "QuantizeLinear" else Drawn(codes, "fixed")
    return Sketch(op, (x, Drawn(scale, "fixed", True), Drawn(zero, "fixed", True)), {"axis": 1})


def dynamic(r: Draw, op: str) -> Sketch:
    """Codes whose scale the run time finds."""
    return Sketch(op, (data(r, shape_of(r)),), {}, 3)


def windowed(r: Draw, op: str) -> Sketch:
    """Normalisation over neighbouring channels."""
    return Sketch(op, (data(r, (1, r.randint(1, 7), r.randint(1, 3), 2)),), {"size": r.choice((1, 3, 5))})
