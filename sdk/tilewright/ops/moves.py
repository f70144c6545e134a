"""Index maps of operators that only copy: one nest over the axes of the result."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tilewright.model import Shape
from tilewright.ops.index.affine import Affine
from tilewright.ops.index.body import FINISH_KEEP, Finish
from tilewright.ops.index.build import axes, operand
from tilewright.ops.index.nest import Nest, Space, Subscript, Tensor
from tilewright.ops.operator import Call

Subscripts = Sequence[Subscript | int]


def moved(
    call: Call, shape: Shape, subscripts: Callable[[list[Affine]], Subscripts], finish: Finish = FINISH_KEEP
) -> tuple[Nest, ...]:
    """`y[i0, i1, ...] = x[subscripts]` for operand 0; no nest where there is nothing to move."""
    source = call.tensor(0)
    if 0 in shape or 0 in source.shape:
        return ()
    space = Space.of(**axes("i", shape))
    loops = list(space)
    x, y = operand(source, "x"), Tensor("y", shape, source.dtype)
    return (Nest(space, y[*loops], (x[*subscripts(loops)],), finish=finish),)
