"""GRU and LSTM of floats without float units, all of a layer in L1: the cores share the rows of every step.

They meet twice in a step, behind the sums of all gates and behind the new state. Weights that L1 does not hold are read
where they rest. What is no usual cell is left to the ninth core.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from tilewright.operators import recurrent_cell
from tilewright.platform import Call, Constant, Needs, Operands, Rule, TiledKernelMethods, TileView
from tilewright.platforms.generic.kernels.functions_whole import GATES as FUNCTION_SOURCES
from tilewright.platforms.generic.kernels.recurrent import GATES, RecurrentContext
from tilewright.platforms.generic.kernels.whole_recurrent import FORMS, WholeRecurrent, float_rows
from tilewright.platforms.pulp.kernels.whole_conv import GENERIC
from tilewright.platforms.pulp.kernels.windows import CORES
from tilewright.platforms.pulp.platform import PLATFORM

PORTABLE = WholeRecurrent()
HEADERS = [
    "fixed_room.h", "whole_f32.h", "whole_products.h", "whole_bare.h", "whole_rows.h", *FUNCTION_SOURCES,
    "whole_real.h",
]  # fmt: skip
PRODUCT_CYCLES, LOAD_CYCLES, NUMBER_CYCLES, ROW_CYCLES, STATE_CYCLES, STEP_CYCLES = 38, 15, 30, 330, 2600, 400
TYPES = "f32, f32, f32, f32?, *?, f32?, f32? -> f32?, f32?, f32?"
SOURCES = ["tiles.h", *(f"{GENERIC}{name}" for name in HEADERS), "cores_meet.h"]


@dataclass(frozen=True)
class WholeRecurrentContext:
    """The portable kernel's numbers; `gates` of a cell, `numbers` of an input or a state that is whole numbers."""

    cell: RecurrentContext
    gates: int
    numbers: int


class _Cells(TiledKernelMethods):
    """Usual cells with constant weights: Sigmoid and Tanh, no lengths, no clipping; all steps at one sitting."""

    tile_type = "{function}_tile"
    phases = 2
    gives_way = True
    _product_cycles: ClassVar[int] = PRODUCT_CYCLES

    def accepts(self, call: Call) -> str | None:
        """What the portable kernel takes, of the usual cells."""
        if call.optional(4) is not None:
            return "its sequences have lengths of their own"
        if (why := PORTABLE.accepts(call)) is not None:
            return why
        context = PORTABLE.context(Operands(call))
        if context.clip or context.peepholes or context.coupled or context.reset_first:
            return "it clips, has peepholes, or gates that hang on one another"
        usual = all(form in FORMS.values() for form in context.forms)
        return None if usual else "its activations are not Sigmoid and Tanh"

    def rules(self, call: Call) -> list[Rule]:
        """Nothing can be cut: a step follows the one before."""
        return []

    def cost(self, call: Call) -> float:
        """See `cycles`."""
        return float(self.cycles(call, {}))

    def cycles(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """Of every step the rows of the core that has most, and what each core finds of the input and the state."""
        cell, gates = recurrent_cell(call), GATES[call.node.op]
        inputs = cell.inputs + cell.hidden
        rows, states = -(-gates * cell.hidden // CORES), -(-cell.hidden // CORES)
        step = STEP_CYCLES + inputs * NUMBER_CYCLES + rows * (inputs * self._product_cycles + 2 * ROW_CYCLES)
        return 1000 + len(cell.directions) * cell.batch * cell.steps * (step + states * STATE_CYCLES)

    def tile_scratch(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """Turns of the cores, a state, a cell and gates, and whole numbers of every core."""
        cell = recurrent_cell(call)
        return 4 * (CORES + 6 * cell.hidden + CORES * max(cell.inputs, cell.hidden))

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights as floats, each row with the exponent of its largest."""
        return float_rows(operands)

    def context(self, operands: Operands) -> WholeRecurrentContext:
        """The portable kernel's numbers."""
        call = operands.call
        cell = recurrent_cell(call)
        return WholeRecurrentContext(PORTABLE.context(operands), GATES[call.node.op], max(cell.inputs, cell.hidden))

    def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
        """The batch."""
        return {"entries": recurrent_cell(call).batch}


@PLATFORM.kernel(
    "GRU", "LSTM", types=TYPES, template="whole_recurrent.c.mako", sources=SOURCES, numerics="1e-4", preference=30,
    requires=Needs(lacks=("fpu",)),
)  # fmt: skip
class TiledWholeRecurrent(_Cells):
    """Weights lie in L1."""


@PLATFORM.kernel(
    "GRU", "LSTM", types=TYPES, template="whole_recurrent.c.mako", sources=SOURCES, numerics="1e-4", preference=29,
    requires=Needs(lacks=("fpu",)),
)  # fmt: skip
class FarWholeRecurrent(_Cells):
    """The cores read weights where they rest, those of a row once in a step."""

    at_rest = frozenset(("w", "r"))
    _product_cycles = PRODUCT_CYCLES + LOAD_CYCLES
