"""Code and stack before anything is built: estimates from the C that was generated.

Where a platform's kernels were measured (`code_sizes.py`) a table per core says what a layer takes; other platforms
declare bytes of code for a character of C, apart for functions that compute in floats, with a fixed part for libraries,
and a fixed stack.
"""

from __future__ import annotations

import re
from dataclasses import replace

from tilewright.codegen.artifacts import Artifacts
from tilewright.platform import Platform
from tilewright.report.build import Report
from tilewright.report.code_sizes import read_text, sizes_for
from tilewright.target import Target
from tilewright.tiling.hierarchy import hierarchy

CODE_QUARTERS, STACK_QUARTERS = 5, 6
"""What the sums of the table are multiplied by: layers that the compiler joins, and other shapes, differ from those."""
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_TABLE = re.compile(r"^static const [^;{]*= \{.*$", re.MULTILINE)


def estimate(platform: Platform, artifacts: Artifacts, target: Target) -> tuple[int, int]:
    """Bytes of code and of stack that a generated project will take on a target, without building it."""
    code = artifacts.files[c_file(artifacts)]
    sizes = sizes_for(platform.name, " ".join(target.cpu_flags))
    if sizes is None:
        return _declared_code(platform, code), platform.allowance.stack_bytes
    text = read_text(code, artifacts.model)
    stack = -(-sizes.stack_bytes(text) * STACK_QUARTERS // 32) * 8
    return sizes.code_bytes(text) * CODE_QUARTERS // 4, max(stack, platform.allowance.stack_bytes)


def _declared_code(platform: Platform, code: str) -> int:
    """The platform's allowance for machine code."""
    text = _TABLE.sub("", _COMMENT.sub("", code))
    integer = real = 0
    for function in text.split("\n}\n"):
        characters = len(" ".join(function.split()))
        if "float" in function:
            real += characters
        else:
            integer += characters
    allowed = platform.allowance
    return round(allowed.library_bytes + allowed.integer * integer + allowed.real * real)


def c_file(artifacts: Artifacts) -> str:
    """Path of the file with the layers; projects in another language have none."""
    return f"src/{artifacts.model}.c"


def with_allowance(report: Report, platform: Platform, artifacts: Artifacts, target: Target) -> Report:
    """The report with code in the level of the constants and stack in that of activations, both marked as estimated.

    Stacks that the plan made room for stand in the report already.
    """
    if c_file(artifacts) not in artifacts.files:
        return report
    code, stack = estimate(platform, artifacts, target)
    memory = dict(report.memory)
    levels = hierarchy(platform)
    home = platform.compute_in if levels is None else levels.home.name
    constants, beside = memory.get(platform.constants_in), memory.get(home)
    if constants is not None and constants.readonly:
        memory[platform.constants_in] = replace(constants, code=code, estimated=True)
    if beside is not None and not any(row.stack for row in memory.values()):
        memory[home] = replace(beside, stack=stack, worst_case=beside.worst_case + stack, estimated=True)
    return replace(report, memory=memory)
