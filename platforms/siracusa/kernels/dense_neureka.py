"""Integer Gemm and MatMul with constant weights as 1x1 convolutions of N-EUREKA: rows are pixels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from tilewright.operators import remembered
from tilewright.platform import Call, Constant, JobKernelMethods, JobTimes, Operands, Rule, TileView, multiple, whole
from tilewright.platforms.generic.kernels.dense_i8 import accepts, matrix
from tilewright.platforms.pulp.kernels.conv_i8 import TYPES
from tilewright.platforms.pulp.kernels.dense_i8 import rows_in, rows_of
from tilewright.platforms.siracusa.kernels.jobs import (
    SOURCES,
    TEMPLATE,
    TILE,
    JobContext,
    Layer,
    constants,
    context,
    cycles,
    refusal,
    sums_bytes,
    tile_numbers,
    times,
)
from tilewright.platforms.siracusa.kernels.packing import Mode
from tilewright.platforms.siracusa.kernels.timing import SIDE
from tilewright.platforms.siracusa.platform import PLATFORM


@remembered
def layer_of(call: Call) -> Layer:
    """The matrix product as a convolution with one tap."""
    return Layer(Mode.ONE, np.ascontiguousarray(matrix(call)[0].T)[:, None, :])


def picture(rows: Any) -> tuple[Any, Any]:
    """Rows and columns of the picture that so many pixels are seen as: six rows of it are computed at once."""
    high = np.where(rows % SIDE == 0, SIDE, 1)
    return high, rows // high


@PLATFORM.kernel(
    "Gemm", "MatMul", types=TYPES, template=TEMPLATE, sources=SOURCES, engine="neureka", preference=20,
)  # fmt: skip
class NeurekaDenseI8(JobKernelMethods):
    """Integer matrix product with a constant right-hand side as jobs of the accelerator, codes made by the cores."""

    tile_type = TILE

    def accepts(self, call: Call) -> str | None:
        """Rows times a constant matrix of eight bits; a requantisation of 32 bits."""
        return accepts(call) or refusal(call, matrix(call)[1])

    def rules(self, call: Call) -> list[Rule]:
        """The sum stays whole; columns go in those of a job."""
        jobs = multiple("n", Mode.ONE.outs, why="a job computes 32 columns")
        return [*whole("k", why="a job's sums go over all of a row"), jobs]

    def cycles(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """Jobs, codes, and what of both runs side by side."""
        return cycles(call, layer_of(call), *picture(rows_in(sizes)), sizes["n"])

    def job_times(self, call: Call, sizes: Mapping[str, int]) -> JobTimes:
        """Its jobs one by one."""
        rows, columns = picture(np.asarray(rows_in(sizes)))
        return times(call, layer_of(call), int(rows), int(columns), sizes["n"])

    def tile_scratch(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """The sums of two jobs."""
        return sums_bytes(call, layer_of(call), *picture(rows_in(sizes)), sizes["n"])

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights for the unit, numbers for the cores."""
        return constants(operands.call, layer_of(operands.call), "n")

    def context(self, operands: Operands) -> JobContext:
        """The words that all jobs share, and the cores' requantisation."""
        return context(operands.call, layer_of(operands.call), "a")

    def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
        """The rows of one tile as a picture, its columns as channels."""
        rows, columns = (int(size) for size in picture(np.asarray(rows_of(view))))
        numbers = {"rows": rows, "columns": columns, "in_rows": rows, "in_columns": columns, "top": 0, "left": 0}
        return tile_numbers(call, layer_of(call), numbers, view.size("n"), view.loops["n"][0], view.stage)
