"""Every rule on drawn calls: against differences in float64, and against torch's own gradients of the mirror."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from gradient.drawn import candidates, drawn, has_rule
from gradient.networks import differences, values
from tilewright.binding.bind import bind
from tilewright.errors import UnsupportedError
from tilewright.export.pytorch import emit
from tilewright.ops.operator import Operator
from tilewright.plugins import kernels_of, platform

TOLERANCE, OF_TORCH = 1e-7, 1e-5
CALLS, TORCH_CALLS = 4, 6
RULED = [one for one in candidates() if has_rule(one)]


@pytest.mark.parametrize("operator", RULED, ids=lambda one: one.name)
def test_a_rule_agrees_with_differences_on_drawn_calls(operator: Operator) -> None:
    calls = list(drawn(operator, "f64", 1, CALLS))
    assert len(calls) == CALLS
    for one in calls:
        known = values(one.network, one.given)
        for name, gradient in one.names.items():
            expected = differences(one.network, one.loss, one.given, name)
            np.testing.assert_allclose(known[gradient], expected, rtol=TOLERANCE, atol=TOLERANCE)


def test_no_operator_has_lost_its_gradient() -> None:
    assert len(RULED) >= 80


def test_rules_agree_with_torch_on_drawn_calls(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from torch_modules import load

    generic = platform("generic")
    held = set[str]()
    for number, operator in enumerate(RULED):
        for index, one in enumerate(drawn(operator, "f32", 2, TORCH_CALLS)):
            try:
                module = emit(bind(one.call.model("call"), generic, kernels_of(generic)))
            except UnsupportedError:
                continue  # torch has no word for it
            network = getattr(load(module, tmp_path, f"call_{number}_{index}"), module.class_name)()
            given = {name: torch.from_numpy(value.copy()) for name, value in one.given.items()}
            for name in one.names:
                given[name].requires_grad_()
            found = network(*given.values())
            results = [y for y in (found if isinstance(found, tuple) else (found,)) if y.dtype.is_floating_point]
            weights = np.random.default_rng(5)
            loss = sum(
                (y * torch.from_numpy(weights.standard_normal(y.shape).astype(np.float32))).sum() for y in results
            )
            loss.backward()
            known = values(one.network, one.given)
            for name, gradient in one.names.items():
                expected = given[name].grad.numpy() if given[name].grad is not None else np.zeros_like(one.given[name])
                size = max(1.0, np.abs(expected).max())
                np.testing.assert_allclose(known[gradient] / size, expected / size, rtol=0, atol=OF_TORCH)
            held.add(operator.name)
    assert {"Conv", "ConvTranspose", "MaxPool", "Softmax", "LayerNormalization", "Gather"} <= held
    assert len(held) >= 60, sorted(held)
