"""Says in one sentence what is wrong with a placement problem, before any allocator sees it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from tilewright.errors import UsageError
from tilewright.memory.problem import Buffer, PlacementProblem, View


def validate(problem: PlacementProblem) -> Mapping[str, tuple[str, int]]:
    """The root buffer and the byte shift into it of every buffer (itself and 0 where it is no view).

    Raises UsageError with one sentence where the problem contradicts itself; it does not ask whether it fits.
    """
    buffers: dict[str, Buffer] = {}
    for buffer in problem.buffers:
        if buffer.name in buffers:
            raise UsageError(f"two buffers are named '{buffer.name}'", fix="give every buffer a name of its own")
        _check_buffer(buffer)
        buffers[buffer.name] = buffer
    if problem.capacity is not None and problem.capacity < 0:
        raise UsageError(f"the capacity is {problem.capacity} bytes", why="it cannot be negative")
    roots = _resolve_views(problem, buffers)
    _check_overlaps(problem, buffers)
    _check_pins(problem, buffers, roots)
    return roots


def _check_buffer(buffer: Buffer) -> None:
    """Refuses a buffer that is impossible by itself."""
    name = buffer.name
    if buffer.size < 0:
        raise UsageError(f"buffer '{name}' has {buffer.size} bytes", why="a size cannot be negative", tensor=name)
    if buffer.lower >= buffer.upper:
        raise UsageError(
            f"buffer '{name}' lives in [{buffer.lower}, {buffer.upper})",
            why="it dies before it is born",
            fix="make upper greater than lower",
            tensor=name,
        )
    if buffer.align < 1:
        raise UsageError(f"buffer '{name}' has alignment {buffer.align}", why="an alignment is 1 or more", tensor=name)
    if buffer.pinned is not None and (buffer.pinned < 0 or buffer.pinned % buffer.align):
        raise UsageError(
            f"buffer '{name}' is pinned at {buffer.pinned}",
            why=f"a place is a multiple of the buffer's alignment {buffer.align} and not negative",
            tensor=name,
        )


def _resolve_views(problem: PlacementProblem, buffers: Mapping[str, Buffer]) -> dict[str, tuple[str, int]]:
    """Follows views to the buffer that owns the bytes."""
    views: dict[str, View] = {}
    for view in problem.views:
        for name in (view.name, view.of):
            if name not in buffers:
                raise UsageError(f"a view of '{view.of}' as '{view.name}' names no buffer '{name}'", tensor=name)
        if view.name in views:
            raise UsageError(
                f"buffer '{view.name}' is a view of both '{views[view.name].of}' and '{view.of}'",
                why="its bytes have one place",
                tensor=view.name,
            )
        views[view.name] = view
        _check_view(view, buffers)
    roots: dict[str, tuple[str, int]] = {}
    for name in buffers:
        path, at, shift = [name], name, 0
        while at in views:
            shift += views[at].shift
            at = views[at].of
            if at in path:
                cycle = " -> ".join([*path[path.index(at) :], at])
                raise UsageError(
                    f"the views {cycle} form a cycle", why="none of its buffers owns the bytes", fix="make one a buffer"
                )
            path.append(at)
        align = buffers[name].align
        if shift % align:
            raise UsageError(
                f"view '{name}' starts {shift} bytes into '{at}'",
                why=f"that is not a multiple of its alignment {align}",
                tensor=name,
            )
        roots[name] = (at, shift)
    _check_lives(buffers, roots, {view.name for view in problem.views if view.resumes})
    return roots


def _check_lives(
    buffers: Mapping[str, Buffer], roots: Mapping[str, tuple[str, int]], resuming: Collection[str]
) -> None:
    """Refuses views with a time between them at which none of those that share the bytes is alive; not `resuming`."""
    latest: dict[str, Buffer] = {}
    for name in sorted(roots, key=lambda name: (buffers[name].lower, name)):
        buffer, root = buffers[name], roots[name][0]
        before = latest.get(root, buffer)
        if buffer.lower > before.upper and name not in resuming:
            view, other = (buffer, before) if name != root else (before, buffer)
            raise UsageError(
                f"view '{view.name}' lives in [{view.lower}, {view.upper}) but '{other.name}' in "
                f"[{other.lower}, {other.upper})",
                why="between the two nobody keeps the bytes",
                tensor=view.name,
            )
        latest[root] = max(before, buffer, key=lambda view: view.upper)


def _check_view(view: View, buffers: Mapping[str, Buffer]) -> None:
    """Refuses a view that leaves the bytes or the lifetime of what it shows."""
    inner, outer = buffers[view.name], buffers[view.of]
    if view.name == view.of:
        raise UsageError(f"the views {view.name} -> {view.name} form a cycle", why="none of its buffers owns the bytes")
    if view.shift < 0 or view.shift + inner.size > outer.size:
        raise UsageError(
            f"view '{view.name}' shows bytes {view.shift} to {view.shift + inner.size} of '{view.of}'",
            why=f"'{view.of}' has {outer.size} bytes",
            tensor=view.name,
        )


def _check_overlaps(problem: PlacementProblem, buffers: Mapping[str, Buffer]) -> None:
    """Refuses permitted overlaps that name nothing, come twice or contradict the lifetimes."""
    seen: set[tuple[str, str]] = set()
    for overlap in problem.overlaps:
        pair = (overlap.earlier, overlap.later)
        for name in pair:
            if name not in buffers:
                raise UsageError(f"the overlap of '{pair[0]}' and '{pair[1]}' names no buffer '{name}'", tensor=name)
        if pair[0] == pair[1] or pair in seen or (pair[1], pair[0]) in seen:
            raise UsageError(f"the overlap of '{pair[0]}' and '{pair[1]}' is given twice or with itself")
        seen.add(pair)
        earlier, later = buffers[pair[0]], buffers[pair[1]]
        if earlier.upper > later.lower + 1 or earlier.lower > later.lower:
            raise UsageError(
                f"'{later.name}' may not overlap '{earlier.name}'",
                why=f"'{earlier.name}' lives in [{earlier.lower}, {earlier.upper}) and is still read after "
                f"'{later.name}' is written at {later.lower}",
                fix="permit an overlap only with a buffer that dies in that step",
                tensor=later.name,
            )


def _check_pins(problem: PlacementProblem, buffers: Mapping[str, Buffer], roots: Mapping[str, tuple[str, int]]) -> None:
    """Refuses pins that put two live buffers on the same bytes, and pins of one buffer that disagree."""
    bases: dict[str, tuple[int, str]] = {}
    for name, (root, shift) in roots.items():
        pin = buffers[name].pinned
        if pin is None:
            continue
        if root in bases and bases[root][0] != pin - shift:
            raise UsageError(
                f"'{bases[root][1]}' and '{name}' are views of the same bytes", why="their pins contradict each other"
            )
        if pin < shift or (pin - shift) % buffers[root].align:
            raise UsageError(
                f"view '{name}' is pinned at {pin}",
                why=f"then '{root}' would start at {pin - shift}, which its alignment {buffers[root].align} forbids",
                tensor=name,
            )
        bases.setdefault(root, (pin - shift, name))
    permitted = {(o.earlier, o.later): o.gap for o in problem.overlaps}
    placed = [(bases[root][0] + shift, root, buffers[name]) for name, (root, shift) in roots.items() if root in bases]
    placed.sort(key=lambda entry: (entry[0], entry[2].name))
    for index, (low, root, buffer) in enumerate(placed):
        for high, other_root, other in placed[index + 1 :]:
            if high >= low + buffer.size:
                break
            if root == other_root or buffer.upper <= other.lower or other.upper <= buffer.lower or not other.size:
                continue
            gap = permitted.get((buffer.name, other.name))
            back = permitted.get((other.name, buffer.name))
            if (gap is not None and high + gap <= low) or (back is not None and low + back <= high):
                continue
            raise UsageError(
                f"the pins of '{buffer.name}' at {low} and '{other.name}' at {high} overlap",
                why=f"both live at {max(buffer.lower, other.lower)} and '{buffer.name}' has {buffer.size} bytes",
                fix="move one of the pins",
            )
