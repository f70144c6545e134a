"""An output folder is whole whenever its writer is killed, and the next run removes what the killed one left."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tilewright.output.staged import staged, write_text
from tilewright.output.unfinished import unfinished_folder

WRITER = Path(__file__).with_name("killed_writer.py")
OURS = ("out/net.c", "out/net.h", "out/sub/weights.c")
MINE = {"out/mine.txt": "mine", "out/sub/my/own.txt": "mine"}
Files = dict[str, str]


def states(mode: str, signal: str, every: int, place: Path) -> list[list[Files]]:
    """What stood there after each kill, after cleaning, and after the next run."""
    done = subprocess.run(
        [sys.executable, WRITER, mode, signal, str(every), place / "x"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found: list[list[Files]] = json.loads(done.stdout)
    assert len(found) > 20, "a kill at every moment"
    return found


def versions(files: Files) -> set[str]:
    """Which versions of our own files stand there."""
    found = {files.get(name, "none") for name in OURS}
    return found | ({"new"} if "out/new.c" in files else set())


def visible(files: Files) -> Files:
    return {name: text for name, text in files.items() if ".tilewright-" not in name}


@pytest.mark.parametrize("mode", ["exchange", "aside", "in_place"])
def test_a_kill_leaves_the_old_folder_or_the_new_one(mode: str, tmp_path: Path) -> None:
    outcomes = set()
    for left, cleaned, after in states(mode, "SIGKILL", 1, tmp_path):
        if mode == "exchange":
            assert len(versions(visible(left))) == 1, "the folder is whole at every moment"
        assert len(versions(cleaned)) == 1, "the next run makes it whole"
        assert cleaned == visible(cleaned), "nothing unfinished stays"
        assert cleaned.items() >= MINE.items()
        assert versions({k: v for k, v in after.items() if k != "out/new.c"}) == {"newest"}
        assert after.items() >= MINE.items()
        assert after == visible(after)
        outcomes |= versions(cleaned)
    assert outcomes == {"old", "new"}


@pytest.mark.parametrize(("mode", "signal", "every"), [("exchange", "SIGTERM", 5), ("in_place", "SIGHUP", 11)])
def test_a_signal_leaves_nothing_unfinished(mode: str, signal: str, every: int, tmp_path: Path) -> None:
    for left, cleaned, _ in states(mode, signal, every, tmp_path):
        assert left == cleaned == visible(left)
        assert len(versions(left)) == 1
        assert left.items() >= MINE.items()


def test_what_a_living_process_writes_is_left_alone(tmp_path: Path) -> None:
    with unfinished_folder(tmp_path) as living:
        (living / "half").write_text("half")
        dead = tmp_path / ".tilewright-00000000.part"
        dead.mkdir()
        (tmp_path / ".tilewright-00000001.part").write_text("dead")
        (tmp_path / ".tilewright-settings").write_text("mine")
        write_text(tmp_path / "r.json", "{}")
        assert {path.name for path in tmp_path.iterdir()} == {living.name, ".tilewright-settings", "r.json"}
        with staged(tmp_path / "out") as staging:
            (staging / "net.c").write_text("int")
        assert {path.name for path in tmp_path.iterdir()} == {living.name, ".tilewright-settings", "r.json", "out"}
        assert (living / "half").read_text() == "half"


WRITE_AT_ONCE = """
import sys
from pathlib import Path
from tilewright.output.staged import staged
for number in range(40):
    with staged(Path(sys.argv[1])) as staging:
        (staging / "sub").mkdir()
        for name in ("net.c", "net.h", "sub/weights.c"):
            (staging / name).write_text(f"{sys.argv[2]} {number}")
"""


def test_of_two_writers_at_once_one_wins_whole(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "mine.txt").write_text("mine")
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITE_AT_ONCE, str(folder), name], stderr=subprocess.PIPE)
        for name in ("one", "two", "three")
    ]
    seen = set()
    while any(writer.poll() is None for writer in writers):
        descriptor = os.open(folder, os.O_RDONLY)  # one folder, whatever has its name by now
        try:
            texts = set()
            for name in ("net.c", "net.h", "mine.txt"):
                with open(os.open(name, os.O_RDONLY, dir_fd=descriptor), encoding="utf-8") as stream:
                    texts.add(stream.read())
            assert "mine" in texts
            assert len(texts) == 2
            seen |= texts
        except FileNotFoundError:
            pass  # nobody has won yet, or the folder that was open is old and being removed
        finally:
            os.close(descriptor)
    complaints = [writer.communicate()[1] for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0, 0], complaints
    last = {(folder / name).read_text() for name in ("net.c", "net.h", "sub/weights.c")}
    assert len(last) == 1
    assert last.pop().endswith(" 39")
    names = sorted(path.name for path in tmp_path.rglob("*"))
    assert names == ["mine.txt", "net.c", "net.h", "out", "sub", "weights.c"]
