"""ArgMax and ArgMin: where a line has its extreme, each element looked at once where it lies.

Not-a-number counts as beyond all numbers, as in NumPy.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.numerics import is_half, loaded, plus, times
from tilewright.operators import arg_axis
from tilewright.platform import Call, Constant, KernelMethods, Operands
from tilewright.platforms.generic.kernels.elements import MOVED, c_type, constants_by_name, empty
from tilewright.platforms.generic.kernels.nest import strides_of
from tilewright.platforms.generic.kernels.two_operands import row_major
from tilewright.platforms.generic.platform import PLATFORM

AT_ONCE = 4
"""Elements of one turn of the loop."""
SHORT = 8
"""Elements of a line up to which it has no loop."""


@dataclass(frozen=True)
class Around:
    """A loop over lines: how many, and the elements from one to the next in operand and result."""

    name: str
    extent: int
    read: int
    written: int


@dataclass(frozen=True)
class Look:
    """C of one element: its name, its value, its place, and whether it takes the place of `best`."""

    name: str
    value: str
    place: str
    better: str


@dataclass(frozen=True)
class ArgContext:
    """`loops` around a line, whose elements lie `step` apart: element 0, then `turns` of four elements up to `whole`,
    and the `rest` one by one.
    """

    loops: tuple[Around, ...]
    c_type: str
    value_type: str
    first: str
    step: str
    turns: tuple[Look, ...]
    whole: int
    rest: tuple[Look, ...]

    @property
    def line(self) -> str:
        """C of the first element of a line."""
        return " + ".join(["x", *(times(loop.name, loop.read) for loop in self.loops)])

    @property
    def result(self) -> str:
        """C of the result of a line."""
        return " + ".join([times(loop.name, loop.written) for loop in self.loops if loop.written]) or "0"


@PLATFORM.kernel(
    "ArgMax", "ArgMin", types=f"{MOVED} -> i64", template="arg_extreme.c.mako", layout=("axes", "like"), preference=-10
)
class ArgExtreme(KernelMethods):
    """One pass over each line, four elements a turn."""

    def accepts(self, call: Call) -> str | None:
        """Lines of several elements."""
        return empty(call) or ("its lines have one element" if call.shape()[arg_axis(call)] == 1 else None)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """The data where it is constant."""
        return constants_by_name(operands, 0)

    def cost(self, call: Call) -> float:
        """A load and a comparison of every element, the place of every line."""
        return 4.5 * call.tensor(0).elements + 12.0 * call.outputs[0].elements

    def context(self, operands: Operands) -> ArgContext:
        """The lines as they lie, and how elements compare."""
        call = operands.call
        x, size = call.tensor(0), call.shape()[arg_axis(call)]
        step, loops = _lines(operands)
        whole = 1 if size <= SHORT else 1 + (size - 1) // AT_ONCE * AT_ONCE
        turns = range(AT_ONCE if whole > 1 else 0)
        return ArgContext(
            loops=loops,
            c_type=c_type(x),
            value_type="float" if is_half(x.dtype) else c_type(x),
            first=loaded(x.dtype, "row[0]"),
            step=times("i", step),
            turns=tuple(_look(call, n, f"at[{n * step}]", plus("i", n)) for n in turns),
            whole=whole,
            rest=tuple(_look(call, i, f"row[{i * step}]", str(i)) for i in range(whole, size)),
        )


def _look(call: Call, number: int, element: str, place: str) -> Look:
    """How one element is looked at: the first or the last of equal ones counts, and of those that are no number."""
    dtype, last, name = call.tensor(0).dtype, bool(call.integer("select_last_index", 0)), f"v{number}"
    signs = ("<=", "<", ">", ">=") if call.node.op == "ArgMax" else (">=", ">", "<", "<=")
    if not dtype.is_float:
        return Look(name, element, place, f"{name} {signs[2 + last]} best")
    taken = f"(best == best || {name} != {name})" if last else "best == best"
    return Look(name, loaded(dtype, element), place, f"!({name} {signs[last]} best) && {taken}")


def _lines(operands: Operands) -> tuple[int, tuple[Around, ...]]:
    """Elements from one to the next of a line, and the loops around it by the order of the operand in memory."""
    call = operands.call
    axis, shape, y = arg_axis(call), call.shape(), call.outputs[0]
    known = strides_of(operands)
    read, written = known.get("x", row_major(shape)), known.get("y", row_major(y.shape))
    if len(written) < len(read):
        written = (*written[:axis], 0, *written[axis:])
    others = [(shape[i], read[i], written[i]) for i in range(len(shape)) if i != axis and shape[i] > 1]
    merged: list[tuple[int, int, int]] = []
    for extent, source, target in sorted(others, key=lambda one: -one[1]):
        if merged and merged[-1][1:] == (extent * source, extent * target):
            extent *= merged.pop()[0]
        merged.append((extent, source, target))
    return read[axis], tuple(Around(f"n{i}", *one) for i, one in enumerate(merged))
