"""The evidence as frozen values, and its JSON: versioned, with a checksum over all that it says."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, cast

from tilewright.errors import StateError
from tilewright.evidence.machine_code import ProofEvidence, TimeEvidence
from tilewright.evidence.misra_document import Misra
from tilewright.report.codec import Json, from_plain, to_plain

SCHEMA = "tilewright/evidence/1"
FILE = "evidence.json"
SECTIONS = ("replication", "contracts", "trace", "memory", "time", "proofs", "misra", "coverage")
"""The sections that `--only` names; the hashes are always there."""


@dataclass(frozen=True)
class Hashed:
    """A named thing and the SHA-256 of its bytes, of a file the SHA-1 too; `version` where it tells one."""

    name: str
    sha256: str
    version: str = ""
    sha1: str = ""


@dataclass(frozen=True)
class Identity:
    """What was compiled with what into what. `elf_repeated`: a second build in another folder gave the same bytes.

    `objects` are the object files of the generated C, each by the name of its source.
    """

    model: Hashed
    tool: Hashed
    compiler: tuple[Hashed, ...]
    flags: str
    inputs: tuple[Hashed, ...]
    sources: tuple[Hashed, ...]
    elf: Hashed | None
    elf_repeated: bool
    missing: str = ""
    objects: tuple[Hashed, ...] = ()


@dataclass(frozen=True)
class Rounding:
    """What one node adds to the error of its results: the rule, with its source, for the largest element.

    `bound` is None where the operator has no rule; `why` then is the sentence that says so.
    """

    node: str
    op: str
    rule: str
    bound: float | None
    why: str = ""


@dataclass(frozen=True)
class Bounds:
    """Bounds on |C - exact arithmetic| of one output, for its largest element; None where there is no bound.

    `over_ranges` holds for every input in the ranges, `at_vectors` for the vectors given however roundings fall,
    `in_order` for these where every kernel adds in the order that it declares (`order` says how that was held against
    the target, or why there is no such bound), `likely` for these if the roundings are independent and of mean zero,
    but for a chance of `chance`. `observed` is the largest error seen.
    """

    over_ranges: float | None
    at_vectors: float | None
    in_order: float | None
    order: str
    likely: float | None
    chance: float
    observed: float | None
    vectors: int


@dataclass(frozen=True)
class Criterion:
    """When an output replicates the model: `exact`, within a `bound`, or nothing is known (`none`)."""

    output: str
    dtype: str
    shape: tuple[int, ...]
    kind: Literal["exact", "bound", "none"]
    statement: str
    bounds: Bounds | None
    steps: tuple[Rounding, ...]


@dataclass(frozen=True)
class InputRange:
    """The values of an input over which bounds hold, and where the range comes from."""

    input: str
    low: float
    high: float
    origin: str


@dataclass(frozen=True)
class Replication:
    """The criterion of every output, with what it rests on; `match` is what the run on the target gave."""

    outputs: tuple[Criterion, ...]
    ranges: tuple[InputRange, ...]
    assumptions: tuple[str, ...]
    proved: tuple[Rounding, ...]
    match: bool | None
    match_text: str
    missing: str = ""


@dataclass(frozen=True)
class Operand:
    """One input or output of an operator in the network: its types, and the domain of its values in words."""

    name: str
    types: tuple[str, ...]
    domain: str


@dataclass(frozen=True)
class Contract:
    """What an operator takes, gives and refuses, for the nodes that use it, and the tests that show it."""

    op: str
    domain: str
    opset: int
    nodes: tuple[str, ...]
    inputs: tuple[Operand, ...]
    outputs: tuple[Operand, ...]
    attributes: tuple[str, ...]
    errors: tuple[str, ...]
    numerics: tuple[str, ...]
    tests: tuple[str, ...]


@dataclass(frozen=True)
class Contracts:
    """The contract of every operator that the plan computes."""

    operators: tuple[Contract, ...]
    missing: str = ""


@dataclass(frozen=True)
class NodeTrace:
    """A node of the file and what became of it: `instruction` is -1 where `fate` says that it needs no code."""

    number: int
    name: str
    op: str
    instruction: int
    fate: str


@dataclass(frozen=True)
class Lines:
    """Lines of a file of C, first and last, with the function that they are."""

    file: str
    first: int
    last: int
    function: str


@dataclass(frozen=True)
class InstructionTrace:
    """An instruction of the plan: the nodes it comes from, its C, and the symbols that hold its machine code.

    `why` says who runs it, or that there is nothing to run; `origin` where it comes from if from no node of the file.
    """

    index: int
    name: str
    op: str
    kernel: str
    nodes: tuple[int, ...]
    code: tuple[Lines, ...]
    symbols: tuple[str, ...]
    constants: tuple[str, ...]
    why: str = ""
    origin: str = ""


@dataclass(frozen=True)
class SymbolTrace:
    """A symbol of the network in the ELF: bytes, the lines of C in it, and the instructions that it serves."""

    name: str
    kind: Literal["code", "constant", "data"]
    size_bytes: int
    instructions: tuple[int, ...]
    purpose: str
    lines: int = 0


@dataclass(frozen=True)
class Trace:
    """Both directions between the nodes of the file and the symbols of the ELF; `unmatched` has to be empty."""

    nodes: tuple[NodeTrace, ...]
    instructions: tuple[InstructionTrace, ...]
    symbols: tuple[SymbolTrace, ...]
    unmatched: tuple[str, ...]
    missing: str = ""


@dataclass(frozen=True)
class Check:
    """One independent check of the placement: what it holds, over how many items, and that it found no fault."""

    name: str
    holds: str
    items: int
    passed: bool
    fault: str = ""


@dataclass(frozen=True)
class Level:
    """Bytes of one memory level: what is needed, what there is, and how each figure is known."""

    name: str
    size: int | None
    total: int
    lower_bound: int | None
    status: str
    parts: dict[str, int]
    provenance: dict[str, str]


@dataclass(frozen=True)
class Place:
    """One buffer of the arena: its bytes and the instructions between which it is alive."""

    buffer: str
    offset: int
    size_bytes: int
    first: int
    last: int


@dataclass(frozen=True)
class MemoryEvidence:
    """Placement with the checkers' log, stack and fences."""

    levels: tuple[Level, ...]
    checks: tuple[Check, ...]
    places: tuple[Place, ...]
    stack_bytes: int | None
    stack_proved: bool
    stack_path: tuple[str, ...]
    stack_unknown: tuple[str, ...]
    fences: tuple[str, ...]
    missing: str = ""


