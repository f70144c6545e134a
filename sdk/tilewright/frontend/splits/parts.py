"""What a rule writes with: the standard nodes that take the place of one node of another domain."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from tilewright.errors import UnsupportedNode
from tilewright.frontend.opset import Surroundings, invalid
from tilewright.frontend.raw import RawAttribute, RawNode, Value
from tilewright.model import Array, DType, Shape, Tensor

NEWEST = 1000
"""The version of a node that has its newest form."""


class Parts:
    """One node that is split: what is known of it, and the nodes made so far, in order."""

    def __init__(self, node: RawNode, around: Surroundings) -> None:
        self.node = node
        self.made: list[RawNode] = []
        self._around = around

    # ------------------------------------------------------------------------------------------- what is there
    def input(self, index: int) -> str:
        """The name of an operand, "" where it is omitted."""
        return self.node.inputs[index] if index < len(self.node.inputs) else ""

    def tensor(self, index: int) -> Tensor:
        """The type of an operand; ModelError where it is omitted."""
        return self._around.tensor(self.node, index)

    def shape(self, index: int) -> Shape:
        """The shape of an operand, which must be there."""
        return self.tensor(index).shape

    def value(self, index: int) -> Array | None:
        """The value of an operand; None where it is omitted or computed at run time."""
        return self._around.constants.get(self.input(index))

    def known(self, index: int, what: str) -> Array:
        """The value of an operand; UnsupportedNode where it is computed at run time."""
        self.tensor(index)
        if (value := self.value(index)) is not None:
            return value
        why = f"{what} '{self.input(index)}' is computed at run time"
        raise self.unsupported(why, "give it as an initialiser, or freeze it with --freeze")

    def output(self, index: int) -> str:
        """The name of a result, "" where nobody asks for it."""
        return self.node.outputs[index] if index < len(self.node.outputs) else ""

    def number(self, name: str, default: float | None = None) -> float:
        """An attribute that is a number; ModelError where it is none."""
        value = self.node.attributes.get(name, default)
        if value is None:
            raise self.invalid(f"attribute '{name}' is missing")
        if isinstance(value, int | float):
            return value
        raise self.invalid(f"attribute '{name}' must be a number")

    def whole(self, name: str, default: int | None = None) -> int:
        """An attribute that is an integer."""
        value = self.number(name, default)
        if isinstance(value, int):
            return value
        raise self.invalid(f"attribute '{name}' must be an integer")

    def text(self, name: str, default: str = "") -> str:
        """An attribute that is text."""
        return str(self.node.attributes.get(name, default))

    def numbers(self, name: str, default: Sequence[float] = ()) -> tuple[float, ...]:
        """An attribute that is a list of numbers."""
        values = self.node.attributes.get(name, tuple(default))
        if isinstance(values, tuple) and all(isinstance(each, int | float) for each in values):
            return cast("tuple[float, ...]", values)
        raise self.invalid(f"attribute '{name}' must be a list of numbers")

    def stored(self, name: str) -> npt.ArrayLike | None:
        """An attribute that is a number or a tensor, None where it is missing."""
        value = self.node.attributes.get(name)
        if isinstance(value, Value):
            return value.array
        return value if isinstance(value, int | float) else None

    def attributes(self, *names: str) -> dict[str, Any]:
        """Those attributes of the node that have these names."""
        return {name: value for name, value in self.node.attributes.items() if name in names}

    # ------------------------------------------------------------------------------------------- what is made
    def fresh(self, what: str) -> str:
        """A tensor name that nothing has yet."""
        return self._around.fresh(f"{self.node.label}/{what}")

    def op(self, op: str, *inputs: str, into: str = "", domain: str = "", **attributes: RawAttribute) -> str:
        """A node with one result, called `into` where it is given; gives the result's name."""
        result = into or self.fresh(op.lower())
        self._node(op, inputs, (result,), domain, attributes)
        return result

    def ops(
        self, op: str, inputs: Sequence[str], results: Sequence[str], *, domain: str = "", **attributes: RawAttribute
    ) -> None:
        """A node with these results."""
        self._node(op, inputs, results, domain, attributes)

    def _node(
        self,
        op: str,
        inputs: Sequence[str],
        results: Sequence[str],
        domain: str,
        attributes: Mapping[str, RawAttribute],
    ) -> None:
        read = list(inputs)
        while read and not read[-1]:
            read.pop()
        name = f"{self.node.label}/{op.lower()}" if self.made else self.node.label
        self.made.append(RawNode(name, op, tuple(read), tuple(results), attributes, domain))

    def several(self, op: str, inputs: Sequence[str], count: int, **attributes: RawAttribute) -> tuple[str, ...]:
        """The names of `count` results of one node."""
        results = tuple(self.fresh(op.lower()) for _ in range(count))
        self._node(op, inputs, results, "", attributes)
        return results

    def constant(self, value: npt.ArrayLike, dtype: DType = DType.I64) -> str:
        """The name of a constant."""
        name = self.fresh("constant")
        stored = Value(dtype, np.asarray(value).astype(dtype.numpy))
        self.made.append(RawNode("", "Constant", (), (name,), {"value": stored}))
        return name

    def like(self, index: int, value: npt.ArrayLike) -> str:
        """The name of a constant of the type of an operand."""
        return self.constant(value, self.tensor(index).dtype)

    def reshape(self, name: str, sizes: Sequence[int], into: str = "") -> str:
        """The tensor with another shape."""
        return self.op("Reshape", name, self.constant(sizes), into=into)

    def slice(self, name: str, axis: int, first: int, end: int) -> str:
        """Elements from `first` to before `end` of an axis."""
        return self.op("Slice", name, *(self.constant([each]) for each in (first, end, axis)))

    # ------------------------------------------------------------------------------------------- what is wrong
    def invalid(self, why: str) -> Exception:
        """The error for a node whose operands or attributes contradict its documentation."""
        return invalid(self.node, why)

    def unsupported(self, why: str, fix: str) -> UnsupportedNode:
        """The error for a node that is valid but has no standard nodes here."""
        return UnsupportedNode(self.node.where(), why=why, fix=fix, node=self.node.label)

    def unused(self, *indices: int) -> None:
        """UnsupportedNode where one of these results is asked for."""
        for index in indices:
            if self.output(index):
                why = f"its output {index} ('{self.output(index)}') is not computed"
                raise self.unsupported(why, "remove this output from the model; training alone reads it")


Rule = Callable[[Parts], None]
"""Writes the parts; the last results carry the names of the node's outputs."""
