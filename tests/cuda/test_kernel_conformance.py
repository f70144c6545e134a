"""Every kernel of the platform against its operators' meaning on drawn calls: eager, replayed, and as a megakernel.

All networks lie in one file, each in a namespace of its own, so that one build serves them all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tilewright.conformance.kernels import Attempt, attempts, bound, difference
from tilewright.errors import UnsupportedNode
from tilewright.memory.buffer_layout import layout_of
from tilewright.model import Array, DType
from tilewright.plan.execute import run
from tilewright.platform import Kernel
from tilewright.platforms.cuda.emit import STAND_IN, TEMPLATES, emit_network
from tilewright.platforms.cuda.platform import PLATFORM
from tilewright.plugins import kernels_of
from tilewright.run.cuda_executor import CUDAGraphExecutor
from tilewright.run.cuda_library import build_library
from tilewright.target import load_target

SEED = 5
START = "enum { BLOCK"


def one_file(texts: dict[str, str]) -> str:
    """The networks in namespaces behind the includes that they share."""
    head = next(iter(texts.values()))
    parts = [head[: head.index(START)]]
    for name, text in texts.items():
        parts.append(f"namespace in_{name} {{\n{text[text.index(START) :]}\n}}\n")
    return "\n".join(parts)


def built_together(found: Sequence[Attempt], folder: Path) -> Path:
    texts = {a.subject.name: emit_network(a.subject.placed.plan, layout_of(a.subject.placed)) for a in found}
    (folder / "network.cu").write_text(one_file(texts))
    (folder / STAND_IN).write_text((TEMPLATES / STAND_IN).read_text())
    target = load_target("cuda_host")
    quick = tuple("-O0" if flag == "-O2" else flag for flag in target.compile_flags)
    return build_library(folder, replace(target, compile_flags=quick), folder)


def faults(attempt: Attempt, library: Path) -> list[str]:
    """A sentence for every result that differs from the operator's meaning, or between the ways to run."""
    return [sentence for inputs in attempt.subject.runs for sentence in faults_with(attempt, library, inputs)]


def faults_with(attempt: Attempt, library: Path, inputs: Sequence[Array]) -> list[str]:
    subject = attempt.subject
    plan = subject.placed.plan
    with np.errstate(all="ignore"):
        wanted = run(plan, inputs)
    with CUDAGraphExecutor(plan, layout=layout_of(subject.placed), library=library, poison=True) as executor:
        eager, _, replayed = (executor.run(*inputs) for _ in range(3))
        mega = executor.run_megakernel(inputs)
    found = []
    for tensor, got, again, other, want in zip(subject.outputs, eager, replayed, mega, wanted, strict=True):
        if why := difference(tensor, got, want, bound(attempt.kernel, tensor)):
            found.append(f"{attempt}: '{tensor.name}' {why}")
        if not got.tobytes() == again.tobytes() == other.tobytes():
            found.append(f"{attempt}: '{tensor.name}' differs between the ways to run")
    return found


def supported(attempt: Attempt) -> bool:
    tensors = [slot.tensor for slot in attempt.subject.placed.plan.slots]
    return all(tensor.dtype not in (DType.F16, DType.BF16) for tensor in tensors)


def drawn(kernels: Sequence[Kernel]) -> list[Attempt]:
    relayouts = [kernel for kernel in kernels_of(PLATFORM) if kernel.op == "Relayout"]
    many = Counter(kernel.name for kernel in kernels)
    found: list[Attempt] = []
    for kernel in kernels:
        each = 3 if many[kernel.name] < 8 else 1
        made = attempts([kernel], PLATFORM, relayouts, SEED, each, first=len(found))
        found += made
    return found


def test_kernels_compute_what_their_operators_mean(tmp_path: Path) -> None:
    found = [attempt for attempt in drawn(PLATFORM.own_kernels()) if supported(attempt)]
    library = built_together(found, tmp_path)
    wrong = [sentence for attempt in found for sentence in faults(attempt, library)]
    assert not wrong, f"seed {SEED}: " + "\n".join(wrong)
    assert len(found) > 150
    assert {a.kernel.name for a in found} >= {k.name for k in PLATFORM.own_kernels() if k.op != "Relayout"}


def test_half_floats_are_refused() -> None:
    kernel = next(k for k in PLATFORM.own_kernels() if k.name == "ElementwiseLoops" and k.op == "Neg")
    relayouts = [k for k in kernels_of(PLATFORM) if k.op == "Relayout"]
    made = attempts([kernel], PLATFORM, relayouts, SEED, 40)
    halves = {attempt.trial.call.tensor(0).dtype: attempt for attempt in made if not supported(attempt)}
    assert halves.keys() == {DType.F16, DType.BF16}
    for kind, half in halves.items():
        why = rf"\(Neg\) computes in 16-bit floats: .* is {kind.value}, .*no kernel for it"
        with pytest.raises(UnsupportedNode, match=why):
            emit_network(half.subject.placed.plan, layout_of(half.subject.placed))
