"""tilewright: ONNX networks as firmware-ready C, with proved memory.

    from pathlib import Path
    import tilewright

    target = tilewright.load_target("host")
    compiled = tilewright.compile_model(Path("model.onnx"), tilewright.CompileOptions(), target)
    print(compiled.report.memory["ram"].worst_case)

The names below are the public ones; they are imported when first asked for, so that `import tilewright` is cheap.
Authors of platforms import `tilewright.platform`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from tilewright.version import VERSION as __version__

if TYPE_CHECKING:
    from tilewright.compile import Compiled, compile_model, compiler, run_model, write
    from tilewright.deployer import NetworkDeployer, TilerDeployerWrapper
    from tilewright.errors import TilewrightError
    from tilewright.frontend.load import load
    from tilewright.model import Model
    from tilewright.options import CompileOptions, RunOptions
    from tilewright.report.build import Report
    from tilewright.report.page.render import render_page
    from tilewright.target import Target, all_targets, load_target

__all__ = [
    "CompileOptions", "Compiled", "Model", "NetworkDeployer", "Report", "RunOptions", "Target",
    "TilerDeployerWrapper", "TilewrightError", "__version__", "all_targets", "compile_model", "compiler", "load",
    "load_target", "render_page", "run_model", "write",
]  # fmt: skip

_HOMES = {
    "compile": ("Compiled", "compile_model", "compiler", "run_model", "write"),
    "deployer": ("NetworkDeployer", "TilerDeployerWrapper"),
    "errors": ("TilewrightError",),
    "frontend.load": ("load",),
    "model": ("Model",),
    "options": ("CompileOptions", "RunOptions"),
    "report.build": ("Report",),
    "report.page.render": ("render_page",),
    "target": ("Target", "all_targets", "load_target"),
}


def __getattr__(name: str) -> object:
    """Import a public name from its module on first use."""
    for module, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(f"tilewright.{module}"), name)
    raise AttributeError(f"module 'tilewright' has no attribute '{name}'")
