"""Measures the networks of docs/performance.md and records their figures: one that was not measured is null."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from benchmarks.performance_page import MODELS, SECTIONS, Figure, Figures, Section
from benchmarks.performance_page import read as read_figures
from benchmarks.time_ratio import ratio, trained_models
from tilewright.target import load_target, missing_tools

DOCS = Path(__file__).parents[2] / "docs"


def figure(report: dict[str, object]) -> Figure:
    """What the page shows of a report."""
    run, memory = report["run"], report["memory"]
    assert isinstance(run, dict)
    assert isinstance(memory, dict)
    ram, flash = run["ram_bytes"], (run["text_bytes"] or 0) + (run["rodata_bytes"] or 0)
    count = (run["instructions"] or run["cycles"]) if run["match"] else None
    return Figure(count, ram, flash, run["stack_bytes"])


def counted(section: Section, model: str, optimize: str) -> tuple[Figure, str] | None:
    """The figure of one network and the flags that it was built with; None where it is not at hand or failed."""
    folder = trained_models() / f"{model}_{section.form}"
    if not (folder / "model.onnx").exists():
        return None
    command = [sys.executable, "-m", "tilewright.cli", "run", folder / "model.onnx", "-t", section.target]
    command += ["--optimize", optimize, "--json", "-", "-q"]
    command += ["--quantized-io"] if section.form == "int8" else []
    command += ["--profile"] if section.profile else []
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode:
        print(f"{section.key}, {model}, {optimize}: {done.stderr.strip()[-300:]}", file=sys.stderr)
        return None
    report = json.loads(done.stdout)
    tool = report["toolchain"]
    return figure(report), f"{tool['version']}, {tool['flags']}"


def measure(section: Section, figures: Figures) -> None:
    """Put the section's figures in the place of the old ones."""
    for model in MODELS:
        if section.key == "time":
            for form in ("f32", "int8"):
                folder = trained_models() / f"{model}_{form}"
                found_ratio = ratio(folder) if (folder / "model.onnx").exists() else None
                if found_ratio is not None:
                    for name, value in (("smallest", found_ratio.smallest), ("median", found_ratio.median)):
                        figures.put(section.key, f"{form}, {name}", model, Figure(round(value, 4), None, None))
            continue
        for optimize in section.optimize:
            count = counted(section, model, optimize)
            figures.put(section.key, optimize, model, count[0] if count else None)
            if count:
                figures.flags[section.key] = count[1]


def measured(parts: tuple[str, ...]) -> Figures:
    """The stored figures with those of the sections named, or of all, measured anew where their tools are."""
    figures = recorded()
    for section in SECTIONS:
        wanted = not parts or section.key in parts
        ready = section.key == "time" or (section.target and not missing_tools(load_target(section.target)))
        if wanted and ready:
            measure(section, figures)
            (DOCS / "performance.json").write_text(figures.text())
    return figures


def recorded() -> Figures:
    """The figures of docs/performance.json."""
    return read_figures((DOCS / "performance.json").read_text() if (DOCS / "performance.json").exists() else "{}")
