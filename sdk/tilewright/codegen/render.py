"""Templates: layout only, every number comes from a typed context; a missing name is an error with file and line."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from mako import exceptions
from mako.lookup import TemplateLookup
from mako.template import Template

from tilewright.codegen.terms import added, grouped, plus, times
from tilewright.errors import PlatformError

TERMS = {"times": times, "plus": plus, "added": added, "grouped": grouped}
"""What every template prints sums and products with, beside its own names."""


@cache
def _template(path: Path) -> Any:
    try:
        # parts beside it as /FILE, those of another platform as /PLATFORM/kernels/FILE
        beside = TemplateLookup([str(path.parent), str(path.parents[2])], strict_undefined=True)
        return Template(filename=str(path), strict_undefined=True, output_encoding=None, lookup=beside)
    except FileNotFoundError:
        raise PlatformError(
            f"template '{path.name}' is missing", why=f"the kernel names it beside its class in {path.parent.name}",
            fix="add the file or correct the name", file=path.name,
        ) from None  # fmt: skip
    except (exceptions.SyntaxException, exceptions.CompileException) as error:
        raise PlatformError(f"template '{path.name}' is no valid Mako", why=str(error), file=path.name) from None


def render(path: Path, /, **names: object) -> str:
    """The template's text; PlatformError names the template, the line and what is wrong with it."""
    try:
        return str(_template(path).render(**TERMS, **names))
    except PlatformError:
        raise
    except Exception as error:
        line = _line(path, error)
        raise PlatformError(
            f"template '{path.name}'{f', line {line}' if line else ''} failed", why=f"{type(error).__name__}: {error}",
            fix="use names of the kernel's context only", file=path.name,
        ) from error  # fmt: skip


def _line(path: Path, error: Exception) -> int:
    """Line of the template at which rendering failed; found by text where Mako knows none (undefined names)."""
    if isinstance(error, NameError):
        name = str(error).split("'")[1] if "'" in str(error) else ""
        for number, text in enumerate(path.read_text().splitlines(), 1):
            if name and name in text:
                return number
    trace = exceptions.RichTraceback(error=error, traceback=error.__traceback__)
    lines = [record[5] for record in trace.records if record[5] and record[4] and path.name in str(record[4])]
    return int(lines[-1]) if lines else 0
