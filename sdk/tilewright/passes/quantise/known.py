"""What `--numerics tflm` promises: every node that makes codes is one whose integers are known."""

from __future__ import annotations

from tilewright.errors import UnsupportedNode
from tilewright.model import Model, Node
from tilewright.ops.codes import Exponentials, Mean, Moves, Pairwise, Products, Table
from tilewright.ops.operator import Call
from tilewright.ops.quantised.add import pair_form
from tilewright.ops.quantised.near import near_form
from tilewright.ops.quantised.softmax_twice import softmax_twice_unknown
from tilewright.ops.quantised.twice_elements import unknown
from tilewright.ops.registry import call_of, codes_of


def require_known(model: Model) -> None:
    """UnsupportedNode for the first node that rounds in another way than TensorFlow Lite Micro."""
    for node in model.nodes:
        why = _unlike(model, node)
        if why:
            raise UnsupportedNode(
                f"node '{node.name}' ({node.op}): --numerics tflm does not have it", why=why,
                fix="use --numerics exact", node=node.name,
            )  # fmt: skip


def _unlike(model: Model, node: Node) -> str | None:
    tensors = [model.tensors[name] for name in (*node.inputs[:1], *node.outputs) if name]
    if not any(tensor.quantisation for tensor in tensors):
        computes = any(tensor.dtype.is_float for tensor in tensors) and not isinstance(codes_of(node), Moves)
        return "it computes in floats" if computes else None
    codes = [tensor for tensor in tensors if tensor.quantisation]
    if node.op == "DequantizeLinear" or (node.op == "QuantizeLinear" and codes[0] is not tensors[0]):
        return None
    moved = isinstance(codes_of(node), Moves) and len({(t.quantisation, t.dtype) for t in codes}) == 1
    if any(tensor.dtype.bits > 8 for tensor in codes[: 1 if _shares(node) else None]) and not moved:
        return "its codes have more than eight bits"
    if node.op == "QuantizeLinear":
        return None
    inputs = tuple(model.tensors[name] if name else None for name in node.inputs)
    constants = {i: model.constants[name] for i, name in enumerate(node.inputs) if name in model.constants}
    call = call_of(node, inputs, tuple(model.tensors[name] for name in node.outputs), constants, model.opset)
    return _of_codes(call)


def _shares(node: Node) -> bool:
    return isinstance(codes_of(node), Exponentials)


def _of_codes(call: Call) -> str | None:
    x, y = call.tensor(0), call.outputs[0]
    match codes_of(call.node):
        case Moves() | Products():
            return None
        case Mean(windows=True):
            same = x.quantisation == y.quantisation and x.dtype is y.dtype
            return None if same else "its operand and its result have scales of their own"
        case Mean():
            return None
        case Pairwise(factored=True) if unknown(call) is None:
            assert call.operator is not None
            if pair_form(call.operator, call) is None and near_form(call.operator, call) is None:
                return "no factors of 64 bits are right for every pair of codes"
            return None
        case Exponentials():
            return softmax_twice_unknown(call)
        case Table():
            return unknown(call)
    return "how the kernels compute it is not known here"
