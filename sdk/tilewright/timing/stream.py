"""A program as the machine runs it: an array of operations, with a place for each address of code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tilewright.errors import UnsupportedError
from tilewright.timing.flow import Flow, Loop, address_of, place, places_inside, relative
from tilewright.timing.lift import HARMLESS, SATURATIONS, UNKNOWN_RESULT, Instruction, Operand, Operation

OPERATION = np.dtype(
    [("code", "u1"), ("size", "u1"), ("a_size", "u1"), ("b_size", "u1"), ("out", "<u4"), ("aux", "<i4"),
     ("point", "<u4"), ("a", "<u8"), ("b", "<u8")]
)  # fmt: skip
"""`struct operation` of engine/machine.h."""
POINT = np.dtype([("order", "<u4"), ("loops", "<u4"), ("first", "<u4"), ("words", "<u4"), ("live", "<u4")])
"""`struct point` of engine/machine.h."""
CODES = {
    name: number
    for number, name in enumerate(
        "COPY LOAD STORE BRANCH CBRANCH BRANCHIND CALL CALLIND CALLOTHER RETURN INT_EQUAL INT_NOTEQUAL INT_SLESS "
        "INT_SLESSEQUAL INT_LESS INT_LESSEQUAL INT_ZEXT INT_SEXT INT_ADD INT_SUB INT_CARRY INT_SCARRY INT_SBORROW "
        "INT_2COMP INT_NEGATE INT_XOR INT_AND INT_OR INT_LEFT INT_RIGHT INT_SRIGHT INT_MULT INT_DIV INT_SDIV INT_REM "
        "INT_SREM BOOL_NEGATE BOOL_XOR BOOL_AND BOOL_OR FLOAT_EQUAL FLOAT_NOTEQUAL FLOAT_LESS FLOAT_LESSEQUAL".split(),
        1,
    )
} | {
    name: number
    for number, name in enumerate(
        "FLOAT_NAN FLOAT_ADD FLOAT_DIV FLOAT_MULT FLOAT_SUB FLOAT_NEG FLOAT_ABS FLOAT_SQRT FLOAT_INT2FLOAT "
        "FLOAT_FLOAT2FLOAT FLOAT_TRUNC FLOAT_CEIL FLOAT_FLOOR FLOAT_ROUND".split(),
        46,
    )
} | {"PIECE": 62, "SUBPIECE": 63, "POPCOUNT": 72, "LZCOUNT": 73}  # fmt: skip
INSTRUCTION, NODE, GOTO, LOOP, SUMMARY, MARK, SIGNED_SATURATE, UNSIGNED_SATURATE, UNKNOWN, REFUSED = range(200, 210)
NUMBER = 0x80
NOWHERE, DATA = 0xFFFFFFFF, 0xFFFFFFFE
NO_CODE = 1
"""The row that a branch to what is no code leads to."""
TEMPORARIES_BYTES, REGISTER_BLOCK_BYTES, REGISTERS_BYTES = 2048, 64, 8192
Row = tuple[int, int, int, int, int, int, int, int, int]


@dataclass
class Registers:
    """Where the machine holds a core's registers: in blocks, in the order in which they are met."""

    blocks: dict[int, int] = field(default_factory=dict)

    def place(self, offset: int) -> int:
        """The machine's place for a byte of a register."""
        block, inside = divmod(offset, REGISTER_BLOCK_BYTES)
        number = self.blocks.setdefault(block, len(self.blocks))
        if TEMPORARIES_BYTES + (number + 1) * REGISTER_BLOCK_BYTES > REGISTERS_BYTES:
            raise UnsupportedError("the program uses more registers than the machine holds")
        return TEMPORARIES_BYTES + number * REGISTER_BLOCK_BYTES + inside

    @property
    def used_bytes(self) -> int:
        """Bytes of registers in use."""
        return TEMPORARIES_BYTES + len(self.blocks) * REGISTER_BLOCK_BYTES


@dataclass(frozen=True)
class Costs:
    """What an instruction at an address counts: 1, or 0 for the test image's own; and its modelled cycles."""

    uncounted: tuple[tuple[int, int], ...]
    cycles: Mapping[int, int]

    def counted(self, address: int) -> int:
        """1, or 0 for what is not the model's."""
        return int(not any(low <= address < end for low, end in self.uncounted))


@dataclass(frozen=True)
class Calls:
    """Functions by address that are not followed: words of arguments of routines of floats, the trace function."""

    summarised: Mapping[int, int]
    trace: int | None


