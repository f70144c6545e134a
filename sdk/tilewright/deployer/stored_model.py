"""A model as JSON and arrays: what a state on disk holds of it. Never pickle."""

from __future__ import annotations

import math
from dataclasses import astuple
from typing import Any

import numpy as np

from tilewright.model import (
    Array,
    Attribute,
    Clamp,
    DType,
    Length,
    Model,
    Node,
    Numerics,
    Part,
    Quantisation,
    State,
    Tensor,
    Window,
)

Arrays = dict[str, Array]
"""Arrays by the key that the JSON names them with."""


def _number(value: float) -> float | str:
    return value if math.isfinite(value) else repr(value)


def model_out(model: Model, arrays: Arrays, prefix: str) -> dict[str, Any]:
    """The JSON of a model; its arrays are added to `arrays`."""
    for name, value in model.constants.items():
        arrays[f"{prefix}/{name}"] = value
    tensors = {
        t.name: [t.dtype.value, list(t.shape), None if t.quantisation is None else
                 [list(t.quantisation.scale), list(t.quantisation.zero_point), t.quantisation.axis,
                  t.quantisation.numerics],
                 [[length.axis, length.count] for length in t.lengths], t.tells_end]
        for t in model.tensors.values()
    }  # fmt: skip
    nodes = [
        {"name": n.name, "op": n.op, "inputs": list(n.inputs), "outputs": list(n.outputs), "domain": n.domain,
         "part_of": n.part_of,
         "clamp": None if n.clamp is None else [_number(n.clamp.low), _number(n.clamp.high)],
         "attributes": {a: _attribute_out(v, arrays, f"{prefix}/{i}/{a}") for a, v in n.attributes.items()}}
        for i, n in enumerate(model.nodes)
    ]  # fmt: skip
    return {
        "name": model.name, "nodes": nodes, "tensors": tensors, "constants": list(model.constants),
        "inputs": list(model.inputs), "outputs": list(model.outputs), "opset": model.opset, "sha256": model.sha256,
        "quantisation_form": model.quantisation_form, "notes": list(model.notes), "unlike": list(model.unlike),
        "states": [_state_out(state, arrays, f"{prefix}/state/{state.past}") for state in model.states],
    }  # fmt: skip


def _quantisation_in(codes: Any) -> Quantisation:
    numerics: Numerics = "tflm" if codes[3:] == ["tflm"] else "exact"
    return Quantisation(tuple(codes[0]), tuple(codes[1]), codes[2], numerics)


def model_in(entry: Any, arrays: Arrays, prefix: str) -> Model:
    """The model that `model_out` wrote; KeyError, TypeError or ValueError where something is missing or wrong."""
    tensors = {}
    for name, (dtype, shape, codes, lengths, tells_end) in entry["tensors"].items():
        meaning = None if codes is None else _quantisation_in(codes)
        extents, bounds = tuple(int(extent) for extent in shape), tuple(Length(int(a), str(c)) for a, c in lengths)
        tensors[name] = Tensor(name, DType(dtype), extents, meaning, bounds, bool(tells_end))
    nodes = tuple(
        Node(
            n["name"], n["op"], tuple(n["inputs"]), tuple(n["outputs"]),
            {a: _attribute_in(v, arrays) for a, v in n["attributes"].items()}, n["domain"],
            None if n["clamp"] is None else Clamp(float(n["clamp"][0]), float(n["clamp"][1])),
            str(n.get("part_of", "")),
        )
        for n in entry["nodes"]
    )  # fmt: skip
    constants = {name: arrays[f"{prefix}/{name}"] for name in entry["constants"]}
    for name, value in constants.items():
        if value.shape != tensors[name].shape or value.dtype != tensors[name].dtype.numpy:
            raise ValueError(f"constant '{name}' is {value.dtype}{list(value.shape)}")
    return Model(
        entry["name"], nodes, tensors, constants, tuple(entry["inputs"]), tuple(entry["outputs"]), entry["opset"],
        entry["sha256"], entry["quantisation_form"], tuple(entry["notes"]),
        tuple(_state_in(one, arrays) for one in entry["states"]),
        unlike=tuple((str(name), str(word)) for name, word in entry["unlike"]),
    )  # fmt: skip


def _state_out(state: State, arrays: Arrays, key: str) -> dict[str, Any]:
    if state.initial is not None:
        arrays[key] = state.initial
    part = None if state.part is None else list(astuple(state.part))
    initial = None if state.initial is None else key
    window = None if state.window is None else list(astuple(state.window))
    return {"past": state.past, "present": state.present, "initial": initial, "part": part, "window": window}


def _state_in(entry: Any, arrays: Arrays) -> State:
    initial, part, window = entry["initial"], entry["part"], entry.get("window")
    return State(
        entry["past"], entry["present"], None if initial is None else arrays[initial],
        None if part is None else Part(str(part[0]), str(part[1]), *(tuple(map(int, axes)) for axes in part[2:])),
        None if window is None else Window(
            str(window[0]), str(window[1]), int(window[2]), int(window[3]), newest_first=bool(window[4])
        ),
    )  # fmt: skip


def _attribute_out(value: Attribute, arrays: Arrays, key: str) -> dict[str, Any]:
    if isinstance(value, np.ndarray):
        arrays[key] = value
        return {"array": key}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, tuple):
        kind = "float" if value and isinstance(value[0], float) else "plain"
        return {"tuple": [_number(v) if isinstance(v, float) else v for v in value], "of": kind}
    if isinstance(value, float):
        return {"float": _number(value)}
    return {"plain": value}


def _attribute_in(entry: Any, arrays: Arrays) -> Attribute:
    (kind, value), *_ = entry.items()
    attribute: Attribute
    if kind == "array":
        attribute = arrays[value]
    elif kind == "bytes":
        attribute = bytes.fromhex(value)
    elif kind == "tuple":
        attribute = tuple(float(v) for v in value) if entry["of"] == "float" else tuple(value)
    elif kind == "float":
        attribute = float(value)
    else:
        attribute = value
    return attribute
