"""Products of floats taken back over tiles in L1: the gradient of some channels, and the step of their weights.

A tile holds some channels of the operand, or some of its rows, whose slopes are added from tile to tile. Every core
makes rows of the gradient and slopes of weights, of operands that nobody writes: results have buffers of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import gcd, lcm
from typing import Any

import numpy as np
from tilewright.numerics import literal
from tilewright.operators import DescentTerm, descent_products, descent_terms
from tilewright.platform import (
    Call,
    Constant,
    DType,
    Operands,
    Rule,
    TiledKernelMethods,
    TileView,
    adds,
    multiple,
    whole,
)
from tilewright.platforms.generic.kernels.descent import replaces
from tilewright.platforms.generic.kernels.elements import empty
from tilewright.platforms.generic.kernels.nest import operand_names, result_names
from tilewright.platforms.pulp.kernels.conv_f32 import SOURCES, part_of, row_cycles
from tilewright.platforms.pulp.kernels.plane_blocks import LANES, WIDEST, Blocks, Row, Tap, Weights, blocks_of, lanes_of
from tilewright.platforms.pulp.kernels.slope_blocks import LineSlopes, WindowSlopes, slopes_of
from tilewright.platforms.pulp.kernels.windows import CORES
from tilewright.platforms.pulp.platform import PLATFORM

TYPES = "f32, f32?, f32... -> f32, f32..."
FIRST, EACH = 2, 3
"""Operands before those of the products, and of each: weights, gradient, target."""
SLOPE_CYCLES, PRODUCT_CYCLES = 200, 2.3
"""Modelled cycles of slopes that are summed at once beside their products, and of a product; measured in GVSoC."""


@dataclass(frozen=True)
class TermContext:
    """One product: the blocks of its gradient by columns that are a stride apart; its
    window along rows (`row_taps` and `row_step`: rows of the window that meet one row are so many apart, and meet rows
    of the gradient so many apart), and its slopes."""

    number: int
    product: DescentTerm
    phases: tuple[Blocks, ...]
    slopes: tuple[LineSlopes, ...] | tuple[WindowSlopes, ...]
    line: tuple[int, int, int]
    weights: str
    gradient: str
    target: str
    following: str

    @property
    def rows(self) -> int:
        """Rows of the window."""
        return self.product.kernel[0]

    @property
    def window_columns(self) -> int:
        """Columns of the window."""
        return self.product.kernel[1]

    @property
    def window(self) -> int:
        """Taps of the window."""
        return self.product.taps

    @property
    def lanes(self) -> int:
        """Results whose slopes are summed at once."""
        return self.slopes[0].lanes

    @property
    def by_line(self) -> bool:
        """True where slopes are summed tap by tap."""
        return self.window_columns == 1

    @property
    def together(self) -> int:
        """Channels whose slopes are summed at once."""
        return LANES if self.by_line and len(self.slopes) > 1 else self.slopes[0].channels

    @property
    def units(self) -> int:
        """Turns in which the slopes of a block are made."""
        return self.rows

    @property
    def stride(self) -> int:
        """Along rows."""
        return self.product.strides[0]

    @property
    def dilation(self) -> int:
        """Along rows."""
        return self.product.dilations[0]

    @property
    def row_taps(self) -> int:
        """Rows of the window from one that meets a row to the next that does."""
        return self.stride // gcd(self.stride, self.dilation)

    @property
    def row_step(self) -> int:
        """Rows of the gradient between what both meet."""
        return self.dilation // gcd(self.stride, self.dilation)

    @property
    def columns(self) -> int:
        """Columns of the gradient that a tile has: those that any column of the operand may meet."""
        low, high = _columns(self.product)
        return high - low

    @property
    def phases_differ(self) -> bool:
        """True where a row of the gradient is made in several turns."""
        return len(self.phases) > 1

    @property
    def by_rows(self) -> bool:
        """See `Blocks`."""
        return self.phases[0].by_rows

    @property
    def slope_arguments(self) -> str:
        """What the slopes are made of and where they go."""
        return ", ".join(dict.fromkeys((self.gradient, self.target, self.following)))

    @property
    def slope_parameters(self) -> str:
        """The same as parameters."""
        read = dict.fromkeys((self.gradient, self.target))
        return ", ".join([*(f"const float *{name}" for name in read), f"float *{self.following}"])


@dataclass(frozen=True)
class DescentContext:
    """Every number of a layer; `even` where all of it reads every pixel once, `rest` where channels are no multiple of
    four. `first_of` is by product the first one with the same blocks of slopes; any `rows_at_once` meet as many rows of
    every window."""

    terms: tuple[TermContext, ...]
    first_of: tuple[int, ...]
    rows_at_once: int
    back: bool
    add: bool
    masked: bool
    even: bool
    lanes: tuple[int, ...]
    rate: str
    decay: str

    def decayed(self, target: str) -> str:
        """What is left of a target."""
        return target if self.decay == literal(DType.F32, 1.0) else f"{self.decay} * {target}"

    @property
    def back_arguments(self) -> str:
        """What the gradient is made of, and where it goes."""
        read = [*(["x"] if self.masked else []), *(["add"] if self.add else [])]
        return ", ".join([*read, *(name for t in self.terms for name in (t.weights, t.gradient)), "dx"])

    @property
    def back_parameters(self) -> str:
        """The same as parameters."""
        *read, _ = self.back_arguments.split(", ")
        return ", ".join([*(f"const float *{name}" for name in read), "float *dx"])


@PLATFORM.kernel(
    "Descent", types=TYPES, template="descent_f32.c.mako", layout=("default", "default"),
    sources=[*SOURCES, "slopes_f32.h"], numerics="1e-4", preference=20,
)  # fmt: skip
class TiledDescentF32(TiledKernelMethods):
    """Convolutions taken back over tiles in L1."""

    tile_type = "{function}_tile"

    def accepts(self, call: Call) -> str | None:
        """Convolutions of the same groups, nothing constant."""
        terms = descent_terms(call)
        if terms[0].matrix:
            return "the kernel takes back convolutions, this is a matrix product"
        if any(term.groups != terms[0].groups for term in terms):
            return "the products divide channels into groups differently"
        if any(_columns(term)[1] == 0 or not descent_products(term) for term in terms):
            return "no pixel of the operand meets one of the gradient"
        return "an operand is a constant" if call.constants else empty(call)

    def rules(self, call: Call) -> list[Rule]:
        """Results and taps stay whole, as do rows; slopes are added from some rows to the next."""
        terms, picture = descent_terms(call), len(call.shape()) == 4
        taps = [f"k{number}{axis}" for number in range(len(terms)) for axis in ("hw" if picture else "w")]
        rules = whole(*(f"o{number}" for number in range(len(terms))), *taps,
                      why="what is taken back is a sum over all results and taps")  # fmt: skip
        rules += whole("iw", why="what the edges of a row lack is known when the code is made")
        rules += adds("n", *(["ih"] if picture else []), why="slopes are sums over images and rows")
        if terms[0].channels < LANES:
            return [*rules, *whole("c", why="fewer than four channels are summed at once")]
        return [*rules, multiple("c", LANES, why="four channels are summed at once")]

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """The gradient takes the memory of the operand, next values that of targets."""
        return replaces(call)

    def cost(self, call: Call) -> float:
        """A whole layer in one tile."""
        terms = descent_terms(call)
        sizes = {"n": terms[0].images, "g": terms[0].groups, "c": terms[0].channels, "ih": terms[0].size[0]}
        return float(self.cycles(call, sizes))

    def cycles(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """Entering, the rows of the gradient and the slopes of the core that has most."""
        terms, rows_of_picture = _terms(call), descent_terms(call)[0].size[0]
        rows, blocks = sizes.get("ih", 1), sizes["g"] * -(-sizes["c"] // min(LANES, terms[0].product.channels))
        total: Any = 450.0
        shared = sizes["n"] * blocks * rows / CORES + 0.25
        for one in terms:
            term, met = one.product, one.product.results * _rows_met(one.product)
            each = sum(row_cycles(phase, phase.row.count, met) for phase in one.phases)
            total = total + shared * each * (0 in call.present)
            each_tap = descent_products(term) / (term.images * term.groups * term.results * term.channels * term.taps)
            pixels = sizes["n"] * each_tap * rows / rows_of_picture
            many = sizes["g"] * -(-sizes["c"] // one.together) * -(-term.results // one.lanes) * one.units
            products = pixels * one.lanes * one.together * term.kernel[1]
            each_sum = SLOPE_CYCLES * len(one.slopes) + products * PRODUCT_CYCLES
            total = total + np.ceil(many / CORES) * each_sum
        return np.ceil(total).astype(np.int64)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """None."""
        return ()

    def context(self, operands: Operands) -> DescentContext:
        """The numbers of the layer."""
        call = operands.call
        terms, back = _terms(call), 0 in call.present
        steps = [(term.slopes, term.window) for term in terms]
        return DescentContext(
            terms, tuple(steps.index(step) for step in steps), _rows_at_once(terms), back,
            back and call.optional(1) is not None, back and bool(call.integer("masked", 0)),
            all(_plain(term.product) for term in terms), lanes_of(terms[0].product.channels),
            literal(DType.F32, call.real("rate")), literal(DType.F32, call.real("decay", 1.0)),
        )  # fmt: skip

    def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
        """Sizes of one tile, where it begins and ends sums, and the rows of each gradient that it reads."""
        terms, picture = _terms(call), len(call.shape()) == 4
        low, high = view.loops["ih"] if picture else (0, 1)
        rows, columns, images = high - low, terms[0].product.size[1], terms[0].product.images
        ends = [view.loops["n"], *([view.loops["ih"]] if picture else [])]
        extents = [images, terms[0].product.size[0]]
        even = all(_plain(term.product) for term in terms)
        members = {
            "images": view.size("n"), "groups": view.size("g"), "channels": view.size("c"), "rows": 1 if even else rows,
            "columns": rows * columns if even else columns, "parts": 1,
            "first": int(all(begin == 0 for begin, _ in ends)),
            "last": int(all(end == extent for (_, end), extent in zip(ends, extents, strict=False))),
        }  # fmt: skip
        units = view.size("n") * view.size("g") * -(-view.size("c") // lanes_of(terms[0].product.channels)[0])
        bands, blocks = -(-members["rows"] // _rows_at_once(terms)), _blocks_of_row(terms, members["columns"])
        members["parts"] = -(-blocks // part_of(units * bands, blocks))
        for term in terms:
            first, end = view.boxes[term.gradient].box[2] if picture else (0, 1)
            members[f"results{term.number}"] = term.product.results
            members[f"rows{term.number}"] = 1 if even else end - first
            members[f"columns{term.number}"] = members["columns"] if even else term.columns
            members[f"top{term.number}"] = 0 if even else term.product.begins[0] + low - first * term.stride
            if isinstance(window := term.slopes[0], WindowSlopes):
                members[f"met{term.number}"] = window.blocks.middle
            members |= {f"middle{term.number}_{b.row.first}": b.middle for b in term.phases if not b.even}
        return members


def _rows_at_once(terms: Sequence[TermContext]) -> int:
    return lcm(*(term.stride for term in terms))


def _blocks_of_row(terms: Sequence[TermContext], columns: int) -> int:
    """The fewest blocks of a row that some product has for each of its turns: so many cores can share one. A part of a
    row must be the same columns for all products, each adds to what the one before has left."""
    if len({(term.product.strides[1], tuple(phase.even for phase in term.phases)) for term in terms}) > 1:
        return 1
    return min(-(-columns // WIDEST) if phase.even else phase.count for term in terms for phase in term.phases)


def _rows_met(term: DescentTerm) -> float:
    """Rows of the window that an average row of the operand meets."""
    rows = [term.reach(0, row)[1] for row in range(term.kernel[0])]
    return float(sum(row.stop - row.start for row in rows)) / term.size[0]


def _plain(term: DescentTerm) -> bool:
    return (term.kernel, term.strides, term.begins) == ((1, 1), (1, 1), (0, 0)) and term.size == term.outs


def _terms(call: Call) -> tuple[TermContext, ...]:
    """The products of a call, made once."""
    if "planes" not in call.known:
        call.known["planes"] = tuple(_term(call, number, term) for number, term in enumerate(descent_terms(call)))
    terms: tuple[TermContext, ...] = call.known["planes"]
    return terms


def _term(call: Call, number: int, term: DescentTerm) -> TermContext:
    names, results, place = operand_names(call), result_names(call), FIRST + EACH * number
    phases = tuple(_phase(term, first) for first in range(min(term.strides[1], term.size[1])))
    low, high = _columns(term)
    starts = [column * term.dilations[1] - term.begins[1] + low * term.strides[1] for column in range(term.kernel[1])]
    columns = tuple(Tap(column, start) for column, start in enumerate(starts))
    row, (read, written) = Row(columns, term.strides[1], term.size[1], high - low), term.reach(1, 0)
    line = written.start - low, read.start, high - low - (written.stop - written.start)
    held = place if call.optional(place + 2) is None else place + 2
    return TermContext(
        number, term, phases, slopes_of(term.channels, term.results, row), line, names[place],
        names[place + 1], names[held], results[call.present.index(1 + number)],
    )  # fmt: skip


def _columns(term: DescentTerm) -> tuple[int, int]:
    """The box of columns of the gradient that the operand's meet, as it is cut from the index maps."""
    stride, dilation, begin = term.strides[1], term.dilations[1], term.begins[1]
    met = {
        (place + begin - column * dilation) // stride
        for place in range(term.size[1])
        for column in range(term.kernel[1])
    }
    inside = [place for place in met if 0 <= place < term.outs[1]]
    return (min(inside), max(inside) + 1) if inside else (0, 0)


def _phase(term: DescentTerm, first: int) -> Blocks:
    """The blocks of columns `first`, `first` + stride, ... of the operand's gradient."""
    stride, dilation, begin = term.strides[1], term.dilations[1], term.begins[1]
    low, high = _columns(term)
    taps = tuple(
        Tap(column, (first + begin - column * dilation) // stride - low)
        for column in range(term.kernel[1])
        if (first + begin - column * dilation) % stride == 0
    )
    row = Row(taps, 1, high - low, -(-(term.size[1] - first) // stride), stride, first)
    return blocks_of(row, Weights(term.taps, 0), term.results, term.kernel[0], lanes_of(term.channels))
