"""Matrix products of two operands in any order of axes: batches, and the strides of rows, columns and depth.

Leading axes over which the right-hand side is one matrix are rows, where they lie one behind the other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import Literal

from tilewright.numerics import times
from tilewright.platform import Call, Constant, Operands
from tilewright.platforms.generic.kernels.nest import operand_names, strides_of


@dataclass(frozen=True)
class Batch:
    """One leading axis: how often, and how far apart its matrices lie, in elements."""

    count: int
    a: int
    b: int
    y: int


@dataclass(frozen=True)
class TwoOperands:
    """`rows` x `depth` times `depth` x `columns` for every batch; strides in elements."""

    batches: tuple[Batch, ...]
    rows: int
    depth: int
    columns: int
    a_row: int
    a_step: int
    b_step: int
    b_column: int
    y_row: int
    y_column: int

    @property
    def matrices(self) -> int:
        """How many products are computed."""
        return prod(batch.count for batch in self.batches)

    @property
    def loops(self) -> tuple[str, ...]:
        """The heads of the loops over batches in C, with their indentation."""
        heads = (f"for (int b{i} = 0; b{i} < {batch.count}; b{i}++) {{" for i, batch in enumerate(self.batches))
        return tuple("    " * (depth + 1) + head for depth, head in enumerate(heads))

    @property
    def ends(self) -> tuple[str, ...]:
        """The ends of these loops."""
        return tuple("    " * (depth + 1) + "}" for depth in reversed(range(len(self.batches))))

    @property
    def indent(self) -> str:
        """What stands before the statement inside of these loops."""
        return "    " * (len(self.batches) + 1)

    def place(self, name: Literal["a", "b", "y"]) -> str:
        """C expression of the first element of a matrix inside of these loops."""
        steps = ((f"b{i}", vars(batch)[name]) for i, batch in enumerate(self.batches))
        return " + ".join([name, *(times(loop, step) for loop, step in steps if step)])


def two_operands(operands: Operands) -> TwoOperands:
    """The product of a MatMul as its operands lie in memory."""
    call = operands.call
    known = strides_of(operands)
    shapes = [call.shape(0), call.shape(1), call.outputs[0].shape]
    named = zip((*operand_names(call)[:2], "y"), shapes, strict=True)
    a, b, y = (known.get(name, row_major(shape)) for name, shape in named)
    depth = shapes[0][-1]
    b_step, b_column = (b[-2], b[-1]) if len(b) > 1 else (b[-1], 0)
    a_row, a_step = (a[-2], a[-1]) if len(a) > 1 else (0, a[-1])
    own = (len(a) > 1) + (len(b) > 1)
    lead = shapes[2][: len(y) - own]
    parts = [_of_batch(strides[:-2], shape[:-2], len(lead)) for strides, shape in ((a, shapes[0]), (b, shapes[1]))]
    batches = [Batch(*part) for part in zip(lead, *parts, y[: len(lead)], strict=True) if part[0] > 1]
    operation = TwoOperands(
        batches=tuple(_joined(batches)),
        rows=shapes[0][-2] if len(a) > 1 else 1,
        depth=depth,
        columns=shapes[1][-1] if len(b) > 1 else 1,
        a_row=a_row,
        a_step=a_step,
        b_step=b_step,
        b_column=b_column,
        y_row=y[len(lead)] if len(a) > 1 else 0,
        y_column=y[-1] if len(b) > 1 else 0,
    )
    return _batches_as_rows(operation)


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Element strides of a dense tensor."""
    strides, step = list[int](), 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


def operand_constants(call: Call) -> tuple[Constant, ...]:
    """Operands that are constant, as they are."""
    names = operand_names(call)
    return tuple(
        Constant(names[index], call.tensor(index).dtype, call.constants[index].reshape(-1))
        for index in (0, 1)
        if index in call.constants
    )


def _of_batch(strides: tuple[int, ...], shape: tuple[int, ...], rank: int) -> list[int]:
    """Strides of all leading axes of the result, 0 where the operand is one for all."""
    own = [0 if size == 1 else stride for stride, size in zip(strides, shape, strict=True)]
    return [0] * (rank - len(own)) + own


def _joined(batches: list[Batch]) -> list[Batch]:
    """Neighbouring axes whose matrices lie at one distance from each other are one axis."""
    joined: list[Batch] = []
    for inner in batches:
        outer = joined[-1] if joined else None
        steps = (inner.a * inner.count, inner.b * inner.count, inner.y * inner.count)
        if outer is not None and (outer.a, outer.b, outer.y) == steps:
            joined[-1] = replace(inner, count=outer.count * inner.count)
        else:
            joined.append(inner)
    return joined


def _batches_as_rows(operation: TwoOperands) -> TwoOperands:
    """The innermost batches as rows, where one right-hand side serves all of them."""
    while operation.batches:
        *outer, last = operation.batches
        a_row, y_row = (last.a, last.y) if operation.rows == 1 else (operation.a_row, operation.y_row)
        if last.b or (operation.rows > 1 and (last.a, last.y) != (operation.rows * a_row, operation.rows * y_row)):
            break
        rows = operation.rows * last.count
        operation = replace(operation, batches=tuple(outer), rows=rows, a_row=a_row, y_row=y_row)
    return operation
