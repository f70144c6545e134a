"""Every platform and every kernel that it declares against the operators' meaning, on the machine that runs the tests.

Platforms and kernels come from the registry; a kernel whose core this machine is not is covered by its platform's own
tests in a simulator.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from tilewright.conformance.kernels import Attempt, attempts, compare, refusals
from tilewright.conformance.program import STRICT
from tilewright.platform import Kernel
from tilewright.plugins import find_platforms, kernels_of
from tilewright.target import all_targets

SEED = 8
SPECIAL, ORDINARY = 6, 1  # calls of a kernel for few operators, and of each operator of one for many
NATIVE = {target.platform: set(target.capabilities) for target in all_targets() if target.simulator == "native"}


def declared(platform: str) -> list[Kernel]:
    """The kernels that the platform itself declares and that need nothing but what this machine has."""
    own = find_platforms()[platform].own_kernels()
    return [kernel for kernel in own if set(kernel.requires.words()) <= NATIVE[platform]]


@pytest.mark.parametrize("name", [name for name in find_platforms() if name in NATIVE])
def test_kernels_compute_what_their_operators_mean(name: str, tmp_path: Path) -> None:
    platform = find_platforms()[name]
    relayouts = [kernel for kernel in kernels_of(platform) if kernel.op == "Relayout"]
    operators = Counter(kernel.name for kernel in declared(name))
    drawn: list[Attempt] = []
    for kernel in declared(name):
        each = SPECIAL if operators[kernel.name] < 8 else ORDINARY
        drawn += attempts([kernel], platform, relayouts, SEED, each, first=len(drawn))
    findings = compare(drawn, tmp_path, ("-Og", *STRICT))
    assert not findings.differences, f"seed {SEED}: " + "\n".join(findings.differences)
    reached = {kernel for kernel, _ in findings.compared}
    missed = {
        kernel.name: f"{kernel.op}: {refusals(kernel)}"
        for kernel in declared(name)
        if kernel.name not in reached
        and kernel.op not in ("Relayout", "InputRows")  # every other call needs it; the application gives the rows
    }
    assert not missed, f"no drawn call reaches these kernels: {missed}"
