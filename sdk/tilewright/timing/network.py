"""The bound of a compiled network: builds the image, with a trace once more for its layers, and bounds both."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tilewright.compile import Compiled, write
from tilewright.run.build import build
from tilewright.run.cycles import load_model
from tilewright.run.image import Toolchain
from tilewright.target import Target
from tilewright.timing.bound import Analysis, TimeBound
from tilewright.timing.flow_facts import ait, otawa
from tilewright.timing.machine import Cost

DEBUG = ("-g1",)
"""Lines of C; gcc's code is the same with and without."""


@dataclass(frozen=True)
class LayerBound:
    """What a plan instruction takes, None where it runs only for some inputs, which no count of its own tells."""

    name: str
    op: str
    cost: Cost | None


@dataclass(frozen=True)
class Bounded:
    """The bound of a network on a target, and its loop bounds as other tools take them."""

    model: str
    target: str
    toolchain: Toolchain
    core: str
    wait_states: int
    bound: TimeBound
    layers: tuple[LayerBound, ...]
    flow_facts: str
    annotations: str


def bound_network(
    compiled: Compiled, target: Target, *, layers: bool = False, loops: bool = False, keep: Path | None = None
) -> Bounded:
    """Build and bound; `keep` is where a copy of the image goes. See timing/bound.py for errors."""
    interface = compiled.artifacts.interface
    with tempfile.TemporaryDirectory(prefix="tilewright-time-") as name:
        work = Path(name)
        (work / "project").mkdir()
        write(compiled, work / "project")
        image = build(work / "project", interface, target, work / "plain", extra_flags=DEBUG)
        bound = Analysis(image).bound(again=loops)
        rows: tuple[LayerBound, ...] = ()
        if layers:
            traced = build(work / "project", interface, target, work / "traced", trace=True)
            costs = Analysis(traced).bound().layers
            plan = compiled.plan.instructions
            rows = tuple(LayerBound(one.name, one.call.node.op, costs.get(one.index)) for one in plan)
        if keep is not None:
            shutil.copyfile(image.path, keep)
        model = load_model(target)
        return Bounded(
            interface.model, target.name, image.toolchain, model.core if model is not None else "",
            target.flash_wait_states, bound, rows, otawa(image.path, bound.loops), ait(image.path, bound.loops),
        )  # fmt: skip
