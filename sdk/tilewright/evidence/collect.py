"""All sections of the evidence, from one compilation: built twice, run once, looked at from every side."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from tilewright.compile import Compiled, run_model
from tilewright.errors import TilewrightError, ToolMissing, UsageError
from tilewright.evidence import hashes
from tilewright.evidence.code_lines import CodeLines, code_lines
from tilewright.evidence.contracts import contracts
from tilewright.evidence.coverage import Subject, coverage
from tilewright.evidence.document import SECTIONS, Coverage, Evidence, Hashed, Identity, Trace, sealed
from tilewright.evidence.line_table import read_lines, same_program
from tilewright.evidence.machine_code import proof_evidence, time_evidence
from tilewright.evidence.memory import memory
from tilewright.evidence.misra import misra
from tilewright.evidence.replication import Observed, numerics_by_node, ranges_of, replication
from tilewright.evidence.trace import machine_of, trace
from tilewright.model import Array
from tilewright.options import RunOptions
from tilewright.plan.execute import run as execute_plan
from tilewright.platform import Platform
from tilewright.report.build import Report
from tilewright.run.build import build
from tilewright.run.image import Image
from tilewright.run.inputs import input_arrays
from tilewright.run.samples import read_set
from tilewright.run.session import np_bytes, read_outputs
from tilewright.run.simulate import execute
from tilewright.target import Target, with_sizes

DRAWN = 8
"""Vectors that are drawn where none are given."""


@dataclass(frozen=True)
class Wish:
    """What is asked: sections by name, the vectors, the ranges of inputs, and the words that ask it again."""

    only: tuple[str, ...]
    inputs: Path | None
    ranges: Mapping[str, tuple[float, float]]
    command: tuple[str, ...]

    def wants(self, section: str) -> bool:
        """True where a section was asked for."""
        return not self.only or section in self.only


@dataclass(frozen=True)
class _Built:
    """The images of a network: as it ships, and with debug information; why there are none."""

    plain: Image | None
    debug: Image | None
    repeated: bool
    missing: str = ""


def collect(compiled: Compiled, target: Target, project: Path, inputs: Sequence[Hashed], wish: Wish) -> Evidence:
    """The sealed evidence of a written project. MismatchError stays with whoever judges it: nothing is raised here."""
    refuse_foreign(compiled.request.platform)
    sized = with_sizes(target, compiled.request.levels)
    with tempfile.TemporaryDirectory(prefix="tilewright-evidence-") as name:
        work = Path(name)
        made = _images(compiled, sized, project, work, wish)
        drawn, vectors = _vectors(compiled, wish.inputs)
        runs = wish.wants("replication") or wish.wants("memory")
        report, told = _run(compiled, target, project, made) if runs else (compiled.report, "")
        code = code_lines(compiled.artifacts)
        evidence = Evidence(
            compiled.model.name, target.name, compiled.request.platform.name, wish.command,
            _identity(compiled, project, inputs, made, work),
        )  # fmt: skip
        if wish.wants("replication"):
            seen = _observed(compiled, made, vectors)
            ranges = ranges_of(compiled.model, wish.ranges, seen.vectors, drawn)
            match = report.run.match if report.run is not None else None
            evidence = replace(evidence, replication=replication(compiled, seen, ranges, match, told or seen.by))
        if wish.wants("contracts"):
            numerics = numerics_by_node(compiled.plan)
            evidence = replace(evidence, contracts=contracts(compiled.model, numerics))
        if wish.wants("trace"):
            evidence = replace(evidence, trace=_trace(compiled, code, made))
        if wish.wants("memory"):
            evidence = replace(evidence, memory=memory(compiled, report, made.plain, made.missing))
        if wish.wants("time"):
            images = made.plain, made.debug
            bounds = time_evidence(compiled, sized, project, images, work / "traced")
            evidence = replace(evidence, time=bounds if not made.missing else replace(bounds, missing=made.missing))
        if wish.wants("proofs"):
            evidence = replace(evidence, proofs=proof_evidence(compiled, target, project))
        if wish.wants("misra"):
            files = [compiled.artifacts.parts.code, compiled.artifacts.parts.weights]
            c_files = [path for path in files if path.endswith(".c")]
            evidence = replace(evidence, misra=misra(project, c_files, sized, work))
        if wish.wants("coverage"):
            covered = _coverage(compiled, project, made, work / "cover", code, vectors)
            evidence = replace(evidence, coverage=covered)
    return sealed(evidence)


def refuse_foreign(platform: Platform) -> None:
    """UsageError for a platform that writes its own code, of which nothing here speaks."""
    if platform.emitter:
        raise UsageError(
            f"no evidence is made for platform '{platform.name}'",
            why="it writes its own code, whose lines belong to no instruction", fix="name a target of another platform",
        )  # fmt: skip


def _images(compiled: Compiled, target: Target, project: Path, work: Path, wish: Wish) -> _Built:
    """Two plain builds in folders of different names, and one with debug information."""
    interface = compiled.artifacts.interface
    try:
        plain = build(project, interface, target, work / "plain")
        again = build(project, interface, target, work / "once" / "more")
        debug = (
            build(project, interface, target, work / "debug", extra_flags=("-g",))
            if wish.wants("trace") or wish.wants("coverage") or wish.wants("time")
            else None
        )
    except ToolMissing as error:
        return _Built(None, None, False, str(error))
    same = hashes.of_file(plain.path).sha256 == hashes.of_file(again.path).sha256
    return _Built(plain, debug, same)


def _identity(compiled: Compiled, project: Path, inputs: Sequence[Hashed], made: _Built, work: Path) -> Identity:
    image, name = made.plain, f"{compiled.model.name}.onnx"
    model = next((each for each in inputs if each.name.endswith(("/model.onnx", "/model.tflite"))), None)
    sources = tuple(each for each in hashes.of_tree(project) if each.name != "report.json")
    tools: tuple[Hashed, ...] = ()
    objects: tuple[Hashed, ...] = ()
    if image is not None:
        driver, flags = image.toolchain.compiler, (*image.target.flags, *image.target.library_flags)
        tools = hashes.of_compiler(driver, image.toolchain.version, image.path, work)
        objects = hashes.of_objects(project / "src", driver, flags, work)
    return Identity(
        Hashed(name, compiled.loaded.sha256) if model is None else model, hashes.of_tool(), tools,
        image.toolchain.flags if image is not None else "", tuple(inputs), sources,
        hashes.of_file(image.path) if image is not None else None, made.repeated, made.missing, objects,
    )  # fmt: skip


def _vectors(compiled: Compiled, file: Path | None) -> tuple[bool, list[list[Array]]]:
    """The vectors of a file, one or many; drawn ones where there is none."""
    plan = compiled.plan
    if file is None:
        return True, [input_arrays(plan, None, seed) for seed in range(DRAWN)]
    if plan.state:
        return False, [input_arrays(plan, file, 0)]
    samples = read_set(plan, RunOptions(inputs=file))
    if samples is None:
        return False, [input_arrays(plan, file, 0)]
    return False, [samples.call(number) for number in range(samples.count)]


def _run(compiled: Compiled, target: Target, project: Path, made: _Built) -> tuple[Report, str]:
    """The report of a run inside the fences with every tensor compared; of the compilation where nothing can start."""
    if made.plain is None:
        return compiled.report, f"not run: {made.missing}"
    try:
        report = run_model(compiled, target, RunOptions(layers=True), project)
    except TilewrightError as error:
        return compiled.report, f"not run on '{target.name}': {error}"
    assert report.run is not None
    floats = any(slot.tensor.dtype.is_float for slot in compiled.plan.slots)
    same = "equal to the NumPy executor" + (", floats within what their kernels declare" if floats else "")
    verdict = same if report.run.match else "different from the NumPy executor"
    fences = f", watched by {' and '.join(report.run.fences)} fences" if report.run.fences else ""
    return report, f"run on '{target.name}' with every tensor compared: {verdict}{fences}"


def _observed(compiled: Compiled, made: _Built, vectors: Sequence[Sequence[Array]]) -> Observed:
    """The outputs of every vector: the target's, or NumPy's where the target cannot be started."""
    plan, on_target = compiled.plan, True
    names = [plan.slots[slot].tensor.name for slot in plan.input_slots]
    named = [dict(zip(names, vector, strict=True)) for vector in vectors]
    try:
        if made.plain is None:
            raise ToolMissing(made.missing)
        raw = [[np_bytes(array) for array in vector] for vector in vectors]
        ran = execute(made.plain, raw[0], more=raw[1:])
        steps = [replace(ran, outputs=step.outputs) for step in ran.steps]
        outputs = [read_outputs(plan, step) for step in steps]
        by = f"computed on '{made.plain.target.name}'"
    except TilewrightError as error:
        outputs = [list(execute_plan(plan, list(vector))) for vector in vectors]
        on_target = False
        by = f"computed by NumPy in place of the target: {error}"
    return Observed(named, [dict(zip(plan.output_names, each, strict=True)) for each in outputs], by, on_target)


def _trace(compiled: Compiled, code: CodeLines | None, made: _Built) -> Trace:
    if code is None or made.plain is None or made.debug is None:
        return Trace((), (), (), (), made.missing or "the code of this platform is not mapped")
    try:
        if not same_program(made.plain.path, made.debug.path):
            return Trace((), (), (), ("debug information changes the program: its lines are those of another one",))
        return trace(compiled, compiled.request.source, code, machine_of(made.debug, code.file))
    except ToolMissing as error:
        return Trace((), (), (), (), str(error))


def _coverage(
    compiled: Compiled, project: Path, made: _Built, work: Path, code: CodeLines | None,
    vectors: Sequence[Sequence[Array]],
) -> Coverage:  # fmt: skip
    if code is None or made.debug is None:
        return Coverage("", "", 0, (), "", made.missing or "the code of this platform is not mapped")
    raw = [[np_bytes(np.ascontiguousarray(array)) for array in vector] for vector in vectors]
    target, shipped = made.debug.target, read_lines(made.debug.path, code.file).functions
    return coverage(Subject(project, compiled.artifacts.interface, target, code, shipped), raw, work)


def require_sections(evidence: Evidence, only: Sequence[str]) -> None:
    """ToolMissing where a section that was asked for by its name lacks a tool."""
    for name in only:
        if name in evidence.unavailable:
            raise ToolMissing(f"the section '{name}' cannot be made", why=evidence.unavailable[name])


def parse_sections(text: str | None) -> tuple[str, ...]:
    """The sections that `--only` names; UsageError for one that there is none of."""
    names = tuple(dict.fromkeys(name.strip() for name in text.split(","))) if text is not None else ()
    for name in names:
        if name not in SECTIONS:
            raise UsageError(
                f"--only {text}", why=f"there is no section '{name}'", fix=f"sections are {', '.join(SECTIONS)}"
            )
    return names
