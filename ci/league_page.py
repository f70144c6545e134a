"""The page docs/league.md, printed from the record alone."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from league_record import Cell, Layer, Part, Record

PUBLISHED = Path(__file__).parent / "league_networks" / "published.toml"
TARGETS = {
    "host_x86_64_v3": "Host, x86-64-v3 (callgrind)",
    "qemu_mps2_an386": "Cortex-M4",
    "qemu_mps3_an547": "Cortex-M55",
    "qemu_rv32imc": "rv32imc",
    "qemu_rv32gcv": "rv32gcv",
    "gvsoc_pulp_open": "PULP cluster of eight cores (GVSoC, cycles)",
}
SMALL, LARGE = "qemu_mps2_an386", "qemu_mps3_an547"
ALLOWED = 2.0
"""How often its figure a layer may take before the page names it."""
SHARE_OF_CHAIN = 0.1
"""From this part of a layer of several nodes on, one of them is looked at alone."""
PRODUCTS = {
    True: {"MatMul": 1.5, "Gemm": 1.5, "Conv": 1.5, "ConvTranspose": 1.2, "LSTM": 1.4, "GRU": 1.4},
    False: {"MatMul": 1.6, "Gemm": 1.6, "Conv": 1.6, "ConvTranspose": 1.2, "LSTM": 1.8, "GRU": 1.8},
}
"""Instructions of a product on a Cortex-M4 that our best kernels need, for codes and for floats."""
RESULTS = {
    "Resize": 12.0, "LayerNormalization": 40.0, "RMSNormalization": 40.0, "InstanceNormalization": 40.0, "Add": 10.0,
    "Sub": 10.0, "Mul": 8.0, "Div": 10.0, "Softmax": 20.0, "MaxPool": 30.0, "AveragePool": 30.0, "Gelu": 30.0,
}  # fmt: skip
"""The same for a result of layers without products; 10 for operators that are not named."""


@dataclass(frozen=True)
class Dear:
    """Layers of one kernel on one target: instructions above their figures, of all networks, and the dearest layer."""

    kernel: str
    op: str
    above: int
    layers: int
    network: str
    layer: Layer


def figure(layer: Layer | Part) -> float:
    """Instructions of a product, or of a result, that a layer or a part of one should not exceed."""
    if layer.products:
        return PRODUCTS[layer.codes].get(layer.op, 1.6)
    return RESULTS.get(layer.op, 10.0)


def due(layer: Layer | Part) -> float:
    """Instructions that a layer should not exceed: its figure for all of it, for several nodes the sum of theirs."""
    if isinstance(layer, Layer) and layer.parts:
        return sum(due(part) for part in layer.parts)
    return figure(layer) * (layer.products or layer.results)


def alone(layer: Layer) -> list[Layer]:
    """The layer, and of several nodes each that exceeds its own figure by far, given its share of the estimates."""
    estimated = sum(part.estimated for part in layer.parts)
    shares = [(part, round(layer.count * part.estimated / max(1, estimated))) for part in layer.parts]
    return [layer] + [
        Layer(
            f"{part.name} (its share of {layer.name})",
            part.op,
            part.kernel,
            count,
            part.products,
            part.results,
            part.codes,
        )
        for part, count in shares
        if count > ALLOWED * due(part) and count > SHARE_OF_CHAIN * layer.count
    ]


def dear(record: Record, target: str) -> list[Dear]:
    """Kernels whose layers exceed their figure, the greatest loss first."""
    layers_of: dict[tuple[str, str], list[tuple[str, Layer]]] = defaultdict(list)
    for network, cell in record.of(target):
        for layer in (each for whole in cell.layers for each in alone(whole)):
            if layer.count > due(layer):
                layers_of[layer.kernel, layer.op].append((network, layer))
    losses = []
    for (kernel, op), layers in layers_of.items():
        above = sum(layer.count - due(layer) for _, layer in layers)
        network, worst = max(layers, key=lambda pair: pair[1].count / due(pair[1]))
        losses.append(Dear(kernel, op, round(above), len(layers), network, worst))
    return sorted(losses, key=lambda loss: (-loss.above, loss.kernel, loss.op))


def markdown(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table; columns after the first are numbers unless their head ends with a colon."""
    rule = "|".join(["---", *("---" if head.endswith(":") else "--:" for head in heads[1:])])
    titles = [head.removesuffix(":") for head in heads]
    rows = [f"| {' | '.join(line)} |" for line in lines]
    return "\n".join([f"| {' | '.join(titles)} |", f"|{rule}|", *rows])


def millions(count: float) -> str:
    """Three digits that matter."""
    value = count / 1e6
    return f"{value:.{3 if value < 1 else 2 if value < 100 else 1}f}"


