"""ScatterElements and ScatterND where the indices are known at compile time: runs of neighbours, where they start."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import prod

import numpy as np
import numpy.typing as npt
from tilewright.numerics import is_half
from tilewright.operators import one_axis
from tilewright.platform import Array, Call, Constant, DType, KernelMethods, Operands
from tilewright.platforms.generic.kernels.elements import INDEX, MOVED, constants_by_name, strides
from tilewright.platforms.generic.kernels.float_text import ATTRIBUTE
from tilewright.platforms.generic.kernels.scatter import ScatterContext, scatter_context, writes
from tilewright.platforms.generic.platform import PLATFORM

Places = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Level:
    """One loop over `count` runs, or over as many groups of them, `step` elements of the result apart."""

    count: int
    step: int


@dataclass(frozen=True)
class Runs:
    """Where updates go: `length` neighbours a run; runs in loops from the outermost on, around each of `starts`."""

    length: int
    levels: tuple[Level, ...]
    starts: tuple[int, ...]

    @property
    def runs(self) -> int:
        """Of one start."""
        return prod(level.count for level in self.levels)


def runs_of(places: Places) -> Runs:
    """Runs of the elements that updates are written to, in the order of the updates."""
    breaks = np.flatnonzero(np.diff(places) != 1) + 1
    length = int(np.gcd.reduce(np.append(breaks, len(places))))
    starts, levels = places[::length], list[Level]()
    while len(starts) > 1:
        steps = np.diff(starts)
        count = int(np.gcd.reduce(np.append(np.flatnonzero(steps != steps[0]) + 1, len(starts))))
        if count == 1:
            break
        levels.insert(0, Level(count, int(steps[0])))
        starts = starts[::count]
    return Runs(length, tuple(levels), tuple(starts.tolist()))


def _inside(indices: Array, size: int) -> Places:
    counted = indices.astype(np.int64)
    return np.clip(np.where(counted < 0, counted + size, counted), 0, size - 1)


@cache
def _places(shape: tuple[int, ...], axis: int | None, index_shape: tuple[int, ...], written: bytes) -> Places:
    """The element of a result of this shape that each update is written to; no axis for tuples of indices."""
    steps, indices = strides(shape), np.frombuffer(written, np.int64).reshape(index_shape)
    if axis is not None:
        grid = np.indices(index_shape)
        grid[axis] = _inside(indices, shape[axis])
        return np.tensordot(np.array(steps), grid, 1).reshape(-1)
    depth = index_shape[-1]
    tuples = indices.reshape(-1, depth)
    firsts = sum((_inside(tuples[:, j], shape[j]) * steps[j] for j in range(depth)), np.zeros(len(tuples), np.int64))
    return np.asarray(firsts[:, None] + np.arange(prod(shape[depth:]))).reshape(-1)


def places_of(call: Call) -> Places:
    """The element of the result that each update is written to, in the order of the updates."""
    shape, indices = call.shape(), call.constants[1]
    elements = call.node.op != "ScatterND"
    axis = one_axis(call, call.integer("axis", 0), len(shape)) if elements else None
    return _places(shape, axis, indices.shape, indices.astype(np.int64).tobytes())


@dataclass(frozen=True)
class RunsContext:
    """`from_` and `to` are C of a run's first update and first element of the result, over i0, i1, ...; the outermost
    loop is that of the starts, which stand in a table where there are several.
    """

    attribute: str
    scatter: ScatterContext
    length: int
    counts: tuple[int, ...]
    table: bool
    from_: str
    to: str
    plain: bool


@PLATFORM.kernel(
    "Scatter", "ScatterElements", "ScatterND", types=f"{MOVED}, {INDEX}, {MOVED} -> {MOVED}",
    template="scatter_runs.c.mako", sources=["vectorised.h", "runs.h"], preference=5,
)  # fmt: skip
class ScatterRuns(KernelMethods):
    """Runs of updates copied, or reduced into the result, in loops that are known at compile time."""

    def accepts(self, call: Call) -> str | None:
        """Constant indices, and a reduction that has an expression in C."""
        return writes(call) or (None if 1 in call.constants else "the indices are known at run time only")

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Constant operands but for the indices, and the starts where there are several."""
        starts = runs_of(places_of(operands.call)).starts
        wide = DType.U16 if max(starts) < 1 << 16 else DType.I32
        table = Constant("starts", wide, np.array(starts, np.uint16 if wide == DType.U16 else np.int32))
        return (*constants_by_name(operands, 0, 2), *((table,) if len(starts) > 1 else ()))

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """The result takes the memory of the data."""
        return () if 0 in call.constants else ((0, 0),)

    def cost(self, call: Call) -> float:
        """The data, the updates and some ten instructions a run."""
        runs = runs_of(places_of(call))
        updates = len(runs.starts) * runs.runs * runs.length
        each = 1.75 if call.text("reduction", "none") == "none" else 5.0
        return 1.75 * call.outputs[0].elements + each * updates + 10.0 * updates / runs.length

    def context(self, operands: Operands) -> RunsContext:
        """The loops."""
        call = operands.call
        runs = runs_of(places_of(call))
        table = len(runs.starts) > 1
        levels = (*((Level(len(runs.starts), 0),) if table else ()), *runs.levels)
        counts = tuple(level.count for level in levels)
        apart = [prod(counts[place + 1 :]) * runs.length for place in range(len(counts))]
        to = [f"i{place} * {level.step}" for place, level in enumerate(levels) if level.step]
        first = ["(int)starts[i0]"] if table else [str(runs.starts[0])] if runs.starts[0] or not to else []
        scatter = scatter_context(call, (), "", "", 0)
        return RunsContext(
            ATTRIBUTE, scatter, runs.length, counts, table,
            " + ".join(f"i{place} * {step}" for place, step in enumerate(apart)) or "0", " + ".join((*first, *to)),
            not scatter.reads and (scatter.moves or not is_half(scatter.dtype)),
        )  # fmt: skip
