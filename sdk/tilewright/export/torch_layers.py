"""Layers with weights, windows and normalisations as PyTorch expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod

from tilewright.export.torch_site import Site, numbers, real, tuple_of
from tilewright.ops.codes import Exponentials
from tilewright.ops.conv import conv_window
from tilewright.ops.conv_transpose import spread
from tilewright.ops.pool import pool_window
from tilewright.ops.softmax import reduced_axes as softmax_axes
from tilewright.ops.window import Window

Expression = Callable[[Site], str]


def _padded(site: Site, x: str, window: Window, value: str = "") -> tuple[str, str]:
    """The operand and the text of a `padding=` argument; padding that differs at the two ends is a line of its own."""
    if not any((*window.begins, *window.ends)):
        return x, ""
    half = all(b <= k // 2 for b, k in zip(window.begins, window.kernel, strict=True))
    if window.begins == window.ends and not value and half:
        return x, f", padding={numbers(window.begins)}"
    pairs = [side for pair in zip(reversed(window.begins), reversed(window.ends), strict=True) for side in pair]
    return f"F.pad({x}, {tuple_of(pairs)}{value})", ""


def _steps(window: Window) -> str:
    text = "" if set(window.strides) == {1} else f", stride={numbers(window.strides)}"
    return text if set(window.dilations) == {1} else text + f", dilation={numbers(window.dilations)}"


def convolution(site: Site, x: str, w: str, bias: str | None) -> str:
    """`F.conv2d(...)` of these operands with the node's window."""
    window, groups = conv_window(site.call), site.call.integer("group", 1)
    rank = _spatial(site, window.kernel)
    x, padding = _padded(site, x, window)
    group = f", groups={groups}" if groups > 1 else ""
    return f"F.conv{rank}d({x}, {w}, {bias}{_steps(window)}{padding}{group})"


def transposed(site: Site, x: str, w: str, bias: str | None) -> str:
    """`F.conv_transpose2d(...)`; where ONNX cuts the two ends differently, the result is cut."""
    call, shape = site.call, spread(site.call)
    rank, groups = _spatial(site, shape.kernel), call.integer("group", 1)
    full = [
        (i - 1) * s + (k - 1) * d + 1
        for i, s, k, d in zip(call.shape()[2:], shape.strides, shape.kernel, shape.dilations, strict=True)
    ]
    text = "" if set(shape.strides) == {1} else f", stride={numbers(shape.strides)}"
    text += f", groups={groups}" if groups > 1 else ""
    text += "" if set(shape.dilations) == {1} else f", dilation={numbers(shape.dilations)}"
    ends = [f - b - o for f, b, o in zip(full, shape.begins, shape.outs, strict=True)]
    if tuple(ends) == tuple(shape.begins):
        padding = f", padding={numbers(shape.begins)}" if any(ends) else ""
        return f"F.conv_transpose{rank}d({x}, {w}, {bias}{padding}{text})"
    if min(ends) < 0:
        raise site.refuse("its result reaches beyond what the input touches")
    cuts = ", ".join(f"{b}:{b + o}" for b, o in zip(shape.begins, shape.outs, strict=True))
    return f"F.conv_transpose{rank}d({x}, {w}, {bias}{text})[:, :, {cuts}]"


def matrix_product(site: Site, x: str, w: str) -> str:
    """`x @ w` with the transpositions of a Gemm."""
    call = site.call
    left = f"{x}.T" if call.node.op == "Gemm" and call.integer("transA", 0) else x
    right = f"{w}.T" if call.node.op == "Gemm" and call.integer("transB", 0) else w
    return f"{left} @ {right}"


def _spatial(site: Site, kernel: tuple[int, ...]) -> int:
    if len(kernel) > 3:
        raise site.refuse(f"PyTorch has no window over {len(kernel)} axes")
    return len(kernel)


def _conv(site: Site) -> str:
    return convolution(site, site.operand(0), site.operand(1), site.optional(2))


def _conv_transpose(site: Site) -> str:
    return transposed(site, site.operand(0), site.operand(1), site.optional(2))


def _gemm(site: Site) -> str:
    call, x, w, c = site.call, site.operand(0), site.operand(1), site.optional(2)
    alpha, beta = call.real("alpha", 1.0), call.real("beta", 1.0)
    flat = c is not None and len(call.shape(2)) == 1
    if alpha == beta == 1 and flat and call.integer("transB", 0) and not call.integer("transA", 0):
        return f"F.linear({x}, {w}, {c})"
    text = matrix_product(site, x, w)
    text = text if alpha == 1 else f"{real(alpha)} * ({text})"
    if c is None:
        return text
    return f"{text} + {c}" if beta == 1 else f"{text} + {real(beta)} * {c}"


