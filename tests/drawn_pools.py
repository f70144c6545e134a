"""Drawn pools, for kernels of floats and of codes."""

from __future__ import annotations

import random
from typing import Any

DRAWN = 30
Pool = tuple[str, tuple[int, ...], dict[str, Any]]


def drawn_pools(seed: int) -> list[Pool]:
    """Windows of one or two axes: strides above and below their width, padding, dilation, ends that are rounded up."""
    r, pools = random.Random(seed), list[Pool]()
    while len(pools) < DRAWN:
        op, rank = r.choice(["MaxPool", "AveragePool"]), r.choice([1, 2, 2])
        kernel = tuple(r.choice([1, 2, 3, 3, 4, 5, 9]) for _ in range(rank))
        dilations = tuple(r.choice([1, 1, 2]) for _ in kernel)
        pads = tuple(r.randint(0, k - 1) for k in kernel * 2)
        shape = (r.choice([1, 1, 2]), r.randint(1, 5), *(r.randint(1, 14) for _ in kernel))
        attributes: dict[str, Any] = {
            "kernel_shape": kernel, "dilations": dilations, "pads": pads, "ceil_mode": r.randint(0, 1),
            "strides": tuple(r.randint(1, 4) for _ in kernel),
        }  # fmt: skip
        if op == "AveragePool":
            attributes["count_include_pad"] = r.randint(0, 1)
        sides = zip(shape[2:], pads[:rank], pads[rank:], kernel, dilations, strict=True)
        if all(size + begin + end > (k - 1) * d for size, begin, end, k, d in sides):
            pools.append((op, shape, attributes))
    return pools
