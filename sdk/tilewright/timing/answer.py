"""What `tilewright time` says: a table and JSON of schema `tilewright/time/1`."""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.report.codec import Json
from tilewright.report.text import printable, table
from tilewright.timing.bound import Place
from tilewright.timing.machine import Cost
from tilewright.timing.network import Bounded, SliceBound
from tilewright.timing.unreached import Unreached

SCHEMA = "tilewright/time/1"
SHOWN = 10
"""Places that are shown; all are in the JSON."""


def as_text(of: Bounded, width: int | None = None) -> str:
    """Bounds, layers, and the places where data decide."""
    cost, chain = of.bound.cost, of.toolchain
    rows = [["instructions", f"{cost.least:,}", f"{cost.most:,}", _apart(cost.least, cost.most)]]
    if of.bound.modelled:
        cycles = (cost.least_cycles, cost.most_cycles)
        rows.append(["modelled cycles", *(f"{one:,}" for one in cycles), _apart(*cycles)])
    parts = [
        f"{of.model} on {of.target}, one run over all inputs ({chain.version})",
        table(["", "at least", "at most", "apart"], rows, right=(1, 2, 3), width=width),
    ]
    if of.bound.modelled:
        waits = f"{of.wait_states} wait states" if of.wait_states else "no wait states"
        parts.append(f"modelled cycles: {of.core}, {waits} of flash, by the core's table; no bound on silicon")
    if (longest := of.longest_slice) is not None:
        parts.append(_slices(of, longest))
    if of.layers:
        parts.append(_layers(of, width))
    parts.append(_places(of.bound.places, width))
    parts.append(_unreached(of.bound.unreached))
    return "\n\n".join(parts)


def as_json(of: Bounded) -> Json:
    """All of it."""
    cost = of.bound.cost
    return {
        "schema": SCHEMA,
        "model": of.model,
        "target": of.target,
        "toolchain": {
            "compiler": of.toolchain.compiler, "version": of.toolchain.version, "flags": of.toolchain.flags
        },
        "instructions": {"least": cost.least, "most": cost.most},
        "modelled_cycles": _cycles(cost) if of.bound.modelled else None,
        "core": of.core or None,
        "flash_wait_states": of.wait_states,
        "layers": [
            {
                "name": layer.name, "op": layer.op,
                "instructions": {"least": layer.cost.least, "most": layer.cost.most} if layer.cost else None,
                "modelled_cycles": _cycles(layer.cost) if layer.cost and of.bound.modelled else None,
            }
            for layer in of.layers
        ],
        "slices": [
            {
                "first": one.first, "last": one.last,
                "instructions": {"least": one.cost.least, "most": one.cost.most},
                "modelled_cycles": _cycles(one.cost) if of.bound.modelled else None,
            }
            for one in of.slices
        ],
        "places": [
            {
                "function": one.function, "file": one.line.file if one.line else None,
                "line": one.line.number if one.line else None, "address": one.address, "times": one.times,
                "instructions": one.instructions, "most": one.most,
            }
            for one in of.bound.places
        ],
        "loops": [
            {
                "function": one.function, "file": one.line.file if one.line else None,
                "line": one.line.number if one.line else None, "address": one.address, "most": one.most,
            }
            for one in of.bound.loops
        ],
        "unreached": [
            {
                "function": one.function, "file": one.line.file, "line": one.line.number, "address": one.address,
                "instructions": one.instructions, "dead": one.dead,
            }
            for one in of.bound.unreached
        ],
        "unknown_loads": of.bound.unknown_loads,
    }  # fmt: skip


def _unreached(places: Sequence[Unreached]) -> str:
    dead = sorted({one.line.number for one in places if one.dead})
    count = sum(one.instructions for one in places)
    lines = f"no input reaches line {', '.join(map(str, dead))} of {places[0].line.file}" if dead else "no dead line"
    return f"{lines}; {count} instructions, copies of other lines among them, are reached by no input"


def _cycles(cost: Cost) -> Json:
    return {"least": cost.least_cycles, "most": cost.most_cycles}


def _apart(least: int, most: int) -> str:
    return "equal" if least == most else f"{100 * (most - least) / least:.3g} %" if least else ""


def _slices(of: Bounded, longest: SliceBound) -> str:
    names = dict.fromkeys((printable(longest.first, 60), printable(longest.last, 60)))
    cycles = f" and {longest.cost.most_cycles:,} modelled cycles" if of.bound.modelled else ""
    return (
        f"{len(of.slices)} slices; the longest, {' to '.join(names)}, takes at most {longest.cost.most:,} instructions"
        f"{cycles}"
    )


def _layers(of: Bounded, width: int | None) -> str:
    rows = [
        [f"{number}", printable(layer.name, 60), layer.op,
         *([f"{layer.cost.least:,}", f"{layer.cost.most:,}"] if layer.cost else ["", "data decide"])]
        for number, layer in enumerate(of.layers)
    ]  # fmt: skip
    return "layers, of an image with trace\n" + table(
        ["#", "layer", "op", "at least", "at most"], rows, right=(0, 3, 4), width=width
    )


def _places(places: Sequence[Place], width: int | None) -> str:
    costly = [one for one in places if one.instructions]
    if not costly:
        return "no branch on data costs anything"
    rows = [
        [one.function, str(one.line) if one.line else "", f"{one.times:,}", f"{one.most:,}", f"{one.instructions:,}"]
        for one in costly[:SHOWN]
    ]
    more = f"\nand {len(costly) - SHOWN} more (--json has all)" if len(costly) > SHOWN else ""
    heads = ["function", "line", "times", "most", "in all"]
    return (
        "where data decide: instructions by which the ways differ, at most and in all\n"
        + table(heads, rows, right=(2, 3, 4), width=width)
        + more
    )
