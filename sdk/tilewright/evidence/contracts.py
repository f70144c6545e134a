"""The contract of every operator that the network uses, in the terms of SONNX: inputs, domains, error conditions.

What operators state of themselves in `ops/` is told, nothing is written here a second time. SONNX is the safety-related
profile of the ONNX working groups (github.com/onnx/working-groups, safety-related-profile).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tilewright.evidence.document import Contract, Contracts, Operand
from tilewright.evidence.error_bounds.compose import calls_of
from tilewright.model import Model, Tensor
from tilewright.ops.operator import Call
from tilewright.report.text import printable

STATIC = "the shape of an operand is another one than the node declares: refused when the file is read"
TESTS = (
    "tests/ops/test_onnx_node_cases.py: the operator's meaning against the cases of the standard",
    "tests/conformance/test_kernels.py: every kernel of every platform against that meaning, on drawn calls",
)
ON_CODES = "tests/integers/test_quantised_in_c.py: the C on codes against exact integers"
TOGETHER = "tests/ops/test_facts_of_operators.py: what the operator states of itself against its meaning"


def contracts(model: Model, numerics: Mapping[str, str]) -> Contracts:
    """One contract for each operator and form: on floats and on codes apart."""
    groups: dict[tuple[str, str, bool], list[Call]] = {}
    for call in calls_of(model):
        on_codes = any(t is not None and t.quantisation is not None for t in (*call.inputs, *call.outputs))
        groups.setdefault((call.node.domain, call.node.op, on_codes), []).append(call)
    return Contracts(tuple(_contract(calls, on_codes, numerics) for (_, _, on_codes), calls in groups.items()))


def _contract(calls: Sequence[Call], on_codes: bool, numerics: Mapping[str, str]) -> Contract:
    first = max(calls, key=lambda call: len(call.inputs))
    return Contract(
        op=first.node.op,
        domain=first.node.domain or "ai.onnx",
        opset=first.opset,
        nodes=tuple(call.node.name for call in calls),
        inputs=tuple(_input(calls, first, index) for index in range(len(first.inputs))),
        outputs=tuple(_output(calls, first, index) for index in range(len(first.outputs))),
        attributes=tuple(sorted({printable(text) for call in calls for text in _attributes(call)})),
        errors=tuple(_errors(calls)),
        numerics=tuple(sorted({numerics.get(call.node.name, "no code: a view, or constant") for call in calls})),
        tests=(*TESTS, ON_CODES if on_codes else TOGETHER),
    )


def _input(calls: Sequence[Call], first: Call, index: int) -> Operand:
    tensors = [t for call in calls if index < len(call.inputs) and (t := call.inputs[index]) is not None]
    name = first.operator.operand(index) if first.operator is not None else f"operand {index}"
    domain = "; ".join(dict.fromkeys(_domain(call, index) for call in calls))
    return Operand(name, _types(tensors), domain)


def _output(calls: Sequence[Call], first: Call, index: int) -> Operand:
    tensors = [call.outputs[index] for call in calls if index < len(call.outputs)]
    name = first.operator.result(index) if first.operator is not None else f"result {index}"
    told = dict.fromkeys(_result(call, index) for call in calls if index < len(call.outputs))
    return Operand(name, _types(tensors), "; ".join(told))


def _result(call: Call, index: int) -> str:
    """What values of a result may be."""
    tensor, clamp = call.outputs[index], call.node.clamp
    if clamp is not None:
        return f"limited to [{clamp.low:g}, {clamp.high:g}]"
    return "not limited" if tensor.quantisation is None else _every_code(tensor)


def _every_code(tensor: Tensor) -> str:
    low, high = tensor.dtype.range
    return f"every code from {low} to {high}"


def _domain(call: Call, index: int) -> str:
    """What values of an operand may be."""
    tensor = call.optional(index)
    if tensor is None:
        return "left out"
    reads = call.operator.reads(call, index) if call.operator is not None and call.operator.reads else None
    if index in call.constants:
        return "constant"
    if reads is not None:
        permitted = "any" if reads.permitted is None else f"{reads.permitted[0]} to {reads.permitted[1]}"
        return f"{permitted}: {call.node.op} {reads.why}"
    if tensor.quantisation is not None:
        return _every_code(tensor)
    if tensor.dtype.is_float:
        return "finite numbers; NaN and infinities are carried as IEEE 754 has it and no bound holds for them"
    return "every value of the type"


def _types(tensors: Iterable[Tensor]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(f"{tensor.type_token}{list(tensor.shape)}" for tensor in tensors))


def _attributes(call: Call) -> list[str]:
    return [
        f"{name} = {list(value) if isinstance(value, tuple) else value}"
        for name, value in call.node.attributes.items()
        if isinstance(value, int | float | str | tuple)
    ]


def _errors(calls: Sequence[Call]) -> list[str]:
    """What is refused and what has no result, in sentences."""
    told = [STATIC]
    for call in calls:
        operator = call.operator
        if operator is None:
            continue
        for index in range(len(call.inputs)):
            reads = operator.reads(call, index) if operator.reads is not None and call.optional(index) else None
            if reads is not None and reads.permitted is not None and index not in call.constants:
                told.append(
                    f"values of {operator.operand(index)} outside of {reads.permitted[0]} to {reads.permitted[1]} have "
                    "no result; the C stays inside of its memory"
                )
        if operator.lengths is not None and operator.lengths(call) is not None:
            told.append("more elements than its bound are left out; the count output tells how many there are")
    return list(dict.fromkeys(told))
