"""ONNX Runtime over a data set: what a network that the target cannot hold says of every sample."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tilewright.arrays import UNNAMED, read_arrays
from tilewright.frontend.read import openable
from tilewright.model import Array
from tilewright.run.reference import NAME, NoReferenceError


def reference_set(source: Path, inputs: Path) -> dict[str, Array]:
    """Every output of the file for every sample of the inputs, by name; NoReferenceError where it cannot be asked."""
    try:
        import onnxruntime
    except ImportError:
        raise NoReferenceError(f"{NAME} is not installed") from None
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    arrays = read_arrays(inputs)
    try:
        session = onnxruntime.InferenceSession(
            openable(source), sess_options=options, providers=["CPUExecutionProvider"]
        )
        entries = session.get_inputs()
        if UNNAMED in arrays and len(entries) == 1:
            arrays = {entries[0].name: arrays[UNNAMED]}
        columns = {entry.name: arrays[entry.name] for entry in entries}
        names = [entry.name for entry in session.get_outputs()]
        rows = []
        for n in range(min(map(len, columns.values()))):
            feed = {
                entry.name: values[n] if values.ndim > len(entry.shape) else values[n : n + 1]
                for entry, values in zip(entries, columns.values(), strict=True)
            }
            rows.append(session.run(names, feed))
        return {name: np.stack([np.asarray(row[n]) for row in rows]) for n, name in enumerate(names)}
    except Exception as error:  # an operator or type that it does not have, an input that the file does not hold
        why = str(error).strip().splitlines() or [type(error).__name__]
        raise NoReferenceError(f"{NAME} refuses the file: {why[0][:200]}") from None
