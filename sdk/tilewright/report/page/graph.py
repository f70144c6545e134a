"""The network as boxes and lines: layers, chains with their members in a box, inputs and outputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Literal

from tilewright.report.build import LayerReport, MemberReport, Report
from tilewright.report.chains import chains, members_of
from tilewright.report.names import short_names
from tilewright.report.page.layered import Drawing, Point, layered
from tilewright.report.page.scale import round_bytes
from tilewright.report.text import printable

WIDE, TALL, VIEW_TALL, END_TALL = 200.0, 44.0, 26.0, 28.0
PAD, TITLE, BETWEEN = 10.0, 20.0, 16.0
THICKEST = 5.0
OPERATOR = 16


@dataclass(frozen=True)
class Node:
    """A box: `layer` in the plan, -1 for an input or output; `kind` says what it stands for."""

    layer: int
    kind: Literal["solo", "view", "inside", "member", "input", "output"]
    op: str
    label: str
    full: str
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Group:
    """A box around the members of a chain: `rows` computes them band by band, `fused` tile by tile."""

    layer: int
    kind: Literal["rows", "fused"]
    label: str
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Edge:
    """Tensors' way from `source` to `target`, layers of the plan; -1 where one is an input or output.

    `size` are their bytes, empty where they stay inside of a chain.
    """

    source: int
    target: int
    path: str
    thickness: float
    size: str = ""


@dataclass(frozen=True)
class GraphView:
    """The drawing; lengths in units of its own."""

    nodes: tuple[Node, ...]
    groups: tuple[Group, ...]
    edges: tuple[Edge, ...]
    width: float
    height: float


@dataclass(frozen=True)
class _Block:
    """What the layout moves as one: an input, an output, or one layer, or a chain of `layers` or of `members`."""

    layers: tuple[int, ...] = ()
    members: tuple[MemberReport, ...] = ()
    tensor: str = ""
    output: bool = False


def graph_view(report: Report, short: Mapping[str, str]) -> GraphView | None:
    """The drawing of a report's layers; None where it does not say what they read."""
    layers = report.layers
    if not any(layer.operands for layer in layers):
        return None
    blocks = _blocks(report)
    maker = {result.tensor: index for index, layer in enumerate(layers) for result in layer.results}
    home = {layer: at for at, block in enumerate(blocks) for layer in block.layers}
    sizes = {r.tensor: r.bytes for layer in layers for r in layer.results}
    sizes |= {tensor.name: tensor.bytes for tensor in report.model.inputs}
    ways = dict[tuple[int, int], list[str]]()
    inputs = {block.tensor: at for at, block in enumerate(blocks) if block.tensor and not block.output}
    for at, block in enumerate(blocks):
        for tensor in (block.tensor,) if block.output else _read(layers, block):
            source = home[maker[tensor]] if tensor in maker else inputs.get(tensor)
            if source is not None and source != at:
                ways.setdefault((source, at), []).append(tensor)
    drawing = layered([_size(layers, block) for block in blocks], list(ways))
    most = max([sum(sizes.get(t, 0) for t in set(tensors)) for tensors in ways.values()] + [1])
    edges = []
    for ((source, target), tensors), route in zip(ways.items(), drawing.routes, strict=True):
        size = sum(sizes.get(tensor, 0) for tensor in set(tensors))
        ends = (_layer(blocks[source]), _layer(blocks[target]))
        edges.append(Edge(*ends, _path(route), 1 + (THICKEST - 1) * sqrt(size / most), round_bytes(size)))
    parts = [part for at, block in enumerate(blocks) for part in _drawn(layers, block, drawing, at, short)]
    return GraphView(
        nodes=tuple(part for part in parts if isinstance(part, Node)),
        groups=tuple(part for part in parts if isinstance(part, Group)),
        edges=tuple(edges) + tuple(part for part in parts if isinstance(part, Edge)),
        width=drawing.width,
        height=drawing.height,
    )


def _layer(block: _Block) -> int:
    return block.layers[-1] if block.layers else -1


def _read(layers: Sequence[LayerReport], block: _Block) -> list[str]:
    return [tensor for index in block.layers for tensor in layers[index].operands]


def _blocks(report: Report) -> list[_Block]:
    """Inputs, then chains in the plan's order, then outputs."""
    layers = report.layers
    made = {result.tensor for layer in layers for result in layer.results}
    read = dict.fromkeys(tensor for layer in layers for tensor in layer.operands)
    blocks = [_Block(tensor=tensor) for tensor in read if tensor not in made]
    for group in chains(layers).values():
        members = members_of(layers[group[0]]) if len(group) == 1 else ()
        blocks.append(_Block(group, members if len(members) > 1 else ()))
    named = [tensor.name for tensor in report.model.outputs if tensor.name in made]
    last = [r.tensor for layer in layers for r in layer.results if r.tensor not in read]
    return blocks + [_Block(tensor=tensor, output=True) for tensor in dict.fromkeys([*named, *last])]


