"""Windows of convolutions and pools, read from the attributes of a node and checked."""

from __future__ import annotations

from tilewright.model import Attribute, Shape
from tilewright.ops.facts import Margin
from tilewright.ops.operator import Call
from tilewright.ops.window import Window, within

AUTO_PADS = ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER")


def per_axis(call: Call, name: str, default: Shape, least: int = 1) -> Shape:
    """An attribute with one integer per spatial axis, each at least `least`."""
    values = call.integers(name, default)
    if len(values) != len(default):
        raise call.invalid(f"attribute '{name}' has {len(values)} entries, it must have {len(default)}")
    if any(value < least for value in values):
        raise call.invalid(f"attribute '{name}' is {list(values)}, every entry must be at least {least}")
    return values


def declared_pads(call: Call, rank: int) -> tuple[Shape, Shape]:
    """The attribute `pads` as (before, after)."""
    values = per_axis(call, "pads", (0,) * (2 * rank), 0)
    return values[:rank], values[rank:]


def auto_pad(call: Call) -> str:
    """The attribute `auto_pad`, one of `AUTO_PADS`."""
    value = call.text("auto_pad", "NOTSET")
    if value not in AUTO_PADS:
        raise call.invalid(f"attribute 'auto_pad' is '{value}', it must be one of {', '.join(AUTO_PADS)}")
    return value


def read_window(call: Call, spatial: Shape, kernel: Shape) -> Window:
    """The window of a convolution or pool over these input sizes."""
    rank = len(spatial)
    strides = per_axis(call, "strides", (1,) * rank)
    dilations = per_axis(call, "dilations", (1,) * rank)
    ceil_mode = bool(call.integer("ceil_mode", 0))
    mode = auto_pad(call)
    begins, ends = declared_pads(call, rank) if mode == "NOTSET" else ((0,) * rank, (0,) * rank)
    if mode.startswith("SAME"):
        pairs = [_same(*axis, mode) for axis in zip(spatial, kernel, strides, dilations, strict=True)]
        begins, ends = tuple(b for b, _ in pairs), tuple(e for _, e in pairs)
    outs = tuple(
        _out_size(call, *axis, ceil_mode=ceil_mode)
        for axis in zip(spatial, kernel, strides, dilations, begins, ends, strict=True)
    )
    spans = [size + begin + end for size, begin, end in zip(spatial, begins, ends, strict=True)]
    return Window(kernel, within(strides, spans), within(dilations, spans), begins, ends, outs)


def with_margin(call: Call, around: Margin) -> dict[str, Attribute] | None:
    """The attributes with so much more padding; None where they do not say how much there is."""
    rank = len(around.pads) // 2
    if auto_pad(call) not in ("NOTSET", "VALID"):
        return None
    own = declared_pads(call, rank)
    pads = tuple(a + b for a, b in zip((*own[0], *own[1]), around.pads, strict=True))
    return {**call.node.attributes, "pads": pads, "auto_pad": "NOTSET"}


def _same(size: int, kernel: int, stride: int, dilation: int, mode: str) -> tuple[int, int]:
    out = -(-size // stride)
    total = max(0, (out - 1) * stride + dilation * (kernel - 1) + 1 - size)
    small, large = total // 2, total - total // 2
    return (small, large) if mode == "SAME_UPPER" else (large, small)


def _out_size(
    call: Call, size: int, kernel: int, stride: int, dilation: int, begin: int, end: int, *, ceil_mode: bool
) -> int:
    span = size + begin + end - dilation * (kernel - 1) - 1
    if span < 0:
        raise call.invalid(f"a window of {dilation * (kernel - 1) + 1} does not fit into {size + begin + end} elements")
    count = (-(-span // stride) if ceil_mode else span // stride) + 1
    return count - 1 if ceil_mode and (count - 1) * stride >= size + begin else count
