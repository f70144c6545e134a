"""What stays float after the lowering, for the report and for `--integer-only`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tilewright.errors import UnsupportedError
from tilewright.model import Model, Node
from tilewright.ops.codes import Converts
from tilewright.ops.registry import codes_of

Readers = Mapping[str, Sequence[Node]]
Writers = Mapping[str, Node]


@dataclass(frozen=True)
class QuantisationReport:
    """The spelling that was read ("" for a float network), the tensors that hold floats at run time, in order.

    `first_float_node` is the first node that computes with floats, "" where none does; QuantizeLinear and
    DequantizeLinear at the border do not count, nor do their float inputs and outputs.
    """

    form: str
    float_tensors: tuple[str, ...]
    first_float_node: str


def quantisation_report(model: Model) -> QuantisationReport:
    """What a lowered model still computes in float."""
    readers, writers = model.consumers(), model.producers()
    border = _border_tensors(model, readers, writers)
    nodes = [node for node in model.nodes if _computes_float(model, node, border, readers, writers)]
    tensors: dict[str, None] = {}
    for node in nodes:
        for name in (*node.inputs, *node.outputs):
            if name and name not in model.constants and model.tensors[name].dtype.is_float:
                tensors[name] = None
    return QuantisationReport(model.quantisation_form, tuple(tensors), nodes[0].name if nodes else "")


def _border_tensors(model: Model, readers: Readers, writers: Writers) -> set[str]:
    """Float inputs that are only quantised, and outputs that are a DequantizeLinear."""
    border = {
        name
        for name in model.inputs
        if readers[name] and all(reader.op == "QuantizeLinear" for reader in readers[name])
    }
    for name in model.outputs:
        writer = writers.get(name)
        if writer is not None and writer.op == "DequantizeLinear" and not readers[name]:
            border.add(name)
    return border


def _computes_float(model: Model, node: Node, border: set[str], readers: Readers, writers: Writers) -> bool:
    """True for a node with a float at run time that is no conversion; a conversion counts where no other node does."""
    floats = [
        name
        for name in (*node.inputs, *node.outputs)
        if name and name not in model.constants and model.tensors[name].dtype.is_float and name not in border
    ]
    if not floats:
        return False
    if not isinstance(codes_of(node), Converts):
        return True
    # A conversion inside the network stands beside the node that computes floats, which is named instead.
    beside = [writers.get(name) for name in floats] if node.op == "QuantizeLinear" else readers[node.outputs[0]]
    return not any(other is not None and not isinstance(codes_of(other), Converts) for other in beside)


def require_integers(model: Model) -> None:
    """`--integer-only`: UnsupportedError that names the first node of a lowered model that stays float."""
    report = quantisation_report(model)
    if not report.first_float_node:
        return
    node = next(node for node in model.nodes if node.name == report.first_float_node)
    if not report.form:
        why, fix = "the network is not quantised", "quantise it, for instance with onnxruntime.quantization"
    else:
        why = "its operands or its result have no quantisation, so it computes in float"
        fix = "put QuantizeLinear and DequantizeLinear around it, try --real fixed, or compile without --integer-only"
    tensor = next(filter(None, node.outputs))
    raise UnsupportedError(
        f"node '{node.name}' ({node.op}) stays float", why=why, fix=fix, node=node.name, tensor=tensor
    )
