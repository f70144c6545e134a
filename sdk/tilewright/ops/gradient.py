"""How the gradient of a loss passes an operator backwards: the fact `gradient` of an `Operator`, a rule beside it.

A rule writes ordinary nodes. It is asked for one operand at a time; nodes that two operands need are made once, since
equal nodes of equal operands are one. Operators without a rule whose results are elements of their operands, moved,
have their gradient by their index maps (`tilewright.gradient.moved`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from tilewright.model import Array, Attribute, Node, Shape, Tensor


class Used(Protocol):
    """What a rule knows of a use of an operator: a `Call`, which stands above this file."""

    @property
    def node(self) -> Node:
        """The node."""

    @property
    def inputs(self) -> tuple[Tensor | None, ...]:
        """The operands, None for one that is omitted."""

    @property
    def outputs(self) -> tuple[Tensor, ...]:
        """The results."""

    def tensor(self, index: int) -> Tensor:
        """An operand, which must be there."""

    def shape(self, index: int = 0) -> Shape:
        """Its shape."""


C = TypeVar("C", bound=Used)


class Writer(Protocol):
    """The network that rules write into."""

    def node(self, op: str, inputs: Sequence[str], attributes: Mapping[str, Attribute]) -> str:
        """The name of the first result of a node of the standard."""

    def constant(self, value: Array) -> str:
        """The name of a constant of this value."""

    def tensor(self, name: str) -> Tensor:
        """Type and shape of a tensor."""

    def further_result(self, node: str, index: int) -> str:
        """The name of a result of a forward node that it may have omitted so far."""


@dataclass(frozen=True)
class AdjointOf(Generic[C]):
    """One call seen backwards: `dy` is the gradient of its first result, of that result's type and shape."""

    call: C
    dy: str
    writer: Writer

    # ------------------------------------------------------------------------------------------- what is there
    def x(self, index: int = 0) -> str:
        """The name of an operand, which must be there."""
        return self.call.tensor(index).name

    def shape(self, index: int = 0) -> Shape:
        """The shape of an operand."""
        return self.call.shape(index)

    @property
    def y(self) -> str:
        """The name of the first result."""
        return self.call.outputs[0].name

    def shape_of(self, name: str) -> Shape:
        """The shape of any tensor."""
        return self.writer.tensor(name).shape

    def second_result(self) -> str:
        """The second result of the forward node, asked for where it was omitted."""
        return self.writer.further_result(self.call.node.name, 1)

    # ------------------------------------------------------------------------------------------- what is written
    def op(self, op: str, *inputs: str, **attributes: Attribute) -> str:
        """The result of a node."""
        return self.writer.node(op, inputs, attributes)

    def number(self, value: npt.ArrayLike) -> str:
        """A constant of the operator's element type."""
        return self.writer.constant(np.asarray(value, self.call.outputs[0].dtype.numpy))

    def integers(self, values: npt.ArrayLike) -> str:
        """A constant of int64, e.g. a shape or axes."""
        return self.writer.constant(np.asarray(values, np.int64))

    def add(self, a: str, b: str) -> str:
        """`a + b`."""
        return self.op("Add", a, b)

    def sub(self, a: str, b: str) -> str:
        """`a - b`."""
        return self.op("Sub", a, b)

    def mul(self, a: str, b: str) -> str:
        """`a * b`."""
        return self.op("Mul", a, b)

    def div(self, a: str, b: str) -> str:
        """`a / b`."""
        return self.op("Div", a, b)

    def where(self, condition: str, name: str) -> str:
        """The tensor where the condition holds, else zero."""
        return self.op("Where", condition, name, self.number(0))

    def reshape(self, name: str, shape: Sequence[int]) -> str:
        """The tensor with another shape; itself where it has that one."""
        if self.shape_of(name) == tuple(shape):
            return name
        return self.op("Reshape", name, self.integers(list(shape)))

    def transpose(self, name: str, permutation: Sequence[int]) -> str:
        """The tensor with its axes in another order; a Reshape where those that are longer than 1 keep theirs."""
        shape = self.shape_of(name)
        moving = [axis for axis in permutation if shape[axis] != 1]
        if moving == sorted(moving):
            return self.reshape(name, [shape[axis] for axis in permutation])
        return self.op("Transpose", name, perm=tuple(permutation))

    def sum(self, name: str, axes: Sequence[int], *, keeps: bool = True) -> str:
        """The sum over axes; the tensor itself over none."""
        return self.op("ReduceSum", name, self.integers(list(axes)), keepdims=int(keeps)) if axes else name

    def mean(self, name: str, axes: Sequence[int]) -> str:
        """The mean over axes, which stay as axes of one element."""
        return self.op("ReduceMean", name, self.integers(list(axes)), keepdims=1) if axes else name

    def expand(self, name: str, shape: Sequence[int]) -> str:
        """The tensor broadcast to a shape; itself where it has that one."""
        if self.shape_of(name) == tuple(shape):
            return name
        return self.op("Expand", name, self.integers(list(shape)))

    def unbroadcast(self, name: str, shape: Sequence[int]) -> str:
        """The adjoint of broadcasting a tensor of `shape`: the sum over the axes along which it was repeated."""
        whole = self.shape_of(name)
        lead = len(whole) - len(shape)
        axes = [x for x, size in enumerate(whole) if size != 1 and (x < lead or shape[x - lead] == 1)]
        return self.reshape(self.sum(name, axes), shape)


def by_slope(slope: Callable[[AdjointOf[C]], str]) -> Callable[[AdjointOf[C], int], str]:
    """The rule of a function of one number: the gradient times the slope."""
    return lambda a, index: a.mul(a.dy, slope(a))


def no_slope(a: AdjointOf[C], index: int) -> str:
    """The rule of steps and of indices: nothing flows back."""
    return ""
