"""A band of rows of a node is the same operator on smaller tensors: which rows it reads, and the call that computes it.

Rows are steps of axis 2, the outermost axis in memory that moves. Everything is derived from the node's index maps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from tilewright.errors import TilewrightError
from tilewright.layout import Layout
from tilewright.model import DType, Tensor
from tilewright.ops.codes import Moves, Products
from tilewright.ops.index.affine import Affine
from tilewright.ops.index.nest import Access
from tilewright.ops.operator import Call
from tilewright.ops.quantised.real import real_call, the_quantisation
from tilewright.ops.relayout import DOMAIN, ROW_SOURCES
from tilewright.ops.window import Window

AXIS = 2
"""The axis of rows."""


@dataclass(frozen=True)
class RowMap:
    """Row `r` of the result reads `extent` rows of an operand from `r * stride - before` on."""

    extent: int
    stride: int
    before: int

    def first(self, row: int) -> int:
        """The first row that is read, perhaps above the operand's first."""
        return row * self.stride - self.before

    def count(self, rows: int) -> int:
        """Rows that `rows` neighbouring rows of the result read together."""
        return (rows - 1) * self.stride + self.extent


ALIKE = RowMap(1, 1, 0)
"""A row of the result reads the same row of the operand."""


@dataclass(frozen=True)
class RowWise:
    """A node that can be computed by rows: for each operand of the run time how its rows are read.

    `fill` is the byte that stands in rows outside of the operand; None where nothing is read there. With `whole` a band
    is given its whole operand, from the band's first row on: its rows need not lie in one run.
    """

    call: Call
    maps: Mapping[int, RowMap]
    fill: int | None
    whole: bool = False

    @property
    def handed_over(self) -> bool:
        """True where the application gives the rows: each of them once, in order."""
        return self.call.node.op == "InputRows"

    @property
    def rows(self) -> int:
        """Rows of the result."""
        return self.call.outputs[0].shape[AXIS]


def row_wise(call: Call) -> RowWise | str:
    """How the node reads rows, or the sentence why it cannot be computed by rows."""
    if len(call.outputs) != 1 or call.chain:
        return "it has several results"
    y = call.outputs[0]
    if len(y.shape) not in (3, 4) or y.shape[0] != 1 or y.shape[AXIS] < 2:
        return "its result is no batch of one with several rows"
    if not 8 <= y.dtype.bits <= 32:
        return f"elements of {y.dtype.bits} bits do not lie in windows of rows"
    if call.node.op == "Lookup" and not call.node.domain:
        return RowWise(call, {0: ALIKE}, None)
    if call.node.op in ROW_SOURCES and call.node.domain == DOMAIN:
        return RowWise(call, {0: ALIKE}, None, whole=True)
    try:
        nests = _real(call).nests
    except TilewrightError:
        nests = ()
    if len(nests) != 1:
        return "it is not one loop nest"
    (nest,) = nests
    loops = [sub.loops for sub in nest.out.subscripts if isinstance(sub, Affine)]
    if len(loops) != len(y.shape) or nest.out.subscripts[AXIS] != Affine.loop(loops[AXIS][0] if loops[AXIS] else ""):
        return "its rows are no loop of their own"
    (loop,) = loops[AXIS]
    extents = {name: extent for name, extent in nest.space.items if name != loop}
    maps: dict[int, RowMap] = {}
    runtime = [i for i, t in enumerate(call.inputs) if t is not None and i not in call.constants]
    accesses = [*nest.ins, *nest.after]
    names = _operand_names(call)
    for access in accesses:
        index = names.get(access.tensor.name, -1)
        if index not in runtime:
            if loop in access.loops:
                return "a constant has values for every row"
            continue
        row_map = _row_map(access, loop, extents) if len(access.subscripts) == len(y.shape) else None
        if row_map is None or maps.setdefault(index, row_map) != row_map:
            return f"it does not read whole rows of '{call.tensor(index).name}'"
    if set(maps) != set(runtime):
        return "it reads an operand that its index map does not name"
    return _with_fill(call, maps)


