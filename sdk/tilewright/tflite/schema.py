"""The part of TensorFlow Lite's schema that is read: slots of fields, names of operators, element types.

Source: tensorflow/lite/schema/schema.fbs, version 3, where a field's slot is its place in the table and the type of a
union is a field of its own.
"""

from __future__ import annotations

from enum import IntEnum

from tilewright.model import DType
from tilewright.tflite.flatbuffer import Integer, Real

IDENTIFIER = b"TFL3"
IDENTIFIER_OFFSET = 4


class ModelTable:
    """Slots of `Model`."""

    OPERATOR_CODES = 1
    SUBGRAPHS = 2
    BUFFERS = 4


class OperatorCodeTable:
    """Fields of `OperatorCode`; codes below 127 may stand in the old field alone."""

    OLD_CODE = Integer(0, "b")
    CUSTOM_CODE = 1
    CODE = Integer(3)


class SubGraphTable:
    """Slots of `SubGraph`."""

    TENSORS = 0
    INPUTS = 1
    OUTPUTS = 2
    OPERATORS = 3
    NAME = 4


class TensorTable:
    """Fields of `Tensor`."""

    SHAPE = 0
    TYPE = Integer(1, "b")
    BUFFER = Integer(2, "I")
    NAME = 3
    QUANTIZATION = 4
    IS_VARIABLE = Integer(5, "b")
    SPARSITY = 6


class QuantizationTable:
    """Fields of `QuantizationParameters`."""

    SCALE = 2
    ZERO_POINT = 3
    DETAILS = Integer(4, "B")
    AXIS = Integer(6)


class BufferTable:
    """Fields of `Buffer`; large files keep the data behind the FlatBuffer, at an offset from the file's begin."""

    DATA = 0
    OFFSET = Integer(1, "Q")
    SIZE = Integer(2, "Q")


class OperatorTable:
    """Fields of `Operator`."""

    CODE_INDEX = Integer(0, "I")
    INPUTS = 1
    OUTPUTS = 2
    OPTIONS = 4
    CUSTOM_OPTIONS = 5


class Conv2D:
    """Fields of `Conv2DOptions`."""

    PADDING = Integer(0, "b")
    STRIDES = (Integer(2), Integer(1))
    ACTIVATION = Integer(3, "b")
    DILATIONS = (Integer(5, default=1), Integer(4, default=1))
    BIAS_TYPE = Integer(6, "b")


class DepthwiseConv2D:
    """Fields of `DepthwiseConv2DOptions`."""

    PADDING = Integer(0, "b")
    STRIDES = (Integer(2), Integer(1))
    ACTIVATION = Integer(4, "b")
    DILATIONS = (Integer(6, default=1), Integer(5, default=1))


class TransposeConv:
    """Fields of `TransposeConvOptions`."""

    PADDING = Integer(0, "b")
    STRIDES = (Integer(2), Integer(1))
    ACTIVATION = Integer(3, "b")


class Pool2D:
    """Fields of `Pool2DOptions`."""

    PADDING = Integer(0, "b")
    STRIDES = (Integer(2), Integer(1))
    SIZES = (Integer(4), Integer(3))
    ACTIVATION = Integer(5, "b")


class FullyConnected:
    """Fields of `FullyConnectedOptions`."""

    ACTIVATION = Integer(0, "b")
    WEIGHTS_FORMAT = Integer(1, "b")
    KEEP_DIMENSIONS = Integer(2, "b")
    BIAS_TYPE = Integer(4, "b")


class BatchMatMul:
    """Fields of `BatchMatMulOptions`."""

    TRANSPOSED = (Integer(0, "b"), Integer(1, "b"))


class Arithmetic:
    """The field that the options of Add, Sub, Mul, Div and L2Norm begin with."""

    ACTIVATION = Integer(0, "b")


class Concatenation:
    """Fields of `ConcatenationOptions`."""

    AXIS = Integer(0)
    ACTIVATION = Integer(1, "b")


class Softmax:
    """Fields of `SoftmaxOptions`."""

    BETA = Real(0)


class LeakyRelu:
    """Fields of `LeakyReluOptions`."""

    ALPHA = Real(0)


class Resize:
    """Fields of `ResizeBilinearOptions` and of `ResizeNearestNeighborOptions`: corners, half pixels."""

    BILINEAR = (Integer(2, "b"), Integer(3, "b"))
    NEAREST = (Integer(0, "b"), Integer(1, "b"))


class StridedSlice:
    """Fields of `StridedSliceOptions`; bit n of a mask speaks of axis n."""

    BEGIN_MASK = Integer(0)
    END_MASK = Integer(1)
    ELLIPSIS_MASK = Integer(2)
    NEW_AXIS_MASK = Integer(3)
    SHRINK_MASK = Integer(4)
    OFFSET = Integer(5, "b")


class Reducer:
    """Fields of `ReducerOptions`."""

    KEEP_DIMENSIONS = Integer(0, "b")


class Pack:
    """Fields of `PackOptions` and `UnpackOptions`."""

    AXIS = Integer(1)


class Gather:
    """Fields of `GatherOptions`."""

    AXIS = Integer(0)
    BATCH_AXES = Integer(1)


class Single:
    """The first field of options with one: mode of MirrorPad, block of DepthToSpace, subgraph of CallOnce."""

    MODE = Integer(0, "b")
    NUMBER = Integer(0)


class If:
    """Fields of `IfOptions`: numbers of subgraphs."""

    THEN = Integer(0)
    ELSE = Integer(1)


class While:
    """Fields of `WhileOptions`: numbers of subgraphs."""

    CONDITION = Integer(0)
    BODY = Integer(1)


