"""An LSTM on codes, all of a layer in L1: the cores share its units and meet once in a step.

The state lies as two planes of bytes, so that four products of either are one instruction, as those of the input are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from tilewright.operators import lstm_sizes
from tilewright.platform import Array, Call, Constant, DType, Operands, Rule, TiledKernelMethods, TileView
from tilewright.platforms.generic.kernels import coded_lstm as portable
from tilewright.platforms.pulp.kernels.listing import Listing
from tilewright.platforms.pulp.kernels.whole_conv import GENERIC
from tilewright.platforms.pulp.kernels.windows import CORES
from tilewright.platforms.pulp.platform import PLATFORM

PORTABLE = portable.CodedLstm()
BLOCK = 4
STEP_CYCLES, UNIT_CYCLES, WORD_CYCLES, FAR_CYCLES = 250, 230, 9, 60
"""Of a step, of a unit without its sums, of four inputs of its gates where weights are near, and more where not."""
SOURCES = [
    "tiles.h", "xpulp.h", "dots.h", "coded_lstm_gates.h", f"{GENERIC}coded_lstm.h", f"{GENERIC}whole_f32.h",
    "cores_meet.h",
]  # fmt: skip


@dataclass(frozen=True)
class TiledLstmContext:
    """The portable kernel's numbers, and the loops over an input and over a state."""

    lstm: portable.LstmContext
    signed: bool
    input_text: str
    state_text: str


def in_words(rows: Array) -> Array:
    """[directions, hidden, 4, depth] as words: four inputs of each gate in turn."""
    turned = rows.reshape(*rows.shape[:3], -1, BLOCK).swapaxes(2, 3)
    return np.ascontiguousarray(turned.astype(np.int8)).view("<i4")


def products(dots: tuple[str, ...]) -> Listing:
    """Sums of four gates: over the input, or over both bytes of a state, for each of `dots`."""
    out, weights, codes = Listing(), ("t2", "t3", "t4", "t5"), ("t1", "t6")
    out("mv t0, %[words]")
    out.begin_loop("t0")
    out(*(f"p.lw {code}, 4, %[x{place}]" for place, code in zip(range(len(dots)), codes, strict=False)))
    out(*(f"p.lw {weight}, 4, %[w]" for weight in weights))
    for place, (dot, code) in enumerate(zip(dots, codes, strict=False)):
        out(*(f"{dot} %[s{4 * place + gate}], {code}, {weight}" for gate, weight in enumerate(weights)))
    out.end_loop()
    return out


class _Units(TiledKernelMethods):
    """All steps at one sitting."""

    tile_type = "{function}_tile"
    phases = 2
    gives_way = True

    def accepts(self, call: Call) -> str | None:
        """What the portable kernel accepts."""
        return PORTABLE.accepts(call)

    def rules(self, call: Call) -> list[Rule]:
        """Nothing can be cut: a step follows the one before."""
        return []

    def cost(self, call: Call) -> float:
        """See `cycles`."""
        return float(self.cycles(call, {}))

    def cycles(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """Of every step the units of the core that has most."""
        lstm = lstm_sizes(call)
        words = portable.filled(lstm.inputs, BLOCK) // BLOCK * WORD_CYCLES
        words += portable.filled(lstm.hidden, BLOCK) // BLOCK * (WORD_CYCLES + WORD_CYCLES // 2 + 1)
        if self.at_rest:
            words += (portable.filled(lstm.inputs, BLOCK) + portable.filled(lstm.hidden, BLOCK)) // BLOCK * FAR_CYCLES
        step = STEP_CYCLES + -(-lstm.hidden // CORES) * (UNIT_CYCLES + words)
        return 1000 + len(lstm.directions) * lstm.batch * lstm.steps * step

    def tile_scratch(self, call: Call, sizes: Mapping[str, Any]) -> int:
        """Turns of the cores, the cell, two inputs and two states."""
        lstm = lstm_sizes(call)
        inputs, hidden = (portable.filled(depth, BLOCK) for depth in (lstm.inputs, lstm.hidden))
        return 4 * (CORES + lstm.hidden) + 2 * inputs + 4 * hidden

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Those of the portable kernel, and what a zero point of 1 takes from the sums over an input."""
        call = operands.call
        shares = portable.by_unit(call.constants[3].astype(np.int32).sum(-1)).astype(np.int32)
        known = portable.lstm_constants(operands, BLOCK, in_words, DType.I32)
        return (*known, Constant("shares", DType.I32, shares.reshape(-1)))

    def context(self, operands: Operands) -> TiledLstmContext:
        """The numbers of the call, and the loops."""
        call = operands.call
        signed = call.tensor(0).dtype is DType.I8
        over_input = products((f"pv.sdot{'s' if signed else 'us'}p.b",))
        over_state = products(("pv.sdotsp.b", "pv.sdotusp.b"))
        indent = " " * 20
        lstm = portable.lstm_context(call, BLOCK)
        return TiledLstmContext(lstm, signed, over_input.text(indent), over_state.text(indent))

    def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
        """The batch."""
        return {"entries": lstm_sizes(call).batch}


@PLATFORM.kernel(
    "CodedLstm", types=portable.TYPES, template="coded_lstm.c.mako", sources=SOURCES, numerics="exact", preference=30,
)  # fmt: skip
class TiledCodedLstm(_Units):
    """Weights lie in L1."""


@PLATFORM.kernel(
    "CodedLstm", types=portable.TYPES, template="coded_lstm.c.mako", sources=SOURCES, numerics="exact", preference=29,
)  # fmt: skip
class FarCodedLstm(_Units):
    """The cores read weights where they rest, each once in a step."""

    at_rest = frozenset(("w",))
