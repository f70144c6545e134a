"""Sources and header tell which compilation they are of, and a mixed folder does not compile."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import tilewright
from conftest import NetworkFiles

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


def test_weights_alone_make_another_compilation(one: Files, tmp_path: Path) -> None:
    import numpy as np
    import onnx
    from onnx import numpy_helper

    model = onnx.load(Path(__file__).parents[1] / "models" / "digits" / "model.onnx")
    numbers = set()
    for factor in (1, 2):
        changed = onnx.ModelProto.FromString(model.SerializeToString())
        kernel = max(changed.graph.initializer, key=lambda tensor: int(np.prod(tensor.dims)))
        kernel.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(kernel) * np.float32(factor), kernel.name))
        file = tmp_path / "net.onnx"
        onnx.save(changed, str(file))
        done = tilewright.compile_model(file, tilewright.CompileOptions(), tilewright.load_target("host"))
        numbers |= builds({"net.h": done.artifacts.files["src/net.h"]})
    assert len(numbers) == 2
