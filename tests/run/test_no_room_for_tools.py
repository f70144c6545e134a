"""A compiler that finds no room to write is told apart from one that refuses our code."""

from pathlib import Path

import pytest
from tilewright.errors import UsageError
from tilewright.run.tool import start


@pytest.mark.parametrize(
    ("words", "code"),
    [("cc1: fatal error: error writing to /tmp/x.s: No space left on device", 1), ("File size limit exceeded", -25)],
)
def test_no_room(words: str, code: int, tmp_path: Path) -> None:
    end = f"exit {code}" if code >= 0 else f"kill -{-code} $$"
    with pytest.raises(UsageError) as caught:
        start(["sh", "-c", f"echo '{words}' >&2; {end}"], tmp_path)
    assert str(caught.value).startswith("sh cannot write its files: ")
    assert str(caught.value).endswith("make room on the disk, or let TMPDIR name a place on another one")
    assert start(["sh", "-c", f"echo '{words}' >&2"], tmp_path).code == 0, "a program that ended well may say so"
    assert start(["sh", "-c", "echo wrong >&2; exit 1"], tmp_path).code == 1
