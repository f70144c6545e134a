"""MISRA C:2012 by cppcheck's addon, over the generated C as the target's compiler preprocesses it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import get_args

from tilewright.errors import TilewrightError, ToolMissing
from tilewright.evidence.misra_deviations import DEVIATIONS, deviation
from tilewright.evidence.misra_document import DeviationRecord, Misra, RuleFindings
from tilewright.evidence.misra_rules import REASONS, Category, category
from tilewright.run.build import choose_compiler
from tilewright.run.tool import find_tool, start
from tilewright.target import Target

_LINE = "{file}\t{line}\t{id}"
_RULE = re.compile(r"^misra-c2012-(\d+\.\d+)$")
_NOT_GIVEN = re.compile(r"#define (__has_|__STDC|offsetof\()")
_TYPES = (
    "#define offsetof(type, member) ((__SIZE_TYPE__)__builtin_offsetof(type, member))"  # it takes it for the structure
)
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
    places_of: dict[tuple[str, str], list[str]] = {}
    unchecked = list[str]()
    for path in files:
        name = path.rpartition("/")[2]
        _check(tool, copies / name, macros, places_of, unchecked)
    findings = tuple(
        RuleFindings(rule, category(rule), tuple(places), _reason(rule, record), record)
        for (rule, record), places in sorted(places_of.items(), key=lambda each: (*_numbers(each[0][0]), each[0][1]))
    )
    counts = {kind: sum(len(f.places) for f in findings if f.category == kind) for kind in get_args(Category)}
    free = sum(len(f.places) for f in findings if f.category != "advisory" and not f.record)
    version = start([tool, "--version"], work).output.strip()
    used = {finding.record for finding in findings}
    records = tuple(
        DeviationRecord(d.number, d.rule, d.where, d.reason, d.safe) for d in DEVIATIONS if d.number in used
    )
    return Misra(
        version, tuple(files), counts["mandatory"], counts["required"], counts["advisory"], findings, tuple(unchecked),
        open=free, records=records,
    )  # fmt: skip


def _numbers(rule: str) -> tuple[int, int]:
    whole, _, part = rule.partition(".")
    return int(whole), int(part)


def _reason(rule: str, record: str) -> str:
    """Why places stay: the record that covers them, else what is known of the rule; open ones are said to be."""
    if record:
        return f"deviation {record}"
    reason = REASONS.get(rule, UNKNOWN)
    return reason if category(rule) == "advisory" else f"open, no record covers it: {reason}"


def _macros(target: Target, work: Path) -> Path:
    """A header with every macro that the target's compiler has, as the checker includes no header of its own."""
    driver = choose_compiler(target)
    (work / "headers.c").write_text(_HEADERS, encoding="utf-8")
    done = start([driver, *target.flags, *target.library_flags, "-std=c99", "-dM", "-E", "headers.c"], work)
    if done.code != 0:
        raise TilewrightError(f"{Path(driver).name} does not tell its macros", why=done.errors.strip())
    header = work / "macros.h"
    lines = [line for line in done.output.splitlines() if not _NOT_GIVEN.match(line)]
    header.write_text("\n".join([*sorted(lines), _TYPES]) + "\n", encoding="utf-8")
    return header


def _check(
    tool: str, file: Path, macros: Path, places_of: dict[tuple[str, str], list[str]], unchecked: list[str]
) -> None:
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
            record = (
                deviation(rule[1], _line(file.parent / name, int(number))) if category(rule[1]) == "required" else ""
            )
            places_of.setdefault((rule[1], record), []).append(f"{name}:{number}")
        elif identifier in ("syntaxError", "preprocessorErrorDirective", "internalError", "internalAstError"):
            unchecked.append(f"{name}:{number}: {identifier}")


def _line(file: Path, number: int) -> str:
    return file.read_text(encoding="utf-8").splitlines()[number - 1]
