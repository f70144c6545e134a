"""From an ONNX file to its PyTorch mirror, and from trained weights back to an ONNX file."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tilewright.binding.graph import BoundGraph
from tilewright.errors import UnsupportedError, UsageError
from tilewright.export.pytorch import PyTorchOptions, emit
from tilewright.export.torch_constants import ConstantBinding
from tilewright.frontend.read import read
from tilewright.model import Array, Shape
from tilewright.safetensors import TensorFile

if TYPE_CHECKING:
    import onnx


def bound_graph(
    source: Path,
    *,
    target: str = "host",
    shapes: Mapping[str, Shape] | None = None,
    without_passes: Collection[str] = (),
) -> BoundGraph:
    """The graph that the SDK deploys on a target: loaded, lowered, optimised and bound."""
    from tilewright.binding.bind import bind
    from tilewright.compile import model_name
    from tilewright.frontend.load import load
    from tilewright.options import CompileOptions, StateWish
    from tilewright.passes.driver import run
    from tilewright.passes.quantise.lower import lower
    from tilewright.schedule.request import make_request
    from tilewright.target import load_target

    options = CompileOptions(shapes=dict(shapes or {}), disabled_passes=frozenset(without_passes))
    request = make_request(source, options, load_target(target))
    loaded = load(source, shapes=options.shapes, frozen={}, name=model_name(source), state=StateWish(()))
    model, _ = run(lower(loaded), disabled=tuple(options.disabled_passes))
    return bind(model, request.platform, request.kernels)


def return_weights(source: Path, weights: TensorFile, graph: BoundGraph) -> bytes:
    """The ONNX file with the constants of a mirror's state put in the place of its own.

    `graph` is the one that the mirror was written from. UsageError where the weights belong to another model or do not
    fit; UnsupportedError for a changed constant that no initialiser holds as it is, because a pass computed it.
    """
    module = emit(graph, PyTorchOptions())
    known = weights.metadata.get("model_sha256", module.sha256)
    if known != module.sha256:
        raise UsageError(
            f"the weights belong to another model than '{source}'", why=f"they were made for sha256 {known[:16]}...",
            fix="pass the model that the module was exported from", file=str(source),
        )  # fmt: skip
    proto = read(source).proto
    stored = _stored_tensors(proto.graph)
    for binding in module.constants:
        if binding.attribute in weights.arrays:
            _put(binding, weights.arrays[binding.attribute], stored)
    attributes = {binding.attribute for binding in module.constants} | module.tables
    unknown = [name for name in weights.arrays if name not in attributes]
    if unknown:
        raise UsageError(f"tensor '{unknown[0]}' is no constant of '{source}'", fix="pass the state of the same module")
    data: bytes = proto.SerializeToString(deterministic=True)
    return data


def sha256_of(data: bytes) -> str:
    """The hash by which a model is known."""
    return hashlib.sha256(data).hexdigest()


def _stored_tensors(graph: onnx.GraphProto) -> dict[str, onnx.TensorProto]:
    """The tensors that a graph stores, by the name under which nodes read them."""
    tensors = {tensor.name: tensor for tensor in graph.initializer}
    for node in graph.node:
        for attribute in node.attribute:
            if node.op_type == "Constant" and attribute.name == "value":
                tensors[node.output[0]] = attribute.t
    return tensors


def _put(binding: ConstantBinding, value: Array, stored: Mapping[str, onnx.TensorProto]) -> None:
    """Write one constant where the model stores it; nothing where it did not change."""
    import onnx

    full = _full(binding, value)
    if np.array_equal(full, binding.value):
        return
    for name in (binding.name, *stored):
        tensor = stored.get(name)
        if tensor is None or (fitted := _fitting(onnx.numpy_helper.to_array(tensor), binding, full)) is None:
            continue
        tensor.CopyFrom(onnx.numpy_helper.from_array(fitted, tensor.name))
        return
    raise UnsupportedError(
        f"constant '{binding.name}' was trained and has no place in the model",
        why="a pass computed it from other constants",
        fix="export and import with --without-pass, for instance batch_norm",
        tensor=binding.name,
    )


def _full(binding: ConstantBinding, value: Array) -> Array:
    """The whole constant in its own type, from what the attribute holds."""
    shape, dtype = binding.tensor.shape, binding.tensor.dtype.numpy
    if len(shape) == 2 and value.shape == shape[1:]:
        value = np.broadcast_to(value, shape)
    if value.shape != shape:
        raise UsageError(
            f"tensor '{binding.attribute}' has the shape {list(value.shape)}",
            why=f"the model's constant '{binding.name}' has {list(shape)}", fix="pass the state of the same module",
        )  # fmt: skip
    if not np.isfinite(value).all():
        raise UsageError(f"tensor '{binding.attribute}' holds values that are not finite", fix="train it again")
    return np.asarray(value).astype(dtype)


def _fitting(original: Array, binding: ConstantBinding, full: Array) -> Array | None:
    """The new value in the form of a stored tensor that held the old one, as it is, reshaped or transposed."""
    old = binding.value
    if original.dtype != old.dtype or original.size != old.size:
        return None
    if original.size and np.array_equal(original.reshape(-1), old.reshape(-1)):
        return full.reshape(original.shape)
    if old.ndim == 2 and original.shape == old.shape[::-1] and np.array_equal(original, old.T):
        return np.ascontiguousarray(full.T)
    return None
