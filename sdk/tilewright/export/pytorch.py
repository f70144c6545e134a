"""A bound graph as a standalone PyTorch module: readable source, and large constants in a safetensors file.

The source needs nothing but torch. Real networks compute in `dtype_expr`; quantised ones hold codes and follow the
SDK's integer semantics bit for bit. One line of `forward` is one node, with its name, operator and shape.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from keyword import iskeyword

import numpy as np

from tilewright.binding.graph import BoundGraph, BoundNode
from tilewright.codegen.comments import safe, shape_text
from tilewright.errors import UnsupportedError, UsageError
from tilewright.export.torch_codes import codes, is_quantised
from tilewright.export.torch_constants import ConstantBinding, kind_of
from tilewright.export.torch_expressions import expression, has_expression
from tilewright.export.torch_module import ModuleText, module_text
from tilewright.export.torch_site import TORCH_TYPES, Book, Site, identifier
from tilewright.export.torch_values import clamped
from tilewright.model import Array, DType
from tilewright.ops.torch import Torch
from tilewright.safetensors import TensorFile
from tilewright.safetensors import dumps as weights_bytes


@dataclass(frozen=True)
class PyTorchOptions:
    """How a module is written. `inline_elements` is the size up to which a constant stands in the source."""

    class_name: str = ""
    dtype_expr: str = "torch.float32"
    include_training_skeleton: bool = True
    learnable_consts: bool = True
    compress_broadcast_params: bool = True
    inline_elements: int = 8

    def __post_init__(self) -> None:
        """Refuse text that is no name: it becomes source code."""
        if self.class_name and (not self.class_name.isidentifier() or iskeyword(self.class_name)):
            raise UsageError(f"class_name is '{self.class_name}'", why="it is not a Python name", fix="write CamelCase")
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*", self.dtype_expr):
            raise UsageError(
                f"dtype_expr is '{self.dtype_expr}'", why="it names no type", fix="write for example torch.float32"
            )


@dataclass(frozen=True)
class PyTorchModule:
    """The source of a module, the arrays of its weights file by attribute, and what its attributes hold.

    `tables` are attributes that are computed from the model; their values are not brought back.
    """

    class_name: str
    source: str
    weights: Mapping[str, Array]
    constants: tuple[ConstantBinding, ...]
    sha256: str
    tables: frozenset[str] = frozenset()

    def weights_file(self) -> bytes:
        """The bytes of the safetensors file that the module reads."""
        return weights_bytes(TensorFile(self.weights, {"model_sha256": self.sha256}))


def emit(graph: BoundGraph, options: PyTorchOptions | None = None, *, weights_name: str = "") -> PyTorchModule:
    """The module of a bound graph; UnsupportedNode names the first node that has no form in PyTorch.

    `weights_name` is the file name of the weights, by default the network's with `.safetensors`.
    """
    options = options or PyTorchOptions()
    writer = _Writer(graph, options)
    lines = [writer.line(node, index) for index, node in enumerate(graph.nodes)]
    model = graph.model
    name = options.class_name or "".join(p[:1].upper() + p[1:] for p in model.name.split("_")) or "Network"
    name = name if name.isidentifier() and not iskeyword(name) else f"Network{name}"
    text = module_text(
        ModuleText(
            class_name=name,
            network=safe(model.name),
            sha256=model.sha256,
            dtype=options.dtype_expr,
            weights_name=weights_name or f"{model.name}.safetensors",
            inline_elements=options.inline_elements,
            constants=tuple(writer.bindings.values()),
            tables=dict(writer.book.tables),
            helpers=frozenset(writer.book.helpers),
            inputs=tuple((writer.names[n], shape_text(model.tensors[n])) for n in model.inputs),
            example=tuple((model.tensors[n].shape, model.tensors[n].dtype) for n in model.inputs),
            opening=tuple(writer.opening()),
            lines=tuple(lines),
            results=tuple(writer.result(n) for n in model.outputs),
            skeleton=options.include_training_skeleton,
            learns=any(b.kind.value != "buffer" for b in writer.bindings.values()),
            single_output=len(model.outputs) == 1,
        )
    )
    large = {b.attribute: b.stored for b in writer.bindings.values() if b.stored.size > options.inline_elements}
    large |= {k: v for k, v in writer.book.tables.items() if v.size > options.inline_elements}
    return PyTorchModule(
        name, text, large, tuple(writer.bindings.values()), model.sha256, frozenset(writer.book.tables)
    )


class _Writer:
    """Names for the values of one graph, and what its lines ask for."""

    def __init__(self, graph: BoundGraph, options: PyTorchOptions) -> None:
        self.graph, self.options, self.model = graph, options, graph.model
        self.book = Book(self.constant, set())
        self.bindings: dict[str, ConstantBinding] = {}
        self.names: dict[str, str] = {}
        used_names: set[str] = set()
        for name in self.model.inputs:
            self.names[name] = identifier(f"x_{name}" if re.fullmatch(r"v\d+.*", name) else name, used_names)

    def constant(self, name: str, index: int, torch: Torch | None) -> str:
        """The text of a constant of the model; the first operator that reads it decides its kind."""
        if name not in self.bindings:
            tensor, value = self.model.tensors[name], np.asarray(self.model.constants[name])
            kind = kind_of(
                tensor, value, torch, index, learnable=self.options.learnable_consts,
                compress=self.options.compress_broadcast_params,
            )  # fmt: skip
            self.bindings[name] = ConstantBinding(name, identifier(name, self.book.taken), kind, tensor, value)
        return self.bindings[name].text

    def value(self, name: str) -> str:
        """The text of a tensor that is an output."""
        return self.names[name] if name in self.names else self.constant(name, 0, None)

    def opening(self) -> list[str]:
        """Lines that turn inputs of codes into float tensors."""
        return [
            f"{self.names[n]} = {self.names[n]}.float()"
            for n in self.model.inputs
            if self.model.tensors[n].quantisation is not None
        ]

    def result(self, name: str) -> str:
        """The text of an output, codes in their own type."""
        tensor = self.model.tensors[name]
        return self.value(name) + (f".to({TORCH_TYPES[tensor.dtype]})" if tensor.quantisation is not None else "")

    def line(self, node: BoundNode, index: int) -> str:
        """`v3 = F.conv2d(...)  # name (Conv): f32[1,16,8,8]`."""
        call, present = node.call, node.call.present
        value = f"v{index}"
        results = [value if len(present) == 1 else f"{value}_{place}" for place in present]
        texts = tuple(self.names.get(n) if n else None for n in call.node.inputs)
        site = Site(call, value, texts, self.book)
        if is_quantised(call):
            text = codes(site)
        else:
            text = clamped(site, self.expression(site))
        for tensor, name in zip(call.outputs, results, strict=True):
            self.names[tensor.name] = name
        shapes = ", ".join(shape_text(tensor) for tensor in call.outputs)
        return f"{', '.join(results)} = {text}  # {safe(call.node.name)} ({safe(call.node.op)}): {shapes}"

    def expression(self, site: Site) -> str:
        """The expression of a node on real numbers or plain integers."""
        node = site.call.node
        if not has_expression(site):
            raise site.refuse(f"operator '{node.op}' has no line in PyTorch")
        if any(t is not None and t.dtype in (DType.U16, DType.U32, DType.U64) for t in site.call.inputs):
            raise site.refuse("PyTorch does not compute with unsigned integers of more than 8 bits")
        if any(t is not None and t.dtype in (DType.F16, DType.BF16) for t in site.call.inputs):
            raise UnsupportedError(
                f"node '{node.name}' ({node.op})",
                why="floats of 16 bits are not mirrored",
                fix="export the float32 model",
            )
        return expression(site)
