"""The command line over the whole house: the digits network that we trained, from its file to compared C."""

import json
import shutil
from pathlib import Path

import jsonschema
import numpy as np
import onnx
import pytest
import tilewright.report
from tilewright.cli import main
from tilewright.report.build import load

DIGITS = Path(__file__).parent.parent / "models" / "digits"
SCHEMA = json.loads(Path(tilewright.report.__file__).with_name("schema.json").read_text(encoding="utf-8"))
MODEL = str(DIGITS / "model.onnx")


def files(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def changed(tmp_path: Path, op: str) -> str:
    """The digits network with its softmax replaced by something else."""
    model = onnx.load(MODEL)
    model.graph.node[-1].op_type = op
    onnx.save(model, str(tmp_path / "changed.onnx"))
    return str(tmp_path / "changed.onnx")


def test_run_matches_and_reports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "run",
        MODEL,
        "-t",
        "host",
        "--inputs",
        str(DIGITS / "inputs.npz"),
        "--expect",
        str(DIGITS / "outputs.npz"),
    ]
    assert main([*words, "-o", str(tmp_path / "out")]) == 0
    assert "outputs match (10 elements)" in capsys.readouterr().out
    report = load(tmp_path / "out")
    assert report.run is not None
    assert report.run.match
    assert report.run.max_abs_error is not None
    assert report.run.max_abs_error <= 1e-4
    jsonschema.validate(json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8")), SCHEMA)
    ram = report.memory["ram"]
    assert (ram.status, ram.activations + ram.io, ram.live_set) == ("optimal", 2560, 3072)
    assert ram.stack
    assert main(["report", str(tmp_path / "out"), "--html", str(tmp_path / "r.html")]) == 0
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert all(f"<title>{buffer.name}, " in page for buffer in ram.buffers)


def test_the_same_command_writes_the_same_bytes(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for out in (first, second):
        assert main(["compile", MODEL, "-t", "host", "-o", str(out), "-q"]) == 0
    one, two = files(first), files(second)
    seconds = [json.loads(found.pop("report.json")) for found in (one, two)]
    for report in seconds:
        del report["tool"]["seconds"]
    assert seconds[0] == seconds[1]
    assert one == two
    assert main(["diff", str(first), str(second)]) == 0


def test_measure_builds_and_tells_code_and_stack(tmp_path: Path) -> None:
    words = ["compile", MODEL, "-t", "host", "--measure"]
    assert main([*words, "-o", str(tmp_path / "out")]) == 0
    report = load(tmp_path / "out")
    assert report.run is None
    assert report.toolchain is not None
    ram, flash = report.memory["ram"], report.memory["flash"]
    assert ram.stack
    assert ram.worst_case == 2560 + ram.stack
    assert flash.code
    assert main([*words, "-o", str(tmp_path / "tight"), "--budget", "ram=2560"]) == 4, "the stack is what is too much"
    assert not (tmp_path / "tight").exists()


def test_wrong_outputs_exit_5(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with np.load(DIGITS / "outputs.npz") as archive:
        wrong = {name: archive[name] + np.float32(0.5) for name in archive.files}
    np.savez(tmp_path / "wrong.npz", **wrong)
    words = [
        "run",
        MODEL,
        "-t",
        "host",
        "--inputs",
        str(DIGITS / "inputs.npz"),
        "--expect",
        str(tmp_path / "wrong.npz"),
    ]
    assert main(words) == 5
    assert (
        "outputs of 'digits' differ on 'host': 10 of 10 elements, the largest error is 0.5" in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["--set", "ram=2K"], 4, "smallest that fits: ram=2560"),
        (["--budget", "ram=2K"], 4, "smallest that fits: ram=2560"),
        (["--shape", "inptu=1,1,8,8"], 2, "inptu"),
        (["--allocator", "magic"], 2, "there is no allocator 'magic'; take one of"),
        (["-t", "hots"], 2, "unknown target 'hots'"),
    ],
)
def test_refusals_write_nothing(
    words: list[str], code: int, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compile", MODEL, "-t", "host", "-o", str(tmp_path / "out"), *words]) == code
    err = capsys.readouterr().err
    assert sentence in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_models_that_are_not_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    whole = Path(MODEL).read_bytes()
    for name, content in (("cut.onnx", whole[: len(whole) // 2]), ("empty.onnx", b""), ("text.onnx", b"hello world\n")):
        (tmp_path / name).write_bytes(content)
        assert main(["compile", str(tmp_path / name), "-t", "host", "-o", str(out)]) == 3, name
        assert capsys.readouterr().err.count("\n") == 1
    assert main(["compile", changed(tmp_path, "NoSuchOperator"), "-t", "host", "-o", str(out)]) == 3
    assert "NoSuchOperator" in capsys.readouterr().err
    assert not out.exists()


def test_a_missing_compiler_exits_6(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["check", MODEL, "-t", "host"]) == 0, "check needs none"
    assert main(["compile", MODEL, "-t", "host", "-o", str(tmp_path / "out")]) == 0, "nor does compile"
    assert main(["run", MODEL, "-t", "host"]) == 6
    assert "gcc" in capsys.readouterr().err


def test_every_stage_is_dumped_as_far_as_it_came(tmp_path: Path) -> None:
    out, dump = tmp_path / "out", tmp_path / "dump"
    assert main(["compile", MODEL, "-t", "host", "-o", str(out), "--dump-dir", str(dump)]) == 0
    assert list(files(dump)) == [
        "1_frontend.txt", "2_passes.txt", "3_binding.txt", "4_tiling.txt", "5_plan.txt", "6_memory.txt",
    ]  # fmt: skip
    assert "conv0: Conv(input f32[1, 1, 8, 8], " in (dump / "1_frontend.txt").read_text(encoding="utf-8")
    assert "clamp [0.0, inf]" in (dump / "2_passes.txt").read_text(encoding="utf-8")
    assert "2560 bytes of ram, live set 3072, lower bound 2560" in (dump / "6_memory.txt").read_text(encoding="utf-8")
    shutil.rmtree(dump)
    assert main(["check", MODEL, "-t", "host", "--allocator", "magic", "--dump-dir", str(dump)]) == 2
    assert list(files(dump))[-1] == "host/5_plan.txt"


def test_rows_of_several_networks_are_told_when_they_are_there(capsys: pytest.CaptureFixture[str]) -> None:
    small = str(DIGITS.with_name("digits_int8") / "model.onnx")
    words = ["check", small, MODEL, "-t", "host,cuda_host", "--set", "ram=700"]
    assert main(words) == 2
    captured = capsys.readouterr()
    came = [line.removeprefix(str(DIGITS.parent)) for line in captured.err.splitlines()[:-1]]
    assert [line.split(": ")[0] for line in came] == [
        "/digits_int8/model.onnx host", "/digits_int8/model.onnx cuda_host", "/digits/model.onnx host",
        "/digits/model.onnx cuda_host",
    ]  # fmt: skip
    assert came[0].endswith("host: fits (proved), ram 640 / 700")
    assert came[1].endswith("has no memory level 'ram'; its levels are hbm, weights")
    assert "does not fit: ram needs " in came[2]
    reasons = captured.out[captured.out.rindex("\n\n") :]
    assert [line for line in reasons.splitlines() if line] == [
        captured.err.splitlines()[1], captured.err.splitlines()[2].replace("does not fit: ", ""),
        captured.err.splitlines()[3],
    ]  # fmt: skip
    assert main([*words, "-q"]) == 2
    assert ".onnx" not in capsys.readouterr().err
