"""What a verb answers: text for the terminal, JSON for `--json`, and the error that sets the exit code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tilewright.errors import TilewrightError

if TYPE_CHECKING:
    from tilewright.report.codec import Json


@dataclass(frozen=True)
class Answer:
    """`text` goes to standard output unless the JSON does; with an `error`, `json` is its error object."""

    text: str
    json: Json
    error: TilewrightError | None = None
