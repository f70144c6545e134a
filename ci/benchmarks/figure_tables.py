"""The tables of README.md and docs/peers.md that hold our figures, made from the recorded run; what peers take is kept.

A table stands between `<!-- figures: NAME -->` and `<!-- end of figures -->`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmarks.performance_page import MODELS, Figures, Row, cell, markdown, page

ROOT = Path(__file__).parents[2]
HEADS = ("ResNet-8", "DS-CNN", "MobileNetV1 (VWW)", "autoencoder")
_BLOCK = re.compile(r"(<!-- figures: (\w+) -->\n)(.*?)(<!-- end of figures -->)", re.S)
_NATURAL_ORDER = ("most bytes alive in the model's own order", "49,152", "16,000", "55,296", "768")
_PEERS: Mapping[str, Sequence[Row]] = {
    "ram": (
        _NATURAL_ORDER,
        ("static C over CMSIS-NN *", "51,456", "16,256", "56,320", "272"),
        ("TensorFlow Lite Micro with CMSIS-NN", "54,996", "22,820", "100,708", "2,580"),
        ("onnx2c on the same QDQ file", "798,056", "270,040", "1,658,856", "1,066,528"),
    ),
    "flash": (
        ("static C over CMSIS-NN", "102,100", "53,070", "268,770", "276,496"),
        ("TensorFlow Lite Micro with CMSIS-NN", "205,088", "157,936", "464,488", "381,760"),
        ("onnx2c on the same QDQ file", "100,712", "42,344", "265,910", "275,248"),
    ),
    "instructions": (
        ("static C over CMSIS-NN", "31.2", "7.81", "24.7", "0.579"),
        ("TensorFlow Lite Micro with CMSIS-NN", "31.2", "7.82", "24.7", "0.582"),
        ("TensorFlow Lite Micro, reference kernels", "107.4", "43.0", "100.3", "1.95"),
        ("onnx2c on the same QDQ file", "126.1", "21.0", "68.4", "3.55"),
    ),
}
"""Counted once by the same means; this command does not run them."""


def _of(figures: Figures, section: str, choice: str, what: str) -> list[str]:
    """A figure of every network as its table has it."""
    cells = []
    for model in MODELS:
        one = figures.get(section, choice, model)
        if what == "count":
            cells.append(cell(None if one.count is None else one.count / 1e6))
        else:
            size = None if one.ram is None else one.ram + (one.stack or 0)
            value = {"ram": one.ram, "flash": one.flash, "ram and stack": size}[what]
            cells.append("null" if value is None else f"{value:,}")
    return cells


def _bold(cells: Sequence[str]) -> Row:
    return tuple(f"**{one}**" for one in cells)


def _readme_int8(figures: Figures) -> str:
    def counts(name: str, section: str, choice: str = "balanced") -> Row:
        return (name, *_of(figures, section, choice, "count"))

    speed = ", ".join(_of(figures, "host_int8", "speed", "ram"))
    lines: list[Row] = [
        ("RAM on the host, input and scratch included, bytes", *_of(figures, "host_int8", "balanced", "ram")),
        _NATURAL_ORDER,
        counts("host, gcc for x86-64-v3, million instructions", "host_int8"),
        counts(f"the same with `--optimize speed` (RAM {speed} bytes)", "host_int8", "speed"),
        counts("Cortex-M4 (QEMU), million instructions", "m4"),
        counts("Cortex-M55 (QEMU), million instructions", "m55"),
        counts("rv32imc (QEMU), million instructions", "rv32imc"),
    ]
    return markdown(("int8, quantised inputs and outputs", *HEADS), lines)


def _readme_f32(figures: Figures) -> str:
    lines: list[Row] = [
        ("RAM on the host, input included, bytes", *_of(figures, "host_f32", "balanced", "ram")),
        ("host, gcc for x86-64-v3, million instructions", *_of(figures, "host_f32", "balanced", "count")),
    ]
    return markdown(("float32", *HEADS), lines)


def _peers(what: str, name: str, figure: str) -> Callable[[Figures], str]:
    def made(figures: Figures) -> str:
        ours = (f"**tilewright**{name}", *_bold(_of(figures, "m4", "balanced", figure)))
        return markdown(("", "ResNet-8", "DS-CNN", "VWW", "autoencoder"), [ours, *_PEERS[what]])

    return made


TABLES: Mapping[str, Callable[[Figures], str]] = {
    "readme_int8": _readme_int8,
    "readme_f32": _readme_f32,
    "peers_ram": _peers("ram", ", stack included", "ram and stack"),
    "peers_flash": _peers("flash", "", "flash"),
    "peers_instructions": _peers("instructions", ", balanced", "count"),
}
PAGES = ("README.md", "docs/peers.md")


def pages(figures: Figures) -> dict[Path, str]:
    """Every page with figures, its tables as the recorded run has them."""
    texts = {ROOT / "docs" / "performance.md": page(figures)}
    for name in PAGES:
        text = (ROOT / name).read_text(encoding="utf-8")
        texts[ROOT / name] = _BLOCK.sub(lambda block: f"{block[1]}{TABLES[block[2]](figures)}\n{block[4]}", text)
    return texts
