"""The map of a memory level: steps of the plan to the right, addresses upwards, every buffer a box with its name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tilewright.memory.needs import BufferReport, MemoryReport
from tilewright.report.build import LayerReport
from tilewright.report.names import short_names
from tilewright.report.page.occupancy import bytes_in_use, overlaps
from tilewright.report.page.scale import Tick, byte_ticks, round_bytes
from tilewright.report.text import number, printable

TALL = 340
"""Height of a map in pixels; its width is what the window gives."""
LEAST = 4.0
"""Pixels that even the smallest buffer has."""
NAMED_STEPS = 400
"""Steps of a plan that are named below the map."""
LONGEST_STEP = 16
"""Characters of a step's number and name."""
MARGIN = 1.6
"""A level's size is drawn where it is at most so many times what is used."""


@dataclass(frozen=True)
class Box:
    """A buffer: `x` and `width` in per cent of the map, `y` and `height` in pixels from its top.

    `layer` makes it, or reads it first; `readers` are layers too. `inside` is the whole that it is a part of.
    """

    layer: int
    readers: tuple[int, ...]
    kind: str
    name: str
    size: str
    title: str
    inside: str
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Shared:
    """Bytes that two buffers have at the same time, in the units of `Box`."""

    title: str
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Line:
    """A height of interest."""

    label: str
    y: float
    kind: str


@dataclass(frozen=True)
class PeakRow:
    """A buffer that is alive at the peak, with its share of the bytes then alive."""

    layer: int
    kind: str
    name: str
    full: str
    size: str
    percent: float


@dataclass(frozen=True)
class MemoryView:
    """One level over time. `use` is the outline of the bytes in use, a path of 100 x 100; `peak` is a step's place."""

    level: str
    boxes: tuple[Box, ...]
    shared: tuple[Shared, ...]
    lines: tuple[Line, ...]
    ticks: tuple[Tick, ...]
    steps: tuple[str, ...]
    use: str
    most: str
    peak_x: float
    peak_step: int
    step_width: float
    peak_layer: str
    peak_rows: tuple[PeakRow, ...]
    peak_note: str
    readonly: bool = False
    tall: int = TALL


def scale_of(level: MemoryReport) -> int:
    """Bytes at the upper end of a level's map."""
    top = max([buffer.offset + buffer.size for buffer in level.buffers] + [1])
    return level.size if level.size is not None and top <= level.size <= MARGIN * top else top


def memory_view(
    name: str, level: MemoryReport, layers: Sequence[LayerReport], short: Mapping[str, str], scale: int
) -> MemoryView | None:
    """The map of a level, None where nothing is placed in it; `scale` are the bytes at its upper end."""
    buffers = level.buffers
    if not buffers:
        return None
    steps = max(len(layers), *(buffer.last + 1 for buffer in buffers))
    names = _short(buffers)
    use = bytes_in_use(buffers, steps)
    peak = use.index(max(use))
    over = list(overlaps(buffers))
    whole = {small: names[buffers[large].name] for small, large in over if _inside(buffers[small], buffers[large])}
    links = _links(layers)
    boxes = tuple(
        _box(at, buffer, names[buffer.name], whole.get(at, ""), steps, scale, links)
        for at, buffer in enumerate(buffers)
    )
    shown = short.get(layers[peak].name, "") if peak < len(layers) else ""
    return MemoryView(
        level=name,
        boxes=boxes,
        shared=tuple(_shared(buffers[a], buffers[b], names, steps, scale) for a, b in over),
        lines=tuple(_lines(level, scale)),
        ticks=byte_ticks(scale),
        steps=_steps([short[layer.name] for layer in layers]) if len(layers) <= NAMED_STEPS else (),
        use=_outline(use),
        most=number(max(use)),
        peak_x=100 * peak / steps,
        peak_step=peak,
        step_width=100 / steps,
        peak_layer=shown,
        peak_rows=tuple(_peak_rows(boxes, buffers, names, peak, max(use))),
        peak_note=_note(level, buffers, peak, max(use)),
        readonly=level.readonly,
    )


def _steps(names: Sequence[str]) -> tuple[str, ...]:
    """Number and name of each step, cut where the room below the map ends."""
    labels = (f"{step} {name}" for step, name in enumerate(names))
    return tuple(label if len(label) <= LONGEST_STEP else f"{label[: LONGEST_STEP - 1]}…" for label in labels)


def _short(buffers: Sequence[BufferReport]) -> dict[str, str]:
    """Short names; the second of two buffers of one tensor keeps its number behind it."""
    base = {buffer.name: buffer.copy_of or buffer.name for buffer in buffers}
    short = short_names(list(base.values()))
    return {name: short[of] + name.removeprefix(of) for name, of in base.items()}


