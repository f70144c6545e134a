"""The page docs/performance.md: its sections, the peers' figures, and how it is printed from measured ones."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

MODELS = ("resnet8", "dscnn", "vww", "ad")
HEADS = ("ResNet-8", "DS-CNN", "VWW", "AD")
Row = tuple[str, ...]
Peer = tuple[str, Sequence[float | None]]


@dataclass(frozen=True)
class Figure:
    """Of one network: instructions, cycles or a ratio; bytes of RAM, of code and constants, of stack."""

    count: float | None
    ram: int | None
    flash: int | None
    stack: int | None = None


@dataclass
class Figures:
    """What was measured, by section, choice and model; and each section's compiler and flags."""

    found: dict[str, dict[str, dict[str, Figure]]] = field(default_factory=dict)
    flags: dict[str, str] = field(default_factory=dict)

    def put(self, section: str, choice: str, model: str, figure: Figure | None) -> None:
        """Remember a figure; None is what was not measured."""
        self.found.setdefault(section, {}).setdefault(choice, {})[model] = figure or Figure(None, None, None)

    def get(self, section: str, choice: str, model: str) -> Figure:
        """The figure, with nothing in it where it was not measured."""
        return self.found.get(section, {}).get(choice, {}).get(model, Figure(None, None, None))

    def text(self) -> str:
        """As JSON."""
        plain = {
            key: {
                choice: {model: [f.count, f.ram, f.flash, f.stack] for model, f in models.items()}
                for choice, models in choices.items()
            }
            for key, choices in self.found.items()
        }
        return json.dumps({"flags": self.flags, "figures": plain}, indent=1, sort_keys=True) + "\n"


def read(text: str) -> Figures:
    """The figures of a JSON text."""
    stored = json.loads(text)
    figures = Figures(flags=dict(stored.get("flags", {})))
    for key, choices in stored.get("figures", {}).items():
        for choice, models in choices.items():
            for model, figure in models.items():
                figures.put(key, choice, model, Figure(*figure))
    return figures


@dataclass(frozen=True)
class Section:
    """A table: what is counted where, with which choices of `--optimize`, beside which peers (in millions).

    Without a target the figures come from elsewhere and are only printed.
    """

    key: str
    title: str
    target: str
    form: str
    optimize: tuple[str, ...]
    peers: tuple[Peer, ...]
    note: str
    profile: bool = False


CMSIS = "CMSIS-NN called from straight C"
HOST_NOTE = "Counted by callgrind. The peers were counted once on another day, ONNX Runtime and LiteRT as AVX2 code."
QEMU_NOTE = "Counted by the simulator (`-icount shift=0`): instructions, not cycles."
SECTIONS = (
    Section(
        "host_int8", "Host, x86-64-v3, int8", "host_x86_64_v3", "int8", ("balanced", "speed"),
        (("onnx2c, gcc -O3", (116.39, 13.11, 46.81, 0.461)), ("ONNX Runtime 1.31", (5.06, 1.16, 4.14, 0.595)),
         ("LiteRT 2.3 (XNNPACK)", (4.14, 1.79, 3.30, 0.095))),
        HOST_NOTE, True,
    ),
    Section(
        "host_f32", "Host, x86-64-v3, float32", "host_x86_64_v3", "f32", ("balanced",),
        (("onnx2c, gcc -O3", (111.83, 11.06, 26.45, 0.632)), ("ONNX Runtime 1.31", (3.04, 1.02, 2.76, 0.177)),
         ("LiteRT 2.3 (XNNPACK)", (3.89, 2.03, 2.71, 0.162))),
        HOST_NOTE, True,
    ),
    Section(
        "time", "Host, gcc -march=native, time of one inference against ONNX Runtime with one thread", "", "",
        ("f32, smallest", "f32, median", "int8, smallest", "int8, median"), (),
        "Both called in turn from one C program, ONNX Runtime through its C interface with all its optimisations,\n"
        "ours with `--optimize speed`. The ratio of the smallest times, and the median of the ratios of neighbouring\n"
        "calls; below 1 ours is faster.",
    ),
    Section(
        "m4", "Cortex-M4, int8", "qemu_mps2_an386", "int8", ("speed", "balanced", "size"),
        ((CMSIS, (31.208, 7.811, 24.687, 0.579)), ("TFLite Micro with CMSIS-NN", (31.214, 7.815, 24.698, 0.582)),
         ("onnx2c, QDQ", (126.14, 20.98, 68.35, 3.547)),
         ("published record, in cycles", (19.8, 5.18, 10.7, 0.486))),
        QEMU_NOTE + " The record is X-CUBE-AI 9.0 and Plumerai (MLPerf Tiny, STM32L4R5 at 120 MHz).",
    ),
    Section(
        "m4_f32", "Cortex-M4, float32", "qemu_mps2_an386", "f32", ("balanced",),
        (("onnx2c", (120.34, 19.85, 54.76, 1.612)), ("TFLite Micro, reference", (99.93, 38.02, 86.31, 1.361))),
        QEMU_NOTE,
    ),
    Section(
        "m55", "Cortex-M55, int8", "qemu_mps3_an547", "int8", ("speed", "balanced"),
        ((CMSIS, (4.807, 1.785, 6.424, 0.147)),), QEMU_NOTE,
    ),
    Section(
        "rv32imc", "rv32imc, int8", "qemu_rv32imc", "int8", ("speed", "balanced"),
        ((CMSIS + " (portable)", (65.29, 16.24, 48.59, 1.474)), ("onnx2c, QDQ, no FPU", (None, 434.9, None, None))),
        QEMU_NOTE,
    ),
    Section(
        "rv32gcv", "rv32gcv (RVV), int8", "qemu_rv32gcv", "int8", ("speed", "balanced"), (),
        QEMU_NOTE + " No peer was counted on a 32-bit core with vectors.",
    ),
    Section(
        "pulp", "PULP, eight cores, int8, million cycles", "gvsoc_pulp_open", "int8", ("speed",), (),
        "Cycles in GVSoC's PULP-open with 55 KiB of L1, measured where `gvsoc` is on the PATH.",
    ),
)  # fmt: skip