def dearest(cell: Cell, products: bool) -> str:
    """The layer with the most instructions of a product, or of a result, among those of the record."""
    layers = [layer for layer in cell.layers if bool(layer.products) == products]
    if not layers:
        return ""
    layer = max(layers, key=lambda each: each.dearness)
    return f"{layer.dearness:.2f} {layer.op} `{layer.name}`"


def equal(cell: Cell) -> str:
    """Whether all was as it should be."""
    if not cell.equal:
        return "**no**"
    return "yes" if not cell.unexplained else f"yes; {cell.unexplained:,} unlike ONNX Runtime"


def row(network: str, cell: Cell) -> tuple[str, ...]:
    """A line of a target's table."""
    if cell.refused:
        return (network, "", "", "", "", "", "", cell.refused)
    per = f"{cell.count / cell.products:.2f}" if cell.products else ""
    figures = (f"{cell.ram:,}", f"{cell.flash:,}", millions(cell.count), per)
    return (network, *figures, dearest(cell, True), dearest(cell, False), equal(cell))


def cores(record: Record) -> str:
    """Which networks the larger core computes with more instructions than the smaller one."""
    both = [
        (network, small.count, record.cells[network][LARGE].count)
        for network, small in record.of(SMALL)
        if small.count and LARGE in record.cells[network] and record.cells[network][LARGE].count
    ]
    slower = [
        f"{network} ({millions(large)} against {millions(small)})" for network, small, large in both if large > small
    ]
    return f"Of {len(both)} networks the Cortex-M55 needs more instructions than the Cortex-M4 for: " + (
        ", ".join(slower) if slower else "none"
    )  # fmt: skip


def others(record: Record) -> str:
    """What was published of the same networks, beside ours."""
    lines = []
    for entry in tomllib.loads(PUBLISHED.read_text())["figure"]:
        cell = record.cells.get(entry["network"], {}).get(entry["target"])
        if cell is None or cell.refused:
            continue
        bytes_of = [f"{entry[what]:,}" if what in entry else "" for what in ("ram", "flash")]
        theirs = (f"{entry['count']:g}", *bytes_of)
        ours = (millions(cell.count), f"{cell.ram:,}", f"{cell.flash:,}")
        lines.append((entry["network"], TARGETS[entry["target"]], *ours, entry["who"], *theirs))
    return markdown(("network", "core:", "ours, M", "RAM", "flash", "others:", "theirs, M", "RAM", "flash"), lines)


def losses(record: Record, target: str) -> str:
    """The kernels of a target above their figures."""
    lines = []
    for loss in dear(record, target):
        if loss.layer.count < ALLOWED * due(loss.layer):
            continue
        what = f"{loss.layer.dearness:.1f} a {'product' if loss.layer.products else 'result'}"
        if loss.layer.parts:
            what = f"{loss.layer.count / due(loss.layer):.1f} times the figures of its nodes"
        worst = f"{what}: `{loss.layer.name}` of {loss.network}"
        lines.append((loss.kernel, loss.op, millions(loss.above), str(loss.layers), worst))
    return markdown(("kernel", "operator:", "above its figure, M", "layers", "dearest:"), lines)


def page(record: Record) -> str:
    """The whole page."""
    networks = len(record.cells)
    parts = [
        "# A league of networks",
        "Written by `bash ci/league` from `league.json`; `bash ci/league --only NAME --targets TARGET,...` measures\n"
        f"some cells anew. {networks} networks: architectures drawn at small sizes by `ci/league_networks`, untrained, "
        "float\n"
        "and in the forms that ONNX Runtime's tools write (int8: QDQ; u8: operators on codes; int16: activations of\n"
        "16 bits; int4: weights of 4 bits; dynamic), and files that others publish. What a target refuses has a\n"
        "sentence instead of figures.",
        "Bytes of RAM with stack, bytes of flash with code, millions of instructions of one inference (`--optimize\n"
        "balanced`), instructions of a product over the whole network; then the dearest layers among those with at "
        "least 5 % of\nthe instructions: of a product, and of a result where a layer has no products.",
        f"## Cortex-M4 and Cortex-M55\n\n{cores(record)}.",
        f"## Beside others\n\n{others(record)}",
    ]
    heads = ("network", "RAM", "flash", "M", "per product", "dearest product:", "dearest result:", "equal:")
    for target, title in TARGETS.items():
        lines = [row(network, cell) for network, cell in record.of(target)]
        parts.append(f"## {title}\n\n{markdown(heads, lines) if lines else 'Not measured.'}")
    parts.append(
        "## What is dear\n\nKernels with a layer at more than twice the figure of our best ones on a Cortex-M4, and "
        "their instructions above it,\nof all networks."
    )
    for target in (SMALL, LARGE):
        parts.append(f"### {TARGETS[target]}\n\n{losses(record, target)}")
    return "\n\n".join(parts) + "\n"
