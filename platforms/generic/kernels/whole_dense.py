"""Gemm and MatMul of floats with constant weights where there is no float unit: columns are whole numbers, rows become
such."""

from __future__ import annotations

from tilewright.platform import Call, Constant, KernelMethods, Needs, Operands
from tilewright.platforms.generic.kernels.blocks import Axis, Groups, axis
from tilewright.platforms.generic.kernels.dense_f32 import memory_order, weights_of
from tilewright.platforms.generic.kernels.elements import empty
from tilewright.platforms.generic.kernels.whole_conv import WholeWindowsContext, block_of, windows_cost
from tilewright.platforms.generic.kernels.whole_products import DENSE, limited, margin_of, too_long
from tilewright.platforms.generic.kernels.whole_weights import SOURCES, unable, whole_lines
from tilewright.platforms.generic.platform import PLATFORM

ONE = Axis(1, 1, 1, 1, 1, 0, 0, 1, 0)


@PLATFORM.kernel(
    "Gemm", "MatMul", types="f32, f32, f32? -> f32", template="whole_windows.c.mako", layout=("rows", "default"),
    sources=SOURCES, numerics="1e-5", preference=30, requires=Needs(lacks=("fpu",)),
)  # fmt: skip
class WholeDense(KernelMethods):
    """Rows times the columns of a constant matrix, which lie one after the other: windows of one place."""

    def accepts(self, call: Call) -> str | None:
        """What the float kernel takes, with weights that are finite."""
        refused = DENSE.accepts(call) or empty(call) or too_long(call.shape(0)[-1])
        return refused or unable(weights_of(call))

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Columns in the order in which rows lie in memory; bias with beta applied."""
        call = operands.call
        weights, layout = weights_of(call), operands.layout(call.tensor(0))
        if not layout.is_default:
            weights = weights[memory_order(layout)]
        return (*whole_lines(weights.T), *(one for one in DENSE.constants(operands) if one.name == "bias"))

    def cost(self, call: Call) -> float:
        """Of all rows."""
        numbers = _dense(call)
        return windows_cost(numbers.w.out, numbers.groups)

    def context(self, operands: Operands) -> WholeWindowsContext:
        """Rows one behind the other, columns too."""
        return _dense(operands.call)


def _dense(call: Call) -> WholeWindowsContext:
    depth, columns = call.shape(0)[-1], call.outputs[0].shape[-1]
    rows = call.tensor(0).elements // depth
    return WholeWindowsContext(
        "a", "bias" if 2 in call.constants else "NULL", ONE, axis(rows, rows, 1, 1, 1, 0, depth),
        Groups(1, depth, columns, depth * columns), depth, 1, margin_of(depth), block_of(columns),
        limited("v", call.node.clamp),
    )  # fmt: skip
