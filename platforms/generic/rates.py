"""Instructions of kernels on x86-64, counted by callgrind on the networks of tests/models and MLPerf Tiny."""

from tilewright.platform import Rate

DENSE, WEIGHTS, OTHERS = ("dense", "grouped"), ("weights", "row"), ("",)

RATES = {
    "ConvDotI8": Rate(0.7, DENSE), "DenseDotI8": Rate(1.2, WEIGHTS), "ConvF32": Rate(0.9, DENSE),
    "DenseF32": Rate(1.35, WEIGHTS), "ConvShortI8": Rate(3.5), "ConvI8": Rate(6.0), "DepthwiseI8": Rate(5.2),
    "DepthwiseRowsI8": Rate(3.9), "SumCodes": Rate(10.0), "TransposedSumCodes": Rate(11.0), "Recurrent": Rate(5.0),
    "PairCodes": Rate(16.5, OTHERS), "RealCodes": Rate(60.0), "TableCodes": Rate(4.8), "MoveCodes": Rate(7.0),
    "ResizeCodes": Rate(22.0),
    "QuotientCodes": Rate(18.0), "SoftmaxFewI8": Rate(20.0),
    "PackedConvDot": Rate(0.42), "PackedDenseDot": Rate(0.5), "PackedCodes": Rate(9.0),
}  # fmt: skip
