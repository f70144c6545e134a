"""Text from a prompt that is read several tokens at a time: two networks of one image, and the caches between them.

The target is held against NumPy call by call, each from the states that the target had before. ONNX Runtime reads the
whole text token by token with the network of one: what chunks leave in the caches is compared with that too.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from tilewright.codegen.text import ChunkPorts, TextPorts, chunk_ports, fed, table_bytes, text_ports
from tilewright.model import Array
from tilewright.options import RunOptions
from tilewright.plan.execute import first_value
from tilewright.report.build import Report, RunReport
from tilewright.report.calls import FramesReport, TextReport
from tilewright.run.build import build
from tilewright.run.calls import mean_counts
from tilewright.run.compare import Comparison, outcome
from tilewright.run.frames import Results, reference_steps
from tilewright.run.generate import asked_in_bytes, hold_choices, prompt_tokens
from tilewright.run.image import Image
from tilewright.run.reference import NAME, NoReferenceError, tensor_differing
from tilewright.run.session import cycle_model, read_states, results_by_slot
from tilewright.run.simulate import Execution, Step, execute
from tilewright.run.simulator import Subject, simulator_of
from tilewright.run.slot_comparison import compare_slot
from tilewright.run.ties import read_slots
from tilewright.run.together import BundleSubject, run_bundle
from tilewright.target import Target
from tilewright.text.read import read_tokeniser


@dataclass(frozen=True)
class _Turn:
    """One call: the network that ran, its inputs, how many tokens were read behind it, and what it gave.

    `states` are those of the network of one token, whichever ran.
    """

    member: Subject
    frame: Sequence[Array]
    end: int
    results: Results
    states: Sequence[Array]


def run_prefilled(subject: BundleSubject, target: Target, options: RunOptions) -> Report:
    """The report of a text: both networks alone and in turn, then a prompt in chunks and the tokens behind it."""
    base = run_bundle(subject, target, replace(options, text=None))
    wish = options.text
    assert wish is not None
    assert base.run is not None
    if not base.run.match or not all(one.run is not None and one.run.match for one in base.networks):
        return base
    step, prefill = subject.members
    tokeniser, chunk = read_tokeniser(wish.tokenizer), chunk_ports(prefill.placed.plan)
    ports = text_ports(step.placed.plan, tokeniser)
    given = len(prompt_tokens(tokeniser, ports, wish))
    chunks = (given - 1) // chunk.tokens
    calls = chunks + min(given - chunks * chunk.tokens + wish.count - 1, ports.positions - chunks * chunk.tokens)
    blank = [array.tobytes() for array in fed(step.placed.plan, ports, 0, 0)]
    with tempfile.TemporaryDirectory(prefix="tilewright-build-") as folder:
        image = build(
            subject.project, step.interface, target, Path(folder), positions=ports.positions, chunk=chunk
        )  # fmt: skip
        execution = execute(
            image, blank, more=[blank] * (calls - 1), count=simulator_of(target).counts(image),
            prompt=asked_in_bytes(wish), tell=wish.tell,
        )  # fmt: skip
        if wish.tell is not None:
            wish.tell("\n")
        by_position = replace(execution, steps=tuple(_by_position(execution, chunk)))
        hold_choices(step, tokeniser, ports, wish, by_position)
        turns = tuple(_turns(subject, ports, chunk, execution))
        run = _run_report(base, image, execution, turns, chunks)
    comparisons = [one for number in range(len(turns)) for one in _compared(turns, number, options)]
    frames, same = _against(step, ports, execution.tokens, turns)
    first = next((name for name, one in comparisons if not one.match), "")
    costs = _costs(image, execution, chunks)
    worst = max(range(len(costs)), key=lambda call: costs[call], default=None)
    frames = replace(
        frames, first_difference=first, mean_cost=round(sum(costs) / len(costs)) if costs else None,
        worst_cost=None if worst is None else costs[worst], worst_call=None if worst is None else worst + chunks,
    )  # fmt: skip
    alone = base.networks[1].run
    assert alone is not None
    text = TextReport(
        text=tokeniser.decode(execution.tokens[1:]), prompt_tokens=given, tokens=execution.tokens[1:],
        tokeniser_bytes=table_bytes(tokeniser), same_choices=same, chunk_tokens=chunk.tokens, chunks=chunks,
        chunk_cost=alone.cycles or alone.instructions,
    )  # fmt: skip
    verdict = outcome([one for _, one in comparisons], ())
    run = replace(
        run, match=verdict.match, max_abs_error=verdict.max_abs_error, mismatches=verdict.mismatches,
        elements=verdict.elements, frames=frames, text=text,
    )  # fmt: skip
    return replace(base, run=run)


def _run_report(base: Report, image: Image, execution: Execution, turns: Sequence[_Turn], chunks: int) -> RunReport:
    """What a token behind the prompt costs, on average, and what the image of both takes."""
    assert base.run is not None
    fences = base.networks[0].run.fences if base.networks[0].run is not None else ()
    costs = _costs(image, execution, chunks)
    mean = round(sum(costs) / len(costs)) if costs else None
    counts = mean_counts(execution.counts, mean, len(turns) - chunks)
    return replace(
        base.run, fences=fences, instructions=counts.instructions if counts else None,
        cycles=mean if execution.cycles is not None else None, counter=counts.counter if counts else None,
        modelled_cycles=counts.modelled_cycles if counts else None,
        cycle_model=cycle_model(image.target) if counts else "",
    )  # fmt: skip


def _costs(image: Image, execution: Execution, chunks: int) -> tuple[int, ...]:
    """What each call of one token cost; those of chunks are counted where that network runs alone."""
    if execution.counts is not None and execution.counts.calls:
        return execution.counts.calls
    simulator, steps = simulator_of(image.target), execution.steps[chunks:]
    if not any(step.ticks for step in steps):
        return ()
    return tuple(simulator.cost_of(image, step.ticks, step.interrupts) for step in steps)


def _by_position(execution: Execution, chunk: ChunkPorts) -> Iterator[Step]:
    """The call that read each position's token."""
    given, position = execution.tokens[0], 0
    for step in execution.steps:
        tokens = chunk.tokens if position + chunk.tokens < given else 1
        yield from [step] * tokens
        position += tokens


