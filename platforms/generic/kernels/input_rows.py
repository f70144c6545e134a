"""InputRows: rows of an input as the application hands them over."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.platform import Call, KernelMethods, Operands
from tilewright.platforms.generic.platform import PLATFORM


@dataclass(frozen=True)
class InputRowsContext:
    """Rows of one call."""

    rows: int


@PLATFORM.kernel("InputRows", types="* -> *", layout=("any", "channels_last"), template="input_rows.c.mako")
class InputRows(KernelMethods):
    """The application's function is asked for the next rows; the operand's pointer is that of a `tilewright_rows`."""

    def accepts(self, call: Call) -> str | None:
        """What the pass checked."""
        return None

    def cost(self, call: Call) -> float:
        """The bytes that the application writes."""
        return float(call.outputs[0].size_bytes)

    def context(self, operands: Operands) -> InputRowsContext:
        """The rows of the result."""
        return InputRowsContext(operands.call.outputs[0].shape[2])
