"""DynamicQuantizeLSTM: an LSTM whose weights are codes.

ONNX Runtime rounds the inputs and the hidden state of each step to codes as well; here they stay as they are, so that
the result is nearer to the network that was quantised. Weights are unfolded to float.
"""

from __future__ import annotations

import numpy as np

from tilewright.frontend.splits.parts import Parts
from tilewright.frontend.splits.spelling import MICROSOFT
from tilewright.model import Array, DType

_LSTM = ("activation_alpha", "activation_beta", "activations", "clip", "direction", "hidden_size", "input_forget")


def _unfolded(parts: Parts, index: int, scale: int) -> str:
    """Weights of [directions, inputs, 4 * hidden] codes as the standard lays them, in float."""
    codes = parts.known(index, "its weights").astype(np.float32)
    zero, factor = (_spread(parts.known(each, "a scale or zero point")) for each in (scale + 1, scale))
    weights = (codes - zero.astype(np.float32)) * factor.astype(np.float32)
    return parts.constant(np.transpose(weights, (0, 2, 1)), DType.F32)


def _spread(value: Array) -> Array:
    """A value for each direction, or each of its columns, as [directions, 1, columns or 1]."""
    return value.reshape(value.shape[0], 1, -1) if value.ndim else value


def _lstm(parts: Parts) -> None:
    weights, recurrent = _unfolded(parts, 1, 8), _unfolded(parts, 2, 10)
    operands = (parts.input(0), weights, recurrent, *(parts.input(index) for index in range(3, 8)))
    parts.ops("LSTM", operands, parts.node.outputs, **parts.attributes(*_LSTM))


SPLITS = {(MICROSOFT, "DynamicQuantizeLSTM"): _lstm}
