"""All operators, found by walking this folder: every module that ends with `OPERATORS` takes part."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

import tilewright.ops
from tilewright.errors import PlatformError
from tilewright.ops.bfloat16 import with_bfloat16
from tilewright.ops.operator import Operator
from tilewright.ops.quantised_meaning import with_codes


@cache
def _registry() -> Mapping[tuple[str, str], Operator]:
    found: dict[tuple[str, str], tuple[Operator, str]] = {}
    for info in sorted(iter_modules(tilewright.ops.__path__), key=lambda info: info.name):
        module = import_module(f"tilewright.ops.{info.name}")
        for operator in getattr(module, "OPERATORS", ()):
            key = operator.domain, operator.name
            if key in found:
                raise PlatformError(
                    f"operator '{operator.name}' is declared twice",
                    why=f"in ops/{found[key][1]}.py and in ops/{info.name}.py",
                    fix="remove one of them",
                )
            found[key] = operator, info.name
    return {key: with_bfloat16(with_codes(operator)) for key, (operator, _) in found.items()}


def find(op: str, domain: str = "") -> Operator | None:
    """The operator of this name and domain ("" is ONNX's own), or None where we have none."""
    return _registry().get(("" if domain == "ai.onnx" else domain, op))


def all_operators() -> tuple[Operator, ...]:
    """Every operator, by domain and name."""
    return tuple(operator for _, operator in sorted(_registry().items()))
