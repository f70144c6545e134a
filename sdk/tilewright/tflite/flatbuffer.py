"""Reads FlatBuffers without trusting them: every offset and length is held against the file before it is followed.

https://flatbuffers.dev/internals: a table begins with the distance to its vtable, whose 16-bit entries say where each
field lies; strings, vectors and tables are reached by offsets. Reading never follows a chain, so that it always ends.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tilewright.errors import ModelError
from tilewright.model import Array

_OFFSET_BYTES = 4


@dataclass(frozen=True)
class Integer:
    """A field of whole numbers: its slot in the vtable, its type as `struct` spells it, what a file may leave out."""

    slot: int
    kind: str = "i"
    default: int = 0


@dataclass(frozen=True)
class Real:
    """A field that is one float32."""

    slot: int
    default: float = 0.0


@dataclass(frozen=True)
class Table:
    """A table of the file that begins at byte `at`."""

    content: bytes
    at: int

    @staticmethod
    def root(content: bytes) -> Table:
        """The table that the file is."""
        return Table(content, _number(content, "I", 0))

    def integer(self, field: Integer) -> int:
        """The number in a field, or what stands for it where it is left out. ModelError outside of the file."""
        at = self._place(field.slot)
        return field.default if at is None else _number(self.content, field.kind, at)

    def real(self, field: Real) -> float:
        """The float32 in a field."""
        at = self._place(field.slot)
        if at is None:
            return field.default
        _within(self.content, at, 4)
        return float(struct.unpack_from("<f", self.content, at)[0])

    def table(self, slot: int) -> Table | None:
        """The table that a field leads to, None where it is left out."""
        at = self._place(slot)
        return None if at is None else Table(self.content, self._follow(at))

    def tables(self, slot: int, limit: int) -> tuple[Table, ...]:
        """The tables of a vector of tables; ModelError for more than `limit`."""
        start, count = self._vector(slot, _OFFSET_BYTES)
        if count > limit:
            raise damaged(f"a list has {count} entries, {limit} are the most")
        return tuple(Table(self.content, self._follow(start + _OFFSET_BYTES * index)) for index in range(count))

    def array(self, slot: int, dtype: npt.DTypeLike) -> Array:
        """A vector of numbers as a view of the file; empty where it is left out."""
        kind = np.dtype(dtype).newbyteorder("<")
        start, count = self._vector(slot, kind.itemsize)
        return np.frombuffer(self.content, kind, count, start) if count else np.zeros(0, kind)

    def has(self, slot: int) -> bool:
        """True where the file holds the field."""
        return self._place(slot) is not None

    def text(self, slot: int, limit: int) -> str:
        """A string, cut behind `limit` bytes; what is no UTF-8 is replaced."""
        start, count = self._vector(slot, 1)
        return self.content[start : start + min(count, limit)].decode("utf-8", "replace")

    def _place(self, slot: int) -> int | None:
        """Where a field lies, None where the vtable leaves it out."""
        vtable = self.at - _number(self.content, "i", self.at)
        size_bytes = _number(self.content, "H", vtable)
        entry = 4 + 2 * slot
        if entry + 2 > size_bytes:
            return None
        distance = _number(self.content, "H", vtable + entry)
        return self.at + distance if distance else None

    def _follow(self, at: int) -> int:
        target = at + _number(self.content, "I", at)
        _within(self.content, target, 4)
        return target

    def _vector(self, slot: int, item_bytes: int) -> tuple[int, int]:
        at = self._place(slot)
        if at is None:
            return 0, 0
        start = self._follow(at)
        count = _number(self.content, "I", start)
        _within(self.content, start + 4, count * item_bytes)
        return start + 4, count


def damaged(why: str) -> ModelError:
    """The error for a file that contradicts itself."""
    return ModelError("the TensorFlow Lite file is damaged", why=why, fix="convert or download it again")


def _within(content: bytes, at: int, size_bytes: int) -> None:
    if at < 0 or at + size_bytes > len(content):
        raise damaged(f"{size_bytes} bytes at offset {at} lie outside of its {len(content)} bytes")


def _number(content: bytes, kind: str, at: int) -> int:
    _within(content, at, struct.calcsize(f"<{kind}"))
    return int(struct.unpack_from(f"<{kind}", content, at)[0])
