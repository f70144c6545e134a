"""All rules, found by walking this folder: every module that ends with `SPLITS` takes part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

import tilewright.frontend.splits
from tilewright.errors import TilewrightError
from tilewright.frontend.opset import Surroundings, invalid
from tilewright.frontend.raw import RawNode
from tilewright.frontend.splits.parts import NEWEST, Parts, Rule
from tilewright.frontend.splits.whole_numbers import PACT


@cache
def rules() -> Mapping[tuple[str, str], Rule]:
    """Every rule by the domain and name of its operator, sorted."""
    every: dict[tuple[str, str], Rule] = {}
    package = tilewright.frontend.splits
    for name in sorted(info.name for info in iter_modules(package.__path__)):
        splits: Mapping[tuple[str, str], Rule] = getattr(import_module(f"{package.__name__}.{name}"), "SPLITS", {})
        assert not every.keys() & splits.keys(), (name, every.keys() & splits.keys())
        every |= splits
    return dict(sorted(every.items()))


@cache
def home(domain: str, op: str) -> str:
    """The domain that an operator is of, which some exporters write without it or with another."""
    import onnx

    known = domain in ("", "ai.onnx.contrib") and (PACT, op) in rules() and not onnx.defs.has(op, "")
    return PACT if known else domain


def split(node: RawNode, around: Surroundings) -> tuple[RawNode, ...]:
    """The standard nodes that compute the same; nothing where there is no rule for the node or none is needed.

    ModelError where operands or attributes make no sense to the rule.
    """
    rule = rules().get((node.domain, node.op))
    if rule is None:
        return ()
    parts = Parts(node, around)
    try:
        rule(parts)
    except TilewrightError:
        raise
    except (ArithmeticError, LookupError, ValueError, TypeError) as error:
        why = f"its operands and attributes do not go together ({' '.join(str(error).split())[:160]})"
        raise invalid(node, why) from error
    opsets = {**node.opsets, "": NEWEST}
    return tuple(replace(made, opsets=opsets) for made in parts.made)