@dataclass(frozen=True)
class Stream:
    """The operations; `places` are those of the half-words from `low` on. `loops` are numbered as in the machine, which
    finds where ways begin and meet in `points`, the loops around each in `chains`, and the words of registers that are
    read behind it in `live`."""

    operations: npt.NDArray[np.void]
    places: npt.NDArray[np.uint32]
    low: int
    loops: tuple[Loop, ...]
    starts: Mapping[int, int]
    points: npt.NDArray[np.void]
    chains: npt.NDArray[np.uint32]
    live: npt.NDArray[np.uint32]

    def place(self, address: int, operation: int = 0) -> int:
        """The row of an instruction, or of one that lies some rows behind its first."""
        return self.starts[address] + operation

    def inside(self, row: int) -> tuple[int, int]:
        """The instruction of a row, and how many rows behind its first it lies."""
        at = row
        while self.operations["code"][at] != INSTRUCTION:
            at -= 1
        return int(self.operations["a"][at]), row - at


@dataclass
class Layout:
    """Lays a program out, instruction by instruction; targets are set once all places are known."""

    instructions: Mapping[int, Instruction]
    flows: Mapping[int, Flow]
    registers: Registers
    costs: Costs
    calls: Calls
    data: Sequence[tuple[int, int]] = ()
    """Addresses of data among code, from and to."""
    rows: list[Row] = field(default_factory=list)
    starts: dict[int, int] = field(default_factory=dict)
    nodes: dict[int, int] = field(default_factory=dict)
    turns: dict[int, int] = field(default_factory=dict)
    stubs: dict[int, int] = field(default_factory=dict)
    sideways: dict[tuple[int, int], int] = field(default_factory=dict)
    fixes: list[tuple[int, str, int, int]] = field(default_factory=list)
    """Row, field, address of the instruction that branches, place that it goes to."""

    def laid(self) -> Stream:
        """The whole program; `flows` are by instruction, those of a function are one value."""
        headers = dict[int, Loop]()
        for one in {id(flow): flow for flow in self.flows.values()}.values():
            headers |= {loop.header: loop for loop in one.loops if loop.header == place(address_of(loop.header))}
        loops = tuple(headers[header] for header in sorted(headers))
        numbers = {loop.header: number for number, loop in enumerate(loops)}
        self.rows += [_row(NODE), _row(REFUSED)]
        for address in sorted(self.instructions):
            if (number := numbers.get(place(address))) is not None:
                self.turns[address] = len(self.rows)
                self.rows.append(_row(LOOP, out=number))
            self._instruction(self.instructions[address])
        for header, number in numbers.items():
            address = address_of(header)
            self.stubs[address] = len(self.rows)
            self.rows += [_row(LOOP, out=number, aux=1), _row(GOTO, aux=self.starts[address])]
        self._sideways(numbers)
        bodies = {address_of(loop.header): {address_of(one) for one in loop.body} for loop in loops}
        operations = np.array(self.rows, OPERATION)
        for row, name, source, target in self.fixes:
            operations[name][row] = self._target(source, target, bodies)
        points, chains, live = self._points(operations, numbers)
        return Stream(operations, *self._places(bodies), loops, self.starts, points, chains, live)

    def _sideways(self, numbers: Mapping[int, int]) -> None:
        """Ways back to where no loop begins, as in one with several entries, count as turns of the loop around both."""
        for _, _, source, target in self.fixes:
            flow, address = self.flows.get(source), address_of(target)
            if flow is None or target != place(address) or address in self.turns or address not in self.starts:
                continue
            if flow.order.get(target, 0) > flow.order.get(place(source), -1):
                continue
            inside = [one for one in flow.around(target) if place(source) in one.body and one.header in numbers]
            if inside and (source, target) not in self.sideways:
                self.sideways[source, target] = len(self.rows)
                self.rows += [_row(LOOP, out=numbers[inside[-1].header]), _row(GOTO, aux=self.starts[address])]

    def _target(self, source: int, target: int, bodies: Mapping[int, set[int]]) -> int:
        """The row of a place, through the turn or the entry of a loop that begins there."""
        address = address_of(target)
        if (row := self.sideways.get((source, target))) is not None:
            return row
        if target != place(address):
            return self.nodes[target]
        if address in self.turns:
            return self.turns[address] if source in bodies[address] else self.stubs[address]
        return self.starts.get(address, NO_CODE)

    def _places(self, bodies: Mapping[int, set[int]]) -> tuple[npt.NDArray[np.uint32], int]:
        """Where computed jumps and returns lead. A loop that they lead to is entered, unless the call is inside it."""
        low, high = min(self.starts), max(self.starts)
        places = np.full((high - low) // 2 + 1, NOWHERE, np.uint32)
        for first, end in self.data:
            places[max(first - low, 0) // 2 : max(end - low, 0) // 2] = DATA
        for address, row in self.starts.items():
            places[(address - low) // 2] = self.stubs.get(address, row)
        for one in self.instructions.values():
            calls = any(each.name in ("CALL", "CALLIND") for each in one.operations)
            if calls and one.address in bodies.get(one.end, ()):
                places[(one.end - low) // 2] = self.turns[one.end]
        return places, low

    def _points(
        self, operations: npt.NDArray[np.void], numbers: Mapping[int, int]
    ) -> tuple[npt.NDArray[np.void], npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
        """Numbers the branches and the places where several ways come in."""
        points, chains, live = [(0, 0, 0, 0, 0)], list[int](), list[int]()
        around = dict[tuple[int, int], tuple[int, int]]()
        for row, at in self._ways():
            flow = self.flows.get(address_of(at))
            branch = self.rows[row][0] in (CODES["CBRANCH"], CODES["BRANCHIND"])
            if flow is None or at not in flow.order or not (branch or at in flow.meetings):
                continue
            loop = flow.innermost.get(at)
            key = (id(flow), loop.header if loop is not None else -1)
            if key not in around:
                inside = [numbers[one.header] for one in flow.around(at) if one.header in numbers]
                around[key] = len(inside), len(chains)
                chains += inside
            operations["point"][row] = len(points)
            words = () if branch else flow.live.get(at, ())
            points.append((flow.order[at], *around[key], len(words), len(live)))
            live += [self.registers.place(word) for word in words]
        return np.array(points, POINT), np.array(chains or [0], np.uint32), np.array(live or [0], np.uint32)

    def _ways(self) -> Iterator[tuple[int, int]]:
        """Row and place of what ways come to: every branch that may go several ways, instruction and node."""
        places = {row: of for of, row in self.nodes.items()}
        now = 0
        for row, each in enumerate(self.rows):
            if each[0] == INSTRUCTION:
                now = place(each[7])
            elif each[0] == NODE:
                now = places.get(row, now)
            if each[0] in (INSTRUCTION, NODE, CODES["CBRANCH"], CODES["BRANCHIND"]):
                yield row, now

    def _instruction(self, one: Instruction) -> None:
        self.starts[one.address] = len(self.rows)
        cycles, counted = self.costs.cycles.get(one.address, 1), self.costs.counted(one.address)
        self.rows.append(_row(INSTRUCTION, out=cycles, aux=counted, a=one.address, b=one.end))
        temporaries = _Temporaries(one)
        starts = places_inside(one)
        for at, each in enumerate(one.operations):
            if at in starts:
                self.nodes[place(one.address, at)] = len(self.rows)
                self.rows.append(_row(NODE))
            self._operation(one, at, each, temporaries)
        last = one.operations[-1].name if one.operations else ""
        if last not in ("BRANCH", "RETURN", "BRANCHIND"):
            self.fixes.append((len(self.rows), "aux", one.address, place(one.end)))
            self.rows.append(_row(GOTO))

    def _operation(self, one: Instruction, at: int, each: Operation, temporaries: _Temporaries) -> None:
        if each.name in ("BRANCH", "CBRANCH"):
            target = each.inputs[0]
            inside = at + relative(target.offset)
            to = place(target.offset) if target.space != "const" else place(one.address, inside)
            if target.space == "const" and inside >= len(one.operations):
                to = place(one.end)
            self.fixes.append((len(self.rows), "a" if each.name == "CBRANCH" else "aux", one.address, to))
            b, b_size = self._operand(each.inputs[1], temporaries) if each.name == "CBRANCH" else (0, 0)
            self.rows.append(_row(CODES[each.name], b=b, b_size=b_size))
        elif each.name == "CALL":
            self._call(one, each.inputs[0].offset)
        elif each.name in ("CALLIND", "RETURN", "BRANCHIND"):
            a, a_size = self._operand(each.inputs[0], temporaries)
            self.rows.append(_row(CODES[each.name], a=a, a_size=a_size, b=one.end))
        elif each.name == "CALLOTHER":
            self._outside(each, temporaries)
        else:
            self._data(each, temporaries)

    def _call(self, one: Instruction, target: int) -> None:
        """A call; of a routine that is summarised by the number that the machine keeps of it."""
        numbers = sorted(self.calls.summarised)
        if target == self.calls.trace:
            self.rows.append(_row(MARK, b=one.end))
            return
        self.fixes.append((len(self.rows), "aux", -1, place(target)))
        if target in self.calls.summarised:
            words = self.calls.summarised[target]
            self.rows.append(_row(SUMMARY, words, numbers.index(target), out=target, b=one.end))
        else:
            self.rows.append(_row(CODES["CALL"], out=target, b=one.end))

    def _outside(self, each: Operation, temporaries: _Temporaries) -> None:
        """What p-code does not define: saturation is computed, what changes nothing is passed, the rest is refused."""
        if each.of in HARMLESS:
            return
        if each.of in SATURATIONS and each.output is not None:
            a, a_size = self._operand(each.inputs[0], temporaries)
            b, b_size = self._operand(each.inputs[1], temporaries)
            out, _ = self._operand(each.output, temporaries)
            code = SIGNED_SATURATE if each.of == "SignedSaturate" else UNSIGNED_SATURATE
            self.rows.append(_row(code, each.output.size, a_size, b_size, out, SATURATIONS[each.of], a=a, b=b))
        elif each.of.startswith(UNKNOWN_RESULT) and each.output is not None:
            self.rows.append(_row(UNKNOWN, each.output.size, out=self._operand(each.output, temporaries)[0]))
        else:
            self.rows.append(_row(REFUSED))

    def _data(self, each: Operation, temporaries: _Temporaries) -> None:
        code = UNKNOWN if each.name == "UNKNOWN" else CODES.get(each.name, REFUSED)
        if each.name == "STORE":
            b, b_size = self._operand(each.inputs[0], temporaries)
            a, a_size = self._operand(each.inputs[1], temporaries)
            self.rows.append(_row(code, each.inputs[1].size, a_size, b_size, a=a, b=b))
            return
        output = each.output
        if output is None or (output.space == "ram"):
            self.rows.append(_row(REFUSED))
            return
        operands = [self._operand(one, temporaries) for one in each.inputs[:2]]
        (a, a_size), (b, b_size) = (*operands, (0, NUMBER | 1), (0, NUMBER | 1))[:2]
        out, _ = self._operand(output, temporaries)
        if each.name == "LOAD":
            self.rows.append(_row(code, output.size, b=a, b_size=a_size, out=out))
        else:
            self.rows.append(_row(code, output.size, a_size, b_size, out, a=a, b=b))

    def _operand(self, one: Operand, temporaries: _Temporaries) -> tuple[int, int]:
        """Place and size of an operand; one that lies in memory is loaded first."""
        if one.space == "const":
            return one.offset & 0xFFFFFFFFFFFFFFFF, one.size | NUMBER
        if one.space == "register":
            return self.registers.place(one.offset), one.size
        if one.space == "unique":
            return temporaries.place(one.offset), one.size
        spare = temporaries.spare()
        self.rows.append(_row(CODES["LOAD"], one.size, b=one.offset, b_size=4 | NUMBER, out=spare))
        return spare, one.size


class _Temporaries:
    """Places of what lives inside of one instruction, those that overlap beside each other as they do there."""

    def __init__(self, one: Instruction) -> None:
        spans = sorted(
            {
                (each.offset, each.offset + each.size)
                for operation in one.operations
                for each in (*operation.inputs, *([operation.output] if operation.output else []))
                if each.space == "unique"
            }
        )
        self._groups: list[tuple[int, int, int]] = []
        self._next = 0
        for low, end in spans:
            if self._groups and low < self._groups[-1][1]:
                first, last, at = self._groups[-1]
                self._groups[-1] = (first, max(last, end), at)
            else:
                self._groups.append((low, end, self._next))
            first, last, at = self._groups[-1]
            self._next = at + (last - first + 15) // 8 * 8
        if self._next > TEMPORARIES_BYTES // 2:
            raise UnsupportedError("an instruction has more steps between than the machine holds")

    def place(self, offset: int) -> int:
        """The machine's place of a byte."""
        low, at = next((low, at) for low, end, at in self._groups if low <= offset < end)
        return at + offset - low

    def spare(self) -> int:
        """A place for what was loaded."""
        self._next += 16
        return self._next - 16


def _row(
    code: int, size: int = 0, a_size: int = 0, b_size: int = 0, out: int = 0, aux: int = 0, a: int = 0, b: int = 0
) -> Row:
    return (code, size, a_size, b_size, out, aux, 0, a, b)
