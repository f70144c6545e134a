"""All operators, found by walking this folder and those in it: every module that ends with `OPERATORS` takes part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pkgutil import walk_packages
from types import UnionType

import tilewright.ops
from tilewright.errors import PlatformError
from tilewright.model import Array, Node, Tensor
from tilewright.ops.bfloat16 import with_bfloat16
from tilewright.ops.codes import Codes
from tilewright.ops.operator import Call, Operator
from tilewright.ops.quantised.meaning import with_codes


@cache
def _registry() -> Mapping[tuple[str, str], Operator]:
    found: dict[tuple[str, str], tuple[Operator, str]] = {}
    prefix = f"{tilewright.ops.__name__}."
    for name in sorted(info.name for info in walk_packages(tilewright.ops.__path__, prefix)):
        module, file = import_module(name), name.removeprefix(prefix).replace(".", "/")
        for operator in getattr(module, "OPERATORS", ()):
            key = operator.domain, operator.name
            if key in found:
                raise PlatformError(
                    f"operator '{operator.name}' is declared twice",
                    why=f"in ops/{found[key][1]}.py and in ops/{file}.py",
                    fix="remove one of them",
                )
            found[key] = operator, file
    return {key: with_bfloat16(with_codes(operator)) for key, (operator, _) in found.items()}


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
