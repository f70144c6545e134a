"""What types cost on a target: bytes of each level and modelled cycles, as compiling tells them.

Three networks are compiled: of 8 bits, with all weights of 4, and with 16 bits wherever they can be. What a single
layer adds follows from these; what is chosen is compiled again and checked.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tilewright.compile import compile_model
from tilewright.frontend.write import to_onnx
from tilewright.options import CompileOptions
from tilewright.quantiser.static.quantise import Basis, Types, choice_of
from tilewright.quantiser.static.sensitivity import widenable
from tilewright.quantiser.static.write import written
from tilewright.report.build import Report
from tilewright.report.costs import cost_of, in_cycles
from tilewright.target import Target

PACKED = CompileOptions(optimize="size", disabled_passes=frozenset(("kernels",)))
"""How a network with weights of 4 bits is compiled for these to stay packed: one channel is unpacked into scratch at a
time, for which no other kernel may be taken."""
CYCLES = "cycles"
"""How a budget calls the modelled cost of one inference; other words are levels of memory."""


@dataclass(frozen=True)
class Costs:
    """Of the network of 8 bits `base`, by level and `CYCLES`, of that with weights of 4 bits alone `smallest`. What a
    layer of 4 bits and a group of 16 add is in `narrow` and `wide`, what any layer of 4 bits adds in code, in the level
    `store`, is `unpacking`; bytes of activations stand in `live`: at each node, the groups that live there, in bytes of
    8 bits, on the level `home`, of which `others` are no activations; `layers` are the cycles of each at 8 bits."""

    base: Mapping[str, int]
    smallest: Mapping[str, int]
    store: str
    unpacking: int
    narrow: Mapping[str, Mapping[str, int]]
    wide: Mapping[str, Mapping[str, int]]
    live: tuple[Mapping[str, int], ...]
    home: str
    others: int
    layers: Mapping[str, int]


def needs(report: Report) -> dict[str, int]:
    """Bytes of each level, and modelled cycles."""
    cycles = in_cycles(report.layers)
    sizes = {name: level.total for name, level in report.memory.items()}
    return {**sizes, CYCLES: sum(cost_of(layer, cycles=cycles)[0] for layer in report.layers if not layer.fused_into)}


def report_of(basis: Basis, types: Types, target: Target) -> Report:
    """What compiling tells of the network with these types."""
    choice, _ = choice_of(basis, types)
    proto = to_onnx(written(basis.model, basis.points, choice).model)
    with tempfile.TemporaryDirectory(prefix="tilewright-quantize-") as folder:
        file = Path(folder) / "network.onnx"
        file.write_bytes(proto.SerializeToString(deterministic=True))
        return compile_model(file, PACKED if types.narrow else CompileOptions(), target).report


def costs_of(basis: Basis, target: Target) -> Costs:
    """Compile the three networks and divide what they differ in among layers and groups."""
    layers, groups = basis.points.weighted, widenable(basis)
    plain = report_of(basis, Types(), target)
    base = needs(plain)
    four = report_of(basis, Types(narrow=frozenset(one.node for one in layers)), target)
    sixteen = report_of(basis, Types(wide=frozenset(group.name for group in groups)), target)
    cycles = [_by_layer(report) for report in (plain, four, sixteen)]
    store = max(plain.memory, key=lambda name: plain.memory[name].constants)
    narrow = {
        one.node: {
            store: -(basis.model.tensors[one.weights].elements // 2),
            CYCLES: cycles[1].get(one.node, 0) - cycles[0].get(one.node, 0),
        } for one in layers
    }  # fmt: skip
    readers = basis.model.consumers()
    wide = {
        group.name: {
            CYCLES: sum(
                cycles[2].get(node.name, 0) - cycles[0].get(node.name, 0)
                for name in group.tensors for node in readers[name] if node.inputs[0] == name
            )
        } for group in groups
    }  # fmt: skip
    home = max(plain.memory, key=lambda name: plain.memory[name].activations)
    live = _live(basis)
    most = max((sum(sizes.values()) for sizes in live), default=0)
    smallest = needs(four)
    unpacking = max(smallest[store] - base[store] - sum(each[store] for each in narrow.values()), 0)
    others = max(base[home] - most, 0)
    return Costs(base, smallest, store, unpacking, narrow, wide, live, home, others, cycles[0])


def _by_layer(report: Report) -> dict[str, int]:
    """The cost of every layer, of those too that are computed row by row inside of another."""
    cycles = in_cycles(report.layers)
    inner = {one.name: one.estimated_cost or 0 for layer in report.layers for one in layer.members}
    return {**inner, **{layer.name: cost_of(layer, cycles=cycles)[0] for layer in report.layers}}


def _live(basis: Basis) -> tuple[Mapping[str, int], ...]:
    """At each node the bytes of every group that is read there or later, or written."""
    model, group_of = basis.model, basis.points.group_of
    last = {name: place for place, node in enumerate(model.nodes) for name in node.inputs if name in group_of}
    last |= {name: len(model.nodes) for name in model.outputs}
    born = {name: place for place, node in enumerate(model.nodes) for name in node.outputs if name in group_of}
    born |= {name: 0 for name in model.inputs if name in group_of}
    moments = []
    for place in range(len(model.nodes)):
        sizes = dict[str, int]()
        for name, start in born.items():
            if start <= place <= last.get(name, start):
                group = group_of[name].name
                sizes[group] = sizes.get(group, 0) + model.tensors[name].elements
        moments.append(sizes)
    return tuple(moments)
