"""Whatever has index maps, over tiles in L1: the portable loops with the addresses of a tile.

The kernels of `generic` that print nests are taken over one by one. The loops that write separate results are shared
among the cores; each core walks its results like an odometer and runs the other loops for each. A chain of nests
(softmax, a norm) is shared along the loops that all its nests carry straight through, and its intermediate results,
small then, lie in a part of the scratch memory that belongs to the core.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any

from tilewright.operators import addressing, relayout_nest
from tilewright.ops.index.nest import Nest
from tilewright.platform import Call, Constant, Kernel, Operands, Rule, TiledKernelMethods, TileView
from tilewright.platforms.generic.kernels.codes import (
    BorderCodes,
    MeanCodes,
    MoveCodes,
    PairCodes,
    TableCodes,
)
from tilewright.platforms.generic.kernels.codes_near import NearCodes
from tilewright.platforms.generic.kernels.codes_quotient import QuotientCodes
from tilewright.platforms.generic.kernels.codes_real import RealCodes, RequantiseReal
from tilewright.platforms.generic.kernels.codes_settled import SettledCodes
from tilewright.platforms.generic.kernels.codes_sums import SumCodes, TransposedSumCodes
from tilewright.platforms.generic.kernels.nest import (
    NestLoops,
    Printed,
    operand_names,
)
from tilewright.platforms.generic.kernels.nest_loops import direct
from tilewright.platforms.generic.kernels.relayout import Relayout
from tilewright.platforms.generic.platform import PLATFORM as PORTABLE
from tilewright.platforms.pulp.kernels.loops_text import (
    LoopContext,
    LoopText,
    cut_axes,
    intermediates,
    own_axes,
    shared_loops,
)
from tilewright.platforms.pulp.kernels.windows import CORES
from tilewright.platforms.pulp.platform import PLATFORM

TAKEN = (
    NestLoops, PairCodes, NearCodes, TableCodes, MoveCodes, MeanCodes, BorderCodes, SumCodes, SettledCodes,
    QuotientCodes, RealCodes, RequantiseReal,
)  # fmt: skip
FOLDER = Path(__file__).parent
POINT_CYCLES, ENTRY_CYCLES = 14, 300
"""Modelled cycles of one point of the loops, addresses included, and of coming to the first; measured in GVSoC."""
SOFT_CYCLES, REAL_CYCLES = {"QuantizeLinear": 1400, "DequantizeLinear": 290}, 2500
"""Modelled cycles of one point whose floats are computed without a float unit."""


class TileLoops(TiledKernelMethods):
    """Loops over one tile, printed from index maps."""

    tile_type = "{function}_tile"

    def __init__(self, whole: Kernel) -> None:
        self.whole = whole

    def printed(self, operands: Operands) -> Printed:
        """What the portable kernel prints, made once for a call and the layouts of its operands."""
        call = operands.call
        tensors = (*call.inputs, *call.outputs)
        key = (self.whole.name, tuple(operands.layout(tensor) for tensor in tensors if tensor is not None))
        if key not in call.known:
            call.known[key] = self._printed(operands)
        known: Printed = call.known[key]
        return known

    def _printed(self, operands: Operands) -> Printed:
        if isinstance(self.whole.methods, Relayout):
            return Printed((relayout_nest(operands)[0],), (None,))
        printed: Printed = self.whole.context(operands).printed  # type: ignore[attr-defined]
        return printed

    def accepts(self, call: Call) -> str | None:
        """What the portable kernel accepts, where results can be computed one by one and some loop can be cut."""
        if (why := self.whole.accepts(call)) is not None:
            return why
        if any(t is not None and not t.elements for t in (*call.inputs, *call.outputs)):
            return "a tensor has no elements"
        if isinstance(self.whole.methods, Relayout):
            return "the operand is constant or has elements of four bits" if _unmovable(call) else None
        nests = self.printed(Operands(call)).nests
        if not all(direct(nest) or nest.complete for nest in nests):
            return "results are written more than once"
        cuttable = addressing(call, {}).cuttable
        if not [loop for loop in shared_loops(nests) if loop in cuttable]:
            return "no loop writes results of its own, there is nothing to share among the cores"
        return None

    def rules(self, call: Call) -> list[Rule]:
        """Any tile will do."""
        return []

    def cost(self, call: Call) -> float:
        """As the portable kernel."""
        return self.whole.cost(call)

    def cycles(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """Some cycles a point."""
        points: Any = 1
        for name, size in sizes.items():
            if "." not in name:
                points = points * size
        each = POINT_CYCLES
        if isinstance(self.whole.methods, (RealCodes, RequantiseReal)):
            each = REAL_CYCLES
        elif isinstance(self.whole.methods, BorderCodes):
            each = SOFT_CYCLES.get(call.node.op, POINT_CYCLES)
        return ENTRY_CYCLES + -(-points // CORES) * each

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """As the portable kernel, axes that shared loops move first, and cut along these loops."""
        nests = self.printed(operands).nests
        return tuple(_cut(operands.call, nests, constant) for constant in self.whole.constants(operands))

    def tile_scratch(self, call: Call, sizes: Mapping[str, Any]) -> int:
        """The intermediate results of every core."""
        return CORES * intermediates(call, self.printed(Operands(call)).nests)[1]

    def context(self, operands: Operands) -> LoopContext:
        """The loops with the addresses of a tile."""
        return LoopText(operands, self.printed(operands), self.constants(operands)).context()

    def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
        """Ranges of the shared loops, places and lengths of boxes."""
        if isinstance(self.whole.methods, Relayout):
            shape = view.accesses["x"][0].tensor.shape
            loops = tuple(f"i{place}" for place, size in enumerate(shape) if size > 1)
        else:
            loops = shared_loops(self.printed(Operands(call)).nests)
        members = {}
        for loop in loops:
            members[loop], members[f"{loop}_end"] = view.loops[loop]
        for name, accesses in view.accesses.items():
            box = view.boxes[name].box
            for axis in own_axes(accesses, loops):
                members[f"{name}_at{axis}"] = box[axis][0]
                members[f"{name}_len{axis}"] = box[axis][1] - box[axis][0]
        return members


def _unmovable(call: Call) -> bool:
    return bool(call.constants) or call.tensor(0).dtype.bits < 8


def _cut(call: Call, nests: Sequence[Nest], constant: Constant) -> Constant:
    """A constant operand in the order of its tiles; any other constant as it is."""
    accesses = {a for nest in nests for a in (*nest.ins, *nest.after) if a.tensor.name == constant.name}
    shapes = {operand_names(call)[index]: call.shape(index) for index in call.constants}
    shape = shapes.get(constant.name)
    if shape is None or len(accesses) != 1 or constant.dtype.bits < 8:
        return constant
    (access,) = accesses
    if access.tensor.shape != shape or constant.values.size != prod(shape):
        return constant
    extents = {name: size for nest in nests for name, size in nest.space.extents.items()}
    axes = cut_axes(access, set(shared_loops(nests)), extents)
    order = (*axes, *(axis for axis in range(len(shape)) if axis not in axes))
    values = constant.values.reshape(shape).transpose(order).reshape(-1)
    return replace(constant, values=values, along=tuple(loop for names in axes.values() for loop in names))


def take_over(kernel: Kernel) -> Kernel:
    """The kernel of `generic` over tiles."""
    return replace(
        kernel, name=f"Tiled{kernel.name}", methods=TileLoops(kernel), platform=PLATFORM.name,
        template=FOLDER / "loops.c.mako", sources=(*kernel.sources, FOLDER / "tiles.h"),
        summary=f"{kernel.summary.rstrip('.')}, over tiles in L1",
    )  # fmt: skip


for portable in PORTABLE.own_kernels():
    if isinstance(portable.methods, TransposedSumCodes):
        portable = replace(portable, methods=SumCodes(), name="SumCodes")
    if isinstance(portable.methods, (*TAKEN, Relayout)):
        PLATFORM.add(take_over(portable))
