"""Operators of ONNX Runtime, or written without a domain, that the standard has since taken in as they were."""

from __future__ import annotations

from typing import Any

from tilewright.frontend.splits.parts import Parts
from tilewright.frontend.splits.spelling import MICROSOFT


def _same(parts: Parts) -> None:
    node = parts.node
    known: dict[str, Any] = dict(node.attributes)
    parts.ops(node.op, node.inputs, node.outputs, **known)


SPLITS = {(MICROSOFT, op): _same for op in ("GatherND", "HardSwish", "Pad", "Range", "Trilu")}
