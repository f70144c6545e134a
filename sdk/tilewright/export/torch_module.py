"""The text of an emitted module: imports, helper functions, the class, and a skeleton for training it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tilewright.export.torch_constants import ConstantBinding, ConstantKind, tensor_text, torch_type
from tilewright.export.torch_helpers import HELPERS, LOAD, SAVE
from tilewright.model import Array, DType, Shape
from tilewright.version import VERSION


@dataclass(frozen=True)
class ModuleText:
    """Everything that the source prints."""

    class_name: str
    network: str
    sha256: str
    dtype: str
    weights_name: str
    inline_elements: int
    constants: tuple[ConstantBinding, ...]
    tables: Mapping[str, Array]
    helpers: frozenset[str]
    inputs: tuple[tuple[str, str], ...]
    example: tuple[tuple[Shape, DType], ...]
    opening: tuple[str, ...]
    lines: tuple[str, ...]
    results: tuple[str, ...]
    skeleton: bool
    learns: bool
    single_output: bool


def module_text(m: ModuleText) -> str:
    """The source of the module."""
    stored = any(b.stored.size > m.inline_elements for b in m.constants)
    stored = stored or any(table.size > m.inline_elements for table in m.tables.values())
    parts = [_head(m)]
    parts += [LOAD.strip()] if stored else []
    parts += [SAVE.strip()]
    parts += [text.strip() for name, text in HELPERS.items() if name in m.helpers]
    parts += [_class(m, stored)]
    parts += [_skeleton(m)] if m.skeleton else []
    return "\n\n\n".join(parts) + "\n"


def _head(m: ModuleText) -> str:
    imports = ["import json", "import operator", "import pathlib", "import struct"]
    if not any("operator." in line for line in m.lines):
        imports.remove("import operator")
    where = "\n".join(imports)
    return (
        f'"""{m.network} in PyTorch, written by tilewright {VERSION}: one line of `forward` is one node.\n\n'
        f"Model sha256 {m.sha256}. This file is generated for you and is yours.\n"
        f'"""\n\n{where}\n\nimport torch\nimport torch.nn.functional as F\nfrom torch import nn'
    )


def _class(m: ModuleText, stored: bool) -> str:
    lines = [f"class {m.class_name}(nn.Module):"]
    inputs = ", ".join(f"{name} {shape}" for name, shape in m.inputs)
    lines += [f'    """{m.network}: {inputs}."""', "", f'    MODEL_SHA256 = "{m.sha256}"', ""]
    lines += ["    def __init__(self, weights=None, dtype=" + m.dtype + "):", "        super().__init__()"]
    if stored:
        lines += [f'        weights = weights or pathlib.Path(__file__).with_name("{m.weights_name}")']
        lines += ["        stored = load_weights(weights)"]
    for binding in m.constants:
        lines.append("        " + _constant_line(m, binding))
    for name, table in m.tables.items():
        kind = DType.of(table.dtype)
        text = (
            f'stored["{name}"]'
            if table.size > m.inline_elements
            else tensor_text(table, kind, torch_type(kind, "torch.float32"))
        )
        lines.append(f'        self.register_buffer("{name}", {text})')
    names = ", ".join(name for name, _ in m.inputs)
    lines += ["", f"    def forward(self, {names}):"]
    lines += [f"        {line}" for line in (*m.opening, *m.lines)]
    lines += [f"        return {', '.join(m.results)}"]
    return "\n".join(lines)


def _constant_line(m: ModuleText, binding: ConstantBinding) -> str:
    name, value, kind = binding.attribute, binding.stored, binding.tensor.dtype
    typed = kind.is_float and binding.tensor.quantisation is None
    if value.size > m.inline_elements:
        text = f'stored["{name}"]' + (".to(dtype)" if typed else "")
    else:
        text = tensor_text(value, kind, "dtype" if typed else torch_type(kind, "torch.float32"))
    shape = f"  # {list(binding.tensor.shape)}"
    if binding.kind is ConstantKind.BUFFER:
        return f'self.register_buffer("{name}", {text}){shape}'
    row = ", every row" if binding.kind is ConstantKind.BROADCAST_ROW else ""
    return f"self.{name} = nn.Parameter({text}){shape}{row}"


def _skeleton(m: ModuleText) -> str:
    sample = ", ".join(
        f"torch.randn({list(shape)})" if kind.is_float else f"torch.zeros({list(shape)}, dtype={torch_type(kind, '')})"
        for shape, kind in m.example
    )
    smoke = f"    model = {m.class_name}()\n    print(model({sample}))"
    if not m.learns or not m.single_output:
        return f'if __name__ == "__main__":\n{smoke}'
    return f'''def make_optimizer(model, learning_rate=1e-3):
    """Adam over every parameter."""
    return torch.optim.Adam(model.parameters(), lr=learning_rate)


def train_step(model, optimizer, loss, inputs, target):
    """One step: the loss of a tuple of inputs, `loss(outputs, target)`, before the step."""
    optimizer.zero_grad()
    value = loss(model(*inputs), target)
    value.backward()
    optimizer.step()
    return float(value.detach())


if __name__ == "__main__":
{smoke}'''
