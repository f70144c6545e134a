"""DepthToSpace and SpaceToDepth: the digits that the channel axis and the two spatial axes share change places."""

from __future__ import annotations

from tilewright.model import Array
from tilewright.ops.codes import Moves
from tilewright.ops.index.build import operand
from tilewright.ops.index.nest import Nest, Space, Tensor
from tilewright.ops.operands import Arrays, given, needs_rank, result
from tilewright.ops.operator import Call, Operator, TensorType
from tilewright.ops.torch import Torch


def block_size(call: Call) -> int:
    """The side of a block, at least 1."""
    size = call.integer("blocksize")
    if size < 1:
        raise call.invalid(f"blocksize {size} is less than 1")
    return size


def _to_space(call: Call) -> tuple[TensorType, ...]:
    n, c, h, w = needs_rank(call, 0, 4, "DepthToSpace")
    b = block_size(call)
    if c % (b * b):
        raise call.invalid(f"{c} channels do not divide by {b} x {b}")
    if call.text("mode", "DCR") not in ("DCR", "CRD"):
        raise call.invalid(f"mode '{call.text('mode')}' is neither DCR nor CRD")
    return (result(call, call.tensor(0).dtype, (n, c // (b * b), h * b, w * b)),)


def _to_depth(call: Call) -> tuple[TensorType, ...]:
    n, c, h, w = needs_rank(call, 0, 4, "SpaceToDepth")
    b = block_size(call)
    if h % b or w % b:
        raise call.invalid(f"{h} x {w} does not divide by the block size {b}")
    if call.text("mode", "DCR") not in ("DCR", "CRD"):
        raise call.invalid(f"mode '{call.text('mode')}' is neither DCR nor CRD")
    return (result(call, call.tensor(0).dtype, (n, c * b * b, h // b, w // b)),)


def _spread(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    x, b = given(arrays, 0), block_size(call)
    n, c, h, w = x.shape
    if call.text("mode", "DCR") == "DCR":
        blocks = x.reshape(n, b, b, c // (b * b), h, w).transpose(0, 3, 4, 1, 5, 2)
    else:
        blocks = x.reshape(n, c // (b * b), b, b, h, w).transpose(0, 1, 4, 2, 5, 3)
    return (blocks.reshape(call.outputs[0].shape),)


def _stacked(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    x, b = given(arrays, 0), block_size(call)
    n, c, h, w = x.shape
    blocks = x.reshape(n, c, h // b, b, w // b, b)
    order = (0, 3, 5, 1, 2, 4) if call.text("mode", "DCR") == "DCR" else (0, 1, 3, 5, 2, 4)
    return (blocks.transpose(order).reshape(call.outputs[0].shape),)


def _nests(call: Call) -> tuple[Nest, ...]:
    """Loops over the digits: `c` outer channels, `p` and `q` the place inside a block, `h` and `w` the coarse image."""
    spread = call.node.op == "DepthToSpace"
    (kind,), b = (_to_space if spread else _to_depth)(call), block_size(call)
    fine, deep = (kind.shape, call.shape()) if spread else (call.shape(), kind.shape)
    if 0 in fine:
        return ()
    space = Space.of(n=deep[0], c=fine[1], h=deep[2], w=deep[3], p=b, q=b)
    n, c, h, w, p, q = space
    dcr = call.text("mode", "DCR") == "DCR"
    channel = (p * b + q) * fine[1] + c if dcr else c * (b * b) + p * b + q
    large, small = [n, c, h * b + p, w * b + q], [n, channel, h, w]
    x, y = operand(call.tensor(0), "x"), Tensor("y", kind.shape, kind.dtype)
    return (Nest(space, y[*large], (x[*small],)) if spread else Nest(space, y[*small], (x[*large],)),)


OPERATORS = (
    Operator(
        "DepthToSpace",
        _to_space,
        _spread,
        ("x",),
        nests=_nests,
        codes=Moves(whole=True),
        torch=Torch(writer="depth_to_space"),
        sketch="blocks",
    ),
    Operator(
        "SpaceToDepth",
        _to_depth,
        _stacked,
        ("x",),
        nests=_nests,
        codes=Moves(whole=True),
        torch=Torch(writer="space_to_depth"),
        sketch="blocks",
    ),
)
