"""Families of calls that move data, reduce, resize, scan or look up, drawn at random."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from ops.building import Build, Draw, call
from tilewright.model import Array, DType
from tilewright.ops.operator import Call

KINDS = (DType.F32, DType.I8, DType.I32, DType.U8, DType.I64)


def shape(r: Draw, rank: int, most: int = 5) -> tuple[int, ...]:
    return tuple(r.randint(1, most) for _ in range(rank))


def ints(values: Sequence[int]) -> Array:
    return np.asarray(values, np.int64)


def transpose(r: Draw) -> Call:
    rank = r.randint(1, 4)
    return call("Transpose", shape(r, rank), perm=tuple(r.sample(range(rank), rank)), dtype=r.choice(KINDS))


def concat(r: Draw) -> Call:
    rank = r.randint(1, 3)
    axis, first = r.randrange(rank), shape(r, rank)
    parts = [(*first[:axis], r.randint(1, 3), *first[axis + 1 :]) for _ in range(r.randint(1, 4))]
    return call("Concat", *parts, axis=axis - rank * r.randint(0, 1), dtype=r.choice(KINDS))


def split(r: Draw) -> Call:
    x, count = shape(r, 3, 8), r.randint(1, 3)
    return call("Split", (x[0], x[1] + count, x[2]), outputs=count, axis=1, num_outputs=count)


def slices(r: Draw) -> Call:
    x = shape(r, 3, 8)
    backwards = [r.random() < 0.4 for _ in x]
    steps = [r.randint(1, 3) * (-1 if back else 1) for back in backwards]
    starts = [
        r.choice((size - 1, -1, 30)) if back else r.randint(-size, size - 1)
        for size, back in zip(x, backwards, strict=True)
    ]
    ends = [
        r.choice((-40, -size - 1)) if back else r.choice((size, 40)) for size, back in zip(x, backwards, strict=True)
    ]
    axes = r.sample(range(3), 3)
    drawn = [ints([values[axis] for axis in axes]) for values in (starts, ends)]
    return call("Slice", x, *drawn, ints([axis - 3 for axis in axes]), ints([steps[axis] for axis in axes]))


def pad(r: Draw) -> Call:
    x = shape(r, 3, 6)
    mode = r.choice(("constant", "reflect", "edge", "wrap"))
    pads = ints([r.randint(-min(size - 1, 2), 3) for size in x] + [0] * 3)
    value = [np.asarray(2.5, np.float32)] if mode == "constant" and r.random() < 0.5 else []
    return call("Pad", x, pads, *value, mode=mode)


def expand(r: Draw) -> Call:
    full = shape(r, 3)
    x = tuple(1 if r.random() < 0.5 else size for size in full)[r.randint(0, 3) :]
    return call("Expand", x, ints(full))


def tile(r: Draw) -> Call:
    return call("Tile", shape(r, 3, 3), ints(shape(r, 3, 3)))


def gather(r: Draw) -> Call:
    x = shape(r, 3)
    axis = r.randrange(3)
    drawn = np.asarray([r.randint(-x[axis], x[axis] - 1) for _ in range(r.randint(1, 6))], np.int64)
    indices = r.choice((drawn, drawn[:1].reshape(()), drawn.reshape(1, -1)))
    return call("Gather", x, indices, axis=axis)


def cast(r: Draw) -> Call:
    return call("Cast", shape(r, 2), to=r.choice((1, 3, 5, 6, 7, 9, 11)), dtype=r.choice(KINDS))


def reduce(op: str) -> Build:
    def build(r: Draw) -> Call:
        rank = r.randint(1, 4)
        axes = ints([axis - rank * r.randint(0, 1) for axis in r.sample(range(rank), r.randint(0, rank))])
        kinds = (DType.F32, DType.I32) if op in ("ReduceMax", "ReduceMin", "ReduceSum", "ReduceMean") else (DType.F32,)
        more = {"noop_with_empty_axes": r.randint(0, 1), "keepdims": r.randint(0, 1)}
        return call(op, shape(r, rank, 4), axes, dtype=r.choice(kinds), **more)

    return build


def arg(op: str) -> Build:
    def build(r: Draw) -> Call:
        more = {"axis": r.randint(-3, 2), "keepdims": r.randint(0, 1), "select_last_index": r.randint(0, 1)}
        return call(op, shape(r, 3), dtype=r.choice(KINDS), **more)

    return build


def space(op: str) -> Build:
    def build(r: Draw) -> Call:
        n, c, h, w, b = r.randint(1, 2), *shape(r, 3, 3), r.randint(1, 3)
        x = (n, c * b * b, h, w) if op == "DepthToSpace" else (n, c, h * b, w * b)
        more: dict[str, Any] = {"mode": r.choice(("DCR", "CRD"))} if op == "DepthToSpace" else {}
        return call(op, x, blocksize=b, **more)

    return build


def trilu(r: Draw) -> Call:
    return call("Trilu", shape(r, r.randint(2, 3)), ints([r.randint(-6, 6)]).reshape(()), upper=r.randint(0, 1))


def one_hot(r: Draw) -> Call:
    indices = np.asarray([[r.randint(-7, 7) for _ in range(3)] for _ in range(2)], np.int64)
    return call("OneHot", indices, ints([5]), np.asarray([-1, 2], np.float32), axis=r.randint(-3, 2))


def compress(r: Draw) -> Call:
    condition = np.asarray([r.random() < 0.5 for _ in range(4)])
    condition[r.randrange(4)] = True
    return call("Compress", (3, 4, 2), condition, axis=1)


def resize(mode: str, kinds: Sequence[DType] = (DType.F32,)) -> Build:
    def build(r: Draw) -> Call:
        x, out = (1, 2, *shape(r, 2, 7)), (1, 2, *shape(r, 2, 12))
        modes = ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel", "half_pixel_symmetric")
        more: dict[str, Any] = {"coordinate_transformation_mode": r.choice(modes), "mode": mode}
        more["nearest_mode"] = r.choice(("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"))
        more |= {"antialias": r.randint(0, 1)} if mode != "nearest" and DType.F32 in kinds else {}
        more |= {"exclude_outside": r.randint(0, 1)} if mode == "cubic" else {}
        return call("Resize", x, None, None, ints(out), dtype=r.choice(kinds), **more)

    return build


def einsum(r: Draw) -> Call:
    i, j, k = shape(r, 3)
    equation, shapes = r.choice(
        (
            ("ij,jk->ik", ((i, j), (j, k))),
            ("...ij,...jk", ((1, 2, i, j), (3, 2, j, k))),
            ("ii->i", ((i, i),)),
            ("ij->", ((i, j),)),
            ("bij,kj->bik", ((2, i, j), (k, j))),
            ("i,j->ij", ((i,), (j,))),
        )
    )
    return call("Einsum", *shapes, equation=equation)


def col2im(r: Draw) -> Call:
    image, block, strides = shape(r, 2, 6), shape(r, 2, 2), shape(r, 2, 2)
    image = tuple(size + 2 for size in image)
    pads = tuple(r.randint(0, 1) for _ in range(4))
    count = [(image[a] + pads[a] + pads[a + 2] - block[a]) // strides[a] + 1 for a in range(2)]
    x = (1, 2 * block[0] * block[1], count[0] * count[1])
    return call("Col2Im", x, ints(image), ints(block), strides=strides, pads=pads)


def centre(r: Draw) -> Call:
    return call("CenterCropPad", shape(r, 3, 7), ints(shape(r, 2, 7)), axes=(0, 2))


def affine_grid(r: Draw) -> Call:
    return call("AffineGrid", (2, 2, 3), ints((2, 1, *shape(r, 2))), align_corners=r.randint(0, 1))


def attention(r: Draw) -> Call:
    (queries, keys, depth, wide), group, past = shape(r, 4), r.randint(1, 2), r.randint(0, 2)
    more: dict[str, Any] = {"is_causal": r.randint(0, 1), "softcap": r.choice((0.0, 3.0))}
    heads, opset = 2 * group, 24
    if r.random() < 0.3:
        more["left_window_size"], opset = r.randint(0, 3), 25
    olds = ((2, 2, past, depth), (2, 2, past, wide)) if past else (None, None)
    masks = (None, (queries, keys + past), (2, 1, queries, keys + past))
    if r.random() < 0.5:
        more |= {"q_num_heads": heads, "kv_num_heads": 2}
        operands = [(2, queries, heads * depth), (2, keys, 2 * depth), (2, keys, 2 * wide)]
        return call("Attention", *operands, r.choice(masks), *olds, outputs=3 if past else 1, opset=opset, **more)
    split = [(2, heads, queries, depth), (2, 2, keys, depth), (2, 2, keys, wide)]
    return call("Attention", *split, r.choice(masks), *olds, outputs=3 if past else 1, opset=opset, **more)


def rotary(r: Draw) -> Call:
    steps, half = r.randint(1, 4), r.randint(1, 3)
    more: dict[str, Any] = {"rotary_embedding_dim": 2 * half} if r.random() < 0.5 else {}
    depth = 2 * half + (r.randint(0, 2) if more else 0)
    cache = (2, steps, half)
    if r.random() < 0.5:
        return call("RotaryEmbedding", (2, 3, steps, depth), cache, cache, opset=23, **more)
    return call("RotaryEmbedding", (2, steps, 3 * depth), cache, cache, num_heads=3, opset=23, **more)


WHOLE: Mapping[str, Build] = {
    "transpose": transpose, "concat": concat, "split": split, "slice": slices, "pad": pad, "expand": expand,
    "tile": tile, "gather": gather, "cast": cast, "arg_max": arg("ArgMax"), "arg_min": arg("ArgMin"),
    "depth_to_space": space("DepthToSpace"), "space_to_depth": space("SpaceToDepth"), "trilu": trilu,
    "one_hot": one_hot, "compress": compress, "resize_nearest": resize("nearest"), "einsum": einsum, "col2im": col2im,
    "centre_crop_pad": centre, "resize_integers": resize("linear", (DType.U8, DType.I8, DType.I32)),
    **{op: reduce(op) for op in ("ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceSumSquare", "ReduceL1")},
}  # fmt: skip
REAL: Mapping[str, Build] = {
    "resize_linear": resize("linear"), "resize_cubic": resize("cubic"), "affine_grid": affine_grid,
    "attention": attention, "rotary": rotary,
    **{op: reduce(op) for op in ("ReduceMean", "ReduceL2", "ReduceLogSumExp")},
}  # fmt: skip
"""Families with index maps: whole numbers come out exactly, real sums nearly."""


def gather_elements(r: Draw) -> Call:
    x, axis = shape(r, 3), r.randrange(3)
    taken = tuple(r.randint(1, size) if place != axis else r.randint(1, 4) for place, size in enumerate(x))
    return call("GatherElements", x, drawn(r, taken, x[axis]), axis=axis)


def drawn(r: Draw, size: tuple[int, ...], most: int) -> Array:
    """Indices of both signs below `most`."""
    return np.asarray([r.randint(-most, most - 1) for _ in range(int(np.prod(size)))], np.int64).reshape(size)


def gather_nd(r: Draw) -> Call:
    batch, x = r.randint(0, 1), shape(r, 4)
    depth = r.randint(1, 3 - batch)
    outer = (*x[:batch], r.randint(1, 3))
    columns = [drawn(r, (*outer, 1), x[batch + place]) for place in range(depth)]
    return call("GatherND", x, np.concatenate(columns, -1), batch_dims=batch)


def scatter_elements(r: Draw) -> Call:
    x, axis, reduction = shape(r, 2), r.randrange(2), r.choice(("none", "add", "mul", "max", "min"))
    taken = tuple(r.randint(1, size) for size in x)
    indices = drawn(r, taken, x[axis])
    if reduction == "none":  # the order of writes to one place is not defined
        indices = np.argsort(np.asarray([r.random() for _ in range(taken[0] * taken[1])]).reshape(taken), axis)
    return call("ScatterElements", x, indices, taken, axis=axis, reduction=reduction)


def scatter_nd(r: Draw) -> Call:
    x, count, reduction = shape(r, 3), r.randint(1, 3), r.choice(("add", "max", "min"))
    indices = np.concatenate([drawn(r, (count, 1), size) for size in x[:2]], -1)
    return call("ScatterND", x, indices, (count, x[2]), reduction=reduction)


def top_k(r: Draw) -> Call:
    x, axis = shape(r, 3), r.randint(-3, 2)
    return call("TopK", x, ints([r.randint(1, x[axis])]), outputs=2, largest=r.randint(0, 1), axis=axis)


def running(r: Draw) -> Call:
    axis = np.asarray(r.randint(-3, 2), np.int32)
    return call("CumSum", shape(r, 3), axis, exclusive=r.randint(0, 1), reverse=r.randint(0, 1))


def grid_sample(r: Draw) -> Call:
    mode, padding = r.choice(("linear", "nearest", "cubic")), r.choice(("zeros", "border", "reflection"))
    x = (2, 2, *(r.randint(2, 6) for _ in range(2)))
    grid = np.asarray([r.uniform(-1.6, 1.6) for _ in range(2 * 3 * 4 * 2)], np.float32).reshape(2, 3, 4, 2)
    return call("GridSample", x, grid, mode=mode, padding_mode=padding, align_corners=r.randint(0, 1))


def recurrent(op: str, gates: int) -> Build:
    def build(r: Draw) -> Call:
        steps, batch, inputs, hidden = shape(r, 4, 4)
        direction = r.choice(("forward", "reverse", "bidirectional"))
        count = 2 if direction == "bidirectional" else 1
        rng = np.random.default_rng(r.randrange(1 << 30))

        def values(*size: int) -> Array:
            return rng.uniform(-1, 1, size).astype(np.float32)

        operands: list[Any] = [values(steps, batch, inputs), values(count, gates * hidden, inputs)]
        operands += [values(count, gates * hidden, hidden), values(count, 2 * gates * hidden)]
        operands += [rng.integers(1, steps + 1, batch).astype(np.int32) if r.random() < 0.5 else None]
        operands += [values(count, batch, hidden) if r.random() < 0.5 else None]
        more: dict[str, Any] = {"direction": direction, "hidden_size": hidden}
        if r.random() < 0.3:
            more["clip"] = 0.7
        if op == "GRU":
            more["linear_before_reset"] = r.randint(0, 1)
        if op == "LSTM":
            peepholes = values(count, 3 * hidden) if r.random() < 0.5 else None
            operands += [values(count, batch, hidden) if operands[-1] is not None else None, peepholes]
        while operands[-1] is None:
            operands.pop()
        return call(op, *operands, outputs=3 if op == "LSTM" else 2, **more)

    return build


def max_unpool(r: Draw) -> Call:
    places = np.asarray(r.sample(range(4 * 6), 6), np.int64).reshape(1, 1, 2, 3)
    return call("MaxUnpool", (1, 1, 2, 3), places, kernel_shape=(2, 2), strides=(2, 2))


def reverse(r: Draw) -> Call:
    x, batch = shape(r, 3), r.randint(0, 1)
    lengths = ints([r.randint(1, x[1 - batch]) for _ in range(x[batch])])
    return call("ReverseSequence", x, lengths, batch_axis=batch, time_axis=1 - batch)


def suppression(r: Draw) -> Call:
    rng = np.random.default_rng(r.randrange(1 << 30))
    low = rng.uniform(0, 1, (1, 8, 2))
    boxes = np.concatenate((low, low + rng.uniform(0.2, 0.6, low.shape)), -1).astype(np.float32)
    scores = rng.permutation(16).reshape(1, 2, 8).astype(np.float32)
    limits = (ints([r.randint(1, 5)]), np.asarray([0.3], np.float32), np.asarray([r.uniform(0, 8)], np.float32))
    return call("NonMaxSuppression", boxes, scores, *limits, center_point_box=r.randint(0, 1))


def dft(r: Draw) -> Call:
    inverse, onesided = r.choice(((0, 0), (1, 0), (0, 1)))
    x = (2, r.randint(2, 7), r.randint(2, 7), 1 if onesided else 2)
    return call("DFT", x, None, np.asarray(r.choice((1, 2, -2)), np.int64), inverse=inverse, onesided=onesided)


def windows(name: str) -> Build:
    return lambda r: call(name, np.asarray(r.randint(2, 20), np.int64), periodic=r.randint(0, 1))


def eye(r: Draw) -> Call:
    return call("EyeLike", shape(r, 2), k=r.randint(-6, 6))


LOOKED_UP: Mapping[str, Build] = {
    "gather_elements": gather_elements, "gather_nd": gather_nd, "scatter_elements": scatter_elements,
    "scatter_nd": scatter_nd, "top_k": top_k, "running": running, "grid_sample": grid_sample,
    "rnn": recurrent("RNN", 1), "gru": recurrent("GRU", 3), "lstm": recurrent("LSTM", 4), "max_unpool": max_unpool,
    "reverse": reverse, "suppression": suppression, "dft": dft, "eye": eye, "hann": windows("HannWindow"),
    "hamming": windows("HammingWindow"), "blackman": windows("BlackmanWindow"),
    **{op: reduce(op) for op in ("ReduceLogSum",)},
}  # fmt: skip
"""Families without index maps."""
