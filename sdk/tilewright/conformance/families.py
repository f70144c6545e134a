"""Which sketch draws which operator."""

from __future__ import annotations

from collections.abc import Mapping

from tilewright.conformance import draws as d
from tilewright.conformance import draws_moves as m

_UNARY = (
    "Abs Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Erf Exp Floor Identity IsInf IsNaN Log Neg Not Reciprocal Relu "
    "Round Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Tan Tanh LeakyRelu Elu Selu Celu Gelu HardSigmoid HardSwish "
    "Mish Swish ThresholdedRelu Shrink BitwiseNot"
)
_BINARY = (
    "Add Sub Mul Div Pow Mod And Or Xor Equal Greater Less GreaterOrEqual LessOrEqual BitwiseAnd BitwiseOr BitwiseXor "
    "BitShift"
)
_REDUCTIONS = "Max Min Mean Sum Prod L1 L2 LogSum LogSumExp SumSquare"

FAMILIES: Mapping[str, d.Sketcher] = {
    **dict.fromkeys(_UNARY.split(), d.unary),
    **dict.fromkeys(_BINARY.split(), d.broadcast),
    **dict.fromkeys(("Min", "Max", "Sum", "Mean"), d.variadic),
    **{f"Reduce{name}": d.reduce for name in _REDUCTIONS.split()},
    **dict.fromkeys(("AveragePool", "MaxPool", "LpPool"), d.pool),
    **dict.fromkeys(("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool", "MeanVarianceNormalization"), d.image),
    **dict.fromkeys(("Softmax", "LogSoftmax", "Hardmax", "LpNormalization"), d.along()),
    **dict.fromkeys(("ArgMax", "ArgMin"), d.along(keepdims=(0, 1), select_last_index=(0, 1))),
    **dict.fromkeys(("Gather", "GatherElements"), m.gather),
    **dict.fromkeys(("GatherND", "ScatterND"), m.tuples),
    **dict.fromkeys(("Scatter", "ScatterElements"), m.scatter),
    **dict.fromkeys(("CumSum", "CumProd"), d.running),
    **dict.fromkeys(("LayerNormalization", "RMSNormalization"), d.layer_norm),
    **dict.fromkeys(("Expand", "Tile"), m.expand),
    **dict.fromkeys(("DepthToSpace", "SpaceToDepth"), m.blocks),
    **dict.fromkeys(("RNN", "GRU", "LSTM"), m.recurrent),
    "BatchNormalization": d.per_channel(4), "InstanceNormalization": d.per_channel(2),
    "GroupNormalization": d.per_channel(2, num_groups=2), "Conv": d.conv, "ConvTranspose": d.conv_transpose,
    "Gemm": d.gemm, "MatMul": d.matmul, "PRelu": d.prelu, "Clip": d.clip, "Cast": d.cast, "Where": d.where,
    "TopK": d.top_k, "Concat": m.concat, "Split": m.split, "Slice": m.cut, "Pad": m.pad, "Transpose": m.transpose,
    "Det": m.squares, "ReverseSequence": m.sequences, "MaxUnpool": m.unpool, "DFT": m.spectrum, "STFT": m.spectrum,
    "TensorScatter": m.cache, "RotaryEmbedding": m.rotary, "QuantizeLinear": m.quantising, "LRN": m.windowed,
    "DequantizeLinear": m.quantising, "DynamicQuantizeLinear": m.dynamic, "BitCast": d.cast, "Softsign": d.unary,
    "Resize": m.resize, "Attention": m.attention, "GridSample": m.sampled,
}  # fmt: skip
"""Sketches by operator; the cases of the standard cover the others."""
