"""Memory for a reviewer: every independent check of the placement once more, and what a build and a run say."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tilewright.compile import Compiled
from tilewright.errors import TilewrightError
from tilewright.evidence.document import Check, Level, MemoryEvidence, Place
from tilewright.memory.check import check as check_placement
from tilewright.memory.check_guards import check_guards
from tilewright.memory.check_states import check_states
from tilewright.memory.needs import MemoryReport
from tilewright.plan.check import check as check_plan
from tilewright.report.build import Report
from tilewright.rows.check import check as check_rows
from tilewright.run.image import Image
from tilewright.tiling.check import check as check_tiles


def memory(compiled: Compiled, report: Report, image: Image | None, missing: str = "") -> MemoryEvidence:
    """The section; `image` tells the stack's proof, None where nothing was built."""
    stack = image.stack if image is not None else None
    return MemoryEvidence(
        levels=tuple(_level(name, level) for name, level in report.memory.items()),
        checks=tuple(checks(compiled)),
        places=tuple(
            Place(region.name, region.offset, region.size, region.first, region.last)
            for region in sorted(compiled.placed.regions, key=lambda r: (r.offset, r.first))
        ),
        stack_bytes=stack.size_bytes if stack is not None else None,
        stack_proved=stack is not None and stack.proved,
        stack_path=tuple(_plain(name) for name in stack.path) if stack is not None else (),
        stack_unknown=stack.unknown if stack is not None else (),
        fences=report.run.fences if report.run is not None else (),
        missing=missing,
    )


def checks(compiled: Compiled) -> list[Check]:
    """Every checker of the placed plan, none of which shares code with what it checks."""
    placed, plan = compiled.placed, compiled.plan
    schedules = [i.schedule for i in plan.instructions if i.schedule is not None]
    capacity = {level.name: level.size for level in compiled.request.levels}
    logs = [
        _run(
            "plan", "every slot is written before it is read, and written once", len(plan.instructions),
            lambda: check_plan(plan),
        ),
        _run(
            "placement",
            "every buffer has one aligned place; no two that live together share a byte but where it is permitted; "
            "the peak is the highest byte used and the lower bound is what it says it is",
            len(placed.problem.buffers), lambda: check_placement(placed.problem, placed.solution),
        ),
        _run(
            "states", "what lives between calls is neither read too late nor written too early", len(plan.state),
            lambda: check_states(placed),
        ),
        _run(
            "guards", "what is left out for an outcome leaves nothing unwritten that is read", len(plan.instructions),
            lambda: check_guards(placed),
        ),
        _run(
            "rows", "chains of rows keep every row until its last reader",
            sum(bool(i.call.chain) for i in plan.instructions), lambda: check_rows(compiled.bound),
        ),
    ]  # fmt: skip
    for schedule in schedules:
        logs.append(
            _run(
                f"tiles of '{schedule.nodes[-1]}'", "tiles cover the result once, copies bring what they read",
                schedule.tiles, partial(check_tiles, schedule, capacity.get(schedule.compute_level)),
            )
        )  # fmt: skip
    return logs


def _run(name: str, holds: str, items: int, check: Callable[[], None]) -> Check:
    try:
        check()
    except TilewrightError as error:
        return Check(name, holds, items, False, str(error))
    return Check(name, holds, items, True)


def _level(name: str, level: MemoryReport) -> Level:
    parts = {part: size for part, size in level.parts().items() if size}
    parts |= {} if level.code is None else {"code": level.code}
    return Level(name, level.size, level.total, level.lower_bound, level.status or "", parts, dict(level.provenance))


def _plain(title: str) -> str:
    """A function's name from gcc's title of it, without the file's path."""
    return title.rpartition(":")[2]
