"""The operators that are known, and the types in which each platform computes them, from the registries."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tilewright.commands.answer import Answer
from tilewright.commands.streams import terminal_width
from tilewright.errors import PlatformError

if TYPE_CHECKING:
    from tilewright.platform import Kernel
    from tilewright.report.codec import Json

SUMMARY = "operators x types x platforms, from the registry"
SCHEMA = "tilewright/ops/1"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The platform to restrict to."""
    parser.add_argument("-p", "--platform", metavar="PLATFORM", help="only this one; default: all that are installed")


def execute(arguments: argparse.Namespace) -> Answer:
    """One row per operator, one column per platform; a broken platform is left out unless it is asked for."""
    from tilewright.ops.operator import Kind
    from tilewright.ops.registry import all_operators
    from tilewright.report.text import table

    kernels = _kernels(arguments.platform)
    operators = {(op.name, op.domain): op.kind for op in all_operators()}
    for platform_kernels in kernels.values():
        for kernel in platform_kernels:
            if kernel.op not in [name for name, _ in operators]:
                operators[kernel.op, ""] = Kind.COMPUTE
    rows: list[list[str]] = []
    plain: list[Json] = []
    for (name, domain), kind in sorted(operators.items(), key=lambda item: item[0]):
        offered = {platform: [k for k in all_ if k.op == name] for platform, all_ in kernels.items()}
        view = "view" if kind is Kind.VIEW else "-"
        rows.append([f"{domain}.{name}" if domain else name, *(_types(ks) or view for ks in offered.values())])
        plain.append(
            {
                "op": name,
                "domain": domain,
                "kind": kind.value,
                "platforms": {platform: [_kernel_json(k) for k in ks] for platform, ks in offered.items()},
            }
        )
    text = table(["operator", *kernels], rows, width=terminal_width())
    return Answer(text, {"schema": SCHEMA, "rows": plain})


def _kernels(wanted: str | None) -> dict[str, tuple[Kernel, ...]]:
    from tilewright.plugins import find_platforms, kernels_of, platform

    if wanted is not None:
        return {wanted: kernels_of(platform(wanted))}
    platforms = find_platforms()
    by_platform: dict[str, tuple[Kernel, ...]] = {}
    for name in platforms:
        try:
            by_platform[name] = kernels_of(platforms[name], platforms)
        except PlatformError:
            continue  # `tilewright platforms` says why
    return by_platform


def _types(kernels: list[Kernel]) -> str:
    """The types of the first operand, each once, in order of preference."""
    tokens: dict[str, None] = {}
    for kernel in kernels:
        inputs, outputs = kernel.types
        first = (inputs or outputs)[0].rstrip("?.")
        tokens.update(dict.fromkeys("any" if token == "*" else token for token in first.split("|")))
    return " ".join(tokens)


def _kernel_json(kernel: Kernel) -> Json:
    inputs, outputs = kernel.types
    return {
        "kernel": kernel.name,
        "from": kernel.platform,
        "types": ", ".join(inputs) + " -> " + ", ".join(outputs),
        "layout": list(kernel.layout),
        "numerics": kernel.numerics,
    }
