"""Cycles of kernels on eight cores in GVSoC, as the cost models have them on the networks of tests/models."""

from tilewright.platform import Rate

DENSE, OTHERS = ("dense", "grouped"), ("",)

RATES = {
    "BlockConvI8": Rate(0.08, DENSE), "BlockDepthwiseI8": Rate(0.5, ("depthwise",)),
    "BlockDenseI8": Rate(0.075, ("weights",)), "DenseRowI8": Rate(1.5, ("row",)),
    "TiledProductI8": Rate(0.13, ("two operands",)), "ShortProductI8": Rate(0.15, ("two operands",)),
    "TiledPairI8": Rate(1.5, OTHERS),
    "TiledDepthwiseI8": Rate(3.7), "TiledConvI8": Rate(1.2), "TiledDenseI8": Rate(1.5), "TiledSumCodes": Rate(3.0),
    "SoftmaxI8": Rate(108.0),
    "Relayout": Rate(10.0),
}  # fmt: skip
