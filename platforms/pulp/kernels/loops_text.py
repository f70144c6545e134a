"""C of loops over one tile: the addresses of its boxes, and how the cores share and walk the results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from tilewright.numerics import C_TYPES
from tilewright.operators import Addressing, Boxed, addressing, straight_loops
from tilewright.ops.index.affine import Affine
from tilewright.ops.index.loop_nest import LoopNest, Loops, c_lines
from tilewright.ops.index.loop_nest import declarations as loop_tables
from tilewright.ops.index.nest import Access, Nest
from tilewright.ops.index.table import Table
from tilewright.platform import Call, Constant, Operands
from tilewright.platforms.generic.kernels.nest import Printed, operand_names, result_names, strides_of, unread
from tilewright.platforms.generic.kernels.nest_address import Subscript
from tilewright.platforms.generic.kernels.nest_loops import Window, loop_nest


@dataclass(frozen=True)
class StepOfNest:
    """What a core does for one result: the loops of a nest inside of those that are shared, as C."""

    comment: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class LoopContext:
    """Members of the tile's struct, declarations, and the loops: how many results, the first, one, and the next run of
    them along the loop `run`."""

    members: tuple[str, ...]
    declarations: tuple[str, ...]
    total: str
    run: str
    start: tuple[str, ...]
    nests: tuple[StepOfNest, ...]
    step: tuple[str, ...]


def shared_loops(nests: Sequence[Nest]) -> tuple[str, ...]:
    """The loops that are shared among the cores, outermost first."""
    first = nests[0]
    loops = straight_loops(nests) if len(nests) > 1 else set(first.parallel) if first.complete else set[str]()
    return tuple(name for name in first.space.moving if name in loops)


def plain(access: Access, axis: int, loop: str) -> bool:
    """True where the axis is moved by one loop, step by step from its first place to its last."""
    return access.subscripts[axis] == Affine.loop(loop)


def own_axes(accesses: Sequence[Access], loops: Sequence[str]) -> list[int]:
    """Axes whose box in a tile does not follow from one loop alone."""
    axes = []
    for axis in range(len(accesses[0].subscripts)):
        moved = {loop for access in accesses for loop in access.subscripts[axis].loops} & set(loops)
        if moved and not (len(accesses) == 1 and any(plain(accesses[0], axis, loop) for loop in moved)):
            axes.append(axis)
    return axes


def cut_axes(access: Access, loops: set[str], extents: Mapping[str, int]) -> dict[int, tuple[str, ...]]:
    """Axes of a constant of which the shared loops are the digits, the highest first."""
    axes: dict[int, tuple[str, ...]] = {}
    for axis, (sub, size) in enumerate(zip(access.subscripts, access.tensor.shape, strict=True)):
        if size == 1 or isinstance(sub, Table) or sub.div != 1 or sub.const:
            continue
        digits = sorted(((c, n) for n, c in sub.terms if extents[n] > 1), reverse=True)
        span, whole = 1, True
        for coeff, name in reversed(digits):
            whole = whole and coeff == span and name in loops
            span *= extents[name]
        if whole and span == size and not set(n for _, n in digits) & {n for names in axes.values() for n in names}:
            axes[axis] = tuple(name for _, name in digits)
    return axes


def intermediates(call: Call, nests: Sequence[Nest]) -> tuple[dict[str, tuple[str, int]], int]:
    """C type and offset of every tensor inside a chain, of one core, and their bytes together."""
    known = {*operand_names(call), *result_names(call)}
    loops = shared_loops(nests)
    intermediates: dict[str, tuple[str, int]] = {}
    at = 0
    for nest in nests:
        tensor = nest.out.tensor
        if tensor.name not in known and tensor.name not in intermediates:
            elements = prod(
                size for axis, size in enumerate(tensor.shape) if not set(nest.out.subscripts[axis].loops) & set(loops)
            )
            intermediates[tensor.name] = (C_TYPES[tensor.dtype], at)
            at += -(-elements * tensor.dtype.bits // 8 // 8) * 8 + 8
    return intermediates, at


class LoopText:
    """Prints one context; holds what its parts share."""

    def __init__(self, operands: Operands, printed: Printed, constants: Sequence[Constant]) -> None:
        self.operands, self.printed, self.call = operands, printed, operands.call
        self.loops = shared_loops(printed.nests)
        self.addressed: Addressing = addressing(self.call, operands.layouts)
        self.boxed = {boxed.name: boxed for boxed in self.addressed.operands}
        self.constants = {constant.name: constant for constant in constants if constant.along}
        self.inside, self.core_bytes = intermediates(self.call, printed.nests)
        self.extents = {name: size for nest in printed.nests for name, size in nest.space.extents.items()}
        self.declared: dict[str, str] = {}

    def context(self) -> LoopContext:
        """See `LoopContext`."""
        window = Window(frozenset(self.loops), self._address)
        strides, last = strides_of(self.operands), len(self.printed.nests) - 1
        nests = tuple(
            loop_nest(nest, strides, i, self.printed.clamp if i == last else None, codes, window)
            for i, (nest, codes) in enumerate(zip(self.printed.nests, self.printed.codes, strict=True))
        )
        local = [
            f"{c_type} *const {name} = ({c_type} *)(void *)((unsigned char *)scratch + core * {self.core_bytes}"
            f"{f' + {at}' if at else ''});"
            for name, (c_type, at) in self.inside.items()
        ]
        lines = [*loop_tables(nests), *self.printed.declarations, *local, *self.declared.values()]
        lines += unread(self.operands, self.printed.nests)
        order = self._order()
        return LoopContext(
            self._members(), tuple(lines), " * ".join(f"(box.{n}_end - box.{n})" for n in order) or "1", order[-1],
            tuple(_start(order)), tuple(map(_step_of, nests)), tuple(_odometer(order)),
        )  # fmt: skip

    def _members(self) -> tuple[str, ...]:
        members = [name for loop in self.loops for name in (loop, f"{loop}_end")]
        for name, boxed in self.boxed.items():
            members += [f"{name}_{word}{a}" for a in own_axes(boxed.accesses, self.loops) for word in ("at", "len")]
        return tuple(members)

    def _order(self) -> list[str]:
        """The shared loops as the result lies in memory, but the longest last, which is run through without a step of
        the others."""
        out = self.printed.nests[-1].out
        axes = self.boxed[out.tensor.name].axes if out.tensor.name in self.boxed else ()
        places = {axis: place for place, axis in enumerate(axes)}

        def rank(loop: str) -> tuple[int, int]:
            axis = next((k for k, sub in enumerate(out.subscripts) if loop in sub.loops), -1)
            coefficient = dict(getattr(out.subscripts[axis], "terms", ())).get(loop, 0) if axis >= 0 else 0
            return places.get(axis, axis), -abs(coefficient)

        order = sorted(self.loops, key=rank)
        longest = max(reversed(order), key=lambda loop: self.extents[loop])
        return [*(loop for loop in order if loop != longest), longest]

    # ------------------------------------------------------------------ addresses
    def _address(self, access: Access, text: Callable[[Subscript], str]) -> str | None:
        name = access.tensor.name
        if name in self.inside:
            return self._inside(access, text)
        if name in self.constants:
            return self._constant(access, text)
        boxed = self.boxed.get(name)
        if boxed is None or boxed.accesses[0].tensor.shape != access.tensor.shape or access.tensor.values:
            return None
        return self._box(boxed, access, text)

    def _inside(self, access: Access, text: Callable[[Subscript], str]) -> str:
        """An element of a core's own intermediate result; the shared loops stand still in it."""
        parts, step = list[str](), 1
        for sub, size in reversed(list(zip(access.subscripts, access.tensor.shape, strict=True))):
            if size > 1 and not set(sub.loops) & set(self.loops):
                parts.append(_times(text(sub), step, _is_single(sub)))
                step *= size
        return " + ".join(reversed(parts)) or "0"

    def _constant(self, access: Access, text: Callable[[Subscript], str]) -> str:
        """An element of the part of a constant that belongs to the tile."""
        cut = cut_axes(access, set(self.loops), self.extents)
        place = ""
        for loop in (name for names in cut.values() for name in names):
            here = f"{loop} - box.{loop}"
            place = f"({place}) * (box.{loop}_end - box.{loop}) + {here}" if place else here
        step, parts = 1, list[str]()
        for axis, (sub, size) in reversed(list(enumerate(zip(access.subscripts, access.tensor.shape, strict=True)))):
            if size > 1 and axis not in cut:
                parts.append(_times(text(sub), step, _is_single(sub)))
                step *= size
        return " + ".join([_times(place, step), *reversed(parts)])

    def _box(self, boxed: Boxed, access: Access, text: Callable[[Subscript], str]) -> str:
        """An element of an operand's box, which lies dense in its buffer."""
        whole = {name: (0, size) for name, size in self.addressed.extents.items()}
        lengths: list[str | int] = []
        parts: list[str] = []
        for axis in reversed(boxed.axes):
            sub, size = access.subscripts[axis], access.tensor.shape[axis]
            if size == 1:
                continue
            low, length = self._range(boxed, axis, whole)
            here = text(sub) if low == 0 else f"{text(sub)} - {low}"
            if here != "0":
                parts.append(_times(here, self._stride(boxed.name, axis, lengths), low == 0 and _is_single(sub)))
            lengths.append(length)
        return " + ".join(reversed(parts)) or "0"

    def _range(self, boxed: Boxed, axis: int, whole: dict[str, tuple[int, int]]) -> tuple[str | int, str | int]:
        """First place and length of a box along an axis: numbers, or C where they depend on the tile."""
        if axis in own_axes(boxed.accesses, self.loops):
            return f"box.{boxed.name}_at{axis}", f"box.{boxed.name}_len{axis}"
        for loop in self.loops:
            if len(boxed.accesses) == 1 and plain(boxed.accesses[0], axis, loop):
                return f"box.{loop}", f"(box.{loop}_end - box.{loop})"
        boxes = [access.footprint(whole).box[axis] for access in boxed.accesses]
        low, high = min(box[0] for box in boxes), max(box[1] for box in boxes)
        return low, high - low

    def _stride(self, name: str, axis: int, lengths: Sequence[str | int]) -> str | int:
        """Elements between neighbours along an axis; a named constant where it depends on the tile."""
        fixed = prod(length for length in lengths if isinstance(length, int))
        moving = [length for length in lengths if isinstance(length, str)]
        if not moving:
            return fixed
        value = " * ".join([*reversed(moving), *([str(fixed)] if fixed != 1 else [])])
        self.declared[f"{name}{axis}"] = f"const int {name}_step{axis} = {value};"
        return f"{name}_step{axis}"


