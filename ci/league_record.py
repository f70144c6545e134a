"""What a game of `ci/league` left: one cell for a network on a target, all in docs/league.json."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from tilewright.compile import Compiled
from tilewright.model import DType
from tilewright.ops.operator import Call
from tilewright.report.build import LayerReport, MemberReport, Report
from tilewright.report.chains import Line, lines

FLOATS = frozenset({DType.F16, DType.BF16, DType.F32, DType.F64})
SHARE = 0.05
"""The part of a network from which on a layer is remembered."""


@dataclass(frozen=True)
class Part:
    """A node of a layer that computes several: its products and results, and what it is estimated to cost."""

    name: str
    op: str
    kernel: str
    products: int
    results: int
    codes: bool
    estimated: int


@dataclass(frozen=True)
class Layer:
    """One layer: what computes it, what it took, how many products and results it has, whether these are codes; the
    nodes of one that computes several.
    """

    name: str
    op: str
    kernel: str
    count: int
    products: int
    results: int
    codes: bool
    parts: tuple[Part, ...] = ()

    @property
    def dearness(self) -> float:
        """Instructions of a product, of a result where there are no products."""
        return self.count / max(1, self.products or self.results)


@dataclass(frozen=True)
class Cell:
    """One network on one target; `refused` says why there are no figures.

    `ram` and `flash` are bytes with stack and code; `count` instructions of one inference, cycles on GVSoC.
    `equal` is whether the target computes what NumPy does, `unexplained` how many elements of the layers differ from
    ONNX Runtime's without a reason in its rounding. `layers` are those of at least `SHARE`.
    """

    ram: int = 0
    flash: int = 0
    count: int = 0
    products: int = 0
    equal: bool = False
    unexplained: int = 0
    layers: tuple[Layer, ...] = ()
    refused: str = ""


@dataclass
class Record:
    """All cells by network and target."""

    cells: dict[str, dict[str, Cell]] = field(default_factory=dict)

    def put(self, network: str, target: str, cell: Cell) -> None:
        """Remember a cell in the place of an older one."""
        self.cells.setdefault(network, {})[target] = cell

    def of(self, target: str) -> Iterator[tuple[str, Cell]]:
        """Networks with their cell on a target, by name."""
        for network in sorted(self.cells):
            if target in self.cells[network]:
                yield network, self.cells[network][target]

    def text(self) -> str:
        """As JSON, a line for a layer."""
        lines = []
        for network, targets in sorted(self.cells.items()):
            for target, cell in sorted(targets.items()):
                plain = asdict(cell)
                plain.pop("layers")
                layers = [json.dumps(values_of(layer)) for layer in cell.layers]
                rows = ",\n   ".join(layers)
                lines.append(f'["{network}", "{target}", {json.dumps(plain)}, [{rows}]]')
        return "[\n" + ",\n".join(lines) + "\n]\n"


def values_of(layer: Layer) -> list[Any]:
    """A layer as a list, its parts as lists where it has some."""
    *values, parts = astuple(layer)
    return [*values, [list(part) for part in parts]] if parts else values


def layer_of(values: Sequence[Any]) -> Layer:
    """What `values_of` wrote."""
    parts: list[Any] = values[-1] if isinstance(values[-1], list) else []
    return replace(Layer(*values[: len(fields(Layer)) - 1]), parts=tuple(Part(*part) for part in parts))


def read(path: Path) -> Record:
    """The record of a file, an empty one where there is none."""
    record = Record()
    stored: Sequence[Any] = json.loads(path.read_text()) if path.exists() else []
    for network, target, plain, layers in stored:
        record.put(network, target, Cell(**plain, layers=tuple(map(layer_of, layers))))
    return record


def recurrent_products(call: Call) -> int:
    """Products of an LSTM, GRU or RNN, whose work the report does not count: every weight, in each step."""
    if call.node.op not in ("LSTM", "GRU", "RNN"):
        return 0
    steps, batch, _ = call.shape(0)
    return steps * batch * (call.tensor(1).elements + call.tensor(2).elements)


def elements_of(call: Call) -> int:
    """What a layer without products is measured by: its results; what it reads where it reduces or selects."""
    reduces = call.node.op.startswith(("Reduce", "Global", "Arg")) or call.node.op == "TopK"
    return call.tensor(0).elements if reduces else sum(tensor.elements for tensor in call.outputs)


def has_codes(call: Call) -> bool:
    """True where every result is of whole numbers."""
    return all(tensor.dtype not in FLOATS for tensor in call.outputs)


def part_of(layer: LayerReport | MemberReport, call: Call) -> Part:
    """One node of several."""
    return Part(
        layer.name, layer.op, layer.kernel, layer.macs, elements_of(call), has_codes(call), layer.estimated_cost or 0
    )


def parts_of(line: Line, calls: Mapping[str, Call]) -> tuple[Part, ...]:
    """The nodes of layers that are computed together, band by band or tile by tile."""
    if len(line.group) > 1:
        return tuple(part_of(layer, calls[layer.name]) for layer in line.group if layer.name in calls)
    call = calls.get(line.layer.name)
    inner = {each.node.name: each for each in call.chain} if call else {}
    return tuple(part_of(member, inner[member.name]) for member in line.layer.members if member.name in inner)


def layer_of_line(line: Line, call: Call | None, count: int, macs: int, parts: tuple[Part, ...]) -> Layer:
    """A layer, or a chain of them under the names of its first and last one."""
    layer = line.layer
    elements = elements_of(call) if call else sum(result.bytes for result in layer.results)
    codes = call is not None and has_codes(call)
    if len(line.group) == 1:
        return Layer(layer.name, layer.op, layer.kernel, count, macs, elements, codes, parts)
    name = f"{line.group[0].name} to {line.group[-1].name}"
    return Layer(name, "Chain", "tile by tile", count, macs, elements, codes, parts)


def alone_of(layer: LayerReport, call: Call, cycles: int) -> Layer:
    """One of several layers that are computed tile by tile together, with the cycles of its own kernels."""
    macs = layer.macs or recurrent_products(call)
    return Layer(layer.name, layer.op, layer.kernel, cycles, macs, elements_of(call), has_codes(call), ())


def cell_of(compiled: Compiled, report: Report) -> Cell:
    """What the record keeps of a run."""
    assert report.run is not None
    run = report.run
    calls = {bound.call.node.name: bound.call for bound in compiled.bound.nodes}
    total = run.instructions or run.cycles or 0
    layers, products = [], 0
    for line in lines(report.layers):
        if line.inside is not None:
            continue
        call = calls.get(line.layer.name)
        count = line.layer.instructions or line.layer.cycles or 0
        macs = line.macs or (recurrent_products(call) if call else 0)
        products += macs
        together = [(each, each.kernel_cycles) for each in line.group if each.kernel_cycles is not None]
        if len(together) == len(line.group) > 1:
            layers += [alone_of(each, calls[each.name], own) for each, own in together if own >= SHARE * total]
        elif count >= SHARE * total:
            layers.append(layer_of_line(line, call, count, macs, parts_of(line, calls)))
    layers.sort(key=lambda layer: -layer.count)
    unexplained = run.reference.mismatches - run.reference.explained if run.reference else 0
    flash = sum(level.constants + (level.code or 0) for level in report.memory.values())
    ram = sum(level.total for level in report.memory.values()) - flash
    equal = run.match and not any(layer.mismatches for layer in report.layers)
    return Cell(ram, flash, total, products, equal, unexplained, tuple(layers))
