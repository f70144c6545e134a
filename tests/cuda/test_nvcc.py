"""The file that the stand-in runs compiles with nvcc, without a warning; where there is no GPU it says so."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from cuda.gpu import Built
from tilewright.errors import TilewrightError, ToolMissing
from tilewright.platforms.cuda.emit import STAND_IN, TEMPLATES
from tilewright.run.cuda_library import Library, build_library, compile_command, find_compiler
from tilewright.target import load_target


def need_nvcc() -> None:
    try:
        find_compiler(load_target("cuda_sm90"))
    except ToolMissing:
        pytest.skip("nvcc: the CUDA toolkit is not installed")


def written(found: Built, folder: Path) -> Path:
    (folder / "network.cu").write_text(found.text)
    shutil.copy(TEMPLATES / STAND_IN, folder)
    return folder


@pytest.mark.parametrize(("target", "name"), [("cuda_sm80", "resnet8_int8"), ("cuda_sm90", "dscnn_int8")])
def test_nvcc_compiles_without_a_warning(
    gpu_network: Callable[..., Built], tmp_path: Path, target: str, name: str
) -> None:
    need_nvcc()
    found = gpu_network(name)
    library = Library(build_library(written(found, tmp_path), load_target(target), tmp_path), found.plan.name)
    if library.code("init", 1) == 0:
        library.call("destroy")
        return
    with pytest.raises(ToolMissing, match="no GPU can run this: ") as raised:
        library.init(1)
    assert raised.value.code == 6


def test_without_nvcc_the_target_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    from tilewright.run import cuda_library

    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setattr(cuda_library, "_toolkit", lambda name: None)
    with pytest.raises(
        ToolMissing, match=r"nvcc is not installed: .*; install the package 'nvidia-cuda-toolkit' or the"
    ):
        find_compiler(load_target("cuda_sm80"))


def test_nvcc_of_the_python_packages_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from tilewright.run import cuda_library

    root = tmp_path / "nvidia" / "cu13"
    (root / "bin").mkdir(parents=True)
    (root / "lib").mkdir()
    (root / "lib" / "libcudart_static.a").touch()
    nvcc = root / "bin" / "nvcc"
    nvcc.write_text("#!/bin/sh\n")
    nvcc.chmod(0o755)
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setattr(cuda_library, "INSTALLED", ())
    monkeypatch.delenv("CUDA_HOME", raising=False)
    monkeypatch.delitem(sys.modules, "nvidia", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    target = load_target("cuda_sm80")
    assert find_compiler(target) == str(nvcc)
    assert compile_command(str(nvcc), target)[-2:] == ["-L", str(root / "lib")]


def test_a_file_that_does_not_compile_is_told(gpu_network: Callable[..., Built], tmp_path: Path) -> None:
    found = gpu_network("digits_int8")
    folder = written(found, tmp_path)
    (folder / "network.cu").write_text(found.text.replace("int samples", "integer samples"))
    with pytest.raises(TilewrightError, match=r"does not compile network\.cu: .*error"):
        build_library(folder, load_target("cuda_host"), tmp_path)


def test_a_library_of_another_network_is_refused(gpu_network: Callable[..., Built]) -> None:
    with pytest.raises(TilewrightError, match=r"is no library of 'other': .*other_init"):
        Library(gpu_network("digits_int8").library, "other")
