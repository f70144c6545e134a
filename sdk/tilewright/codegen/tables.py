"""Constant tables in C as values: rows of typed members that print themselves and know their bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

SIZES_BYTES = {"int": 4, "unsigned": 4, "uint32_t": 4, "uint16_t": 2, "uint8_t": 1}
"""Bytes of the types that members may have, on cores with an `int` of 32 bits; each is aligned to its size."""

Cell = int | tuple[int, ...]
"""A member's value: of a struct, the values of its members."""


@dataclass(frozen=True)
class Members:
    """Members of one type, declared in one line."""

    c_type: str | Struct
    names: tuple[str, ...]

    @property
    def declaration(self) -> str:
        """The line in the struct."""
        c_type = self.c_type.name if isinstance(self.c_type, Struct) else self.c_type
        return f"{c_type} {', '.join(self.names)};"


@dataclass(frozen=True)
class Struct:
    """A struct of C. `name` is empty where the table declares it in place; `designated` names members in its values."""

    name: str
    members: tuple[Members, ...]
    designated: bool = False

    @property
    def types(self) -> tuple[str | Struct, ...]:
        """The type of every member, in order."""
        return tuple(one.c_type for one in self.members for _ in one.names)

    @property
    def names(self) -> tuple[str, ...]:
        """The name of every member, in order."""
        return tuple(name for one in self.members for name in one.names)

    @property
    def align_bytes(self) -> int:
        """What the address of a value is a multiple of."""
        return max((_align_bytes(c_type) for c_type in self.types), default=1)

    @property
    def size_bytes(self) -> int:
        """What `sizeof` gives: members in order, each at a multiple of its alignment."""
        end = 0
        for c_type in self.types:
            end = _up(end, _align_bytes(c_type)) + _size_bytes(c_type)
        return _up(end, self.align_bytes)

    def initialiser(self, row: Sequence[Cell]) -> str:
        """The value of one row."""
        assert len(row) == len(self.types), f"{len(row)} values of {len(self.types)} members"
        values = [_value(c_type, cell) for c_type, cell in zip(self.types, row, strict=True)]
        if self.designated:
            values = [f".{name} = {value}" for name, value in zip(self.names, values, strict=True)]
        return "{" + ", ".join(values) + "}"


@dataclass(frozen=True)
class Table:
    """A constant array of structs; `comments` stand behind the rows where there are any."""

    struct: Struct
    rows: tuple[tuple[Cell, ...], ...]
    comments: tuple[str, ...] = ()

    @property
    def size_bytes(self) -> int:
        """Bytes of the array."""
        return len(self.rows) * self.struct.size_bytes

    @property
    def lines(self) -> tuple[str, ...]:
        """The elements, one a line."""
        values = [f"{self.struct.initialiser(row)}," for row in self.rows]
        if not self.comments:
            return tuple(values)
        return tuple(f"{value} /* {comment} */" for value, comment in zip(values, self.comments, strict=True))


COPY = Struct(
    "tilewright_copy",
    (
        Members("uint32_t", ("near", "far", "bytes", "stride")), Members("uint16_t", ("runs",)),
        Members("uint8_t", ("operand", "store")),
    ),
)  # fmt: skip
"""`runs` runs of `bytes` bytes, `stride` bytes apart at home and dense in the compute level: see its header."""


def _size_bytes(c_type: str | Struct) -> int:
    return c_type.size_bytes if isinstance(c_type, Struct) else SIZES_BYTES[c_type]


def _align_bytes(c_type: str | Struct) -> int:
    return c_type.align_bytes if isinstance(c_type, Struct) else SIZES_BYTES[c_type]


def _up(size_bytes: int, align_bytes: int) -> int:
    return -(-size_bytes // align_bytes) * align_bytes


def _value(c_type: str | Struct, cell: Cell) -> str:
    if isinstance(c_type, Struct):
        assert isinstance(cell, tuple)
        return c_type.initialiser(cell)
    return f"{cell}u" if c_type == "unsigned" else str(cell)
