"""Where an element of a tensor lies in memory, when it exists, and how C reads and writes it there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from tilewright.numerics import constant_address, constant_type, initialiser
from tilewright.ops.index.affine import Affine
from tilewright.ops.index.loop_nest import ConstantTable
from tilewright.ops.index.nest import Access, Nest
from tilewright.ops.index.table import Table
from tilewright.platform import Array, DType

Strides = Mapping[str, tuple[int, ...]]
Subscript = Affine | Table
Placing = Callable[[Access, Callable[[Subscript], str]], str | None]
"""The address of an access in the buffer of a tile, given what prints one subscript; None for that in the tensor."""


@dataclass(frozen=True)
class Address:
    """A linear element address: coefficient per loop, constant, and table look-ups as (table name, loop, stride)."""

    terms: tuple[tuple[str, int], ...]
    const: int
    looked_up: tuple[str, ...]

    def text(self) -> str:
        """C expression."""
        return sum_text([*map(_term, self.terms), *self.looked_up], self.const)


def _term(term: tuple[str, int]) -> str:
    name, coefficient = term
    return name if coefficient == 1 else f"{name} * {coefficient}"


def sum_text(terms: Sequence[str], const: int, *, always: bool = False) -> str:
    """The sum of terms and a number, which is left out where it is 0 unless it is wanted `always`."""
    text = " + ".join(terms)
    if not terms:
        return str(const)
    if not (const or always):
        return text
    return f"{text} - {-const}" if const < 0 else f"{text} + {const}"


def minus_text(text: str, number: int) -> str:
    """A term less a number, such as a zero point."""
    return f"{text} + {-number}" if number < 0 else f"{text} - {number}"


def element(dtype: DType, name: str, address: str) -> str:
    """The value of an element; four-bit ones lie two to a byte, low nibble first."""
    if dtype.bits != 4:
        return f"{name}[{address}]"
    nibble = f"({name}[({address}) / 2] >> (({address}) % 2 * 4) & 15)"
    return f"(int8_t)(({nibble} ^ 8) - 8)" if dtype is DType.I4 else f"(uint8_t){nibble}"


def store_nibble(name: str, address: str, value: str) -> list[str]:
    """Statements that write a four-bit element and leave its neighbour as it is."""
    here = f"{name}[({address}) / 2]"
    return [
        f"const int nibble = (int)({value}) & 15, place = ({address}) % 2 * 4;",
        f"{here} = (uint8_t)(({here} & (240 >> place)) | (nibble << place));",
    ]


class Addresses:
    """The addresses and guards of one nest's accesses; `tables` gathers the constant arrays that they read."""

    def __init__(self, nest: Nest, strides: Strides, index: int, placing: Placing | None) -> None:
        self.nest, self.known, self.index, self.placing = nest, strides, index, placing
        self.tables: dict[str, ConstantTable] = {}
        self.looked_up: dict[tuple[int, ...], str] = {}

    def strides(self, access: Access) -> tuple[int, ...]:
        """Element strides per axis: those of the tensor's layout, row-major where none is known."""
        tensor = access.tensor
        if tensor.name in self.known and len(self.known[tensor.name]) == len(tensor.shape):
            return self.known[tensor.name]
        strides, step = list[int](), 1
        for size in reversed(tensor.shape):
            strides.insert(0, step)
            step *= size
        return tuple(strides)

    def address(self, access: Access) -> Address:
        """Where the element of an access lies."""
        placed = self.placing(access, self.subscript) if self.placing is not None else None
        if placed is not None:
            return Address((), 0, (placed,))
        terms: dict[str, int] = {}
        const, looked = 0, list[str]()
        moving = self.nest.space.moving
        for sub, stride in zip(access.subscripts, self.strides(access), strict=True):
            affine = sub.offset if isinstance(sub, Table) else sub
            if isinstance(sub, Table):
                looked.append(f"{self._table(sub)} * {stride}" if stride != 1 else self._table(sub))
            elif sub.div != 1:
                looked.append(f"({self.subscript(sub)}) * {stride}" if stride != 1 else f"({self.subscript(sub)})")
                continue
            for name, coeff in affine.terms:
                if name in moving:
                    terms[name] = terms.get(name, 0) + coeff * stride
            const += affine.const * stride
        return Address(tuple((n, c) for n, c in terms.items() if c), const, tuple(looked))

    def _table(self, table: Table) -> str:
        """The look-up of a table of places."""
        values = tuple(map(int, table.values))
        name = self.looked_up.setdefault(values, f"table{self.index}_{table.loop}_{len(self.tables)}")
        self.tables[name] = ConstantTable(name, "int", len(values), ", ".join(map(str, values)))
        return f"{name}[{table.loop if table.loop in self.nest.space.moving else 0}]"

    def subscript(self, sub: Subscript) -> str:
        """The place along one axis."""
        if isinstance(sub, Table):
            offset = "" if not sub.offset.terms and not sub.offset.const else f" + {self.subscript(sub.offset)}"
            return self._table(sub) + offset
        terms = [_term(term) for term in sub.terms if term[0] in self.nest.space.moving]
        if sub.div == 1:
            return sum_text(terms, sub.const)
        low = sub.hull(self.nest.space.whole())[0]
        lift = -low if low < 0 else 0  # C divides towards zero, so keep the dividend positive
        text = f"({sum_text(terms, sub.const + lift * sub.div, always=True)}) / {sub.div}"
        return f"{text} - {lift}" if lift else text

    def guards(self, access: Access, inside: bool = False) -> list[str]:
        """The conditions under which a point exists; `inside` those under which it lies in the tensor itself."""
        guards: list[str] = []
        whole = self.nest.space.whole()
        margin = access.margin if access.margin and not inside else ((0, 0),) * len(access.subscripts)
        for sub, size, (before, after) in zip(access.subscripts, access.tensor.shape, margin, strict=True):
            low, high = sub.hull(whole)
            text = self.subscript(sub)
            if low < -before:
                guards.append(f"{text} >= {-before}")
            if high > size + after:
                guards.append(f"{text} < {size + after}")
        return list(dict.fromkeys(guards))

    def constant(self, access: Access) -> str:
        """The array of values that the operator itself brings."""
        tensor = access.tensor
        values: Array = np.array(tensor.values, tensor.dtype.numpy)
        name = f"{tensor.name}_{self.index}"
        text = initialiser(tensor.dtype, values)
        self.tables[name] = ConstantTable(name, constant_type(tensor.dtype), len(tensor.values), text)
        address = constant_address(tensor.dtype, name)
        return name if address == name else f"({address})"
