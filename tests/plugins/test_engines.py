"""Several compute engines on one chip, and the names that `tilewright.platform` promises to keep."""

from __future__ import annotations

import csv
import importlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import tilewright
from conftest import NetworkFiles
from tilewright import platform as public
from tilewright import plugins
from tilewright.cli import main
from tilewright.errors import PlatformError
from tilewright.platform import Engine, MemoryLevel, Platform
from tilewright.plugins import Platforms, Source, folder_sources, kernels_of
from tilewright.report.build import load

Network = Callable[[str], NetworkFiles]
PROMISED = {
    "Allowance", "Array", "Call", "Clamp", "Constant", "Copy", "DType", "Engine", "Feature", "JobKernelMethods",
    "JobTimes", "RowMoves",
    "Kernel", "KernelMethods", "KiB", "Layout", "MemoryLevel", "MiB", "Needs", "Node", "Operands", "Platform",
    "Quantisation", "Rate", "Rule", "Shape", "Tensor", "TileCosts", "TileView", "TiledKernelMethods", "Work",
    "adds", "multiple", "parse_types", "prefer", "whole",
}  # fmt: skip
"""Names may be added; taking one away breaks platforms that others have written."""
LEVELS = [MemoryLevel("ram", align=16), MemoryLevel("flash", readonly=True)]
BOARD = """name = "two_board"
platform = "{name}"
summary = "This machine, as if it had two engines"
capabilities = ["fpu", "stdio"]

[memory.flash]
readonly = true

[memory.ram]

[build]
compilers = ["gcc"]
compile_flags = ["-O1"]
link_flags = ["-lm"]

[tools]
gcc = "gcc"

[run]
simulator = "native"
command = ["{{elf}}"]
"""


def chip(name: str, *engines: Engine) -> Platform:
    return Platform(name, "a chip", LEVELS, inherits="generic", engines=engines)


def softmax_of_generic() -> public.Kernel:
    generic: Platform = importlib.import_module("tilewright.platforms.generic.platform").PLATFORM
    return next(kernel for kernel in generic.own_kernels() if (kernel.op, kernel.name) == ("Softmax", "StridedLoops"))


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch) -> Platform:
    """A platform whose Softmax runs on an accelerator and everything else on the core, and one that inherits it."""
    made = chip("two", Engine("core", "runs C"), Engine("npu", "does softmax"))
    made.add(replace(softmax_of_generic(), platform="two", engine="npu"))
    heir = Platform("heir", "inherits the kernel, but not the engine", LEVELS, inherits="two")
    sources = [Source(one.name, "a test", lambda one=one: one) for one in (made, heir)]  # type: ignore[misc]
    platforms = Platforms([*folder_sources(plugins.GROUP), *sources])
    monkeypatch.setattr(plugins, "find_platforms", lambda: platforms)
    return made


def board(folder: Path, name: str) -> Path:
    folder.mkdir()
    (folder / "target.toml").write_text(BOARD.format(name=name))
    return folder


def test_the_public_names_are_frozen() -> None:
    assert set(public.__all__) == PROMISED
    for name in PROMISED:
        assert getattr(public, name).__doc__


def test_every_view_shows_the_engine(
    two: Platform, network: Network, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, dumps = tmp_path / "out", tmp_path / "dumps"
    words = ["run", str(network("digits").model), "-t", str(board(tmp_path / "board", "two")), "--explain"]
    assert main([*words, "-o", str(out), "--dump-dir", str(dumps)]) == 0
    told = capsys.readouterr().out
    assert f"takes {softmax_of_generic().name} of two on npu" in told
    assert "of generic on core" in told
    assert "on npu" in next(file for file in dumps.rglob("*plan.txt")).read_text()
    report = load(out)
    engines = {layer.op: layer.engine for layer in report.layers}
    assert (engines["Softmax"], engines["Conv"]) == ("npu", "core")
    assert ", on npu */" in (out / "src" / "digits.c").read_text()
    assert main(["report", str(out), "--csv", str(tmp_path / "csv"), "--html", str(tmp_path / "r.html")]) == 0
    assert "on npu" in capsys.readouterr().out
    assert "on npu" in (tmp_path / "r.html").read_text()
    with (tmp_path / "csv" / "layers.csv").open() as stream:
        assert {row["op"]: row["engine"] for row in csv.DictReader(stream)}["Softmax"] == "npu"


def test_a_platform_with_one_engine_says_nothing_of_it(network: Network) -> None:
    done = tilewright.compile_model(
        network("digits").model, tilewright.CompileOptions(), tilewright.load_target("host")
    )
    assert {layer.engine for layer in done.report.layers} == {""}


def test_an_engine_that_is_not_inherited_refuses_its_kernels(
    two: Platform, network: Network, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["compile", str(network("digits").model), "-t", str(board(tmp_path / "board", "heir"))]
    assert main([*words, "-o", str(tmp_path / "out"), "--explain"]) == 0
    assert "the platform declares no engine npu" in capsys.readouterr().out


def test_kernels_know_their_engine(two: Platform) -> None:
    found = kernels_of(two)
    assert {kernel.engine for kernel in found} == {"core", "npu"}
    assert [kernel.op for kernel in found if kernel.engine == "npu"] == ["Softmax"]


def test_an_undeclared_engine_does_not_load_and_conform_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def loads() -> Platform:
        broken = chip("broken", Engine("core"))
        broken.kernel("Relu", types="f32 -> f32", template="relu.c.mako", engine="nbu")(type("Relu", (), {}))
        return broken

    platforms = Platforms([*folder_sources(plugins.GROUP), Source("broken", "acme 1.0", loads)])
    monkeypatch.setattr(plugins, "find_platforms", lambda: platforms)
    assert main(["conform", "broken"]) == 3
    told = capsys.readouterr().err
    assert "'broken' (acme 1.0) cannot be loaded" in told
    assert "a kernel for Relu names engine 'nbu': platform 'broken' declares core" in told
    assert main(["platforms"]) == 0  # the others are listed
    assert "generic" in capsys.readouterr().out


def test_an_engine_whose_memory_is_no_level_is_refused() -> None:
    with pytest.raises(PlatformError, match=r"'npu' of platform 'one' reads its memory 'pad'.*declares flash, ram"):
        chip("one", Engine("npu", memory="pad"))


def test_two_engines_of_one_name_are_refused() -> None:
    with pytest.raises(PlatformError, match="declares engine 'npu' twice"):
        chip("twins", Engine("npu"), Engine("npu"))
