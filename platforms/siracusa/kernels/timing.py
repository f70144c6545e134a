"""Modelled cycles of N-EUREKA's jobs, and of the cores that make codes of their sums.

The figures come from 17 layers that were measured in GVSoC with weights in the weight memory, and from the measured
requantisation of eight cores; the jobs of these layers are met to 5 % each. What a tile and a job cost the cores was
fitted to three whole networks. All are the simulator's cycles, not silicon's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from tilewright.platform import JobTimes
from tilewright.platforms.siracusa.kernels.packing import Mode

SIDE = 6
"""Rows and columns of results that are computed at once."""
ISSUE = 900
"""To start the first jobs of a tile and to write the second, instructions that come from L2 counted.

The first is written beside what came before."""
FINISH = 450
"""To give a job's sums to the cores, for them to begin, and to wait for them."""
TOGETHER = 1.06
"""How much longer both take beside each other: they share the banks of L1."""
TILE = 150
"""To enter the tile and to leave it."""


def line_cycles(mode: Mode, rows: Any, columns: Any, outs: Any, ins: int, bits: int) -> Any:
    """At most six rows of at most 32 output channels; integers or arrays."""
    wide = -(-columns // SIDE)
    blocks = 1 if mode is Mode.APART else -(-ins // mode.ins)
    stores = rows * columns * -(-outs * 4 // 32)
    if mode is Mode.ONE:
        return wide * blocks * (36 + outs + 23.6) + wide * 3.7 + stores
    if mode is Mode.APART:
        return wide * (64 + bits * outs + 32.6) + stores
    return blocks * ((rows + 2) * (columns + 2 * wide) + wide * (bits * outs + 24.6)) + stores


def job_times(jobs: int, engine: float, codes: float) -> JobTimes:
    """The jobs of a tile, one by one; see `tile_cycles`."""
    return JobTimes(jobs, TILE + ISSUE, engine / jobs, codes / jobs + FINISH)


def tile_cycles(jobs: Any, engine: Any, codes: Any) -> Any:
    """A tile of so many jobs: cycles of the engine, and of the cores for codes.

    The first job has nothing beside it, nor have the codes of the last.
    """
    finish = codes + jobs * FINISH
    together = np.maximum(engine, finish) * (jobs - 1) / jobs * TOGETHER
    return np.asarray(np.ceil(TILE + ISSUE + engine / jobs + finish / jobs + together), np.int64)
