"""One node as it is written in PyTorch: its call, the Python text of its operands, and what its line needs besides."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from keyword import iskeyword

from tilewright.model import Array, DType
from tilewright.ops.operator import Call
from tilewright.ops.torch import Torch

TORCH_TYPES = {
    DType.F16: "torch.float16", DType.BF16: "torch.bfloat16", DType.F32: "torch.float32", DType.F64: "torch.float64",
    DType.I4: "torch.int8", DType.U4: "torch.uint8", DType.I8: "torch.int8", DType.U8: "torch.uint8",
    DType.I16: "torch.int16", DType.U16: "torch.uint16", DType.I32: "torch.int32", DType.U32: "torch.uint32",
    DType.I64: "torch.int64", DType.U64: "torch.uint64", DType.BOOL: "torch.bool",
}  # fmt: skip
_TAKEN = frozenset(
    """T_destination add_module apply bfloat16 buffers call_super_init children compile cpu cuda double dump_patches
    eval extra_repr float forward get_buffer get_extra_state get_parameter get_submodule half ipu load_state_dict
    modules mtia named_buffers named_children named_modules named_parameters parameters register_buffer
    register_module register_parameter requires_grad_ set_extra_state set_submodule share_memory state_dict to
    to_empty train training type xpu zero_grad self torch nn F math json struct pathlib""".split()
)


def identifier(name: str, taken: set[str]) -> str:
    """A Python name that says what `name` says, different from every name in `taken`, which it joins."""
    plain = re.sub(r"[^A-Za-z0-9_]+", "_", name).strip("_")[:60] or "constant"
    if plain[0].isdigit() or plain in _TAKEN or iskeyword(plain) or plain.startswith("register_"):
        plain = f"const_{plain}"
    candidate, number = plain, 2
    while candidate in taken:
        candidate, number = f"{plain}_{number}", number + 1
    taken.add(candidate)
    return candidate


@dataclass
class Book:
    """What the lines of a module refer to: helper functions by name, and arrays that are no constants of the model."""

    constant: Callable[[str, int, Torch | None], str]
    taken: set[str]
    helpers: set[str] = field(default_factory=set)
    tables: dict[str, Array] = field(default_factory=dict)


@dataclass(frozen=True)
class Site:
    """A node on its way into text. `value` is the variable that its line writes, `texts` its operands' expressions."""

    call: Call
    value: str
    texts: tuple[str | None, ...]
    book: Book

    @property
    def torch(self) -> Torch:
        """What the operator says that it is in PyTorch."""
        assert self.call.operator is not None, self.call.node.op
        assert self.call.operator.torch is not None, self.call.node.op
        return self.call.operator.torch

    def operand(self, index: int = 0) -> str:
        """The text of an operand that must be there; a constant becomes an attribute of the module."""
        text = self.optional(index)
        if text is None:
            raise self.call.invalid(f"operand {index} is missing")
        return text

    def optional(self, index: int) -> str | None:
        """The text of an operand, None where it is omitted."""
        if index in self.call.constants:
            given = self.texts[index] if index < len(self.texts) else None
            torch = self.call.operator.torch if self.call.operator is not None else None
            return given or self.book.constant(self.call.node.inputs[index], index, torch)
        return self.texts[index] if index < len(self.texts) else None

    def helper(self, name: str) -> str:
        """Ask for a helper function."""
        self.book.helpers.add(name)
        return name

    def table(self, word: str, array: Array) -> str:
        """An array beside the model's constants, as `self.<value>_<word>`."""
        name = identifier(f"{self.value}_{word}", self.book.taken)
        self.book.tables[name] = array
        return f"self.{name}"

    def refuse(self, why: str) -> Exception:
        """The error for a node that has no line in PyTorch."""
        return self.call.unsupported(why, "leave it out of the mirror, or run the model in ONNX Runtime")


def numbers(values: Iterable[int]) -> str:
    """A tuple of whole numbers as text, one number where all are equal: `1`, `(2, 1)`."""
    listed = [int(v) for v in values]
    return str(listed[0]) if listed and len(set(listed)) == 1 else tuple_of(listed)


def tuple_of(values: Iterable[int]) -> str:
    """A tuple as text."""
    listed = [str(int(v)) for v in values]
    return f"({listed[0]},)" if len(listed) == 1 else f"({', '.join(listed)})"


def real(value: float) -> str:
    """A number as Python reads it back, infinities included."""
    if value != value or value in (float("inf"), float("-inf")):
        return f'float("{value}")'
    return repr(float(value))
