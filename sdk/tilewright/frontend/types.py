"""Element types of operands against what the standard allows for their operator: shape rules need not check them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from tilewright.errors import ModelError
from tilewright.frontend.names import quoted
from tilewright.frontend.raw import RawNode
from tilewright.model import DType, Tensor

_NAMES = {
    DType.F16: "float16", DType.BF16: "bfloat16", DType.F32: "float", DType.F64: "double", DType.BOOL: "bool",
    **{dtype: f"{'int' if dtype.is_signed else 'uint'}{dtype.bits}" for dtype in DType if dtype.value[0] in "iu"},
}  # fmt: skip


@dataclass(frozen=True)
class Formal:
    """The types that an operand may have; operands with the same `variable` must have the same type."""

    allowed: frozenset[DType]
    variable: str


@cache
def _formals(op: str) -> tuple[tuple[Formal, ...], bool]:
    """The operands of the newest version, and whether the last stands for all that follow."""
    import onnx

    if not onnx.defs.has(op, ""):
        return (), False
    schema: Any = onnx.defs.get_schema(op, "")
    variadic = onnx.defs.OpSchema.FormalParameterOption.Variadic
    formals = []
    for formal in schema.inputs:
        allowed = frozenset(dtype for dtype, name in _NAMES.items() if f"tensor({name})" in formal.types)
        loose = formal.option == variadic and not formal.is_homogeneous
        formals.append(Formal(allowed, "" if loose or "(" in formal.type_str else formal.type_str))
    return tuple(formals), bool(schema.inputs) and schema.inputs[-1].option == variadic


def check_types(node: RawNode, operands: Sequence[Tensor | None]) -> None:
    """ModelError where an operand has a type that the operator does not take, or two that must be alike are not."""
    formals, repeats = _formals(node.op) if not node.domain else ((), False)
    bound: dict[str, Tensor] = {}
    for index, tensor in enumerate(operands):
        if tensor is None or not formals or (index >= len(formals) and not repeats):
            continue
        formal = formals[min(index, len(formals) - 1)]
        why = ""
        if formal.allowed and tensor.dtype not in formal.allowed:
            allowed = ", ".join(sorted(dtype.value for dtype in formal.allowed))
            why = f"input {quoted(tensor.name)} is of type {tensor.dtype.value}, the operator takes {allowed}"
        elif formal.variable:
            other = bound.setdefault(formal.variable, tensor)
            if other.dtype is not tensor.dtype:
                types = f"{other.dtype.value} and {tensor.dtype.value}"
                why = f"inputs {quoted(other.name)} and {quoted(tensor.name)} must be of one type, they are {types}"
        if why:
            fix = "check how the model was exported"
            raise ModelError(f"{node.where()} is invalid", why=why, fix=fix, node=node.label, tensor=tensor.name)
