"""Several networks compiled into one image: each by the pipeline, then one placement and one folder of C for all."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from tilewright.alike import compile_alike
from tilewright.codegen.bundle import BundleArtifacts, emit_bundle, saved_bytes
from tilewright.codegen.text import with_text
from tilewright.compile import Compiled
from tilewright.errors import UnsupportedError, UsageError
from tilewright.frontend.names import c_identifier, nearest, quoted
from tilewright.frontend.read import read
from tilewright.frontend.states import guessed_pairs
from tilewright.memory.check_together import check_together
from tilewright.memory.together import Together, place_together
from tilewright.memory.together_levels import with_programs
from tilewright.options import CompileOptions
from tilewright.pipeline import Compiler
from tilewright.plugins import platform
from tilewright.prefill.held import hold_prefill
from tilewright.report.build import Report, ToolReport
from tilewright.report.network import ModelReport, QuantisationReport
from tilewright.report.sharing import ArenaReport, BundleReport, SharedStateReport
from tilewright.run.simulator import Subject
from tilewright.run.together import BundleSubject
from tilewright.target import Target
from tilewright.text.read import read_tokeniser
from tilewright.version import VERSION

if TYPE_CHECKING:
    import onnx

NAME_LENGTH = 32
T = TypeVar("T")


@dataclass(frozen=True)
class BundleWish:
    """The bundle's name in C, and groups of networks, by name, of which any may run while another does.

    `more` are C files, without their ending, that the caller puts beside its own and that are built with them.
    `prefill`: the second network reads several tokens of a prompt where the first reads one.
    """

    name: str
    concurrent: tuple[tuple[str, ...], ...] = ()
    more: tuple[str, ...] = ()
    prefill: bool = False


@dataclass(frozen=True)
class Bundle:
    """Compiled networks, how they lie together, their project and its report.

    `members` have their places in the image; their own reports are those of the networks alone.
    """

    members: tuple[Compiled, ...]
    together: Together
    artifacts: BundleArtifacts
    report: Report

    def subject(self, project: Path) -> BundleSubject:
        """What is run of it, where its project is written."""
        members = tuple(
            Subject(one.placed, one.report, one.request.source, project, one.artifacts.interface, share)
            for one, share in zip(self.members, self.artifacts.shares, strict=True)
        )
        return BundleSubject(members, self.together, dict(self.artifacts.levels), self.report, project)


def compile_bundle(
    sources: Sequence[Path], options: CompileOptions, target: Target, wish: BundleWish,
    *, pipeline: Compiler[Compiled] | None = None,
) -> Bundle:  # fmt: skip
    """Compile every network by itself, put them into one image, check that, and write one project of them.

    UsageError for names that clash or are unknown and for states on which networks disagree, UnsupportedError for
    options and targets with which networks cannot share memory.
    """
    tokenizer = options.tokenizer if wish.prefill else None
    options = replace(options, tokenizer=None) if wish.prefill else options
    _refuse(options, wish)
    options = _on_cores(options, target)
    compiled = compile_alike(_options_of(sources, options), target, pipeline)
    if wish.prefill:
        hold_prefill(compiled[1].plan, compiled[0].plan)
    names = [one.plan.name for one in compiled]
    _hold_apart(wish.name, names, sources)
    request = compiled[0].request
    together = place_together(wish.name, [one.placed for one in compiled], _pairs(wish, names))
    check_together(together)
    more = (*wish.more, f"{names[0]}_text") if tokenizer is not None else wish.more
    artifacts = emit_bundle(together, request.levels, target.flags, options.weights, more)
    if tokenizer is not None:
        artifacts = _with_text(artifacts, compiled, tokenizer)
    members = tuple(
        replace(one, placed=placed, artifacts=artifact)
        for one, placed, artifact in zip(compiled, together.placed, artifacts.networks, strict=True)
    )
    report = _report(together, artifacts, [one.report for one in compiled])
    return Bundle(members, together, artifacts, report)


def _with_text(artifacts: BundleArtifacts, compiled: Sequence[Compiled], tokenizer: Path) -> BundleArtifacts:
    """The project with text in and out: of the first network, whose prompts the second reads."""
    step, prefill = (one.plan for one in compiled)
    return replace(artifacts, project=with_text(artifacts.project, step, read_tokeniser(tokenizer), prefill))


def _refuse(options: CompileOptions, wish: BundleWish) -> None:
    """Names that are none in C, and options that speak of one network."""
    if c_identifier(wish.name, set(), NAME_LENGTH) != wish.name:
        raise UsageError(
            f"--bundle {quoted(wish.name)} cannot begin names in C",
            fix=f"take '{c_identifier(wish.name, set(), NAME_LENGTH)}'",
        )
    for option in options_of_one(options):
        raise UnsupportedError(f"{option} and --bundle", why="it applies to one network", fix="leave one of them out")


def options_of_one(options: CompileOptions) -> tuple[str, ...]:
    """The options given that speak of one network, as the command line has them."""
    said = {
        "--context": options.context, "--tokenizer": options.tokenizer is not None,
        "--program": options.program is not None, "--lock": options.lock is not None,
        "--decisions": options.decisions is not None, "--stream": options.stream is not None,
        "--slice": options.slice_instructions > 0,
    }  # fmt: skip
    return tuple(option for option, given in said.items() if given)


def _on_cores(options: CompileOptions, target: Target) -> CompileOptions:
    """The options with every layer on the first engine: weights that others read lie where no two networks share."""
    names = [engine.name for engine in platform(target.platform).engines]
    if not names:
        return options
    if options.engine not in ("auto", names[0]):
        raise UnsupportedError(
            f"--engine {options.engine} and --bundle", why=f"networks of a bundle run on '{names[0]}'",
            fix="leave one of them out",
        )  # fmt: skip
    return replace(options, engine=names[0])


def _hold_apart(bundle: str, names: Sequence[str], sources: Sequence[Path]) -> None:
    """Names of C must differ in more than their case: they are macros and files too."""
    taken = {bundle.lower(): "the bundle"}
    for name, source in zip(names, sources, strict=True):
        if name.lower() in taken:
            raise UsageError(
                f"'{source}' is called '{name}' in C, and so is {taken[name.lower()]}",
                why="every name begins with that of its network", fix="rename one of them", file=str(source),
            )  # fmt: skip
        taken[name.lower()] = f"'{source}'"


def _pairs(wish: BundleWish, names: Sequence[str]) -> frozenset[tuple[int, int]]:
    """Pairs of networks by number that may run at a time."""
    pairs = set[tuple[int, int]]()
    for group in wish.concurrent:
        for name in group:
            if name not in names:
                raise UsageError(f"--concurrent: there is no network '{name}'", fix=nearest(name, names))
        numbers = sorted({names.index(name) for name in group})
        if len(numbers) < 2:
            raise UsageError(
                f"--concurrent {','.join(group)}", why="one network alone runs beside no other", fix="name two or more"
            )
        pairs |= set(combinations(numbers, 2))
    return frozenset(pairs)


def _options_of(sources: Sequence[Path], options: CompileOptions) -> list[tuple[Path, CompileOptions]]:
    """Every network with what the options say of its own inputs and outputs; UsageError for a name that none has."""
    ports, lengths = [], list[frozenset[str]]()
    for source in sources:
        graph = read(source).proto.graph
        ports.append(([value.name for value in graph.input], [value.name for value in graph.output]))
        lengths.append(_named(graph))
    inputs = {name for names, _ in ports for name in names}
    pairs = options.state.pairs or ()
    for option, given in (("--shape", options.shapes), ("--freeze", options.freeze), ("--state", dict(pairs))):
        for name in given:
            if name not in inputs:
                raise UsageError(f"{option}: no network has an input {quoted(name)}", fix=nearest(name, inputs))
    known = frozenset[str]().union(*lengths)
    for name in options.bounds:
        if name not in known:
            raise UsageError(f"--bound: no network has {quoted(name)}", fix=nearest(name, known))
    answers = []
    for source, (here, outputs), names in zip(sources, ports, lengths, strict=True):
        own = tuple(pair for pair in pairs if pair[0] in here and pair[1] in outputs)
        taken = {name for pair in own for name in pair}
        free = [[name for name in names if name not in taken] for names in (here, outputs)]
        auto = options.state.auto and bool(guessed_pairs(*free))
        state = replace(
            options.state, auto=auto, pairs=own if own or options.state.pairs == () else None,
            initial=options.state.initial if own or auto else None,
        )  # fmt: skip
        answers.append((source, replace(
            options, state=state, shapes=_own(options.shapes, here), freeze=_own(options.freeze, here),
            bounds=_own(options.bounds, names),
            dump_dir=options.dump_dir and options.dump_dir / source.stem,
        )))  # fmt: skip
    return answers


def _named(graph: onnx.GraphProto) -> frozenset[str]:
    """What a bound may speak of: nodes, tensors and dimensions."""
    declared = (*graph.value_info, *graph.output)
    names = {name for node in graph.node for name in (node.name, *node.output)}
    names |= {d.dim_param for value in declared for d in value.type.tensor_type.shape.dim}
    return frozenset(names - {""})


def _own(given: Mapping[str, T], names: Collection[str]) -> dict[str, T]:
    return {name: value for name, value in given.items() if name in names}


def _report(kit: Together, artifacts: BundleArtifacts, each: Sequence[Report]) -> Report:
    """One report of all: levels together, what is shared, and every network by itself."""
    seconds = {
        stage: round(sum(one.tool.seconds.get(stage, 0.0) for one in each), 6) for stage in each[0].tool.seconds
    }  # fmt: skip
    return Report(
        tool=ToolReport(VERSION, seconds),
        model=_model(kit.name, [one.model for one in each]),
        platform=each[0].platform,
        target=each[0].target,
        memory=with_programs(artifacts.levels, [one.memory for one in each], kit.concurrent),
        bundle=_shared(kit),
        networks=tuple(each),
    )


def _model(name: str, models: Sequence[ModelReport]) -> ModelReport:
    """All networks as if they were one, without their inputs and outputs."""
    forms = sorted({one.quantisation.form for one in models if one.quantisation.form})
    floats = tuple(name for one in models for name in one.quantisation.float_tensors)
    return ModelReport(
        name=name, sha256=hashlib.sha256("".join(one.sha256 for one in models).encode()).hexdigest(),
        nodes=sum(one.nodes for one in models), macs=sum(one.macs for one in models),
        parameter_bytes=sum(one.parameter_bytes for one in models), inputs=(), outputs=(),
        quantisation=QuantisationReport("+".join(forms), floats),
    )  # fmt: skip


def _shared(kit: Together) -> BundleReport:
    names = [placed.plan.name for placed in kit.placed]
    return BundleReport(
        arena=tuple(
            ArenaReport(name, base, alone.arena_bytes)
            for name, base, alone in zip(names, kit.bases, kit.alone, strict=True)
        ),
        concurrent=tuple((names[a], names[b]) for a, b in sorted(kit.concurrent)),
        states=tuple(
            SharedStateReport(
                one.name, one.offset, one.size_bytes, tuple(dict.fromkeys(names[n] for n, _ in one.owners))
            )
            for one in kit.states
        ),
        arrays=len(kit.constants),
        shared_arrays=sum(len({network for network, _ in one.readers}) > 1 for one in kit.constants),
        saved_bytes=saved_bytes(kit),
    )
