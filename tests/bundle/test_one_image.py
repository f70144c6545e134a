"""Several networks in one image on targets: each equal to ONNX Runtime alone and in turn; what is told of them."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import onnx
import pytest
from bundle.pairs import PAIRS, convolutional, language_model
from tilewright.cli import main
from tilewright.conformance.program import STRICT
from tilewright.report.build import Report, load


class Files(Protocol):
    """What the fixture `network` finds."""

    @property
    def model(self) -> Path: ...


@pytest.fixture
def models(tmp_path: Path) -> Path:
    networks = {
        "prefill": language_model(4), "decode": language_model(1), "wake": convolutional(8, 20, 0),
        "command": convolutional(24, 40, 1),
    }  # fmt: skip
    for name, model in networks.items():
        onnx.save(model, tmp_path / f"{name}.onnx")
    return tmp_path


def _run(folder: Path, names: str, target: str, *options: str) -> Report:
    files = [str(folder / f"{name}.onnx") for name in names.split()]
    out = folder / "out"
    assert main(["run", *files, "--bundle", "kit", "-t", target, "-o", str(out), *options]) == 0
    return load(out)


@pytest.mark.parametrize(("target", "tool"), [("host", "gcc"), ("qemu_mps2_an386", "qemu-system-arm")])
def test_prefill_and_decode_in_one_image(models: Path, target: str, tool: str) -> None:
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")
    report = _run(models, "prefill decode", target, "--state", PAIRS, "--frames", "3")
    for one in (report, *report.networks):
        assert one.run is not None
        assert one.run.match
        assert one.run.frames is not None
        assert (one.run.frames.calls, one.run.frames.reference_mismatches) == (3, 0)
    if target != "host":
        decode = report.networks[1].memory
        assert report.memory["flash"].total < 1.05 * decode["flash"].total
        assert report.networks[1].run is not None
        assert "plugin" in report.networks[1].run.fences


def test_constants_of_tiles_are_copied_again_where_another_network_has_run(
    models: Path, network: Callable[[str], Files]
) -> None:
    """The recurrent network keeps weights in L1, where the tiles of the other network lie."""
    shutil.copy(network("odd_lstm").model, models / "recurrent.onnx")
    report = _run(models, "recurrent command", "qemu_pulp")
    assert report.networks[0].memory["l1"].constants > 0
    assert report.run is not None
    assert report.run.match
    text = (models / "out" / "src" / "command.c").read_text()
    assert "kit_settled = NULL;" in text


@pytest.mark.parametrize(
    ("target", "io", "tool"), [("host", "caller", "gcc"), ("qemu_rv32imc", "arena", "qemu-system-riscv32")]
)
def test_concurrent_networks_keep_their_inputs(models: Path, target: str, io: str, tool: str) -> None:
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")
    report = _run(models, "wake command", target, "--concurrent", "wake,command", "--io", io)
    assert report.run is not None
    assert report.run.match
    assert report.bundle is not None
    assert report.bundle.concurrent == (("wake", "command"),)


def test_a_network_that_writes_over_another_is_seen(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Inputs of both are given before either runs: over one another, one of them is lost."""
    from tilewright.bundle import BundleWish, compile_bundle
    from tilewright.commands.comparing import mismatch
    from tilewright.compile import write_files
    from tilewright.options import CompileOptions, RunOptions
    from tilewright.run.together import run_bundle
    from tilewright.target import load_target

    sources = [models / "wake.onnx", models / "command.onnx"]
    target = load_target("host")
    bundle = compile_bundle(sources, CompileOptions(), target, BundleWish("kit"))
    object.__setattr__(bundle.together, "concurrent", frozenset({(0, 1)}))
    write_files(bundle.artifacts.project, models)
    error = mismatch(run_bundle(bundle.subject(models), target, RunOptions()))
    assert error is not None
    assert "the first that does is call 0, 'y' of wake" in str(error)


