"""What the generated code asks of the build is never answered by a kernel: one file holds both."""

from __future__ import annotations

import re
from pathlib import Path

import tilewright.codegen
from tilewright.plugins import platform

ASKED = re.compile(r"^#\s*(?:ifdef|ifndef)\s+(\w+)|defined\s*\(\s*(\w+)", re.M)
DEFINED = re.compile(r"^#\s*define\s+(\w+)", re.M)


def test_no_kernel_defines_a_macro_that_the_code_asks_for() -> None:
    templates = Path(tilewright.codegen.__file__).parent / "templates"
    texts = [file.read_text(encoding="utf-8") for file in templates.rglob("*") if file.suffix in (".h", ".c", ".mako")]
    asked = {name for text in texts for found in ASKED.findall(text) for name in found if name}
    assert "TILEWRIGHT_ROW_TAPS" in asked
    for name in ("generic", "cortex_m", "riscv", "pulp"):
        package = platform(name).kernels
        folder = Path(__import__(package, fromlist=["_"]).__file__ or "").parent
        sources = [file for file in folder.rglob("*") if file.suffix in (".h", ".c", ".mako")]
        defined = {word for file in sources for word in DEFINED.findall(file.read_text(encoding="utf-8"))}
        assert not asked & defined, name