def cell(value: float | None) -> str:
    """Three significant digits and more where they are at hand; null for what was not measured."""
    if value is None:
        return "null"
    return f"{value:.3f}" if value < 1 else f"{value:.2f}" if value < 100 else f"{value:.1f}"


def rows(section: Section, figures: Figures) -> list[Row]:
    """Ours by choice, then the peers."""
    scale = 1.0 if section.key == "time" else 1e6
    lines: list[Row] = []
    for choice in section.optimize:
        counts = [figures.get(section.key, choice, model).count for model in MODELS]
        name = choice if section.key == "time" else f"tilewright --optimize {choice}"
        lines.append((name, *(cell(None if count is None else count / scale) for count in counts)))
    return lines + [(name, *(cell(value) for value in values)) for name, values in section.peers]


def memory_rows(section: Section, figures: Figures) -> list[Row]:
    """RAM and flash of ours by choice."""
    lines: list[Row] = []
    for choice in section.optimize:
        for what in ("ram", "flash"):
            values = [getattr(figures.get(section.key, choice, model), what) for model in MODELS]
            lines.append((f"{choice}: {what}", *("null" if v is None else f"{v:,}" for v in values)))
    return lines


def markdown(heads: Row, lines: Sequence[Row]) -> str:
    """A table."""
    rule = "|".join(["---", *["--:"] * (len(heads) - 1)])
    return "\n".join(
        ["| " + " | ".join(heads) + " |", f"|{rule}|", *("| " + " | ".join(line) + " |" for line in lines)]
    )


def page(figures: Figures) -> str:
    """The whole page."""
    parts = [
        "# Performance",
        "Written by `bash ci/bench figures` from the trained MLPerf Tiny networks; `bash ci/bench "
        "figures:m4,m55` measures\nsome sections anew. Figures lie in `performance.json`; null is what was not "
        "measured. Millions of instructions of one\ninference unless a title says otherwise, with the flags of the "
        "generated build files and a quantised border for int8.\nPeers: onnx2c ea045cc, TensorFlow Lite Micro "
        "90b983c2, CMSIS-NN 99f736a6, ONNX Runtime 1.31, LiteRT 2.3, counted once by\nthe same means with gcc 12.2; "
        "this command does not run them.",
    ]
    for section in SECTIONS:
        parts.append(f"## {section.title}")
        if section.target:
            flags = figures.flags.get(section.key, "null")
            parts.append(f"`{' '.join(command(section))}`  \n{flags}")
        parts.append(section.note)
        parts.append(markdown(("", *HEADS), rows(section, figures)))
        if section.target:
            parts.append("Bytes of RAM (arena: inputs, outputs, scratch) and of flash (code and constants):")
            parts.append(markdown(("", *HEADS), memory_rows(section, figures)))
    return "\n\n".join(parts) + "\n"


def command(section: Section) -> list[str]:
    """What counts one network of the section."""
    words = ["tilewright", "run", f"MODEL_{section.form}/model.onnx", "-t", section.target]
    words += ["--optimize", "|".join(section.optimize)]
    words += ["--quantized-io"] if section.form == "int8" else []
    return [*words, "--profile"] if section.profile else words
