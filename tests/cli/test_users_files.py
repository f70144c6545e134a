"""What a user has in an output folder survives, and what a user may get wrong is told in one sentence."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tilewright.cli import main

SAMPLE = str(Path(__file__).parent.parent / "report" / "sample_report.json")
TOO_LONG = "a" * 300


def compiled(model: str, out: Path, *words: str) -> int:
    return main(["compile", model, "-t", "host", "-o", str(out), "-q", *words])


def error_of(capsys: pytest.CaptureFixture[str]) -> str:
    err = capsys.readouterr().err
    assert err.count("\n") == 1, err
    return err


@pytest.mark.usefixtures("fake")
def test_a_file_of_the_user_is_never_replaced(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "net.c").write_text("my own\n")
    for words in (["compile"], ["run"]):
        assert main([*words, model, "-t", "host", "-o", str(out), "-q"]) == 2
        assert error_of(capsys) == (
            f"tilewright: error: '{out / 'net.c'}' is not replaced: tilewright did not write it; "
            "move it away, name another output folder, or replace it with --force\n"
        )
    assert [(p.name, p.read_text()) for p in out.iterdir()] == [("net.c", "my own\n")]
    assert compiled(model, out, "--force") == 0
    assert (out / "net.c").read_text() == "int net;\n"


@pytest.mark.parametrize(
    "words",
    [("quantize", "-o", "{}", "--calibrate", SAMPLE), ("check", "-t", "host", "--json", "{}"),
     ("check", "-t", "host", "--html", "{}"), ("import-torch", SAMPLE, "-o", "{}")],
)  # fmt: skip
def test_what_is_read_is_never_overwritten(
    words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    verb, *rest = words
    model = tmp_path / "net.onnx"
    model.write_text("a network\n")
    also = tmp_path / "same.onnx"
    also.symlink_to(model)
    for place in (model, also):
        assert main([verb, str(model), *(word.format(place) for word in rest), "-q"]) == 2
        assert error_of(capsys) == (
            f"tilewright: error: '{place}' would be overwritten: it is one of the files that are read; "
            "write to another file\n"
        )
    assert model.read_text() == "a network\n"


@pytest.mark.usefixtures("fake")
def test_what_we_wrote_is_replaced_and_what_was_changed_since_is_not(
    model: str, fake: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert compiled(model, out) == 0
    fake.write = lambda _, folder: (folder / "net.c").write_text("int net = 2;\n")
    assert main(["run", model, "-t", "host", "-o", str(out), "-q"]) == 0
    assert (out / "net.c").read_text() == "int net = 2;\n"
    (out / "net.c").write_text("int net = 3;\n")
    assert compiled(model, out) == 2
    assert "it was changed since tilewright wrote it" in error_of(capsys)
    assert (out / "net.c").read_text() == "int net = 3;\n"
    (out / "net.c").write_text("int net = 2;\n")
    assert compiled(model, out) == 0, "the same bytes are no loss"


@pytest.mark.usefixtures("fake")
def test_a_report_that_is_not_ours_is_no_leave_to_replace_it(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for mine in ('{"schema": "mine/1"}', "[1]", "tilewright/report/1"):
        (tmp_path / "report.json").write_text(mine)
        assert compiled(model, tmp_path) == 2
        assert "report.json' is not replaced: tilewright did not write it" in error_of(capsys)
        assert [path.name for path in tmp_path.iterdir() if path.suffix != ".onnx"] == ["report.json"]
    (tmp_path / "report.json").write_text('{"schema": "tilewright/report/1"}')
    assert compiled(model, tmp_path) == 0


@pytest.mark.usefixtures("fake")
def test_files_of_earlier_commands_stay_ours(model: str, fake: Any, tmp_path: Path) -> None:
    out = tmp_path / "out"
    fake.write = lambda _, folder: [(folder / name).write_text("int x;\n") for name in ("net.c", "other.c")]
    assert compiled(model, out) == 0
    fake.write = lambda _, folder: (folder / "net.c").write_text("int y;\n")
    assert compiled(model, out) == 0
    assert sorted(json.loads((out / "report.json").read_text())["files"]) == ["net.c", "other.c"]
    fake.write = lambda _, folder: (folder / "other.c").write_text("int z;\n")
    assert compiled(model, out) == 0


def test_csv_files_of_the_user(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", SAMPLE, "--csv", str(tmp_path)]) == 0
    assert main(["report", SAMPLE, "--csv", str(tmp_path)]) == 0
    (tmp_path / "layers.csv").write_text("name,price\nindex,name,op,kernel\n")
    capsys.readouterr()
    assert main(["report", SAMPLE, "--csv", str(tmp_path)]) == 2
    assert "layers.csv' is not replaced" in error_of(capsys)
    assert main(["report", SAMPLE, "--csv", str(tmp_path), "--force"]) == 0


def test_csv_files_that_we_wrote_are_replaced(tmp_path: Path) -> None:
    """No report beside them lists them: they are known by their columns."""
    newer = json.loads(Path(SAMPLE).read_text())
    newer["model"]["name"], newer["layers"] = "newer", newer["layers"][:1]
    (tmp_path / "newer.json").write_text(json.dumps(newer))
    tables, fresh = tmp_path / "tables", tmp_path / "fresh"
    assert main(["report", SAMPLE, "--csv", str(tables)]) == 0
    assert main(["report", str(tmp_path / "newer.json"), "--csv", str(tables)]) == 0
    assert main(["report", str(tmp_path / "newer.json"), "--csv", str(fresh)]) == 0
    names = ("layers.csv", "memory.csv", "summary.csv")
    assert sorted(path.name for path in tables.iterdir()) == sorted(names)
    assert all((tables / name).read_bytes() == (fresh / name).read_bytes() for name in names)
    assert "newer" in (tables / "summary.csv").read_text()


def test_a_project_stays_where_its_run_fails(fake: Any, model: str, tmp_path: Path) -> None:
    from tilewright.errors import ToolMissing

    def fails(*_: object) -> None:
        raise ToolMissing("gcc is not installed")

    sys.modules["tilewright.compile"].run_model = fails  # type: ignore[attr-defined]
    out = tmp_path / "out"
    assert main(["run", model, "-t", "host", "-o", str(out)]) == 6
    assert sorted(path.name for path in out.iterdir()) == ["net.c", "report.json"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["compile", "M", "-t", "host", "-o", ""], "a path is empty: a variable may be unset"),
        (["run", "M", "-t", "host", "-o", ""], "a path is empty"),
        (["check", ""], "a path is empty"),
        (["report", SAMPLE, "--html", ""], "a path is empty"),
        (["compile", "M", "-q", "-t", "host", "-o", TOO_LONG], "': File name too long"),
        (["check", TOO_LONG], "': File name too long"),
        (["check", "M", "-t", TOO_LONG], "': File name too long"),
        (["check", "M", "-t", "host", "--rows", TOO_LONG], "': File name too long"),
        (
            ["check", "M", "-q", "-t", "host", "--rows", "/dev/full"],
            "cannot write '/dev/full': No space left on device",
        ),
        (["check", "/dev/null"], "cannot read '/dev/null': it is a device or a pipe"),
        (["report", TOO_LONG], "': File name too long"),
        (["report", SAMPLE, "--html", TOO_LONG], "': File name too long"),
        (["report", SAMPLE, "--csv", TOO_LONG], "': File name too long"),
        (["report", SAMPLE, "--csv", "/dev/null/x"], "': Not a directory"),
        (["report", "/dev/zero"], "'/dev/zero' is no report: it is not JSON (it has more than 100,000 bytes)"),
        (["run", "M", "-t", "host", "--seed", "-1"], "--seed: '-1' is not a whole number of 0 or more"),
        (["run", "M", "-t", "host", "--seed", "1e3"], "--seed: '1e3' is not a whole number of 0 or more"),
        (["run", "M", "-t", "host", "--atol", "nan"], "--atol: 'nan' is no number of 0 or more"),
        (["run", "M", "-t", "host", "--rtol=-1"], "--rtol: '-1' is no number of 0 or more"),
        (["conform", "generic", "--seed", "-1"], "--seed: '-1' is not a whole number of 0 or more"),
        *(
            (["check", "M", f"--solver-seconds={time}"], f"--solver-seconds: '{time}' is no time in seconds")
            for time in ("nan", "inf", "-1", "0", "soon")
        ),
    ],
)
@pytest.mark.usefixtures("fake")
def test_what_a_user_gets_wrong_exits_2(
    words: list[str], sentence: str, model: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tilewright.report.build.LARGEST_REPORT", 100_000)
    monkeypatch.chdir(Path(model).parent)
    assert main([model if word == "M" else word for word in words]) == 2
    assert sentence in error_of(capsys)
    assert [path.name for path in Path(model).parent.iterdir()] == ["net.onnx"], "nothing was written"


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (OSError(28, "No space left on device", "/tmp/x"), 2, "cannot write '/tmp/x': No space left on device; make"),
        (FileNotFoundError(2, "No usable temporary directory found in ['/tmp']"), 2, "there is no temporary folder"),
        (MemoryError("Unable to allocate 4 TiB"), 3, "not enough memory for the network: Unable to allocate 4 TiB"),
        (OSError(22, "Invalid argument"), 1, "this is a bug in tilewright"),
    ],
)
def test_what_the_machine_does_not_give_is_no_bug_of_ours(
    error: Exception, code: int, sentence: str, fake: Any, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    fake.errors["host"] = error
    assert main(["check", model, "-t", "host"]) == code
    assert sentence in error_of(capsys)


def test_a_file_that_is_too_large_is_not_begun(tmp_path: Path) -> None:
    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    (tmp_path / "r.html").write_text("before")
    words = ["report", SAMPLE, "--html", "r.html"]
    done = subprocess.run(
        [sys.executable, "-m", "tilewright", *words], cwd=tmp_path, preexec_fn=small_files, capture_output=True
    )
    assert (done.returncode, done.stderr.count(b"\n")) == (2, 1)
    assert b"cannot write 'r.html': File too large" in done.stderr
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("r.html", "before")]


def test_a_terminated_command_dies_of_the_signal_and_leaves_nothing(tmp_path: Path) -> None:
    code = (
        "import signal, sys, time\nfrom tilewright import cli\nfrom tilewright.commands import ops\n"
        "from tilewright.output.staged import staged\nfrom pathlib import Path\n"
        "signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests may run where it is ignored\n"
        "def execute(arguments):\n"
        "    with staged(Path('deep/out')) as folder:\n"
        "        (folder / 'net.c').write_text('half')\n"
        "        print('begun', flush=True)\n"
        "        time.sleep(60)\n"
        "ops.execute = execute\nsys.exit(cli.main(['ops']))\n"
    )
    for number in (signal.SIGTERM, signal.SIGHUP):
        with subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.PIPE) as running:
            assert running.stdout is not None
            assert running.stdout.readline() == b"begun\n"
            assert any(tmp_path.rglob("net.c"))
            os.kill(running.pid, number)
            assert running.wait(30) == -number
        assert list(tmp_path.iterdir()) == []