def max_pool(site: Site) -> str:
    """`F.max_pool2d`; padding never wins."""
    if len(site.call.outputs) > 1:
        raise site.refuse("the indices of a MaxPool are not written")
    if not site.call.tensor(0).dtype.is_float and site.call.tensor(0).quantisation is None:
        raise site.refuse("the largest of plain integers is not written")
    window, x = pool_window(site.call), site.operand()
    if window.kernel == site.call.shape()[2:] and set(window.outs) == {1} and not any(window.begins):
        return f"{x}.amax({tuple_of(range(2, len(site.call.shape())))}, keepdim=True)"
    rank = _spatial(site, window.kernel)
    x, _ = _padded(site, x, _reaching(site, window), ', value=-float("inf")')
    return f"F.max_pool{rank}d({x}, {numbers(window.kernel)}, stride={numbers(window.strides)}{_dilation(window)})"


def _dilation(window: Window) -> str:
    return "" if set(window.dilations) == {1} else f", dilation={numbers(window.dilations)}"


def _reaching(site: Site, window: Window) -> Window:
    """The window with the padding behind that its last position reaches, as `ceil_mode` wants it."""
    sizes = site.call.shape()[2:]
    ends = tuple(
        max(0, (o - 1) * s + (k - 1) * d + 1 - b - n)
        for o, s, k, d, b, n in zip(
            window.outs, window.strides, window.kernel, window.dilations, window.begins, sizes, strict=True
        )
    )
    return Window(window.kernel, window.strides, window.dilations, window.begins, ends, window.outs)


def sum_pool(site: Site, x: str) -> str:
    """The plain sums of every window of a pool without dilation."""
    window = pool_window(site.call)
    rank = _spatial(site, window.kernel)
    if set(window.dilations) != {1}:
        raise site.refuse("a mean over a dilated window is not written")
    x, padding = _padded(site, x, _reaching(site, window))
    kernel, stride = numbers(window.kernel), numbers(window.strides)
    if rank == 1:
        return f"F.avg_pool1d({x}, {kernel}, stride={stride}{padding}) * {window.kernel[0]}"
    return f"F.avg_pool{rank}d({x}, {kernel}, stride={stride}{padding}, divisor_override=1)"


def _average_pool(site: Site) -> str:
    import numpy as np

    from tilewright.model import DType
    from tilewright.ops.pool import average_pool_sum

    window, x = pool_window(site.call), site.operand()
    if window.kernel == site.call.shape()[2:] and set(window.outs) == {1} and not any((*window.begins, *window.ends)):
        return f"{x}.mean({tuple_of(range(2, len(site.call.shape())))}, keepdim=True)"
    _, counts = average_pool_sum(site.call, np.ones((1, 1, *site.call.shape()[2:])))
    if counts.min() == counts.max() == prod(window.kernel) and not any((*window.begins, *window.ends)):
        rank = _spatial(site, window.kernel)
        if set(window.dilations) == {1} and _reaching(site, window).ends == window.ends:
            return f"F.avg_pool{rank}d({x}, {numbers(window.kernel)}, stride={numbers(window.strides)})"
    count = counts.astype(DType.F32.numpy)
    divisor = real(float(count.flat[0])) if counts.min() == counts.max() else site.table("counts", count)
    return f"{sum_pool(site, x)} / {divisor}"


def _batch_norm(site: Site) -> str:
    x, scale, bias, mean, variance = (site.operand(i) for i in range(5))
    return f"F.batch_norm({x}, {mean}, {variance}, {scale}, {bias}, eps={real(site.call.real('epsilon', 1e-5))})"


def _layer_norm(site: Site) -> str:
    if len(site.call.outputs) > 1:
        raise site.refuse("the statistics of a LayerNormalization are not written")
    shape = site.call.shape()
    axis = site.call.integer("axis", -1)
    over = shape[axis % len(shape) :]
    scale, bias = site.operand(1), site.optional(2)
    epsilon = real(site.call.real("epsilon", 1e-5))
    return f"F.layer_norm({site.operand()}, {tuple_of(over)}, {scale}, {bias}, eps={epsilon})"


def _instance_norm(site: Site) -> str:
    x, scale, bias = (site.operand(i) for i in range(3))
    return f"F.instance_norm({x}, weight={scale}, bias={bias}, eps={real(site.call.real('epsilon', 1e-5))})"


