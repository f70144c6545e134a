"""Subscripts, tables, nests as text, and what the vocabulary refuses."""

from __future__ import annotations

import numpy as np
import pytest
from ops.building import call, nests
from tilewright.ops.index.affine import Affine
from tilewright.ops.index.body import BODIES, COMBINES, FINISHES, body, combine, finish
from tilewright.ops.index.fused_chain import chain_tiles, hull, producer_tile
from tilewright.ops.index.nest import Nest, Space, Tensor
from tilewright.ops.index.reference import evaluate
from tilewright.ops.index.table import Table

i, j = Affine.loop("i"), Affine.loop("j")


def test_subscripts_are_built_by_arithmetic_and_print_as_written() -> None:
    assert str(i * 2 + j - 3) == "i*2 + j - 3"
    assert str(5 - i) == "-i + 5"
    assert str((i * 2 + 1) // 3 + 1) == "(i*2 + 4) // 3"
    assert str(i - i) == "0"
    assert (i * 2 + j).at({"i": 3, "j": 1}) == 7
    assert (i * 2 - j).hull({"i": (0, 3), "j": (0, 4)}) == (-3, 5)
    assert (i * 2 + j * 3).extent({"i": 2, "j": 2}) == 6
    assert (i * 2).extent({"i": np.array([1, 2, 3])}).tolist() == [1, 3, 5]
    assert i + j == Affine((("i", 1), ("j", 1)))


def test_what_is_not_affine_is_refused() -> None:
    with pytest.raises(TypeError, match=r"'\(i\) \* \(j\)' is not affine: one factor must be an integer"):
        i * j  # type: ignore[operator]
    with pytest.raises(ValueError, match="only one may hold a floor division"):
        i // 2 + j // 2
    with pytest.raises(ValueError, match="a floor division must be outermost"):
        (i // 2) * 2
    with pytest.raises(ValueError, match="a divisor must be positive"):
        i // 0


def test_a_table_is_a_subscript() -> None:
    table = Table.over("row", i, (0, 0, 1, 3, 3))
    assert str(table) == "row[i]"
    assert str(table + j - 1) == "row[i] + j - 1"
    assert table.monotone
    assert table.hull({"i": (1, 4)}) == (0, 4)
    assert (table + j).hull({"i": (1, 4), "j": (0, 2)}) == (0, 5)
    assert table.extent({"i": 2}) == 3
    assert table.extent({"i": np.array([1, 2, 5])}).tolist() == [1, 3, 4]
    assert (table + j).at({"i": 3, "j": 1}) == 4
    with pytest.raises(ValueError, match=r"read by one plain loop, not by 'i\*2'"):
        Table.over("row", i * 2, (0, 1))


def test_a_table_is_evaluated_as_it_is_read() -> None:
    o, c = space = Space.of(o=5, c=2)
    x, y = Tensor("x", (4, 2)), Tensor("y", (5, 2))
    values = np.arange(8, dtype=np.float32).reshape(4, 2)
    nest = Nest(space, y[o, c], (x[Table.over("row", o, (3, 2, 2, 0, 1)), c],))
    assert str(nest) == "y[o, c] = x[row[o], c]"
    assert np.array_equal(evaluate(nest, {"x": values}), values[[3, 2, 2, 0, 1]])
    assert nest.ins[0].footprint({"o": (1, 4), "c": (0, 2)}).box == ((0, 3), (0, 2))


def test_a_convolution_prints_as_one_line() -> None:
    made = call("Conv", (1, 6, 9, 9), (8, 3, 3, 3), (8,), group=2, strides=(2, 2), pads=(1, 1, 1, 1))
    assert [str(nest) for nest in nests(made)] == [
        "y[n, g*4 + oc, oh, ow] += x[n, g*3 + ic, oh*2 + kh - 1, ow*2 + kw - 1] * w[g*4 + oc, ic, kh, kw]; "
        "y = add(y, b[g*4 + oc])"
    ]


def test_pools_and_chains_print_their_steps() -> None:
    pooled = nests(call("AveragePool", (1, 2, 4, 4), kernel_shape=(2, 2), strides=(2, 2)))
    assert str(pooled[0]) == "y[n, c, oh, ow] += x[n, c, oh*2 + kh, ow*2 + kw]; y = mean(y)"
    assert [str(nest) for nest in nests(call("Softmax", (2, 5)))] == [
        "largest[i0] max= x[i0, i1]",
        "raised[i0, i1] = exp_sub(x[i0, i1], largest[i0])",
        "total[i0] += raised[i0, i1]",
        "y[i0, i1] = div(raised[i0, i1], total[i0])",
    ]


def test_loops_of_one_step_are_named_but_not_analysed() -> None:
    (nest,) = nests(call("Conv", (1, 3, 8, 8), (4, 3, 3, 3)))
    assert nest.space.extents["g"] == nest.space.extents["n"] == 1
    assert set(nest.space.moving) == {"oc", "oh", "ow", "ic", "kh", "kw"}
    assert nest.parallel == {"oc", "oh", "ow"}
    assert nest.reductions == ("ic", "kh", "kw")
    assert nest.digits == ()


def test_canonical_loop_names() -> None:
    for rank, names in ((1, ["ow", "kw"]), (2, ["oh", "ow", "kh", "kw"]), (3, ["od", "oh", "ow", "kd", "kh", "kw"])):
        (nest,) = nests(call("Conv", (1, 2, *(5,) * rank), (2, 2, *(3,) * rank)))
        assert list(nest.space.extents) == ["n", "g", "oc", *names[:rank], "ic", *names[rank:]]


def test_a_stride_that_steps_over_the_edge_is_seen_in_the_box() -> None:
    (nest,) = nests(call("Conv", (1, 1, 6), (1, 1, 1), strides=(3,), pads=(0, 0)))
    foot = nest.ins[0].footprint(nest.space.whole())
    assert foot.box[2] == (0, 4)
    o, k = space = Space.of(o=3, k=1)
    seen = Tensor("x", (6,))[o * 3 + k - 1].footprint(space.whole())  # values -1, 2, 5
    assert seen.box == ((2, 6),)
    assert (seen.before, seen.after) == ((3,), (0,))


def test_a_nest_refuses_what_it_cannot_mean() -> None:
    x, y = Tensor("x", (4,)), Tensor("y", (4,))
    (a,) = space = Space.of(a=4)
    with pytest.raises(ValueError, match=r"x\[b\] is moved by b, which the nest does not have"):
        Nest(space, y[a], (x[Affine.loop("b")],))
    with pytest.raises(ValueError, match="cannot be written: a result needs affine subscripts without division"):
        Nest(space, y[a // 2], (x[a],))
    with pytest.raises(ValueError, match=r"x\[a\] is read once per result but moved by a"):
        Nest(space, Tensor("s", ())[()], (x[a],), combine=combine("add"), after=(x[a],))
    with pytest.raises(ValueError, match="y has 1 axes, 2 subscripts given"):
        y[a, a]


def test_a_diagonal_has_no_producer_tile() -> None:
    (a,) = space = Space.of(a=4)
    nest = Nest(space, Tensor("y", (4, 4))[a, a], (Tensor("x", (4,))[a],))
    with pytest.raises(ValueError, match=r"writes a diagonal: 'a' moves two axes"):
        producer_tile(nest, ((0, 2), (0, 2)))


def test_empty_boxes_do_not_widen_a_hull() -> None:
    assert hull([((4, 6),), ((0, 0),)]) == ((4, 6),)
    assert hull([((0, 0),)]) is None


def test_a_chain_with_two_results_is_not_fused() -> None:
    chain = nests(call("MaxPool", (1, 1, 4, 4), kernel_shape=(2, 2), outputs=2))
    assert [nest.out.tensor.name for nest in chain] == ["y", "indices"]
    layer = nests(call("LayerNormalization", (2, 3), (3,), outputs=3))
    with pytest.raises(ValueError, match="several results: nothing in it reads 'y'"):
        chain_tiles(layer, layer[-1].space.whole())


def test_words_outside_the_vocabulary_are_unknown() -> None:
    for look_up in (body, combine, finish):
        with pytest.raises(KeyError):
            look_up("guess")


def test_every_word_says_what_it_means_to_a_scalar() -> None:
    assert all(meaning.scalar for meaning in (*BODIES.values(), *FINISHES.values()))
    assert combine("max").start(np.int8) == -128
    assert combine("min").start(np.uint8) == 255
    assert combine("max").start(np.float32) == -np.inf
    assert {c.name for c in COMBINES.values()} == set(COMBINES)


def test_nests_can_be_keys_so_that_work_is_done_once_per_signature() -> None:
    first, second = (nests(call("Conv", (1, 3, 8, 8), (4, 3, 3, 3))) for _ in range(2))
    assert first == second
    assert len({first, second}) == 1
