"""What `--numerics tflm` promises: every node that makes codes is one whose integers are known."""

from __future__ import annotations

from tilewright.errors import UnsupportedNode
from tilewright.model import DType, Model, Node, Tensor
from tilewright.ops.codes import AsIntegers, Exponentials, Interpolates, Mean, Moves, Pairwise, Products, Table
from tilewright.ops.operator import Call
from tilewright.ops.quantised.resize import resize_form
from tilewright.ops.quantised.softmax_twice import softmax_twice_unknown
from tilewright.ops.quantised.twice_elements import unknown
from tilewright.ops.registry import call_of, codes_of
from tilewright.tflite.unlike import WHY


def require_known(model: Model) -> None:
    """UnsupportedNode for the first node that rounds in another way than TensorFlow Lite Micro."""
    for result, word in model.unlike:
        raise UnsupportedNode(
            f"tensor '{result}': --numerics tflm does not have it", why=WHY[word], fix="use --numerics exact",
            tensor=result,
        )  # fmt: skip
    coded = _before_codes(model)
    for node in model.nodes:
        why = _unlike(model, node, floats=node.name not in coded)
        if why:
            raise UnsupportedNode(
                f"node '{node.name}' ({node.op}): --numerics tflm does not have it", why=why,
                fix="use --numerics exact", node=node.name,
            )  # fmt: skip


def _before_codes(model: Model) -> set[str]:
    """Nodes whose results become codes or other integers, or all where there are none: floats behind them promise
    nothing."""
    writers = model.producers()
    work = [
        name for name, tensor in model.tensors.items()
        if name in writers and (tensor.quantisation is not None or not tensor.dtype.is_float)
    ]  # fmt: skip
    work += [state.present for state in model.states]
    if not any(tensor.quantisation is not None for tensor in model.tensors.values()):
        return {node.name for node in model.nodes}
    coded = set[str]()
    while work:
        node = writers.get(work.pop())
        if node is not None and node.name not in coded:
            coded.add(node.name)
            work += [name for name in node.inputs if name]
    return coded


def _unlike(model: Model, node: Node, floats: bool) -> str | None:
    """Why a node is refused; `floats` where nothing behind it becomes a code."""
    tensors = [model.tensors[name] for name in (*node.inputs[:1], *node.outputs) if name]
    if not any(tensor.quantisation for tensor in tensors):
        exact = isinstance(codes_of(node), Moves) or (node.op == "Cast" and _is_exact(tensors[0], tensors[-1]))
        computes = any(tensor.dtype.is_float for tensor in tensors) and not exact
        return "it computes in floats" if computes and not floats else None
    codes = [tensor for tensor in tensors if tensor.quantisation]
    if node.op == "DequantizeLinear" or (node.op == "QuantizeLinear" and codes[0] is not tensors[0]):
        return None
    inputs = tuple(model.tensors[name] if name else None for name in node.inputs)
    constants = {i: model.constants[name] for i, name in enumerate(node.inputs) if name in model.constants}
    return _of_codes(call_of(node, inputs, tuple(model.tensors[name] for name in node.outputs), constants, model.opset))


def _is_exact(source: Tensor, target: Tensor) -> bool:
    """True for integers that a float32 holds all of."""
    return target.dtype is DType.F32 and not source.dtype.is_float and source.dtype.bits <= 16


def _of_codes(call: Call) -> str | None:
    x, y = call.tensor(0), call.outputs[0]
    wide = any(tensor.dtype.bits > 8 for tensor in (x, y) if tensor.quantisation is not None)
    same = x.quantisation == y.quantisation and x.dtype is y.dtype
    if call.node.op == "QuantizeLinear":
        return unknown(call)
    match codes_of(call.node):
        case Moves():
            return "its operands have other scales than its result" if wide and not _of_one_meaning(call) else None
        case Products():
            return _unknown_product(call) if wide else None
        case Mean(windows=True):
            return None if same else "its operand and its result have scales of their own"
        case Mean():
            return None
        case AsIntegers():
            return None
        case Pairwise():
            return unknown(call)
        case Interpolates() if not wide:
            return None if resize_form(call) else "the kernels resize int8 images linearly, to one scale"
        case Exponentials():
            return softmax_twice_unknown(call)
        case Table():
            return unknown(call)
    return _WIDE if wide else "how the kernels compute it is not known here"


_WIDE = "its codes have more than eight bits"


def _of_one_meaning(call: Call) -> bool:
    tensors = [t for t in (*call.inputs, *call.outputs) if t is not None and t.quantisation is not None]
    return len({(tensor.quantisation, tensor.dtype) for tensor in tensors}) == 1


def _unknown_product(call: Call) -> str | None:
    """Codes of 16 bits come of such codes and weights of 8, or in SVDF: to its state, and from it by weights of 16."""
    types = call.tensor(0).dtype, call.tensor(1).dtype, call.outputs[0].dtype
    return None if types in _WIDE_PRODUCTS else _WIDE


_WIDE_PRODUCTS = (
    (DType.I16, DType.I8, DType.I16), (DType.I8, DType.I8, DType.I16), (DType.I16, DType.I16, DType.I8),
)  # fmt: skip
