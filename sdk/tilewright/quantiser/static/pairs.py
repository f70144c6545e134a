"""Scales with which sums and products of two tensors have an integer form.

Add, Sub and Mul follow float32 arithmetic bit for bit. For a few scales no integers do, and a kernel has to compute in
floats. A result's range that is wider by some thousandths is such a scale no longer.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tilewright.model import Clamp, Model, Node, Tensor
from tilewright.ops.codes import Pairwise
from tilewright.ops.quantised.add import pair_form
from tilewright.ops.quantised.near import near_form
from tilewright.ops.registry import call_of, codes_of, find
from tilewright.quantiser.static.codes import Coding
from tilewright.quantiser.static.points import Points
from tilewright.quantiser.static.write import Choice

WIDENED = tuple(1 + step / 500 for step in range(1, 13))


def with_forms(model: Model, points: Points, choice: Choice) -> tuple[Choice, tuple[str, ...]]:
    """The choice with results of pairs widened where that gives an integer form; nodes for which nothing did."""
    group_of, readers = points.group_of, model.consumers()
    without = list[str]()
    for node in model.nodes:
        if codes_of(node) != Pairwise(factored=True) or not all(name in group_of for name in node.inputs):
            continue
        result, clamp = node.outputs[0], None
        if result not in group_of and len(readers[result]) == 1 and readers[result][0].op == "Relu":
            result, clamp = readers[result][0].outputs[0], Clamp(0.0, float("inf"))
        if result not in group_of:
            continue
        group = group_of[result].name
        first, second = (choice.codings[group_of[name].name] for name in node.inputs)
        own = group in {group_of[name].name for name in node.inputs}
        for factor in (1.0, *(() if own else WIDENED)):
            coding = choice.codings[group]
            wider = replace(coding, scale=float(np.float32(coding.scale * factor)))
            if _has_form(node, clamp, first, second, wider):
                choice = choice.coded(group, wider)
                break
        else:
            without.append(node.name)
    return choice, tuple(without)


def _has_form(node: Node, clamp: Clamp | None, first: Coding, second: Coding, result: Coding) -> bool:
    if max(first.dtype.bits, second.dtype.bits) > 8:
        return True
    operands = [
        Tensor(name, one.dtype, (1,), one.quantisation) for name, one in zip("ab", (first, second), strict=True)
    ]
    output = Tensor("y", result.dtype, (1,), result.quantisation)
    call = call_of(replace(node, clamp=clamp), operands, (output,))
    operator = find(node.op)
    assert operator is not None
    return pair_form(operator, call) is not None or near_form(operator, call) is not None
