"""Borders of operators and of their index maps, each counted by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from ops.building import call, nests
from tilewright.model import DType, Node, Tensor
from tilewright.ops.index import nest as index
from tilewright.ops.index.fused_chain import hull, producer_tile
from tilewright.ops.index.nest import Nest, Space
from tilewright.ops.index.transfer import Transfer, transfer
from tilewright.ops.operator import Call
from tilewright.ops.registry import find

Array = NDArray[Any]


def computed(op: str, arrays: list[Array], opset: int = 17, **attributes: Any) -> Array:
    """The first result of an operator over these arrays, all but the first of which are constants."""
    tensors = tuple(Tensor(f"i{n}", DType.of(a.dtype), a.shape) for n, a in enumerate(arrays))
    constants = dict(enumerate(arrays[1:], 1))
    node = Node("n", op, tuple(t.name for t in tensors), ("y",), attributes)
    operator = find(op)
    assert operator is not None
    asked = Call(node, tensors, (), constants, opset, operator=operator)
    (kind, *_) = operator.infer(asked)
    made = Call(node, tensors, (Tensor("y", kind.dtype, kind.shape),), constants, opset, operator=operator)
    (result, *_) = operator.evaluate(made, list(arrays))
    assert result.shape == kind.shape
    return result


ROW = np.arange(5, dtype=np.float32)


@pytest.mark.parametrize(
    ("start", "end", "step", "expected"),
    [
        (9, -9, -1, [4, 3, 2, 1, 0]), (-1, -6, -1, [4, 3, 2, 1, 0]), (9, 0, -2, [4, 2]), (3, 0, -1, [3, 2, 1]),
        (-9, 9, 2, [0, 2, 4]), (1, -1, 1, [1, 2, 3]), (4, 1, 1, []), (0, 4, -1, []), (-2, 9, 1, [3, 4]),
        (-9, -9, -1, [0]),
    ],
)  # fmt: skip
def test_a_slice_ends_where_it_should(start: int, end: int, step: int, expected: list[int]) -> None:
    bounds = [np.array([value]) for value in (start, end, 0, step)]
    assert computed("Slice", [ROW, *bounds]).tolist() == expected


@pytest.mark.parametrize(
    ("mode", "pads", "expected"),
    [
        ("reflect", (2, 2), [2, 1, 0, 1, 2, 3, 4, 3, 2]), ("edge", (2, 1), [0, 0, 0, 1, 2, 3, 4, 4]),
        ("wrap", (2, 1), [3, 4, 0, 1, 2, 3, 4, 0]), ("constant", (1, 2), [0, 0, 1, 2, 3, 4, 0, 0]),
        ("constant", (-2, 1), [2, 3, 4, 0]), ("edge", (-2, 1), [2, 3, 4, 4]), ("reflect", (-1, 2), [1, 2, 3, 4, 3, 2]),
        ("wrap", (-1, 2), [1, 2, 3, 4, 1, 2]),
    ],
)  # fmt: skip
def test_a_pad_repeats_what_its_mode_says(mode: str, pads: tuple[int, int], expected: list[int]) -> None:
    assert computed("Pad", [ROW, np.array(pads)], opset=19, mode=mode).tolist() == expected


def test_pads_of_two_axes() -> None:
    """All beginnings come first, then all ends."""
    found = computed("Pad", [np.ones((1, 2), np.float32), np.array([1, 3, 0, 2])])
    assert found.tolist() == [[0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 1, 1, 0, 0]]


@pytest.mark.parametrize(
    ("mode", "dense", "strided"),
    [
        ("SAME_UPPER", [21, 32, 43, 54, 5], [3210, 5432, 54]),
        ("SAME_LOWER", [10, 21, 32, 43, 54], [2100, 4321, 543]),
    ],
)  # fmt: skip
def test_what_padding_cannot_be_halved_lies_where_its_mode_says(
    mode: str, dense: list[int], strided: list[int]
) -> None:
    """The digits of a result are the elements under its window, the first one last."""
    x = np.arange(1, 6, dtype=np.float32).reshape(1, 1, 5)
    weights = np.array([[[1, 10, 100, 1000]]], np.float32)
    assert computed("Conv", [x, weights[..., :2]], auto_pad=mode).reshape(-1).tolist() == dense
    assert computed("Conv", [x, weights], auto_pad=mode, strides=(2,)).reshape(-1).tolist() == strided


@pytest.mark.parametrize(("size", "pad", "stride", "windows"), [(3, 1, 2, 2), (4, 1, 2, 3), (4, 1, 3, 2), (5, 0, 2, 3)])
def test_no_window_begins_in_the_padding_behind(size: int, pad: int, stride: int, windows: int) -> None:
    """Sizes are rounded up, but a window of padding alone is none."""
    x = np.arange(size, dtype=np.float32).reshape(1, 1, size)
    attributes: dict[str, Any] = {"kernel_shape": (2,), "strides": (stride,), "pads": (pad, pad), "ceil_mode": 1}
    found = computed("MaxPool", [x], **attributes)
    assert found.shape == (1, 1, windows)
    assert np.isfinite(found).all()


def test_an_uneven_split_leaves_the_last_one_smaller() -> None:
    made = call("Split", (7, 2), outputs=3, num_outputs=3)
    assert [tensor.shape for tensor in made.outputs] == [(3, 2), (3, 2), (1, 2)]
    assert [tensor.shape for tensor in call("Split", (2, 2), outputs=3, num_outputs=3).outputs] == [
        (1, 2), (1, 2), (0, 2),
    ]  # fmt: skip


def test_a_distribution_of_old_runs_over_all_axes_from_its_own_on() -> None:
    x = np.zeros((2, 3, 4), np.float32)
    assert np.allclose(computed("Softmax", [x], opset=11, axis=1), 1 / 12)
    assert np.allclose(computed("Softmax", [x], opset=11, axis=-1), 1 / 4)
    assert np.allclose(computed("Softmax", [x], opset=13, axis=1), 1 / 3)
    large = np.array([[1e4, 0, -1e4]], np.float32)
    assert computed("Softmax", [large], opset=13).tolist() == [[1, 0, 0]]


# ------------------------------------------------------------------------------------------------ index maps
def test_padding_is_counted_where_it_lacks() -> None:
    """Three taps at a stride of two, one element of padding before and none behind."""
    (nest,) = nests(call("Conv", (1, 1, 7), (1, 1, 3), strides=(2,), pads=(1, 0)))
    whole = nest.space.whole()
    (loop,) = nest.out.subscripts[2].loops
    foot = nest.ins[0].footprint({**whole, loop: (0, 1)})
    assert (foot.box[2], foot.before[2], foot.after[2]) == ((0, 2), 1, 0)
    foot = nest.ins[0].footprint({**whole, loop: (1, 3)})
    assert (foot.box[2], foot.before[2], foot.after[2]) == ((1, 6), 0, 0)


def test_a_stride_may_step_over_both_edges() -> None:
    (i,) = space = Space.of(i=4)
    access = index.Tensor("x", (6,))[i * 5 - 4]  # values -4, 1, 6, 11
    assert access.footprint(space.whole()).box == ((1, 2),)
    assert access.footprint({"i": (2, 4)}).box == ((0, 0),)


@pytest.mark.parametrize(("coeff", "apart"), [(3, True), (2, False), (1, False)])
def test_digits_write_apart_where_each_reaches_beyond_the_inner_ones(coeff: int, apart: bool) -> None:
    """y[a * coeff + b] with three steps of b."""
    a, b = space = Space.of(a=4, b=3)
    nest = Nest(space, index.Tensor("y", (12,))[a * coeff + b], (index.Tensor("x", (4,))[a],))
    assert nest.parallel == (frozenset("ab") if apart else frozenset())


def addresses(found: Transfer) -> list[int]:
    starts = [found.offset]
    for count, stride in found.repeats:
        starts = [start + stride * i for start in starts for i in range(count)]
    return [start + i for start in starts for i in range(found.run)]


@pytest.mark.parametrize(
    ("box", "runs"),
    [
        (((0, 4), (0, 5), (0, 6)), ((), 120)), (((1, 3), (0, 5), (0, 6)), ((), 60)),
        (((0, 4), (1, 3), (0, 6)), (((4, 30),), 12)), (((0, 4), (0, 5), (2, 4)), (((20, 6),), 2)),
        (((0, 4), (0, 4), (2, 4)), (((4, 30), (4, 6)), 2)), (((0, 4), (2, 3), (1, 2)), (((4, 30),), 1)),
        (((1, 2), (2, 3), (3, 4)), ((), 1)),
    ],
)  # fmt: skip
def test_a_transfer_is_the_fewest_runs_of_its_box(box: index.Box, runs: tuple[Any, int]) -> None:
    found = transfer(box, (4, 5, 6))
    assert (found.repeats, found.run) == runs
    places = np.arange(120).reshape(4, 5, 6)[tuple(slice(*r) for r in box)]
    assert addresses(found) == places.reshape(-1).tolist()


@pytest.mark.parametrize(("dimensions", "commands"), [(1, 24), (2, 12), (3, 4), (4, 1), (9, 1)])
def test_an_engine_repeats_a_run_over_its_strides(dimensions: int, commands: int) -> None:
    found = Transfer(0, 2, ((4, 60), (3, 20), (2, 5)))
    assert (found.commands(dimensions), found.bursts) == (commands, 24)


def test_a_hull_holds_all_boxes() -> None:
    assert hull([((4, 6), (0, 2)), ((1, 2), (1, 9))]) == ((1, 6), (0, 9))
    assert hull([((1, 2), (0, 9)), ((4, 6), (1, 2))]) == ((1, 6), (0, 9))


def test_a_producer_makes_all_that_is_needed() -> None:
    i, j, k = space = Space.of(i=4, j=5, k=3)
    nest = Nest(space, index.Tensor("y", (4, 7))[i, j + 1], (index.Tensor("x", (4, 5, 3))[i, j, k],))
    assert producer_tile(nest, ((1, 3), (2, 5))) == {"i": (1, 3), "j": (1, 4), "k": (0, 3)}
    assert producer_tile(nest, ((0, 4), (0, 7))) == {"i": (0, 4), "j": (0, 5), "k": (0, 3)}
