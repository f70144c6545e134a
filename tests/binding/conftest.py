"""A search that does not end fails its test instead of hanging."""

from __future__ import annotations

import pytest
from tilewright.binding.search import Conflict, _Search

MOST = 5000
"""Rules that a search of these small networks may try."""


class _Bounded(_Search):
    tried = 0

    def _take(self, at: int) -> Conflict | None:
        self.tried += 1
        assert self.tried < MOST, "the search does not end"
        return super()._take(at)


@pytest.fixture(autouse=True)
def _searches_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tilewright.binding.search._Search", _Bounded)
