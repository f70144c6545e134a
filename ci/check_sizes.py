"""Rules on the sources that no linter knows: sizes, names, raise against assert, words that do not belong here."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ("sdk", "platforms", "targets", "tests", "ci")
ENDINGS = (".py", ".c", ".h", ".mako", ".cu", ".S", ".sh")
GENERATED = ("golden", "cache", "__pycache__")
FILE_LINES, FUNCTION_LINES, RAISES_PER_ASSERT = 400, 60, 2.0
# Put together from halves, so that this file does not find itself.
WORDS = ("TO" "DO", "FIX" "ME", "X" "XX", "place" "holder(?!=)", "/wo" "rk/", "/ro" "ot/", "/ho" "me/")  # fmt: skip
NO_NAMES = frozenset(("found", "there", "asked", "kept"))
"""Names that say what was done, not what a value holds."""
FORBIDDEN = re.compile("|".join(rf"(?<![A-Za-z]){word}" for word in WORDS))


def sources() -> Iterator[Path]:
    """Every file that a person wrote."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            inside = path.relative_to(ROOT).parts
            if path.suffix in ENDINGS and path.is_file() and not set(inside) & set(GENERATED):
                yield path


def check_text(path: Path, text: str) -> Iterator[str]:
    """Too long, or a forbidden word."""
    lines = text.splitlines()
    if len(lines) > FILE_LINES:
        yield f"{path}: {len(lines)} lines, at most {FILE_LINES}"
    for number, line in enumerate(lines, 1):
        forbidden = FORBIDDEN.search(line)
        if forbidden:
            yield f"{path}:{number}: '{forbidden.group()}' does not belong here"


def check_tree(path: Path, tree: ast.Module) -> Iterator[str]:
    """Functions that are too long, bare excepts, and names that say nothing."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > FUNCTION_LINES:
                yield f"{path}:{node.lineno}: {node.name} has {lines} lines, at most {FUNCTION_LINES}"
            if path.parts[0] != "tests":
                yield from (
                    f"{path}:{node.lineno}: '{name}' of {node.name} does not say what it holds"
                    for name in _locals(node) & NO_NAMES
                )
        if isinstance(node, ast.ExceptHandler) and node.type is None:
            yield f"{path}:{node.lineno}: bare except"


def _locals(function: ast.FunctionDef | ast.AsyncFunctionDef) -> frozenset[str]:
    """Parameters and names that a function gives values."""
    named = {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
    stored = (node for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    return frozenset(named | {node.id for node in stored})


def main() -> int:
    """Print every breach; 1 if there is one."""
    breaches: list[str] = []
    raises = asserts = 0
    for path in sources():
        name, text = path.relative_to(ROOT), path.read_text(encoding="utf-8")
        breaches += check_text(name, text)
        if path.suffix == ".py":
            tree = ast.parse(text)
            breaches += check_tree(name, tree)
            if name.parts[0] in ("sdk", "platforms"):
                raises += sum(isinstance(node, ast.Raise) for node in ast.walk(tree))
                asserts += sum(isinstance(node, ast.Assert) for node in ast.walk(tree))
    if raises <= RAISES_PER_ASSERT * asserts:
        breaches.append(
            f"sdk, platforms: {raises} raise for {asserts} assert, more than {RAISES_PER_ASSERT} to 1 wanted"
        )
    print("\n".join(breaches) or f"sizes and wording hold; {raises} raise, {asserts} assert")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
