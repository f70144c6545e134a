"""MISRA C:2012 by cppcheck's addon, over the generated C as the target's compiler preprocesses it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from tilewright.errors import TilewrightError, ToolMissing
from tilewright.evidence.document import Misra, RuleFindings
from tilewright.evidence.misra_rules import REASONS, category
from tilewright.run.build import choose_compiler
from tilewright.run.tool import find_tool, start
from tilewright.target import Target

_LINE = "{file}\t{line}\t{id}"
_RULE = re.compile(r"^misra-c2012-(\d+\.\d+)$")
_HEADERS = "#include <float.h>\n#include <limits.h>\n#include <stdint.h>\n"
UNKNOWN = "no reason is given: it has not been looked at"


def misra(project: Path, files: Sequence[str], target: Target, work: Path) -> Misra:
    """Departures by rule. `files` are the paths of C files with code, below the project."""
    try:
        tool = find_tool("cppcheck", "cppcheck")
        macros = _macros(target, work)
    except ToolMissing as error:
        return Misra("", (), 0, 0, 0, (), (), str(error))
    copies = work / "checked"
    shutil.copytree(project / "src", copies)
    places_of: dict[str, list[str]] = {}
    unchecked = list[str]()
    for path in files:
        name = path.rpartition("/")[2]
        _check(tool, copies / name, macros, places_of, unchecked)
    findings = tuple(
        RuleFindings(rule, category(rule), tuple(places), REASONS.get(rule, UNKNOWN))
        for rule, places in sorted(places_of.items(), key=lambda each: tuple(map(int, each[0].split("."))))
    )
    counts = {kind: sum(len(f.places) for f in findings if f.category == kind) for kind in ("mandatory", "required")}
    advisory = sum(len(f.places) for f in findings) - sum(counts.values())
    version = start([tool, "--version"], work).output.strip()
    return Misra(version, tuple(files), counts["mandatory"], counts["required"], advisory, findings, tuple(unchecked))


def _macros(target: Target, work: Path) -> Path:
    """A header with every macro that the target's compiler has, as the checker includes no header of its own."""
    driver = choose_compiler(target)
    (work / "headers.c").write_text(_HEADERS, encoding="utf-8")
    done = start([driver, *target.flags, *target.library_flags, "-std=c99", "-dM", "-E", "headers.c"], work)
    if done.code != 0:
        raise TilewrightError(f"{Path(driver).name} does not tell its macros", why=done.errors.strip())
    header = work / "macros.h"
    lines = [line for line in done.output.splitlines() if not re.match(r"#define (__has_|__STDC\w*)", line)]
    header.write_text("\n".join(sorted(lines)) + "\n", encoding="utf-8")
    return header


def _check(tool: str, file: Path, macros: Path, places_of: dict[str, list[str]], unchecked: list[str]) -> None:
    """One file; what the checker itself cannot read is said."""
    command = [tool, "--addon=misra", "--std=c99", "-DTILEWRIGHT_CHECKED=1", f"--include={macros}", "--quiet"]
    done = start([*command, f"--template={_LINE}", "--inline-suppr", file.name], file.parent, timeout=600)
    if done.code != 0:
        unchecked.append(f"{file.name}: the checker ended with code {done.code}")
    seen: Mapping[str, None] = dict.fromkeys(done.errors.splitlines())
    for line in seen:
        parts = line.split("\t")
        if len(parts) != 3 or Path(parts[0]).name == macros.name:
            continue
        name, number, identifier = Path(parts[0]).name, parts[1], parts[2]
        rule = _RULE.match(identifier)
        if rule:
            places_of.setdefault(rule[1], []).append(f"{name}:{number}")
        elif identifier in ("syntaxError", "preprocessorErrorDirective", "internalError", "internalAstError"):
            unchecked.append(f"{name}:{number}: {identifier}")
