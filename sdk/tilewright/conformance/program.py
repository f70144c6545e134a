"""Many generated networks in one C program: built once, every network run on its inputs, its outputs read back.

Every arena is filled with a pattern before a run, so a kernel that reads what nothing wrote does not see zeros. A
program that dies is started again behind the run that killed it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tilewright.codegen.c_types import packed
from tilewright.codegen.sitting import TURNS
from tilewright.conformance.subject import Subject
from tilewright.errors import TilewrightError
from tilewright.model import Array, DType, Tensor
from tilewright.run.tool import find_tool, start

STRICT = ("-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Wshadow", "-Werror")
SANITIZE = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer", "-g1")
_SECONDS = 60.0
_HEAD = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
"""
_MAIN = """
typedef int job(FILE *in, FILE *out);
static const struct { job *run; long input, output; } jobs[] = {
%s
};

int main(int argc, char **argv)
{
    const int first = argc == 4 ? atoi(argv[1]) : 0;
    FILE *in = fopen(argv[2], "rb"), *out = fopen(argv[3], "r+b");
    if (in == NULL || out == NULL) {
        return 2;
    }
    for (int i = first; i < (int)(sizeof jobs / sizeof jobs[0]); i++) {
        if (fseek(in, jobs[i].input, SEEK_SET) != 0 || fseek(out, jobs[i].output, SEEK_SET) != 0) {
            return 2;
        }
        printf("%%d\\n", i);
        fflush(stdout);
        const int state = jobs[i].run(in, out);
        fflush(out);
        printf("%%d %%d\\n", i, state);
        fflush(stdout);
    }
    return 0;
}
"""


@dataclass(frozen=True)
class Outcome:
    """What a subject's runs wrote: logical outputs for each run, or the sentence why there are none."""

    runs: tuple[tuple[Array, ...], ...] = ()
    failure: str = ""


@dataclass(frozen=True)
class _Job:
    subject: int
    run: int
    input: int
    output: int


def run_batch(
    subjects: Sequence[Subject],
    folder: Path,
    *,
    compiler: str = "gcc",
    flags: Sequence[str] = ("-O1",),
    per_unit: int = 40,
) -> tuple[Outcome, ...]:
    """Build all subjects into one program in `folder` and run each; TilewrightError where the C does not compile.

    `per_unit` networks share a translation unit. Names of subjects differ.
    """
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    jobs, inputs, outputs = _layout(subjects)
    _sources(subjects, jobs, folder, per_unit)
    program = _build(folder, find_tool(compiler, compiler), flags)
    (folder / "inputs").write_bytes(b"".join(inputs))
    (folder / "outputs").write_bytes(bytes(outputs))
    failures = _run(program, folder, jobs)
    raw = (folder / "outputs").read_bytes()
    outcomes = []
    for index, subject in enumerate(subjects):
        mine = [job for job in jobs if job.subject == index]
        failed = next((failures[j] for j, job in enumerate(jobs) if job.subject == index and j in failures), "")
        outcomes.append(Outcome(failure=failed) if failed else Outcome(tuple(_read(subject, raw, job) for job in mine)))
    return tuple(outcomes)


def _layout(subjects: Sequence[Subject]) -> tuple[list[_Job], list[bytes], int]:
    """Every run with its place in the file of inputs and in that of outputs; the inputs' bytes; outputs' size."""
    jobs, inputs, at_input, at_output = list[_Job](), list[bytes](), 0, 0
    for index, subject in enumerate(subjects):
        for run, arrays in enumerate(subject.runs):
            jobs.append(_Job(index, run, at_input, at_output))
            for tensor, array in zip(subject.inputs, arrays, strict=True):
                raw = packed(tensor.dtype, np.ascontiguousarray(array)).tobytes()
                assert len(raw) == tensor.size_bytes
                inputs.append(raw)
                at_input += len(raw)
            at_output += sum(tensor.size_bytes for tensor in subject.outputs)
    return jobs, inputs, at_output


def _read(subject: Subject, raw: bytes, job: _Job) -> tuple[Array, ...]:
    arrays, at = [], job.output
    for tensor in subject.outputs:
        arrays.append(unpack(tensor, raw[at : at + tensor.size_bytes]))
        at += tensor.size_bytes
    return tuple(arrays)


def unpack(tensor: Tensor, raw: bytes) -> Array:
    """The logical array of a tensor's bytes."""
    if tensor.dtype not in (DType.I4, DType.U4):
        return np.frombuffer(raw, tensor.dtype.numpy).reshape(tensor.shape).copy()
    bytes_ = np.frombuffer(raw, np.uint8)
    nibbles = np.stack([bytes_ & 15, bytes_ >> 4], axis=-1).reshape(-1)[: tensor.elements].astype(np.int8)
    if tensor.dtype is DType.I4:
        nibbles = np.where(nibbles > 7, nibbles - 16, nibbles).astype(np.int8)
    return nibbles.astype(tensor.dtype.numpy).reshape(tensor.shape)


