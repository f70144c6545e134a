"""How well a language model foresees a text: in the target's arithmetic, and as a file of floats in ONNX Runtime."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import exp
from pathlib import Path

import numpy as np

from tilewright.codegen.text import TextPorts, fed, text_ports
from tilewright.errors import UsageError
from tilewright.model import Array
from tilewright.options import ReadingWish
from tilewright.plan.execute import first_value, run_slots
from tilewright.plan.plan import ExecutionPlan
from tilewright.report.build import Report
from tilewright.report.calls import ReadingReport
from tilewright.run.frames import Reference
from tilewright.run.reference import NoReferenceError
from tilewright.run.simulator import Subject
from tilewright.text.read import read_tokeniser


def with_reading(report: Report, subject: Subject, wish: ReadingWish) -> Report:
    """The report with `run.reading`: the text is cut into pieces of as many tokens as the caches hold."""
    assert report.run is not None
    plan = subject.placed.plan
    tokeniser = read_tokeniser(wish.tokenizer)
    ports = text_ports(plan, tokeniser)
    tokens = tokeniser.encode(_text(wish.text))
    pieces = [tokens[at : at + ports.positions] for at in range(0, len(tokens), ports.positions)]
    pieces = [piece for piece in pieces if len(piece) > 1]
    if not pieces:
        raise UsageError(f"--text {wish.text.name}", why="it has no two tokens", fix="name a longer text")
    foreseen = np.concatenate([piece[1:] for piece in pieces])
    ours = np.stack([scores for piece in pieces for scores in _scores(plan, ports, piece)])
    perplexity, reference, same = _perplexity(ours, foreseen), None, None
    try:
        theirs = np.stack([one for piece in pieces for one in _float_scores(wish.floats, plan, ports, piece)])
        reference = _perplexity(theirs, foreseen)
        same = int(np.count_nonzero(ours.argmax(-1) == theirs.argmax(-1)))
    except NoReferenceError:
        pass
    told = ReadingReport(len(foreseen), perplexity, reference, same)
    return replace(report, run=replace(report.run, reading=told))


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise UsageError(f"--text {file.name}", why="it is not UTF-8 text", fix="convert it") from None


def _perplexity(scores: Array, foreseen: Array) -> float:
    """e to the mean cross-entropy of the tokens that follow."""
    real = scores.astype(np.float64)
    real -= real.max(-1, keepdims=True)
    losses = np.log(np.exp(real).sum(-1)) - np.take_along_axis(real, foreseen[:, None], -1)[:, 0]
    return exp(float(losses.mean()))


def _scores(plan: ExecutionPlan, ports: TextPorts, piece: Sequence[int]) -> Iterator[Array]:
    """Scores behind every token but the last, as NumPy computes what the target does."""
    states = [first_value(plan, pair) for pair in plan.state]
    for at, token in enumerate(piece[:-1]):
        slots = run_slots(plan, fed(plan, ports, token, at), states)
        states = [slots[pair.source] for pair in plan.state]
        yield slots[plan.output_slots[ports.scores]].reshape(-1)[ports.scores_offset :]


def _float_scores(floats: Path, plan: ExecutionPlan, ports: TextPorts, piece: Sequence[int]) -> Iterator[Array]:
    """The same of the file in floats, whose inputs, states and scores have the plan's names."""
    session = Reference.of(floats, plan).session
    shapes = {one.name: one.shape for one in session.get_inputs()}
    pairs = {pair.past: pair.present for pair in plan.state if pair.past in shapes}
    names = [plan.slots[slot].tensor.name for slot in plan.input_slots]
    states = {past: np.zeros(shapes[past], np.float32) for past in pairs}
    try:
        for at, token in enumerate(piece[:-1]):
            given = dict(zip(names, fed(plan, ports, token, at), strict=True))
            wanted = [plan.output_names[ports.scores], *pairs.values()]
            scores, *after = session.run(wanted, {**given, **states})
            states = dict(zip(pairs, after, strict=True))
            yield np.asarray(scores).reshape(-1)[ports.scores_offset :]
    except Exception as error:  # states of another type, or an input that was frozen
        raise NoReferenceError(str(error)[:200]) from None
