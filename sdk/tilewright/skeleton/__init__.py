"""The files of a new platform's distribution, as templates of its name."""

from __future__ import annotations

from pathlib import Path

from tilewright.codegen.render import render

_HERE = Path(__file__).parent


def skeleton(name: str) -> dict[str, str]:
    """Every file of the distribution of platform `name`, by its path."""
    templates = {
        "pyproject.toml": "pyproject.toml.mako",
        "README.md": "readme.md.mako",
        f"{name}/platform.py": "platform.py.mako",
        f"{name}/kernels/hard_swish.py": "kernel.py.mako",
        f"{name}/kernels/hard_swish.c.mako": "template.mako",
        f"{name}/kernels/clamp.h": "clamp.h.mako",
        "board/target.toml": "target.toml.mako",
        f"tests/test_{name}.py": "test.py.mako",
    }
    files = {path: render(_HERE / template, name=name) for path, template in templates.items()}
    return files | {f"{name}/__init__.py": "", f"{name}/kernels/__init__.py": ""}
