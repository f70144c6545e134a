"""Indices, lengths and positions of the run time that no honest caller gives: nothing outside a tensor is touched."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
from tilewright.conformance.draws import Drawn, Sketch
from tilewright.conformance.families import sketch_of
from tilewright.conformance.program import SANITIZE, run_batch
from tilewright.conformance.subject import Subject, place, subject
from tilewright.conformance.trials import one_node_model, trial
from tilewright.errors import UnsupportedError
from tilewright.ops.registry import all_operators
from tilewright.plugins import platform

LIMITS = np.iinfo(np.int64)
HOSTILE = (LIMITS.min, LIMITS.max, -(2**31), 2**31, -1000, 1000, -1, 0)
TRIES = 30


def hostile(sketch: Sketch, r: random.Random) -> Sketch | None:
    """The sketch with every integer that data gives at run time out of its range; None where there is none."""
    found = [
        replace(
            drawn, values=np.array([r.choice(HOSTILE) for _ in range(drawn.values.size)]).reshape(drawn.values.shape)
        )
        if drawn is not None and at_run_time(drawn)
        else drawn
        for drawn in sketch.operands
    ]
    return replace(sketch, operands=tuple(found)) if any(d and at_run_time(d) for d in sketch.operands) else None


def at_run_time(drawn: Drawn) -> bool:
    return drawn.role == "fixed" and not drawn.constant and drawn.values.dtype == np.int64


def drawn_subjects() -> tuple[list[Subject], set[str]]:
    generic, found, operators = platform("generic"), list[Subject](), set[str]()
    for operator in (each for each in all_operators() if each.sketch):
        op = operator.name
        r = random.Random(f"hostile {op}")
        for _ in range(TRIES):
            sketch = hostile(sketch_of(operator, r), r)
            if sketch is None or sum(s.name.startswith(f"{op.lower()}_") for s in found) == 4:
                continue
            try:
                made = trial(sketch, "f32", r)
                model, arrays = one_node_model(made, f"{op.lower()}_{len(found)}", r, transposed=False)
                found.append(subject(place(model, generic), generic, [arrays]))
                operators.add(op)
            except UnsupportedError:
                continue
    return found, operators


def test_nothing_outside_is_read_or_written(tmp_path: Path) -> None:
    subjects, operators = drawn_subjects()
    assert operators >= {
        "Gather", "GatherElements", "GatherND", "ScatterElements", "ScatterND", "ReverseSequence", "MaxUnpool",
        "TensorScatter", "RotaryEmbedding",
    }  # fmt: skip
    outcomes = run_batch(subjects, tmp_path, flags=("-O1", *SANITIZE))
    failures = [f"{s.name}: {o.failure}" for s, o in zip(subjects, outcomes, strict=True) if o.failure]
    assert not failures, "\n".join(failures)
