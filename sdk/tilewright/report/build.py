"""The report of a compilation and a run as frozen values: the one source of text, CSV, HTML, diff and tests.

`Report.to_json` writes the schema `tilewright/report/1` (`schema.json` beside this file), `Report.from_json` reads it.
All sizes are bytes; an unknown figure is None, never 0.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from html import escape
from pathlib import Path
from typing import Any

from tilewright.errors import StateError, ToolMissing
from tilewright.memory.needs import MemoryReport
from tilewright.report.calls import BoardReport, FramesReport, ReadingReport, SlicesReport, TextReport
from tilewright.report.codec import Json, damaged, from_plain, to_plain
from tilewright.report.data_set import DataSetReport
from tilewright.report.network import ModelReport
from tilewright.report.page.plot import MemoryPlot, memory_plot
from tilewright.report.sharing import BundleReport, TrainingReport
from tilewright.report.slow import FasterReport, SlowReport
from tilewright.report.tile_times import TileReport, TimelineReport

SCHEMA = "tilewright/report/1"
LARGEST_REPORT = 256 << 20


@dataclass(frozen=True)
class ToolReport:
    """Version of the SDK and seconds per stage, `total` among them."""

    version: str
    seconds: Mapping[str, float]


@dataclass(frozen=True)
class ToolchainReport:
    """The compiler that built the code."""

    compiler: str
    version: str
    flags: str


@dataclass(frozen=True)
class PassReport:
    """What a pass saved, None where it was not counted, and the operations that it added for it, as estimated.

    `cut_off` says what it left out, since work is counted and limited; empty where it tried all that it would.
    """

    name: str
    saved_bytes: int | None
    added_operations: int = 0
    cut_off: str = ""


@dataclass(frozen=True)
class ResultReport:
    """Where a layer leaves a tensor: bytes from the start of the arena in `level`; no offset in a caller's memory."""

    tensor: str
    bytes: int
    level: str
    offset: int | None


@dataclass(frozen=True)
class MemberReport:
    """A node inside of a layer that computes several: its operator, the tensors that it reads and makes, its kernel and
    what all calls of that are estimated to cost; nothing tells them apart in a run."""

    name: str
    op: str
    macs: int
    operands: tuple[str, ...]
    results: tuple[str, ...]
    kernel: str = ""
    estimated_cost: int | None = None
    faster: FasterReport | None = None
    with_aim: FasterReport | None = None
    slow: SlowReport | None = None


@dataclass(frozen=True)
class InnerReport:
    """A tensor inside of a layer that computes several nodes, row by row as its node made it, against NumPy's."""

    tensor: str
    node: str
    max_abs_error: float | None
    max_lsb_error: int | None
    mismatches: int


@dataclass(frozen=True)
class LayerReport:
    """One instruction: how it is computed, cut and fed, and what was measured of it.

    `loaded_by_level` and `stored_by_level` split the bytes by memory; empty where nothing was counted. `engine` is the
    unit that computes it, empty where the platform has one only.
    `copied_bytes` are those between the compute level and others by way, in a fused chain those of its last layer;
    `operand_bytes` are operands, results and constants once each. `profile` are the tiles of a profiled layer.
    `kernel_cycles` are those of its own kernels where it is computed tile by tile together with others.
    `core_cycles` are computed from the instructions that ran, by the table of the target's core. `instead_of` names
    the kernel that would have been faster, with the sentence why none of its tiles fits; empty where there is none.
    `mismatches` are the differing elements of a layer that was compared. `nodes` are those of a chain that is computed
    by rows; what lies between them is in scratch, and `inner` compares it row by row where every tensor is compared.
    `members` are these nodes with their tensors. `operands` are the tensors that are read at run time. `timeline` is
    there for a layer that runs in tiles, in a fused chain for its last layer.
    `part_of` names the layer of whose node this one computes a part.
    `estimated_cost` is in instructions, as kernels declare them; in cycles where the platform has a model of time.
    `faster` is the best kernel that refuses the layer, `slow` says that it is many times faster, `with_aim` is one that
    another `--optimize` would take.
    """

    name: str
    op: str
    kernel: str
    numerics: str
    tile: Mapping[str, int] | None
    tiles: int
    macs: int
    copied_bytes: Mapping[str, int]
    loaded_bytes: int | None
    stored_bytes: int | None
    instructions: int | None = None
    cycles: int | None = None
    max_abs_error: float | None = None
    max_lsb_error: int | None = None
    loaded_by_level: Mapping[str, int] = field(default_factory=dict)
    stored_by_level: Mapping[str, int] = field(default_factory=dict)
    engine: str = ""
    results: tuple[ResultReport, ...] = ()
    operand_bytes: int | None = None
    fused_into: str = ""
    part_of: str = ""
    modelled_cycles: int | None = None
    profile: tuple[TileReport, ...] = ()
    core_cycles: int | None = None
    instead_of: str = ""
    mismatches: int | None = None
    nodes: tuple[str, ...] = ()
    inner: tuple[InnerReport, ...] = ()
    operands: tuple[str, ...] = ()
    members: tuple[MemberReport, ...] = ()
    timeline: TimelineReport | None = None
    estimated_cost: int | None = None
    faster: FasterReport | None = None
    with_aim: FasterReport | None = None
    slow: SlowReport | None = None
    kernel_cycles: int | None = None


