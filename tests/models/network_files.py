"""Reading, running and writing networks with their test vectors: `NAME/{model.onnx,inputs.npz,outputs.npz}`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]
WHOLE_SECOND = (2020, 1, 1, 0, 0, 0)


def session(model: onnx.ModelProto) -> Any:
    """ONNX Runtime on one thread with every graph optimisation off, so that it computes what the graph says."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def run(model: onnx.ModelProto, inputs: Mapping[str, NDArray[Any]]) -> Arrays:
    """Every output of the model by its name."""
    names = [output.name for output in model.graph.output]
    return dict(zip(names, session(model).run(names, dict(inputs)), strict=True))


def first_output(running: Any, value: NDArray[Any]) -> NDArray[Any]:
    """The first output of a session with one input."""
    result: NDArray[Any] = running.run(None, {running.get_inputs()[0].name: value})[0]
    return result


def save_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """An npz whose bytes depend on nothing but the arrays: compressed, with a fixed date."""
    import io
    import zipfile

    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, values in arrays.items():
            text = io.BytesIO()
            np.lib.format.write_array(text, np.ascontiguousarray(values))
            entry = zipfile.ZipInfo(f"{name}.npy", WHOLE_SECOND)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, text.getvalue())


def save_network(
    folder: Path,
    model: onnx.ModelProto,
    inputs: Mapping[str, NDArray[Any]],
    samples: Mapping[str, NDArray[Any]] | None = None,
) -> None:
    """The model, one test vector, and for networks with one input `samples.npz`: several inputs with their outputs."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    save_arrays(folder / "inputs.npz", inputs)
    save_arrays(folder / "outputs.npz", run(model, inputs))
    if samples:
        running = session(model)
        values = samples["samples"]
        results = np.concatenate([first_output(running, value[None]) for value in values])
        save_arrays(folder / "samples.npz", {model.graph.input[0].name: values, model.graph.output[0].name: results})
