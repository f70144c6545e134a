"""All operators, found by walking this folder and those in it: every module that ends with `OPERATORS` takes part.

Other distributions publish operators of their own under the entry points "tilewright.operators".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from pkgutil import walk_packages
from types import UnionType

import tilewright.ops
from tilewright.distributions import published
from tilewright.errors import PlatformError
from tilewright.model import Array, Node, Tensor
from tilewright.ops.bfloat16 import with_bfloat16
from tilewright.ops.codes import Codes
from tilewright.ops.operator import Call, Operator
from tilewright.ops.quantised.meaning import with_codes

GROUP = "tilewright.operators"
"""Entry points of other distributions; each names a tuple of operators."""


@cache
def _registry() -> Mapping[tuple[str, str], Operator]:
    declared: dict[tuple[str, str], tuple[Operator, str]] = {}
    for operators, origin in (*_of_our_own(), *_of_others()):
        for operator in operators:
            key = operator.domain, operator.name
            if key in declared:
                raise PlatformError(
                    f"operator '{operator.name}' is declared twice",
                    why=f"in {declared[key][1]} and in {origin}",
                    fix="remove one of them",
                )
            declared[key] = operator, origin
    return {key: with_bfloat16(with_codes(operator)) for key, (operator, _) in declared.items()}


def _of_our_own() -> Iterator[tuple[Sequence[Operator], str]]:
    """The operators of every module in this folder, and the file."""
    prefix = f"{tilewright.ops.__name__}."
    for name in sorted(info.name for info in walk_packages(tilewright.ops.__path__, prefix)):
        file = name.removeprefix(prefix).replace(".", "/")
        yield getattr(import_module(name), "OPERATORS", ()), f"ops/{file}.py"


def _of_others() -> Iterator[tuple[Sequence[Operator], str]]:
    """The operators that other distributions publish, and which; PlatformError where they are none."""
    for point in sorted(published(GROUP), key=lambda point: (point.name, point.value)):
        origin = f"{point.dist.name} {point.dist.version}" if point.dist else "an unknown distribution"
        try:
            operators = point.load()
        except Exception as error:  # a plug-in's own Python may raise anything
            raise _unusable(point.name, origin, f"{type(error).__name__}: {error}") from error
        if not isinstance(operators, tuple) or not all(isinstance(each, Operator) for each in operators):
            raise _unusable(point.name, origin, f"'{point.value}' is no tuple of operators")
        yield operators, origin


def _unusable(name: str, origin: str, why: str) -> PlatformError:
    fix = "fix the plug-in, or uninstall it"
    return PlatformError(f"the operators '{name}' ({origin}) cannot be loaded", why=why, fix=fix)


def find(op: str, domain: str = "") -> Operator | None:
    """The operator of this name and domain ("" is ONNX's own), or None where we have none."""
    return _registry().get(("" if domain == "ai.onnx" else domain, op))


def codes_of(node: Node) -> Codes | None:
    """What the node's operator does on integer codes in this form; None where nothing is known of it."""
    operator = find(node.op, node.domain)
    return None if operator is None else operator.codes_of(node)


def named(name: str) -> tuple[Operator, ...]:
    """The operators of this name in every domain, ONNX's own first."""
    return tuple(each for each in all_operators() if each.name == name)


def names_with(kinds: type | UnionType) -> tuple[str, ...]:
    """The names of the operators that do so on codes in their plain form, each once, in order."""
    plain = ((each.name, each.codes_of(Node("", each.name, (), ()))) for each in all_operators())
    return tuple(dict.fromkeys(name for name, codes in plain if isinstance(codes, kinds)))


def call_of(
    node: Node,
    inputs: Sequence[Tensor | None],
    outputs: Sequence[Tensor] = (),
    constants: Mapping[int, Array] | None = None,
    opset: int = 21,
) -> Call:
    """A use of the operator that the node names. `constants` maps the place of an operand to its value."""
    operator = find(node.op, node.domain)
    return Call(node, tuple(inputs), tuple(outputs), constants or {}, opset, operator=operator)


def all_operators() -> tuple[Operator, ...]:
    """Every operator, by domain and name."""
    return tuple(operator for _, operator in sorted(_registry().items()))
