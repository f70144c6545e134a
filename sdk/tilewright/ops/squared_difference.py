"""SquaredDifference: (a - b)^2 of codes, which TensorFlow Lite computes in one operator; the lowering makes it."""

from __future__ import annotations

from dataclasses import replace

from tilewright.ops.codes import Pairwise
from tilewright.ops.elementwise import elementwise
from tilewright.ops.relayout import DOMAIN

OPERATORS = (
    replace(elementwise("SquaredDifference", "sq_diff", operands=("a", "b"), codes=Pairwise()), domain=DOMAIN),
)
