"""Vector instructions of blocks of sums: products of rows of codes with columns of weights, and codes of the sums.

A block is some rows ("pixels") times the columns of one vector. Sums lie in groups of registers from v8 on, one group
a row, and stay there between two statements: gcc 12 never uses vector registers by itself. Below v8 lie weights, and
then the numbers of the requantisation.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.numerics import MultiplyHigh, Requantiser
from tilewright.platform import DType

FIRST_SUM = 8
TEMPORARIES = 4
WEIGHTS, NARROW_WEIGHTS = "v4", "v2"


@dataclass(frozen=True)
class VectorBlock:
    """`rows` rows times up to `lanes` columns; inputs and weights of so many bytes, `unroll` inputs in a turn."""

    rows: int
    lanes: int
    unroll: int
    x_type: DType
    w_type: DType

    @property
    def group(self) -> int:
        """Registers of the sums of one row, at 128 bits a register."""
        return self.lanes // 4

    def sums(self, row: int) -> str:
        """The first register of a row's sums."""
        return f"v{FIRST_SUM + row * self.group}"

    def products(self) -> tuple[str, ...]:
        """Sums of `runs` runs of `length` bytes of inputs, `pitch` bytes apart, times the weights side by side."""
        half = f"m{self.group // 2}"
        rows, step = range(self.rows), self.x_type.bits // 8
        load = {DType.I8: "lb", DType.U8: "lbu", DType.I16: "lh", DType.U16: "lhu"}[self.x_type]
        narrow = self.w_type is DType.I8
        multiply = "vwmaccus.vx" if self.x_type is DType.U16 else "vwmacc.vx"
        lines = [f"vsetvli zero, %[width], e32, m{self.group}, ta, ma", f"vle32.v {self.sums(0)}, (%[b])"]
        lines += [f"vmv.v.v {self.sums(row)}, {self.sums(0)}" for row in rows[1:]]
        lines += [f"vsetvli zero, %[width], e16, {half}, ta, ma"]
        lines += ["1:", "add %[end], %[x0], %[length]", "2:"]
        for at in range(self.unroll):
            lines += [f"vle8.v {NARROW_WEIGHTS}, (%[w])" if narrow else f"vle16.v {WEIGHTS}, (%[w])"]
            lines += [f"{load} %[v{row % TEMPORARIES}], {at * step}(%[x{row}])" for row in rows[:TEMPORARIES]]
            lines += [f"vsext.vf2 {WEIGHTS}, {NARROW_WEIGHTS}"] * narrow
            lines += ["add %[w], %[w], %[step]"]
            for row in rows:
                value = f"%[v{row % TEMPORARIES}]"
                lines.append(f"{multiply} {self.sums(row)}, {value}, {WEIGHTS}")
                if (later := row + TEMPORARIES) < self.rows:
                    lines.append(f"{load} {value}, {at * step}(%[x{later}])")
        lines += [f"addi %[x{row}], %[x{row}], {self.unroll * step}" for row in rows]
        lines += ["bne %[x0], %[end], 2b"]
        lines += [f"add %[x{row}], %[x{row}], %[pitch]" for row in rows]
        lines += ["addi %[runs], %[runs], -1", "bnez %[runs], 1b"]
        return tuple(lines)

    def kept(self) -> tuple[str, ...]:
        """The sums as they are, at `acc`: `lanes` of every row."""
        lines = [f"vsetvli zero, %[width], e32, m{self.group}, ta, ma"]
        for row in range(self.rows):
            lines += [f"vse32.v {self.sums(row)}, (%[acc])", f"addi %[acc], %[acc], {4 * self.lanes}"]
        return tuple(lines)

    def codes(self, form: MultiplyHigh, y_type: DType) -> tuple[str, ...]:
        """Codes of the sums, at `y` and every `y_step` bytes behind it."""
        return tuple(codes([self.sums(row) for row in range(self.rows)], self.group, form, y_type))


def in_vectors(form: Requantiser) -> bool:
    """True where codes are made in vectors: the form of 32 bits."""
    return isinstance(form, MultiplyHigh)


def codes(sums: list[str], group: int, form: MultiplyHigh, y_type: DType, *, strided: bool = False) -> list[str]:
    """Rows of sums of 32 bits in groups of registers, to codes that are stored; v0 holds numbers of the columns.

    Where they are `strided` the columns of a row lie `y_column` bytes apart.
    """
    lines = [f"vsetvli zero, %[width], e32, m{group}, ta, ma"]
    lines += [f"vsll.vi {total}, {total}, {form.pre_shift}" for total in sums if form.pre_shift]
    for number, instruction in zip(form.numbers, ("vmulh", "vadd", "vsra"), strict=True):
        if not number.uniform:
            lines.append(f"vle32.v v0, (%[{number.name}])")
        operand = "v" if not number.uniform else "i" if number is form.shift else "x"
        value = {"v": "v0", "i": str(number.values[0]), "x": f"%[{number.name}]"}[operand]
        lines += [f"{instruction}.v{operand} {total}, {total}, {value}" for total in sums]
    low, high = y_type.range
    unsigned = low == 0
    if form.low > low or unsigned:
        limit = "zero" if form.low == 0 else "%[low]"
        lines += [f"vmax.vx {total}, {total}, {limit}" for total in sums]
    if form.high < high:
        lines += [f"vmin.vx {total}, {total}, %[high]" for total in sums]
    narrow = "vnclipu.wi" if unsigned else "vnclip.wi"
    width, registers = 32, group
    while width > y_type.bits:
        width, registers = width // 2, registers // 2
        lines.append(f"vsetvli zero, %[width], e{width}, m{registers}, ta, ma")
        lines += [f"{narrow} {total}, {total}, 0" for total in sums]
    return lines + stores(sums, y_type.bits, strided=strided)


def stores(rows: list[str], bits: int, *, strided: bool) -> list[str]:
    """Rows of elements of so many bits, stored at `y` and every `y_step` bytes behind it."""
    lines = []
    for row, register in enumerate(rows):
        lines += ["add %[y], %[y], %[y_step]"] * (row > 0)
        lines.append(f"vsse{bits}.v {register}, (%[y]), %[y_column]" if strided else f"vse{bits}.v {register}, (%[y])")
    return lines


def code_operands(form: MultiplyHigh, y_type: DType) -> tuple[tuple[str, str], ...]:
    """Names and C of what `codes` reads beside `width` and `y_step`; arrays have the names of their numbers."""
    numbers = [n for n in form.numbers if not (n is form.shift and n.uniform)]
    named = [(n.name, str(n.values[0]) if n.uniform else n.name) for n in numbers]
    limits = [("low", form.low)] * (form.low > y_type.range[0] and form.low != 0)
    limits += [("high", form.high)] * (form.high < y_type.range[1])
    return (*named, *((name, str(value)) for name, value in limits))