def _heights(layers: Sequence[LayerReport], block: _Block) -> list[float]:
    """Of the boxes that a block holds."""
    if block.tensor:
        return [END_TALL]
    if block.members:
        return [TALL] * len(block.members)
    return [VIEW_TALL if layers[index].kernel == "view" else TALL for index in block.layers]


def _boxed(block: _Block) -> bool:
    return bool(block.members) or len(block.layers) > 1


def _size(layers: Sequence[LayerReport], block: _Block) -> tuple[float, float]:
    heights = _heights(layers, block)
    if not _boxed(block):
        return WIDE, heights[0]
    return WIDE + 2 * PAD + 12, sum(heights) + BETWEEN * (len(heights) - 1) + 2 * PAD + TITLE


def _drawn(
    layers: Sequence[LayerReport], block: _Block, drawing: Drawing, at: int, short: Mapping[str, str]
) -> Iterator[Node | Group | Edge]:
    (x, y), (width, height), heights = drawing.corners[at], _size(layers, block), _heights(layers, block)
    if block.tensor:
        kind: Literal["input", "output"] = "output" if block.output else "input"
        name = short_names([block.tensor])[block.tensor]
        yield Node(-1, kind, kind, name, printable(block.tensor), x, y, WIDE, END_TALL)
        return
    if not _boxed(block):
        layer = layers[block.layers[0]]
        what: Literal["view", "solo"] = "view" if layer.kernel == "view" else "solo"
        yield Node(
            block.layers[0],
            what,
            _operator(layer.op),
            short[layer.name],
            printable(layer.name),
            x,
            y,
            width,
            heights[0],
        )
        return
    leader, count = block.layers[-1], len(heights)
    label = f"{count} nodes, row by row" if block.members else f"{count} layers, tile by tile"
    yield Group(leader, "rows" if block.members else "fused", label, x, y, width, height)
    top, left = y + PAD + TITLE, x + (width - WIDE) / 2
    tops = [top + sum(heights[:n]) + BETWEEN * n for n in range(count)]
    if block.members:
        names = short_names([member.name for member in block.members])
        for member, place in zip(block.members, tops, strict=True):
            own = names[member.name]
            yield Node(leader, "member", _operator(member.op), own, printable(member.name), left, place, WIDE, TALL)
        ways = [(m.operands, m.results) for m in block.members]
    else:
        for index, place, tall in zip(block.layers, tops, heights, strict=True):
            layer = layers[index]
            yield Node(
                index, "inside", _operator(layer.op), short[layer.name], printable(layer.name), left, place, WIDE, tall
            )
        ways = [(layers[i].operands, tuple(r.tensor for r in layers[i].results)) for i in block.layers]
    yield from _inner_edges(ways, tops, heights, left, leader)


def _operator(name: str) -> str:
    """An operator's name as far as there is room beside a figure."""
    return name if len(name) <= OPERATOR else name[: OPERATOR - 1] + "…"


def _inner_edges(
    ways: Sequence[tuple[Sequence[str], Sequence[str]]], tops: Sequence[float], heights: Sequence[float], left: float,
    leader: int,
) -> Iterator[Edge]:  # fmt: skip
    """Lines between the members of a chain; one that passes others runs beside them."""
    made = {tensor: at for at, (_, results) in enumerate(ways) for tensor in results}
    for at, (operands, _) in enumerate(ways):
        for source in sorted({made[tensor] for tensor in operands if made.get(tensor, at) < at}):
            if source == at - 1:
                x = left + WIDE / 2
                path = f"M{x:.0f} {tops[source] + heights[source]:.0f}V{tops[at]:.0f}"
            else:
                x, far = left + WIDE, left + WIDE + 18
                low, high = tops[source] + heights[source] / 2, tops[at] + heights[at] / 2
                path = f"M{x:.0f} {low:.0f}C{far:.0f} {low:.0f} {far:.0f} {high:.0f} {x:.0f} {high:.0f}"
            yield Edge(leader, leader, path, 1.5)


def _path(route: Sequence[Point]) -> str:
    """Straight down in the ranks, curved between them."""
    x, y = route[0]
    path = f"M{x:.0f} {y:.0f}"
    for at in range(1, len(route)):
        nx, ny = route[at]
        middle = (y + ny) / 2
        path += f"V{ny:.0f}" if nx == x else f"C{x:.0f} {middle:.0f} {nx:.0f} {middle:.0f} {nx:.0f} {ny:.0f}"
        x, y = nx, ny
    return path
