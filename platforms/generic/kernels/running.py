"""CumSum and CumProd: running sums and products along one axis, in the type of the operand."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from tilewright.numerics import loaded, stored
from tilewright.operators import running_axis
from tilewright.platform import Call, Constant, DType, KernelMethods, Operands
from tilewright.platforms.generic.kernels.elements import c_type, constants_by_name, empty
from tilewright.platforms.generic.kernels.nest_expressions import unsigned
from tilewright.platforms.generic.platform import PLATFORM

_TYPES = "f16|bf16|f32|f64|i8|u8|i16|u16|i32|u32|i64|u64"


@dataclass(frozen=True)
class RunningContext:
    """`outer` blocks of `size` x `inner` elements; `start` the neutral element, `step` the next total of `acc`.

    A float16 is totalled in its own type and rounded with every step, a bfloat16 in float.
    """

    outer: int
    size: int
    inner: int
    c_type: str
    start: str
    term: str
    step: str
    result: str
    reverse: bool
    exclusive: bool


@PLATFORM.kernel("CumSum", "CumProd", types=f"{_TYPES}, i32|i64 -> {_TYPES}", template="running.c.mako")
class Running(KernelMethods):
    """Running totals along one axis; integers wrap."""

    def accepts(self, call: Call) -> str | None:
        """An axis that is known."""
        return empty(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """The data where it is constant."""
        return constants_by_name(operands, 0)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Every element is read before its place is written."""
        return () if 0 in call.constants else ((0, 0),)

    def context(self, operands: Operands) -> RunningContext:
        """Sizes around the axis."""
        call = operands.call
        axis, shape, kind = running_axis(call), call.shape(), call.tensor(0).dtype
        sign = "+" if call.node.op == "CumSum" else "*"
        own = f"({unsigned(kind)})acc {sign} ({unsigned(kind)})term"
        if kind.is_float:
            own = f"{loaded(kind, 'acc')} {sign} {loaded(kind, 'term')}"
        start, term, step, result = str(int(sign == "*")), "x[at]", stored(kind, own), "acc"
        if kind is DType.F16:
            start = stored(kind, f"{start}.0f")
        if kind is DType.BF16:
            term, step, result = loaded(kind, term), f"acc {sign} term", stored(kind, result)
        return RunningContext(
            prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :]),
            "float" if kind is DType.BF16 else c_type(call.tensor(0)), start, term, step, result,
            bool(call.integer("reverse", 0)), bool(call.integer("exclusive", 0)),
        )  # fmt: skip
