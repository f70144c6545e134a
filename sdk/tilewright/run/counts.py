"""What one inference cost, counted exactly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

SpanKind = Literal["layer", "kernel", "copy", "wait"]


@dataclass(frozen=True)
class LayerCount:
    """What one plan instruction cost: instructions, bytes loaded and stored per memory level, modelled cycles."""

    instruction: int
    instructions: int
    loaded_bytes: Mapping[str, int] = field(default_factory=dict)
    stored_bytes: Mapping[str, int] = field(default_factory=dict)
    modelled_cycles: int | None = None


@dataclass(frozen=True)
class Counts:
    """One inference, exactly: instructions in all, by plan instruction and by function, bytes moved per level.

    Layers need an image with trace; bytes are known in a simulator only. `harts` are instructions per hart. `counter`
    says what counted: `plugin`, `callgrind`, or `icount`, the core's own counter, which gives nothing but the total.
    `calls` are the instructions of each call where there were several and each was counted: all else is their sum.
    `modelled_cycles` are those of the core's table, see `run/cycles.py`; None where there is none.
    """

    instructions: int
    layers: tuple[LayerCount, ...] = ()
    functions: Mapping[str, int] = field(default_factory=dict)
    loaded_bytes: Mapping[str, int] = field(default_factory=dict)
    stored_bytes: Mapping[str, int] = field(default_factory=dict)
    harts: tuple[int, ...] = ()
    modelled_cycles: int | None = None
    counter: str = "plugin"
    calls: tuple[int, ...] = ()


@dataclass(frozen=True)
class Span:
    """Cycles of one thing that a plan instruction did: all of it, a kernel on the cores, a list of copies being
    started, a wait for one. `first` is the cycle at which it began; spans stand in the order in which they end."""

    instruction: int
    kind: SpanKind
    first: int
    cycles: int
