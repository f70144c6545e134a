"""What `--json` holds where it is not one report: a table of rows, or the error that ended the command."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from tilewright.errors import MismatchError, TilewrightError
from tilewright.memory.needs import verdict_of
from tilewright.report.build import Report
from tilewright.report.codec import Json, to_plain

TABLE_SCHEMA = "tilewright/table/1"
ERROR_SCHEMA = "tilewright/error/1"


@dataclass(frozen=True)
class Row:
    """One line of a table: a target, with a strategy where several were asked for, and its report or its error.

    `source` is the model's file; `notes` are what was chosen for the user.
    """

    target: str
    report: Report | None = None
    error: TilewrightError | None = None
    strategy: str = ""
    source: str = ""
    notes: tuple[str, ...] = ()

    @property
    def fits(self) -> bool:
        """True where there is a report and every level of it is large enough, whatever the outputs are."""
        fine = self.error is None or isinstance(self.error, MismatchError)
        return fine and self.report is not None and all(m.fits for m in self.report.memory.values())

    @property
    def verdict(self) -> str:
        """Whether it fits, and how that is known; a budget that is exceeded is no fit."""
        fine = self.error is None or isinstance(self.error, MismatchError)
        return verdict_of(self.report.memory.values()) if fine and self.report is not None else "does not fit"

    def to_json(self) -> dict[str, Json]:
        """A report without layers, `fits` with its `verdict`, and `error` where there is one."""
        plain: dict[str, Json] = {"target": self.target}
        if self.source:
            plain["source"] = self.source
        if self.strategy:
            plain["strategy"] = self.strategy
        plain |= {"fits": self.fits, "verdict": self.verdict}
        if self.report is not None:
            plain |= {key: item for key, item in self.report.to_json().items() if key not in ("layers", "files")}
        if self.error is not None:
            plain["error"] = error_json(self.error)
        return plain


def table_json(rows: Sequence[Row]) -> dict[str, Json]:
    """The JSON object of schema `tilewright/table/1`."""
    return {"schema": TABLE_SCHEMA, "rows": [row.to_json() for row in rows]}


def error_json(error: TilewrightError, *, rows: Sequence[Row] = (), report: Report | None = None) -> dict[str, Json]:
    """The JSON object of schema `tilewright/error/1`, with the rows or the report that the command had by then."""
    plain: dict[str, Json] = {
        "schema": ERROR_SCHEMA,
        "code": error.code,
        "what": error.what,
        "where": to_plain(asdict(error.where)),
        "why": error.why,
        "fix": error.fix,
        "smallest": to_plain(error.smallest),
        "given": to_plain(error.given),
    }
    if rows:
        plain["rows"] = [row.to_json() for row in rows]
    if report is not None:
        plain["report"] = report.to_json()
    return plain
