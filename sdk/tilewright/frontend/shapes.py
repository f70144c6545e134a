"""Walks the nodes once in order: expands functions, gives every tensor a type and folds what is constant.

Because types are known when a node is reached, functions of the standard are expanded with the exact shapes, and
chains such as Shape -> Gather -> Concat -> Reshape vanish on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tilewright.errors import ModelError, TilewrightError, UnsupportedNode
from tilewright.frontend.branch import branched, joined
from tilewright.frontend.contrib import unsupported
from tilewright.frontend.expand import instantiate, standard_function
from tilewright.frontend.lengths import bounded, carried, keeps_zeros, measured
from tilewright.frontend.names import quoted, unique
from tilewright.frontend.opset import Surroundings, invalid, normalise
from tilewright.frontend.raw import Body, RawNode, Reference, Value
from tilewright.frontend.scales import check_scales
from tilewright.frontend.splits.registry import split
from tilewright.frontend.turns import COUNTED, End, measured_turns
from tilewright.frontend.types import check_types
from tilewright.frontend.unroll import scanned, unrolled
from tilewright.frontend.values import BYTE_LIMIT, check_size
from tilewright.model import Array, Attribute, DType, Length, Node, Tensor
from tilewright.ops.codes import Products
from tilewright.ops.operator import Call, Operator, TensorType
from tilewright.ops.registry import find

OPSET = 21  # the version that normalised nodes are said to be of
NODE_LIMIT = 30_000
FOLD_WORK_LIMIT = 1 << 31  # multiply-accumulates, or elements moved, that folding may cost in all
FOLD_BYTES_LIMIT = 1 << 30
_CONTROL_FLOW: Mapping[str, Callable[..., tuple[RawNode, ...]]] = {
    "If": branched,
    "If of both": joined,
    "Loop": unrolled,
    "Scan": scanned,
    COUNTED: measured_turns,
}

Find = Callable[[str, str], Operator | None]


@dataclass
class Graph:
    """The graph while it is being built; `functions` are those that the model itself brings, `outputs` its outputs.

    `bounds` are the most elements where data decides, by the name of a node or tensor, of which loops
    `used` some; `counts` the tensors that say how many there are, by the node that makes them, and `zeros` those whose
    padding is zero. `ends` say which loops have ended at their bound.
    """

    tensors: dict[str, Tensor]
    constants: dict[str, Array]
    functions: Mapping[tuple[str, str], Body]
    taken: set[str]
    outputs: frozenset[str]
    find: Find = find
    bounds: Mapping[str, int] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    counts: dict[str, str] = field(default_factory=dict)
    zeros: set[str] = field(default_factory=set)
    ends: list[End] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    _node_names: set[str] = field(default_factory=set)
    _visited: int = 0
    _fold_work: int = 0
    _constant_bytes: int = 0

    def add_constant(self, name: str, dtype: DType, array: Array) -> None:
        """Note a constant; ModelError where all of them have no place in 2 GiB."""
        self._constant_bytes += array.nbytes
        if self._constant_bytes > BYTE_LIMIT:
            why = f"its constants take more than {BYTE_LIMIT} bytes"
            raise ModelError("the model is too large", why=why, fix="keep the part to deploy", tensor=name)
        self.tensors[name] = Tensor(name, dtype, array.shape)
        self.constants[name] = array

    def walk(self, nodes: Sequence[RawNode]) -> None:
        """Add the nodes, which are in topological order."""
        work = list(reversed(nodes))
        while work:
            self._visited += 1
            if self._visited > NODE_LIMIT:
                why = f"with its functions expanded it has more than {NODE_LIMIT} nodes"
                raise ModelError("the model is too large", why=why, fix="keep the part to deploy")
            node = work.pop()
            work.extend(node.part(made) for made in reversed(self._visit(node)))

    def fresh(self, name: str) -> str:
        """A tensor name that nothing has yet."""
        return unique(name, self.taken)

    def _visit(self, node: RawNode) -> tuple[RawNode, ...]:
        """Add a node, or return those that take its place."""
        body = self.functions.get((node.domain, node.op))
        if body is not None:
            return self._instantiate(body, node)
        if node.op == "Constant" and not node.domain:
            self.add_constant(node.outputs[0], *_constant(node))
            return ()
        if node.op in _CONTROL_FLOW and not node.domain:
            return _CONTROL_FLOW[node.op](node, self)
        around = Surroundings(self.tensors, self.constants, self.fresh, self.outputs)
        if not node.domain:
            node = self._checked(node)
            if node.op == "Shape" and (operand := self.tensors.get(node.inputs[0] if node.inputs else "")):
                if operand.lengths:
                    return measured(node, operand.lengths, operand.shape, self)
            forms = normalise(node, around)
            if len(forms) > 1:
                return forms
            node = forms[0]
        if parts := split(node, around):
            return parts
        operator = self.find(node.op, node.domain)
        if operator is not None:
            self._apply(operator, node)
            return ()
        body = self._standard(node)
        if body is None:
            raise unsupported(node)
        return self._instantiate(body, node)

    def _instantiate(self, body: Body, node: RawNode) -> tuple[RawNode, ...]:
        nodes, constants = instantiate(body, node, node.attributes, self.fresh)
        for name, value in constants.items():
            self.add_constant(name, value.dtype, value.array)
        return nodes

    def _checked(self, node: RawNode) -> RawNode:
        """The node itself; ModelError where it has fewer inputs or outputs than its operator always needs."""
        if not node.outputs or not any(node.outputs):
            raise invalid(node, "it has no output")
        return node

    def _standard(self, node: RawNode) -> Body | None:
        operands = tuple(self.tensors[name] if name else None for name in node.inputs)
        try:
            return standard_function(node, operands)
        except (RuntimeError, ValueError, TypeError) as error:
            raise invalid(node, " ".join(str(error).split())[:200]) from error

    def _apply(self, operator: Operator, raw: RawNode) -> None:
        node = Node(
            unique(raw.name or f"{raw.op}_{len(self.nodes)}", self._node_names),
            raw.op,
            raw.inputs,
            self._first_named(raw, operator),
            _attributes(raw),
            raw.domain,
            part_of=raw.part_of,
        )
        operands = tuple(self.tensors[name] if name else None for name in node.inputs)
        check_types(raw, operands)
        check_scales(raw, self.constants)
        values = {i: self.constants[name] for i, name in enumerate(node.inputs) if name in self.constants}
        padded = bounded(Call(node, operands, (), values, OPSET, operator=operator), self.bounds, self.fresh)
        if padded is not None:
            node = padded.node
            self.counts[node.name] = node.outputs[-1]
        types = infer(operator, Call(node, operands, (), values, OPSET, operator=operator))
        outputs = []
        for name, kind in zip(node.outputs, types, strict=False):
            check_size(kind.shape, kind.dtype, name)
            outputs.append(Tensor(name, kind.dtype, kind.shape))
        if missing := [name for name in node.outputs[len(types) :] if name]:
            raise invalid(raw, f"it has {len(types)} outputs, {quoted(missing[0])} is one too many")
        call = Call(node, operands, tuple(outputs), values, OPSET, operator=operator)
        lengths = carried(call, self.zeros)
        if padded is not None:
            lengths = padded.lengths
            self.zeros.update(node.outputs)
        elif keeps_zeros(call, self.zeros):
            self.zeros.update(node.outputs)
        outputs = [replace(tensor, lengths=axes) for tensor, axes in zip(outputs, lengths, strict=False)]
        self.tensors.update((tensor.name, tensor) for tensor in outputs if tensor.name)
        call = replace(call, outputs=tuple(outputs))
        if not any(tensor.elements for tensor in outputs if tensor.name):  # what has no element is known
            for tensor in outputs:
                if tensor.name:
                    self.add_constant(tensor.name, tensor.dtype, np.zeros(tensor.shape, tensor.dtype.numpy))
        elif self._foldable(operator, call):
            for tensor, array in zip(call.outputs, evaluate(operator, call), strict=False):
                if tensor.name:
                    self.add_constant(tensor.name, tensor.dtype, array)
        else:
            self.nodes.append(node)

    def _first_named(self, raw: RawNode, operator: Operator) -> tuple[str, ...]:
        """The outputs; one that comes first and is omitted gets a name, for it says what a node is to every pass."""
        first, *others = raw.outputs
        if first or operator.required_results == 0:
            return raw.outputs
        return (self.fresh(f"{raw.label}/unused"), *others)

    def measure(self, node: str, tensor: str, length: Length) -> None:
        """Note that data decides the length of an axis, behind whose elements are zeros."""
        self.tensors[tensor] = replace(self.tensors[tensor], lengths=(length,))
        self.counts[node] = length.count
        self.zeros.add(tensor)

    def append(self, node: Node) -> None:
        """Add a node whose tensors have their types already."""
        self.nodes.append(replace(node, name=unique(node.name, self._node_names)))

    def _foldable(self, operator: Operator, call: Call) -> bool:
        node = call.node
        if not operator.folds and not self.outputs.intersection(node.outputs):
            return False
        if operator.reads_values and any(name and name not in self.constants for name in node.inputs):
            return False
        work = fold_work(call)
        if self._fold_work + work > FOLD_WORK_LIMIT or sum(t.elements * 8 for t in call.outputs) > FOLD_BYTES_LIMIT:
            return False
        self._fold_work += work
        return True


def infer(operator: Operator, call: Call) -> tuple[TensorType, ...]:
    """The types of the outputs; ModelError where the operands or attributes make no sense to the shape rule."""
    try:
        return operator.infer(call)
    except TilewrightError:
        raise
    except (ArithmeticError, LookupError, ValueError, TypeError) as error:
        raise call.invalid(f"its operands and attributes do not go together ({_reason(error)})") from error


def evaluate(operator: Operator, call: Call) -> tuple[Array, ...]:
    """The values of a call whose operands are constants; inputs of Shape and kin need none."""
    arrays: list[Array | None] = [
        call.constants.get(i, np.broadcast_to(np.zeros((), tensor.dtype.numpy), tensor.shape)) if tensor else None
        for i, tensor in enumerate(call.inputs)
    ]
    try:
        with np.errstate(all="ignore"):
            results = operator.evaluate(call, arrays)
    except TilewrightError:
        raise
    except (ArithmeticError, LookupError, ValueError, TypeError, MemoryError) as error:
        raise call.invalid(f"it cannot be computed from its constants ({_reason(error)})") from error
    for tensor, array in zip(call.outputs, results, strict=False):
        assert array.shape == tensor.shape, (call.node, tensor, array.shape)
        assert array.dtype == tensor.dtype.numpy, (call.node, tensor, array.dtype)
    return results


def fold_work(call: Call) -> int:
    """About how many elementary steps the evaluation costs."""
    results = sum(tensor.elements for tensor in call.outputs)
    elements = results + sum(tensor.elements for tensor in call.inputs if tensor)
    if isinstance(call.codes, Products):
        return elements + results * call.codes.depth(call.node, call.shape(1))
    own = call.operator.work if call.operator is not None else None
    return elements + (own(call) if own is not None else 0)


def _reason(error: Exception) -> str:
    return " ".join(str(error).split())[:160] or type(error).__name__


def _attributes(node: RawNode) -> dict[str, Attribute]:
    attributes: dict[str, Attribute] = {}
    for name, value in node.attributes.items():
        if isinstance(value, Body | Reference):
            raise invalid(node, f"attribute {quoted(name)} has the wrong type")
        attributes[name] = value.array if isinstance(value, Value) else value
    return attributes


def _constant(node: RawNode) -> tuple[DType, Array]:
    """Type and value of a Constant node."""
    for name, value in node.attributes.items():
        if name == "value" and isinstance(value, Value):
            return value.dtype, value.array
        if name in ("value_float", "value_floats") and isinstance(value, float | tuple):
            return DType.F32, np.array(value, np.float32)
        if name in ("value_int", "value_ints") and isinstance(value, int | tuple):
            return DType.I64, np.array(value, np.int64)
        if name in ("value_string", "value_strings"):
            why, fix = "it holds text, which is not supported", "remove it from the model"
            raise UnsupportedNode(node.where(), why=why, fix=fix, node=node.label)
    raise invalid(node, "it holds no value")
