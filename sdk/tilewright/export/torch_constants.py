"""How the constants of a network stand in an emitted module: buffer, parameter, or one row of a parameter."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from tilewright.export.torch_site import TORCH_TYPES, real
from tilewright.model import Array, DType, Tensor
from tilewright.ops.torch import Torch

SHOWN = Torch("{0}")
"""An operator that shows its operand as it is."""


class ConstantKind(Enum):
    """How a constant is held."""

    BUFFER = "buffer"
    PARAMETER = "parameter"
    BROADCAST_ROW = "broadcast row"


@dataclass(frozen=True)
class ConstantBinding:
    """A constant of the network and the attribute that holds it; a broadcast row is expanded to `tensor.shape`."""

    name: str
    attribute: str
    kind: ConstantKind
    tensor: Tensor
    value: Array

    @property
    def text(self) -> str:
        """How an expression refers to it."""
        if self.kind is ConstantKind.BROADCAST_ROW:
            return f"self.{self.attribute}.unsqueeze(0).expand({self.tensor.shape[0]}, -1)"
        return f"self.{self.attribute}"

    @property
    def stored(self) -> Array:
        """The elements that the attribute holds."""
        return self.value[0] if self.kind is ConstantKind.BROADCAST_ROW else self.value


def all_equal(values: Array) -> bool:
    """True where every element equals the first, and for none at all."""
    return values.size == 0 or bool((values == values.flat[0]).all())


def broadcast_row(values: Array) -> Array | None:
    """The row that a matrix repeats; None where rows differ, and for other ranks and a single row."""
    if values.ndim != 2 or values.shape[0] < 2 or values.shape[1] == 0:
        return None
    return np.asarray(values[0]) if bool((values == values[0]).all()) else None


def kind_of(
    tensor: Tensor, value: Array, torch: Torch | None, index: int, *, learnable: bool, compress: bool
) -> ConstantKind:
    """The kind for a constant that is operand `index` of an operator; `torch` is None for an output of the network.

    Weights of a layer are learnt; other constants too, except where all elements are equal.
    """
    if not learnable or not tensor.dtype.is_float or tensor.quantisation is not None:
        return ConstantKind.BUFFER
    if torch is None or torch == SHOWN or index in torch.statistics:
        return ConstantKind.BUFFER
    layer = torch.layer and index > 0
    if not layer and all_equal(value):
        return ConstantKind.BUFFER
    if compress and not layer and broadcast_row(value) is not None:
        return ConstantKind.BROADCAST_ROW
    return ConstantKind.PARAMETER


def tensor_text(value: Array, dtype: DType, dtype_text: str) -> str:
    """`torch.tensor([...], dtype=...)` with the shape; floats as Python reads them back."""
    flat = value.reshape(-1).tolist()
    words = [real(v) if dtype.is_float else str(v) for v in flat]
    shape = "" if value.ndim == 1 else f".reshape({list(value.shape)})"
    return f"torch.tensor([{', '.join(words)}], dtype={dtype_text}){shape}"


def torch_type(dtype: DType, dtype_text: str) -> str:
    """The text of an element type; real numbers have the module's own."""
    return dtype_text if dtype.is_float else TORCH_TYPES[dtype]
