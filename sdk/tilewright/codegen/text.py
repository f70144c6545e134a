"""Text in and out of a language model as C: its tokeniser's tables, a sampler, and the loop around both."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path

import numpy as np

from tilewright.codegen.artifacts import Artifacts, Texts
from tilewright.codegen.render import render
from tilewright.errors import UnsupportedError, UsageError
from tilewright.model import Array, DType, Tensor
from tilewright.plan.plan import ExecutionPlan
from tilewright.text.tokeniser import Tokeniser
from tilewright.version import VERSION

TEMPLATES = Path(__file__).parent / "templates"
TOKEN_NAMES = ("token", "tokens", "input_ids", "token_id")
POSITION_NAMES = ("pos", "position", "position_ids", "positions", "cache_position")
SCORE_NAMES = ("logits", "scores")
_LINE = 20


@dataclass(frozen=True)
class TextPorts:
    """Which input takes the token and which its position, which output has the scores, by number.

    `scores_offset` is the first element of the last row of scores, `positions` how many the network takes.
    """

    token: int
    position: int
    scores: int
    scores_offset: int
    positions: int


@dataclass(frozen=True)
class ChunkPorts:
    """The network that reads `tokens` tokens of a prompt in a call, by name, and the numbers of its inputs."""

    name: str
    tokens: int
    token: int
    position: int


@dataclass(frozen=True)
class TextText:
    """What the templates of text print; numbers that there are not are -1, tables are their elements in C."""

    name: str
    upper: str
    tool: str
    tokens: int
    positions: int
    begin: int
    end: int
    first_byte: int
    unknown: int
    leading_blank: bool
    starts: str
    offset_type: str
    bytes: str
    byte_count: int
    characters: str
    character_count: int
    merges: str
    merge_count: int
    token_input: int
    position_input: int
    scores_output: int
    scores_offset: int
    chunk: ChunkPorts | None = None


def text_ports(plan: ExecutionPlan, tokeniser: Tokeniser) -> TextPorts:
    """The ports of a network that takes one token a call and keeps what it has read; UnsupportedError for another."""
    inputs = [plan.slots[slot].tensor for slot in plan.input_slots]
    outputs = [plan.slots[slot].tensor for slot in plan.output_slots]
    if not plan.state:
        raise UsageError(
            "text needs a network that keeps what it has read", why="this one has no state",
            fix="pass --state auto, or export the step of one token with its caches",
        )  # fmt: skip
    token, position = _port(inputs, TOKEN_NAMES, "token"), _port(inputs, POSITION_NAMES, "position of the token")
    if len(inputs) != 2:
        others = ", ".join(f"'{one.name}'" for at, one in enumerate(inputs) if at not in (token, position))
        raise UnsupportedError(
            "text needs a network of a token and its position", why=f"it also takes {others}",
            fix="freeze them with --freeze, or export the model without them",
        )  # fmt: skip
    known = [at for at, one in enumerate(outputs) if one.shape and one.shape[-1] == len(tokeniser.pieces)]
    scores = next((at for at in known if plan.output_names[at] in SCORE_NAMES), known[0] if len(known) == 1 else None)
    if scores is None or outputs[scores].dtype is not DType.F32:
        raise UnsupportedError(
            "text needs an output of float32 with a score for every token",
            why=f"the tokeniser has {len(tokeniser.pieces)} tokens, and the outputs are "
            + ", ".join(f"'{one.name}' {one.dtype.value}{list(one.shape)}" for one in outputs),
            fix="name the model's own tokeniser with --tokenizer",
        )  # fmt: skip
    positions = _positions(plan, plan.input_slots[position])
    return TextPorts(token, position, scores, outputs[scores].elements - outputs[scores].shape[-1], positions)


def _port(inputs: Sequence[Tensor], names: Sequence[str], what: str) -> int:
    for at, one in enumerate(inputs):
        if one.name in names and one.dtype in (DType.I64, DType.I32) and one.elements == 1:
            return at
    given = ", ".join(f"'{one.name}' {one.dtype.value}{list(one.shape)}" for one in inputs) or "none"
    raise UnsupportedError(
        f"text needs an input for the {what}", why=f"an integer named {' or '.join(names)}; the inputs are {given}",
        fix="export the step of one token",
    )  # fmt: skip


def _positions(plan: ExecutionPlan, slot: int) -> int:
    """Rows of the caches that are written at the position, or of the tables that are read at it."""
    limits = (
        one.call.operator.reads(one.call, place)
        for one in plan.instructions if one.call.operator is not None and one.call.operator.reads is not None
        for place, read in enumerate(one.inputs) if read == slot
    )  # fmt: skip
    rows = [limit.high + 1 for limit in limits if limit is not None]
    if not rows:
        raise UnsupportedError(
            "text needs to know how many positions there are", why="no table or cache is read at the position itself"
        )
    return min(rows)


def chunk_ports(prefill: ExecutionPlan) -> ChunkPorts:
    """The inputs of the network that reads several tokens, as it is derived from that of one."""
    inputs = [prefill.slots[slot].tensor for slot in prefill.input_slots]
    position = next(at for at, one in enumerate(inputs) if one.name in POSITION_NAMES)
    token = next(at for at, one in enumerate(inputs) if one.name in TOKEN_NAMES)
    return ChunkPorts(prefill.name, inputs[token].elements, token, position)


def with_text(
    artifacts: Artifacts, plan: ExecutionPlan, tokeniser: Tokeniser, prefill: ExecutionPlan | None = None
) -> Artifacts:
    """The project with a header and a C file for text in and out; a network beside it, `prefill`, reads prompts."""
    shown = _shown(plan.name, tokeniser, text_ports(plan, tokeniser))
    shown = shown if prefill is None else replace(shown, chunk=chunk_ports(prefill))
    made = {f"src/{plan.name}_text.{kind}": (render(TEMPLATES / f"text.{kind}.mako", t=shown),) for kind in ("h", "c")}
    assert isinstance(artifacts.files, Texts), "our own generator writes texts"
    return replace(artifacts, files=Texts({**artifacts.files.files, **made}))


def table_bytes(tokeniser: Tokeniser) -> int:
    """Bytes of the tokeniser's tables in read-only memory."""
    size = sum(map(len, tokeniser.pieces))
    starts = (len(tokeniser.pieces) + 1) * (2 if size < 1 << 16 else 4)
    return starts + size + 2 * len(tokeniser.characters) + 8 * len(tokeniser.merges)


