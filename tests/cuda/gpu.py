"""Libraries for the tests of the platform cuda: a network is emitted and built once per session."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from plan.plans import plan_of
from tilewright.memory.buffer_layout import BufferLayout, Policy, compute_buffer_layout
from tilewright.model import Model
from tilewright.plan.plan import ExecutionPlan
from tilewright.plan.schedule import schedule_batches, with_groups
from tilewright.platforms.cuda.emit import STAND_IN, TEMPLATES, emit_network
from tilewright.run.cuda_library import build_library
from tilewright.target import load_target

INT8 = ("resnet8_int8", "dscnn_int8", "vww_int8", "ad_int8")


@dataclass(frozen=True)
class Built:
    """A plan with its layout, the text of its file, and the library that the stand-in's compiler made."""

    plan: ExecutionPlan
    layout: BufferLayout
    text: str
    library: Path


def gpu_plan(source: Path | Model, *, passes: bool = True) -> ExecutionPlan:
    """The plan of a network on the platform cuda, with its sweeps."""
    plan = plan_of(source, "cuda", passes=passes)
    return with_groups(plan, schedule_batches(plan))


def build_text(text: str, folder: Path, level: str = "-O1") -> Path:
    """Compile a `network.cu` for the stand-in; one with a change for a test without what takes g++ long."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "network.cu").write_text(text)
    (folder / STAND_IN).write_text((TEMPLATES / STAND_IN).read_text())
    target = load_target("cuda_host")
    flags = tuple(level if flag == "-O2" else flag for flag in target.compile_flags)
    return build_library(folder, replace(target, compile_flags=flags), folder)


def built(plan: ExecutionPlan, folder: Path, policy: Policy = "packed") -> Built:
    """Emit and compile a plan."""
    layout = compute_buffer_layout(plan, policy)
    text = emit_network(plan, layout)
    return Built(plan, layout, text, build_text(text, folder, "-O2"))
