"""Writes docs/operators.md from the registries of operators and kernels: `python ci/operators_page.py`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from textwrap import fill

from tilewright.frontend.splits.registry import rules
from tilewright.ops.operator import Kind
from tilewright.ops.registry import all_operators
from tilewright.platform import Kernel
from tilewright.plugins import find_platforms, kernels_of

PAGE = Path(__file__).parents[1] / "docs" / "operators.md"
OURS = ("generic", "cortex_m", "riscv", "pulp", "cuda")
HEAD = """# Operators
Written by `ci/operators_page.py` from the registries; do not edit it. `tilewright ops` prints the same for what is
installed on your machine, plug-ins included.

*Types of generic* are those of the first operand: `f32`, `i8` and so on are plain ONNX types, `qi8`, `qu8` and `qi16`
stand for codes with scale and zero point, and *any* for every plain type: float32, float64, float16 and bfloat16,
bool, and integers from 8 to 64 bits. Every platform inherits these kernels; *own kernels* are those that it adds
(`cuda` says the others again in its language, without float16 and bfloat16). A *view* moves no bytes. *Folded*
operators are computed by the compiler and reach no device. An operator of the standard that is not listed but is
defined as a function is expanded.

Floats of 16 bits lie in memory with two bytes an element and are computed in `float`; results are rounded to nearest
even. For bfloat16 that is once for each operator's result. The generated `tilewright_halves.h` defines
`tilewright_f16`, which is `_Float16` where the compiler has it and `uint16_t` with its bits elsewhere (or with
`-DTILEWRIGHT_F16_BITS`; the results are the same), and `tilewright_bf16`, always `uint16_t`. An application fills
inputs and reads outputs with `tilewright_f16_of_float`, `tilewright_f16_to_float` and their `bf16` counterparts. An
`.npz` for `run` holds bfloat16 as NumPy writes it, or as float32 where every number is a bfloat16.

| operator | types of generic | own kernels |
|---|---|---|
"""


def rows() -> list[str]:
    """One line per operator, sorted by domain and name."""
    platforms = {name: platform for name, platform in find_platforms().items() if name in OURS}
    kernels = {name: kernels_of(platforms[name], platforms) for name in OURS}
    lines = []
    for operator in sorted(all_operators(), key=lambda op: (op.domain, op.name)):
        name = f"{operator.domain}.{operator.name}" if operator.domain else operator.name
        generic = [kernel for kernel in kernels["generic"] if kernel.op == operator.name]
        special = "view" if operator.kind is Kind.VIEW else "folded"
        lines.append(f"| {name} | {types(generic) or special} | {own(operator.name, kernels)} |\n")
    return lines


def types(kernels: Sequence[Kernel]) -> str:
    """The types of the first operand, each once, in order of preference."""
    tokens: dict[str, None] = {}
    for kernel in kernels:
        inputs, outputs = kernel.types
        tokens.update(dict.fromkeys((inputs or outputs)[0].rstrip("?.").split("|")))
    return ", ".join("any" if token == "*" else token for token in tokens)


def own(operator: str, kernels: dict[str, tuple[Kernel, ...]]) -> str:
    """The kernels that a platform adds to those of generic; what it says again in its own language is not named."""
    entries, known = [], {kernel.name for kernel in kernels["generic"]}
    for name in OURS[1:]:
        added = dict.fromkeys(
            k.name for k in kernels[name] if k.op == operator and k.platform == name and k.name not in known
        )
        if added:
            entries.append(f"{name}: {', '.join(added)}")
    return "; ".join(entries)


SPLIT = """
## Operators that become others
Operators of these domains are replaced by standard nodes while the model is read, with a rule for each in
`frontend/splits/`; the kernels of those nodes compute them. `PACTOps` is QuantLib's; its exporter also leaves it out.
"""


def split() -> str:
    """The operators that become others, by domain."""
    domains = dict.fromkeys(domain for domain, _ in rules() if domain)
    return SPLIT + "".join(
        f"\n{fill(f'- `{domain}`: ' + ', '.join(name for other, name in rules() if other == domain), 120)}\n"
        for domain in domains
    )


def page() -> str:
    """The whole page."""
    return HEAD + "".join(rows()) + split()


if __name__ == "__main__":
    PAGE.write_text(page())
    print(f"{PAGE.name}: {len(rows())} operators", file=sys.stderr)
