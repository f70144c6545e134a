"""Placement problems as networks pose them, of any size: for the tests and for `ci/bench memory`."""

from __future__ import annotations

import random

from tilewright.memory.problem import Buffer, PlacementProblem

KINDS = ("residual", "wired", "skips", "heads")


def network_graph(kind: str, count: int, seed: int) -> PlacementProblem:
    """Lifetimes as a network of `count` tensors has them: residual chains, random wiring, long skips or heads."""
    rnd = random.Random(seed)
    sizes: list[int] = []
    last_use: list[int] = []

    def tensor(size: int, *sources: int) -> int:
        index = len(sizes)
        sizes.append(-(-size // 16) * 16)
        last_use.append(index)
        for source in sources:
            last_use[source] = index
        return index

    at = tensor(96 * 96 * 3)
    side, channels = 96, 8
    skips: list[int] = []
    while len(sizes) < count:
        area = side * side
        if kind == "residual":
            wide = tensor(area * channels * rnd.choice([3, 4, 6]), at)
            deep = tensor(sizes[wide], wide)
            gate = tensor(channels * 6, tensor(channels, tensor(channels * 6, deep)))
            at = tensor(area * channels, at, tensor(area * channels, tensor(sizes[deep], deep, gate)))
        elif kind == "wired":
            cell = [at]
            for _ in range(rnd.randint(6, 14)):
                cell.append(
                    tensor(area * rnd.choice([8, 12, 16, 20, 24, 32, 48]), *rnd.sample(cell, min(2, len(cell))))
                )
            at = tensor(area * channels, *cell[-3:])
        elif kind == "skips":
            for level in range(6):
                at = tensor((96 >> level) ** 2 * 8 * (level + 1) + rnd.choice([0, 64, 128]), tensor(sizes[at], at))
                skips.append(at)
            while skips:
                at = tensor(sizes[skips[-1]] + rnd.choice([0, 64]), at, skips.pop())
        else:
            heads = []
            for _ in range(8):
                query, key, value = (tensor(1024 + rnd.choice([0, 64]), at) for _ in range(3))
                heads.append(tensor(1024, value, tensor(4096, query, key)))
            at = tensor(8192, at, tensor(8192, *heads))
            at = tensor(8192, at, tensor(32768, tensor(32768, at)))
        if rnd.random() < 0.25:
            side, channels = (side // 2, channels + 8) if side > 6 else (96, 8)
    buffers = tuple(
        Buffer(f"t{index}", index, last_use[index] + 1, size, 16) for index, size in enumerate(sizes[:count])
    )
    return PlacementProblem(buffers)
