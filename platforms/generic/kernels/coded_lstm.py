"""An LSTM on codes: the four gates of a unit at a time, so that no gate is held in memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from tilewright.operators import LstmSizes, lstm_curve, lstm_numbers, lstm_sizes
from tilewright.platform import Array, Call, Constant, DType, KernelMethods, Operands
from tilewright.platforms.generic.kernels.elements import c_type, constants_by_name, empty
from tilewright.platforms.generic.kernels.nest_expressions import literal
from tilewright.platforms.generic.platform import PLATFORM

TYPES = "i8|u8, f32, i8|u8, i8, f32, i8, f32, f32?, f32?, f32? -> f32?, f32?, f32?"
GATES = 4


@dataclass(frozen=True)
class LstmContext:
    """Sizes, how many codes a row of weights holds, how sums become gates, and what weights are to C."""

    sizes: LstmSizes
    input_depth: int
    state_depth: int
    x_type: str
    factor: str
    lift: int
    ratios: bool
    shift: int
    start_h: bool
    start_c: bool
    results: tuple[bool, bool, bool]
    w_type: str = "int8_t"
    codes_in_element: int = 1


def by_unit(rows: Array) -> Array:
    """[directions, 4 * hidden, ...] as [directions, hidden, gate, ...]."""
    return rows.reshape(rows.shape[0], GATES, -1, *rows.shape[2:]).swapaxes(1, 2)


def filled(depth: int, block: int) -> int:
    """The depth with zeros up to whole blocks."""
    return depth + -depth % block


def lstm_constants(
    operands: Operands, block: int, packed: Callable[[Array], Array], dtype: DType = DType.I8
) -> tuple[Constant, ...]:
    """Weights as `packed` lays [directions, hidden, gate, depth], the table of units, the curve, constant states."""
    call, numbers = operands.call, lstm_numbers(operands.call)
    parts = []
    for index in (3, 5):
        rows = by_unit(call.constants[index])
        padded = np.pad(rows, ((0, 0),) * 3 + ((0, filled(rows.shape[-1], block) - rows.shape[-1]),))
        parts.append(packed(padded).reshape(*rows.shape[:2], -1))
    weights = Constant("w", dtype, np.concatenate(parts, axis=-1).astype(dtype.numpy).reshape(-1))
    columns = [numbers.starts, numbers.multipliers, *([] if numbers.ratios is None else [numbers.ratios])]
    table = np.concatenate([by_unit(each) for each in columns], axis=-1).astype(np.int32)
    curve = Constant("curve", DType.I16, lstm_curve().astype(np.int16))
    return (weights, Constant("table", DType.I32, table.reshape(-1)), curve,
            *constants_by_name(operands, 0, 1, 2, 8, 9))  # fmt: skip


def lstm_scratch(call: Call, block: int) -> int:
    """The cell, an input less its zero point, and the state before and behind a step."""
    sizes = lstm_sizes(call)
    return 4 * sizes.hidden + 2 * (filled(sizes.inputs, block) + 2 * filled(sizes.hidden, block))


def lstm_work(call: Call) -> tuple[float, float]:
    """Products of weights, and units of all steps."""
    sizes = lstm_sizes(call)
    units = float(sizes.steps * sizes.batch * len(sizes.directions) * sizes.hidden)
    return units * GATES * (sizes.inputs + sizes.hidden), units


def lstm_context(call: Call, block: int) -> LstmContext:
    """The numbers of a call, rows of whole blocks."""
    sizes, numbers = lstm_sizes(call), lstm_numbers(call)
    asked_for = tuple(bool(name) for name in (*call.node.outputs, "", "", "")[:3])
    return LstmContext(
        sizes=sizes,
        input_depth=filled(sizes.inputs, block),
        state_depth=filled(sizes.hidden, block),
        x_type=c_type(call.tensor(0)),
        factor=literal(DType.F32, float(numbers.factor)),
        lift=numbers.lift,
        ratios=numbers.ratios is not None,
        shift=numbers.shift,
        start_h=call.optional(8) is not None,
        start_c=call.optional(9) is not None,
        results=(asked_for[0], asked_for[1], asked_for[2]),
    )


@PLATFORM.kernel(
    "CodedLstm", types=TYPES, template="coded_lstm.c.mako", sources=["coded_lstm.h", "coded_lstm_sums.h"],
    numerics="exact",
)  # fmt: skip
class CodedLstm(KernelMethods):
    """Every row of weights by itself."""

    def accepts(self, call: Call) -> str | None:
        """Weights that lie in read-only memory."""
        if any(call.optional(index) is not None and index not in call.constants for index in range(3, 8)):
            return "weights, scales or biases are computed at run time"
        return empty(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights as they are, unit by unit."""
        return lstm_constants(operands, 1, lambda rows: rows)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """The last states take the memory of the first: of every entry these are read before those are written."""
        return tuple(
            (operand, call.present.index(place))
            for operand, place in ((8, 1), (9, 2))
            if call.optional(operand) is not None and operand not in call.constants and place in call.present
        )

    def scratch(self, operands: Operands) -> int:
        """Cell, input and states."""
        return lstm_scratch(operands.call, 1)

    def cost(self, call: Call) -> float:
        """Four instructions for a product, and those of the gates."""
        products, units = lstm_work(call)
        return 4.0 * products + 200.0 * units

    def context(self, operands: Operands) -> LstmContext:
        """The numbers of the call."""
        return lstm_context(operands.call, 1)
