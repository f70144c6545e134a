"""Plain C loops for any nest of index maps: the kernel of last resort, and a readable reference for all others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

from tilewright.numerics import C_TYPES, constant_address, constant_type, initialiser, is_half, loaded, stored
from tilewright.ops.index.affine import Affine
from tilewright.ops.index.nest import Access, Nest
from tilewright.ops.index.table import Table
from tilewright.platform import Array, Clamp, DType
from tilewright.platforms.generic.kernels.nest_address import Address, element, store_nibble
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
Strides = Mapping[str, tuple[int, ...]]


@dataclass(frozen=True)
class Codes:
    """Integer arithmetic in the place of a nest's own: `body` over the operands e0, e1, ... and `finish` over `acc`
    and `points` as int32_t expressions; `pad` is what a margin reads, [`low`, `high`] limits the result.
    """

    body: str
    finish: str
    y_type: str
    low: int
    high: int
    pad: int = 0
    operand_type: str = "int32_t"


@dataclass(frozen=True)
class Written:
    """The C of one nest: a comment, lines of code, and the constant tables that they read (name, type, text)."""

    comment: str
    lines: tuple[str, ...]
    tables: tuple[tuple[str, str, int, str], ...]


@dataclass(frozen=True)
class Window:
    """Part of a nest: loops in `fixed` run outside; `address` gives an access's element in the buffer of a tile.

    `address` is handed the access and what prints one subscript; None leaves the address in the whole tensor.
    """

    fixed: frozenset[str]
    address: Callable[[Access, Callable[[Affine | Table], str]], str | None]


def print_nest(
    nest: Nest, strides: Strides, index: int, clamp: Clamp | None, codes: Codes | None = None,
    window: Window | None = None,
) -> Written:  # fmt: skip
    """The loops of one nest. `strides` maps tensor names to element strides per axis, row-major where absent."""
    printer = _Printer(nest, strides, index, clamp, codes, window)
    if 0 in nest.out.tensor.shape:
        return Written(str(nest), (), ())
    lines = printer.direct() if window is not None or direct(nest) else printer.general()
    return Written(str(nest), tuple(lines), tuple(printer.tables.values()))


def direct(nest: Nest) -> bool:
    """True where every result can be computed in a local variable and stored once."""
    printer = _Printer(nest, {}, 0, None)
    return printer.bijective or printer.plain_store


class _Printer:
    """Prints one nest; holds what its parts share."""

    def __init__(
        self, nest: Nest, strides: Strides, index: int, clamp: Clamp | None, codes: Codes | None = None,
        window: Window | None = None,
    ) -> None:  # fmt: skip
        self.nest, self.strides, self.index, self.clamp, self.codes = nest, strides, index, clamp, codes
        self.window = window
        self.tables: dict[str, tuple[str, str, int, str]] = {}
        self.extents = dict(nest.space.extents)
        self.out_kind = nest.out.tensor.dtype
        self.total_type = "int32_t" if codes else C_TYPES[computing(self.out_kind)]
        self.counted = "points" in codes.finish if codes else nest.finish.name in COUNTED
        self.addresses = [self._address(access) for access in nest.operands]
        self.guards = [g for access in (nest.out, *nest.ins) for g in self._guards(access)]

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

    # ------------------------------------------------------------------ addresses and guards
    def _strides(self, access: Access) -> tuple[int, ...]:
        tensor = access.tensor
        if tensor.name in self.strides and len(self.strides[tensor.name]) == len(tensor.shape):
            return self.strides[tensor.name]
        found, step = list[int](), 1
        for size in reversed(tensor.shape):
            found.insert(0, step)
            step *= size
        return tuple(found)

    def _address(self, access: Access) -> Address:
        placed = self.window.address(access, self._subscript) if self.window is not None else None
        if placed is not None:
            return Address((), 0, (placed,))
        terms: dict[str, int] = {}
        const, looked = 0, list[str]()
        moving = self.nest.space.moving
        for sub, stride in zip(access.subscripts, self._strides(access), strict=True):
            affine = sub.offset if isinstance(sub, Table) else sub
            if isinstance(sub, Table):
                looked.append(f"{self._table(sub)} * {stride}" if stride != 1 else self._table(sub))
            elif sub.div != 1:
                looked.append(f"({self._subscript(sub)}) * {stride}" if stride != 1 else f"({self._subscript(sub)})")
                continue
            for name, coeff in affine.terms:
                if name in moving:
                    terms[name] = terms.get(name, 0) + coeff * stride
            const += affine.const * stride
        return Address(tuple((n, c) for n, c in terms.items() if c), const, tuple(looked))

    def _table(self, table: Table) -> str:
        name = f"table{self.index}_{table.loop}_{len(self.tables)}"
        for known in self.tables.values():
            if known[3] == ", ".join(map(str, table.values)):
                name = known[0]
        self.tables[name] = (name, "int", len(table.values), ", ".join(map(str, table.values)))
        return f"{name}[{table.loop if table.loop in self.nest.space.moving else 0}]"

    def _subscript(self, sub: Affine | Table) -> str:
        if isinstance(sub, Table):
            offset = "" if not sub.offset.terms and not sub.offset.const else f" + {self._subscript(sub.offset)}"
            return self._table(sub) + offset
        moving = self.nest.space.moving
        parts = [name if c == 1 else f"{name} * {c}" for name, c in sub.terms if name in moving]
        if sub.div == 1:
            parts += [str(sub.const)] if sub.const or not parts else []
            return " + ".join(parts).replace("+ -", "- ")
        low = sub.hull(self.nest.space.whole())[0]
        lift = -low if low < 0 else 0  # C divides towards zero, so keep the dividend positive
        parts.append(str(sub.const + lift * sub.div))
        text = f"({' + '.join(parts).replace('+ -', '- ')}) / {sub.div}"
        return f"{text} - {lift}" if lift else text

    def _guards(self, access: Access, inside: bool = False) -> list[str]:
        found: list[str] = []
        whole = self.nest.space.whole()
        margin = access.margin if access.margin and not inside else ((0, 0),) * len(access.subscripts)
        for sub, size, (before, after) in zip(access.subscripts, access.tensor.shape, margin, strict=True):
            low, high = sub.hull(whole)
            text = self._subscript(sub)
            if low < -before:
                found.append(f"{text} >= {-before}")
            if high > size + after:
                found.append(f"{text} < {size + after}")
        return list(dict.fromkeys(found))

    # ------------------------------------------------------------------ statements
    def _value(self, access: Access, address: Address) -> str:
        if access.tensor.iota:
            return address.text()
        name = access.tensor.name
        if access.tensor.values:
            name = self._constant(access)
        text = loaded(access.tensor.dtype, element(access.tensor.dtype, name, address.text()))
        if access.margin and (guards := self._guards(access, inside=True)):
            return f"({' && '.join(guards)}) ? {text} : {self.codes.pad if self.codes else 0}"
        return text

    def _constant(self, access: Access) -> str:
        tensor = access.tensor
        import numpy as np

        values: Array = np.array(tensor.values, tensor.dtype.numpy)
        name = f"{tensor.name}_{self.index}"
        self.tables[name] = (name, constant_type(tensor.dtype), len(tensor.values), initialiser(tensor.dtype, values))
        address = constant_address(tensor.dtype, name)
        return name if address == name else f"({address})"

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

    def _clamped(self, value: str) -> list[str]:
        """Statements that store a finished value, limited where an activation was fused."""
        y = f"{self.nest.out.tensor.name}[{self.addresses[0].text()}]"
        if self.codes is not None:
            low, high = self.codes.low, self.codes.high
            limited = f"code < {low} ? {low} : code > {high} ? {high} : code"
            return [f"const int32_t code = (int32_t)({value});", f"{y} = ({self.codes.y_type})({limited});"]
        if self.out_kind.bits == 4:
            return store_nibble(self.nest.out.tensor.name, self.addresses[0].text(), value)
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

    def direct(self) -> list[str]:
        """Accumulate each result in a local variable."""
        lines = self._point()
        outside = self._guards(self.nest.out) if self.window is not None else []
        return [f"if ({' && '.join(outside)}) {{", *indent(lines), "}"] if outside else lines

    def _point(self) -> list[str]:
        nest, inputs = self.nest, self.addresses[1 : 1 + len(self.nest.ins)]
        after = self.addresses[1 + len(nest.ins) :]
        fixed = self.window.fixed if self.window is not None else frozenset[str]()
        outer = [name for name in nest.space.moving if name in nest.parallel and name not in fixed]
        outer.sort(key=lambda name: -abs(dict(self.addresses[0].terms).get(name, 0)))
        finished = self.codes is None or self.codes.finish == "acc"
        if not nest.reductions and not self.guards and nest.finish.name == "keep" and finished:
            outer = self._merge(outer)
            point = self._point_locals(self.addresses[1 : 1 + len(nest.ins)])
            return self._loops(outer, [*point, *self._single()])
        point = self._point_locals(inputs)
        if self.plain_store and not self.bijective:
            guard = f"if ({' && '.join(self.guards)}) {{"
            inner = [guard, *indent([*point, *self._single()]), "}"] if self.guards else [*point, *self._single()]
            return self._loops(outer, inner)
        take = [*point, f"const {self.total_type} term = ({self.total_type})({self.body.value});", self._combine()]
        if self.counted:
            take.append("points += 1;")
        if self.guards:
            take = [f"if ({' && '.join(self.guards)}) {{", *indent(take), "}"]
        lines = [f"{self.total_type} acc = {self._identity()};", *(["int points = 0;"] if self.counted else [])]
        lines += self._loops(list(nest.reductions), take) if nest.reductions else ["{", *indent(take), "}"]
        return self._loops(outer, [*lines, *self._finish(after)])

    def general(self) -> list[str]:
        """Start, accumulate and finish in the result's own memory: for maps that do not write each element once."""
        nest = self.nest
        y, size = nest.out.tensor.name, prod(nest.out.tensor.shape)
        here = f"{y}[{self.addresses[0].text()}]"
        start = [f"{y}[i] = {self._word(self._identity())};"]
        start += [f"count{self.index}[i] = 0;"] if self.counted else []
        lines = [f"for (int i = 0; i < {size}; i++) {{", *indent(start), "}"]
        take = [
            *self._point_locals(self.addresses[1 : 1 + len(nest.ins)]),
            f"const {self.total_type} term = ({self.total_type})({self.body.value});",
            f"{self.total_type} acc = {loaded(self.out_kind, here)};", self._combine(),
            f"{here} = {self._word('acc')};",
        ]  # fmt: skip
        if self.counted:
            take.append(f"count{self.index}[{self.addresses[0].text()}] += 1;")
        if self.guards:
            take = [f"if ({' && '.join(self.guards)}) {{", *indent(take), "}"]
        lines += self._loops(list(nest.space.moving), take)
        if nest.finish.name != "keep" or nest.after or self.clamp is not None:
            lines += self._finish_all()
        return lines

    def _finish_all(self) -> list[str]:
        """The last loop of the general form: over the result's axes, with the operands that are read once."""
        out = self.nest.out.tensor
        axes = {f"i{k}": size for k, size in enumerate(out.shape)}
        here = self._flat()
        lines = [f"{self.total_type} acc = {loaded(out.dtype, f'{out.name}[{here}]')};"]
        if self.counted:
            lines.append(f"const int points = count{self.index}[{here}];")
        for number, access in enumerate(self.nest.after):
            index = []
            for sub, stride in zip(access.subscripts, self._strides(access), strict=True):
                axis = next((k for k, s in enumerate(self.nest.out.subscripts) if s == sub), None)
                if axis is not None:
                    index.append(f"i{axis} * {stride}")
            kind, place = access.tensor.dtype, f"{access.tensor.name}[{' + '.join(index) or 0}]"
            lines.append(f"const {C_TYPES[computing(kind)]} {local(number)} = {loaded(kind, place)};")
        kept = self.addresses[0]
        self.addresses[0] = Address((), 0, (here,))
        text = finish_text(self.nest.finish.name, self.out_kind, self.nest.finish.parameters)
        lines += self._clamped(text.replace("TOTAL", self.total_type))
        self.addresses[0] = kept
        for name, size in reversed(axes.items()):
            lines = [f"for (int {name} = 0; {name} < {size}; {name}++) {{", *indent(lines), "}"]
        return lines

    def _flat(self) -> str:
        """The address of the result's element at the loops over its axes, as it lies in memory."""
        return " + ".join(f"i{k} * {step}" for k, step in enumerate(self._strides(self.nest.out))) or "0"

    def _finish(self, after: Sequence[Address]) -> list[str]:
        nest = self.nest
        if self.codes is not None:
            return self._clamped(self.codes.finish)
        text = finish_text(nest.finish.name, self.out_kind, nest.finish.parameters).replace("TOTAL", self.total_type)
        return [*self._locals(nest.after, after), *self._clamped(text)]

    def _combine(self) -> str:
        if self.codes is not None:
            return combine_text(self.nest.combine.name, DType.I32).replace("TOTAL", "int32_t")
        return combine_text(self.nest.combine.name, self.out_kind).replace("TOTAL", self.total_type)

    def _identity(self) -> str:
        value = self.nest.combine.start(computing(self.out_kind).numpy).item()
        return literal(computing(self.out_kind), value)

    def _merge(self, names: Sequence[str]) -> list[str]:
        """Join neighbouring loops that every operand walks as if they were one."""
        if any(a.looked_up for a in self.addresses):
            return list(names)
        kept: list[str] = []
        for name in names:
            coeffs = [dict(a.terms) for a in self.addresses]
            while kept and all(c.get(kept[-1], 0) == c.get(name, 0) * self.extents[name] for c in coeffs):
                self.extents[name] *= self.extents[kept[-1]]
                gone = kept.pop()
                self.addresses = [replace(a, terms=tuple(t for t in a.terms if t[0] != gone)) for a in self.addresses]
                coeffs = [dict(a.terms) for a in self.addresses]
            kept.append(name)
        return kept

    def _loops(self, names: Sequence[str], inner: Sequence[str]) -> list[str]:
        lines = list(inner)
        for name in reversed(names):
            extent = self.extents[name]
            lines = [f"for (int {name} = 0; {name} < {extent}; {name}++) {{", *indent(lines), "}"]
        return lines if names else ["{", *indent(lines), "}"]


def indent(lines: Sequence[str]) -> list[str]:
    """Four spaces more."""
    return [f"    {line}" for line in lines]
