"""Sources and header tell which compilation they are of, and a mixed folder does not compile."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
import tilewright
from conftest import NetworkFiles
from graphs import node, onnx_model

Files = dict[str, str]


def compiled(network: Callable[[str], NetworkFiles], options: tilewright.CompileOptions | None = None) -> Files:
    host = tilewright.load_target("host")
    done = tilewright.compile_model(network("digits_int8").model, options or tilewright.CompileOptions(), host)
    return {path.removeprefix("src/"): text for path, text in done.artifacts.files.items() if path.startswith("src/")}


def builds(files: Files) -> set[str]:
    return {found for text in files.values() for found in re.findall(r"_BUILD (?:!= )?(0x[0-9a-f]{8})u", text)}


def complaint(files: Files, folder: Path, source: str) -> str:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    return subprocess.run(
        ["gcc", "-std=c99", "-fsyntax-only", source], cwd=folder, capture_output=True, text=True
    ).stderr


@pytest.fixture(scope="module")
def one(network: Callable[[str], NetworkFiles]) -> Files:
    return compiled(network)


def test_every_source_holds_the_number_of_its_header(one: Files, network: Callable[[str], NetworkFiles]) -> None:
    assert len(builds(one)) == 1
    assert all("_BUILD" in text for text in one.values())
    assert compiled(network) == one, "the same network, the same bytes"


def test_a_folder_of_two_compilations_does_not_compile(
    one: Files, network: Callable[[str], NetworkFiles], tmp_path: Path
) -> None:
    other = compiled(network, tilewright.CompileOptions(optimize="size"))
    assert builds(one) != builds(other), "other options, the same model"
    for source in ("digits_int8.c", "digits_int8_weights.c"):
        assert complaint(one, tmp_path, source) == ""
    for mixed in one:
        said = [complaint({**one, mixed: other[mixed]}, tmp_path, name) for name in one if name.endswith(".c")]
        assert any("come of two compilations: compile the network again" in text for text in said), mixed


def test_weights_alone_make_another_compilation(tmp_path: Path) -> None:
    """The same file, the same code: an input that is frozen to other values."""
    onnx.save(onnx_model([node("Add", "x w", "y")], {"x": (16,), "w": (16,)}, ["y"]), tmp_path / "net.onnx")
    numbers, values = set(), tmp_path / "w.npy"
    for factor in (1, 2):
        np.save(values, np.arange(1, 17, dtype=np.float32) * np.float32(factor))
        options = tilewright.CompileOptions(freeze={"w": values})
        done = tilewright.compile_model(tmp_path / "net.onnx", options, tilewright.load_target("host"))
        numbers |= builds({"net.h": done.artifacts.files["src/net.h"]})
    assert len(numbers) == 2