# ------------------------------------------------------------------------------------------------ C
def _sources(subjects: Sequence[Subject], jobs: Sequence[_Job], folder: Path, per_unit: int) -> None:
    """The networks' files, one unit for every `per_unit` of them, and the main program."""
    for old in (*folder.glob("unit_*.c"), *folder.glob("unit_*.o")):
        old.unlink()
    for first in range(0, len(subjects), per_unit):
        group = subjects[first : first + per_unit]
        shared: set[str] = set()
        lines = [_HEAD]
        for subject in group:
            _write(subject, folder, shared)
            lines += [f'#include "{subject.name}.c"', f'#include "{subject.name}_weights.c"', _function(subject)]
        (folder / f"unit_{first}.c").write_text("\n".join(lines), encoding="utf-8")
    names = [subjects[job.subject].name for job in jobs]
    declared = "\n".join(f"int test_{name}(FILE *in, FILE *out);" for name in dict.fromkeys(names))
    table = ",\n".join(f"    {{test_{name}, {job.input}, {job.output}}}" for name, job in zip(names, jobs, strict=True))
    (folder / "unit_main.c").write_text("\n".join([_HEAD, declared, _MAIN % table]), encoding="utf-8")


def _write(subject: Subject, folder: Path, shared: set[str]) -> None:
    """The network's files side by side; a source that several networks of a unit inline is kept once."""
    texts = {Path(path).name: text for path, text in subject.artifacts.files.items() if path.startswith("src/")}
    code = f"{subject.name}.c"
    for source in {TURNS, *(s for i in subject.placed.plan.instructions for s in i.kernel.sources)}:
        text = source.read_text().strip()
        if text in shared:
            texts[code] = texts[code].replace(text, "")
        elif text in texts[code]:  # a kernel's source is written only where its function uses it
            shared.add(text)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")


def _function(subject: Subject) -> str:
    """The C function that fills the inputs from `in`, runs the network once and writes its outputs to `out`."""
    name, steps = subject.name, []
    if subject.placed.arena_bytes:
        steps.append(f"memset({name}_arena, 0xA5, sizeof {name}_arena);")
    for word, tensors, move in (("input", subject.inputs, "fread"), ("output", subject.outputs, "fwrite")):
        stream = "in" if word == "input" else "out"
        for index, tensor in enumerate(tensors):
            if tensor.size_bytes:
                where = f"{name}_{word}_{index}()"
                steps.append(f"if ({move}({where}, {tensor.size_bytes}, 1, {stream}) != 1) {{ return 100; }}")
        if word == "input":
            steps += [f"const int state = {name}_run();", "if (state != 0) { return state; }"]
    body = "\n".join(f"    {step}" for step in steps)
    head = f"int test_{name}(FILE *in, FILE *out)"
    return f"{head};\n{head}\n{{\n    (void)in;\n    (void)out;\n{body}\n    return 0;\n}}\n"


def _build(folder: Path, compiler: str, flags: Sequence[str]) -> Path:
    objects = []
    for source in sorted(folder.glob("unit_*.c")):
        made = start([compiler, "-std=c99", *flags, "-c", source.name, "-o", f"{source.stem}.o"], folder, timeout=600.0)
        if made.code != 0:
            raise TilewrightError(
                f"the generated C of '{source.name}' does not compile", why=made.errors[:6000], fix="report it",
                file=str(source),
            )  # fmt: skip
        objects.append(f"{source.stem}.o")
    program = folder / "program"
    linked = start([compiler, *flags, *objects, "-o", program.name, "-lm"], folder, timeout=600.0)
    if linked.code != 0:
        raise TilewrightError("the batch program does not link", why=linked.errors[:2000], fix="report it")
    return program


def _run(program: Path, folder: Path, jobs: Sequence[_Job]) -> dict[int, str]:
    """Run all jobs; the sentence of each that did not end well, by its number."""
    failures: dict[int, str] = {}
    first = 0
    outputs = folder / "outputs"
    while first < len(jobs):
        begun = os.fspath(program)
        done = start([begun, str(first), "inputs", outputs.name], folder, timeout=_SECONDS)
        reached = first - 1
        for line in done.output.split("\n"):
            number, _, state = line.partition(" ")
            if number.isdigit():
                reached = int(number)
                if state not in ("", "0"):
                    failures[reached] = f"the generated code returned {state}"
        if done.code == 0:
            break
        why = "ran longer than a minute" if done.code is None else f"ended with {done.code}: {_first(done.errors)}"
        failures[max(reached, first)] = f"the generated code {why}"
        first = max(reached, first) + 1
    return failures


def _first(errors: str) -> str:
    """The line that says most: a sanitizer's own, else the first."""
    lines = [line for line in errors.split("\n") if line.strip()]
    return next((line for line in lines if "rror" in line), lines[0] if lines else "no message")
