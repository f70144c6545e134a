"""Pools: MaxPool, AveragePool, LpPool and their global forms."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import inf

import numpy as np

from tilewright.model import Array, Attribute, DType
from tilewright.ops import norm_gradients
from tilewright.ops.check import FLOATS, Types, given, ranked, typed, widened
from tilewright.ops.clamp import clamped
from tilewright.ops.codes import Mean, Moves
from tilewright.ops.facts import Margin
from tilewright.ops.index.body import Body, Combine, Finish, body, combine, finish
from tilewright.ops.index.build import indices, operand, spatial
from tilewright.ops.index.build import window as subscripts
from tilewright.ops.index.nest import Access, Nest, Space, Tensor
from tilewright.ops.operator import Adjoint, Call, Operator, TensorType
from tilewright.ops.torch import Torch
from tilewright.ops.window import Window, covered, padded, reaching, tap_view
from tilewright.ops.window_attributes import read_window, with_margin

MAX_TYPES: Types = FLOATS | {DType.I8, DType.U8, DType.I16, DType.U16}  # 16 bits: codes of quantised networks


def pool_window(call: Call) -> Window:
    """The window of a pool, or the whole spatial extent for the global forms."""
    spatial_sizes = ranked(call, 0, 3)[2:]
    rank = len(spatial_sizes)
    if call.node.op.startswith("Global"):
        zeros, ones = (0,) * rank, (1,) * rank
        return Window(spatial_sizes, ones, ones, zeros, zeros, ones)
    kernel = call.integers("kernel_shape")
    if len(kernel) != rank or any(k < 1 for k in kernel):
        raise call.invalid(f"attribute 'kernel_shape' is {list(kernel)}, it needs {rank} positive entries")
    window = read_window(call, spatial_sizes, kernel)
    reach = zip(kernel, window.dilations, window.begins, window.ends, strict=True)
    if any(max(b, e) > (k - 1) * d for k, d, b, e in reach):
        raise call.invalid("padding is as large as the window, so that some windows would hold padding only")
    return window


def _infer(call: Call, accepts: Types = FLOATS) -> tuple[TensorType, ...]:
    x = typed(call, 0, accepts)
    if call.node.op.endswith("LpPool"):
        _norm(call)
    shape = (*x.shape[:2], *pool_window(call).outs)
    if len(call.node.outputs) > 1 and call.node.op == "MaxPool":
        _storage_order(call)
        return TensorType(x.dtype, shape), TensorType(DType.I64, shape)
    return (TensorType(x.dtype, shape),)


def _storage_order(call: Call) -> int:
    order = call.integer("storage_order", 0)
    if order not in (0, 1):
        raise call.invalid(f"attribute 'storage_order' is {order}, it must be 0 or 1")
    return order


def _norm(call: Call) -> int:
    p = call.integer("p", 2)
    if p < 1:
        raise call.invalid(f"attribute 'p' is {p}, it must be at least 1")
    return p


def max_pool(call: Call, x: Array) -> Array:
    """The largest element of every window; padding never wins."""
    window = pool_window(call)
    if window.kernel == x.shape[2:] and window.outs == (1,) * len(window.outs) and not any(window.begins):
        return np.asarray(x.max(axis=tuple(range(2, x.ndim)), keepdims=True))
    window = reaching(window, x.shape[2:])
    source = padded(x, window, combine("max").start(x.dtype).item())
    total = np.full((*x.shape[:2], *window.outs), combine("max").start(x.dtype))
    for tap in window.taps():
        total = np.maximum(total, tap_view(source, window, tap))
    return total


def max_pool_indices(call: Call, x: Array) -> Array:
    """Flat index in the whole input of the first largest element of every window; NaN is larger than all numbers."""
    window, order = reaching(pool_window(call), x.shape[2:]), _storage_order(call)
    source = padded(x, window, combine("max").start(x.dtype).item())
    spatial_sizes = x.shape[2:]
    flat = np.arange(int(np.prod(spatial_sizes))).reshape(spatial_sizes, order="F" if order else "C")
    planes = np.arange(x.shape[0] * x.shape[1]).reshape(*x.shape[:2], *(1,) * len(spatial_sizes)) * flat.size
    places = padded(np.broadcast_to(flat + planes, x.shape), window, -1)
    best = np.full((*x.shape[:2], *window.outs), combine("max").start(x.dtype))
    first = np.full(best.shape, -1, np.int64)
    for tap in window.taps():
        values, where = tap_view(source, window, tap), tap_view(places, window, tap)
        above = (values > best) | ((values != values) & (best == best))
        better = (where >= 0) & ((first < 0) | above)
        best, first = np.where(better, values, best), np.where(better, where, first)
    return first


def average_pool_sum(call: Call, x: Array) -> tuple[Array, Array]:
    """Plain sums of every window and the number of elements that each divides by, in the type of the array."""
    sizes = x.shape[2:]
    count = covered(pool_window(call), sizes, padding=bool(call.integer("count_include_pad", 0)))
    window = reaching(pool_window(call), sizes)
    source = padded(x, window, 0)
    total = np.zeros((*x.shape[:2], *window.outs), x.dtype)
    for tap in window.taps():
        total = total + tap_view(source, window, tap)
    return total, count[None, None]


def _evaluate_max(call: Call, arrays: Sequence[Array | None]) -> tuple[Array, ...]:
    x = given(arrays[0], call, 0)
    result = clamped(call, max_pool(call, x))
    return (result, max_pool_indices(call, x)) if len(call.outputs) > 1 else (result,)


def _evaluate_average(call: Call, arrays: Sequence[Array | None]) -> tuple[Array, ...]:
    x = given(arrays[0], call, 0)
    if call.node.op.startswith("Global"):
        result = np.asarray(widened(x).mean(axis=tuple(range(2, x.ndim)), keepdims=True))
    else:
        total, count = average_pool_sum(call, widened(x))
        result = total / np.maximum(count, 1).astype(total.dtype)
    return (clamped(call, result).astype(x.dtype),)


def _evaluate_norm(call: Call, arrays: Sequence[Array | None]) -> tuple[Array, ...]:
    x, p = given(arrays[0], call, 0), _norm(call)
    powers = np.abs(widened(x)) ** p
    if call.node.op.startswith("Global"):
        total = powers.sum(axis=tuple(range(2, x.ndim)), keepdims=True)
    else:
        total, _ = average_pool_sum(call, powers)
    return (clamped(call, np.asarray(total ** (1 / p))).astype(x.dtype),)


def _nest(
    call: Call, chosen: Body, joined: Combine, last: Finish, margin: tuple[tuple[int, int], ...] = ()
) -> tuple[Nest, ...]:
    """`y[n, c, oh, ow] combine= body(x[n, c, oh*sh + kh*dh - pt, ow*sw + kw*dw - pl])`."""
    kind, window, x = _infer(call, MAX_TYPES)[0], pool_window(call), operand(call.tensor(0), "x")
    window = window if margin else reaching(window, x.shape[2:])  # of taps in the margin the points count
    rank = len(window.outs)
    space = Space.of(n=x.shape[0], c=x.shape[1], **spatial("o", window.outs), **spatial("k", window.kernel))
    n, c, *rest = space
    o, k = rest[:rank], rest[rank:]
    read = x[n, c, *subscripts(o, k, window.strides, window.dilations, window.begins)]
    out = Tensor("y", kind.shape, kind.dtype)[n, c, *o]
    return (Nest(space, out, (Access(read.tensor, read.subscripts, margin),), chosen, joined, last),)


def _max_nests(call: Call) -> tuple[Nest, ...]:
    (largest,) = _nest(call, body("copy"), combine("max"), finish("keep"))
    if len(call.node.outputs) < 2:
        return (largest,)
    (read,) = largest.ins
    places = Access(indices("place", read.tensor.shape), read.subscripts)
    if not _storage_order(call):
        return largest, _smallest(largest, "indices", (read, largest.out, places))
    first = _smallest(largest, "first", (read, largest.out, places))
    return largest, first, _smallest(largest, "indices", (places, first.out, _turned(read)))


def _smallest(largest: Nest, name: str, ins: tuple[Access, Access, Access]) -> Nest:
    """In every window the smallest of the third operand where the first two are equal, as the tensor `name`."""
    out = Access(Tensor(name, largest.out.tensor.shape, DType.I64), largest.out.subscripts)
    return Nest(largest.space, out, ins, body("select_equal", np.iinfo(np.int64).max), combine("min"))


def _turned(seen: Access) -> Access:
    """The numbers of the elements that a pool sees when the first spatial axis runs fastest."""
    axes = (0, 1, *reversed(range(2, len(seen.subscripts))))
    shape = tuple(seen.tensor.shape[axis] for axis in axes)
    return Access(indices("turned", shape), tuple(seen.subscripts[axis] for axis in axes))


def _average_nests(call: Call) -> tuple[Nest, ...]:
    window = pool_window(call)
    counted = bool(call.integer("count_include_pad", 0))
    margin = ((0, 0), (0, 0), *zip(window.begins, window.ends, strict=True)) if counted else ()
    return _nest(call, body("copy"), combine("add"), finish("mean"), margin)


def _norm_nests(call: Call) -> tuple[Nest, ...]:
    p = _norm(call)
    return _nest(call, body("abs_pow", p), combine("add"), finish("root", p))


def _keeps(call: Call) -> bool:
    """True where every window is one element."""
    return all(size == 1 for size in call.integers("kernel_shape")) and not any(call.integers("pads", ()))


def _own_pads(call: Call) -> bool:
    return any(call.integers("pads", ()))


def _inside(call: Call, around: Margin) -> dict[str, Attribute] | None:
    """The attributes with so much more padding, where every window still holds an element."""
    attributes = with_margin(call, around)
    if attributes is None or call.integer("ceil_mode", 0) or len(call.node.outputs) > 1:
        return None
    kernel, own = call.integers("kernel_shape"), call.integers("pads", (0,) * len(around.pads))
    sizes = zip(own, around.pads, (*kernel, *kernel), strict=True)
    return attributes if all(pad + more < size for pad, more, size in sizes) else None


def _lowest(dtype: DType) -> float:
    if not dtype.is_float:
        return float(dtype.range[0])
    if dtype is DType.BF16:
        return float(np.array(0xFF7F, np.uint16).view(dtype.numpy))
    return float(np.finfo(dtype.numpy.name).min)


def _margin_of_max(call: Call, around: Margin) -> dict[str, Attribute] | None:
    """What is never above an element may stand for the padding that never wins."""
    never = around.value in (-inf, _lowest(call.tensor(0).dtype))
    below = around.value <= around.least and not _own_pads(call)
    return _inside(call, around) if never or below else None


def _margin_of_mean(call: Call, around: Margin) -> dict[str, Attribute] | None:
    """Zeros that are counted."""
    attributes = _inside(call, around)
    if attributes is None or around.value or (_own_pads(call) and not call.integer("count_include_pad", 0)):
        return None
    return {**attributes, "count_include_pad": 1}


def _average_gradient(a: Adjoint, index: int) -> str:
    window, counted = pool_window(a.call), bool(a.call.integer("count_include_pad", 0))
    return norm_gradients.average_pool(a, index, window, covered(window, a.shape(0)[2:], padding=counted))


_infer_max = partial(_infer, accepts=MAX_TYPES)

OPERATORS = (
    Operator(
        "MaxPool",
        _infer_max,
        _evaluate_max,
        ("x",),
        ("y", "indices"),
        _max_nests,
        window=pool_window,
        codes=Moves(results=(0,), compares=True),
        clamps=True,
        channelwise=True,
        rising=True,
        torch=Torch(writer="max_pool"),
        sketch="pool",
        keeps=_keeps,
        margin=_margin_of_max,
        required_results=1,
        gradient=norm_gradients.max_pool,
    ),
    Operator(
        "GlobalMaxPool",
        _infer,
        _evaluate_max,
        ("x",),
        nests=_max_nests,
        codes=Moves(compares=True),
        clamps=True,
        channelwise=True,
        rising=True,
        torch=Torch(writer="max_pool"),
        sketch="image",
    ),
    Operator(
        "AveragePool",
        _infer,
        _evaluate_average,
        ("x",),
        nests=_average_nests,
        window=pool_window,
        codes=Mean(windows=True),
        clamps=True,
        channelwise=True,
        rising=True,
        torch=Torch(writer="average_pool"),
        sketch="pool",
        keeps=_keeps,
        margin=_margin_of_mean,
        gradient=_average_gradient,
    ),
    Operator(
        "GlobalAveragePool",
        _infer,
        _evaluate_average,
        ("x",),
        nests=_average_nests,
        codes=Mean(windows=True),
        clamps=True,
        channelwise=True,
        rising=True,
        torch=Torch(writer="average_pool"),
        sketch="image",
        gradient=_average_gradient,
    ),
    Operator("LpPool", _infer, _evaluate_norm, ("x",), nests=_norm_nests, window=pool_window, sketch="pool"),
    Operator("GlobalLpPool", _infer, _evaluate_norm, ("x",), nests=_norm_nests, sketch="image"),
)
