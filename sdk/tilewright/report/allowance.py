"""Code and stack before anything is built: what the platform allows for them, from the C that was generated.

Machine code follows the C of the layers closely: unrolled kernels have long texts. A platform declares bytes of code
for a character of C, apart for functions that compute in floats, and a fixed part for libraries; a test holds that the
result is never below what a build measures.
"""

from __future__ import annotations

import re
from dataclasses import replace

from tilewright.codegen.artifacts import Artifacts
from tilewright.platform import Platform
from tilewright.report.build import Report

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_TABLE = re.compile(r"^static const [^;{]*= \{.*$", re.MULTILINE)


def code_bytes(platform: Platform, artifacts: Artifacts) -> int:
    """Allowance for the machine code of a generated project."""
    text = _TABLE.sub("", _COMMENT.sub("", artifacts.files[c_file(artifacts)]))
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


def with_allowance(report: Report, platform: Platform, artifacts: Artifacts) -> Report:
    """The report with code in the level of the constants and stack in the compute level, both marked as estimated."""
    if c_file(artifacts) not in artifacts.files:
        return report
    memory = dict(report.memory)
    constants, compute = memory.get(platform.constants_in), memory.get(platform.compute_in)
    if constants is not None and constants.readonly:
        memory[platform.constants_in] = replace(constants, code=code_bytes(platform, artifacts), estimated=True)
    if compute is not None and compute.stack is None:
        stack = platform.allowance.stack_bytes
        memory[platform.compute_in] = replace(
            compute, stack=stack, worst_case=compute.worst_case + stack, estimated=True
        )
    return replace(report, memory=memory)
