"""Operators without weights as PyTorch expressions: element by element, moves, reductions."""

from __future__ import annotations

from collections.abc import Mapping

from tilewright.export.torch_layers import Expression
from tilewright.export.torch_site import TORCH_TYPES, Site, real, tuple_of
from tilewright.ops.codes import Moves


def _operands(site: Site) -> list[str]:
    return [site.operand(i) for i in range(len(site.call.inputs))]


def _mean(site: Site) -> str:
    return f"({' + '.join(_operands(site))}) / {len(site.call.inputs)}"


def _divide(site: Site) -> str:
    whole = not site.call.tensor(0).dtype.is_float
    if whole:
        return f'torch.div({site.operand(0)}, {site.operand(1)}, rounding_mode="trunc")'
    return f"{site.operand(0)} / {site.operand(1)}"


def _where(site: Site) -> str:
    return f"torch.where({site.operand(0)}, {site.operand(1)}, {site.operand(2)})"


def _gelu(site: Site) -> str:
    return f'F.gelu({site.operand()}, approximate="{site.call.text("approximate", "none")}")'


def _clip(site: Site) -> str:
    low, high = (site.optional(i) for i in (1, 2))
    if low is None and high is None:
        return site.operand()
    return f"torch.clamp({site.operand()}, {low}, {high})"


def _reshape(site: Site) -> str:
    return f"{site.operand()}.reshape({tuple_of(site.call.outputs[0].shape)})"


def _transpose(site: Site) -> str:
    order = site.call.integers("perm", tuple(reversed(range(len(site.call.shape())))))
    return f"{site.operand()}.permute({tuple_of(order)})"


def _concat(site: Site) -> str:
    return f"torch.cat([{', '.join(_operands(site))}], {site.call.integer('axis')})"


def _split(site: Site) -> str:
    from tilewright.ops.split import parts

    axis, sizes = parts(site.call)
    return f"torch.split({site.operand()}, {list(sizes)}, {axis})"


def _slice(site: Site) -> str:
    from tilewright.ops.slice import ranges

    words = []
    for size, taken in zip(site.call.shape(), ranges(site.call), strict=True):
        if taken.step < 0:
            words.append(str(list(taken)))
        elif taken == range(size):
            words.append(":")
        else:
            words.append(f"{taken.start}:{taken.stop}" + (f":{taken.step}" if taken.step > 1 else ""))
    if sum(word[0] == "[" for word in words) > 1:
        raise site.refuse("several axes are turned round")
    return f"{site.operand()}[{', '.join(words)}]" if words else site.operand()


def _gather(site: Site) -> str:
    rank = len(site.call.shape())
    axis = site.call.integer("axis", 0) % rank
    return f"{site.operand()}[{':, ' * axis}{site.operand(1)}.long()]"


def _pad(site: Site) -> str:
    from tilewright.ops.pad import amounts, pad_value

    pairs = [side for pair in reversed(amounts(site.call)) for side in pair]
    mode = site.call.text("mode", "constant")
    if mode == "constant":
        if site.call.optional(2) is not None and 2 not in site.call.constants:
            raise site.refuse("a padding whose value is computed at run time is not written")
        value = pad_value(site.call, site.call.constants.get(2))
        return f"F.pad({site.operand()}, {tuple_of(pairs)}, value={real(float(value))})"
    while pairs and not any(pairs[-2:]):
        del pairs[-2:]
    if mode not in ("reflect", "edge") or len(pairs) > 2 * (len(site.call.shape()) - 2):
        raise site.refuse(f"padding in mode '{mode}' over these axes is not written")
    return f'F.pad({site.operand()}, {tuple_of(pairs)}, mode="{"replicate" if mode == "edge" else mode}")'


def _expand(site: Site) -> str:
    return f"{site.operand()}.expand({tuple_of(site.call.outputs[0].shape)})"


