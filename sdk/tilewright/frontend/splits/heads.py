"""What ONNX Runtime's attentions share: masks of every form as one that is added to the scores, the standard's node.

The standard's Attention starts counting causal queries in different places in its versions; so a causal mask is one
that is written out, except where keys and queries are the same words.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from tilewright.frontend.splits.parts import Parts
from tilewright.model import DType

LOWEST = -3.4028234663852886e38


@dataclass(frozen=True)
class Sizes:
    """How many sequences, queries, keys of the past and new keys there are, and the type of the scores."""

    batch: int
    queries: int
    past: int
    new: int
    dtype: DType

    @property
    def keys(self) -> int:
        """All keys, the past's first."""
        return self.past + self.new


def added(parts: Parts, masks: list[str]) -> str:
    """The sum of the masks that there are, "" for none."""
    present = [mask for mask in masks if mask]
    if not present:
        return ""
    total = present[0]
    for mask in present[1:]:
        total = parts.op("Add", total, mask)
    return total


def padding(parts: Parts, index: int, sizes: Sizes, closed: float) -> str:
    """A mask operand of any of ONNX Runtime's forms as [batch or 1, 1, queries or 1, keys]; "" where it is omitted.

    `closed` is what the score of a masked key is lowered by.
    """
    if not parts.input(index):
        return ""
    shape, mask, batch, keys = parts.shape(index), parts.input(index), sizes.batch, sizes.keys
    if shape in ((batch, keys), (batch, sizes.queries, keys)):
        opened = parts.op("Greater", mask, parts.like(index, 0))
        opened = parts.reshape(opened, (batch, 1, 1 if len(shape) == 2 else sizes.queries, keys))
    elif shape in ((batch,), (2 * batch,)):
        opened = _between(parts, index, sizes)
    else:
        why = f"its mask '{mask}' of shape {list(shape)} fits no form for {batch} sequences of {keys} keys"
        raise parts.unsupported(why, "export it with a mask of shape [batch, keys]")
    return parts.op("Where", opened, parts.constant(0, sizes.dtype), parts.constant(closed, sizes.dtype))


def _between(parts: Parts, index: int, sizes: Sizes) -> str:
    """Which keys lie before the end of their sequence, and behind its beginning where that is told too."""
    places = parts.like(index, np.arange(sizes.keys))
    column = (sizes.batch, 1, 1, 1)
    if parts.shape(index) == (sizes.batch,):
        return parts.op("Less", places, parts.reshape(parts.input(index), column))
    ends, starts = (
        parts.reshape(parts.slice(parts.input(index), 0, part * sizes.batch, (part + 1) * sizes.batch), column)
        for part in (0, 1)
    )
    before, behind = parts.op("Less", places, ends), parts.op("GreaterOrEqual", places, starts)
    return parts.op("And", before, behind)


def causal(parts: Parts, sizes: Sizes, window: int = -1) -> str:
    """A mask that hides the keys behind each query, and those `window` or more before it; "" where it hides none."""
    queries = sizes.past + np.arange(sizes.queries)[:, None]
    keys = np.arange(sizes.keys)
    opened = keys <= queries
    if window > 0:
        opened &= keys > queries - window
    if opened.all():
        return ""
    return parts.constant(np.where(opened, 0, LOWEST)[None, None], sizes.dtype)


def attend(
    parts: Parts,
    operands: tuple[str, str, str],
    heads: tuple[int, int],
    mask: str,
    *,
    past: tuple[str, str] = ("", ""),
    present: tuple[str, str] = ("", ""),
    into: str = "",
    softcap: float = 0.0,
    is_causal: bool = False,
) -> str:
    """The standard's Attention of Q, K and V with `heads` heads of queries and of keys."""
    result = into or parts.fresh("attention")
    attributes: dict[str, Any] = {
        "q_num_heads": heads[0],
        "kv_num_heads": heads[1],
        "is_causal": int(is_causal),
    }
    if scale := parts.number("scale", 0.0):
        attributes["scale"] = float(scale)
    if softcap:
        attributes["softcap"] = float(softcap)
    results = [result, *present]
    while not results[-1]:
        results.pop()
    parts.ops("Attention", (*operands, mask, *past), results, **attributes)
    return result


def cut(parts: Parts, name: str, axis: int, sizes: tuple[int, ...]) -> tuple[str, ...]:
    """A tensor in pieces of these sizes along an axis."""
    results = tuple(parts.fresh("split") for _ in sizes)
    parts.ops("Split", (name, parts.constant(sizes)), results, axis=axis)
    return results


def shared_past(parts: Parts, index: int) -> tuple[tuple[str, str], int]:
    """Keys and values of the past from one tensor that holds both, and how many there are."""
    if not parts.input(index):
        return ("", ""), 0
    _, batch, heads, past, depth = shape = parts.shape(index)
    if not prod(shape):
        return ("", ""), 0
    both = cut(parts, parts.input(index), 0, (1, 1))
    keys, values = (parts.reshape(each, (batch, heads, past, depth)) for each in both)
    return (keys, values), past


def shared_present(parts: Parts, present: tuple[str, str], into: str) -> None:
    """Keys and values as one tensor."""
    both = [parts.op("Unsqueeze", each, parts.constant([0])) for each in present]
    parts.op("Concat", *both, into=into, axis=0)


def positions(parts: Parts, batch: int, length: int, first: str = "", past: int = 0) -> str:
    """The place of each new word as [batch, length]: behind `past` words, or from `first` of shape [batch] on."""
    steps = np.broadcast_to(np.arange(length) + (0 if first else past), (batch, length))
    constant = parts.constant(steps, DType.I64)
    return parts.op("Add", parts.reshape(first, (batch, 1)), constant) if first else constant