def _shown(name: str, tokeniser: Tokeniser, ports: TextPorts) -> TextText:
    joined = b"".join(tokeniser.pieces)
    characters = sorted(tokeniser.characters.values())
    merges = [f"{{{one.left}, {one.right}, {one.result}, {one.rank}}}" for one in tokeniser.merges]
    marks = [
        -1 if mark is None else mark
        for mark in (tokeniser.begin, tokeniser.end, tokeniser.first_byte, tokeniser.unknown)
    ]
    return TextText(
        name=name, upper=name.upper(), tool=f"tilewright {VERSION}", tokens=len(tokeniser.pieces),
        positions=ports.positions, begin=marks[0], end=marks[1], first_byte=marks[2], unknown=marks[3],
        leading_blank=tokeniser.leading_blank, starts=_lines(accumulate(map(len, tokeniser.pieces), initial=0)),
        offset_type="uint16_t" if len(joined) < 1 << 16 else "uint32_t", bytes=_lines(joined), byte_count=len(joined),
        characters=_lines(characters), character_count=len(characters), merges=_lines(merges),
        merge_count=len(merges), token_input=ports.token, position_input=ports.position, scores_output=ports.scores,
        scores_offset=ports.scores_offset,
    )  # fmt: skip


def _lines(values: Iterable[int | str]) -> str:
    texts = [str(value) for value in values]
    rows = (texts[at : at + _LINE] for at in range(0, len(texts), _LINE))
    return "".join(f"    {', '.join(row)},\n" for row in rows)


def fed(plan: ExecutionPlan, ports: TextPorts, token: int, position: int) -> tuple[Array, ...]:
    """The inputs of one call, in the plan's order."""
    values = {ports.token: token, ports.position: position}
    tensors = [plan.slots[slot].tensor for slot in plan.input_slots]
    return tuple(np.full(one.shape, values[at], one.dtype.numpy) for at, one in enumerate(tensors))