class Cumsum:
    """Fields of `CumsumOptions`."""

    EXCLUSIVE = Integer(0, "b")
    REVERSE = Integer(1, "b")


class VarHandle:
    """Slots of `VarHandleOptions`: both are strings."""

    CONTAINER = 0
    SHARED_NAME = 1


class Recurrent:
    """Fields of `SVDFOptions` and `UnidirectionalSequenceLSTMOptions`."""

    RANK = Integer(0)
    SVDF_ACTIVATION = Integer(1, "b")
    LSTM_ACTIVATION = Integer(0, "b")
    CELL_CLIP = Real(1)
    TIME_MAJOR = Integer(3, "b")
    DIAGONAL = Integer(5, "b")


class Activation(IntEnum):
    """`ActivationFunctionType`."""

    NONE = 0
    RELU = 1
    RELU_N1_TO_1 = 2
    RELU6 = 3
    TANH = 4
    SIGN_BIT = 5


SAME = 0
"""`Padding`: as much as makes the result of the input's size over the stride; 1 is none."""

RESOURCE = 13
ELEMENT_TYPES = {
    0: DType.F32, 1: DType.F16, 2: DType.I32, 3: DType.U8, 4: DType.I64, 6: DType.BOOL, 7: DType.I16, 9: DType.I8,
    10: DType.F64, 12: DType.U64, 15: DType.U32, 16: DType.U16, 17: DType.I4, 18: DType.BF16,
}  # fmt: skip
"""`TensorType`, of what ONNX has too."""
OTHER_TYPES = {5: "STRING", 8: "COMPLEX64", 11: "COMPLEX128", RESOURCE: "RESOURCE", 14: "VARIANT"}

CUSTOM = "CUSTOM"

BUILTINS = (
    "ADD AVERAGE_POOL_2D CONCATENATION CONV_2D DEPTHWISE_CONV_2D DEPTH_TO_SPACE DEQUANTIZE EMBEDDING_LOOKUP FLOOR "
    "FULLY_CONNECTED HASHTABLE_LOOKUP L2_NORMALIZATION L2_POOL_2D LOCAL_RESPONSE_NORMALIZATION LOGISTIC "
    "LSH_PROJECTION LSTM MAX_POOL_2D MUL RELU RELU_N1_TO_1 RELU6 RESHAPE RESIZE_BILINEAR RNN SOFTMAX SPACE_TO_DEPTH "
    "SVDF TANH CONCAT_EMBEDDINGS SKIP_GRAM CALL CUSTOM EMBEDDING_LOOKUP_SPARSE PAD UNIDIRECTIONAL_SEQUENCE_RNN GATHER "
    "BATCH_TO_SPACE_ND SPACE_TO_BATCH_ND TRANSPOSE MEAN SUB DIV SQUEEZE UNIDIRECTIONAL_SEQUENCE_LSTM STRIDED_SLICE "
    "BIDIRECTIONAL_SEQUENCE_RNN EXP TOPK_V2 SPLIT LOG_SOFTMAX DELEGATE BIDIRECTIONAL_SEQUENCE_LSTM CAST PRELU MAXIMUM "
    "ARG_MAX MINIMUM LESS NEG PADV2 GREATER GREATER_EQUAL LESS_EQUAL SELECT SLICE SIN TRANSPOSE_CONV SPARSE_TO_DENSE "
    "TILE EXPAND_DIMS EQUAL NOT_EQUAL LOG SUM SQRT RSQRT SHAPE POW ARG_MIN FAKE_QUANT REDUCE_PROD REDUCE_MAX PACK "
    "LOGICAL_OR ONE_HOT LOGICAL_AND LOGICAL_NOT UNPACK REDUCE_MIN FLOOR_DIV REDUCE_ANY SQUARE ZEROS_LIKE FILL "
    "FLOOR_MOD RANGE RESIZE_NEAREST_NEIGHBOR LEAKY_RELU SQUARED_DIFFERENCE MIRROR_PAD ABS SPLIT_V UNIQUE CEIL "
    "REVERSE_V2 ADD_N GATHER_ND COS WHERE RANK ELU REVERSE_SEQUENCE MATRIX_DIAG QUANTIZE MATRIX_SET_DIAG ROUND "
    "HARD_SWISH IF WHILE NON_MAX_SUPPRESSION_V4 NON_MAX_SUPPRESSION_V5 SCATTER_ND SELECT_V2 DENSIFY SEGMENT_SUM "
    "BATCH_MATMUL PLACEHOLDER_FOR_GREATER_OP_CODES CUMSUM CALL_ONCE BROADCAST_TO RFFT2D CONV_3D IMAG REAL COMPLEX_ABS "
    "HASHTABLE HASHTABLE_FIND HASHTABLE_IMPORT HASHTABLE_SIZE REDUCE_ALL CONV_3D_TRANSPOSE VAR_HANDLE READ_VARIABLE "
    "ASSIGN_VARIABLE BROADCAST_ARGS RANDOM_STANDARD_NORMAL BUCKETIZE RANDOM_UNIFORM MULTINOMIAL GELU "
    "DYNAMIC_UPDATE_SLICE RELU_0_TO_1 UNSORTED_SEGMENT_PROD UNSORTED_SEGMENT_MAX UNSORTED_SEGMENT_SUM ATAN2 "
    "UNSORTED_SEGMENT_MIN SIGN BITCAST BITWISE_XOR RIGHT_SHIFT"
).split()
"""Names of `BuiltinOperator` by number; no runtime for microcontrollers reads those of StableHLO behind them."""
