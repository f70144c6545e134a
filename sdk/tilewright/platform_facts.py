"""What a platform declares of its chip and its code, beside memories and kernels; import it from `platform`."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum

from tilewright.errors import PlatformError


@dataclass(frozen=True)
class TileCosts:
    """What the core that drives copies and tiles adds, in cycles: to a layer, to a tile whose copies it waits for, to
    one whose copies run beside the cores, and to each further kernel of a tile. `both_ways`: loads and stores run at
    once. `doubt` is the share of a layer's cycles by which second buffers must be better to be taken. `together` are
    the most layers whose tiles are computed as one; every further one is asked for and costs time of compiling. `turn`
    is what a layer takes that is computed at one sitting with others; 0 where the firmware has no `tilewright_barrier`,
    and nothing is."""

    layer: int = 0
    tile: int = 0
    tile_beside: int = 0
    kernel: int = 0
    both_ways: bool = False
    doubt: float = 0.0
    together: int = 3
    turn: int = 0


@dataclass(frozen=True)
class Engine:
    """A unit of the chip that computes: a core, a cluster, an accelerator. A platform's first one runs plain C.

    `memory` names the level of a memory of its own, in which constants of its kernels may rest.
    """

    name: str
    summary: str = ""
    memory: str = ""


@dataclass(frozen=True)
class Rate:
    """What a kernel takes for one multiply-accumulate, or for one result where nothing is multiplied, of a layer of
    usual size: instructions, or cycles where the platform has a model of time. A layer of one of its `kinds`, as
    `kind_of_products` names them, is slow where another kernel takes many times as much."""

    each: float
    kinds: tuple[str, ...] = ()


class Feature(Enum):
    """What the code of a platform can be. The code that tilewright writes itself can be all of it; a platform with an
    emitter of its own declares what that knows."""

    ALIASING = "aliasing"
    """Results written to, or read from, a part of another slot, so that Concat, Split and kin move no bytes."""
    RECOMPUTE = "recompute"
    """Instructions that run a second time where that saves room."""
    ROW_CHAINS = "row chains"
    """Several nodes computed together, band by band of rows."""
    CONTEXT = "context"
    """Several instances of one network: `--context`."""
    REGIONS = "regions"
    """Weights of a program's regions that lie outside of the code: `--program`."""
    LIBRARY = "library"
    """A library of C that other builds take in: `--project`."""
    STATE = "state"
    """Tensors that live from call to call: `--state`."""
    KERNELS_APART = "kernels apart"
    """Kernels as C functions that this machine's compiler builds one by one: `tilewright conform`."""
    SKIPPING = "skipping"
    """Instructions that do not run where a condition makes their results needless: one branch of an If."""


@dataclass(frozen=True)
class Allowance:
    """What `check` takes for code and stack before a build: bytes of libraries, bytes of code for a character of the
    generated C (functions on integers, functions on floats), bytes of stack."""

    library_bytes: int = 16 * 1024
    integer: float = 0.6
    real: float = 1.0
    stack_bytes: int = 1024


def require_features(name: str, emitter: str, supports: Collection[Feature] | None) -> None:
    """PlatformError where a platform writes its code itself and does not say what that can be."""
    if emitter and supports is None:
        raise PlatformError(
            f"platform '{name}' does not say what its emitter supports",
            why=f"'{emitter}' writes its code, and the plan is made of what that knows",
            fix="give supports=(), or those of " + ", ".join(f"Feature.{one.name}" for one in Feature),
        )
