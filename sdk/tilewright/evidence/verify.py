"""Compares a folder of evidence with what its own inputs give when everything is made again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from tilewright.evidence import hashes
from tilewright.evidence.document import FILE, SECTIONS, Bounds, Evidence, Hashed, Replication
from tilewright.evidence.folder import INPUTS, PROJECT, texts
from tilewright.report.codec import to_plain

BOUNDS = ("over_ranges", "at_vectors", "in_order", "likely")
NEAR = 1e-3
"""Of a bound; its last digits may differ between machines."""


def changed_files(folder: Path, told: Evidence) -> Iterator[str]:
    """A sentence for every file of the folder that is not what its evidence says, or is missing, or that it lacks."""
    expected = {one.name: one.sha256 for one in told.identity.inputs}
    expected |= {f"{PROJECT}/{one.name}": one.sha256 for one in told.identity.sources}
    for name, sha256 in expected.items():
        path = folder / name
        if not path.is_file():
            yield f"file '{name}' is missing in the folder"
        elif hashes.of_file(path).sha256 != sha256:
            yield f"file '{name}' was changed since the evidence was made"
    for name, text in texts(told).items():
        path = folder / name
        if not path.is_file() or path.read_bytes() != text.encode():
            yield f"file '{name}' is not " + ("as it was written" if name == FILE else f"what {FILE} says")
    for part in (INPUTS, PROJECT):
        for path in sorted((folder / part).rglob("*")):
            name = path.relative_to(folder).as_posix()
            if path.is_file() and name not in expected:
                yield f"file '{name}' is none that {FILE} names"


def differences(told: Evidence, made: Evidence) -> Iterator[str]:
    """A sentence for every hash, and every section, in which two evidences of the same inputs differ."""
    one, other = told.identity, made.identity
    for what, before, after in (
        ("model", (one.model,), (other.model,)),
        ("tool", (one.tool,), (other.tool,)),
        ("compiler", one.compiler, other.compiler),
        ("input", one.inputs, other.inputs),
        ("generated file", one.sources, other.sources),
        ("machine code of", one.objects, other.objects),
        ("image", _known(one.elf), _known(other.elf)),
    ):
        yield from _hashes(what, before, after)
    if one.elf != other.elf and one.compiler != other.compiler and one.objects == other.objects:
        yield "the generated C gives the same machine code: the image differs in libraries or in how it is linked"
    if one.flags != other.flags:
        yield f"flags: '{one.flags}' then, '{other.flags}' now"
    for name in SECTIONS:
        then, now = getattr(told, name), getattr(made, name)
        if isinstance(then, Replication) and isinstance(now, Replication):
            yield from _criteria(then, now)
        elif to_plain(then) != to_plain(now):
            yield f"section '{name}' says something else" + (f": {now.missing}" if now and now.missing else "")


def _known(hashed: Hashed | None) -> tuple[Hashed, ...]:
    return () if hashed is None else (hashed,)


def _hashes(what: str, before: Sequence[Hashed], after: Sequence[Hashed]) -> Iterator[str]:
    then, now = ({each.name: each for each in side} for side in (before, after))
    for name in dict.fromkeys((*then, *now)):
        if name not in now:
            yield f"{what} '{name}' is no longer there"
        elif name not in then:
            yield f"{what} '{name}' is new"
        elif then[name].sha256 != now[name].sha256:
            versions = f" ({then[name].version} then, {now[name].version} now)" if then[name].version else ""
            yield f"{what} '{name}': sha256 {then[name].sha256[:12]} then, {now[name].sha256[:12]} now{versions}"


def _criteria(before: Replication, after: Replication) -> Iterator[str]:
    """Kinds, bounds and the run's verdict."""
    if before.match != after.match:
        yield f"section 'replication': the run's match was {before.match} then, {after.match} now"
    if len(before.outputs) != len(after.outputs):
        yield "section 'replication' speaks of other outputs"
    for one, other in zip(before.outputs, after.outputs, strict=False):
        if (one.output, one.kind) != (other.output, other.kind):
            yield f"section 'replication': output '{one.output}' is {one.kind} then, '{other.output}' {other.kind} now"
        for what in BOUNDS:
            then, now = _bound(one.bounds, what), _bound(other.bounds, what)
            if _apart(then, now):
                bounds = f"{_shown(then)} then, {_shown(now)} now"
                yield f"section 'replication': the bound of '{one.output}' ({what}) is {bounds}"


def _bound(bounds: Bounds | None, what: str) -> float | None:
    bound: float | None = getattr(bounds, what, None)
    return bound


def _apart(then: float | None, now: float | None) -> bool:
    if then is None or now is None:
        return then is not now
    return abs(then - now) > NEAR * then


def _shown(bound: float | None) -> str:
    return "unknown" if bound is None else f"{bound:.6g}"
