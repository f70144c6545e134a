"""Worst-case stack from what gcc writes with `-fcallgraph-info=su`: the deepest path through the call graph.

The bound covers the code that was compiled with the option. What it cannot see is named: functions from libraries,
calls through pointers, recursion, frames whose size is only known at run time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

_TEXT = r'"((?:[^"\\]|\\.)*)"'
_NODE = re.compile(rf"^node: {{ title: {_TEXT} label: {_TEXT}")
_EDGE = re.compile(rf"^edge: {{ sourcename: {_TEXT} targetname: {_TEXT}(?: label: {_TEXT})?")
_CALLED = re.compile(r":(\d+):\d+")
_FRAME = re.compile(r"\\n(\d+) bytes \(([^)]*)\)")


@dataclass(frozen=True)
class StackBound:
    """Stack of one function and all that it calls, in bytes. A proof only where `unknown` is empty.

    `path` is the deepest chain of calls; `unknown` names what the bound leaves out.
    """

    size_bytes: int
    path: tuple[str, ...]
    unknown: tuple[str, ...] = ()

    @property
    def proved(self) -> bool:
        """True where nothing was left out."""
        return not self.unknown


@dataclass
class CallGraph:
    """Frames in bytes and calls by the compiler's titles; `lines` are those at which one calls another."""

    frames: dict[str, int] = field(default_factory=dict)
    dynamic: set[str] = field(default_factory=set)
    calls: dict[str, set[str]] = field(default_factory=dict)
    lines: dict[tuple[str, str], set[int]] = field(default_factory=dict)


def read_call_graph(files: Iterable[Path]) -> CallGraph:
    """Read the `.ci` files of several translation units into one graph."""
    graph = CallGraph()
    for file in files:
        for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
            node, edge = _NODE.match(line), _EDGE.match(line)
            if node and (frame := _FRAME.search(node[2])):
                graph.frames[node[1]] = int(frame[1])
                if frame[2] == "dynamic":
                    graph.dynamic.add(node[1])
            elif edge:
                graph.calls.setdefault(edge[1], set()).add(edge[2])
                graph.lines.setdefault((edge[1], edge[2]), set()).update(map(int, _CALLED.findall(edge[3] or "")))
    return graph


def join_aliases(graph: CallGraph, aliases: Mapping[str, str]) -> CallGraph:
    """The graph with functions that the compiler merged called by the name under which it tells their frame.

    `aliases` are names of functions with another name of the same code.
    """
    known = {_name(title): title for title in graph.frames}
    groups: dict[str, set[str]] = {}
    for name, other in aliases.items():
        groups.setdefault(other, {other}).add(name)
    titles: dict[str, str] = {}
    for group in groups.values():
        same = next((known[name] for name in sorted(group) if name in known), None)
        if same is not None:
            titles |= dict.fromkeys(group - known.keys(), same)
    calls = {
        caller: {titles.get(_name(callee), callee) for callee in callees} for caller, callees in graph.calls.items()
    }
    return CallGraph(graph.frames, graph.dynamic, calls)


def stack_bound(graph: CallGraph, root: str, ignore: frozenset[str] = frozenset()) -> StackBound:
    """Deepest stack below and with `root`; calls to functions in `ignore` (the test's own) are left out."""
    depths: dict[str, tuple[int, tuple[str, ...]]] = {}
    unknown: set[str] = set()

    def visit(title: str, above: tuple[str, ...]) -> tuple[int, tuple[str, ...]]:
        if title in depths:
            return depths[title]
        if title in above:
            unknown.add(f"recursion of {_name(title)}")
            return 0, ()
        if title not in graph.frames:
            unknown.add("a call through a pointer" if title == "__indirect_call" else _name(title))
            return 0, ()
        if title in graph.dynamic:
            unknown.add(f"the frame of {_name(title)}")
        best: tuple[int, tuple[str, ...]] = (0, ())
        for callee in sorted(graph.calls.get(title, ())):
            if callee not in ignore:
                best = max(best, visit(callee, (*above, title)), key=lambda item: item[0])
        depths[title] = (graph.frames[title] + best[0], (_name(title), *best[1]))
        return depths[title]

    size, path = visit(root, ())
    return StackBound(size, path, tuple(sorted(unknown)))


def bound_beside(graph: CallGraph, root: str, ignore: frozenset[str] = frozenset()) -> StackBound:
    """The deepest stack of what neither calls `root` nor is called by it; what it hands to other cores is among it."""
    callers: dict[str, set[str]] = {}
    for caller, callees in graph.calls.items():
        for callee in callees:
            callers.setdefault(callee, set()).add(caller)
    own = _reached(graph.calls, _reached(callers, (root,)))  # what calls it runs where it runs
    bounds = [stack_bound(graph, title, ignore) for title in sorted(graph.frames) if title not in own]
    unknown = {name for bound in bounds for name in bound.unknown}
    deepest = max(bounds, key=lambda bound: bound.size_bytes, default=StackBound(0, ()))
    return StackBound(deepest.size_bytes, deepest.path, tuple(sorted(unknown)))


def _reached(edges: Mapping[str, set[str]], starts: Iterable[str]) -> set[str]:
    """What can be reached from the starts, and they themselves."""
    reached, waiting = set[str](), list(starts)
    while waiting:
        title = waiting.pop()
        if title not in reached:
            reached.add(title)
            waiting += edges.get(title, ())
    return reached


def _name(title: str) -> str:
    """The function's name without the file that static functions carry before a colon."""
    return title.rpartition(":")[2]
