"""Instructions of kernels on Cortex-M, counted in QEMU on the networks of tests/models and MLPerf Tiny."""

from tilewright.platform import Rate

DENSE, WEIGHTS, OTHERS = ("dense", "grouped"), ("weights", "row"), ("",)

RATES = {
    "ConvDsp": Rate(0.95, DENSE), "DepthwiseDsp": Rate(2.6, ("depthwise",)), "DenseDsp": Rate(1.5, WEIGHTS),
    "ConvRowDsp": Rate(1.15, DENSE),
    "ProductDsp": Rate(1.5, ("two operands",)), "TransposedDsp": Rate(1.5, DENSE), "PairDsp": Rate(8.5, OTHERS),
    "ConvMve": Rate(0.16, DENSE), "DepthwiseMve": Rate(1.5, ("depthwise",)),
    "DepthwiseColumnsMve": Rate(0.6, ("depthwise",)), "DenseMve": Rate(0.35, WEIGHTS),
    "ProductMve": Rate(0.5, ("two operands",)), "TransposedMve": Rate(0.6, DENSE), "PairMve": Rate(2.8, OTHERS),
    "ConvFpu": Rate(1.4, DENSE), "DenseFpu": Rate(1.8, WEIGHTS), "ProductFpu": Rate(2.0, ("two operands",)),
    "TransposedFpu": Rate(1.6, DENSE), "DepthwiseTileF32": Rate(3.1, ("depthwise",)), "RecurrentFpu": Rate(1.8, OTHERS),
    "RecurrentMve": Rate(1.3, OTHERS), "SettledDsp": Rate(16.0, OTHERS), "FloatPairMve": Rate(5.5, OTHERS),
    "ConvI8": Rate(5.2), "DepthwiseI8": Rate(7.5), "SumCodes": Rate(9.0), "TransposedSumCodes": Rate(11.0),
    "PairCodes": Rate(20.0, OTHERS), "RealCodes": Rate(170.0), "TableCodes": Rate(3.8), "MoveCodes": Rate(8.0),
    "BorderCodes": Rate(8.0), "ResizeCodes": Rate(38.0), "SoftmaxI8": Rate(24.0), "QuantiseF32": Rate(20.0),
    "Relayout": Rate(5.0),
    "PairRunsDsp": Rate(11.0, OTHERS), "QuotientCodes": Rate(20.0), "SoftmaxFewI8": Rate(18.0),
    "PackedConvDot": Rate(2.45), "PackedDenseDot": Rate(2.45), "PackedCodes": Rate(18.0),
}  # fmt: skip