def _turns(subject: BundleSubject, ports: TextPorts, chunk: ChunkPorts, execution: Execution) -> Iterator[_Turn]:
    step, prefill = subject.members
    given, *tokens = execution.tokens
    position = 0
    for call in execution.steps:
        several = position + chunk.tokens < given
        member, outputs = (prefill, ()) if several else (step, call.outputs)
        if several:
            frame = _chunk_frame(prefill, chunk, tokens[position : position + chunk.tokens], position)
        else:
            frame = fed(step.placed.plan, ports, tokens[position], position)
        position += chunk.tokens if several else 1
        plan = member.placed.plan
        arrays = tuple(
            np.frombuffer(raw, tensor.dtype.numpy).reshape(tensor.shape)
            for tensor, raw in zip((plan.slots[slot].tensor for slot in plan.output_slots), outputs, strict=True)
        )
        results = Results(arrays, tuple(read_states(member.placed, call.state)))
        yield _Turn(member, frame, position, results, read_states(step.placed, call.state))


def _chunk_frame(prefill: Subject, chunk: ChunkPorts, tokens: Sequence[int], position: int) -> tuple[Array, ...]:
    plan = prefill.placed.plan
    values = {chunk.token: np.array(tokens), chunk.position: np.array(position)}
    tensors = [plan.slots[slot].tensor for slot in plan.input_slots]
    return tuple(values[at].astype(one.dtype.numpy).reshape(one.shape) for at, one in enumerate(tensors))


def _compared(turns: Sequence[_Turn], number: int, options: RunOptions) -> Iterator[tuple[str, Comparison]]:
    """Every output and state of a call with NumPy's from the states that the target had, and the words that name it."""
    turn = turns[number]
    plan, ours = turn.member.placed.plan, turn.results
    before = [first_value(plan, pair) for pair in plan.state] if number == 0 else _states_of(turn, turns[number - 1])
    slots = read_slots(plan, turn.frame, before, results_by_slot(plan, ours.outputs, ours.states), options)
    for name, slot, value in zip(plan.output_names, plan.output_slots, ours.outputs, strict=True):
        yield f"call {number}, '{name}'", compare_slot(plan, slot, value, slots[slot], options)
    for pair, value in zip(plan.state, ours.states, strict=True):
        name = f"call {number}, 'state {plan.slots[pair.state].tensor.name}'"
        yield name, compare_slot(plan, pair.source, value, slots[pair.source], options)


def _states_of(turn: _Turn, before: _Turn) -> list[Array]:
    """The states behind the call before, in the order of the network that runs now."""
    theirs = before.member.placed.plan
    names = [theirs.slots[pair.state].tensor.name for pair in theirs.state]
    known = dict(zip(names, before.results.states, strict=True))
    own = turn.member.placed.plan
    return [known[own.slots[pair.state].tensor.name] for pair in own.state]


def _against(
    step: Subject, ports: TextPorts, tokens: Sequence[int], turns: Sequence[_Turn]
) -> tuple[FramesReport, int | None]:
    """ONNX Runtime, token by token: elements that differ behind every call, and how many choices are the same."""
    plan, (given, *written) = step.placed.plan, tokens
    frames = tuple(fed(plan, ports, token, at) for at, token in enumerate(written[: turns[-1].end]))
    ends, wrong, first, same = {turn.end: number for number, turn in enumerate(turns)}, 0, "", 0
    try:
        for end, theirs in enumerate(reference_steps(step.source, plan, frames), 1):
            if (number := ends.get(end)) is None:
                continue
            turn = turns[number]
            pairs = zip(turn.states, theirs.states, strict=True)
            tensors = [plan.slots[pair.state].tensor for pair in plan.state]
            if turn.member is step:
                pairs = zip((*turn.results.outputs, *turn.states), (*theirs.outputs, *theirs.states), strict=True)
                tensors = [*(plan.slots[slot].tensor for slot in plan.output_slots), *tensors]
            differences = sum(tensor_differing(tensor, a, b) for tensor, (a, b) in zip(tensors, pairs, strict=True))
            wrong, first = wrong + differences, first or (f"call {number}" if differences else "")
            if end >= given:
                best = int(theirs.outputs[ports.scores].reshape(-1)[ports.scores_offset :].argmax())
                same += best == written[end]
    except NoReferenceError as why:
        return FramesReport(len(turns), reference_missing=str(why)), None
    return FramesReport(len(turns), reference=NAME, reference_mismatches=wrong, reference_first=first), same
