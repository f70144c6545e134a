"""Softmax on codes where quotients lie on a tie or next to one: the exact division must decide them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from integers.qdq_writer import Writer
from tilewright.conformance.program import STRICT, run_batch
from tilewright.conformance.subject import load_and_pass, place, subject
from tilewright.plan.execute import run
from tilewright.plugins import platform


@pytest.mark.parametrize(("length", "inverse"), [(512, 256), (128, 192), (96, 240), (1024, 512)])
def test_equal_codes_share_a_tie(length: int, inverse: int, tmp_path: Path) -> None:
    """`length` equal codes are `inverse / length` steps each, a number of halves."""
    write = Writer(21)
    write.add("Softmax", write.pair("x", 0.11, 3), "s", axis=-1)
    write.add("Identity", write.pair("s", 1 / inverse, -128), "y")
    placed = place(load_and_pass(write.model({"x": (3, length)}), "ties"), platform("generic"))
    assert "SoftmaxI8" in {instruction.kernel.name for instruction in placed.plan.instructions}
    equal = np.full((3, length), 0.5, np.float32)
    drawn = np.random.default_rng(length).normal(size=(3, length)).astype(np.float32)
    runs = [[equal], [drawn], [np.where(drawn > 1.5, 9, -9).astype(np.float32)]]
    (outcome,) = run_batch([subject(placed, platform("generic"), runs)], tmp_path, flags=("-O1", *STRICT))
    assert not outcome.failure
    for inputs, (found,) in zip(runs, outcome.runs, strict=True):
        assert np.array_equal(found, run(placed.plan, inputs)[0])
