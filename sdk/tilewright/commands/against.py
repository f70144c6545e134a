"""`--against`: another network's outputs over the same samples, computed on the same target where it fits there."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright.errors import DoesNotFit, UsageError

if TYPE_CHECKING:
    from tilewright.compile import Compiled
    from tilewright.options import CompileOptions, RunOptions
    from tilewright.report.build import Report

ARRAYS = (".npz", ".npy")

Runner = Callable[[Path, "CompileOptions", "RunOptions"], "tuple[Compiled, Report]"]
"""Compiles and runs a file on the target in question."""


@contextmanager
def resolved(running: RunOptions, options: CompileOptions, target: str, run: Runner) -> Iterator[RunOptions]:
    """The options with the other network's outputs where they name its file; those lie there until the block ends.

    A network that is too large for the target is computed by ONNX Runtime on this machine; DoesNotFit without it.
    """
    other = running.against
    if other is None or other.file.suffix.lower() in ARRAYS:
        yield running
        return
    alone = replace(running, labels=None, against=None, expect=None, reference=False)
    plain = replace(
        options, budgets={}, lock=None, decisions=None, program=None, dump_dir=None, integer_only=False, real="float",
        quantized_io=False,
    )  # fmt: skip
    from tilewright.compile import model_name

    other = replace(other, name=model_name(other.file))
    with tempfile.TemporaryDirectory(prefix="tilewright-against-") as folder:
        made = Path(folder) / "outputs.npz"
        try:
            compiled, report = run(other.file, plain, replace(alone, predictions=made))
        except DoesNotFit as error:
            _by_reference(other.file, running, made, error)
            where = f"by ONNX Runtime on this machine, as it does not fit on {target}"
            yield replace(running, against=replace(other, file=made, where=where))
            return
        _as_reals(compiled, made)
        assert report.run is not None
        outputs = replace(
            other, file=made, where=f"on {target}", instructions=report.run.instructions, cycles=report.run.cycles
        )
        yield replace(running, against=outputs)


def _as_reals(compiled: Compiled, file: Path) -> None:
    """Codes among the outputs become the real numbers that they mean: the other network has codes of its own."""
    import numpy as np

    from tilewright.ops.requantize import dequantise
    from tilewright.run.predictions import write_predictions

    plan = compiled.plan
    with np.load(file, allow_pickle=False) as archive:
        arrays = dict(archive)
    tensor = plan.slots[plan.output_slots[0]].tensor
    if tensor.quantisation is not None:
        name = plan.output_names[0]
        write_predictions(file, [name], [dequantise(arrays[name], tensor.quantisation)], None, None)


def _by_reference(source: Path, running: RunOptions, made: Path, error: DoesNotFit) -> None:
    """Write what ONNX Runtime computes; the error where it cannot be asked."""
    import numpy as np

    from tilewright.run.predictions import write_predictions
    from tilewright.run.reference import NoReferenceError
    from tilewright.run.reference_set import reference_set

    assert running.inputs is not None
    try:
        outputs = reference_set(source, running.inputs)
    except NoReferenceError as why:
        raise error from UsageError(f"--against {source}", why=str(why))
    write_predictions(made, list(outputs), [np.asarray(values) for values in outputs.values()], None, None)
