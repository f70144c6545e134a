"""What the outputs of a data set amount to: class numbers, accuracy, confusion, and another network's outputs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from tilewright.arrays import read_arrays
from tilewright.errors import UsageError
from tilewright.ieee import ieee
from tilewright.model import Array, Tensor
from tilewright.ops.requantize import dequantise
from tilewright.options import Against, RunOptions
from tilewright.plan.plan import ExecutionPlan
from tilewright.report.build import Report
from tilewright.report.data_set import AgainstReport, ConfusedReport, DataSetReport, FarSampleReport
from tilewright.run.predictions import write_predictions
from tilewright.run.samples import SampleSet, classes_in

MOST_CLASSES = 256
"""Classes of which the whole matrix is kept."""
KEPT_PAIRS = 10
FARTHEST = 5
"""Samples that are named where two networks differ."""


@dataclass(frozen=True)
class Classes:
    """The class of every sample, and how many classes there are (0 where the outputs do not say)."""

    numbers: Array
    count: int


def with_data_set(
    report: Report, plan: ExecutionPlan, options: RunOptions, samples: SampleSet, outputs: tuple[Array, ...],
    compared: int,
) -> Report:  # fmt: skip
    """The report of a run over a set, with what its outputs amount to; predictions are written where asked for.

    Classes are those of the first output. UsageError where the other network's outputs do not go with it.
    """
    tensor = plan.slots[plan.output_slots[0]].tensor
    classes = classes_of(tensor, outputs[0])
    figures, right = DataSetReport(compared), None
    if samples.labels is not None:
        assert classes is not None
        right = float((classes.numbers == samples.labels).mean())
        figures = _confusion(figures, classes, samples.labels)
    if options.against is not None:
        figures = replace(figures, against=_against(plan, options.against, samples, outputs[0], classes))
    if options.predictions is not None:
        numbers = None if classes is None else classes.numbers
        write_predictions(options.predictions, plan.output_names, outputs, numbers, samples.labels)
    assert report.run is not None
    return replace(report, run=replace(report.run, samples=samples.count, accuracy=right, data_set=figures))


def classes_of(tensor: Tensor, outputs: Array) -> Classes | None:
    """The classes that outputs mean: of several elements the largest, a single whole number itself, else None.

    Of elements that are equal the first is taken.
    """
    count = classes_in(tensor)
    if count is None:
        return None
    flat = outputs.reshape(len(outputs), -1)
    return Classes(flat.argmax(axis=1) if count else flat[:, 0].astype(np.int64), count)


def _confusion(figures: DataSetReport, classes: Classes, labels: Array) -> DataSetReport:
    """The matrix where it is small enough, and the pairs that are confused most."""
    count = classes.count or 1 + int(max(labels.max(), classes.numbers.max()))
    matrix: tuple[tuple[int, ...], ...] = ()
    if count <= MOST_CLASSES and classes.numbers.min() >= 0:
        counts = np.zeros((count, count), np.int64)
        np.add.at(counts, (labels, classes.numbers), 1)
        matrix = tuple(tuple(map(int, row)) for row in counts)
    wrong = labels != classes.numbers
    pairs, times = np.unique(np.stack([labels[wrong], classes.numbers[wrong]]), axis=1, return_counts=True)
    most = np.argsort(-times, kind="stable")[:KEPT_PAIRS]
    confused = tuple(ConfusedReport(int(pairs[0, n]), int(pairs[1, n]), int(times[n])) for n in most)
    return replace(figures, confusion=matrix, confused=confused)


@ieee
def _against(
    plan: ExecutionPlan, other: Against, samples: SampleSet, outputs: Array, classes: Classes | None
) -> AgainstReport:
    """Another network's outputs over the same samples beside ours; UsageError where they are of another form."""
    tensor = plan.slots[plan.output_slots[0]].tensor
    theirs = _others_outputs(other.file, plan.output_names[0], tensor, samples.count)
    numbers = None if classes is None or theirs.shape[1] == 1 else theirs.argmax(axis=1)
    if classes is not None and theirs.shape[1] == 1 and theirs.dtype.kind in "iub":
        numbers = theirs[:, 0].astype(np.int64)
    real = outputs if tensor.quantisation is None else dequantise(outputs, tensor.quantisation)
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.abs(real.reshape(samples.count, -1).astype(np.float64) - theirs.astype(np.float64)).max(axis=1)
    order = np.argsort(-np.nan_to_num(apart, nan=np.inf), kind="stable")[:FARTHEST]
    labels, ours = samples.labels, None if classes is None else classes.numbers
    farthest = tuple(
        FarSampleReport(
            int(n), None if ours is None else int(ours[n]), None if numbers is None else int(numbers[n]),
            float(apart[n]) if np.isfinite(apart[n]) else None, None if labels is None else int(labels[n]),
        )
        for n in order
    )  # fmt: skip
    return AgainstReport(
        other.name, other.where,
        accuracy=None if labels is None or numbers is None else float((numbers == labels).mean()),
        agreement=None if ours is None or numbers is None else float((numbers == ours).mean()),
        instructions=other.instructions, cycles=other.cycles,
        mean_abs_difference=float(apart.mean()) if np.isfinite(apart).all() else None, farthest=farthest,
    )  # fmt: skip


def _others_outputs(file: Path, name: str, tensor: Tensor, count: int) -> Array:
    """The other network's first output, one row for each sample: by our output's name, else the only one that fits."""
    arrays = read_arrays(file)
    form = (count, tensor.elements)
    suiting = {
        key: a for key, a in arrays.items()
        if a.ndim and a.dtype.kind in "fiub" and (len(a), a.size) == (count, count * tensor.elements)
    }  # fmt: skip
    array = suiting.get(name) if name in suiting else next(iter(suiting.values()), None)
    if array is None or (name not in suiting and len(suiting) > 1):
        holds = ", ".join(f"{key}{list(a.shape)}" for key, a in sorted(arrays.items())) or "nothing"
        raise UsageError(
            f"{file.name} is no set of outputs to compare '{name}' with",
            why=f"{form[0]} samples of {form[1]} elements are needed, and it holds {holds}",
            fix=f"name an .onnx file, or an .npz whose array '{name}' has a row for each sample", file=str(file),
        )  # fmt: skip
    return array.reshape(form)