@dataclass(frozen=True)
class DifferenceReport:
    """A tensor of which our NumPy executor and the reference compute different elements from the same operands.

    `layer` is the plan instruction that computes it, `node` the node, which may be part of a chain there.
    """

    tensor: str
    node: str
    layer: str
    elements: int
    mismatches: int
    explained: int
    exact: int = 0


@dataclass(frozen=True)
class ReferenceReport:
    """Our NumPy executor against another implementation: differing elements, and how many of them are explained.

    `exact` of the explained ones are what exact arithmetic gives, and the reference is off. `tensors` were compared;
    `unlike` says of each that could not be, for its shape or type, what both have. `differing` are those with
    differences, in the plan's order. `shortened` says of each that is longer there than the bound here what is kept.
    """

    name: str
    mismatches: int
    explained: int
    exact: int = 0
    tensors: int | None = None
    unlike: tuple[str, ...] = ()
    differing: tuple[DifferenceReport, ...] = ()
    shortened: tuple[str, ...] = ()


@dataclass(frozen=True)
class RunReport:
    """What the target answered. `instructions` and `cycles` count one inference without start-up; `modelled_cycles` are
    computed from the instructions that ran, by the table of the core that `cycle_model` names with its source.

    An error that is not finite is written as null; `match` is then false. `samples` were run where a set was given,
    `accuracy` is the part of them whose largest output is the label's; `data_set` says more. `fences` names what
    watched every access of a further run: `hardware` (the core's memory protection), `plugin` (the bytes that each
    layer declares). `counter` names what counted the instructions: `plugin`, `icount` or `callgrind`.
    `reference_missing` says why there is no comparison with another implementation, where one was asked for. `drawn`
    says of inputs drawn at random within limits of the network's what these are. `simulated_by` names the board that
    stood in for a chip or a core, `cut_loops` the outputs that say that data asks for more turns than a bound.
    `board` is told of a run on a real board.
    """

    match: bool
    max_abs_error: float | None
    max_lsb_error: int | None
    mismatches: int
    elements: int
    reference: ReferenceReport | None = None
    instructions: int | None = None
    cycles: int | None = None
    text_bytes: int | None = None
    rodata_bytes: int | None = None
    ram_bytes: int | None = None
    samples: int | None = None
    accuracy: float | None = None
    stack_bytes: int | None = None
    fences: tuple[str, ...] = ()
    counter: str | None = None
    modelled_cycles: int | None = None
    cycle_model: str = ""
    reference_missing: str = ""
    drawn: tuple[str, ...] = ()
    simulated_by: str = ""
    cut_loops: tuple[str, ...] = ()
    frames: FramesReport | None = None
    data_set: DataSetReport | None = None
    text: TextReport | None = None
    reading: ReadingReport | None = None
    board: BoardReport | None = None


