"""Small networks for gradients: built from nodes, evaluated in NumPy, differentiated by differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from tilewright.gradient.differentiate import differentiate
from tilewright.gradient.network import Network
from tilewright.model import Array, Attribute, DType, Model, Node, Tensor
from tilewright.ops.registry import call_of

STEP = 1e-6


def network_of(
    op: str, arrays: Sequence[Array | None], attributes: Mapping[str, Attribute], fixed: Sequence[int], outputs: int
) -> Network:
    """One node over the arrays; those at `fixed` are constants, the others inputs x0, x1, ...; None is left out."""
    names = [f"x{index}" if array is not None else "" for index, array in enumerate(arrays)]
    given = {name: array for name, array in zip(names, arrays, strict=True) if array is not None}
    tensors = {name: Tensor(name, DType.of(array.dtype), array.shape) for name, array in given.items()}
    results = tuple(f"y{index}" for index in range(outputs))
    known = {index: given[names[index]] for index in fixed if names[index]}
    node = Node("node", op, tuple(names), results, dict(attributes))
    call = call_of(node, [tensors.get(name) for name in names], (), known)
    assert call.operator is not None
    for name, kind in zip(results, call.operator.infer(call), strict=False):
        tensors[name] = Tensor(name, kind.dtype, kind.shape)
    inputs = tuple(name for index, name in enumerate(names) if name and index not in fixed)
    constants = {names[index]: value for index, value in known.items()}
    return Network(Model("one", (node,), tensors, constants, inputs, results, 21))


def weighed_sum(network: Network, results: Sequence[str]) -> str:
    """A loss that tells every element of the results apart."""
    draw = np.random.default_rng(5)
    total = ""
    for name in results:
        tensor = network.tensor(name)
        weights = network.constant(draw.standard_normal(tensor.shape).astype(tensor.dtype.numpy))
        axes = network.constant(np.arange(len(tensor.shape), dtype=np.int64))
        part = network.node("ReduceSum", (network.node("Mul", (name, weights)), axes), {"keepdims": 0})
        total = network.node("Add", (total, part)) if total else part
    return total


def values(network: Network, given: Mapping[str, Array]) -> dict[str, Array]:
    """Every tensor of the network by the operators' own meaning."""
    known: dict[str, Array] = {**network.constants, **given}
    for node in network.nodes:
        call = network.call(node)
        assert call.operator is not None
        results = call.operator.evaluate(call, [known[name] if name else None for name in node.inputs])
        known |= {name: value for name, value in zip(node.outputs, results, strict=False) if name}
    return known


def gradients(network: Network, loss: str, wanted: Sequence[str]) -> dict[str, str]:
    """The names of the gradients."""
    found: dict[str, str] = {}
    differentiate(network, loss, wanted, found.__setitem__)
    return found


def differences(network: Network, loss: str, given: Mapping[str, Array], name: str) -> Array:
    """The gradient by one tensor from central differences, element by element."""
    slope = np.zeros_like(given[name])
    for place in np.ndindex(slope.shape):
        ends = []
        for sign in (1, -1):
            moved = given[name].copy()
            moved[place] += sign * STEP
            ends.append(values(network, {**given, name: moved})[loss].item())
        slope[place] = (ends[0] - ends[1]) / (2 * STEP)
    return slope
