"""Constant scales of quantised nodes: each must be a positive, finite number, as every quantiser means to write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from tilewright.errors import ModelError
from tilewright.frontend.names import quoted
from tilewright.frontend.raw import RawNode
from tilewright.model import Array
from tilewright.ops.quantised.operators import MICROSOFT, QONNX_DOMAINS, SPELLINGS

_BORDER = frozenset({"QuantizeLinear", "DequantizeLinear"})
_SPELLINGS = {(spelling.name, domain): spelling for spelling in SPELLINGS for domain in spelling.domains}
_QONNX = frozenset({"Quant", "IntQuant"})


def check_scales(node: RawNode, constants: Mapping[str, Array]) -> None:
    """ModelError that names the scale, the tensor that it belongs to and its value, for the first that cannot be one.

    The scales of blocks of weights may be 0, for blocks of zeros, or negative, as symmetric quantisers write them.
    """
    blocked = node.op == "DequantizeLinear" and bool(node.attributes.get("block_size", 0))
    for place, tensor in _scales(node):
        name = node.inputs[place] if place < len(node.inputs) else ""
        scales = constants.get(name)
        if scales is None or scales.dtype.kind not in "fiu":
            continue
        values = scales.astype(np.float64)
        good = np.isfinite(values) & (blocked | (values > 0))
        if not good.all():
            raise _refusal(node, name, tensor, values, int(np.flatnonzero(~good)[0]))


def _scales(node: RawNode) -> Iterator[tuple[int, str]]:
    """The place of every scale among the node's inputs, and the tensor whose scale it is."""
    if (node.op in _BORDER and node.domain in ("", MICROSOFT)) or (node.op in _QONNX and node.domain in QONNX_DOMAINS):
        yield 1, node.inputs[0]
    spelling = _SPELLINGS.get((node.op, node.domain))
    if spelling is None:
        return
    for index in spelling.data or range(2, len(node.inputs), 3):
        if index < len(node.inputs):
            yield index + 1, node.inputs[index]
    yield spelling.output, node.outputs[0]


def _refusal(node: RawNode, name: str, tensor: str, values: Array, place: int) -> ModelError:
    value = float(values.reshape(-1)[place])
    where = f" in channel {place}" if values.ndim == 1 and values.size > 1 else ""
    if values.ndim > 1:
        where = f" at {[int(i) for i in np.unravel_index(place, values.shape)]}"
    if np.isinf(value):
        saw = "calibration saw infinite values, a mask of -inf for instance"
        fix = "put a finite number (-10000, say) in their place, or leave this tensor out of the quantisation"
    elif np.isnan(value):
        saw = "calibration saw values that are no numbers"
        fix = "find the layer that makes NaN from the calibration data, and quantise again"
    elif value == 0:
        saw = "calibration saw nothing but zeros"
        fix = "calibrate with data in which this tensor is not 0 throughout, or leave it out of the quantisation"
    else:
        saw = "no quantiser writes a negative one"
        fix = "check how the model was exported"
    return ModelError(
        f"{node.where()}: the scale of tensor {quoted(tensor)} is {value:g}{where}",
        why=f"a scale ({quoted(name)}) must be positive and finite; {saw}",
        fix=fix,
        node=node.label,
        tensor=tensor,
    )
