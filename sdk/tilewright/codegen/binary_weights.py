"""Weights as one binary file that an assembler file takes in: 100 MB of weights are 100 MB, and nothing parses numbers.

The symbols are those of the C arrays, declared by the same header. `.incbin` and the directives about symbols are GNU
as's, which clang's assembler understands too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tilewright.codegen.c_types import raw_bytes
from tilewright.codegen.constant_array import ConstantArray

LARGE_BYTES = 256 * 1024
"""Constants of so many bytes and more are taken in as a binary file where nothing else is asked for."""
LEAST_ALIGN = 4


@dataclass(frozen=True)
class Symbol:
    """A constant in the binary file: its bytes from `offset` on. One without elements has four bytes of zero."""

    array: ConstantArray
    offset: int
    size_bytes: int
    align: int

    @property
    def lines(self) -> tuple[str, ...]:
        """The constant in assembler, but for the name of the file."""
        name = self.array.name
        return (
            f"/* {self.array.comment} */",
            f"    .balign {self.align}",
            f"    .globl {name}",
            f"    .type {name}, %object",
            f"    .size {name}, {max(self.size_bytes, LEAST_ALIGN)}",
            f"{name}:",
        )


def lay_out(constants: Sequence[ConstantArray]) -> tuple[Symbol, ...]:
    """The constants one behind the other in the file, without padding; memory aligns each to its element."""
    symbols, offset = [], 0
    for constant in constants:
        size = len(raw_bytes(constant.dtype, constant.values))
        symbols.append(Symbol(constant, offset, size, max(LEAST_ALIGN, constant.dtype.numpy.itemsize)))
        offset += size
    return tuple(symbols)


def assembly(symbols: Sequence[Symbol], file: str) -> str:
    """The definitions of all constants; `file` is the binary file, found where headers are."""
    lines = []
    for symbol in symbols:
        taken = f'    .incbin "{file}", {symbol.offset}, {symbol.size_bytes}'
        lines += ["", *symbol.lines, taken if symbol.size_bytes else f"    .zero {LEAST_ALIGN}"]
    return "".join(f"{line}\n" for line in lines)


def pieces(symbols: Sequence[Symbol]) -> Iterator[bytes]:
    """The bytes of the file, a constant at a time."""
    for symbol in symbols:
        yield raw_bytes(symbol.array.dtype, symbol.array.values)
