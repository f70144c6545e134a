"""How right a network is: against labels, against the float network's classes, and in signal to noise.

Three are compared: the float network and the one in codes by ONNX Runtime, and the one in codes by the NumPy executor,
whose codes are those of the target bit for bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tilewright.frontend.load import load
from tilewright.graphs.lower import compile_plan
from tilewright.model import Array, Model
from tilewright.passes import driver
from tilewright.passes.quantise.lower import lower
from tilewright.passes.quantise.report import quantisation_report
from tilewright.plan.execute import run_slots
from tilewright.plan.plan import ExecutionPlan
from tilewright.quantiser.static.samples import Samples
from tilewright.quantiser.static.trial import Reals, centred, decibels, noise_to_signal, session_of


@dataclass(frozen=True)
class Score:
    """`name` says which network and by what. None for an accuracy without labels, an agreement without classes, and for
    what the float network would be compared with itself in."""

    name: str
    samples: int
    accuracy: float | None
    agreement: float | None
    signal_to_noise_db: float | None


@dataclass(frozen=True)
class Integers:
    """A network in codes as it is compiled: its plan, the tensors that stay floats, nodes that compute on reals."""

    plan: ExecutionPlan
    float_tensors: tuple[str, ...]
    real_nodes: tuple[str, ...]

    def outputs(self, samples: Samples) -> list[list[Array]]:
        """What the NumPy executor gives, sample by sample."""
        names = [self.plan.slots[slot].tensor.name for slot in self.plan.input_slots]
        listed = []
        for number in range(samples.count):
            call = samples.call(number)
            slots = run_slots(self.plan, [call[name] for name in names])
            listed.append([slots[slot] for slot in self.plan.output_slots])
        return listed


def integers_of(content: bytes) -> Integers:
    """The file as it is compiled, on the portable kernels."""
    lowered, _ = driver.run(lower(load(content)))
    plan = compile_plan(lowered).plan
    real = [
        one.call.node.name for one in plan.instructions if one.kernel is not None and one.kernel.name == "RealCodes"
    ]
    return Integers(plan, quantisation_report(lowered).float_tensors, tuple(real))


def scores(model: Model, coded: Model, integers: Integers, samples: Samples) -> tuple[Score, ...]:
    """Float, codes by ONNX Runtime, codes by the NumPy executor, over these samples."""
    names = list(model.outputs)
    real = [[values[name] for name in names] for values in session_of(model, names).over(samples)]
    theirs = [[values[name] for name in names] for values in session_of(coded, names).over(samples)]
    ours = integers.outputs(samples)
    return (
        _score("float (ONNX Runtime)", model, real, None, samples),
        _score("codes (ONNX Runtime)", model, theirs, real, samples),
        _score("codes (target's integers)", model, ours, real, samples),
    )


def classes(outputs: Sequence[Sequence[Array]]) -> Array | None:
    """The class of each sample by the first output; None where it tells none apart."""
    first = [np.asarray(each[0]).reshape(-1) for each in outputs]
    return np.asarray([int(values.argmax()) for values in first]) if first and first[0].size > 1 else None


def _score(
    name: str, model: Model, outputs: list[list[Array]], real: list[list[Array]] | None, samples: Samples
) -> Score:
    numbers = classes(outputs)
    accuracy = None if samples.labels is None or numbers is None else float((numbers == samples.labels).mean())
    if real is None:
        return Score(name, samples.count, accuracy, None, None)
    theirs = classes(real)
    agreement = None if numbers is None or theirs is None else float((numbers == theirs).mean())
    return Score(name, samples.count, accuracy, agreement, decibels(noise_of(model, outputs, real)))


def noise_of(model: Model, outputs: list[list[Array]], real: list[list[Array]]) -> float:
    """Noise over signal of the outputs."""
    places = [place for place, name in enumerate(model.outputs) if model.tensors[name].dtype.is_float]
    each = []
    for place in places:
        columns: list[list[Reals]] = [[centred(row[place], False) for row in rows] for rows in (real, outputs)]
        each.append(noise_to_signal(*columns))
    return float(np.mean(each)) if each else 0.0
