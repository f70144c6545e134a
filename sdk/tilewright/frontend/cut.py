"""Cuts a model file open: the same network with intermediate tensors as outputs, to compare them with ONNX Runtime."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tilewright.errors import UsageError
from tilewright.frontend.names import nearest, quoted, unique
from tilewright.frontend.read import read
from tilewright.frontend.structure import check_structure
from tilewright.frontend.text import check_text

if TYPE_CHECKING:
    import onnx


def tensor_names(path: Path) -> frozenset[str]:
    """What can be cut: the tensors that nodes of the top graph write."""
    return frozenset(name for node in read(path).proto.graph.node for name in node.output if name)


def cut(path: Path, tensors: Iterable[str], *, only: bool = False) -> onnx.ModelProto:
    """The model with these tensors as further outputs, or with `only` them and without the nodes they do not need.

    External data stands in the message. UsageError for a tensor that no node of the file writes.
    """
    import onnx_graphsurgeon as gs
    from onnx_graphsurgeon.logger import G_LOGGER

    source = read(path)
    check_text(source.proto, source.file)
    check_structure(source.proto, source.file)
    with G_LOGGER.suppress():
        graph = gs.import_onnx(source.proto)
        known = {tensor.name: tensor for node in graph.nodes for tensor in node.outputs if tensor.name}
        _name_unused_parts([node for node in graph.nodes if node.op == "Split"], set(graph.tensors()))
        outputs = [] if only else list(graph.outputs)
        names = {tensor.name for tensor in outputs}
        for name in dict.fromkeys(tensors):
            if name not in known:
                what = f"there is no tensor {quoted(name)} in '{path}'"
                raise UsageError(what, fix=nearest(name, known), tensor=name, file=str(path))
            if name not in names:
                outputs.append(known[name])
        graph.outputs = outputs
        if only:
            graph.cleanup(recurse_functions=False)
        exported: onnx.ModelProto = gs.export_onnx(graph, do_type_check=False)
    exported.ir_version = source.proto.ir_version
    return exported


def _name_unused_parts(splits: list[Any], taken: set[str]) -> None:
    """Name the parts of a Split that are omitted: ONNX Runtime 1.31 crashes where one is."""
    for node in splits:
        for tensor in node.outputs:
            tensor.name = tensor.name or unique(f"{node.name}/unused", taken)
