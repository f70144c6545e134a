"""Rows of codes as TensorFlow Lite Micro's kernels compute them: shares and their logarithms, lengths, running sums."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.numerics import (
    TOTAL_SHIFT,
    Twice,
    code_limits,
    exponential_points,
    inverse_points,
    log_shares_form,
    rounds_twice,
    running_along,
    running_rule,
    softmax_axis,
    softmax_lines_rule,
    softmax_twice_unknown,
    the_quantisation,
)
from tilewright.platform import Call, Constant, DType, KernelMethods, Operands
from tilewright.platforms.generic.kernels.softmax_i8 import Line, lines_of, strides
from tilewright.platforms.generic.platform import PLATFORM

RESULT_BITS, RUNNING_BITS, LOGARITHM_SHIFT = 7, 19, 22


@dataclass(frozen=True)
class RowsContext:
    """Lines of `length` codes, `x_step` and `y_step` apart; `tables` by name; a multiplier and its shift to the right.

    `zero_point` is the operand's, `target` the result's; [`low`, `high`] limits the result.
    """

    lines: tuple[Line, ...]
    length: int
    x_step: int
    y_step: int
    tables: tuple[str, ...] = ()
    multiplier: str = ""
    right: int = 0
    zero_point: int = 0
    target: int = 0
    radius: int = 0
    low: int = 0
    high: int = 0
    exclusive: bool = False
    reverse: bool = False
    total_shift: int = TOTAL_SHIFT
    result_shift: int = LOGARITHM_SHIFT
    result_bits: int = RESULT_BITS
    fraction_bits: int = RUNNING_BITS

    @property
    def zero_text(self) -> str:
        """The operand's zero point as an operand of a C expression."""
        return _operand(self.zero_point)

    @property
    def target_text(self) -> str:
        """The result's."""
        return _operand(self.target)


def _operand(number: int) -> str:
    return f"({number})" if number < 0 else str(number)


def _numbers(rule: Twice) -> tuple[str, int]:
    """A multiplier in C with its shift to the left in it, and the shift to the right."""
    multiplier = rule.multiplier << max(rule.shift, 0)
    return (str(multiplier) if multiplier < 1 << 31 else f"INT64_C({multiplier})"), max(-rule.shift, 0)


def _rows(operands: Operands, axis: int) -> tuple[tuple[Line, ...], int, int, int]:
    """Lines along an axis, their length and both steps."""
    shape = operands.call.shape(0)
    x, y = (strides(operands, tensor.name, shape) for tensor in (operands.call.tensor(0), operands.call.outputs[0]))
    return lines_of(shape, axis, x, y), shape[axis], x[axis], y[axis]


@PLATFORM.kernel(
    "Softmax", types="qi16 -> qi16", template="softmax_lines.c.mako", layout=("axes", "same"),
    sources=["twice.h", "softmax_lines.h"], preference=10,
)  # fmt: skip
class SoftmaxLines(KernelMethods):
    """Softmax of codes of 16 bits by lines between points."""

    def accepts(self, call: Call) -> str | None:
        """Codes of that contract, in the form that the reference has."""
        return softmax_twice_unknown(call) if rounds_twice(call) else "its codes are exact, the kernel takes lines"

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """The points of both curves."""
        return (
            Constant("exponentials", DType.I16, exponential_points()),
            Constant("inverses", DType.I16, inverse_points()),
        )

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Each code is read for the last time just before its exponential is written."""
        return ((0, 0),)

    def context(self, operands: Operands) -> RowsContext:
        """Extents, and what brings differences to the steps of the exponential."""
        call = operands.call
        multiplier, right = _numbers(softmax_lines_rule(call))
        low, high = code_limits(call, call.outputs[0])
        return RowsContext(
            *_rows(operands, softmax_axis(call)), ("exponentials", "inverses"), multiplier, right, low=max(low, 0),
            high=high,
        )  # fmt: skip


@PLATFORM.kernel(
    "LogShares", types="qi8 -> qi8", template="log_shares.c.mako", layout=("axes", "same"),
    sources=["twice.h", "softmax_twice.h", "rounded_over.h", "log_shares.h"], preference=5,
)  # fmt: skip
class LogShares(KernelMethods):
    """The logarithm of Softmax in fixed point."""

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """By the difference of codes its exponential and its logarithm."""
        form = log_shares_form(the_quantisation(operands.call.tensor(0)).scale[0])
        return (
            Constant("exponentials", DType.U32, form.exponentials),
            Constant("logarithms", DType.I32, form.logarithms),
        )

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Each code is read for the last time just before its result is written."""
        return ((0, 0),)

    def context(self, operands: Operands) -> RowsContext:
        """Extents, and what brings the least logarithm to steps of the operand."""
        call = operands.call
        form = log_shares_form(the_quantisation(call.tensor(0)).scale[0])
        multiplier, right = _numbers(form.inverse)
        rows = _rows(operands, len(call.shape()) - 1)
        return RowsContext(*rows, ("exponentials", "logarithms"), multiplier, right, radius=form.radius)


@PLATFORM.kernel(
    "UnitRows", types="qi8 -> qi8", template="unit_rows.c.mako", layout=("axes", "same"),
    sources=["twice.h", "inverse_root.h"], preference=5,
)  # fmt: skip
class UnitRows(KernelMethods):
    """Rows over their length."""

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Each code is read for the last time just before its result is written."""
        return ((0, 0),)

    def context(self, operands: Operands) -> RowsContext:
        """Extents."""
        call = operands.call
        zero = the_quantisation(call.tensor(0)).zero_point[0]
        return RowsContext(*_rows(operands, len(call.shape()) - 1), zero_point=zero)


@PLATFORM.kernel(
    "RunningSums", types="qi8 -> qi8", template="running_sums.c.mako", layout=("axes", "same"), sources=["twice.h"],
    preference=5,
)  # fmt: skip
class RunningSums(KernelMethods):
    """Running sums along one axis."""

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Each code is read just before its result is written."""
        return ((0, 0),)

    def context(self, operands: Operands) -> RowsContext:
        """Extents, zero points and the multiplier."""
        call = operands.call
        axis, exclusive, reverse = running_along(call)
        source, target = (the_quantisation(tensor) for tensor in (call.tensor(0), call.outputs[0]))
        multiplier, right = _numbers(running_rule(source, target))
        return RowsContext(
            *_rows(operands, axis), (), multiplier, right, source.zero_point[0], target.zero_point[0],
            exclusive=exclusive, reverse=reverse,
        )  # fmt: skip
