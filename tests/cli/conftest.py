"""A compiler that answers at once, so that the command line is tested alone."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from tilewright import fitting, plugins
from tilewright.binding.graph import Candidate
from tilewright.layout import Layout
from tilewright.model import DType, Node, Tensor
from tilewright.ops.registry import call_of
from tilewright.options import CompileOptions, RunOptions
from tilewright.platform import KernelMethods, MemoryLevel, Platform
from tilewright.plugins import Platforms, Source
from tilewright.report.build import Report, RunReport, load
from tilewright.target import Target

SAMPLE = Path(__file__).parent.parent / "report" / "sample_report.json"


def write_c(folder: Path) -> None:
    """What a compilation writes."""
    (folder / "net.c").write_text("int net;\n")


@dataclass
class Fake:
    """What the fake was asked, and what it is to answer."""

    report: Report
    errors: dict[str, Exception] = field(default_factory=dict)
    asked: list[CompileOptions] = field(default_factory=list)
    ran: list[RunOptions] = field(default_factory=list)
    run: RunReport | None = None
    write: Callable[[Any, Path], None] = lambda _, folder: write_c(folder)

    def compile_model(
        self, source: Path, options: CompileOptions, target: Target, *, pipeline: object = None
    ) -> SimpleNamespace:
        self.asked.append(options)
        for name in (target.name, options.allocator):
            if name in self.errors:
                raise self.errors[name]
        kernel = PLATFORM.own_kernels()[0]
        refused = replace(kernel, name="ReluDsp")
        x, y = Tensor("x", DType.F32, (4,)), Tensor("y", DType.F32, (4,))
        call = call_of(Node("act", "Relu", ("x",), ("y",)), (x,), (y,))
        bound = SimpleNamespace(
            call=call, kernel=kernel, candidates=(Candidate(refused, "no DSP"), Candidate(kernel, None))
        )
        return SimpleNamespace(
            report=replace(self.report, target=target.name),
            bound=SimpleNamespace(
                platform=PLATFORM, nodes=(bound,), layouts={"x": Layout.default((4,)), "y": Layout.default((4,))}
            ),
            request=SimpleNamespace(platform=PLATFORM),
            model=SimpleNamespace(notes=("batch size 1 was taken for input 'x'",)),
        )

    def run_model(
        self, compiled: Any, target: Target, options: RunOptions, folder: Path, runner: object = None
    ) -> Report:
        assert (folder / "net.c").is_file()
        self.ran.append(options)
        report: Report = replace(compiled.report, run=self.run or self.report.run)
        return report


PLATFORM = Platform(
    name="generic", summary="portable C", memory=[MemoryLevel("ram"), MemoryLevel("flash", readonly=True)]
)


@PLATFORM.kernel("Relu", types="f32|f64 -> f32|f64", template="relu.c.mako")
class ReluF32(KernelMethods):
    """Relu."""


def broken() -> object:
    raise ImportError("no acme")


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Fake:
    found = Fake(load(SAMPLE))

    def written(compiled: Any, folder: Path) -> Any:
        found.write(compiled, folder)
        return compiled

    module = ModuleType("tilewright.compile")
    module.compile_model = found.compile_model  # type: ignore[attr-defined]
    module.run_model = found.run_model  # type: ignore[attr-defined]
    module.write = written  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tilewright.compile", module)
    monkeypatch.setattr(fitting, "compile_model", lambda *given, **options: module.compile_model(*given, **options))
    monkeypatch.setattr(fitting, "write", written)
    sources = [Source("generic", "folder platforms/generic", lambda: PLATFORM), Source("acme", "acme 1.0", broken)]
    monkeypatch.setattr(plugins, "find_platforms", lambda: Platforms(sources))
    return found


@pytest.fixture
def model(tmp_path: Path) -> str:
    file = tmp_path / "net.onnx"
    file.write_bytes(b"onnx")
    return str(file)
