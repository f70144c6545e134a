"""Views of constants, BitCast and the mask of a Dropout: the same bytes in memory of their own."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.operators import all_operators
from tilewright.platform import Call, Constant, KernelMethods, Operands
from tilewright.platforms.generic.kernels.elements import constants_by_name, empty, recoded, unread
from tilewright.platforms.generic.kernels.nest import operand_names
from tilewright.platforms.generic.platform import PLATFORM

VIEWS = tuple(o.name for o in all_operators() if o.kind.value == "view" and not o.domain and o.name != "Transpose")


@dataclass(frozen=True)
class CopyContext:
    """Bytes to copy, the source's name, elements of a mask that is all ones, and operands that are not read."""

    size_bytes: int
    source: str
    mask: int
    unread: tuple[str, ...]


@PLATFORM.kernel(*VIEWS, "BitCast", types="*... -> *, *?", template="copy.c.mako", preference=-25)
class CopyBytes(KernelMethods):
    """One copy of all bytes, where a view cannot share them."""

    def accepts(self, call: Call) -> str | None:
        """Operand and result lie in memory bit for bit the same."""
        if call.node.op != "BitCast" and call.tensor(0).dtype is not call.outputs[0].dtype:
            return "operand and result differ in type"
        return empty(call) or recoded(call, 0)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """The operand where it is constant."""
        return constants_by_name(operands, 0)

    def context(self, operands: Operands) -> CopyContext:
        """The bytes."""
        call = operands.call
        mask = call.outputs[1].elements if len(call.outputs) > 1 else 0
        return CopyContext(call.outputs[0].size_bytes, operand_names(call)[0], mask, unread(call, 0))
