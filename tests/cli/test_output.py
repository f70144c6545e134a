"""Files appear whole or not at all, and only below the folder that was named."""

import os
import stat
from pathlib import Path

import pytest
from tilewright.errors import UsageError
from tilewright.output.staged import append_line, staged, write_text


def write_both(folder: Path, *names: str) -> None:
    with staged(folder) as staging:
        for name in names:
            (staging / name).parent.mkdir(exist_ok=True)
            (staging / name).write_text("new")


def test_files_replace_those_of_the_folder_and_others_stay(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    with staged(out) as staging:
        (staging / "net.c").write_text("one")
        (staging / "sub").mkdir()
        (staging / "sub" / "weights.c").write_text("one")
    (out / "mine.txt").write_text("mine")
    with staged(out) as staging:
        (staging / "net.c").write_text("two")
        assert (out / "net.c").read_text() == "one", "nothing is seen before the end"
    found = {str(file.relative_to(out)): file.read_text() for file in out.rglob("*") if file.is_file()}
    assert found == {"net.c": "two", "sub/weights.c": "one", "mine.txt": "mine"}
    assert sorted(path.name for path in out.iterdir()) == ["mine.txt", "net.c", "sub"]


def test_an_error_leaves_nothing(tmp_path: Path) -> None:
    def fail(folder: Path) -> None:
        with staged(folder) as staging:
            (staging / "net.c").write_text("half")
            raise KeyError("net")

    with pytest.raises(KeyError):
        fail(tmp_path / "deep" / "new")
    assert list(tmp_path.iterdir()) == [], "the folder and its parent were ours"
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "net.c").write_text("whole")
    with pytest.raises(KeyError):
        fail(tmp_path / "old")
    assert [path.name for path in (tmp_path / "old").iterdir()] == ["net.c"]
    assert (tmp_path / "old" / "net.c").read_text() == "whole"


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError) as caught, staged(tmp_path / "file"):
        pass
    assert str(caught.value) == (f"cannot write '{tmp_path / 'file'}': File exists; name a place that can be written")
    with pytest.raises(UsageError, match="Not a directory"), staged(tmp_path / "file" / "below"):
        pass
    with pytest.raises(UsageError, match="No such file or directory"):
        write_text(tmp_path / "none" / "r.json", "{}")


def test_a_full_disk_is_an_error_of_the_output(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No space left on device"), staged(tmp_path / "out"):
        raise OSError(28, "No space left on device")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_in_the_way_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "net.c").mkdir()
    with pytest.raises(UsageError, match="that name belongs to a folder"):
        write_both(tmp_path, "a.c", "net.c")
    assert [path.name for path in tmp_path.iterdir()] == ["net.c"], "not even a.c was written"


def test_links_never_lead_out_of_the_folder(tmp_path: Path) -> None:
    out, other = tmp_path / "out", tmp_path / "other"
    out.mkdir()
    other.mkdir()
    (other / "precious").write_text("precious")
    (out / "net.c").symlink_to(other / "precious")
    with staged(out) as staging:
        (staging / "net.c").write_text("new")
    assert (out / "net.c").read_text() == "new"
    assert (other / "precious").read_text() == "precious"
    (out / "sub").symlink_to(other)
    with pytest.raises(UsageError, match=r"lies outside of .*: a link leads there"):
        write_both(out, "a.c", "sub/x.c")
    assert not (out / "a.c").exists()
    assert sorted(path.name for path in other.iterdir()) == ["precious"]


def test_a_file_is_written_by_renaming_and_readable_like_any_other(tmp_path: Path) -> None:
    mask = os.umask(0o022)
    try:
        write_text(tmp_path / "r.json", "{}\n")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "r.json").stat().st_mode) == 0o644
    assert [path.name for path in tmp_path.iterdir()] == ["r.json"]


def test_a_line_comes_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "rows.jsonl"
    descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    append_line(descriptor, "first")
    write = os.write

    def full(descriptor: int, data: bytes) -> int:
        if len(data) < 4:
            raise OSError(28, "No space left on device")
        return write(descriptor, bytes(data)[:4])

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space left"):
        append_line(descriptor, "second")
    monkeypatch.undo()
    append_line(descriptor, "third")
    os.close(descriptor)
    assert file.read_text() == "first\nthird\n"


@pytest.mark.parametrize("whole", [True, False])
def test_somebody_may_work_in_a_folder_of_theirs(whole: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    write_both(out, "net.c")
    (out / "build").mkdir()
    (out / "build" / "net.o").write_text("object")
    place = (out / "build").stat()
    if not whole:
        monkeypatch.chdir(out)
    write_both(out, "net.c", "net.h")
    assert os.path.samestat((out / "build").stat(), place)
    assert sorted(str(path.relative_to(out)) for path in out.rglob("*")) == ["build", "build/net.o", "net.c", "net.h"]


def test_an_error_in_the_middle_puts_the_old_files_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    write_both(out, "a.c", "b.c")
    for path in out.iterdir():
        path.write_text("old")
    before = {"a.c": "old", "b.c": "old"}
    monkeypatch.chdir(out)
    replace = os.replace

    def breaks(source: Path, goal: Path) -> None:
        if source.name == "b.c":
            raise OSError(5, "Input/output error")
        replace(source, goal)

    monkeypatch.setattr(os, "replace", breaks)
    with pytest.raises(UsageError, match="Input/output error"):
        write_both(out, "a.c", "b.c", "sub/c.c")
    assert {path.name: path.read_text() for path in out.iterdir()} == before
