"""What the kernels with windows share: rules, the numbers of a tile, and whether the layer has two spatial axes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tilewright.platform import Call, Constant, Rule, TileView, prefer, whole

TILE = "tilewright_conv_tile"
SOURCES = ("tiles.h", "conv_tile.h")
CORES = 8


def two_axes(call: Call) -> str | None:
    """None for pictures of one batch; else the sentence why not."""
    if len(call.shape(0)) != 4:
        return f"{len(call.shape(0)) - 2} spatial axes, the kernel handles two"
    if call.shape(0)[0] != 1:
        return f"batch is {call.shape(0)[0]}, the kernel handles 1"
    return None


def lines(sizes: Mapping[str, Any]) -> Any:
    """Rows of results in a tile; a signal, with one spatial axis, has one."""
    return sizes.get("oh", 1)


def taps(call: Call) -> tuple[str, ...]:
    """The loops over the taps of a picture or a signal."""
    return ("kh", "kw") if len(call.shape(0)) == 4 else ("kw",)


def window_rules(*reduced: str) -> list[Rule]:
    """Sums stay whole; eight rows give every core one."""
    return [
        *whole(*reduced, why="a sum stays in one register from the first tap to the last"),
        prefer("oh", CORES, why="eight cores take a row each"),
    ]


def window_tile(view: TileView, channels: str) -> Mapping[str, int]:
    """The numbers of one tile whose results run over the loops oh (pictures only), ow and `channels`."""
    box, before = view.boxes["x"].box, view.boxes["x"].before
    picture = len(box) == 4
    return {
        "rows": view.size("oh") if picture else 1,
        "columns": view.size("ow"),
        "channels": view.size(channels),
        "in_rows": box[2][1] - box[2][0] if picture else 1,
        "in_columns": box[-1][1] - box[-1][0],
        "top": before[2] if picture else 0,
        "left": before[-1],
    }


def per_channel(constants: tuple[Constant, ...], channels: int, loop: str) -> tuple[Constant, ...]:
    """The constants with those of one value per channel cut along the loop of the channels."""
    return tuple(replace(c, along=(loop,)) if c.values.size == channels else c for c in constants)


def window_cycles(call: Call, sizes: Mapping[str, Any], taps: Any, channels: Any, per_tap: float) -> Any:
    """Modelled cycles of one tile: entering, then the results of the core that has most."""
    pixels = sizes["oh"] * sizes["ow"]
    shared = -(-pixels // CORES) * channels
    return 400 + shared * (20 + taps * per_tap)
