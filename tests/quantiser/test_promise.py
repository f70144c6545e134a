"""What `--drop` says where it is not kept, and how many samples it asks for."""

from __future__ import annotations

import re

import numpy as np
import pytest
from graphs import node, onnx_model
from tilewright.errors import UsageError
from tilewright.frontend.load import load
from tilewright.model import Array, Model
from tilewright.quantiser.static.blame import Blamed, blamed
from tilewright.quantiser.static.drop import check_resolution
from tilewright.quantiser.static.quantise import Types, basis_of, choice_of
from tilewright.quantiser.static.samples import Samples, divided


def drawn(count: int, loud: float = 1.0) -> Samples:
    """Samples of x [1, 8], whose last column is `loud` times the others."""
    values = np.random.default_rng(3).standard_normal((count, 1, 8))
    values[..., 7] *= loud
    return Samples({"x": values.astype(np.float32)}, None)


def layers(giant: float) -> Model:
    """Two products; `giant` is a weight of an activation that is always zero, as are the weights of the last column."""
    random = np.random.default_rng(1)
    w, v = (random.standard_normal(shape).astype(np.float32) for shape in ((8, 16), (16, 8)))
    w[:, 0], w[7], v[0] = 0, 0, giant
    nodes = [node("MatMul", "x w", "a"), node("Relu", "a", "r"), node("MatMul", "r v", "y")]
    constants: dict[str, Array] = {"w": w, "v": v}
    return load(onnx_model(nodes, {"x": (1, 8)}, ["y"], constants))


def blamed_in(model: Model, loud: float = 1.0) -> list[Blamed]:
    basis = basis_of(model, divided(drawn(40, loud)))
    return list(blamed(basis, choice_of(basis, Types())[0]))


def test_weights_that_no_range_can_save_are_blamed_before_all_else() -> None:
    """A weight 3,000 times the others of its channel makes all of them 0; activations are as right as they can be."""
    model = layers(3000)
    first = blamed_in(model)[0]
    assert first.what == f"the weights of '{model.nodes[2].name}'"
    assert first.gain_db > 3


def test_an_input_whose_columns_are_of_unlike_size_is_blamed_before_all_else() -> None:
    first = blamed_in(layers(0), loud=300)[0]
    assert (first.what, first.gain_db > 3) == ("'x'", True)


@pytest.mark.parametrize("allowed", [0.03, 0.01, 0.07, 0.2])
def test_so_many_samples_are_asked_for_that_one_of_them_is_what_is_allowed(allowed: float) -> None:
    with pytest.raises(UsageError, match="samples or more, every fifth is held out") as told:
        check_resolution("", allowed, divided(drawn(9)))
    count = int(re.findall("give ([0-9]+) samples", str(told.value))[0])
    check_resolution("", allowed, divided(drawn(count)))
    with pytest.raises(UsageError, match="samples or more"):
        check_resolution("", allowed, divided(drawn(count - 5)))
