"""Arm's loads and stores of many registers of the floating-point unit, which pypcode does not lift as they are.

Lists of 20 to 31 single registers end the process inside of its library, lists of 32 do nothing there, and `vpush`
stores its registers the wrong way round.
"""

from __future__ import annotations

from dataclasses import dataclass

LIFTED = 16
"""Registers of a list that pypcode lifts without fault."""


@dataclass(frozen=True)
class RegisterList:
    """`vldm`, `vstm`, `vpush` or `vpop` of `count` registers of so many bytes each from number `first` on.

    Addresses rise from what register `base` holds, or end there where the list lies `below`; `writes_back` leaves in
    it the other end.
    """

    loads: bool
    base: int
    first: int
    count: int
    register_bytes: int
    below: bool
    writes_back: bool

    @property
    def mnemonic(self) -> str:
        """How an assembler writes it, without the registers."""
        if self.base == 13 and self.writes_back and self.loads != self.below:
            return "vpop" if self.loads else "vpush"
        return ("vldm" if self.loads else "vstm") + ("db" if self.below else "ia")


def register_list(code: bytes) -> RegisterList | None:
    """The list that the Thumb instruction at the beginning of `code` moves, None for all others.

    Source: Armv7-M Architecture Reference Manual, A7.7.230 (VLDM) and A7.7.258 (VSTM), encodings T1 and T2.
    """
    if len(code) < 4:
        return None
    high, low = int.from_bytes(code[:2], "little"), int.from_bytes(code[2:4], "little")
    below, up, writes_back = bool(high & 0x100), bool(high & 0x80), bool(high & 0x20)
    if high & 0xFE00 != 0xEC00 or low & 0x0E00 != 0x0A00 or below == up or (below and not writes_back):
        return None
    double, words, number, bit = bool(low & 0x100), low & 0xFF, low >> 12, high >> 6 & 1
    first, count = (bit << 4 | number, words // 2) if double else (number << 1 | bit, words)
    if not 0 < count <= 32 - first or (double and words & 1):
        return None
    return RegisterList(bool(high & 0x10), high & 15, first, count, 8 if double else 4, below, writes_back)


def refused_list(code: bytes, count: int) -> RegisterList | None:
    """The first list among so many Thumb instructions that pypcode must not be given: long, or stored below."""
    at = 0
    for _ in range(count):
        listed = register_list(code[at:])
        if listed is not None and (listed.count > LIFTED or (listed.below and not listed.loads)):
            return listed
        at += 4 if int.from_bytes(code[at : at + 2], "little") >> 11 in (0b11101, 0b11110, 0b11111) else 2
    return None
