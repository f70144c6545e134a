"""The command line: what each verb prints and writes, and the exit code of everything that goes wrong."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import tilewright.report
from tilewright.cli import VERBS, main
from tilewright.commands.check import answer
from tilewright.errors import DoesNotFit, MismatchError, ToolMissing, UnsupportedNode
from tilewright.report.build import DifferenceReport, ReferenceReport, Report, RunReport, load
from tilewright.report.envelope import Row
from tilewright.version import VERSION

SCHEMA = json.loads(Path(tilewright.report.__file__).with_name("schema.json").read_text(encoding="utf-8"))
SAMPLE = str(Path(__file__).parent.parent / "report" / "sample_report.json")


@pytest.fixture(autouse=True)
def _restored_log() -> Iterator[None]:
    logger = logging.getLogger("tilewright")
    before = logger.handlers[:], logger.propagate, logger.level
    yield
    logger.handlers, logger.propagate = before[0], before[1]
    logger.setLevel(before[2])


def valid(text: str) -> Any:
    value = json.loads(text)
    jsonschema.validate(value, SCHEMA)
    return value


def test_help_names_every_verb_and_starts_nothing_heavy() -> None:
    code = (
        "import sys; from tilewright.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "print([name for name in ('numpy', 'onnx', 'ortools', 'mako', 'onnxruntime') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("[]\n"), "heavy modules were imported"
    for verb in VERBS:
        assert f"\n    {verb}" in done.stdout


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out == f"tilewright {VERSION}\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "the following arguments are required: VERB; see 'tilewright --help'"),
        (["fly"], "argument VERB: invalid choice: 'fly'"),
        (["report"], "the following arguments are required: DIR|report.json; see 'tilewright report --help'"),
        (["compile", "m.onnx", "-t", "host"], "the following arguments are required: -o/--output"),
        (["check", "none.onnx"], "cannot read 'none.onnx': no such file; check the path"),
        (["check", "."], "cannot read '.': it is a folder; check the path"),
        (["check", "m", "--set", "l1"], "--set l1: there is no NAME=VALUE in it; see 'tilewright compile --help'"),
        (["check", "m", "--set", "=4"], "--set =4: there is no NAME=VALUE in it"),
        (["check", "m", "--set", "l1=4Q"], "--set l1=4Q: '4Q' is not a size, it is not a whole number with B, K"),
        (
            ["check", "m", "--shape", "x=1,a"],
            "--shape x=1,a: '1,a' is not a shape, an extent is not a whole number; write",
        ),
        (["check", "m", "--shape", "x=1,-4"], "--shape x=1,-4: '1,-4' is not a shape, an extent is not a whole number"),
        (["check", "m", "--io", "heap"], "argument --io: invalid choice: 'heap'"),
        (["report", "none.json"], "there is no report at 'none.json': No such file or directory"),
    ],
)
def test_usage_errors_exit_2(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    err = capsys.readouterr().err
    assert err.startswith("tilewright: error: ")
    assert message in err
    assert err.count("\n") == 1, "one sentence"


def test_usage_errors_reach_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fly", "--json", "-"]) == 2
    assert valid(capsys.readouterr().out)["code"] == 2
    assert main(["check", "none.onnx", f"--json={tmp_path / 'e.json'}"]) == 2
    assert valid((tmp_path / "e.json").read_text())["what"] == "cannot read 'none.onnx'"
    assert main(["check", "none.onnx", "--json", str(tmp_path / "no" / "e.json")]) == 2
    assert "cannot write" in capsys.readouterr().err


def test_compile_writes_c_and_report(fake: Any, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert main(["compile", model, "-t", "host", "-o", str(out), "--json", str(tmp_path / "r.json")]) == 0
    assert sorted(path.name for path in out.iterdir()) == ["net.c", "report.json"]
    assert load(out) == replace(fake.report, target="host")
    assert valid((tmp_path / "r.json").read_text()) == valid((out / "report.json").read_text())
    captured = capsys.readouterr()
    assert captured.out.startswith("digits on host (generic): 4 nodes")
    assert captured.out.endswith(f"written to {out}\n")
    assert captured.err == "note: batch size 1 was taken for input 'x'\n"
    assert main(["compile", model, "-t", "host", "-o", str(out), "--json", "-", "-q"]) == 0
    captured = capsys.readouterr()
    valid(captured.out)
    assert captured.err == ""


def test_options_reach_the_compiler(fake: Any, model: str, tmp_path: Path) -> None:
    (tmp_path / "k.npy").write_bytes(b"")
    words = (
        "--set ram=64K --set flash=1M --budget ram=60KiB --shape x=1,3,96,96 --shape a=b=2 --io caller --quantized-io "
        "--integer-only --allocator greedy --optimize size --without-pass fold --solver-seconds 0.5"
    ).split()
    words += ["--freeze", f"k={tmp_path / 'k.npy'}", "--dump-dir", str(tmp_path / "dump")]
    assert main(["compile", model, "-t", "host", "-o", str(tmp_path / "out"), *words]) == 0
    [options] = fake.asked
    assert options.level_sizes == {"ram": 65536, "flash": 1 << 20}
    assert options.budgets == {"ram": 60 * 1024}
    assert options.shapes == {"x": (1, 3, 96, 96), "a=b": (2,)}
    assert options.freeze == {"k": tmp_path / "k.npy"}
    assert (options.io, options.quantized_io, options.integer_only) == ("caller", True, True)
    assert (options.allocator, options.optimize, options.disabled_passes) == ("greedy", "size", frozenset({"fold"}))
    assert (options.solver_seconds, options.measure, options.dump_dir) == (0.5, False, tmp_path / "dump")


def test_explain_says_why_not(fake: Any, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", model, "-t", "host", "-o", str(tmp_path / "out"), "--explain"]) == 0
    out = capsys.readouterr().out
    head, taken, refused, *_ = out.splitlines()
    assert head == "act (Relu): f32[4] -> f32[4]"
    assert taken == "    takes ReluF32 of generic, exact: instructions not declared, 0 B of flash, 0 B of scratch"
    assert refused == "    ReluDsp of generic: no DSP"


def test_a_level_that_the_target_lacks(fake: Any, model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", model, "-t", "host", "--budget", "l1=4K"]) == 2
    assert (
        "--budget l1=4096: target 'host' has no memory level 'l1'; its levels are ram, flash" in capsys.readouterr().err
    )


def test_a_budget_that_is_exceeded_exits_4_and_writes_nothing(
    fake: Any, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main(["compile", model, "-t", "host", "-o", str(out), "--budget", "ram=5K", "--json", "-"]) == 4
    captured = capsys.readouterr()
    assert not out.exists()
    assert (
        "tilewright: error: 'digits' does not fit on 'host': ram needs 5,536 B and the budget is 5,120 B, 416 B less: "
        "at "
    ) in captured.err
    assert captured.err.endswith(
        " B together, beside 96 B of stack; use a larger memory, try --optimize size, or shrink these tensors "
        "(smallest that fits: ram=5536)\n"
    )
    assert valid(captured.out)["smallest"] == {"ram": 5536}


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UnsupportedNode("node 'nms' (NonMaxSuppression)", why="no kernel", node="nms"), 3),
        (DoesNotFit("level 'ram' is too small", smallest={"ram": 70000}), 4),
        (MismatchError("outputs differ"), 5),
        (ToolMissing("gcc is not installed", fix="install package gcc"), 6),
    ],
)
def test_exit_codes_and_error_json(
    error: Any, code: int, fake: Any, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fake.errors["host"] = error
    for verb in (["compile", model, "-t", "host", "-o", str(tmp_path / "out")], ["check", model, "-t", "host"]):
        assert main([*verb, "--json", "-"]) == code
        captured = capsys.readouterr()
        value = valid(captured.out)
        assert (value["schema"], value["code"], value["what"]) == ("tilewright/error/1", code, error.what)
        assert value["where"]["node"] == error.where.node
        assert f"tilewright: error: {error.what}" in captured.err
    assert not (tmp_path / "out").exists()


def test_a_bug_is_one_sentence_and_the_traceback_with_v(
    fake: Any, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    fake.errors["host"] = KeyError("slot")
    assert main(["check", model, "-t", "host", "--json", "-"]) == 1
    captured = capsys.readouterr()
    assert captured.err == (
        "tilewright: error: tilewright failed: KeyError: 'slot'; "
        "this is a bug in tilewright; run the same command with -v for the traceback\n"
    )
    assert valid(captured.out)["code"] == 1
    assert main(["check", model, "-t", "host", "-v"]) == 1
    err = capsys.readouterr().err
    assert err.startswith("Traceback")
    assert "in compile_model" in err
    assert err.endswith("this is a bug in tilewright; the traceback stands above\n")


def test_a_users_error_has_no_traceback(fake: Any, model: str, capsys: pytest.CaptureFixture[str]) -> None:
    error = UnsupportedNode("node 'nms'", why="no kernel")
    error.where = replace(error.where, step="binding")
    fake.errors["host"] = error
    assert main(["check", model, "-t", "host", "-v"]) == 3
    assert capsys.readouterr().err == "tilewright: error: node 'nms': no kernel (in step 'binding')\n"


def test_a_terminal_that_knows_ascii_only(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tilewright", "report", "größe.json"],
        capture_output=True, check=False, env={"PYTHONIOENCODING": "ascii", "PATH": ""}, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 2
    assert b"gr\\xf6\\xdfe.json" in done.stderr


def test_names_cannot_write_to_the_terminal(fake: Any, model: str, capsys: pytest.CaptureFixture[str]) -> None:
    fake.errors["host"] = UnsupportedNode("node 'a\x1b[31m\nb'")
    assert main(["check", model, "-t", "host"]) == 3
    assert capsys.readouterr().err == "tilewright: error: node 'a\\x1b[31m b'\n"


def test_interrupts_are_quiet(fake: Any, model: str, capsys: pytest.CaptureFixture[str]) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    sys.modules["tilewright.compile"].compile_model = stop  # type: ignore[attr-defined]
    assert main(["check", model, "-t", "host"]) == 130
    assert capsys.readouterr().err == "tilewright: interrupted\n"


def test_an_error_while_writing_leaves_nothing(fake: Any, model: str, tmp_path: Path) -> None:
    def half(_: object, folder: Path) -> None:
        (folder / "net.c").write_text("int")
        raise UnsupportedNode("node 'late'")

    fake.write = half
    assert main(["compile", model, "-t", "host", "-o", str(tmp_path / "out")]) == 3
    assert [path.name for path in tmp_path.iterdir()] == ["net.onnx"]


def test_check_gives_a_row_per_target(fake: Any, model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", model, "-t", "host", "--json", "-"]) == 0
    value = valid(capsys.readouterr().out)
    assert value["schema"] == "tilewright/table/1"
    assert [(row["target"], row["fits"]) for row in value["rows"]] == [("host", True)]
    assert "layers" not in value["rows"][0]
    assert main(["check", model, "-t", "host,nowhere", "--json", "-"]) == 2
    captured = capsys.readouterr()
    value = valid(captured.out)
    assert value["schema"] == "tilewright/error/1"
    assert [row["fits"] for row in value["rows"]] == [True, False]
    assert "unknown target 'nowhere'" in captured.err
    assert main(["check", model, "-t", "host,"]) == 2
    assert "-t host,: a name is empty; separate names by commas" in capsys.readouterr().err


def test_a_model_that_is_wrong_for_all_targets_is_told_once(
    fake: Any, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    targets = ("host", "host_x86_64_v3")
    for target in targets:
        fake.errors[target] = UnsupportedNode("node 'nms'", why="no kernel")
    assert main(["check", model, "-t", ",".join(targets)]) == 3
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "tilewright: error: node 'nms': no kernel\n")
    assert main(["check", model, "-t", ",".join(targets), "--json", "-"]) == 3
    assert [row["target"] for row in valid(capsys.readouterr().out)["rows"]] == list(targets)
    del fake.errors["host"]
    assert main(["check", model, "-t", ",".join(targets)]) == 3
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()[2:4]] == list(targets)


def test_one_of_several_models_that_is_wrong_for_all_targets_has_one_row(fake: Any) -> None:
    wrong = UnsupportedNode("node 'nms'", why="no kernel")
    rows = [Row(name, error=wrong, source="one.onnx") for name in ("host", "board")]
    assert answer([*rows, replace(rows[0], source="two.onnx")]).text == "", "two models, one reason"
    text = answer([*rows, Row("host", fake.report, source="two.onnx")]).text
    assert [line.split()[:2] for line in text.splitlines()[2:4]] == [["one.onnx", "all"], ["two.onnx", "host"]]


def test_check_prints_what_does_not_fit(fake: Any, model: str, capsys: pytest.CaptureFixture[str]) -> None:
    level = replace(fake.report.memory["ram"], size=5000)
    fake.report = replace(fake.report, memory={"ram": level})
    assert main(["check", model, "-t", "host"]) == 4
    captured = capsys.readouterr()
    assert captured.out.splitlines()[-1] == "host    5,536 / 5,000  does not fit"
    assert "ram needs 5,536 B and the level has 5,000 B, 536 B less" in captured.err


def test_memory_compares_strategies(fake: Any, model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["memory", model, "--strategies", "greedy,auto", "--json", "-"]) == 0
    rows = valid(capsys.readouterr().out)["rows"]
    assert [(row["target"], row["strategy"]) for row in rows] == [("host", "greedy"), ("host", "auto")]
    assert [options.allocator for options in fake.asked] == ["greedy", "auto"]
    assert main(["memory", model]) == 0
    assert "strategy" in capsys.readouterr().out


def test_run_compares_and_keeps_the_folder_where_asked(
    fake: Any, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in.npz").write_bytes(b"")
    words = [
        "run",
        model,
        "-t",
        "host",
        "--inputs",
        str(tmp_path / "in.npz"),
        "--layers",
        "--atol",
        "0.01",
        "--seed",
        "7",
    ]
    assert main([*words, "-o", str(tmp_path / "out")]) == 0
    assert "outputs match (10 elements)" in capsys.readouterr().out
    assert load(tmp_path / "out").run == fake.report.run
    [asked] = fake.ran
    assert (asked.inputs, asked.expect, asked.layers) == (tmp_path / "in.npz", None, True)
    assert (asked.atol, asked.rtol, asked.seed) == (0.01, 1e-4, 7)
    assert fake.asked[0].measure
    assert main(words) == 0
    assert main([*words, "--expect", "none.npz"]) == 2


@pytest.mark.parametrize(
    ("run", "sentence"),
    [
        (
            RunReport(False, 0.5, None, 3, 10),
            "outputs of 'digits' differ on 'host': 3 of 10 elements, the largest error is 0.5",
        ),
        (RunReport(False, 1.0, 1, 3, 10), "the largest error is 1 steps; run it with --layers"),
        (RunReport(False, None, None, 3, 10), "the largest error is not finite"),
        (
            RunReport(True, 0.0, 0, 0, 10, ReferenceReport("onnxruntime", 5, 4)),
            "'digits' differs from onnxruntime: 1 differences are not explained by rounding",
        ),
        (
            RunReport(
                True,
                0.0,
                0,
                0,
                10,
                ReferenceReport(
                    "onnxruntime",
                    5,
                    4,
                    differing=(DifferenceReport("t", "n", "l", 9, 2, 2), DifferenceReport("u", "m", "l", 9, 3, 2)),
                ),
            ),
            "1 differences are not explained by rounding; the first lie in 'u' of node 'm'; find every tensor",
        ),
        (
            RunReport(True, 0.0, 0, 0, 10, ReferenceReport("onnxruntime", 0, 0, 0, 3, ("'y' is short", "'z' too"))),
            "'digits' cannot be compared with onnxruntime: tensor 'y' is short, and 1 more; one of the two reads",
        ),
    ],
)
def test_run_exits_5_where_outputs_differ(
    run: RunReport, sentence: str, fake: Any, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fake.run = run
    words = ["run", model, "-t", "host", "-o", str(tmp_path / "out"), "--json", str(tmp_path / "e.json")]
    assert main(words) == 5
    captured = capsys.readouterr()
    assert sentence in captured.err
    assert "NumPy against" in captured.out or "outputs differ in 3 of 10 elements" in captured.out
    value = valid((tmp_path / "e.json").read_text())
    assert value["code"] == 5
    assert Report.from_json(value["report"]).run == load(tmp_path / "out").run == run


def test_explained_differences_are_no_error(fake: Any, model: str) -> None:
    fake.run = RunReport(True, 0.0, 0, 0, 10, ReferenceReport("onnxruntime", 5, 5))
    assert main(["run", model, "-t", "host"]) == 0


def test_report_renders_and_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    html, tables = tmp_path / "r.html", tmp_path / "tables"
    assert main(["report", SAMPLE, "--html", str(html), "--csv", str(tables)]) == 0
    assert capsys.readouterr().out.startswith("digits on host")
    assert html.read_text().startswith("<!doctype html>")
    assert sorted(path.name for path in tables.iterdir()) == ["layers.csv", "memory.csv", "summary.csv"]
    assert main(["report", SAMPLE, "--json", "-"]) == 0
    assert valid(capsys.readouterr().out)["schema"] == "tilewright/report/1"
