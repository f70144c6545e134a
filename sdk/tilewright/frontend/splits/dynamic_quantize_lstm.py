"""DynamicQuantizeLSTM: an LSTM whose weights are codes.

Its input becomes codes as ONNX Runtime makes them, of the whole sequence at once, and the rest is CodedLstm. ONNX
Runtime rounds the hidden state of each step to eight bits too; here it has sixteen, which is nearer to the network that
was quantised. What CodedLstm does not compute stays an LSTM, with weights unfolded to float and inputs as they are.
"""

from __future__ import annotations

import numpy as np

from tilewright.frontend.splits.parts import Parts
from tilewright.frontend.splits.spelling import MICROSOFT
from tilewright.model import Array, DType
from tilewright.ops.coded_lstm import GATES, too_wide
from tilewright.ops.relayout import DOMAIN

_LSTM = ("activation_alpha", "activation_beta", "activations", "clip", "direction", "hidden_size", "input_forget")
_ACTIVATIONS = ("sigmoid", "tanh", "tanh")


def _lstm(parts: Parts) -> None:
    if not _in_codes(parts):
        weights, recurrent = _unfolded(parts, 1, 8), _unfolded(parts, 2, 10)
        operands = (parts.input(0), weights, recurrent, *(parts.input(index) for index in range(3, 8)))
        parts.ops("LSTM", operands, parts.node.outputs, **parts.attributes(*_LSTM))


def _in_codes(parts: Parts) -> bool:
    """Written as CodedLstm; False where its numbers, or a form of the LSTM, do not suit that."""
    bias = parts.value(3)
    plain = parts.tensor(0).dtype is DType.F32 and not any(parts.input(index) for index in (4, 7))
    if not plain or not _standard(parts) or (bias is None and parts.input(3)):
        return False
    weights = [_codes(parts, 1, 8), _codes(parts, 2, 10)]
    scales = [_scales(parts, each) for each in (8, 10)]
    if any(len(each.shape) != 3 or each.min(initial=0) < -127 or each.max(initial=0) > 127 for each in weights):
        return False
    rows = weights[0].shape[:2]
    if any(each.shape != rows for each in scales) or len(parts.shape(0)) != 3:
        return False
    if too_wide(parts.shape(0)[0], weights[0], scales[0], weights[1], scales[1], bias) is not None:
        return False
    x, scale, zero = parts.several("DynamicQuantizeLinear", (parts.input(0),), 3)
    constants = [
        parts.constant(value, kind)
        for codes, factors in zip(weights, scales, strict=True)
        for value, kind in ((codes, DType.I8), (factors, DType.F32))
    ]
    operands = (x, scale, zero, *constants, parts.input(3), parts.input(5), parts.input(6))
    parts.ops("CodedLstm", operands, parts.node.outputs, domain=DOMAIN, **parts.attributes("direction"))
    return True


def _standard(parts: Parts) -> bool:
    """Sigmoids and tanhs, no limit, no gate that stands for two."""
    names = parts.node.attributes.get("activations", ())
    if not isinstance(names, tuple) or len(names) % len(_ACTIVATIONS):
        return False
    usual = all(str(name).lower() == _ACTIVATIONS[place % 3] for place, name in enumerate(names))
    return usual and not parts.number("clip", 0.0) > 0 and not parts.whole("input_forget", 0)


def _codes(parts: Parts, index: int, scale: int) -> Array:
    """Weights of [directions, inputs, 4 * hidden] codes as the standard lays them, less their zero points."""
    codes = parts.known(index, "its weights").astype(np.int32)
    zero = _spread(parts.known(scale + 1, "a scale or zero point")).astype(np.int32)
    return np.asarray(np.swapaxes(codes - zero, 1, -1)) if codes.ndim == 3 else codes


def _scales(parts: Parts, index: int) -> Array:
    """Scales of the rows, [directions, 4 * hidden]."""
    scale = _spread(parts.known(index, "a scale or zero point")).astype(np.float32)
    rows = GATES * parts.whole("hidden_size", 0)
    if scale.ndim != 3:
        return scale
    return np.broadcast_to(scale, (*scale.shape[:1], 1, rows))[:, 0] if scale.shape[-1:] == (1,) else scale[:, 0]


def _unfolded(parts: Parts, index: int, scale: int) -> str:
    """Weights of [directions, inputs, 4 * hidden] codes as the standard lays them, in float."""
    codes = parts.known(index, "its weights").astype(np.float32)
    zero, factor = (_spread(parts.known(each, "a scale or zero point")) for each in (scale + 1, scale))
    weights = (codes - zero.astype(np.float32)) * factor.astype(np.float32)
    return parts.constant(np.transpose(weights, (0, 2, 1)), DType.F32)


def _spread(value: Array) -> Array:
    """A value for each direction, or each of its columns, as [directions, 1, columns or 1]."""
    return value.reshape(value.shape[0], 1, -1) if value.ndim else value


SPLITS = {(MICROSOFT, "DynamicQuantizeLSTM"): _lstm}
