"""A deployer's state on disk: one JSON file and one npz beside it, never pickle.

The JSON names the npz by its content's hash and carries a checksum of itself, and both are put in place by renaming,
the JSON last: a state is there whole or not at all. Bindings are not stored as code but as kernel names; restoring
binds anew and refuses where that gives other kernels than were exported.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import re
import tempfile
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.errors import StateError, UsageError
from tilewright.model import Array, Attribute, Clamp, DType, Model, Node, Quantisation, Tensor, restored
from tilewright.tiling.tiler import NodeTiling, Tiler, TilingSolution, memory_map_of, solution_of

if TYPE_CHECKING:
    from tilewright.deployer import NetworkDeployer

FORMAT = "tilewright deployer state"
VERSION = 1
LARGEST_JSON = 256 * 1024 * 1024
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")

Arrays = dict[str, Array]


def save(deployer: NetworkDeployer, folder: Path, file_name: str) -> Path:
    """Write the state; returns the JSON file. OrderError before the network is parsed."""
    from tilewright.deployer import OrderError

    if deployer.model is None or deployer.loaded is None or not deployer.parsed:
        raise OrderError("You need to parse the network before exporting its state!", fix="call front_end() first")
    path = _json_file(folder, file_name)
    arrays: Arrays = {}
    body: dict[str, Any] = {
        "platform": deployer.request.platform.name,
        "target": deployer.target.name,
        "levels": {level.name: level.size for level in deployer.request.levels},
        "loaded": _model_out(deployer.loaded, arrays, "loaded"),
        "model": _model_out(deployer.model, arrays, "model"),
        "bound": None,
        "tiling": None,
        "memory": None,
        "transformed": deployer.transformed,
    }
    if deployer.graph is not None and deployer.tiled is not None:
        body["bound"] = {b.call.node.name: b.kernel.name if b.kernel else None for b in deployer.graph.nodes}
        body["tiling"] = [_tiling_out(one) for one in solution_of(deployer.tiled)]
    if deployer.placed is not None:
        body["memory"] = {level: dict(offsets) for level, offsets in memory_map_of(deployer.placed).items()}
    packed = io.BytesIO()
    np.savez(packed, **{f"a{i}": value for i, value in enumerate(arrays.values())})  # type: ignore[arg-type]
    digest = _content(arrays)
    body["arrays"] = {"file": f"{file_name}-{digest[:16]}.npz", "names": list(arrays), "sha256": digest}
    document = {"format": FORMAT, "version": VERSION, "sha256": _checksum(body), "state": body}
    folder.mkdir(parents=True, exist_ok=True)
    _put(folder / body["arrays"]["file"], packed.getvalue())
    _put(path, json.dumps(document, indent=1).encode())
    for old in folder.glob(f"{file_name}-*.npz"):
        if old.name != body["arrays"]["file"] and re.fullmatch(re.escape(file_name) + r"-[0-9a-f]{16}\.npz", old.name):
            old.unlink()
    return path


def restore(deployer: NetworkDeployer, folder: Path, file_name: str) -> None:
    """Take over a state; the deployer is as it was where the state is refused."""
    path = _json_file(folder, file_name)
    body = _read(path)
    try:
        arrays = _read_arrays(path, body)
        if body["platform"] != deployer.request.platform.name:
            raise _refused(path, f"it is of platform '{body['platform']}', this is '{deployer.request.platform.name}'")
        loaded, model = _model_in(body["loaded"], arrays, "loaded"), _model_in(body["model"], arrays, "model")
        bound, tiling, memory = body["bound"], body["tiling"], body["memory"]
        solution = None if tiling is None else tuple(_tiling_in(one) for one in tiling)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise _refused(path, f"{type(error).__name__}: {error}") from error
    before = dict(vars(deployer))
    try:
        _take(deployer, path, loaded, model, bound, solution, memory, bool(body.get("transformed")))
    except BaseException:
        vars(deployer).clear()
        vars(deployer).update(before)
        raise


def _take(
    deployer: NetworkDeployer, path: Path, loaded: Model, model: Model, bound: Any, solution: TilingSolution | None,
    memory: Any, transformed: bool,
) -> None:  # fmt: skip
    deployer.loaded, deployer.model = loaded, model
    deployer.graph = deployer.tiled = deployer.placed = deployer.artifacts = None
    deployer.bound = deployer.transformed = deployer.prepared = False
    deployer.parse()
    if bound is None:
        return
    if not deployer.bind() or deployer.graph is None:
        raise _refused(path, f"its network cannot be bound here: {deployer.refusal}")
    for node in deployer.graph.nodes:
        name, now = node.call.node.name, node.kernel.name if node.kernel else None
        if bound.get(name, "nothing") != now:
            raise _refused(path, f"node '{name}' was bound to '{bound.get(name)}' and is now bound to '{now}'")
    tiler = Tiler(deployer.graph, deployer.request.levels)
    if solution is not None:
        deployer.tiled = _applied(path, tiler, solution)
    if memory is not None:
        try:
            deployer.placed = tiler.place(deployer.execution_plan(), memory, io=deployer.options.io)
        except UsageError as error:
            raise _refused(path, str(error)) from error
    if transformed:
        deployer.code_transform()
        deployer.prepared = True


def _applied(path: Path, tiler: Tiler, solution: TilingSolution) -> Any:
    try:
        return tiler.apply(solution)
    except UsageError as error:
        raise _refused(path, str(error)) from error


# ------------------------------------------------------------------------------------------------ files
def _json_file(folder: Path, file_name: str) -> Path:
    if not _NAME.fullmatch(file_name):
        raise UsageError(f"'{file_name}' is no name for a state", fix="use letters, digits, '.', '_' and '-'")
    return folder / f"{file_name}.json"


def _refused(path: Path, why: str) -> StateError:
    return StateError(f"the state in '{path.name}' cannot be used", why=why, fix="export it again", file=str(path))


def _checksum(body: object) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def _content(arrays: Mapping[str, Array]) -> str:
    """A hash of names, types, shapes and bytes: npz files carry times, contents do not."""
    found = hashlib.sha256()
    for name, value in arrays.items():
        found.update(f"{name} {value.dtype.str} {value.shape}\n".encode())
        found.update(np.ascontiguousarray(value).tobytes())
    return found.hexdigest()


def _put(file: Path, content: bytes) -> None:
    """Write one file whole or not at all."""
    handle, name = tempfile.mkstemp(prefix=".tilewright-", dir=file.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        os.replace(name, file)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


def _read(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > LARGEST_JSON:
            raise _refused(path, f"it has more than {LARGEST_JSON} bytes")
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise StateError(f"the state '{path.name}' cannot be read", why=str(error), file=str(path)) from error
    except (ValueError, RecursionError) as error:
        raise _refused(path, f"it is no JSON: {error}") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise _refused(path, "it is no state of a deployer")
    if document.get("version") != VERSION:
        raise _refused(path, f"it has version {document.get('version')}, this is version {VERSION}")
    body = document.get("state")
    if not isinstance(body, dict) or document.get("sha256") != _checksum(body):
        raise _refused(path, "its checksum is wrong, it was changed or damaged")
    return body


def _read_arrays(path: Path, body: Mapping[str, Any]) -> Arrays:
    entry = body["arrays"]
    file = path.parent / Path(entry["file"]).name
    try:
        with np.load(io.BytesIO(file.read_bytes()), allow_pickle=False) as stored:
            arrays = {name: restored(stored[f"a{i}"]) for i, name in enumerate(entry["names"])}
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise _refused(path, f"its arrays in '{file.name}' cannot be read: {error}") from error
    if _content(arrays) != entry["sha256"]:
        raise _refused(path, f"the checksum of '{file.name}' is wrong")
    return arrays


# ------------------------------------------------------------------------------------------------ values
def _tiling_out(one: NodeTiling) -> dict[str, Any]:
    return {"nodes": list(one.nodes), "sizes": dict(one.sizes), "order": list(one.order), "double": one.double,
            "constants": one.constants}  # fmt: skip


def _tiling_in(one: Any) -> NodeTiling:
    sizes = {str(name): int(size) for name, size in one["sizes"].items()}
    return NodeTiling(tuple(one["nodes"]), sizes, tuple(one["order"]), bool(one["double"]), str(one["constants"]))


def _number(value: float) -> float | str:
    return value if math.isfinite(value) else repr(value)


def _model_out(model: Model, arrays: Arrays, prefix: str) -> dict[str, Any]:
    for name, value in model.constants.items():
        arrays[f"{prefix}/{name}"] = value
    tensors = {
        t.name: [t.dtype.value, list(t.shape), None if t.quantisation is None else
                 [list(t.quantisation.scale), list(t.quantisation.zero_point), t.quantisation.axis]]
        for t in model.tensors.values()
    }  # fmt: skip
    nodes = [
        {"name": n.name, "op": n.op, "inputs": list(n.inputs), "outputs": list(n.outputs), "domain": n.domain,
         "clamp": None if n.clamp is None else [_number(n.clamp.low), _number(n.clamp.high)],
         "attributes": {a: _attribute_out(v, arrays, f"{prefix}/{i}/{a}") for a, v in n.attributes.items()}}
        for i, n in enumerate(model.nodes)
    ]  # fmt: skip
    return {
        "name": model.name, "nodes": nodes, "tensors": tensors, "constants": list(model.constants),
        "inputs": list(model.inputs), "outputs": list(model.outputs), "opset": model.opset, "sha256": model.sha256,
        "quantisation_form": model.quantisation_form, "notes": list(model.notes),
    }  # fmt: skip


def _model_in(entry: Any, arrays: Arrays, prefix: str) -> Model:
    tensors = {}
    for name, (dtype, shape, codes) in entry["tensors"].items():
        meaning = None if codes is None else Quantisation(tuple(codes[0]), tuple(codes[1]), codes[2])
        tensors[name] = Tensor(name, DType(dtype), tuple(int(extent) for extent in shape), meaning)
    nodes = tuple(
        Node(
            n["name"], n["op"], tuple(n["inputs"]), tuple(n["outputs"]),
            {a: _attribute_in(v, arrays) for a, v in n["attributes"].items()}, n["domain"],
            None if n["clamp"] is None else Clamp(float(n["clamp"][0]), float(n["clamp"][1])),
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
    found: Attribute
    if kind == "array":
        found = arrays[value]
    elif kind == "bytes":
        found = bytes.fromhex(value)
    elif kind == "tuple":
        found = tuple(float(v) for v in value) if entry["of"] == "float" else tuple(value)
    elif kind == "float":
        found = float(value)
    else:
        found = value
    return found
