"""Structural coverage of the generated C, measured where it runs: gcc's counters, read back through the test image.

The code is compiled with the flags that it ships with. gcc counts after it has put constants in, so a condition that
is constant in a layer is no branch, as in the program itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tilewright.codegen.interface import Interface
from tilewright.errors import TilewrightError, ToolMissing
from tilewright.evidence.code_lines import CodeLines
from tilewright.evidence.document import Coverage, FunctionCoverage
from tilewright.run.build import build, choose_compiler
from tilewright.run.image import Image
from tilewright.run.simulate import execute
from tilewright.run.tool import find_tool, start
from tilewright.target import Target

CONDITIONS = 14
"""The version of gcc from which on it counts conditions, which MC/DC asks for."""


@dataclass(frozen=True)
class Subject:
    """What is covered: the written project, how it is called, where its lines belong, and the functions that the
    program has; gcov tells of others too, which the compiler leaves out."""

    project: Path
    interface: Interface
    target: Target
    lines: CodeLines
    shipped: frozenset[str]


def coverage(subject: Subject, vectors: Sequence[Sequence[bytes]], work: Path) -> Coverage:
    """Lines and branches of the code file that ran under the vectors; `missing` says which tool lacks."""
    target = subject.target
    try:
        driver = choose_compiler(target)
        tool, conditions = _gcov(driver), _major(start([driver, "--version"], subject.project).output) >= CONDITIONS
        image = build(subject.project, subject.interface, target, work, cover=True, conditions=conditions)
        ran = execute(image, vectors[0], more=vectors[1:], timeout=60.0 + 20 * target.timeout_seconds)
        told = _read(tool, image, ran.coverage, subject.lines.file, conditions)
    except ToolMissing as error:
        return Coverage(target.name, "", 0, (), "", str(error))
    except TilewrightError as error:
        return Coverage(target.name, "", 0, (), "", f"the C cannot be counted on '{target.name}': {error}")
    version = start([tool, "--version"], work).output.partition("\n")[0].strip()
    functions = functions_of(told, subject.lines, subject.shipped)
    return Coverage(target.name, version, len(vectors), functions, _mcdc(functions, conditions))


def _gcov(driver: str) -> str:
    """The gcov of a gcc; ToolMissing where the compiler is another one, or it is not installed."""
    name = Path(driver).name
    if "clang" in name or not re.search(r"g?cc(-\d+)?$", name):
        raise ToolMissing(f"{name} counts no lines", why="gcov reads what gcc writes", fix="install gcc for the target")
    tool_name = name.replace("gcc", "gcov") if "gcc" in name else "gcov"
    beside = Path(driver).parent / tool_name
    return str(beside) if beside.is_file() else find_tool(tool_name, "gcc")


def _read(
    tool: str, image: Image, counters: Mapping[str, bytes], file: str, conditions: bool
) -> Sequence[Mapping[str, Any]]:  # fmt: skip
    """gcov's own JSON of one file: its lines."""
    folder = image.work / "model"
    for name, data in counters.items():
        (folder / name).write_bytes(data)
    stem = Path(file).stem
    if f"{stem}.gcda" not in counters:
        raise TilewrightError(f"no counters of {file} came back", why="the image wrote none")
    options = ["--json-format", "--stdout", "--branch-probabilities", *(["--conditions"] if conditions else [])]
    done = start([tool, *options, f"{stem}.gcda"], folder)
    for text in done.output.splitlines():
        for one in json.loads(text).get("files", ()) if text.startswith("{") else ():
            if Path(one["file"]).name == file:
                lines: Sequence[Mapping[str, Any]] = one["lines"]
                return lines
    raise TilewrightError(f"gcov says nothing of {file}", why=done.errors.strip().partition("\n")[0])


def functions_of(
    lines: Sequence[Mapping[str, Any]], code: CodeLines, shipped: Collection[str]
) -> tuple[FunctionCoverage, ...]:  # fmt: skip
    """Lines, branches and conditions by the function of the file; the several copies of a line count as one."""
    runs: dict[str, dict[int, int]] = {}
    taken: dict[str, dict[tuple[int, int], int]] = {}
    outcomes: dict[str, dict[tuple[int, int], int]] = {}
    missed: dict[str, dict[tuple[int, int], frozenset[tuple[int, bool]]]] = {}
    for line in lines:
        number = int(line["line_number"])
        name = str(line.get("function_name") or "") or _inside(code, number)
        if line.get("function_name") and _plain(name) not in shipped:
            continue
        own = runs.setdefault(name, {})
        own[number] = own.get(number, 0) + int(line["count"])
        branches = taken.setdefault(name, {})
        for index, branch in enumerate(line.get("branches", ())):
            branches[number, index] = branches.get((number, index), 0) + int(branch["count"])
        counts, left = outcomes.setdefault(name, {}), missed.setdefault(name, {})
        for index, each in enumerate(line.get("conditions", ())):
            missing = frozenset(
                (int(term), outcome)
                for outcome, key in ((False, "not_covered_false"), (True, "not_covered_true"))
                for term in each[key]
            )
            counts[number, index] = int(each["count"])
            known = left.get((number, index))
            left[number, index] = known & missing if known is not None else missing
    return tuple(
        FunctionCoverage(
            name, len(own), sum(count > 0 for count in own.values()), len(taken[name]),
            sum(count > 0 for count in taken[name].values()), tuple(sorted(n for n, count in own.items() if not count)),
            code.served_by(min(own)), sum(outcomes[name].values()),
            sum(outcomes[name].values()) - sum(map(len, missed[name].values())),
        )
        for name, own in sorted(runs.items(), key=lambda each: min(each[1]))
    )  # fmt: skip


def _inside(code: CodeLines, line: int) -> str:
    """The text that holds a line of which gcov names no function: every copy of it lies inside of others."""
    span = code.at(line)
    return "" if span is None else f"{span.name}, inside of others"


def _plain(name: str) -> str:
    """The name of a function from that of a copy of it."""
    return name.partition(".")[0]


def _major(version: str) -> int:
    """The first number of a compiler's version, 0 where it tells none."""
    first = version.partition("\n")[0]
    number = re.search(r"\b(\d+)\.\d+", first.rpartition(")")[2] or first)
    return int(number[1]) if number else 0


def _mcdc(functions: Sequence[FunctionCoverage], counted: bool) -> str:
    """What is known of MC/DC, in a sentence."""
    if not counted:
        return f"MC/DC is not measured: it needs gcc {CONDITIONS} or later (-fcondition-coverage)"
    shown, outcomes = sum(f.conditions_shown for f in functions), sum(f.conditions for f in functions)
    return f"MC/DC: {shown} of {outcomes} outcomes of conditions were seen to decide alone (-fcondition-coverage)"