def _group_norm(site: Site) -> str:
    if site.call.shape(1) != site.call.shape()[1:2]:
        raise site.refuse("scales of a group are not written, only those of a channel")
    x, scale, bias = (site.operand(i) for i in range(3))
    groups, epsilon = site.call.integer("num_groups"), real(site.call.real("epsilon", 1e-5))
    return f"F.group_norm({x}, {groups}, {scale}, {bias}, eps={epsilon})"


def _rms_norm(site: Site) -> str:
    shape = site.call.shape()
    over = tuple_of(range(site.call.integer("axis", -1) % len(shape), len(shape)))
    x, epsilon = site.operand(), real(site.call.real("epsilon", 1e-5))
    return f"{x} * torch.rsqrt(({x} ** 2).mean({over}, keepdim=True) + {epsilon}) * {site.operand(1)}"


def _response_norm(site: Site) -> str:
    call, size = site.call, site.call.integer("size")
    if size % 2 == 0:
        raise site.refuse("an even number of channels is taken from other sides in PyTorch")
    values = [real(call.real(n, d)) for n, d in (("alpha", 1e-4), ("beta", 0.75), ("bias", 1.0))]
    return f"F.local_response_norm({site.operand()}, {size}, {', '.join(values)})"


def _softmax(site: Site) -> str:
    word = "softmax" if isinstance(site.call.codes, Exponentials) else "log_softmax"
    axes, shape, x = softmax_axes(site.call), site.call.shape(), site.operand()
    wide = [axis for axis in axes if shape[axis] > 1] or list(axes[:1])
    if len(wide) == 1:
        return f"torch.{word}({x}, {wide[0]})"
    if not axes:
        raise site.refuse("it runs over no axis")
    return f"torch.{word}({x}.flatten({axes[0]}), {axes[0]}).reshape({tuple_of(shape)})"


def _recurrent(site: Site) -> str:
    """A recurrent node of default form in one direction or two; its three results as a tuple."""
    from tilewright.ops.recurrent import cell

    call, recurrent = site.call, cell(site.call)
    if recurrent.clip or recurrent.batch_first or call.optional(4) is not None or call.optional(7) is not None:
        raise site.refuse("clipping, sequence lengths, peepholes and batch-first layout are not written")
    if "activations" in call.node.attributes or call.integer("input_forget", 0):
        raise site.refuse("only its default activations and gates are written")
    word = call.node.op.lower()
    parts = []
    for index, reverse in enumerate(recurrent.directions):
        zeros = f"{site.operand()}.new_zeros({recurrent.batch}, {recurrent.hidden})"
        first = f"{site.operand(5)}[{index}]" if call.optional(5) is not None else zeros
        weights = f"{site.operand(1)}[{index}], {site.operand(2)}[{index}]"
        bias = f"{site.operand(3)}[{index}]" if call.optional(3) is not None else ""
        gates = (4 if word == "lstm" else 3) * recurrent.hidden
        if word == "lstm":
            both = f"({bias}[:{gates}] + {bias}[{gates}:])" if bias else f"{site.operand()}.new_zeros({gates})"
            second = f"{site.operand(6)}[{index}]" if call.optional(6) is not None else zeros
            last = f"{both}, {first}, {second}, {reverse}"
        else:
            none = f"{site.operand()}.new_zeros({gates})"
            both = f"{bias}[:{gates}], {bias}[{gates}:]" if bias else f"{none}, {none}"
            last = f"{both}, {first}, {reverse}, {bool(call.integer('linear_before_reset', 0))}"
        parts.append(f"{site.helper(word)}({site.operand()}, {weights}, {last})")
    stacks = ["torch.stack(part, 1 if rank == 0 else 0)"]
    places = ", ".join(str(place) for place in call.present)
    each = f"[{stacks[0]} for rank, part in enumerate(zip({', '.join(parts)}))]"
    if len(call.present) == 1 and call.present[0] == 0:
        return f"torch.stack(next(zip({', '.join(parts)})), 1)"
    if len(call.present) == 1:
        return f"{each}[{places}]"
    return f"operator.itemgetter({places})({each})"


WRITERS: Mapping[str, Expression] = {
    "conv": _conv, "conv_transpose": _conv_transpose, "gemm": _gemm, "max_pool": max_pool,
    "average_pool": _average_pool, "batch_norm": _batch_norm, "layer_norm": _layer_norm,
    "instance_norm": _instance_norm, "group_norm": _group_norm, "rms_norm": _rms_norm,
    "response_norm": _response_norm, "softmax": _softmax, "recurrent": _recurrent,
}  # fmt: skip
"""What composes the expressions of layers, by the word that the operator gives (`Torch.writer`)."""
