"""A Scan of opset 8: a batch of scans, one Scan of opset 9 for each element of the batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

import numpy as np

from tilewright.errors import UnsupportedNode
from tilewright.frontend.opset import invalid
from tilewright.frontend.raw import Body, RawAttribute, RawNode
from tilewright.model import Array, DType, Tensor

_OPSETS = {"": 17}


class Surroundings(Protocol):
    """The graph that the node stands in, as far as it has been walked."""

    @property
    def tensors(self) -> Mapping[str, Tensor]:
        """Types of tensors by name."""

    @property
    def constants(self) -> Mapping[str, Array]:
        """Values that are known, by the name of their tensor."""

    def add_constant(self, name: str, dtype: DType, array: Array) -> None:
        """Note a constant."""

    def fresh(self, name: str) -> str:
        """A tensor name that nothing has yet."""


def by_batch(node: RawNode, body: Body, reads: int, graph: Surroundings) -> tuple[RawNode, ...]:
    """A Scan of opset 8, which has a batch axis of everything before the axis of its turns, as Scans of opset 9.

    Source: https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Scan-8. ModelError where the batches differ,
    UnsupportedNode where turns are fewer than there are elements, since the standard leaves what is behind them open.
    """
    lengths, *operands = node.inputs
    if not operands or not all(operands) or len(node.outputs) != len(body.outputs):
        raise invalid(
            node, f"it takes {len(operands)} and gives {len(node.outputs)} tensors, its body gives {len(body.outputs)}"
        )
    shapes = [graph.tensors[name].shape for name in operands]
    batches = {shape[:1] for shape in shapes}
    turns = {shape[1:2] for shape in shapes[len(shapes) - reads :]}
    if len(batches) != 1 or len(turns) != 1 or () in batches | turns or (0,) in batches | turns:
        raise invalid(node, f"its operands of shapes {shapes} do not have one batch and one number of turns")
    ((batch,),), ((steps,),) = batches, turns
    if lengths and not _whole(lengths, steps, graph):
        raise UnsupportedNode(
            node.where(), why="it takes fewer iterations for some sequences, and what lies behind them has no value",
            fix="leave out its first input, or export the model with opset 9 or newer", node=node.label, tensor=lengths,
        )  # fmt: skip
    attributes: dict[str, RawAttribute] = {"body": body, "num_scan_inputs": reads}
    if "directions" in node.attributes:
        attributes["scan_input_directions"] = node.attributes["directions"]
    nodes, results = list[RawNode](), list[tuple[str, ...]]()
    axis = graph.fresh(f"{node.label}/axis")
    graph.add_constant(axis, DType.I64, np.array([0], np.int64))
    for number in range(batch):
        index, parts = graph.fresh(f"{node.label}/batch"), list[str]()
        graph.add_constant(index, DType.I64, np.array(number, np.int64))
        for name in operands:
            parts.append(graph.fresh(f"{name}/{number}"))
            nodes.append(RawNode(parts[-1], "Gather", (name, index), (parts[-1],), {"axis": 0}, opsets=_OPSETS))
        made = tuple(graph.fresh(f"{node.label}/{number}/{name}") for name in body.outputs)
        scan = replace(node, name=f"{node.label}/{number}", inputs=tuple(parts), outputs=made, attributes=attributes,
                       opsets={**node.opsets, "": 9})  # fmt: skip
        rows = tuple(graph.fresh(f"{name}/row") for name in made)
        nodes.append(scan)
        nodes += [
            RawNode(row, "Unsqueeze", (name, axis), (row,), opsets={"": 17})
            for name, row in zip(made, rows, strict=True)
        ]
        results.append(rows)
    for at, target in enumerate(node.outputs):
        if target:
            rows = tuple(each[at] for each in results)
            nodes.append(RawNode(f"{node.label}/{target}", "Concat", rows, (target,), {"axis": 0}, opsets=_OPSETS))
    return tuple(nodes)


def _whole(lengths: str, steps: int, graph: Surroundings) -> bool:
    """True where all sequences are known to be as long as there are elements."""
    known = graph.constants.get(lengths)
    return known is not None and bool((known == steps).all())
