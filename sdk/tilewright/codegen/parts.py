"""The generated C taken apart again: includes, declarations, static memory, functions. Reads our own files only."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from tilewright.codegen.artifacts import Artifacts


@dataclass(frozen=True)
class Parts:
    """Pieces of the generated project, each a text of C; empty where the project has none."""

    function: str
    includes: str
    declarations: str
    definitions: str
    initialization: str
    ports: str
    port_declarations: str
    inference: str
    engines: str


def parts_of(artifacts: Artifacts) -> Parts:
    """The pieces of a project, found by the names that the generator gives them."""
    name = artifacts.model
    code, header, internal, weights = (
        _file(artifacts, f"{name}{ending}") for ending in (".c", ".h", "_internal.h", "_weights.c")
    )
    blocks = _blocks(code)
    ports = rf"\b{name}_(?:input|output)_\d+\("
    return Parts(
        function=code,
        includes=_lines(code, r"#include\b.*"),
        declarations=_lines(internal, r"extern\b.*;"),
        definitions=weights,
        initialization=_join(b for b in blocks if _is_memory(b, name) or _defines(b, rf"\b{name}_init\(")),
        ports=_join(b for b in blocks if _defines(b, ports)),
        port_declarations=_lines(header, rf".*(?:{ports}|{name.upper()}_(?:INPUT|OUTPUT)_).*"),
        inference=_join(b for b in blocks if _defines(b, rf"\b{name}_run\(")),
        engines=_join(b for b in blocks if _defines(b, rf"\b{name}_(?:setup|engine)\w*\(")),
    )


def marked(artifacts: Artifacts, *, layers: bool, tiles: bool) -> Artifacts:
    """The project with the marks around layers and around tiles switched on, as a user would with -D."""
    upper = artifacts.model.upper()
    lines = [f"#define {upper}_TRACE\n"] * layers + [f"#define {upper}_TRACE_TILES\n"] * tiles
    name = next(path for path in artifacts.files if path.rpartition("/")[2] == f"{artifacts.model}.c")
    return replace(artifacts, files={**artifacts.files, name: "".join(lines) + artifacts.files[name]})


def _file(artifacts: Artifacts, name: str) -> str:
    return next((artifacts.files[path] for path in artifacts.files if path.rpartition("/")[2] == name), "")


def _lines(text: str, pattern: str) -> str:
    found = [line for line in text.splitlines() if re.fullmatch(pattern, line)]
    return "\n".join(found) + "\n" if found else ""


def _join(blocks: Iterable[str]) -> str:
    found = list(blocks)
    return "\n\n".join(found) + "\n" if found else ""


def _blocks(text: str) -> list[str]:
    """Runs of lines between blank lines outside of all braces."""
    found: list[str] = []
    lines: list[str] = []
    depth = 0
    for line in text.splitlines():
        if not line.strip() and depth == 0:
            if lines:
                found.append("\n".join(lines))
            lines = []
            continue
        lines.append(line)
        if not line.startswith("#"):
            depth += line.count("{") - line.count("}")
    return [*found, "\n".join(lines)] if lines else found


def _defines(block: str, pattern: str) -> bool:
    """True for a block that is a function whose head matches."""
    head, brace, _ = block.partition("{")
    return bool(brace) and re.search(pattern, head) is not None and ";" not in head.rpartition("*/")[2]


def _is_memory(block: str, name: str) -> bool:
    """True for the block that holds the arena."""
    return re.search(rf"\b{name}_(?:\w+_)?arena\b[^;(]*(?:\[[^;]*\])?;", block) is not None and "{" not in block
