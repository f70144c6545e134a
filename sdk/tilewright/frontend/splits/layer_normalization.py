"""Layer normalisations: those of the standard by other names, and those behind a sum."""

from __future__ import annotations

from tilewright.frontend.splits.parts import Parts
from tilewright.frontend.splits.spelling import MICROSOFT


def _plain(parts: Parts) -> None:
    known = parts.attributes("axis", "epsilon", "stash_type")
    parts.ops("LayerNormalization", parts.node.inputs, parts.node.outputs, **known)


def _simplified(parts: Parts) -> None:
    parts.unused(1)
    known = parts.attributes("axis", "epsilon", "stash_type")
    parts.op("RMSNormalization", *parts.node.inputs[:2], into=parts.output(0), **known)


def _sum(parts: Parts, bias: int) -> str:
    """Input, skip and bias added up; the fourth result is this sum."""
    if not parts.input(bias):
        return parts.op("Add", parts.input(0), parts.input(1), into=parts.output(3))
    return parts.op("Add", parts.op("Add", parts.input(0), parts.input(1)), parts.input(bias), into=parts.output(3))


def _skip(parts: Parts) -> None:
    results = [parts.output(index) for index in range(3)]
    while not results[-1]:
        results.pop()
    operands = (_sum(parts, 4), parts.input(2), parts.input(3))
    parts.ops("LayerNormalization", operands, results, axis=-1, epsilon=parts.number("epsilon", 1e-12))


def _skip_simplified(parts: Parts) -> None:
    parts.unused(1, 2)
    total, epsilon = _sum(parts, 3), parts.number("epsilon", 1e-12)
    parts.op("RMSNormalization", total, parts.input(2), into=parts.output(0), axis=-1, epsilon=epsilon)


SPLITS = {
    (MICROSOFT, "LayerNormalization"): _plain,
    (MICROSOFT, "SimplifiedLayerNormalization"): _simplified,
    (MICROSOFT, "SkipLayerNormalization"): _skip,
    (MICROSOFT, "SkipSimplifiedLayerNormalization"): _skip_simplified,
}
