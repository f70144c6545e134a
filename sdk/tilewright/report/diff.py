"""What changed between two reports: the network, memory level by level, layer by layer, and the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tilewright.memory.needs import ALL_PARTS, MemoryReport
from tilewright.report.build import LayerReport, Report
from tilewright.report.codec import Json, to_plain
from tilewright.report.text import UNKNOWN, number, printable, table

SCHEMA = "tilewright/diff/1"
_MODEL = ("name", "sha256", "nodes", "macs", "parameter_bytes")
_LEVEL = ("total", "worst_case", *ALL_PARTS, "size", "live_set", "lower_bound", "status")
_LAYER = (
    "op", "kernel", "engine", "numerics", "tile", "tiles", "macs", "copied_bytes", "loaded_bytes", "stored_bytes",
    "instructions", "cycles", "max_abs_error", "max_lsb_error",
)  # fmt: skip
_RUN = (
    "match", "mismatches", "elements", "max_abs_error", "max_lsb_error", "instructions", "cycles", "modelled_cycles",
    "text_bytes", "rodata_bytes", "ram_bytes",
)  # fmt: skip


@dataclass(frozen=True)
class Change:
    """One figure that changed: of a level, a layer, the network ("") or the run (""); None where it was unknown."""

    of: str
    what: str
    old: Json
    new: Json


@dataclass(frozen=True)
class Difference:
    """Everything that changed; `added` and `removed` are names of layers and levels that only one report has."""

    model: tuple[Change, ...]
    memory: tuple[Change, ...]
    layers: tuple[Change, ...]
    run: tuple[Change, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]

    @property
    def empty(self) -> bool:
        """True where the reports agree in everything but times."""
        return not (self.model or self.memory or self.layers or self.run or self.added or self.removed)

    def to_json(self) -> dict[str, Json]:
        """The JSON object of schema `tilewright/diff/1`."""
        plain = to_plain(self)
        assert isinstance(plain, dict)
        return {"schema": SCHEMA, **plain}


def difference(old: Report, new: Report) -> Difference:
    """Compare two reports. Layers are matched by name, those of one name in order."""
    left: dict[str, LayerReport] = dict(named(old.layers))
    right: dict[str, LayerReport] = dict(named(new.layers))
    model = [*_changes("", old.model, new.model, _MODEL), *_changes("", old, new, ("platform", "target"))]
    return Difference(
        model=tuple(model),
        memory=_of_each(old.memory, new.memory, _LEVEL),
        layers=_of_each(left, right, _LAYER),
        run=tuple(_changes("", old.run, new.run, _RUN)) if old.run or new.run else (),
        added=_only(new.memory, old.memory, "level") + _only(right, left, "layer"),
        removed=_only(old.memory, new.memory, "level") + _only(left, right, "layer"),
    )


def render(difference: Difference, width: int | None = None) -> str:
    """The difference as text, tables in at most `width` columns; what grew and shrank with its bytes and per cent."""
    if difference.empty:
        return "nothing changed\n"
    parts = []
    for title, changes in (
        ("model", difference.model),
        ("memory", difference.memory),
        ("layers", difference.layers),
        ("run", difference.run),
    ):
        if changes:
            rows = [[c.of, c.what.replace("_", " "), shown(c.old), shown(c.new), growth(c)] for c in changes]
            parts.append(table([title, "", "old", "new", "change"], rows, right=(2, 3, 4), width=width))
    lines = [f"only in the new report: {printable(name)}" for name in difference.added]
    lines += [f"only in the old report: {printable(name)}" for name in difference.removed]
    if lines:
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def named(layers: Sequence[LayerReport]) -> Iterator[tuple[str, LayerReport]]:
    """Layers by name, those of one name numbered."""
    seen: Counter[str] = Counter()
    for layer in layers:
        seen[layer.name] += 1
        yield layer.name if seen[layer.name] == 1 else f"{layer.name} #{seen[layer.name]}", layer


def _of_each(
    old: Mapping[str, LayerReport] | Mapping[str, MemoryReport],
    new: Mapping[str, LayerReport] | Mapping[str, MemoryReport],
    names: tuple[str, ...],
) -> tuple[Change, ...]:
    both = [name for name in old if name in new]
    return tuple(change for name in both for change in _changes(name, old[name], new[name], names))


def _changes(of: str, old: object, new: object, names: tuple[str, ...]) -> Iterator[Change]:
    for name in names:
        before, after = to_plain(getattr(old, name, None)), to_plain(getattr(new, name, None))
        if before != after:
            yield Change(of, name, before, after)


def _only(these: Mapping[str, object], those: Mapping[str, object], kind: str) -> tuple[str, ...]:
    return tuple(f"{kind} {name}" for name in these if name not in those)


def shown(value: Json) -> str:
    """A value of a change as text."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or isinstance(value, int | float):
        return number(value)
    if isinstance(value, dict):
        return " ".join(f"{key}={shown(item)}" for key, item in value.items()) or UNKNOWN
    return str(value)[:16] or UNKNOWN


def growth(change: Change) -> str:
    """The step of a number with its sign, in per cent too; empty where there is none."""
    old, new = change.old, change.new
    if isinstance(old, bool) or not isinstance(old, int | float) or not isinstance(new, int | float):
        return ""
    step = f"+{number(new - old)}" if new > old else number(new - old)
    return step + (f" ({100 * (new - old) / old:+.1f} %)" if old else "")
