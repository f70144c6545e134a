"""Placement problems and solutions as CSV, in MiniMalloc's columns.

`id,lower,upper,size` with half-open lifetimes, optionally `alignment`; `offset` is the place in a solution and a pin in
a problem (empty where a buffer is free). The older names are read too: `buffer`, `buffer_id`, `start`, `begin`, and
`end`, which is the last moment instead of the one after it.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping

from tilewright.errors import UsageError
from tilewright.memory.bound import live_bound
from tilewright.memory.packing import normalise
from tilewright.memory.problem import Buffer, PlacementProblem, PlacementSolution
from tilewright.output.cells import csv_text, meant

_OLD_NAMES = {"buffer": "id", "buffer_id": "id", "start": "lower", "begin": "lower"}
_NEEDED = ("id", "lower", "upper", "size")
_KNOWN = (*_NEEDED, "alignment", "offset", "hint")


def read_problem(text: str, *, capacity: int | None = None, file: str = "") -> PlacementProblem:
    """The problem in a CSV text; UsageError names the line that is wrong. Offsets become pins, hints are ignored."""
    buffers = []
    for line, row in _rows(text, file):
        upper = _number(row, "upper", line, file)
        offset = _number(row, "offset", line, file) if row.get("offset") else None
        align = _number(row, "alignment", line, file) if row.get("alignment") else 1
        lower, size = _number(row, "lower", line, file), _number(row, "size", line, file)
        buffers.append(Buffer(row["id"], lower, upper, size, align, offset))
    return PlacementProblem(tuple(buffers), capacity)


def write_problem(problem: PlacementProblem) -> str:
    """The problem as CSV; UsageError where it has overlaps or views, for which the format has no column."""
    if problem.overlaps or problem.views:
        raise UsageError("this placement problem has overlaps or views", why="MiniMalloc's CSV has no column for them")
    pins = {buffer.name: buffer.pinned for buffer in problem.buffers}
    return _write(problem, pins if any(pin is not None for pin in pins.values()) else None)


def read_solution(problem: PlacementProblem, text: str, *, file: str = "") -> PlacementSolution:
    """The solution in a CSV text, its peak and bound computed anew; check() says whether it is right."""
    offsets: dict[str, int] = {}
    for line, row in _rows(text, file):
        if not row.get("offset"):
            raise _wrong(line, f"buffer '{row['id']}' has no offset", file)
        offsets[row["id"]] = _number(row, "offset", line, file)
    missing = next((buffer.name for buffer in problem.buffers if buffer.name not in offsets), None)
    if missing is not None:
        raise UsageError("the solution does not fit its problem", why=f"buffer '{missing}' has no line", file=file)
    peak = max((offsets[buffer.name] + buffer.size for buffer in problem.buffers if buffer.size), default=0)
    return PlacementSolution(offsets, peak, min(peak, live_bound(normalise(problem))), "csv")


def write_solution(problem: PlacementProblem, solution: PlacementSolution) -> str:
    """The solution as CSV: the problem's columns and the offsets."""
    return _write(problem, solution.offsets)


def _write(problem: PlacementProblem, offsets: Mapping[str, int | None] | None) -> str:
    """Lines in the problem's order; columns that say nothing are left out."""
    aligned = any(buffer.align != 1 for buffer in problem.buffers)
    heads = [*_NEEDED, *["alignment"] * aligned, *["offset"] * (offsets is not None)]
    rows = []
    for buffer in problem.buffers:
        row: list[str | int | None] = [buffer.name, buffer.lower, buffer.upper, buffer.size]
        row += [buffer.align] * aligned
        row += [] if offsets is None else [offsets[buffer.name]]
        rows.append(row)
    return csv_text(heads, rows)


def _rows(text: str, file: str) -> list[tuple[int, dict[str, str]]]:
    """Line numbers and fields by column, the older columns renamed; an inclusive `end` becomes `upper`."""
    reader = csv.reader(io.StringIO(text, newline=""))
    header = [_OLD_NAMES.get(name.strip(), name.strip()) for name in next(reader, [])]
    inclusive = "end" in header
    header = ["upper" if name == "end" else name for name in header]
    for name in _NEEDED:
        if name not in header:
            raise _wrong(1, f"there is no column '{name}'", file)
    for name in header:
        if name not in _KNOWN:
            raise _wrong(1, f"the column '{name}' is not known", file)
        if header.count(name) > 1:
            raise _wrong(1, f"the column '{name}' comes twice", file)
    rows = []
    for fields in reader:
        if not fields:
            continue
        line = reader.line_num
        if len(fields) != len(header):
            raise _wrong(line, f"{len(fields)} fields where the header has {len(header)}", file)
        row = dict(zip(header, (field.strip() for field in fields), strict=True))
        row["id"] = meant(row["id"])
        if inclusive:
            row["upper"] = str(_number(row, "upper", line, file) + 1)
        rows.append((line, row))
    return rows


def _number(row: Mapping[str, str], column: str, line: int, file: str) -> int:
    """A field as a whole number."""
    try:
        return int(row[column])
    except ValueError:
        raise _wrong(line, f"{column} is '{row[column]}', which is not a whole number", file) from None


def _wrong(line: int, why: str, file: str) -> UsageError:
    """The error for one line."""
    name = f"'{file}'" if file else "the CSV"
    return UsageError(f"line {line} of {name} is wrong", why=why, file=file)