def _step_of(nest: LoopNest) -> StepOfNest:
    """The nest without its outermost loops, which the cores share."""
    if not nest.body:
        return StepOfNest(nest.comment, ())
    shared = nest.body[0]
    assert isinstance(shared, Loops)
    return StepOfNest(nest.comment, tuple(c_lines(shared.body)))


def _times(text: str, factor: str | int, single: bool = False) -> str:
    """A product, or the text itself where the factor is one; `single` where the text is one loop or number."""
    if factor == 1:
        return text
    return f"{text if single else f'({text})'} * {factor}"


def _is_single(sub: Subscript) -> bool:
    """True for one loop alone, or a number that is not negative."""
    if not isinstance(sub, Affine) or sub.div != 1:
        return False
    return sub.const == 0 and sub.terms[0][1] == 1 if len(sub.terms) == 1 else not sub.terms and sub.const >= 0


def _start(order: Sequence[str]) -> list[str]:
    """Where a core begins."""
    lines = []
    for loop in reversed(order):
        lines.append(f"int {loop} = box.{loop} + share_at % (box.{loop}_end - box.{loop});")
        lines.append(f"share_at /= box.{loop}_end - box.{loop};")
    return lines[:-1]


def _odometer(order: Sequence[str]) -> list[str]:
    """On to the next run, where the last one came to its end."""
    *outer, fastest = order
    if not outer:
        return []
    body = [f"    {fastest} = box.{fastest};", *(f"    {line}" for line in _next(outer))]
    return [f"if ({fastest} == box.{fastest}_end) {{", *body, "}"]


def _next(order: Sequence[str]) -> list[str]:
    *outer, fastest = order
    if not outer:
        return [f"{fastest}++;"]
    body = [f"    {fastest} = box.{fastest};", *(f"    {line}" for line in _next(outer))]
    return [f"if (++{fastest} == box.{fastest}_end) {{", *body, "}"]
