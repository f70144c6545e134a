"""Which sketch draws which operator."""

from __future__ import annotations

from collections.abc import Mapping

from tilewright.conformance import draws as d

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
    **dict.fromkeys(_BINARY.split(), d.broadcast(2)),
    **dict.fromkeys(("Min", "Max", "Sum", "Mean"), d.broadcast(3)),
    **{f"Reduce{name}": d.reduce for name in _REDUCTIONS.split()},
    **dict.fromkeys(("AveragePool", "MaxPool", "LpPool"), d.pool),
    **dict.fromkeys(("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool", "MeanVarianceNormalization"), d.image),
    **dict.fromkeys(("Softmax", "LogSoftmax", "Hardmax", "LpNormalization"), d.along()),
    **dict.fromkeys(("ArgMax", "ArgMin"), d.along(keepdims=(0, 1), select_last_index=(0, 1))),
    **dict.fromkeys(("Gather", "GatherElements"), d.gather),
    **dict.fromkeys(("GatherND", "ScatterND"), d.tuples),
    **dict.fromkeys(("Scatter", "ScatterElements"), d.scatter),
    **dict.fromkeys(("CumSum", "CumProd"), d.running),
    **dict.fromkeys(("LayerNormalization", "RMSNormalization"), d.layer_norm),
    **dict.fromkeys(("Expand", "Tile"), d.expand),
    **dict.fromkeys(("DepthToSpace", "SpaceToDepth"), d.blocks),
    **dict.fromkeys(("RNN", "GRU", "LSTM"), d.recurrent),
    "BatchNormalization": d.per_channel(4), "InstanceNormalization": d.per_channel(2),
    "GroupNormalization": d.per_channel(2, num_groups=2), "Conv": d.conv, "ConvTranspose": d.conv_transpose,
    "Gemm": d.gemm, "MatMul": d.matmul, "PRelu": d.prelu, "Clip": d.clip, "Cast": d.cast, "Where": d.where,
    "TopK": d.top_k, "Concat": d.concat, "Split": d.split, "Slice": d.cut, "Pad": d.pad, "Transpose": d.transpose,
    "Det": d.squares, "ReverseSequence": d.sequences, "MaxUnpool": d.unpool, "DFT": d.spectrum, "STFT": d.spectrum,
    "TensorScatter": d.cache, "RotaryEmbedding": d.rotary, "QuantizeLinear": d.quantising, "LRN": d.windowed,
    "DequantizeLinear": d.quantising, "DynamicQuantizeLinear": d.dynamic, "BitCast": d.cast, "Softsign": d.unary,
    "Resize": d.resize, "Attention": d.attention, "GridSample": d.sampled,
}  # fmt: skip
"""Sketches by operator; the cases of the standard cover the others."""
