"""A layered drawing of a directed graph: ranks by the longest path, order by barycentres, places by least squares.

K. Sugiyama, S. Tagawa, M. Toda: Methods for Visual Understanding of Hierarchical System Structures, 1981. An edge
over several ranks is led through a narrow place in each of them; edges of one source share theirs. Within a rank,
places keep the order and their distance with the least sum of squares (pool adjacent violators). The work grows with
nodes, edges and such places, not with their squares.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

Point = tuple[float, float]
GAP_ACROSS, GAP_DOWN, LANE = 28.0, 34.0, 14.0
SWEEPS = 8
LANE_WEIGHT = 1e-6
"""How little a long edge moves the nodes beside it, so that they stay in line."""
LANES_PER_NODE = 8
"""Where long edges need more places than so many for each node, those that are left run straight."""


@dataclass(frozen=True)
class Drawing:
    """The upper left corner of every node, the points of every edge from top to bottom, and the size of all."""

    corners: tuple[Point, ...]
    routes: tuple[tuple[Point, ...], ...]
    width: float
    height: float


@dataclass(frozen=True)
class _Net:
    """Nodes and lanes with their ranks; `above` and `below` are neighbours one rank away.

    `skips` says of every lane whether its source is read elsewhere too: such an edge passes a branch, and is none.
    """

    widths: list[float]
    rows: list[list[int]]
    above: list[list[int]]
    below: list[list[int]]
    nodes: int
    skips: list[bool]


def layered(sizes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]]) -> Drawing:
    """Draw nodes of (width, height), numbered so that edges lead to larger numbers; others are left out of ranking."""
    forward = [(a, b) for a, b in edges if a < b]
    ranks = _ranks(len(sizes), forward)
    lanes: dict[tuple[int, int], int] = {}
    net = _net([width for width, _ in sizes], ranks, forward, lanes)
    _order(net)
    middle = _places(net)
    heights = [max([sizes[n][1] for n in row if n < net.nodes] + [0.0]) for row in net.rows]
    tops = [0.0]
    for height in heights:
        tops.append(tops[-1] + height + GAP_DOWN)
    left = min((middle[n] - net.widths[n] / 2 for row in net.rows for n in row), default=0.0)
    right = max((middle[n] + net.widths[n] / 2 for row in net.rows for n in row), default=0.0)
    corners = tuple(
        (middle[n] - width / 2 - left, tops[ranks[n]] + (heights[ranks[n]] - height) / 2)
        for n, (width, height) in enumerate(sizes)
    )
    routes = []
    for a, b in edges:
        points = [(corners[a][0] + sizes[a][0] / 2, corners[a][1] + sizes[a][1])]
        for rank in range(ranks[a] + 1, ranks[b]):
            if (lane := lanes.get((a, rank))) is not None:
                points += [(middle[lane] - left, tops[rank]), (middle[lane] - left, tops[rank] + heights[rank])]
        points.append((corners[b][0] + sizes[b][0] / 2, corners[b][1]))
        routes.append(tuple(points))
    return Drawing(corners, tuple(routes), right - left, max(tops[-1] - GAP_DOWN, 0.0))


def _ranks(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """The longest path to each node; a node without predecessors stands right above its first reader."""
    ranks = [0] * count
    entered = [False] * count
    first = [-1] * count
    for a, b in sorted(edges):
        ranks[b] = max(ranks[b], ranks[a] + 1)
        entered[b] = True
    for a, b in edges:
        first[a] = ranks[b] if first[a] < 0 else min(first[a], ranks[b])
    return [rank if entered[n] or first[n] < 0 else first[n] - 1 for n, rank in enumerate(ranks)]


def _net(
    widths: list[float], ranks: list[int], edges: Sequence[tuple[int, int]], lanes: dict[tuple[int, int], int]
) -> _Net:
    count = len(widths)
    net = _Net(
        widths, [[] for _ in range(max(ranks, default=-1) + 1)], [[] for _ in widths], [[] for _ in widths], count, []
    )
    readers = Counter(a for a, _ in set(edges))
    for node, rank in enumerate(ranks):
        net.rows[rank].append(node)
    joined: set[tuple[int, int]] = set()
    for a, b in sorted(edges, key=lambda edge: ranks[edge[1]] - ranks[edge[0]]):
        if len(lanes) > LANES_PER_NODE * count:
            break
        last = a
        for rank in range(ranks[a] + 1, ranks[b]):
            lane = lanes.get((a, rank))
            if lane is None:
                lane = lanes[a, rank] = len(net.widths)
                net.widths.append(LANE)
                net.skips.append(readers[a] > 1)
                net.above.append([])
                net.below.append([])
                net.rows[rank].append(lane)
            _join(net, joined, last, lane)
            last = lane
        _join(net, joined, last, b)
    return net


def _join(net: _Net, joined: set[tuple[int, int]], upper: int, lower: int) -> None:
    if (upper, lower) not in joined:
        joined.add((upper, lower))
        net.below[upper].append(lower)
        net.above[lower].append(upper)


def _order(net: _Net) -> None:
    """Sort every rank by the mean place of its neighbours, downwards and upwards in turn."""
    at = [0.0] * len(net.widths)
    for row in net.rows:
        for place, node in enumerate(row):
            at[node] = place
    for sweep in range(SWEEPS):
        rows, near = (net.rows, net.above) if sweep % 2 == 0 else (net.rows[::-1], net.below)
        for row in rows:
            means = {n: sum(at[m] for m in near[n]) / len(near[n]) if near[n] else at[n] for n in row}
            row.sort(key=lambda n: (means[n], n >= net.nodes, n))
            for place, node in enumerate(row):
                at[node] = place - len(row) / 2


def _places(net: _Net) -> list[float]:
    """The middle of every node: as near to the mean of its neighbours as order and distances allow."""
    middle = [0.0] * len(net.widths)
    for row in net.rows:
        _settle(net, row, middle, [0.0] * len(row), [1.0] * len(row))
    for sweep in range(2 * SWEEPS + 1):
        rows, near = (net.rows, net.above) if sweep % 2 == 0 else (net.rows[::-1], net.below)
        for row in rows:
            wanted, weights = [], []
            for node in row:
                own = near[node] or (net.below[node] if near is net.above else net.above[node])
                near_nodes = [m for m in own if m < net.nodes or not net.skips[m - net.nodes]] or own
                wanted.append(sum(middle[m] for m in near_nodes) / len(near_nodes) if own else middle[node])
                weights.append(LANE_WEIGHT if node >= net.nodes else 1.0 + len(own))
            _settle(net, row, middle, wanted, weights)
    return middle


def _settle(
    net: _Net, row: Sequence[int], middle: list[float], wanted: Sequence[float], weights: Sequence[float]
) -> None:
    """Places in the given order that differ least from what is wanted, weighted squares."""
    steps = [0.0]
    for left, right in pairwise(row):
        steps.append(steps[-1] + (net.widths[left] + net.widths[right]) / 2 + GAP_ACROSS)
    blocks: list[tuple[float, float, int]] = []
    for want, step, weight in zip(wanted, steps, weights, strict=True):
        total, mass, count = (want - step) * weight, weight, 1
        while blocks and blocks[-1][0] / blocks[-1][1] > total / mass:
            before = blocks.pop()
            total, mass, count = total + before[0], mass + before[1], count + before[2]
        blocks.append((total, mass, count))
    values = [total / mass for total, mass, count in blocks for _ in range(count)]
    for node, value, step in zip(row, values, steps, strict=True):
        middle[node] = value + step
