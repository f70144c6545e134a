"""The report as CSV files for spreadsheets: one row per level, per layer, per buffer. An unknown figure is empty."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

from tilewright.memory.needs import ALL_PARTS
from tilewright.output.cells import csv_text
from tilewright.report.build import Report

_LEVEL = ("size", "worst_case", "live_set", "lower_bound", "status", *ALL_PARTS, "estimated", "total")
_LAYER = ("loaded_bytes", "stored_bytes", "instructions", "cycles", "max_abs_error", "max_lsb_error")
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "summary.csv": ("model", "platform", "target", "level", *_LEVEL),
    "layers.csv": (
        "index", "name", "op", "kernel", "numerics", "tile", "tiles", "macs", "copied_bytes", *_LAYER, "engine",
        "estimated_cost", "slow",
    ),
    "memory.csv": ("id", "lower", "upper", "size", "offset", "level", "kind"),
}  # fmt: skip
"""The first row of each file."""


def files(report: Report) -> dict[str, str]:
    """Content by file name: `summary.csv`, `layers.csv`, `memory.csv`."""
    return {"summary.csv": summary(report), "layers.csv": layers(report), "memory.csv": memory(report)}


def is_table(name: str, file: Path) -> bool:
    """Whether a file has the columns of the table of that name, so that a newer one may replace it."""
    try:
        with file.open(encoding="utf-8", newline="") as stream:
            return name in COLUMNS and tuple(next(csv.reader(stream), ())) == COLUMNS[name]
    except (OSError, UnicodeDecodeError, csv.Error):
        return False


def summary(report: Report) -> str:
    """One row per memory level; sizes in bytes."""
    rows = [
        [report.model.name, report.platform, report.target, level, *(getattr(values, name) for name in _LEVEL)]
        for level, values in report.memory.items()
    ]
    return csv_text(COLUMNS["summary.csv"], rows)


def layers(report: Report) -> str:
    """One row per layer in the order of execution; tile and copies as `name=value` words."""
    rows = [
        [
            index, layer.name, layer.op, layer.kernel, layer.numerics, _words(layer.tile or {}), layer.tiles,
            layer.macs, _words(layer.copied_bytes), *(getattr(layer, name) for name in _LAYER),
            layer.engine, layer.estimated_cost, layer.slow.times if layer.slow else None,
        ]
        for index, layer in enumerate(report.layers)
    ]  # fmt: skip
    return csv_text(COLUMNS["layers.csv"], rows)


def memory(report: Report) -> str:
    """One row per placed buffer, alive in the half-open interval [lower, upper): MiniMalloc's columns, then ours."""
    rows = [
        [buffer.name, buffer.first, buffer.last + 1, buffer.size, buffer.offset, level, buffer.kind]
        for level, values in report.memory.items()
        for buffer in values.buffers
    ]
    return csv_text(COLUMNS["memory.csv"], rows)


def _words(values: Mapping[str, int]) -> str:
    return " ".join(f"{name}={value}" for name, value in values.items())