@dataclass(frozen=True)
class FunctionCoverage:
    """Statements (lines with code) and branch outcomes of one C function, and how many ran; the lines that did not.

    `conditions` are the outcomes of its conditions, `conditions_shown` those that were seen to decide alone (MC/DC);
    both are 0 where the compiler does not count them.
    """

    function: str
    lines: int
    lines_run: int
    branches: int
    branches_taken: int
    never: tuple[int, ...]
    instructions: tuple[int, ...]
    conditions: int = 0
    conditions_shown: int = 0


@dataclass(frozen=True)
class Coverage:
    """Structural coverage of the generated C under the vectors, measured on `target`."""

    target: str
    tool: str
    vectors: int
    functions: tuple[FunctionCoverage, ...]
    mcdc: str
    missing: str = ""

    @property
    def never(self) -> int:
        """Lines with code that no vector reaches."""
        return sum(len(function.never) for function in self.functions)


@dataclass(frozen=True)
class Evidence:
    """The whole folder as one value. `command` are the words that make it again, in the folder itself.

    A section that was not asked for is None.
    """

    name: str
    target: str
    platform: str
    command: tuple[str, ...]
    identity: Identity
    replication: Replication | None = None
    contracts: Contracts | None = None
    trace: Trace | None = None
    memory: MemoryEvidence | None = None
    time: TimeEvidence | None = None
    proofs: ProofEvidence | None = None
    misra: Misra | None = None
    coverage: Coverage | None = None
    schema: str = SCHEMA
    checksum: str = ""

    @property
    def unavailable(self) -> dict[str, str]:
        """The sections that lack a tool, with the sentence that names it."""
        sections = {name: getattr(self, name) for name in SECTIONS}
        return {name: section.missing for name, section in sections.items() if section is not None and section.missing}


def sealed(evidence: Evidence) -> Evidence:
    """The evidence with the checksum of all that it says."""
    return replace(evidence, checksum=_digest(evidence))


def to_json(evidence: Evidence) -> Json:
    """The JSON of sealed evidence."""
    return to_plain(evidence)


def dumps(evidence: Evidence) -> str:
    """The text of `evidence.json`."""
    return json.dumps(to_json(evidence), indent=1, ensure_ascii=False) + "\n"


def load(folder: Path) -> Evidence:
    """The evidence of a folder; StateError where it is damaged, of another version, or changed since it was written."""
    file = folder / FILE
    try:
        plain = json.loads(file.read_bytes())
    except FileNotFoundError as error:
        raise StateError(
            f"'{folder}' holds no {FILE}", why="it was not written by 'tilewright evidence'", fix="name such a folder",
            file=str(file),
        ) from error  # fmt: skip
    except (OSError, ValueError, RecursionError) as error:
        raise StateError(
            f"'{file}' cannot be read", why=str(error), fix="make the folder again", file=str(file)
        ) from error
    if not isinstance(plain, dict) or plain.get("schema") != SCHEMA:
        raise StateError(
            f"'{file}' is no evidence that this version reads", why=f"its schema is not {SCHEMA}",
            fix="verify it with the tilewright that wrote it", file=str(file),
        )  # fmt: skip
    evidence = from_plain(Evidence, cast(Json, plain), "evidence")
    if evidence.checksum != _digest(evidence):
        raise StateError(
            f"'{file}' was changed since it was written", why="its checksum is another one",
            fix="make the folder again", file=str(file),
        )  # fmt: skip
    return evidence


def _digest(evidence: Evidence) -> str:
    text = json.dumps(to_plain(replace(evidence, checksum="")), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
