"""Libraries that several tests share."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from cuda.gpu import Built, built, gpu_plan


@pytest.fixture(scope="session")
def gpu_network(network: Callable[[str], Any], tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Built]:
    """A network of our own by name, built for the stand-in once per session and layout policy."""

    @cache
    def find(name: str, policy: Any = "packed") -> Built:
        plan = gpu_plan(network(name).model)
        return built(plan, tmp_path_factory.mktemp(f"{name}_{policy}"), policy)

    return find
