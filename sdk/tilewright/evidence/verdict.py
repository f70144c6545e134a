"""What speaks against an image, in sentences, from its evidence alone."""

from __future__ import annotations

from collections.abc import Iterator

from tilewright.evidence.document import Evidence
from tilewright.evidence.misra_document import Misra


def problems(evidence: Evidence) -> tuple[str, ...]:
    """Faults: something unmatched, a check that failed, outputs that differ, a build that does not repeat."""
    return tuple(_problems(evidence))


def _problems(evidence: Evidence) -> Iterator[str]:
    if evidence.identity.elf is not None and not evidence.identity.elf_repeated:
        yield "two builds of the same sources gave different images"
    if (replication := evidence.replication) is not None and replication.match is False:
        yield f"the target differs from the NumPy executor: {replication.match_text}"
    for output in replication.outputs if replication is not None else ():
        bounds = output.bounds
        if bounds is not None and bounds.observed is not None and bounds.at_vectors is not None:
            limit = max(bounds.at_vectors, bounds.over_ranges or 0.0)
            if bounds.observed > limit:
                yield f"output '{output.output}' was seen {bounds.observed:.3g} off, beyond its bound of {limit:.3g}"
        if bounds is not None and bounds.in_order is None and replication is not None and replication.match is not None:
            yield f"output '{output.output}' has no bound in the order of the kernels: {bounds.order}"
    yield from evidence.trace.unmatched if evidence.trace is not None else ()
    for check in evidence.memory.checks if evidence.memory is not None else ():
        if not check.passed:
            yield f"the check of the {check.name} found a fault: {check.fault}"
    proof = evidence.proofs.proof if evidence.proofs is not None else None
    for layer in proof.refuted if proof is not None else ():
        yield f"layer '{layer.name}' is wrong for some codes of its operands: {layer.why}"


def remarks(evidence: Evidence) -> tuple[str, ...]:
    """What a reviewer has to judge: outputs without a bound, departures from required rules, lines that never ran."""
    sentences = list[str]()
    for output in evidence.replication.outputs if evidence.replication is not None else ():
        if output.kind == "none":
            sentences.append(f"output '{output.output}' has no bound: {output.statement}")
    sentences += _misra(evidence.misra) if evidence.misra is not None else ()
    proof = evidence.proofs.proof if evidence.proofs is not None else None
    if proof is not None and (left := len(proof.layers) - proof.proved - len(proof.refuted)):
        sentences.append(
            f"{left} of {len(proof.layers)} layers have no proof of their machine code, each with its reason"
        )
    if evidence.coverage is not None and evidence.coverage.never:
        sentences.append(f"{evidence.coverage.never} lines of the program run under none of the vectors")
    if evidence.time is not None and evidence.time.dead:
        lines = ", ".join(map(str, evidence.time.dead))
        sentences.append(f"dead code: no input reaches the machine code of lines {lines}")
    sentences += [f"section '{name}' is missing: {why}" for name, why in evidence.unavailable.items()]
    return tuple(sentences)


def _misra(misra: Misra) -> Iterator[str]:
    """Departures from required rules: those that a record of deviation covers, and those that are open."""
    if covered := misra.mandatory + misra.required - misra.open:
        records = ", ".join(record.number for record in misra.records)
        yield f"{_departures(covered)} required rules of MISRA C:2012 under records of deviation ({records})"
    if misra.open:
        yield f"{_departures(misra.open)} mandatory or required rules of MISRA C:2012 without a record of deviation"


def _departures(count: int) -> str:
    return f"{count} departure{'' if count == 1 else 's'} from"
