"""The loop nest in C of any nest of index maps: the kernel of last resort, and a readable reference for all others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

from tilewright.numerics import C_TYPES, is_half, loaded, stored, times
from tilewright.ops.index.loop_nest import Guard, Loop, LoopNest, Loops, Part
from tilewright.ops.index.nest import Access, Nest
from tilewright.platform import Clamp, DType
from tilewright.platforms.generic.kernels.nest_address import (
    Address,
    Addresses,
    Placing,
    Strides,
    element,
    store_nibble,
)
from tilewright.platforms.generic.kernels.nest_expressions import (
    BodyText,
    body_text,
    combine_text,
    computing,
    finish_text,
    literal,
    local,
)

COUNTED = ("mean", "pad_value", "pad_operand", "inverse_root")


@dataclass(frozen=True)
class Codes:
    """Integer arithmetic in the place of a nest's own: `body` over the operands e0, e1, ... and `finish` over `acc`
    and, where they are `counted`, `points` as int32_t expressions; `pad` is what a margin reads, [`low`, `high`] limits
    the result.
    """

    body: str
    finish: str
    y_type: str
    low: int
    high: int
    pad: int = 0
    operand_type: str = "int32_t"
    counted: bool = False
    total_type: str = "int32_t"


@dataclass(frozen=True)
class Window:
    """Part of a nest: loops in `fixed` stand around all others; `address` gives an element in the buffer of a tile."""

    fixed: frozenset[str]
    address: Placing


def loop_nest(
    nest: Nest, strides: Strides, index: int, clamp: Clamp | None, codes: Codes | None = None,
    window: Window | None = None,
) -> LoopNest:  # fmt: skip
    """The loops of one nest. `strides` maps tensor names to element strides per axis, row-major where absent."""
    builder = _Builder(nest, strides, index, clamp, codes, window)
    if 0 in nest.out.tensor.shape:
        return LoopNest(str(nest), ())
    body = builder.direct() if window is not None or direct(nest) else builder.general()
    in_memory = (a.tensor.name for a in (*nest.ins, *nest.after) if not a.tensor.iota and not a.tensor.values)
    tables = tuple(builder.addressed.tables.values())
    return LoopNest(str(nest), body, tables, frozenset(in_memory), frozenset([nest.out.tensor.name]))


def direct(nest: Nest) -> bool:
    """True where every result can be computed in a local variable and stored once."""
    builder = _Builder(nest, {}, 0, None)
    return builder.bijective or builder.plain_store


class _Builder:
    """Builds one nest; holds what its parts share."""

    def __init__(
        self, nest: Nest, strides: Strides, index: int, clamp: Clamp | None, codes: Codes | None = None,
        window: Window | None = None,
    ) -> None:  # fmt: skip
        self.nest, self.index, self.clamp, self.codes, self.window = nest, index, clamp, codes, window
        self.addressed = Addresses(nest, strides, index, None if window is None else window.address)
        self.extents = dict(nest.space.extents)
        self.out_kind = nest.out.tensor.dtype
        self.total_type = codes.total_type if codes else C_TYPES[computing(self.out_kind)]
        self.counted = codes.counted if codes else nest.finish.name in COUNTED
        self.addresses = [self.addressed.address(access) for access in nest.operands]
        self.guards = tuple(g for access in (nest.out, *nest.ins) for g in self.addressed.guards(access))

    @property
    def bijective(self) -> bool:
        """True if the parallel loops write every element of the result exactly once."""
        nest = self.nest
        whole = nest.space.whole()
        inside = all(
            0 <= sub.hull(whole)[0] and sub.hull(whole)[1] <= size
            for sub, size in zip(nest.out.subscripts, nest.out.tensor.shape, strict=True)
        )
        written = prod(nest.space.extents[name] for name in nest.parallel)
        return inside and written == prod(nest.out.tensor.shape)

    @property
    def plain_store(self) -> bool:
        """True if every existing point writes its own element and nothing else is to be done."""
        return self.nest.combine.name == "set" and self.nest.finish.name == "keep" and not self.nest.reductions

    @cached_property
    def body(self) -> BodyText:
        """What is computed at a point."""
        if self.codes is not None:
            return BodyText(self.codes.body)
        kinds = [access.tensor.dtype for access in self.nest.ins]
        text = body_text(self.nest.body.name, kinds, self.out_kind, self.nest.body.parameters)
        assert text is not None
        return text

    def _value(self, access: Access, address: Address) -> str:
        if access.tensor.iota:
            return address.text()
        name = access.tensor.name
        if access.tensor.values:
            name = self.addressed.constant(access)
        text = loaded(access.tensor.dtype, element(access.tensor.dtype, name, address.text()))
        if access.margin and (guards := self.addressed.guards(access, inside=True)):
            return f"({' && '.join(guards)}) ? {text} : {self.codes.pad if self.codes else 0}"
        return text

    def _locals(self, accesses: Sequence[Access], addresses: Sequence[Address]) -> list[str]:
        lines = []
        for index, (access, address) in enumerate(zip(accesses, addresses, strict=True)):
            c_type = self.codes.operand_type if self.codes else C_TYPES[computing(access.tensor.dtype)]
            cast = f"({c_type})" if access.tensor.iota else ""
            value = self._value(access, address)
            lines.append(f"const {c_type} {local(index)} = {cast}{f'({value})' if cast else value};")
        return lines

    def _point_locals(self, addresses: Sequence[Address]) -> list[str]:
        """The operands of one point, and the steps of its body."""
        c_type = C_TYPES[computing(self.out_kind)]
        steps = [f"const {c_type} {name} = {value};" for name, value in self.body.steps]
        return [*self._locals(self.nest.ins, addresses), *steps]

    def _clamped(self, value: str, place: str | None = None) -> list[str]:
        """Statements that store a finished value, limited where an activation was fused; `place` is its address."""
        place = self.addresses[0].text() if place is None else place
        y = f"{self.nest.out.tensor.name}[{place}]"
        if self.codes is not None:
            low, high = self.codes.low, self.codes.high
            if (low, high) == DType.I32.range:
                return [f"{y} = ({self.codes.y_type})({value});"]
            return [
                f"int32_t code = (int32_t)({value});",
                f"code = code < {low} ? {low} : code;",  # one by one: gcc narrows the value of a double choice first
                f"{y} = ({self.codes.y_type})(code > {high} ? {high} : code);",
            ]
        if self.out_kind.bits == 4:
            return store_nibble(self.nest.out.tensor.name, place, value)
        if self.clamp is None or not self.out_kind.is_float:
            return [f"{y} = {stored(self.out_kind, value, self._value_kind())};"]
        kind = computing(self.out_kind)
        lines, last = [f"const {C_TYPES[kind]} out = {value};"], "out"
        if self.clamp.high != float("inf"):
            last = f"({last} > {literal(kind, self.clamp.high)} ? {literal(kind, self.clamp.high)} : {last})"
        if self.clamp.low != float("-inf"):
            last = f"(out < {literal(kind, self.clamp.low)} ? {literal(kind, self.clamp.low)} : {last})"
        return [*lines, f"{y} = {stored(self.out_kind, last)};"]

    def _word(self, word: str) -> str:
        """A variable or literal of the type that is totalled, as an element of the result."""
        return stored(self.out_kind, word) if is_half(self.out_kind) else f"({C_TYPES[self.out_kind]}){word}"

    def _value_kind(self) -> DType:
        """The type of the C expression of a body: that of the operands where a cast does not convert by itself."""
        if self.nest.body.name in ("cast", "copy") and not self.nest.reductions:
            return computing(self.nest.ins[0].tensor.dtype)
        return computing(self.out_kind)

    def _single(self) -> list[str]:
        """Statements that store the value of the only point of a result."""
        if self.codes is None or self.codes.finish == "acc":
            return self._clamped(self.body.value)
        return [f"const {self.total_type} acc = {self.body.value};", *self._clamped(self.codes.finish)]

    def direct(self) -> tuple[Part, ...]:
        """Accumulate each result in a local variable; loops outside of a window stand around all others."""
        if self.window is None:
            return (self._point(),)
        fixed = tuple(name for name in self.nest.space.moving if name in self.window.fixed)
        outside = self.addressed.guards(self.nest.out)
        return (self._loops(fixed, Guard(tuple(outside), (self._point(),)) if outside else self._point()),)

    def _point(self) -> Loops:
        nest, inputs = self.nest, self.addresses[1 : 1 + len(self.nest.ins)]
        after = self.addresses[1 + len(nest.ins) :]
        fixed = self.window.fixed if self.window is not None else frozenset[str]()
        outer = [name for name in nest.space.moving if name in nest.parallel and name not in fixed]
        outer.sort(key=lambda name: -abs(dict(self.addresses[0].terms).get(name, 0)))
        finished = self.codes is None or self.codes.finish == "acc"
        if not nest.reductions and not self.guards and nest.finish.name == "keep" and finished:
            outer = self._merge(outer)
            point = self._point_locals(self.addresses[1 : 1 + len(nest.ins)])
            return self._loops(outer, *point, *self._single())
        point = self._point_locals(inputs)
        if self.plain_store and not self.bijective:
            return self._loops(outer, *self._guarded(*point, *self._single()))
        take = [*point, f"const {self.total_type} term = {self._term()};", self._combine()]
        if self.counted:
            take.append("points += 1;")
        start = [f"{self.total_type} acc = {self._identity()};", *(["int points = 0;"] if self.counted else [])]
        reduced = self._loops(nest.reductions, *self._guarded(*take))
        return self._loops(outer, *start, reduced, *self._finish(after))

    def _term(self) -> str:
        """The body in the type of totals: floats are of that type already."""
        floats = self.codes is None and self.total_type == "float"
        if floats and all(one.tensor.dtype is DType.F32 for one in self.nest.ins):
            return self.body.value
        return f"({self.total_type})({self.body.value})"

    def general(self) -> tuple[Part, ...]:
        """Start, accumulate and finish in the result's own memory: for maps that do not write each element once."""
        nest = self.nest
        y, size = nest.out.tensor.name, prod(nest.out.tensor.shape)
        here = f"{y}[{self.addresses[0].text()}]"
        start = [f"{y}[i] = {self._word(self._identity())};"]
        start += [f"count{self.index}[i] = 0;"] if self.counted else []
        take = [
            *self._point_locals(self.addresses[1 : 1 + len(nest.ins)]),
            f"const {self.total_type} term = {self._term()};",
            f"{self.total_type} acc = {loaded(self.out_kind, here)};", self._combine(),
            f"{here} = {self._word('acc')};",
        ]  # fmt: skip
        if self.counted:
            take.append(f"count{self.index}[{self.addresses[0].text()}] += 1;")
        taken = self._loops(tuple(nest.space.moving), *self._guarded(*take))
        parts = (Loops((Loop("i", size, parallel=True),), tuple(start)), taken)
        if nest.finish.name != "keep" or nest.after or self.clamp is not None:
            return (*parts, *self._finish_all())
        return parts

    def _finish_all(self) -> tuple[Part, ...]:
        """The last loop of the general form: over the result's axes, with the operands that are read once."""
        out = self.nest.out.tensor
        here = self._flat()
        lines = [f"{self.total_type} acc = {loaded(out.dtype, f'{out.name}[{here}]')};"]
        if self.counted:
            lines.append(f"const int points = count{self.index}[{here}];")
        for number, access in enumerate(self.nest.after):
            index = []
            for sub, stride in zip(access.subscripts, self.addressed.strides(access), strict=True):
                axis = next((k for k, s in enumerate(self.nest.out.subscripts) if s == sub), None)
                if axis is not None:
                    index.append(times(f"i{axis}", stride))
            kind, place = access.tensor.dtype, f"{access.tensor.name}[{' + '.join(index) or 0}]"
            lines.append(f"const {C_TYPES[computing(kind)]} {local(number)} = {loaded(kind, place)};")
        lines += self._clamped(self._finished(), here)
        loops = tuple(Loop(f"i{axis}", size, parallel=True) for axis, size in enumerate(out.shape))
        return (Loops(loops, tuple(lines)),) if loops else tuple(lines)

    def _flat(self) -> str:
        """The address of the result's element at the loops over its axes, as it lies in memory."""
        return " + ".join(times(f"i{k}", step) for k, step in enumerate(self.addressed.strides(self.nest.out))) or "0"

    def _finish(self, after: Sequence[Address]) -> list[str]:
        if self.codes is not None:
            return self._clamped(self.codes.finish)
        return [*self._locals(self.nest.after, after), *self._clamped(self._finished())]

    def _finished(self) -> str:
        """The result of a total."""
        finish = self.nest.finish
        return finish_text(finish.name, self.out_kind, finish.parameters, self.total_type)

    def _combine(self) -> str:
        if self.codes is not None and self.nest.combine.name == "add":
            return "acc += term;"  # sums of codes are proved to fit
        return combine_text(self.nest.combine.name, self._total_kind, self.total_type)

    @property
    def _total_kind(self) -> DType:
        if self.codes is None:
            return self.out_kind
        return DType.I64 if self.total_type == "int64_t" else DType.I32

    def _identity(self) -> str:
        kind = computing(self._total_kind)
        return literal(kind, self.nest.combine.start(kind.numpy).item())

    def _merge(self, names: Sequence[str]) -> list[str]:
        """Join neighbouring loops that every operand walks as if they were one."""
        if any(a.looked_up for a in self.addresses):
            return list(names)
        merged: list[str] = []
        for name in names:
            coeffs = [dict(a.terms) for a in self.addresses]
            while merged and all(c.get(merged[-1], 0) == c.get(name, 0) * self.extents[name] for c in coeffs):
                self.extents[name] *= self.extents[merged[-1]]
                gone = merged.pop()
                self.addresses = [replace(a, terms=tuple(t for t in a.terms if t[0] != gone)) for a in self.addresses]
                coeffs = [dict(a.terms) for a in self.addresses]
            merged.append(name)
        return merged

    def _loops(self, names: Sequence[str], *body: Part) -> Loops:
        """Loops of the nest around a body, the outermost first."""
        return Loops(tuple(Loop(name, self.extents[name], name in self.nest.parallel) for name in names), body)

    def _guarded(self, *body: Part) -> tuple[Part, ...]:
        """What is done at points that exist."""
        return (Guard(self.guards, body),) if self.guards else body