def test_files_of_an_earlier_image_go_and_those_of_others_stay(models: Path) -> None:
    out = models / "kit"
    for names in ("prefill decode", "wake command"):
        files = [str(models / f"{name}.onnx") for name in names.split()]
        assert main(["compile", *files, "--bundle", "kit", "-t", "host", "-o", str(out), "--force"]) == 0
        if names == "prefill decode":
            (out / "src" / "prefill.h").write_text("/* mine now */")
            (out / "src" / "own.c").write_text("int own;")
    assert {file.stem for file in (out / "src").glob("*.c")} == {"own", "kit", "kit_weights", "wake", "command"}
    assert (out / "src" / "prefill.h").read_text() == "/* mine now */"
    assert not {name for name in load(out).files if "prefill" in name or "decode" in name}


def test_an_image_that_does_not_fit_names_the_smallest_sizes(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(models / f"{name}.onnx") for name in ("wake", "command")]
    words = ["compile", *files, "--bundle", "kit", "-t", "qemu_pulp", "-o", str(models / "kit"), "--set"]
    assert main([*words, "l2=9K"]) == 4
    size = int(capsys.readouterr().err.rpartition("smallest that fits: l2=")[2].partition(",")[0])
    assert main([*words, f"l2={size}"]) == 0
    assert main([*words, f"l2={size - 8}"]) == 4


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("weights", ["c", "bin"])
def test_the_library_is_plain_c(models: Path, compiler: str, weights: str) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    files = [str(models / "prefill.onnx"), str(models / "decode.onnx")]
    out = models / "kit"
    assert (
        main(
            ["compile", *files, "--bundle", "kit", "-t", "host", "--state", PAIRS, "--weights", weights, "-o", str(out)]
        )
        == 0
    )
    shared = load(out).bundle
    assert shared is not None
    flags = " ".join((*STRICT, "-Werror", "-O1"))
    for more in ("", " -DKIT_EXTERNAL_ARENA"):
        done = subprocess.run(
            ["make", "-C", str(out), f"CC={compiler}", f"CFLAGS={flags}{more}", "clean", "libkit.a"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    header = (out / "src" / "kit.h").read_text()
    assert f"#define KIT_ARENA_BYTES {max(one.bytes for one in shared.arena)}\n" in header
    assert '#include "prefill.h"' in header


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["compile", "wake", "command", "-t", "host", "-o", "o"], "pass --bundle NAME to put them into one image"),
        (["compile", "wake", "-t", "host", "-o", "o", "--concurrent", "a,b"], "also pass --bundle NAME"),
        (["run", "wake", "command", "-t", "host,qemu_pulp", "--bundle", "kit"], "an image is for one; name one target"),
        (
            ["run", "wake", "command", "-t", "host", "--bundle", "kit", "--inputs", "wake.onnx"],
            "it belongs to one network",
        ),
        (
            ["compile", "wake", "command", "-t", "host", "--bundle", "kit", "--project", "make", "-o", "o"],
            "made of one",
        ),
    ],
)
def test_exit_code_2(
    models: Path, words: list[str], why: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(models)
    words = [f"{word}.onnx" if word in ("wake", "command") else word for word in words]
    assert main(words) == 2
    assert why in capsys.readouterr().err


def test_a_bundle_that_is_too_large_and_its_report(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(models / "wake.onnx"), str(models / "command.onnx")]
    common = ["--bundle", "kit", "-t", "qemu_mps2_an386", "-o", str(models / "o")]
    place = models / "error.json"
    assert main(["compile", *files, *common, "--budget", "ram=4K", "--json", str(place)]) == 4
    assert json.loads(place.read_text())["smallest"]["ram"] > 4096
    assert not (models / "o").exists()
    assert main(["compile", *files, *common]) == 0
    assert main(["report", str(models / "o")]) == 0
    assert "arrays of constants serve several networks" in capsys.readouterr().out