def _with_fill(call: Call, maps: dict[int, RowMap]) -> RowWise | str:
    rows = call.outputs[0].shape[AXIS]
    outside = any(m.before > 0 or m.first(rows - 1) + m.extent > call.shape(index)[AXIS] for index, m in maps.items())
    if not outside:
        return RowWise(call, maps, None)
    if any(m.before >= m.extent or m.first(rows - 1) >= call.shape(index)[AXIS] for index, m in maps.items()):
        return "some windows lie outside of its operand"
    fill = _fill(call)
    return fill if isinstance(fill, str) else RowWise(call, maps, fill)


def _fill(call: Call) -> int | str:
    """The byte, over and over, of an element that leaves the result as it is where a window reaches outside."""
    x, codes = call.tensor(0), call.codes if _window(call) is not None else None
    if isinstance(codes, Products):
        value = np.asarray(the_quantisation(x).zero_point[0] if x.quantisation else 0)
    elif isinstance(codes, Moves) and not x.dtype.is_float:
        value = np.asarray(x.dtype.range[0])
    else:
        return "its windows reach over the first or last row"
    raw = value.astype(x.dtype.numpy).tobytes()
    return raw[0] if len(set(raw)) == 1 else "what stands outside is no byte over and over"


def _real(call: Call) -> Call:
    """The call that index maps are asked about: over real numbers, sums without their bias."""
    if all(t is None or t.quantisation is None for t in (*call.inputs, *call.outputs)):
        return call
    return real_call(
        call, DType.F32, operands=2 if isinstance(call.codes, Products) and _window(call) is not None else 0
    )


def _operand_names(call: Call) -> dict[str, int]:
    operator = call.operator
    return {} if operator is None else {operator.operand(i): i for i in range(len(call.inputs))}


def _row_map(access: Access, loop: str, extents: Mapping[str, int]) -> RowMap | None:
    """How rows of one access follow the loop of the result's rows; None where they do not."""
    if access.tensor.shape[0] != 1:
        return None
    sub = access.subscripts[AXIS]
    others = [s for axis, s in enumerate(access.subscripts) if axis != AXIS]
    if not isinstance(sub, Affine) or sub.div != 1 or any(loop in other.loops for other in others):
        return None
    stride = sub.coeffs.get(loop, 0)
    if stride < 1 or any(coeff < 0 for coeff in sub.coeffs.values()):
        return None
    extent = 1 + sum((extents[name] - 1) * coeff for name, coeff in sub.terms if name != loop)
    return RowMap(extent, stride, -sub.const) if sub.const <= 0 else None


def band(node: RowWise, rows: int) -> Call:
    """The call that computes `rows` neighbouring rows: rows outside of an operand stand in it as elements."""
    call = node.call
    inputs = tuple(
        _cut(tensor, node.maps[index].count(rows))
        if tensor is not None and index in node.maps and not node.whole
        else tensor
        for index, tensor in enumerate(call.inputs)
    )
    attributes = dict(call.node.attributes)
    window = _window(call)
    if window is not None:
        attributes.pop("auto_pad", None)
        attributes["pads"] = (0, *window.begins[1:], 0, *window.ends[1:])
    changed = replace(call.node, attributes=attributes)
    return replace(call, node=changed, inputs=inputs, outputs=(_cut(call.outputs[0], rows),))


def _window(call: Call) -> Window | None:
    return call.operator.window(call) if call.operator is not None and call.operator.window is not None else None


def _cut(tensor: Tensor, rows: int) -> Tensor:
    return replace(tensor, shape=(*tensor.shape[:AXIS], rows, *tensor.shape[AXIS + 1 :]))


def row_layout(tensor: Tensor, layout: Layout, rows: int) -> Layout | None:
    """Layout of a band of `rows` rows of the tensor, which lies in one run; None where rows are not outermost."""
    cut = _cut(tensor, rows)
    if layout == Layout.channels_last(tensor.shape):
        return Layout.channels_last(cut.shape)
    if layout.is_default and prod(tensor.shape[:AXIS]) == 1:
        return Layout.default(cut.shape)
    return None


def row_elements(tensor: Tensor) -> int:
    """Elements of one row."""
    return tensor.elements // tensor.shape[AXIS]


def row_step(tensor: Tensor, layout: Layout | None) -> int:
    """Elements from one row to the next in memory: those of a row, but fewer where rows are not outermost."""
    strides = layout.axis_strides(tensor.shape) if layout is not None else None
    return strides[AXIS] if strides is not None else row_elements(tensor)
