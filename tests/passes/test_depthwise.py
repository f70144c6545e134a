"""Depthwise convolutions of parts of one image of codes become one, and no code changes."""

from __future__ import annotations

import numpy as np
import pytest
from state.networks import placed
from tflite_files import G, Op, T, written
from tilewright.frontend.load import load
from tilewright.model import Model
from tilewright.passes.driver import run as passes
from tilewright.passes.quantise.lower import lower
from tilewright.plan.execute import run_slots

RNG = np.random.default_rng(4)
ROWS = 7


def mixed(*, zero: int = 5) -> Model:
    """Channels in halves: the last five rows under five taps, and all seven under seven."""
    image = ((1, ROWS, 1, 8), "int8", 0.1, 3)
    narrow = (1, ROWS, 1, 4)
    taps = [RNG.integers(-127, 128, (1, size, 1, 4)).astype(np.int8) for size in (ROWS - 2, ROWS)]
    begin = [T((4,), "int32", data=np.asarray(v, np.int32)) for v in ([0, 2, 0, 0], [1, ROWS, 1, 4], [1, 1, 1, 1])]
    scales = [[0.01 + n / 99 for n in range(4)], [0.02 + n / 77 for n in range(4)]]
    tensors = [
        T(*image), T((), "int32", data=np.asarray(3, np.int32)), T(narrow, *image[1:]), T(narrow, *image[1:]), *begin,
        T((1, ROWS - 2, 1, 4), *image[1:]),
        *(T(own.shape, "int8", scale, data=own, axis=3) for own, scale in zip(taps, scales, strict=True)),
        *(T((4,), "int32", [0.1 * s for s in scale], data=RNG.integers(-900, 900, 4)) for scale in scales),
        T((1, 1, 1, 4), "int8", 0.9, 5), T((1, 1, 1, 4), "int8", 0.9, zero), T((1, 1, 1, 8), "int8", 0.9, 5),
    ]  # fmt: skip
    valid = [(0, "b", 1), (1, "i", 1), (2, "i", 1), (3, "i", 1)]
    ops = [
        Op("SPLIT", [1, 0], [2, 3], [(0, "i", 2)]), Op("STRIDED_SLICE", [2, 4, 5, 6], [7]),
        Op("DEPTHWISE_CONV_2D", [7, 8, 10], [12], valid), Op("DEPTHWISE_CONV_2D", [3, 9, 11], [13], valid),
        Op("CONCATENATION", [12, 13], [14], [(0, "i", 3)]),
    ]  # fmt: skip
    return lower(load(written(G(tensors, ops, [0], [14]))))


def test_one_convolution_gives_the_codes_of_all() -> None:
    model = mixed()
    joined, apart = passes(model)[0], passes(model, disabled=("depthwise",))[0]
    (conv,) = (node for node in joined.nodes if node.op == "Conv")
    assert (conv.attributes["group"], conv.attributes["kernel_shape"]) == (8, (ROWS, 1))
    assert not {"Split", "Slice", "Concat"} & {node.op for node in joined.nodes}
    assert sum(node.op == "Conv" for node in apart.nodes) == 2
    plans = [placed(each).plan for each in (joined, apart)]
    for codes in RNG.integers(-128, 128, (20, 1, ROWS, 1, 8)).astype(np.int8):
        ours, theirs = (run_slots(plan, [codes])[plan.output_slots[0]] for plan in plans)
        assert np.array_equal(ours, theirs)


def test_results_of_unlike_scales_stay_apart() -> None:
    joined = passes(mixed(zero=-4))[0]
    assert sum(node.op == "Conv" for node in joined.nodes) == 2


def test_taps_that_cost_too_much_stay_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tilewright.passes.depthwise.MOST_WORK", 1.1)  # 56 products for 48
    assert sum(node.op == "Conv" for node in passes(mixed())[0].nodes) == 2
