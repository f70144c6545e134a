"""Kernels that say so add in order, bit for bit; bounds of roundings by partial sums hold for such sums."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import onnx
import pytest
import tilewright
from onnx import TensorProto, helper, numpy_helper
from tilewright.compile import write
from tilewright.evidence.error_bounds.compose import analyse, at_vector, output_bound
from tilewright.evidence.error_bounds.in_order import by_planes
from tilewright.evidence.error_bounds.replay import fused_sum
from tilewright.evidence.replays import NO_ORDER, Replays
from tilewright.evidence.replication import declared_orders
from tilewright.model import Array, DType, Model, Node, Tensor
from tilewright.run.build import build
from tilewright.run.session import read_outputs
from tilewright.run.simulate import execute
from tilewright.target import missing_tools

NODES = ("conv", "depthwise", "dense", "mean", "window")
ORDERS = dict.fromkeys(NODES, ())


def _drawn(generator: np.random.Generator, *shape: int) -> Array:
    return generator.normal(size=shape).astype(np.float32)


def _network(folder: Path) -> tuple[Path, list[Array], dict[str, Array]]:
    """Two convolutions and two means of one image, and a product; the inputs and the constants."""
    generator = np.random.default_rng(3)
    shapes = {"w": (5, 4, 3, 2), "b": (5,), "v": (4, 1, 3, 3), "c": (4,), "m": (13, 6), "d": (6,)}
    constants = {name: _drawn(generator, *shape) for name, shape in shapes.items()}
    pads = {"conv": [1, 1, 1, 0], "depthwise": [1, 1, 1, 1]}
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["y0"], name="conv", pads=pads["conv"]),
        helper.make_node("Conv", ["x", "v", "c"], ["y1"], name="depthwise", group=4, pads=pads["depthwise"]),
        helper.make_node("Gemm", ["a", "m", "d"], ["y2"], name="dense"),
        helper.make_node("GlobalAveragePool", ["x"], ["y3"], name="mean"),
        helper.make_node("AveragePool", ["x"], ["y4"], name="window", kernel_shape=[3, 2], pads=[1, 1, 1, 0]),
    ]
    inputs, outputs = (
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()]
        for shapes in (
            {"x": (1, 4, 6, 5), "a": (3, 13)},
            {"y0": (1, 5, 6, 5), "y1": (1, 4, 6, 5), "y2": (3, 6), "y3": (1, 4, 1, 1), "y4": (1, 4, 6, 5)},
        )
    )
    graph = helper.make_graph(
        nodes, "g", inputs, outputs, [numpy_helper.from_array(value, name) for name, value in constants.items()]
    )
    file = folder / "sums.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), file)
    return file, [_drawn(generator, 1, 4, 6, 5), _drawn(generator, 3, 13)], constants


def _added(start: Array, products: Sequence[tuple[Array, Array]], fused: bool) -> Array:
    """Factors multiplied and added one pair behind the other, in float32."""
    total = start.astype(np.float32)
    for a, b in products:
        term = a.astype(np.float64) * b.astype(np.float64)  # exact
        total = (total + (term if fused else term.astype(np.float32))).astype(np.float32)
    return total


def _in_order(inputs: Sequence[Array], constants: dict[str, Array], fused: bool, planes: bool = False) -> list[Array]:
    """The results: places of the window row by row, channels in each, inputs of the product from the first on; with
    `planes` the convolution of one group goes channel by channel."""
    x, a = inputs
    wide = np.pad(x[0], ((0, 0), (1, 1), (1, 1)))
    window = [
        (np.broadcast_to(wide[c, h : h + 6, w : w + 5], (5, 6, 5)), constants["w"][:, c, h, w].reshape(5, 1, 1))
        for c, h, w in sorted(product(range(4), range(3), range(2)), key=lambda at: at if planes else (*at[1:], at[0]))
    ]  # fmt: skip
    own = [
        (wide[:, h : h + 6, w : w + 5], constants["v"][:, 0, h, w].reshape(4, 1, 1)) for h in range(3) for w in range(3)
    ]
    rows = [(a[:, i, None], constants["m"][i]) for i in range(13)]
    starts = (
        np.broadcast_to(constants["b"].reshape(5, 1, 1), (5, 6, 5)),
        np.broadcast_to(constants["c"].reshape(4, 1, 1), (4, 6, 5)),
        np.broadcast_to(constants["d"], (3, 6)),
    )
    sums = [_added(start, pairs, fused) for start, pairs in zip(starts, (window, own, rows), strict=True)]
    one = np.ones(1, np.float32)
    pixels = [(x[0, :, h, w].reshape(4, 1, 1), one) for h in range(6) for w in range(5)]
    whole = _added(np.zeros((4, 1, 1)), pixels, False)
    taps = [(h, w) for h in range(3) for w in range(2)]
    part = _added(np.zeros((4, 6, 5)), [(wide[:, h : h + 6, w : w + 5], one) for h, w in taps], False)
    inside = np.pad(np.ones((6, 5)), 1)
    counts = sum(inside[h : h + 6, w : w + 5] for h, w in taps)
    return [*sums, whole / np.float32(30), part / np.asarray(counts, np.float32)]


@pytest.mark.parametrize(("board", "fused"), [("host", False), ("qemu_mps2_an386", True)])
def test_kernels_that_say_so_add_in_order(board: str, fused: bool, tmp_path: Path) -> None:
    target = tilewright.load_target(board)
    for tool, _ in missing_tools(target):
        pytest.skip(f"{tool} is not installed")
    file, inputs, constants = _network(tmp_path)
    compiled = tilewright.compile_model(file, tilewright.CompileOptions(), target)
    planes = board != "host"  # the kernel for the unit walks an operand in planes plane by plane
    orders = {**ORDERS, "conv": tuple(by_planes(constants["w"])) if planes else ()}
    assert declared_orders(compiled.plan) == orders
    (tmp_path / "project").mkdir()
    write(compiled, tmp_path / "project")
    image = build(tmp_path / "project", compiled.artifacts.interface, target, tmp_path / "build")
    outputs = read_outputs(compiled.plan, execute(image, [array.tobytes() for array in inputs]))
    vector = at_vector(compiled.model, dict(zip(compiled.model.inputs, inputs, strict=True)))
    again = analyse(compiled.model, vector, {}, orders=orders, fused=fused)
    for name, output, got, want in zip(
        NODES, compiled.model.outputs, outputs, _in_order(inputs, constants, fused, planes), strict=True
    ):
        np.testing.assert_array_equal(got.reshape(want.shape), want, err_msg=name)
        np.testing.assert_array_equal(got, again.bits[output], err_msg=name)
        off = np.abs(got.astype(np.float64) - again.known[output].centre)
        assert (off <= again.known[output].error).all()
        assert again.known[output].error.max() < 1.001 * off.max()
    replays = Replays(compiled.model, [dict(zip(compiled.model.inputs, inputs, strict=True))], {}, orders)
    assert replays.bound(compiled.model.outputs[0], "conv", [{"conv": outputs[0]}])[0] is not None
    other = [{"conv": np.nextafter(outputs[0], np.float32(9))}]
    assert replays.bound(compiled.model.outputs[0], "conv", other) == (None, NO_ORDER)


@pytest.mark.parametrize("fused", [False, True])
def test_bounds_by_partial_sums_hold_and_are_smaller(fused: bool, tmp_path: Path) -> None:
    file, inputs, constants = _network(tmp_path)
    compiled = tilewright.compile_model(file, tilewright.CompileOptions(), tilewright.load_target("host"))
    vector = at_vector(compiled.model, dict(zip(compiled.model.inputs, inputs, strict=True)))
    loose, tight = analyse(compiled.model, vector, {}), analyse(compiled.model, vector, {}, orders=ORDERS)
    for name, got in zip(compiled.model.outputs, _in_order(inputs, constants, fused), strict=True):
        exact, bound = tight.known[name].centre, tight.known[name].error
        assert (np.abs(got.reshape(exact.shape).astype(np.float64) - exact) <= bound).all()
        assert bound.max() < 0.6 * loose.known[name].error.max()


def test_fused_products_round_once() -> None:
    """A sum whose exact value lies so close to half-way that doubles round it there first."""
    total, product = np.array([1.0], np.float32), np.array([2.0**-24 + 2.0**-60])
    assert fused_sum(total, product)[0] == np.float32(1 + 2.0**-23)
    assert fused_sum(total, np.array([2.0**-24 - 2.0**-60]))[0] == 1
    assert fused_sum(-total, np.array([-(2.0**-24) - 2.0**-60]))[0] == -np.float32(1 + 2.0**-23)


def test_roundings_that_conspire_reach_the_bound_and_stay_inside() -> None:
    """Every rounding of two layers in the direction that moves one result most, by half the distance of floats."""
    generator = np.random.default_rng(5)
    first, second, x = _drawn(generator, 60, 40), _drawn(generator, 40, 1), _drawn(generator, 1, 60)
    names = {"x": (1, 60), "h": (1, 40), "r": (1, 40), "y": (1, 1)}
    tensors = {n: Tensor(n, DType.F32, shape) for n, shape in {**names, "a": first.shape, "b": second.shape}.items()}
    nodes = (
        Node("first", "MatMul", ("x", "a"), ("h",)), Node("limit", "Relu", ("h",), ("r",)),
        Node("second", "MatMul", ("r", "b"), ("y",)),
    )  # fmt: skip
    model = Model("m", nodes, tensors, {"a": first, "b": second}, ("x",), ("y",), 21)
    analysis = analyse(model, at_vector(model, {"x": x}), {}, orders={"first": (), "second": ()})
    known, bound = analysis.known["y"], Fraction(output_bound(analysis, "y").certain[0, 0])
    none = _exactly(np.zeros(1))
    exact = (np.maximum(_exactly(x[0]) @ _exactly(first), none) @ _exactly(second))[0]
    assert known.low[0, 0] <= exact <= known.high[0, 0]
    for seed in (None, 1, 2):
        random = None if seed is None else np.random.default_rng(seed)
        hidden = np.maximum(_moved(_exactly(x[0]), first, np.sign(second[:, 0]), random), none)
        off = abs(_moved(hidden, second, np.ones(1), random)[0] - exact)
        assert off <= bound
        assert (off > 0.95 * bound) == (seed is None)


def _exactly(values: Array) -> Array:
    """Floats as fractions: sums in doubles are off by more than a bound that is reached leaves free."""
    fractions: Array = np.vectorize(Fraction, otypes=[object])(values.astype(np.float64))
    return fractions


def _moved(x: Array, matrix: Array, worst: Array, random: np.random.Generator | None) -> Array:
    """A product of fractions whose roundings are all the largest: in the worst direction, or in any."""
    total = _exactly(np.zeros(matrix.shape[1]))
    for factor, row in zip(x, _exactly(matrix), strict=True):
        for value in (factor * row, total + factor * row):
            sign = worst if random is None else random.choice((-1.0, 1.0), worst.shape)
            half = np.spacing(np.abs(value).astype(np.float32)) / 2
            total = total + _exactly(sign * half * bool(factor))
        total = total + factor * row
    return total
