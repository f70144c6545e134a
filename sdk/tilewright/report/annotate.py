"""The user's own ONNX file with what became of each node, as metadata and text that Netron shows."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright.errors import ModelError, UsageError
from tilewright.report.build import LayerReport, Report, ResultReport
from tilewright.report.text import number, printable
from tilewright.tflite.convert import to_onnx
from tilewright.tflite.file import is_tflite

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

PREFIX = "tilewright."


def annotate(report: Report, file: Path) -> bytes:
    """The model of a report with `tilewright.*` metadata and a sentence for every node that a layer computes.

    UsageError where the file is another model, ModelError where it cannot be written as one file.
    """
    content = file.read_bytes()
    model = read_file(file)
    if report.model.sha256 != hashlib.sha256(content).hexdigest() and (
        is_tflite(content) or not model_has_data_outside(content)
    ):
        raise UsageError(
            f"'{file.name}' is not the model of this report",
            why=f"the report is of '{report.model.name}' with sha256 {report.model.sha256[:12]}",
            fix="name the file that was compiled, or compile this one",
            file=str(file),
        )
    for node, layer in layers_of(report, model).items():
        _describe(model.graph.node[node], layer, [part for part in report.layers if part.part_of == layer.name])
    entries = {"target": report.target, "platform": report.platform, "version": report.tool.version}
    entries |= {f"{name}_bytes": str(level.worst_case) for name, level in report.memory.items()}
    for key, value in entries.items():
        model.metadata_props.add(key=PREFIX + key, value=value)
    try:
        written: bytes = model.SerializeToString()
    except ValueError as error:
        raise ModelError(f"'{file.name}' cannot be written as one file", why=str(error), file=str(file)) from error
    return written


def read_file(file: Path) -> ModelProto:
    """The model of a file with the weights that lie beside it; ModelError where it cannot be read."""
    import onnx

    content = file.read_bytes()
    try:
        if is_tflite(content):
            return to_onnx(content, file.stem)
        model = onnx.load_model_from_string(content)
        onnx.load_external_data_for_model(model, str(file.parent))
    except Exception as error:
        raise ModelError(f"'{file.name}' cannot be read", why=str(error), file=str(file)) from error
    return model


def model_has_data_outside(content: bytes) -> bool:
    """True where weights lie beside the file; the report's hash covers them too."""
    import onnx

    tensors = onnx.load_model_from_string(content).graph.initializer
    return any(onnx.external_data_helper.uses_external_data(tensor) for tensor in tensors)


def layers_of(report: Report, model: ModelProto) -> dict[int, LayerReport]:
    """The layer that computes each node, by the node's number: its own, or that of the results which it leads to.

    Nodes that were folded away, and those of bodies of functions and branches, belong to no layer.
    """
    nodes = model.graph.node
    maker = {name: index for index, node in enumerate(nodes) for name in node.output if name}
    named = {layer.name: layer for layer in report.layers}
    layer_of = {index: named[node.name] for index, node in enumerate(nodes) if node.name in named}
    for layer in report.layers:
        layer_of |= {maker[result.tensor]: layer for result in layer.results if result.tensor in maker}
    waiting = [(index, layer) for index, layer in layer_of.items()]
    while waiting:
        index, layer = waiting.pop()
        for taken in nodes[index].input:
            before = maker.get(taken, -1)
            if before >= 0 and before not in layer_of:
                layer_of[before] = layer
                waiting.append((before, layer))
    return layer_of


def _describe(node: NodeProto, layer: LayerReport, parts: Sequence[LayerReport]) -> None:
    mine = [result for result in layer.results if result.tensor in node.output]
    for key, value in _entries(layer, mine, parts).items():
        node.metadata_props.add(key=PREFIX + key, value=value)
    words = f"tilewright: {printable(layer.name)} by {layer.kernel}"
    words += f" on {layer.engine}" if layer.engine else ""
    several = f"{number(len(parts))} parts" if len(parts) > 1 else "a part"
    words += f" from {several} by {', '.join(sorted({part.kernel for part in parts}))}" if parts else ""
    words += f", {number(layer.instructions)} instructions" if layer.instructions is not None else ""
    words += "".join(f", {number(result.bytes)} B at {_address(result)}" for result in mine)
    words += "" if mine else ", inside of the layer"
    node.doc_string = f"{node.doc_string}\n{words}" if node.doc_string else words


def _entries(layer: LayerReport, mine: list[ResultReport], parts: Sequence[LayerReport]) -> Mapping[str, str]:
    """Metadata of a node; what is unknown is left out. `parts` are the layers that compute parts of it."""
    entries: dict[str, object] = {
        "layer": layer.name,
        "parts": " ".join(part.name for part in parts) or None,
        "kernel": layer.kernel,
        "engine": layer.engine or None,
        "numerics": layer.numerics,
        "macs": layer.macs,
        "tile": " ".join(f"{loop}={size}" for loop, size in layer.tile.items()) if layer.tile else None,
        "instructions": layer.instructions,
        "cycles": layer.cycles,
        "result_bytes": sum(result.bytes for result in mine) if mine else None,
        "address": " ".join(_address(result) for result in mine) or None,
        "max_abs_error": layer.max_abs_error,
        "max_lsb_error": layer.max_lsb_error,
    }
    return {key: printable(str(value)) for key, value in entries.items() if value is not None}


def _address(result: ResultReport) -> str:
    """`ram+1024`, counted from the start of the arena; `caller` for memory that the application passes."""
    return f"{result.level}+{result.offset}" if result.offset is not None else "caller"
