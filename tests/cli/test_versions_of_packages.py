"""Packages that we need are bounded on both sides: below by what is tried out, above by the next major version."""

from __future__ import annotations

import importlib.util
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_SPEC = importlib.util.spec_from_file_location("lowest", ROOT / "ci" / "lowest.py")
assert _SPEC is not None
assert _SPEC.loader is not None
lowest = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(lowest)


def test_every_package_of_the_main_path_has_both_bounds() -> None:
    pinned = dict(lowest.lowest(requirement).split("==") for requirement in lowest.requirements())
    assert set(pinned) == {
        "onnx", "onnx-graphsurgeon", "numpy", "ml-dtypes", "ortools", "mako", "onnxruntime", "rich", "pyelftools"
    }  # fmt: skip
    assert pinned["onnx-graphsurgeon"] == "0.6.1", "there is no 0.6.0"


@pytest.mark.parametrize("requirement", ["onnx", "onnx>=1.17", "onnx<2", "onnx==1.17"])
def test_a_bound_that_is_missing(requirement: str) -> None:
    with pytest.raises(ValueError, match="is not NAME>=LOWEST,<MAJOR"):
        lowest.lowest(requirement)


def test_extras_with_versions_of_that_kind_are_bounded_too() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for extra in ("torch", "yaml", "docs"):
        assert all(",<" in requirement for requirement in extras[extra]), extra
