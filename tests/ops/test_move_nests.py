"""Operators that move data, reduce or resize: their index maps mean what they compute, over random calls."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from ops.building import Build, Draw, call, evaluated, named, nests, operands
from tilewright.model import Array, DType
from tilewright.ops.index.reference import evaluate_chain
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
    value = [np.float32(2.5)] if mode == "constant" and r.random() < 0.5 else []
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
        return call(op, x, blocksize=b, mode=r.choice(("DCR", "CRD")), opset=27)

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


def resize(mode: str) -> Build:
    def build(r: Draw) -> Call:
        x, out = (1, 2, *shape(r, 2, 7)), (1, 2, *shape(r, 2, 12))
        modes = ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel", "half_pixel_symmetric")
        more: dict[str, Any] = {"coordinate_transformation_mode": r.choice(modes), "mode": mode}
        more["nearest_mode"] = r.choice(("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"))
        more |= {"antialias": r.randint(0, 1), "exclude_outside": r.randint(0, 1)} if mode != "nearest" else {}
        return call("Resize", x, None, None, ints(out), **more)

    return build


def einsum(r: Draw) -> Call:
    i, j, k = shape(r, 3)
    equation, shapes = r.choice(
        (
            ("ij,jk->ik", ((i, j), (j, k))),
            ("...ij,...jk", ((2, 1, i, j), (3, j, k))),
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
    more["left_window_size"] = r.randint(-1, 3)
    heads, opset = 2 * group, 25
    olds = ((2, 2, past, depth), (2, 2, past, wide)) if past else (None, None)
    masks = (None, (queries, keys + past), (2, 1, queries, keys + past))
    if r.random() < 0.5:
        q, k, v = (2, queries, heads * depth), (2, keys, 2 * depth), (2, keys, 2 * wide)
        more |= {"q_num_heads": heads, "kv_num_heads": 2}
    else:
        q, k, v = (2, heads, queries, depth), (2, 2, keys, depth), (2, 2, keys, wide)
    return call("Attention", q, k, v, r.choice(masks), *olds, outputs=3 if past else 1, opset=opset, **more)


def rotary(r: Draw) -> Call:
    steps, half = r.randint(1, 4), r.randint(1, 3)
    more = {"rotary_embedding_dim": 2 * half} if r.random() < 0.5 else {}
    depth = 2 * half + (r.randint(0, 2) if more else 0)
    cache = (2, steps, half)
    if r.random() < 0.5:
        return call("RotaryEmbedding", (2, 3, steps, depth), cache, cache, **more)
    return call("RotaryEmbedding", (2, steps, 3 * depth), cache, cache, num_heads=3, **more)


EXACT: Mapping[str, Build] = {
    "transpose": transpose, "concat": concat, "split": split, "slice": slices, "pad": pad, "expand": expand,
    "tile": tile, "gather": gather, "cast": cast, "arg_max": arg("ArgMax"), "arg_min": arg("ArgMin"),
    "depth_to_space": space("DepthToSpace"), "space_to_depth": space("SpaceToDepth"), "trilu": trilu,
    "one_hot": one_hot, "compress": compress, "resize_nearest": resize("nearest"), "einsum": einsum, "col2im": col2im,
    "centre_crop_pad": centre,
    **{op: reduce(op) for op in ("ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceSumSquare", "ReduceL1")},
}  # fmt: skip
CLOSE: Mapping[str, Build] = {
    "resize_linear": resize("linear"), "resize_cubic": resize("cubic"), "affine_grid": affine_grid,
    "attention": attention, "rotary": rotary,
    **{op: reduce(op) for op in ("ReduceMean", "ReduceL2", "ReduceLogSumExp")},
}  # fmt: skip


def check(build: Build, seed: int, tolerance: float) -> int:
    made = build(random.Random(seed))
    arrays = operands(made, seed, 0 if made.node.op == "Cast" else -8)
    expected = evaluated(made, arrays)
    chain = nests(made)
    if chain:
        got = evaluate_chain(chain, named(made, arrays))
        for name, value in expected.items():
            assert got[name].shape == value.shape, str(chain)
            np.testing.assert_allclose(got[name], value, rtol=tolerance, atol=tolerance, err_msg=str(chain[-1]))
    return len(chain)


@pytest.mark.parametrize("family", EXACT)
def test_index_maps_mean_exactly_what_is_computed(family: str) -> None:
    assert sum(check(EXACT[family], seed, 0.0) for seed in range(25)) > 15


@pytest.mark.parametrize("family", CLOSE)
def test_index_maps_of_real_sums_are_close_to_what_is_computed(family: str) -> None:
    assert sum(check(CLOSE[family], seed, 2e-5) for seed in range(20)) > 10


def test_a_reflected_pad_prints_its_table() -> None:
    (nest,) = nests(call("Pad", (2, 3), ints((0, 1, 0, 1)), mode="reflect"))
    assert str(nest) == "y[i0, i1] = x[i0, source1[i1]]"


def test_a_cropping_pad_needs_no_table() -> None:
    (nest,) = nests(call("Pad", (4, 3), ints((-1, 2, -1, 0))))
    assert str(nest) == "y[i0, i1] = x[i0 + 1, i1 - 2]; y = pad_value(y, 0)"


def test_a_linear_resize_is_one_nest_per_axis() -> None:
    chain = nests(call("Resize", (1, 1, 4, 6), None, None, ints((1, 1, 8, 3)), mode="linear"))
    assert [str(nest) for nest in chain] == [
        "resized2[i0, i1, i2, i3] += x[i0, i1, first2[i2] + k, i3] * weight2[i2, k]",
        "y[i0, i1, i2, i3] += resized2[i0, i1, i2, first3[i3] + k] * weight3[i3, k]",
    ]


def test_indices_of_the_run_time_have_no_index_map() -> None:
    assert nests(call("Gather", (3, 4), (2,), dtype=DType.I64)) == ()


def test_extrapolation_has_no_index_map() -> None:
    roi = np.asarray([0, 0, -0.5, 0, 1, 1, 1.5, 1], np.float32)
    made = call(
        "Resize", (1, 1, 4, 4), roi, None, ints((1, 1, 8, 8)), coordinate_transformation_mode="tf_crop_and_resize"
    )
    assert nests(made) == ()
