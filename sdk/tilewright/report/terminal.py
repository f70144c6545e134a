"""The whole report for a terminal, as wide as that is: memory, layers with numbers and short names, profile, run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tilewright.report.build import InnerReport, LayerReport, MemberReport, Report
from tilewright.report.bundle import bundle_text, networks_text
from tilewright.report.calls import StateReport
from tilewright.report.chains import Line, lines
from tilewright.report.data_set import confusion_text
from tilewright.report.expensive import slow_of
from tilewright.report.header import header
from tilewright.report.names import short_names
from tilewright.report.text import UNKNOWN, memory_table, number, printable, run_lines, table
from tilewright.report.tile_times import TileCycles

_SPARE = ("numerics", "tile")
"""Columns of the layers that a narrow terminal does without, in this order."""


def render(report: Report, width: int | None = None) -> str:
    """The whole report, each part under its own line, final newline included; tables in at most `width` columns."""
    parts = [header(report), memory_table(report, width)]
    if report.layers and report.model.states:
        parts.append(state_table(report.model.states, width))
    if report.layers:
        parts.append(layer_table(report, width))
    if any(layer.instructions is not None for layer in report.layers):
        parts.append(profile_table(report, width))
    if any(layer.profile for layer in report.layers):
        parts.append(tile_table(report, width))
    if report.bundle is not None:
        parts += [bundle_text(report), *networks_text(report.networks)]
    if report.run is not None:
        several = report.bundle is not None  # its states are those of its networks
        parts.append(run_lines(report.run, bool(report.model.states) or several))
        if report.run.data_set is not None and (confusion := confusion_text(report.run.data_set)):
            parts.append(confusion)
    return "\n\n".join(parts) + "\n"


def state_table(states: Sequence[StateReport], width: int | None = None) -> str:
    """One row per state: where it comes from, its type and bytes, and why it is copied where it is."""
    heads = ["state", "written by", "type", "bytes", "after a call"]
    rows = [
        [
            state.name, state.output, f"{state.dtype}{list(state.shape)}", number(state.bytes),
            f"copied: {state.copied}" if state.copied else "in place",
        ]
        for state in states
    ]  # fmt: skip
    return table(heads, rows, right=(3,), width=width)


def layer_table(report: Report, width: int | None = None) -> str:
    """One row per layer or chain by its number in the plan, members of chains below; what no row has is no column."""
    layers = report.layers
    names, place = _names(layers), {layer.name: index for index, layer in enumerate(layers)}
    heads = ["#", "layer", "op", "kernel", "slow", "numerics", "tile", "macs", "copied", "cycles", "error"]
    rows = [_layer_row(line, names, place) for line in lines(layers)]
    if not any(layer.tile or layer.fused_into for layer in layers):
        rows = [[*row[:6], "", *row[7:]] for row in rows]
    heads, rows = _filled(heads, rows)
    text = _layers(heads, rows, width)
    for head in _SPARE:
        if width is not None and head in heads and max(map(len, text.splitlines())) > width:
            rows = [[cell for cell, name in zip(row, heads, strict=True) if name != head] for row in rows]
            heads = [name for name in heads if name != head]
            text = _layers(heads, rows, width)
    return text + copied_line(report)


def _layer_row(line: Line, names: Mapping[str, str], place: Mapping[str, int]) -> list[str]:
    """What a row of the layer table says, from the number to the error."""
    layer, macs, slow = line.layer, number(line.macs or None), slow_of(line)
    if isinstance(line.inside, MemberReport):
        inner = [one for one in layer.inner if one.node == line.inside.name]
        error = _error(max(inner, key=lambda one: (one.max_lsb_error or 0, one.max_abs_error or 0))) if inner else ""
        return ["", _inside(line, names), line.inside.op, line.inside.kernel, slow, "", "", macs, "", "", error]
    if line.inside is None and len(line.group) > 1:
        copied = number(sum(layer.copied_bytes.values()) or None)
        op, tiles = f"{len(line.group)} layers", _tile(layer, place)
        return ["", _whole(line, names), op, "tile by tile", slow, "", tiles, macs, copied, number(layer.cycles), ""]
    chained, shown = line.inside is not None, line.inside or layer
    kernel = shown.kernel + (f" on {shown.engine}" if shown.engine else "")
    copied = "" if chained else number(sum(shown.copied_bytes.values()) or None)
    cycles, tile = (number(shown.kernel_cycles), "") if chained else (number(shown.cycles), _tile(shown, place))
    name = _inside(line, names) if chained else names[shown.name]
    row = [f"{line.number}", name, shown.op, kernel, slow, shown.numerics, tile]
    return [*row, macs, copied, cycles, _error(shown)]


def _named(line: Line, names: Mapping[str, str]) -> str:
    """A layer, or a chain, by its name."""
    return names[line.layer.name] if len(line.group) == 1 else _whole(line, names)


def _whole(line: Line, names: Mapping[str, str]) -> str:
    """A chain by its first and its last layer."""
    return f"{names[line.group[0].name]} to {names[line.group[-1].name]}"


def _inside(line: Line, names: Mapping[str, str]) -> str:
    """What is inside of a chain, set in."""
    assert line.inside is not None
    name = line.inside.name
    return f"  {names[name] if name in names else printable(name, 24)}"


def _layers(heads: Sequence[str], rows: Sequence[Sequence[str]], width: int | None) -> str:
    words = ("layer", "op", "kernel", "numerics", "tile")
    right = [column for column, head in enumerate(heads) if head not in words]
    return table(heads, rows, right=right, width=width)


def _names(layers: Sequence[LayerReport]) -> dict[str, str]:
    return short_names([layer.name for layer in layers])


def _error(compared: LayerReport | InnerReport) -> str:
    """The largest error, in steps of quantised values where it holds such."""
    steps = compared.max_lsb_error
    if steps is None:
        return number(compared.max_abs_error)
    return f"{number(steps)} steps" if steps else "0"


def _tile(layer: LayerReport, place: Mapping[str, int]) -> str:
    """The tile and how many there are, or the number of the layer whose tiles a fused one is computed in."""
    if layer.fused_into in place:
        return f"with {place[layer.fused_into]}"
    if not layer.tile:
        return "whole"
    return " ".join(f"{loop}={size}" for loop, size in layer.tile.items()) + f" x {layer.tiles}"


def _filled(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[list[str], list[list[str]]]:
    """Without the columns in which no row has anything."""
    columns = [i for i in range(len(heads)) if any(row[i] not in ("", UNKNOWN) for row in rows)]
    return [heads[i] for i in columns], [[row[i] for i in columns] for row in rows]


def copied_line(report: Report) -> str:
    """All bytes that tiles move, against every operand, result and constant once for each tiled layer alone."""
    ways: dict[str, int] = {}
    for layer in report.layers:
        for way, size in layer.copied_bytes.items():
            ways[way] = ways.get(way, 0) + size
    if not ways:
        return ""
    tiled = [layer for layer in report.layers if layer.copied_bytes or layer.fused_into]
    alone = sum(layer.operand_bytes or 0 for layer in tiled)
    total = sum(ways.values())
    each = ", ".join(f"{way} {number(size)}" for way, size in ways.items())
    return f"\ntiles move {number(total)} bytes ({each}); every layer alone, every byte once: {number(alone)}"


def profile_table(report: Report, width: int | None = None) -> str:
    """The network, then layers and chains: instructions, their share and per multiply-accumulate, bytes per level."""
    layers = report.layers
    total = sum(layer.instructions or 0 for layer in layers)
    levels = [name for name in report.memory if any(name in moved for x in layers for moved in _moved(x))]
    heads = ["#", "layer", "instructions", "share", "per mac", "slow"]
    heads += [f"{verb} {level}" for level in levels for verb in ("loaded", "stored")]
    rows = [["", printable(report.model.name, 26), *_cost(total, total, report.model.macs)]]
    rows[0].append("")
    rows[0] += [number(sum(_moved(x)[way].get(level, 0) for x in layers)) for level in levels for way in (0, 1)]
    names = _names(layers)
    for line in lines(layers):
        layer, slow = line.layer, slow_of(line)
        if line.inside is not None:
            rows.append(["", _inside(line, names), "", "", "", slow, *[""] * (2 * len(levels))])
        elif layer.instructions is not None:
            row = [f"{line.number}", _named(line, names), *_cost(layer.instructions, total, line.macs), slow]
            rows.append(row + [number(_moved(layer)[way].get(level, 0)) for level in levels for way in (0, 1)])
    heads, rows = _filled(heads, rows)
    text = table(heads, rows, right=[0, *range(2, len(heads))], width=width)
    inside = any(line.inside is not None for line in lines(layers))
    return text + ("\nwhat is inside of a chain runs in turns and is counted as a whole" if inside else "")


def tile_table(report: Report, width: int | None = None) -> str:
    """Layers and their tiles: cycles of kernels, copies and waits; the measured ones where there are any."""
    measured = any(tile.measured for layer in report.layers for tile in layer.profile)
    heads = ["#", "layer > tile", "cycles", "kernel", "copy", "wait", "copied", "slow"]
    rows: list[list[str]] = []
    names = _names(report.layers)
    for line in lines(report.layers):
        layer = line.layer
        if not layer.profile or line.inside is not None:
            continue
        cycles_of_tiles = [
            (tile.measured if measured else tile.modelled) or TileCycles(0, 0, 0) for tile in layer.profile
        ]
        sums = TileCycles(*(sum(getattr(one, part) for one in cycles_of_tiles) for part in ("kernel", "copy", "wait")))
        size = sum(layer.copied_bytes.values())
        rows.append(
            [
                f"{line.number}",
                _named(line, names),
                *_cycles(sums),
                number(size),
                layer.slow.factor if layer.slow else "",
            ]
        )
        for tile, cycles in zip(layer.profile, cycles_of_tiles, strict=True):
            where = (
                " ".join(f"{n}={tile.first[n]}..{tile.first[n] + size}" for n, size in tile.sizes.items()) or "whole"
            )
            rows.append(["", f"> {where}", *_cycles(cycles), number(sum(tile.copied_bytes.values())), ""])
    heads, rows = _filled(heads, rows)
    title = "cycles as measured" if measured else "cycles as modelled; this target has no model of time"
    return f"{title}\n{table(heads, rows, right=[0, *range(2, len(heads))], width=width)}"


def _cycles(cycles: TileCycles) -> list[str]:
    return [number(cycles.kernel + cycles.wait), number(cycles.kernel), number(cycles.copy), number(cycles.wait)]


def _moved(layer: LayerReport) -> tuple[Mapping[str, int], Mapping[str, int]]:
    return layer.loaded_by_level, layer.stored_by_level


def _cost(instructions: int, total: int, macs: int) -> list[str]:
    """Instructions, their share of all, and for one multiply-accumulate."""
    share = f"{100 * instructions / total:.1f} %" if total else UNKNOWN
    return [number(instructions), share, f"{instructions / macs:.2f}" if macs else UNKNOWN]
