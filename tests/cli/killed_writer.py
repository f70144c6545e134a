"""Writes a folder in a child, and kills the child at every moment of it, one after the other.

python killed_writer.py MODE SIGNAL EVERY PLACE prints, as JSON, what stands in the folder after each kill, after the
next `clean`, and after the next run. `MODE` is how the folder is replaced: exchange, aside or in_place.
SIGKILL comes before every call that changes the file system; other signals at every line, or every few, of our code.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any

from tilewright.commands.ending import ended_by_signals
from tilewright.output import publishing, staged, unfinished

WATCHED = {staged.__file__, publishing.__file__, unfinished.__file__}
FILES = ("net.c", "net.h", "sub/weights.c")


def write(folder: Path, word: str) -> None:
    """What a compilation does."""
    with staged.staged(folder) as staging:
        for name in (*FILES, *(["new.c"] if word == "new" else [])):
            (staging / name).parent.mkdir(exist_ok=True)
            (staging / name).write_text(word)


def contents(folder: Path) -> dict[str, str]:
    """Every file below a folder, and its text."""
    return {str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()}


def child(folder: Path, moment: int, number: int) -> bool:
    """Write in a child that gets the signal at that moment; True where it ended before."""
    pid = os.fork()
    if pid == 0:
        seen = 0

        def count() -> None:
            nonlocal seen
            seen += 1
            if seen == moment:
                os.kill(os.getpid(), number)

        def audit(event: str, arguments: tuple[Any, ...]) -> None:
            if event.startswith(("os.", "shutil.")) or event == "open":
                count()

        def trace(frame: FrameType, event: str, argument: Any) -> Any:
            if frame.f_code.co_filename not in WATCHED:
                return None
            if event == "line":
                count()
            return trace

        if number == signal.SIGKILL:
            sys.addaudithook(audit)
        else:
            sys.settrace(trace)
        with ended_by_signals():
            write(folder, "new")
        sys.settrace(None)
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == number, status
        return False
    assert os.WEXITSTATUS(status) == 0, status
    return True


def main(mode: str, name: str, every: int, place: Path) -> None:
    """All moments, one after the other."""
    if mode == "aside":
        publishing._exchange_by_system = lambda one, other: False
    if mode == "in_place":
        staged.exchangeable = lambda folder: False  # type: ignore[attr-defined]
    states = []
    for moment in range(1, 10_000, every):
        folder = place / "above" / "out"
        shutil.rmtree(place, ignore_errors=True)
        write(folder, "old")
        (folder / "mine.txt").write_text("mine")
        (folder / "sub" / "my").mkdir()
        (folder / "sub" / "my" / "own.txt").write_text("mine")
        ended = child(folder, moment, getattr(signal, name))
        left = contents(place / "above")
        publishing.clean(folder)
        cleaned = contents(place / "above")
        write(folder, "newest")
        states.append([left, cleaned, contents(place / "above")])
        if ended:
            break
    print(json.dumps(states))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), Path(sys.argv[4]))
