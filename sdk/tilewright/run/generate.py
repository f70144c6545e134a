"""Text from a prompt: the target chooses every token itself, and every step is compared as that of a sequence is."""

from __future__ import annotations

import struct
import tempfile
from dataclasses import replace
from pathlib import Path

from tilewright.codegen.text import TextPorts, fed, table_bytes, text_ports
from tilewright.errors import TilewrightError, UsageError
from tilewright.options import RunOptions, TextWish
from tilewright.report.build import Report
from tilewright.report.calls import TextReport
from tilewright.run.build import build
from tilewright.run.calls import Called, fenced
from tilewright.run.frames import Frames, reference_steps
from tilewright.run.promises import keep_promises
from tilewright.run.reference import NoReferenceError
from tilewright.run.sequence import judged, read_step
from tilewright.run.simulate import Execution, execute
from tilewright.run.simulator import Simulator, Subject
from tilewright.run.tool import require_tools
from tilewright.target import Target
from tilewright.text.read import read_tokeniser
from tilewright.text.sampler import SEED, Sampler
from tilewright.text.tokeniser import Tokeniser

PROMPT_BYTES = 4096
"""TW_PROMPT_BYTES of harness/text.h: the prompt with a zero byte behind it."""


def run_generation(simulator: Simulator, subject: Subject, target: Target, options: RunOptions) -> Report:
    """The report of a text: `run` compares all calls, `run.text` has what was written."""
    require_tools(target)
    assert options.text is not None
    plan, wish = subject.placed.plan, options.text
    tokeniser = read_tokeniser(wish.tokenizer)
    ports = text_ports(plan, tokeniser)
    tokens = prompt_tokens(tokeniser, ports, wish)
    calls = min(len(tokens) + wish.count - 1, ports.positions)
    blank = [array.tobytes() for array in fed(plan, ports, 0, 0)]
    with tempfile.TemporaryDirectory(prefix="tilewright-build-") as folder:
        work = Path(folder)
        image = build(subject.project, subject.interface, target, work / "plain", positions=ports.positions)
        execution = execute(
            image, blank, more=[blank] * (calls - 1), count=simulator.counts(image), prompt=asked_in_bytes(wish),
            tell=wish.tell,
        )  # fmt: skip
        if wish.tell is not None:
            wish.tell("\n")
        keep_promises(subject.placed, image, execution)
        hold_choices(subject, tokeniser, ports, wish, execution)
        written = execution.tokens[1:]
        frames = tuple(fed(plan, ports, token, at) for at, token in enumerate(written[: len(execution.steps)]))
        raw = [[array.tobytes() for array in frame] for frame in frames]
        called = Called(image, execution, simulator.fences(target), ())
        report = judged(subject, fenced(simulator, subject, target, work, called, raw), frames, options)
    assert report.run is not None
    told = TextReport(
        text=tokeniser.decode(written), prompt_tokens=execution.tokens[0], tokens=written,
        tokeniser_bytes=table_bytes(tokeniser), same_choices=_same_choices(subject, ports, frames, execution),
    )  # fmt: skip
    return replace(report, run=replace(report.run, text=told))


def _same_choices(subject: Subject, ports: TextPorts, frames: Frames, execution: Execution) -> int | None:
    """Tokens that were written and that ONNX Runtime finds best behind the same text."""
    given, *tokens = execution.tokens
    try:
        every_score = [
            one.outputs[ports.scores] for one in reference_steps(subject.source, subject.placed.plan, frames)
        ]
    except NoReferenceError:
        return None
    best = [int(scores.reshape(-1)[ports.scores_offset :].argmax()) for scores in every_score[given - 1 :]]
    return sum(ours == theirs for ours, theirs in zip(tokens[given:], best, strict=True))


def prompt_tokens(tokeniser: Tokeniser, ports: TextPorts, wish: TextWish) -> tuple[int, ...]:
    """The tokens of the prompt; UsageError for one of nothing, or of more than the network or the test image takes."""
    tokens = tokeniser.encode(wish.prompt)
    if not tokens:
        raise UsageError("--prompt is empty", why="no token begins a text", fix="start it yourself")
    if len(tokens) > ports.positions or len(wish.prompt.encode()) >= PROMPT_BYTES:
        raise UsageError(
            "--prompt is too long", why=f"it has {len(tokens)} tokens, the network takes {ports.positions}",
            fix="shorten it",
        )  # fmt: skip
    if "\0" in wish.prompt:
        raise UsageError("--prompt", why="it holds a zero byte, which ends a text in C", fix="leave it out")
    return tokens


def asked_in_bytes(wish: TextWish) -> bytes:
    """What the test image reads as prompt.bin."""
    sampling = wish.sampling
    head = struct.pack("<2f2I", sampling.temperature, sampling.top_p, sampling.seed or SEED, wish.count)
    return head + wish.prompt.encode().ljust(PROMPT_BYTES, b"\0")


def hold_choices(
    subject: Subject, tokeniser: Tokeniser, ports: TextPorts, wish: TextWish, execution: Execution
) -> None:
    """Hold the target's tokens of the prompt, and its greedy choices by its own scores; TilewrightError for others."""
    given, *written = execution.tokens
    expected = tokeniser.encode(wish.prompt)
    if tuple(written[:given]) != expected:
        raise TilewrightError(
            f"the tokens of the prompt differ on target '{subject.report.target}'",
            why=f"{written[:given]} instead of {list(expected)}", fix="report this with the tokeniser's file",
        )  # fmt: skip
    if wish.sampling.temperature:
        return  # powers of e may differ in the last bit, and with them a draw that falls on an edge
    sampler = Sampler(wish.sampling)
    for at in range(given - 1, len(written) - 1):
        step = execution.steps[at]
        scores = read_step(subject.placed, step.outputs, step.state).outputs[ports.scores].reshape(-1)
        if (best := sampler.choose(scores[ports.scores_offset :])) != written[at + 1]:
            raise TilewrightError(
                f"token {at + 1} differs on target '{subject.report.target}'",
                why=f"{written[at + 1]} was chosen, {best} has the best score", fix="report this with the model",
            )  # fmt: skip
