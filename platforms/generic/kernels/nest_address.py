"""Where an element of a tensor lies in memory, and how C reads and writes it there."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.platform import DType


@dataclass(frozen=True)
class Address:
    """A linear element address: coefficient per loop, constant, and table look-ups as (table name, loop, stride)."""

    terms: tuple[tuple[str, int], ...]
    const: int
    looked_up: tuple[str, ...]

    def text(self) -> str:
        """C expression."""
        parts = [name if c == 1 else f"{name} * {c}" for name, c in self.terms]
        parts += list(self.looked_up)
        if self.const or not parts:
            parts.append(str(self.const))
        return " + ".join(parts).replace("+ -", "- ")


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
