"""What the tests of the PyTorch mirror share: emitting one, loading it, running it."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tilewright.binding.graph import BoundGraph
from tilewright.export.mirror import bound_graph
from tilewright.export.pytorch import PyTorchModule, PyTorchOptions, emit
from tilewright.plan.execute import evaluate_call

OURS = (
    "ad_int8 digits digits_int8 dscnn dscnn_int8 odd_lstm odd_mobile odd_mobile_int8 odd_several odd_temporal "
    "odd_temporal_int8 odd_transformer odd_unet odd_unet_int8 resnet8_int8 vww_int8"
).split()


def emitted(model: Path, options: PyTorchOptions | None = None) -> PyTorchModule:
    """The mirror of a network."""
    return emit(bound_graph(model), options)


def load(module: PyTorchModule, folder: Path, name: str) -> Any:
    """The Python module, written into `folder` and imported."""
    (folder / f"{name}.py").write_text(module.source)
    if module.weights:
        weights_name = next(line.split('"')[1] for line in module.source.splitlines() if "with_name(" in line)
        (folder / weights_name).write_bytes(module.weights_file())
    spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def outputs_of(network: Any, inputs: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """What a PyTorch module computes from NumPy arrays; bfloat16, which PyTorch does not hand to NumPy, as float32."""
    import torch

    with torch.no_grad():
        found = network(*(torch.from_numpy(np.array(array)) for array in inputs))
    results = found if isinstance(found, tuple) else (found,)
    return [(value.float() if value.dtype is torch.bfloat16 else value).numpy() for value in results]


def executed(graph: BoundGraph, inputs: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """What the operators of a bound graph mean, by the NumPy executor's own rule for each call."""
    values: dict[str, NDArray[Any]] = dict(zip(graph.model.inputs, inputs, strict=True)) | dict(graph.model.constants)
    for node in graph.nodes:
        arrays = [values[name] if name else None for name in node.call.node.inputs]
        for tensor, result in zip(node.call.outputs, evaluate_call(node.call, arrays), strict=True):
            values[tensor.name] = result
    return [values[name] for name in graph.model.outputs]
