"""Memory over time as one picture that stands by itself, for notebooks and slides: an SVG with its own style."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from tilewright.errors import UsageError
from tilewright.memory.needs import BufferReport, MemoryReport
from tilewright.report.page.occupancy import bytes_in_use
from tilewright.report.page.scale import byte_ticks, round_bytes

WIDE, TALL = 880, 360
LEFT, RIGHT, TOP, BOTTOM = 72, 12, 44, 40
"""Room around the map, in pixels."""
COLOURS: Mapping[str, str] = {
    "activation": "#4a7fb8", "io": "#2f9460", "scratch": "#b8962a", "copy_buffer": "#d0576a", "table": "#9a5aa6",
    "constant": "#2d9fb5", "state": "#3f6f5f",
}  # fmt: skip
SHORTEST = 8
"""Characters of a name that are worth a label."""


@dataclass(frozen=True)
class MemoryPlot:
    """A picture of one level; notebooks show it, `svg` is its text."""

    level: str
    svg: str

    def _repr_svg_(self) -> str:
        return self.svg


def memory_plot(memory: Mapping[str, MemoryReport], level: str, steps: int) -> MemoryPlot:
    """The buffers of a level over the steps of the plan; of "" the level with the most of them.

    UsageError for a level that there is not, or in which nothing is placed.
    """
    placed = {name: one for name, one in memory.items() if one.buffers}
    if level not in placed and (level or not placed):
        raise UsageError(
            f"there is no plot of '{level}'", why="nothing is placed in it" if level in memory else "no such level",
            fix=f"name one of {', '.join(placed)}" if placed else "compile the network first",
        )  # fmt: skip
    name = level or max(placed, key=lambda one: len(placed[one].buffers))
    one = placed[name]
    shown = max(steps, *(buffer.last + 1 for buffer in one.buffers))
    return MemoryPlot(name, "\n".join(_lines(name, one, shown)) + "\n")


def _lines(name: str, level: MemoryReport, steps: int) -> Iterator[str]:
    use = bytes_in_use(level.buffers, steps)
    peak, top = use.index(max(use)), max([buffer.offset + buffer.size for buffer in level.buffers] + [1])
    across = (WIDE - LEFT - RIGHT) / steps
    base = TOP + TALL
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {base + BOTTOM}" width="{WIDE}" '
        f'font-family="system-ui, sans-serif" font-size="11" fill="#333">'
    )
    yield f'<rect width="100%" height="100%" fill="#fff"/><text x="{LEFT}" y="18" font-size="14">{_text(name)}: '
    yield f"{max(use):,} B in use at step {peak}, {top:,} B placed</text>"
    yield f'<path d="M{LEFT + (peak + 0.5) * across:.1f} {TOP}v{TALL}" stroke="#d9480f" stroke-dasharray="4 3"/>'
    for tick in byte_ticks(top):
        y = base - TALL * tick.at
        yield f'<path d="M{LEFT} {y:.1f}H{WIDE - RIGHT}" stroke="#ddd"/>'
        yield f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{tick.label}</text>'
    yield from (_box(buffer, across, TALL / top) for buffer in sorted(level.buffers, key=lambda b: -b.size))
    for step in range(0, steps, max(1, steps // 12)):
        x = LEFT + (step + 0.5) * across
        yield f'<text x="{x:.1f}" y="{base + 15}" text-anchor="middle">{step}</text>'
    yield f'<text x="{(LEFT + WIDE) / 2:.0f}" y="{base + 32}" text-anchor="middle">steps of the plan</text>'
    yield from _legend(level.buffers)
    yield "</svg>"


def _box(buffer: BufferReport, across: float, scale: float) -> str:
    """A buffer with its name where there is room, and all that is known of it as a tooltip."""
    x, width = LEFT + buffer.first * across, (buffer.last + 1 - buffer.first) * across
    height = max(buffer.size * scale, 1.5)
    y = TOP + TALL - buffer.offset * scale - height
    fits = int(width / 6.5)
    name = _text(buffer.name if len(buffer.name) <= fits else buffer.name[: fits - 1] + "…")
    label = f'<text x="{x + 4:.1f}" y="{y + 13:.1f}">{name}</text>' if height > 16 and fits > SHORTEST else ""
    title = f"{_text(buffer.name)}: {buffer.size:,} B at {buffer.offset:,}, steps {buffer.first} to {buffer.last}"
    return (
        f'<g><title>{title}</title><rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
        f'fill="{COLOURS[buffer.kind]}" fill-opacity=".35" stroke="{COLOURS[buffer.kind]}"/>{label}</g>'
    )


def _legend(buffers: Sequence[BufferReport]) -> Iterator[str]:
    kinds = [kind for kind in COLOURS if any(buffer.kind == kind for buffer in buffers)]
    for place, kind in enumerate(kinds):
        x, size = LEFT + 150 * place, sum(buffer.size for buffer in buffers if buffer.kind == kind)
        yield f'<rect x="{x}" y="27" width="10" height="10" fill="{COLOURS[kind]}"/>'
        yield f'<text x="{x + 15}" y="36">{kind.replace("_", " ")} ({round_bytes(size)})</text>'


def _text(name: str) -> str:
    """A name of a stranger's model inside of XML, which takes no control characters."""
    return escape("".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in name))
