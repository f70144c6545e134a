"""FusedGemm: Gemm and an activation."""

from __future__ import annotations

from tilewright.frontend.splits.parts import Parts
from tilewright.frontend.splits.spelling import MICROSOFT, activate


def _fused(parts: Parts) -> None:
    operands = (parts.input(index) for index in range(3))
    result = parts.op("Gemm", *operands, **parts.attributes("alpha", "beta", "transA", "transB"))
    names = (name for name in ("activation_alpha", "activation_beta") if name in parts.node.attributes)
    activate(parts, result, [parts.number(name) for name in names], parts.output(0))


SPLITS = {(MICROSOFT, "FusedGemm"): _fused}
