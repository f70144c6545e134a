"""Functions of many codes, asked of z3 as bit vectors. Its work is limited by its own count, never by a clock."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tilewright.errors import ToolMissing
from tilewright.prove.book import Book
from tilewright.prove.compare import Difference, Outcome, Undecided
from tilewright.prove.expected import Expected, Largest
from tilewright.prove.function import Byte, Node
from tilewright.prove.machine.gave_up import GaveUp

RLIMIT = 40_000_000
"""z3's resource units for one question."""


def load_solver() -> Any:
    """The module z3; ToolMissing names the extra that brings it."""
    try:
        import z3
    except ImportError as error:
        raise ToolMissing(
            "z3-solver is not installed", why="it decides what depends on many codes",
            fix="install tilewright with its extra 'prove'",
        ) from error  # fmt: skip
    return z3


def solve(book: Book, byte: Byte, expected: Expected, rlimit: int = RLIMIT) -> Outcome:
    """Whether the byte is the largest of the expected codes for all of their values."""
    assert isinstance(expected.rule, Largest), expected.rule
    z3 = load_solver()
    numbers = sorted({number for leaf in (*byte.leaves, *expected.leaves) for number, _ in leaf})
    codes = {number: z3.BitVec(f"c{number}", 64) for number in numbers}
    solver = z3.SolverFor("QF_BV")
    solver.set("rlimit", rlimit)
    for number, code in codes.items():
        solver.add(code >= book.codes.lows[number], code <= book.codes.highs[number])
    leaves = [_total(z3, leaf, codes) for leaf in byte.leaves]
    try:
        stored = z3.Extract(7, 0, _Vectors(z3, book, leaves).vector(byte.shape))
    except GaveUp as error:
        return Undecided(str(error))
    largest = codes[expected.leaves[0][0][0]]
    for leaf in expected.leaves[1:]:
        other = codes[leaf[0][0]]
        largest = z3.If(other > largest, other, largest)
    meant = z3.Extract(7, 0, largest)
    solver.add(stored != meant)
    answer = solver.check()
    if answer == z3.unsat:
        return None
    if answer != z3.sat:
        return Undecided(f"the solver reached its limit of {rlimit} units")
    model = solver.model()
    values = {n: model.eval(code, model_completion=True).as_signed_long() for n, code in codes.items()}
    pair = [model.eval(each, model_completion=True).as_long() for each in (stored, meant)]
    return Difference(values, *pair)


def _total(z3: Any, leaf: tuple[tuple[int, int], ...], codes: Mapping[int, Any]) -> Any:
    total = z3.BitVecVal(0, 64)
    for number, factor in leaf:
        total = total + codes[number] * factor
    return total


class _Vectors:
    """A shape as bit vectors."""

    def __init__(self, z3: Any, book: Book, leaves: list[Any]) -> None:
        self.z3, self.book, self.leaves = z3, book, leaves
        self.known: dict[int, Any] = {}

    def vector(self, shape: int) -> Any:
        if shape not in self.known:
            self.known[shape] = self._made(self.book.shapes.nodes[shape])
        return self.known[shape]

    def _made(self, node: Node) -> Any:
        z3, op, bits = self.z3, node[0], 8 * node[1]
        if op == "number":
            return z3.BitVecVal(node[2], bits)
        if op == "sum":
            total = z3.BitVecVal(node[2], bits)
            if node[3] >= 0:
                total = total + self._fit(self.leaves[node[3]], bits) * z3.BitVecVal(node[4], bits)
            for factor, shape in node[5]:
                total = total + self._fit(self.vector(shape), bits) * z3.BitVecVal(factor, bits)
            return total
        if op == "sub":
            return z3.Extract(8 * node[3] + bits - 1, 8 * node[3], self.vector(node[2]))
        if op == "cat":
            parts = [self.vector(shape) for shape, _ in reversed(node[2])]
            return z3.Concat(*parts) if len(parts) > 1 else parts[0]
        if op in ("sext", "zext"):
            extended = z3.SignExt if op == "sext" else z3.ZeroExt
            return extended(bits - 8 * node[3], self.vector(node[2]))
        if op == "not":
            return self._truth(self.vector(node[2]) == 0)
        if op == "ite":
            return z3.If(self.vector(node[2]) != 0, self.vector(node[3]), self.vector(node[4]))
        if op == "sat":
            value = self.vector(node[2])
            low, high = (z3.BitVecVal(limit, bits) for limit in node[3:5])
            return z3.If(value < low, low, z3.If(value > high, high, value))
        if op in OPERATIONS:
            return OPERATIONS[op](z3, self.vector(node[2]), self.vector(node[3]))
        if op not in COMPARISONS:
            raise GaveUp(f"the solver is not asked about '{op}'")
        return self._truth(COMPARISONS[op](z3, self.vector(node[2]), self.vector(node[3])))

    def _truth(self, condition: Any) -> Any:
        return self.z3.If(condition, self.z3.BitVecVal(1, 8), self.z3.BitVecVal(0, 8))

    def _fit(self, value: Any, bits: int) -> Any:
        if value.size() == bits:
            return value
        if value.size() > bits:
            return self.z3.Extract(bits - 1, 0, value)
        return self.z3.SignExt(bits - value.size(), value)


OPERATIONS: Mapping[str, Callable[[Any, Any, Any], Any]] = {
    "mul": lambda z3, a, b: a * b, "and": lambda z3, a, b: a & b, "or": lambda z3, a, b: a | b,
    "xor": lambda z3, a, b: a ^ b, "band": lambda z3, a, b: a & b, "bor": lambda z3, a, b: a | b,
    "bxor": lambda z3, a, b: a ^ b, "shl": lambda z3, a, b: a << b, "shr": lambda z3, a, b: z3.LShR(a, b),
    "sar": lambda z3, a, b: a >> b, "udiv": lambda z3, a, b: z3.UDiv(a, b), "sdiv": lambda z3, a, b: a / b,
}  # fmt: skip
COMPARISONS: Mapping[str, Callable[[Any, Any, Any], Any]] = {
    "eq": lambda z3, a, b: a == b, "ne": lambda z3, a, b: a != b, "ult": lambda z3, a, b: z3.ULT(a, b),
    "ule": lambda z3, a, b: z3.ULE(a, b), "slt": lambda z3, a, b: a < b, "sle": lambda z3, a, b: a <= b,
    "carry": lambda z3, a, b: z3.ULT(a + b, a),
    "scarry": lambda z3, a, b: ((a ^ (a + b)) & (b ^ (a + b))) < 0,
    "sborrow": lambda z3, a, b: ((a ^ b) & (a ^ (a - b))) < 0,
}  # fmt: skip
