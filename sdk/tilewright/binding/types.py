"""Whether the types of a call fit what a kernel declares."""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.model import Tensor
from tilewright.ops.operator import Call
from tilewright.platform import Kernel


def mismatch(kernel: Kernel, call: Call) -> str | None:
    """None, or the sentence that names the first operand or result whose type the kernel does not take."""
    wanted_in, wanted_out = kernel.types
    return _side(wanted_in, call.inputs, "operand") or _side(wanted_out, call.outputs, "result")


def _side(wanted: Sequence[str], tensors: Sequence[Tensor | None], word: str) -> str | None:
    tokens = list(wanted)
    many = tokens.pop()[:-3].strip() if tokens and tokens[-1].endswith("...") else None
    for index, tensor in enumerate(tensors):
        token = tokens[index] if index < len(tokens) else many
        if token is None:
            if tensor is None:
                continue
            return f"{word} {index} ('{tensor.name}') is one more than the kernel takes"
        optional = token.endswith("?")
        names = token.rstrip("?").split("|")
        if tensor is None:
            if optional or index >= len(tokens):
                continue
            return f"{word} {index} is missing, the kernel needs it"
        if "*" not in names and tensor.type_token not in names:
            return f"{word} {index} ('{tensor.name}') is {tensor.type_token}, the kernel takes {' or '.join(names)}"
    for index in range(len(tensors), len(tokens)):
        if not tokens[index].endswith("?"):
            return f"{word} {index} is missing, the kernel needs it"
    return None