def _tile(site: Site) -> str:
    repeats = [o // max(i, 1) for o, i in zip(site.call.outputs[0].shape, site.call.shape(), strict=True)]
    return f"{site.operand()}.repeat({tuple_of(repeats)})"


def _depth_to_space(site: Site) -> str:
    n, c, h, w = site.call.shape()
    b = site.call.integer("blocksize")
    shape = tuple_of(site.call.outputs[0].shape)
    if site.call.text("mode", "DCR") == "CRD":
        return f"F.pixel_shuffle({site.operand()}, {b})"
    parts = tuple_of((n, b, b, c // (b * b), h, w))
    return f"{site.operand()}.reshape({parts}).permute(0, 3, 4, 1, 5, 2).reshape({shape})"


def _space_to_depth(site: Site) -> str:
    n, c, h, w = site.call.shape()
    b = site.call.integer("blocksize")
    parts = tuple_of((n, c, h // b, b, w // b, b))
    shape = tuple_of(site.call.outputs[0].shape)
    order = "0, 1, 3, 5, 2, 4" if site.call.text("mode", "DCR") == "CRD" else "0, 3, 5, 1, 2, 4"
    return f"{site.operand()}.reshape({parts}).permute({order}).reshape({shape})"


def _reduce(site: Site) -> str:
    from tilewright.ops.reduce import keeps_axes, reduced_axes

    axes = reduced_axes(site.call)
    if not site.call.tensor(0).dtype.is_float and not isinstance(site.call.codes, Moves):
        raise site.refuse("reductions of integers are not written")
    if not axes:
        raise site.refuse("it reduces no axis")
    keep = ", keepdim=True" if keeps_axes(site.call) else ""
    return site.torch.text.format(site.operand(), tuple_of(axes) + keep)


def _arg(site: Site) -> str:
    if site.call.integer("select_last_index", 0):
        raise site.refuse("'select_last_index' is not written")
    word = "argmax" if site.call.node.op == "ArgMax" else "argmin"
    keep = bool(site.call.integer("keepdims", 1))
    return f"torch.{word}({site.operand()}, {site.call.integer('axis', 0)}, keepdim={keep})"


def _mod(site: Site) -> str:
    return f"torch.{'fmod' if site.call.integer('fmod', 0) else 'remainder'}({site.operand(0)}, {site.operand(1)})"


def _gather_elements(site: Site) -> str:
    shape = site.call.shape()
    axis = site.call.integer("axis", 0) % len(shape)
    outer = [i for i, (a, b) in enumerate(zip(shape, site.call.shape(1), strict=True)) if b > a and i != axis]
    if outer:
        raise site.refuse("its indices reach beyond the operand")
    return f"torch.gather({site.operand(0)}, {axis}, {site.operand(1)}.long() % {shape[axis]})"


def _trilu(site: Site) -> str:
    diagonal = 0 if site.call.optional(1) is None else int(site.call.constant(1, "the diagonal").reshape(-1)[0])
    return f"torch.{'triu' if site.call.integer('upper', 1) else 'tril'}({site.operand()}, {diagonal})"


def _cumsum(site: Site) -> str:
    if site.call.integer("exclusive", 0) or site.call.integer("reverse", 0):
        raise site.refuse("an exclusive or reversed CumSum is not written")
    if not site.call.tensor(0).dtype.is_float:
        raise site.refuse("a CumSum of integers is not written")
    return f"torch.cumsum({site.operand()}, {int(site.call.constant(1, 'the axis').reshape(-1)[0])})"


def _cast(site: Site) -> str:
    if site.call.outputs[0].dtype.bits == 4:
        raise site.refuse("PyTorch has no four-bit integers")
    return f"{site.operand()}.to({TORCH_TYPES[site.call.outputs[0].dtype]})"


def _resize(site: Site) -> str:
    call = site.call
    mode, scale = call.text("mode", "nearest"), call.text("coordinate_transformation_mode", "half_pixel")
    sizes = call.outputs[0].shape
    doubled = all(o % i == 0 for o, i in zip(sizes, call.shape(), strict=True))
    rounding = call.text("nearest_mode", "round_prefer_floor")
    simple = (scale, rounding) in (("asymmetric", "floor"), ("half_pixel", "round_prefer_floor"))
    exact = doubled and (simple or call.node.op == "Upsample")
    if mode != "nearest" or sizes[:2] != call.shape()[:2] or not exact:
        raise site.refuse("only Resize to the nearest element by whole factors of the spatial axes is written")
    return f'F.interpolate({site.operand()}, size={tuple_of(sizes[2:])}, mode="nearest")'


def _einsum(site: Site) -> str:
    return f"torch.einsum({site.call.text('equation')!r}, {', '.join(_operands(site))})"


WRITERS: Mapping[str, Expression] = {
    "reduction": _reduce, "reshape": _reshape, "mean": _mean, "divide": _divide, "where": _where, "gelu": _gelu,
    "clip": _clip, "transpose": _transpose, "concat": _concat, "split": _split, "slice": _slice, "gather": _gather,
    "pad": _pad, "expand": _expand, "tile": _tile, "depth_to_space": _depth_to_space,
    "space_to_depth": _space_to_depth, "arg": _arg, "cast": _cast, "resize": _resize, "einsum": _einsum, "mod": _mod,
    "gather_elements": _gather_elements, "trilu": _trilu, "cumsum": _cumsum,
}  # fmt: skip
"""What composes the expressions that are more than a text, by the word that the operator gives (`Torch.writer`)."""


def clamped(site: Site, text: str) -> str:
    """The expression within the node's fused activation."""
    clamp = site.call.node.clamp
    if clamp is None:
        return text
    if (clamp.low, clamp.high) == (0.0, float("inf")):
        return f"F.relu({text})"
    if not site.call.outputs[0].dtype.is_float:
        raise site.refuse("a limit on integers is not written")
    return f"torch.clamp({text}, {real(clamp.low)}, {real(clamp.high)})"
