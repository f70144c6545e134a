"""The pointer parameters of a layer's function: run-time operands, results, constants, scratch, in this order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tilewright.codegen.c_types import C_TYPES
from tilewright.codegen.row_chain import CHAIN_NAMES
from tilewright.ops.operator import Call
from tilewright.plan.plan import ExecutionPlan, Instruction
from tilewright.platform import Constant


@dataclass(frozen=True)
class Parameter:
    """One pointer parameter of a layer function: C type, name, and whether it is only read."""

    name: str
    c_type: str
    readonly: bool

    def text(self, restrict: bool) -> str:
        """The declaration."""
        return f"{'const ' if self.readonly else ''}{self.c_type} *{'restrict ' if restrict else ''}{self.name}"


def parameters(plan: ExecutionPlan, instruction: Instruction) -> tuple[Parameter, ...]:
    """Run-time operands, results, constants, scratch: the order of a layer function's parameters."""
    constants = [plan.frozen_slots[index].constant for index in instruction.frozen]
    scratch = bool(instruction.scratch_bytes or _tile_scratch(plan, instruction))
    return parameters_of(instruction.call, constants, scratch)


def parameters_of(call: Call, constants: Iterable[Constant], scratch: bool) -> tuple[Parameter, ...]:
    """The parameters of a function that computes a call."""
    operator = call.operator
    assert operator is not None or call.chain
    operands, results = (operator.operands, operator.results) if operator is not None else CHAIN_NAMES
    listed = []
    for i, tensor in enumerate(call.inputs):
        if tensor is not None and i not in call.constants:
            listed.append(Parameter(_name(operands, i), C_TYPES[tensor.dtype], True))
    for i, tensor in zip(call.present, call.outputs, strict=True):
        listed.append(Parameter(_name(results, i), C_TYPES[tensor.dtype], False))
    listed += [Parameter(constant.name, C_TYPES[constant.dtype], True) for constant in constants]
    return (*listed, Parameter("scratch", "void", False)) if scratch else tuple(listed)


def _tile_scratch(plan: ExecutionPlan, instruction: Instruction) -> int:
    """Bytes of scratch in the compute level where the instruction is a stage of a schedule, else 0."""
    if not instruction.kernel.tileable:
        return 0
    return plan.tile_scratch.get(instruction.name, 0)


def _name(names: tuple[str, ...], index: int) -> str:
    """Name of operand `index`; the last name of a variadic operator is numbered on: `x0`, `x1`, ..."""
    if names and names[-1].endswith("..."):
        stem = names[-1][:-3]
        return names[index] if index < len(names) - 1 else f"{stem}{index - len(names) + 1}"
    return names[index]