@dataclass(frozen=True)
class Report:
    """Everything that one compilation, and a run of it where there was one, has to say.

    `files` are those that were written beside it, each with its SHA-256: what tells them from files of somebody else.
    Of several networks in one image `memory` counts all, `bundle` says what they share, `networks` each one by itself.
    `training` is told of a network that learns, `slices` of one that may be run in parts.
    """

    tool: ToolReport
    model: ModelReport
    platform: str
    target: str
    memory: Mapping[str, MemoryReport]
    passes: tuple[PassReport, ...] = ()
    layers: tuple[LayerReport, ...] = ()
    toolchain: ToolchainReport | None = None
    run: RunReport | None = None
    files: Mapping[str, str] = field(default_factory=dict, compare=False)
    bundle: BundleReport | None = None
    networks: tuple[Report, ...] = ()
    training: TrainingReport | None = None
    slices: SlicesReport | None = None

    def to_json(self) -> dict[str, Json]:
        """The JSON object of schema `tilewright/report/1`."""
        plain = to_plain(self)
        assert isinstance(plain, dict)
        empty = {
            "files": not self.files, "bundle": self.bundle is None, "networks": not self.networks,
            "training": self.training is None,
            "slices": self.slices is None,
        }  # fmt: skip
        return {"schema": SCHEMA, **{key: plain[key] for key in _ORDER if not empty.get(key)}}

    def to_dataframe(self) -> Any:
        """A pandas DataFrame with one row per layer, `result_bytes` beside its figures; ToolMissing without pandas."""
        try:
            import pandas
        except ImportError as error:
            raise ToolMissing(
                "a DataFrame needs pandas", why="it is not installed", fix="pip install pandas"
            ) from error
        names = [column.name for column in fields(LayerReport) if column.name not in _NESTED]
        rows = [
            {name: getattr(layer, name) for name in names} | {"result_bytes": sum(r.bytes for r in layer.results)}
            for layer in self.layers
        ]
        return pandas.DataFrame(rows, columns=[*names, "result_bytes"])

    def plot_memory(self, level: str = "") -> MemoryPlot:
        """Memory over time as a picture that notebooks show and whose `svg` is text; "" takes the fullest map.

        UsageError for a level in which nothing is placed.
        """
        return memory_plot(self.memory, level, len(self.layers))

    def _repr_html_(self) -> str:
        """What notebooks show: the bytes of every level."""
        heads = "".join(f"<th>{head}</th>" for head in ("memory", "needed, B", "size, B", ""))
        rows = "".join(
            f"<tr><th>{escape(name)}</th><td>{level.total:,}</td><td>{'' if level.size is None else f'{level.size:,}'}"
            f"</td><td>{'fits' if level.fits else 'does not fit'}</td></tr>"
            for name, level in self.memory.items()
        )
        title = f"{escape(self.model.name)} on {escape(self.target)}"
        return f"<table><caption>{title}</caption><tr>{heads}</tr>{rows}</table>"

    @staticmethod
    def from_json(value: Json, *, where: str = "report") -> Report:
        """The report that `to_json` wrote; StateError for another schema or a damaged value."""
        if not isinstance(value, dict):
            raise damaged(where, "expected an object")
        if value.get("schema") != SCHEMA:
            raise StateError(
                f"{where} cannot be read",
                why=f"its schema is '{value.get('schema')}', this version reads '{SCHEMA}'",
                fix="write it again with 'tilewright compile'",
            )
        return from_plain(Report, value, where)


_NESTED = (
    "tile", "copied_bytes", "loaded_by_level", "stored_by_level", "results", "profile", "nodes", "inner", "operands",
    "members", "timeline", "faster", "with_aim", "slow",
)  # fmt: skip
"""What of a layer is no single figure or word."""
_ORDER = ("tool", "toolchain", "model", "platform", "target", "memory", "passes", "layers", "run", "bundle", "networks",
          "training", "files")  # fmt: skip


def dumps(value: Json) -> str:
    """JSON text with two spaces of indent and a final newline; the same value gives the same bytes."""
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _refuse_constant(text: str) -> Json:
    raise ValueError(f"{text} is not allowed")


def load(path: Path) -> Report:
    """The report of a file, or of `report.json` in a folder; StateError where it is missing or damaged."""
    file = path
    try:
        file = path / "report.json" if path.is_dir() else path
        value: Json = json.loads(_text_of(file), parse_constant=_refuse_constant)
    except OSError as error:
        raise StateError(
            f"there is no report at '{path}'",
            why=error.strerror or type(error).__name__,
            fix="name a report.json or a folder that 'tilewright compile' wrote",
            file=str(file),
        ) from error
    except (ValueError, RecursionError) as error:
        raise StateError(
            f"'{file}' is no report", why=f"it is not JSON ({error})", fix="name a report.json", file=str(file)
        ) from error
    return Report.from_json(value, where=str(file))


def _text_of(file: Path) -> str:
    """The text of a file; ValueError where it is longer than any report."""
    with file.open("rb") as stream:
        content = stream.read(LARGEST_REPORT + 1)
    if len(content) > LARGEST_REPORT:
        raise ValueError(f"it has more than {LARGEST_REPORT:,} bytes")
    return content.decode("utf-8")
