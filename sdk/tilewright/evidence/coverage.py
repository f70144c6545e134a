"""Structural coverage of the generated C, measured where it runs: gcc's counters, read back through the test image.

The code is compiled with the flags that it ships with. gcc counts after it has put constants in, so a condition that
is constant in a layer is no branch, as in the program itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
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
        tool = _gcov(driver)
        image = build(subject.project, subject.interface, target, work, cover=True)
        ran = execute(image, vectors[0], more=vectors[1:], timeout=60.0 + 20 * target.timeout_seconds)
        told = _read(tool, image, ran.coverage, subject.lines.file)
    except ToolMissing as error:
        return Coverage(target.name, "", 0, (), "", str(error))
    except TilewrightError as error:
        return Coverage(target.name, "", 0, (), "", f"the C cannot be counted on '{target.name}': {error}")
    version = start([tool, "--version"], work).output.partition("\n")[0].strip()
    return Coverage(target.name, version, len(vectors), _functions(told, subject), _mcdc(image))


def _gcov(driver: str) -> str:
    """The gcov of a gcc; ToolMissing where the compiler is another one, or it is not installed."""
    name = Path(driver).name
    if "clang" in name or not re.search(r"g?cc(-\d+)?$", name):
        raise ToolMissing(f"{name} counts no lines", why="gcov reads what gcc writes", fix="install gcc for the target")
    tool_name = name.replace("gcc", "gcov") if "gcc" in name else "gcov"
    beside = Path(driver).parent / tool_name
    return str(beside) if beside.is_file() else find_tool(tool_name, "gcc")


def _read(tool: str, image: Image, counters: Mapping[str, bytes], file: str) -> Sequence[Mapping[str, Any]]:
    """gcov's own JSON of one file: its lines."""
    folder = image.work / "model"
    for name, data in counters.items():
        (folder / name).write_bytes(data)
    stem = Path(file).stem
    if f"{stem}.gcda" not in counters:
        raise TilewrightError(f"no counters of {file} came back", why="the image wrote none")
    done = start([tool, "--json-format", "--stdout", "--branch-probabilities", f"{stem}.gcda"], folder)
    for text in done.output.splitlines():
        for one in json.loads(text).get("files", ()) if text.startswith("{") else ():
            if Path(one["file"]).name == file:
                lines: Sequence[Mapping[str, Any]] = one["lines"]
                return lines
    raise TilewrightError(f"gcov says nothing of {file}", why=done.errors.strip().partition("\n")[0])


def _functions(lines: Sequence[Mapping[str, Any]], subject: Subject) -> tuple[FunctionCoverage, ...]:
    """Lines and branches by the function of the file; the several copies of a line count as one."""
    code = subject.lines
    runs: dict[str, dict[int, int]] = {}
    taken: dict[str, dict[tuple[int, int], int]] = {}
    for line in lines:
        name, number = str(line.get("function_name") or ""), int(line["line_number"])
        if name and _plain(name) not in subject.shipped:
            continue
        own = runs.setdefault(name, {})
        own[number] = own.get(number, 0) + int(line["count"])
        outcomes = taken.setdefault(name, {})
        for index, branch in enumerate(line.get("branches", ())):
            outcomes[number, index] = outcomes.get((number, index), 0) + int(branch["count"])
    return tuple(
        FunctionCoverage(
            name, len(own), sum(count > 0 for count in own.values()), len(taken[name]),
            sum(count > 0 for count in taken[name].values()), tuple(sorted(n for n, count in own.items() if not count)),
            code.served_by(min(own)),
        )
        for name, own in sorted(runs.items(), key=lambda each: min(each[1]))
    )  # fmt: skip


def _plain(name: str) -> str:
    """The name of a function from that of a copy of it."""
    return name.partition(".")[0]


def _mcdc(image: Image) -> str:
    """What is known of MC/DC, in a sentence."""
    number = re.search(r"\b(\d+)\.\d+", image.toolchain.version.rpartition(")")[2] or image.toolchain.version)
    if number is None or int(number[1]) < CONDITIONS:
        return f"MC/DC is not measured: it needs gcc {CONDITIONS} or later (-fcondition-coverage)"
    return "MC/DC is not measured by this version of tilewright"
