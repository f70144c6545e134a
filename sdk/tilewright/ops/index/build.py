"""Pieces that operator files build their nests from: canonical loop names, windows, broadcast operands."""

from __future__ import annotations

from collections.abc import Sequence

from tilewright import model
from tilewright.model import DType, Shape
from tilewright.ops.index.affine import Affine
from tilewright.ops.index.nest import Access, Tensor

_AXES = {1: "w", 2: "hw", 3: "dhw"}


def spatial(prefix: str, sizes: Sequence[int]) -> dict[str, int]:
    """Loops over spatial axes by their canonical names: `oh`, `ow` for two axes of prefix `o`, `o0`, ... for many."""
    letters = _AXES.get(len(sizes)) or [str(axis) for axis in range(len(sizes))]
    return {f"{prefix}{letter}": size for letter, size in zip(letters, sizes, strict=True)}


def axes(prefix: str, sizes: Sequence[int]) -> dict[str, int]:
    """Loops over the axes of a tensor: `i0`, `i1`, ..."""
    return {f"{prefix}{axis}": size for axis, size in enumerate(sizes)}


def operand(tensor: model.Tensor, name: str) -> Tensor:
    """A tensor of the network under the name that it has in nests."""
    return Tensor(name, tensor.shape, tensor.dtype)


def window(
    outs: Sequence[Affine],
    taps: Sequence[Affine],
    strides: Sequence[int],
    dilations: Sequence[int],
    begins: Sequence[int],
) -> list[Affine]:
    """Subscripts `o*stride + k*dilation - begin` of a sliding window, one per axis."""
    return [o * s + k * d - b for o, k, s, d, b in zip(outs, taps, strides, dilations, begins, strict=True)]


def broadcast(tensor: Tensor, loops: Sequence[Affine]) -> Access:
    """The tensor right-aligned against the loops of a result; an axis of size one stays at 0."""
    aligned = loops[len(loops) - len(tensor.shape) :]
    return tensor[*(0 if size == 1 else loop for size, loop in zip(tensor.shape, aligned, strict=True))]


def indices(name: str, shape: Shape) -> Tensor:
    """A tensor without memory whose every element is its own row-major index."""
    return Tensor(name, shape, DType.I64, iota=True)
