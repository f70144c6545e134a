"""Sums, means and lengths of floats over axes where there is no float unit: whole numbers of the largest's exponent."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from tilewright.numerics import times
from tilewright.operators import reduced_axes
from tilewright.platform import Call, Constant, KernelMethods, Needs, Operands, Shape
from tilewright.platforms.generic.kernels.elements import empty
from tilewright.platforms.generic.kernels.softmax_i8 import Line, lines_over, strides
from tilewright.platforms.generic.kernels.whole_products import limited
from tilewright.platforms.generic.platform import PLATFORM

MOST = 1 << 16
"""Elements of a sum: so many squares of 46 bits fit in a word of 64."""
SUMS, SQUARES = (31, 200), (86, 179)
"""Exponents of the largest between which no sum is too small or too large for a float, however long."""


@dataclass(frozen=True)
class WholeSum:
    """C of one kind of sum: how a whole number is `taken` from a float's bits, or from its `size`, and how `total` is
    `finished`; of floats, the `term` of an element `a` and the `exact` result of their sum `v`."""

    taken: str
    size: str
    finished: str
    term: str
    exact: str


@dataclass(frozen=True)
class WholeSumsContext:
    """Loops over what is `added` for each of `rows` results, whose operand and result begin at elements that are C of
    `row`; whole numbers are made of rows whose largest has an exponent between `lowest` and `highest`."""

    rows: int
    added: tuple[Line, ...]
    x_start: str
    y_start: str
    total_type: str
    lowest: int
    highest: int
    whole: WholeSum
    clamp: str


@PLATFORM.kernel(
    "ReduceSum", "ReduceMean", "ReduceL1", "ReduceL2", "ReduceSumSquare", "GlobalAveragePool",
    types="f32, *... -> f32", template="whole_sums.c.mako", layout=("axes", "like"), numerics="1e-5", preference=5,
    sources=["fixed_room.h", "whole_f32.h", "whole_products.h", "whole_sums.h"],
    requires=Needs(lacks=("fpu",)),
)  # fmt: skip
class WholeSums(KernelMethods):
    """Each result by two walks over what it sums: one for the largest, one for whole numbers below it."""

    def accepts(self, call: Call) -> str | None:
        """Axes that are known, sums that are not too long."""
        if call.node.op != "GlobalAveragePool" and call.optional(1) is not None and 1 not in call.constants:
            return "its axes are computed at run time"
        if (refused := empty(call)) is not None:
            return refused
        count = prod(call.shape(0)[axis] for axis in _axes(call))
        return f"sums of {count} elements are too long, {MOST} are the most" if count > MOST else None

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """None: axes are loops."""
        return ()

    def cost(self, call: Call) -> float:
        """Two walks, and a result."""
        return 32.0 * call.tensor(0).elements + 140.0 * call.outputs[0].elements

    def context(self, operands: Operands) -> WholeSumsContext:
        """Where elements lie."""
        call = operands.call
        shape, y, axes = call.shape(0), call.outputs[0], _axes(call)
        x_steps, y_steps = strides(operands, call.tensor(0).name, shape), _result_steps(operands, shape, axes)
        outer = tuple(axis for axis in range(len(shape)) if axis not in axes)
        rows, added = (lines_over(shape, chosen, x_steps, y_steps) for chosen in (outer, axes))
        squares = call.node.op in ("ReduceL2", "ReduceSumSquare")
        lowest, highest = SQUARES if squares else SUMS
        return WholeSumsContext(
            y.elements, added, row_start([(line.count, line.x) for line in rows]),
            row_start([(line.count, line.y) for line in rows]), "uint64_t" if squares else "int64_t", lowest, highest,
            _sum(call.node.op, prod(line.count for line in added)), limited("v", call.node.clamp),
        )  # fmt: skip


def row_start(lines: list[tuple[int, int]]) -> str:
    """C of the first element of `row`, from the counts and steps of the loops over rows."""
    left, terms = prod(count for count, _ in lines), list[str]()
    for at, (count, step) in enumerate(lines):
        left //= count
        place = f"(row / {left})" if left > 1 else "row"
        terms.append(times(f"({place} % {count})" if at else place, step))
    return " + ".join(terms) or "0"


def _axes(call: Call) -> tuple[int, ...]:
    if call.node.op == "GlobalAveragePool":
        return tuple(range(2, len(call.shape(0))))
    return tuple(reduced_axes(call))


def _result_steps(operands: Operands, shape: Shape, axes: tuple[int, ...]) -> tuple[int, ...]:
    """Elements of the result between neighbours along each axis of the operand; 0 along those that are summed."""
    y = operands.call.outputs[0]
    steps = iter(strides(operands, y.name, y.shape))
    keeps = len(y.shape) == len(shape)
    every = [next(steps) if keeps or axis not in axes else 0 for axis in range(len(shape))]
    return tuple(0 if axis in axes else step for axis, step in enumerate(every))


def _sum(op: str, count: int) -> WholeSum:
    """The kind of sum that an operator makes of so many elements."""
    number, real = "tilewright_whole_of", "tilewright_whole_real(total, (int)top - 156)"
    if op in ("ReduceL2", "ReduceSumSquare"):
        total, rooted = "tilewright_whole_real((int64_t)total, 2 * (int)top - 298)", op == "ReduceL2"
        finished, exact = (f"sqrtf({one})" if rooted else one for one in (total, "v"))
        return WholeSum("tilewright_whole_square", "", finished, "a * a", exact)
    if op == "ReduceL1":
        return WholeSum(number, " & 0x7FFFFFFFu", real, "fabsf(a)", "v")
    if op == "ReduceSum":
        return WholeSum(number, "", real, "a", "v")
    bits = (count - 1).bit_length()
    share = round((1 << 30 + bits) / count)
    mean = f"tilewright_whole_real(tilewright_whole_share(total, {bits}u, {share}u), (int)top - 186)"
    return WholeSum(number, "", mean, "a", f"v / {count}.0f")
