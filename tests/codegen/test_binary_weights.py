"""Weights as a binary file: the same constants at the same symbols, in every build, and no mixture of compilations."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from conftest import NetworkFiles
from graphs import node, onnx_model
from onnx import numpy_helper
from tilewright.cli import main
from tilewright.codegen import emit as emitting
from tilewright.options import Weights


def written(model: Path, folder: Path, weights: Weights, optimize: str = "balanced") -> Path:
    code = main(
        ["compile", str(model), "-t", "host", "-o", str(folder), "--weights", weights, "--optimize", optimize, "-q"]
    )
    assert code == 0
    return folder / "src"


def constants(source: Path, folder: Path) -> dict[str, bytes]:
    """The bytes of every constant by its symbol, as gcc puts them into an object."""
    names = sorted(set(re.findall(r"digits_int8_c[0-9]+", source.read_text())))
    folder.mkdir()
    folder.joinpath("main.c").write_text(
        '#include <stdio.h>\n#include "digits_int8_internal.h"\nint main(void) {\n'
        + "".join(f'    fwrite({n}, 1, sizeof {n}, fopen("{folder / n}", "wb"));\n' for n in names)
        + "    return fflush(0);\n}\n"
    )
    build = ["gcc", f"-I{source.parent}", str(folder / "main.c"), str(source), "-o", str(folder / "main")]
    subprocess.run(build, check=True)
    subprocess.run([folder / "main"], check=True)
    return {name: (folder / name).read_bytes() for name in names}


def test_the_linker_sees_the_same_bytes(network: Callable[[str], NetworkFiles], tmp_path: Path) -> None:
    model = network("digits_int8").model
    arrays = constants(written(model, tmp_path / "c", "c") / "digits_int8_weights.c", tmp_path / "from_c")
    file = written(model, tmp_path / "bin", "bin")
    assert constants(file / "digits_int8_weights.S", tmp_path / "from_bin") == arrays
    assert (file / "digits_int8_weights.bin").read_bytes() == b"".join(
        arrays[f"digits_int8_c{number}"] for number in range(len(arrays))
    )


def test_it_runs_and_keeps_its_stack_bound(
    network: Callable[[str], NetworkFiles], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(network("digits_int8").model), "-t", "host", "--weights", "bin"]) == 0
    assert "outputs match" in capsys.readouterr().out


def test_a_mixture_of_compilations_does_not_assemble(network: Callable[[str], NetworkFiles], tmp_path: Path) -> None:
    model = network("digits_int8").model
    one, other = written(model, tmp_path / "one", "bin"), written(model, tmp_path / "other", "bin", "size")
    shutil.copy(other / "digits_int8.h", one)
    done = subprocess.run(["gcc", "-c", "digits_int8_weights.S"], cwd=one, capture_output=True, text=True)
    assert "come of two compilations" in done.stderr


@pytest.mark.parametrize("build", ["make", "cmake"])
def test_the_build_files_take_it_in(network: Callable[[str], NetworkFiles], tmp_path: Path, build: str) -> None:
    if shutil.which(build) is None:
        pytest.skip(f"{build} is not installed")
    for project in ("--measure", "--project"):
        folder = tmp_path / project
        words = [
            "compile",
            str(network("digits_int8").model),
            "-t",
            "host",
            "-o",
            str(folder),
            "--weights",
            "bin",
            "-q",
        ]
        assert main([*words, *(["--project", build] if project == "--project" else [])]) == 0
        steps = [["make", "-s"]] if build == "make" else [["cmake", "-S.", "-Bout"], ["cmake", "--build", "out"]]
        for step in steps:
            subprocess.run(step, cwd=folder, check=True, capture_output=True)


def test_large_constants_are_a_file_without_asking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = onnx_model([node("Add", "x w", "y")], {"x": (64,)}, ["y"])
    model.graph.initializer.append(numpy_helper.from_array(np.ones(64, np.float32), "w"))
    onnx.save(model, tmp_path / "net.onnx")
    assert (written(tmp_path / "net.onnx", tmp_path / "small", "auto") / "net_weights.c").is_file()
    monkeypatch.setattr(emitting, "LARGE_BYTES", 256)
    assert (written(tmp_path / "net.onnx", tmp_path / "large", "auto") / "net_weights.S").is_file()
    assert (written(tmp_path / "net.onnx", tmp_path / "asked", "c") / "net_weights.c").is_file()


@pytest.mark.parametrize(
    ("target", "words", "message"),
    [
        ("cuda_host", [], "platform 'cuda' writes its own code"),
        ("host", ["--program", "regions.json"], "regions lie in blobs of their own"),
    ],
)
def test_where_it_makes_no_sense(
    network: Callable[[str], NetworkFiles], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str], target: str, words: list[str], message: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    Path("regions.json").write_text('{"regions": {"all": {"nodes": ["conv0"], "compile_mode": "export"}}}')
    model = str(network("digits_int8").model)
    assert main(["compile", model, "-t", target, "-o", "out", "--weights", "bin", *words]) == 2
    assert message in capsys.readouterr().err
