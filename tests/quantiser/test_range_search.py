"""The search over ranges: a tensor takes the range with which outputs are nearest, of all that were tried for it."""

from __future__ import annotations

import numpy as np
from graphs import node, onnx_model
from tilewright.frontend.load import load
from tilewright.quantiser.static.codes import Coding, Range
from tilewright.quantiser.static.quantise import basis_of
from tilewright.quantiser.static.samples import Samples, divided
from tilewright.quantiser.static.search import coding_of, searched
from tilewright.quantiser.static.statistics import Candidate, merged


def test_a_tensor_takes_the_best_of_the_ranges_that_were_tried_for_it() -> None:
    """Two ranges of one method: the second is tried for each tensor alone, and is the one that fits."""
    random = np.random.default_rng(4)
    nodes = [node("MatMul", "x w", "m"), node("Relu", "m", "r"), node("MatMul", "r v", "y")]
    weights = {"w": random.standard_normal((16, 12)), "v": random.standard_normal((12, 6))}
    model = load(onnx_model(nodes, {"x": (1, 16)}, ["y"], {k: w.astype(np.float32) for k, w in weights.items()}))
    rows = random.standard_normal((60, 1, 16)).astype(np.float32)
    basis = basis_of(model, divided(Samples({"x": rows}, None)))
    ranges, fitting = dict[str, tuple[Candidate, ...]](), dict[str, Coding]()
    for group in basis.points.groups:
        span = merged([basis.statistics[name] for name in group.sources]).span
        spans = [Range(span.low * factor, span.high * factor) for factor in (9, 7, 1)]
        ranges[group.name] = tuple(map(Candidate, ("wide", "narrow", "narrow"), spans))
        fitting[group.name] = coding_of(group, span)
    search = searched(basis.model, basis.points, ranges, basis.judge)
    assert dict(search.choice.codings) == fitting
    assert all(min(tried, key=lambda one: one.error) is tried[-1] for tried in search.tried.values())
