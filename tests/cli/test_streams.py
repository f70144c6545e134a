"""Exit codes and sentences where nobody reads standard output, where it is closed, or where its disk is full."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ANSWER = """
import sys
from tilewright import cli
from tilewright.commands import check
from tilewright.commands.answer import Answer
from tilewright.errors import DoesNotFit, TilewrightError
errors = {"none": None, "4": DoesNotFit("'net' does not fit")}
def execute(arguments):
    return Answer("a row", {"a": 1}, errors[sys.argv[1]])
check.execute = execute
sys.exit(cli.main(sys.argv[2:]))
"""
CHECK = ["check", "net.onnx", "-t", "host"]
FULL = "tilewright: error: cannot write to standard output: No space left on device; let it lead to a place that can be"


def started(words: list[str], stdout: str, error: str = "none", stderr: str = "") -> tuple[int, str]:
    """Exit code and standard error of a command whose streams are a pipe that nobody reads, closed or full."""
    closing = " ".join({"closed": f"{number}>&-", "full": f"{number}>/dev/full"}.get(kind, "")
                       for number, kind in ((1, stdout), (2, stderr)))  # fmt: skip
    command = ["sh", "-c", f'"$@" {closing}', "sh", sys.executable, "-c", ANSWER, error, *words]
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    finally:
        os.close(writer)
    return done.returncode, done.stderr


@pytest.mark.parametrize("stdout", ["unread", "closed", "full"])
def test_the_exit_code_is_that_of_what_was_found(stdout: str) -> None:
    code, told = started(CHECK, stdout, "4")
    assert code == 4
    assert told.splitlines()[-1] == "tilewright: error: 'net' does not fit"
    assert told.count("\n") == (2 if stdout == "full" else 1)


@pytest.mark.parametrize("json", [[], ["--json", "-"]])
@pytest.mark.parametrize("stdout", ["unread", "closed"])
def test_nobody_has_to_read(stdout: str, json: list[str]) -> None:
    assert started([*CHECK, *json], stdout) == (0, "")


@pytest.mark.parametrize("words", [CHECK, [*CHECK, "--json", "-"], ["--help"], ["--version"]])
def test_what_was_asked_for_and_could_not_be_written_exits_2(words: list[str]) -> None:
    code, told = started(words, "full")
    assert code == 2
    assert told.startswith(FULL)
    assert told.count("\n") == 1


@pytest.mark.parametrize("stdout", ["unread", "closed", "full"])
def test_an_error_in_json_that_nobody_reads(stdout: str) -> None:
    code, told = started(["report", "none.json", "--json", "-"], stdout)
    assert code == 2
    assert "there is no report at 'none.json'" in told
    assert "Traceback" not in told


@pytest.mark.parametrize("stderr", ["closed", "full"])
def test_an_error_that_cannot_be_told(stderr: str) -> None:
    assert started(["report", "none.json"], "unread", stderr=stderr) == (2, "")
    assert started(CHECK, "closed", "4", stderr=stderr) == (4, "")


def test_help_that_nobody_reads() -> None:
    assert started(["--help"], "unread") == (0, "")


def test_json_on_a_full_disk_is_told_once(tmp_path: Path) -> None:
    code, told = started([*CHECK, "--json", "/dev/full"], "unread")
    assert (code, told) == (
        2, "tilewright: error: cannot write '/dev/full': No space left on device; name a place that can be written\n"
    )  # fmt: skip
    code, told = started([*CHECK, "--json", "/dev/full"], "unread", "4")
    assert code == 4
    assert [line.split(": ")[2] for line in told.splitlines()] == ["cannot write '/dev/full'", "'net' does not fit"]


def test_a_pipe_is_written_into_and_stays_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True) as cat:
        try:
            assert started([*CHECK, "--json", str(pipe)], "unread") == (0, "")
            assert pipe.is_fifo()
            assert cat.stdout is not None
            assert json.loads(cat.stdout.read()) == {"a": 1}
        finally:
            cat.kill()


def test_a_device_stays_one() -> None:
    assert started([*CHECK, "--json", "/dev/null"], "unread") == (0, "")
    assert Path("/dev/null").is_char_device()
