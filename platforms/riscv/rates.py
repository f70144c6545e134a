"""Instructions of kernels on RISC-V, counted in QEMU on the networks of tests/models and MLPerf Tiny."""

from tilewright.platform import Rate

DENSE, WEIGHTS, OTHERS = ("dense", "grouped"), ("weights", "row"), ("",)

RATES = {
    "ConvBlockI8": Rate(2.8, DENSE), "ConvGatherI8": Rate(3.2, DENSE), "DepthwiseWindowI8": Rate(4.5, ("depthwise",)),
    "DepthwiseLinesI8": Rate(4.5, ("depthwise",)),
    "DepthwisePlaneI8": Rate(4.0, ("depthwise",)), "DenseBlockI8": Rate(3.6, WEIGHTS),
    "ProductBlockI8": Rate(4.0, ("two operands",)), "ConvVectorI8": Rate(0.5, DENSE),
    "DenseVectorI8": Rate(0.5, WEIGHTS), "ConvVectorF32": Rate(0.25, DENSE), "DenseVectorF32": Rate(0.3, WEIGHTS),
    "ConvBlockF32": Rate(2.2, DENSE), "DenseBlockF32": Rate(2.4, WEIGHTS),
    "ConvI8": Rate(5.5), "DepthwiseI8": Rate(8.0), "SumCodes": Rate(11.0), "TransposedSumCodes": Rate(12.0),
    "PairCodes": Rate(15.0, OTHERS), "RealCodes": Rate(1000.0), "TableCodes": Rate(4.0), "MoveCodes": Rate(8.0),
    "BorderCodes": Rate(80.0), "ResizeCodes": Rate(90.0), "SoftmaxI8": Rate(27.0), "QuantiseSteps": Rate(55.0),
    "QuantiseGuess": Rate(38.0), "WholeMul": Rate(40.0), "DequantiseWhole": Rate(31.0),
    "Relayout": Rate(5.0),
    "QuotientCodes": Rate(20.0), "SoftmaxFewI8": Rate(20.0),
    "PackedConvDot": Rate(3.55), "PackedDenseDot": Rate(3.55), "PackedCodes": Rate(20.0),
}  # fmt: skip
