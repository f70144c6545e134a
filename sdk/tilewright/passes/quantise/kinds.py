"""Which operators mean something on codes, and how."""

from __future__ import annotations

from tilewright.model import Model, Node
from tilewright.passes.quantise.graph import Graph

# They select or move values; quantising before or after them is the same.
MOVES = frozenset({
    "Transpose", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Slice", "Gather", "GatherElements",
    "GatherND", "Expand", "Tile", "Split", "Pad", "DepthToSpace", "SpaceToDepth", "MaxPool", "GlobalMaxPool",
    "ReduceMax", "ReduceMin", "Concat", "Resize", "Upsample",
})  # fmt: skip
# Sums of products: exact integers and one requantisation.
LINEAR = frozenset({"Conv", "ConvTranspose", "Gemm", "MatMul"})
# Sums over one operand.
MEANS = frozenset({"AveragePool", "GlobalAveragePool", "ReduceMean", "ReduceSum"})
# Functions of one real number: a table of all codes.
TABLES = frozenset({
    "Relu", "LeakyRelu", "Sigmoid", "Tanh", "HardSigmoid", "HardSwish", "Elu", "Selu", "Celu", "Gelu", "Mish",
    "Softplus", "Softsign", "ThresholdedRelu", "Clip", "Erf", "Exp", "Log", "Sqrt", "Reciprocal", "Abs", "Neg", "Sign",
    "Floor", "Ceil", "Round", "Sin", "Cos", "Tan", "Atan", "Sinh", "Cosh", "Asinh", "Swish", "Shrink",
})  # fmt: skip
# Functions of two real numbers, in float32 as ONNX says.
PAIRS = frozenset({"Add", "Sub", "Mul", "Div", "Min", "Max", "PRelu", "Pow"})
# Monotone limits that become the clamp of the operator before them.
CLAMPS = frozenset({"Relu", "Clip"})
# They move codes or, where they interpolate, sum them.
RESIZES = frozenset({"Resize", "Upsample"})
COMPUTED = LINEAR | MEANS | TABLES | PAIRS | RESIZES | {"Softmax"}


def data_operands(node: Node) -> tuple[int, ...]:
    """Indices of the operands whose values move into the result; the others are shapes, indices and the like."""
    return tuple(range(len(node.inputs))) if node.op == "Concat" else (0,)


def moves(node: Node) -> bool:
    """True where the operator only selects or moves values, so that it does the same to codes."""
    if node.domain or node.op not in MOVES:
        return False
    if node.op in ("Resize", "Upsample"):
        nearest = node.attributes.get("mode", "nearest") == "nearest"
        return nearest and node.attributes.get("coordinate_transformation_mode", "") != "tf_crop_and_resize"
    return True


def moved_results(node: Node) -> tuple[str, ...]:
    """The outputs of a move that hold its operand's values; the indices of a MaxPool are none of them."""
    return tuple(name for name in (node.outputs[:1] if node.op == "MaxPool" else node.outputs) if name)


def pads_with_zero(graph: Graph, node: Node) -> bool:
    """True for a Pad whose fill is the real 0 or a copy of its edge, so that its codes need no other constant."""
    if node.op != "Pad" or node.attributes.get("mode", "constant") != "constant":
        return True
    if len(node.inputs) > 2 and node.inputs[2]:
        value = graph.value(node.inputs[2])
        return value is not None and not value.any()
    return not node.attributes.get("value", 0.0)


def has_quantisation(model: Model) -> bool:
    """True where the model holds quantising nodes at all."""
    return any(node.op in ("QuantizeLinear", "DequantizeLinear") for node in model.nodes)
