"""Macros of kernels and switches of the emitter's templates are names of their own."""

from __future__ import annotations

import re
from pathlib import Path

import tilewright.codegen
from tilewright.plugins import find_platforms, kernels_of

TEMPLATES = Path(tilewright.codegen.__file__).parent / "templates"


def test_no_kernel_defines_what_a_template_asks_for() -> None:
    asked = {
        name for file in TEMPLATES.iterdir() for name in re.findall(r"#ifn?def (TILEWRIGHT_\w+)", file.read_text())
    }
    platforms = find_platforms()
    folders = {kernel.template.parent for each in platforms.values() for kernel in kernels_of(each, platforms)}
    sources = [file for folder in folders for file in folder.iterdir() if file.suffix in (".h", ".mako")]
    defined = {name for file in sources for name in re.findall(r"#define (TILEWRIGHT_\w+)", file.read_text())}
    assert "TILEWRIGHT_ROW_TAPS" in asked
    assert "TILEWRIGHT_MVE_TAPS" in defined
    assert asked & defined == set()