def _inside(small: BufferReport, large: BufferReport) -> bool:
    end = small.offset + small.size
    return small.size < large.size and large.offset <= small.offset and end <= large.offset + large.size


def _links(layers: Sequence[LayerReport]) -> tuple[dict[str, int], dict[str, list[int]]]:
    """The maker of every tensor, and its readers."""
    makers = {result.tensor: index for index, layer in enumerate(layers) for result in layer.results}
    readers: dict[str, list[int]] = {}
    for index, layer in enumerate(layers):
        for tensor in layer.operands:
            readers.setdefault(tensor, []).append(index)
    return makers, readers


def _box(
    at: int, buffer: BufferReport, name: str, inside: str, steps: int, scale: int,
    links: tuple[Mapping[str, int], Mapping[str, Sequence[int]]],
) -> Box:  # fmt: skip
    makers, readers = links
    read = tuple(readers.get(buffer.name, ()))
    end = buffer.offset + buffer.size
    spans = f"steps {buffer.first} to {buffer.last}" if buffer.last > buffer.first else f"step {buffer.first}"
    title = f"{printable(buffer.name, 40)}, {buffer.kind.replace('_', ' ')}: {number(buffer.size)} B at "
    title += f"{number(buffer.offset)} to {number(end)}, {spans}" + (f", a part of {inside}" if inside else "")
    height = max(TALL * buffer.size / scale, LEAST)
    return Box(
        layer=makers.get(buffer.name, read[0] if read else buffer.last if buffer.kind != "scratch" else buffer.first),
        readers=read,
        kind=buffer.kind,
        name=name,
        size=round_bytes(buffer.size),
        title=title,
        inside=inside,
        x=100 * buffer.first / steps,
        y=max(0.0, min(TALL - TALL * buffer.offset / scale - height, TALL - LEAST)),
        width=100 * (buffer.last + 1 - buffer.first) / steps,
        height=height,
    )


def _shared(one: BufferReport, two: BufferReport, names: Mapping[str, str], steps: int, scale: int) -> Shared:
    first, last = max(one.first, two.first), min(one.last, two.last)
    low, high = max(one.offset, two.offset), min(one.offset + one.size, two.offset + two.size)
    return Shared(
        title=f"{names[one.name]} and {names[two.name]} share {number(high - low)} B",
        x=100 * first / steps,
        y=TALL - TALL * high / scale,
        width=100 * (last + 1 - first) / steps,
        height=max(TALL * (high - low) / scale, 1.0),
    )


def _lines(level: MemoryReport, scale: int) -> Iterator[Line]:
    top = max(buffer.offset + buffer.size for buffer in level.buffers)
    if level.size is not None and top < level.size <= scale:
        yield Line(f"end of the level, {round_bytes(level.size)}", 0.0, "size")
    if level.lower_bound is not None and level.lower_bound < top:
        yield Line(
            f"no placement needs less than {number(level.lower_bound)} B",
            TALL - TALL * level.lower_bound / scale,
            "bound",
        )


def _peak_rows(
    boxes: Sequence[Box], buffers: Sequence[BufferReport], names: Mapping[str, str], peak: int, most: int
) -> Iterator[PeakRow]:
    alive = [(box, b) for box, b in zip(boxes, buffers, strict=True) if b.first <= peak <= b.last]
    for box, b in sorted(alive, key=lambda pair: (-pair[1].size, pair[1].offset)):
        share = min(100 * b.size / max(most, 1), 100.0)
        yield PeakRow(box.layer, b.kind, names[b.name], printable(b.name), number(b.size), share)


def _note(level: MemoryReport, buffers: Sequence[BufferReport], peak: int, most: int) -> str:
    """What the list at the peak does not say by itself."""
    twice = sum(b.size for b in buffers if b.first <= peak <= b.last) - most
    said = [f"{number(twice)} B are shared and count once"] if twice else []
    parts = level.parts() | {"code": level.code or 0}
    beside = [f"{part} {number(parts[part])} B" for part in ("stack", "constants", "code") if parts.get(part)]
    placed = {"constants": any(b.kind == "constant" for b in buffers)}
    beside = [text for text in beside if not placed.get(text.split()[0])]
    if beside:
        said.append(f"beside the map: {', '.join(beside)}")
    return "; ".join(said)


def _outline(use: Sequence[int]) -> str:
    """Bytes in use as steps, in a square of 100 by 100."""
    most, width = max([*use, 1]), 100 / len(use)
    path = "M0 100"
    for step, size in enumerate(use):
        path += f"V{100 - 100 * size / most:.4g}H{(step + 1) * width:.5g}"
    return path + "V100Z"
