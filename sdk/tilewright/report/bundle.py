"""What a report says of several networks in one image: what they share, and where each one's arena lies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tilewright.report.text import memory_table, number, printable, run_lines, table

if TYPE_CHECKING:
    from tilewright.report.build import Report

STATES = 6
"""Common states that are listed; of more the others are counted."""


def bundle_text(report: Report) -> str:
    """The networks side by side, then what they share; empty where the report is of one network."""
    shared = report.bundle
    if shared is None:
        return ""
    heads = ["network", "arena at", "arena", "state", "constants alone", "outputs"]
    rows = []
    for place, network in zip(shared.arena, report.networks, strict=True):
        constants = sum(row.constants + row.tables for row in network.memory.values())
        state = sum(row.state for row in network.memory.values())
        ran = "-" if network.run is None else "match" if network.run.match else "differ"
        cells = [place.offset, place.bytes, state, constants]
        rows.append([place.network, *(number(cell) for cell in cells), ran])
    lines = [table(heads, rows, right=range(1, 5))]
    lines.append(
        f"{number(shared.shared_arrays)} of {number(shared.arrays)} arrays of constants serve several networks "
        f"and save {number(shared.saved_bytes)} B"
    )
    lines += [f"{' and '.join(pair)} may run at a time" for pair in shared.concurrent]
    lines += [
        f"state '{printable(one.name)}', {number(one.bytes)} B: {', '.join(one.networks)}"
        for one in shared.states[:STATES]
    ]
    if others := shared.states[STATES:]:
        lines.append(f"and {len(others)} more states, {number(sum(one.bytes for one in others))} B")
    return "\n".join(lines)


def networks_text(reports: Sequence[Report]) -> list[str]:
    """What is told of each network alone: its levels, and its run."""
    parts = []
    for one in reports:
        lines = [f"{one.model.name} alone", memory_table(one)]
        if one.run is not None:
            lines.append(run_lines(one.run, bool(one.model.states)))
        parts.append("\n".join(lines))
    return parts
