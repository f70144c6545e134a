"""Integer convolutions whose sums run in floats: bit for bit, within memory, refused where a float would round."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from board_layers import Layer, check, fenced, kernels
from hypothesis import given, settings
from hypothesis import strategies as st
from tilewright.ops.quantised.proof import Bounds, prove
from tilewright.ops.requantize import Requantisation
from tilewright.platforms.generic.kernels.requantise_real import real_form
from tilewright.platforms.generic.kernels.vectors import KINDS, Vectors, block_pixels, pixels_text

SAME = {"pads": [1, 1, 1, 1]}
CONVOLUTIONS = [
    Layer("same", (1, 16, 8, 8), (32, 16, 3, 3), attributes=SAME),
    Layer("odd", (1, 5, 7, 9), (11, 5, 3, 3), attributes=SAME, y_zero=-3),
    Layer("stride", (1, 8, 9, 9), (16, 8, 3, 3), attributes={"strides": [2, 2], "pads": [0, 1, 1, 0]}),
    Layer("dilated", (1, 4, 9, 9), (8, 4, 3, 3), attributes={"dilations": [2, 2], "pads": [2, 2, 2, 2]}),
    Layer("groups", (1, 8, 6, 6), (24, 4, 3, 3), attributes={"group": 2, **SAME}),
    Layer("first", (1, 3, 12, 12), (16, 3, 3, 3), x_zero=4, attributes=SAME),
    Layer("tall", (1, 1, 20, 10), (8, 1, 10, 4), attributes={"strides": [2, 2], "pads": [4, 1, 5, 1]}),
    Layer("point", (1, 24, 5, 5), (10, 24, 1, 1)),
    Layer("long", (1, 40, 25, 10), (8, 40, 1, 1)),
    Layer("pointstride", (1, 16, 6, 6), (9, 16, 1, 1), attributes={"strides": [2, 2]}),
    Layer("temporal", (1, 6, 19), (8, 6, 5), attributes={"pads": [2, 2]}),
    Layer("bytes", (1, 8, 5, 6), (8, 8, 3, 3), unsigned=True, x_zero=-30, attributes=SAME),
    Layer("dead", (1, 8, 5, 6), (16, 8, 3, 3), weights="dead", attributes=SAME),
]
DEPTHWISE = [
    Layer("dw", (1, 8, 7, 6), (8, 1, 3, 3), attributes={"group": 8, **SAME}),
    Layer("dwmany", (1, 40, 5, 5), (40, 1, 3, 3), x_zero=7, attributes={"group": 40, **SAME}),
    Layer("dwstride", (1, 16, 9, 8), (16, 1, 3, 3), attributes={"group": 16, "strides": [2, 2], "pads": [0, 0, 1, 1]}),
    Layer("dwvalid", (1, 8, 6, 7), (8, 1, 3, 3), attributes={"group": 8}),
    Layer("dwtiny", (1, 8, 1, 2), (8, 1, 3, 3), attributes={"group": 8, **SAME}),
    Layer("dwtemporal", (1, 9, 21), (9, 1, 9), attributes={"group": 9, "pads": [4, 4]}),
    Layer("dwdead", (1, 16, 5, 6), (16, 1, 3, 3), weights="dead", attributes={"group": 16, **SAME}),
]
EXTREMES = [
    Layer("lowest", (1, 16, 6, 6), (8, 16, 3, 3), weights="-127", attributes=SAME),
    Layer("highest", (1, 64, 4, 4), (8, 64, 1, 1), weights="127"),
    Layer("lowdw", (1, 8, 5, 5), (8, 1, 3, 3), weights="-127", attributes={"group": 8, **SAME}),
    Layer("most", (1, 516, 1, 2), (8, 516, 1, 1), weights="127"),
]
MACHINE = Path("/proc/cpuinfo")


def targets() -> list[str]:
    """The plain host, and its vectors where it has them."""
    avx = MACHINE.exists() and "avx2" in MACHINE.read_text()
    return ["host", "host_x86_64_v3"] if avx else ["host"]


@pytest.mark.parametrize("target", targets())
def test_every_shape_is_bit_exact(target: str, tmp_path: Path) -> None:
    layers = [*CONVOLUTIONS, *DEPTHWISE, *EXTREMES]
    done = check(layers, target, tmp_path, ("random", "low", "high"), optimize="speed")
    bound = kernels(done)
    assert {bound[layer.name] for layer in layers} == {"ConvFloatSumsI8"}


def test_rows_are_kept_within_scratch_and_results_over_operands(tmp_path: Path) -> None:
    fenced([*CONVOLUTIONS, *DEPTHWISE], "host", tmp_path, optimize="speed", sanitize=True)


def test_it_is_offered_for_speed_only_and_where_floats_hold_the_sums(tmp_path: Path) -> None:
    wide = Layer("wide", (1, 520, 1, 2), (8, 520, 1, 1), weights="127")
    assert 520 * 127 * 255 > 1 << 24
    (tmp_path / "speed").mkdir()
    (tmp_path / "balanced").mkdir()
    few = Layer("few", (1, 16, 4, 4), (7, 16, 3, 3))
    fast = kernels(check([wide, few, CONVOLUTIONS[0]], "host", tmp_path / "speed", optimize="speed"))
    expected = {"wide": "ConvDotI8", "few": "ConvDotI8", "same": "ConvFloatSumsI8"}
    assert {name: fast[name] for name in expected} == expected
    plain = kernels(check([CONVOLUTIONS[0]], "host", tmp_path / "balanced"))
    assert plain["same"] == "ConvDotI8"


@settings(max_examples=150)
@given(
    st.floats(width=32, min_value=2.0**-12, max_value=0.5, allow_nan=False).map(Fraction),
    st.integers(-128, 127), st.integers(-20_000, 20_000), st.integers(1, 30_000),
)  # fmt: skip
def test_the_real_form_is_the_exact_one_for_every_sum(multiplier: Fraction, zero: int, bias: int, reach: int) -> None:
    exact = Requantisation((multiplier,), zero, -128, 127)
    bounds = Bounds(np.array([bias - reach]), np.array([bias + reach]))
    form = real_form(prove(exact, bounds), np.array([bias]))
    if form is None:
        return
    sums = np.arange(-reach, reach + 1)
    for rounded in (np.float64, np.longdouble):
        value = sums.astype(rounded) * form.scale.astype(rounded) + form.offset.astype(rounded)
        codes = np.clip(np.trunc(value).astype(np.int64), 0, form.span) + form.low
        assert (codes == exact.apply(sums + bias)).all()


def test_most_layers_have_a_real_form_and_ties_on_both_sides_none() -> None:
    generator = np.random.default_rng(1)
    multipliers = tuple(Fraction(float(np.float32(m))) for m in generator.uniform(0.0005, 0.02, 64))
    bias = generator.integers(-4000, 4000, 64)
    bounds = Bounds(bias - 100_000, bias + 100_000)
    exact = Requantisation(multipliers, -128, -128, 127)
    assert real_form(prove(exact, bounds), bias) is not None
    ties = replace(exact, multipliers=(Fraction(1, 2),))
    assert real_form(prove(ties, bounds), bias) is None


def test_blocks_fill_the_registers_and_divide_the_run() -> None:
    assert block_pixels(16, 30, Vectors(8, 16), True) == 6
    assert block_pixels(32, 256, Vectors(8, 16), True) == 3
    for channels in (1, 8, 16, 24, 32, 64):
        for run in (1, 2, 5, 14, 30, 96):
            for vectors in KINDS:
                pixels = block_pixels(channels, run, vectors, True)
                assert 1 <= pixels <= run
                assert pixels == 1 or pixels * -(-channels // vectors.lanes) < vectors.registers
    assert pixels_text(8, 0) == "1"
    assert pixels_text(16, 30).startswith("TILEWRIGHT_BY_VECTOR(")
