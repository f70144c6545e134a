"""Traceability: node of the file -> instruction of the plan -> lines of C -> symbol of the ELF, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright.compile import Compiled
from tilewright.evidence.code_lines import CodeLines
from tilewright.evidence.document import InstructionTrace, NodeTrace, SymbolTrace, Trace
from tilewright.evidence.handed_on import handed_on
from tilewright.evidence.held_addresses import read_held
from tilewright.evidence.line_table import LineTable, read_lines
from tilewright.ops.codes import Converts
from tilewright.ops.operator import Kind
from tilewright.ops.registry import find
from tilewright.ops.relayout import DOMAIN
from tilewright.plan.plan import ExecutionPlan, Instruction
from tilewright.report.annotate import layers_of, read_file
from tilewright.report.text import printable
from tilewright.run.elf import Symbol, read_elf
from tilewright.run.image import Image
from tilewright.run.stack import CallGraph, read_call_graph

if TYPE_CHECKING:
    from onnx import ModelProto

OWN = "made by the compiler: the same values in another order"
SAME_BYTES = "operands and results are the same bytes: there is nothing to compute"


@dataclass(frozen=True)
class Machine:
    """What the image says: its symbols of the network, the lines behind addresses, and who calls whom.

    `held` are pairs of a function and another whose address it takes, to be called by somebody else.
    """

    symbols: tuple[Symbol, ...]
    table: LineTable
    calls: CallGraph
    model: str
    held: tuple[tuple[str, str], ...] = ()

    def holding(self, first: int, last: int) -> Iterator[Symbol]:
        """The symbols with machine code of these lines."""
        rows = (*self.table.rows, *self.table.calls)
        places = [row.address for row in rows if first <= row.line <= last]
        for symbol in self.symbols:
            if symbol.kind == "code" and any(_inside(symbol, place) for place in places):
                yield symbol

    def lines(self, symbol: Symbol) -> set[int]:
        """The lines whose machine code lies in a symbol."""
        return {row.line for row in self.table.rows if _inside(symbol, row.address) and row.line}


def _inside(symbol: Symbol, address: int) -> bool:
    return symbol.address <= address < symbol.address + symbol.size_bytes


def machine_of(image: Image, file: str) -> Machine:
    """The network's part of an image that was built with -g."""
    objects = sorted((image.work / "model").glob("*.o"))
    names = {symbol.name for path in objects for symbol in read_elf(path).symbols}
    symbols = tuple(symbol for symbol in image.elf.symbols if symbol.name in names)
    graphs = (path.with_suffix(".ci") for path in objects)
    calls = read_call_graph(path for path in graphs if path.is_file())
    return Machine(symbols, read_lines(image.path, file), calls, image.model, tuple(read_held(objects)))


def trace(compiled: Compiled, source: Path, code: CodeLines, machine: Machine) -> Trace:
    """Both directions, and what has no counterpart on the other side."""
    model = read_file(source)
    nodes = tuple(_nodes(compiled, model))
    instructions = tuple(_instruction(compiled.plan, i, nodes, code, machine) for i in compiled.plan.instructions)
    symbols = tuple(_symbols(compiled.plan, instructions, code, machine))
    return Trace(nodes, instructions, symbols, tuple(unmatched(nodes, instructions, symbols, code, machine.table)))


def unmatched(
    nodes: Sequence[NodeTrace], instructions: Sequence[InstructionTrace], symbols: Sequence[SymbolTrace],
    code: CodeLines, table: LineTable,
) -> Iterator[str]:  # fmt: skip
    """A sentence for everything on one side that nothing on the other side answers for."""
    for node in nodes:
        if not node.fate:
            yield f"node {node.number} '{node.name}' ({node.op}) belongs to no instruction"
    for one in instructions:
        if not (one.nodes or one.origin):
            yield f"instruction {one.index} '{one.name}' ({one.op}) comes of no node"
        if one.why != SAME_BYTES and not (one.code and one.symbols):
            yield f"instruction {one.index} '{one.name}' ({one.op}) has no machine code"
    for symbol in symbols:
        if not symbol.purpose:
            yield f"symbol '{symbol.name}' of {symbol.size_bytes} bytes serves no instruction"
    for line in sorted({row.line for row in table.rows if row.line}):
        if code.at(line) is None:
            yield f"line {line} of {code.file} has machine code and belongs to no part of the network"


def _nodes(compiled: Compiled, model: ModelProto) -> Iterator[NodeTrace]:
    number = {id(layer): index for index, layer in enumerate(compiled.report.layers)}
    layer_of = layers_of(compiled.report, model)
    live, needed, handed = _live(model), _needed(model), handed_on(model)
    shown = {slot.tensor.name for slot in compiled.plan.slots if slot.storage is not None}
    shown |= set(compiled.plan.output_names)
    for index, node in enumerate(model.graph.node):
        layer, made = layer_of.get(index), set(node.output)
        at, fate = -1, ""
        if layer is not None:
            at = number[id(layer)]
            fate = "computed" if any(result.tensor in made for result in layer.results) else "inside of the instruction"
        elif not made & live:
            fate = "its value is constant and computed by the compiler"
        elif not made & needed:
            fate = "no output depends on it"
        elif made & shown or _is_view(node.op_type, node.domain):
            fate = "its result is the bytes of another tensor"
            fate = "at the border, where codes are handed over" if _converts(node.op_type, node.domain) else fate
        elif index in handed:
            fate = "the same codes are handed on"
        name = printable(node.name or next(iter(node.output), ""))
        yield NodeTrace(index, name, node.op_type, at, fate)


def _converts(op: str, domain: str) -> bool:
    """True for an operator that changes how numbers are written."""
    operator = find(op, domain)
    return op == "Cast" or (operator is not None and isinstance(operator.codes, Converts))


def _is_view(op: str, domain: str) -> bool:
    """True for an operator that moves no byte by itself; several in a row are one view in the plan."""
    operator = find(op, domain)
    return operator is not None and operator.kind is Kind.VIEW


def _live(model: ModelProto) -> set[str]:
    """Tensors that depend on an input of the network."""
    fixed = {tensor.name for tensor in model.graph.initializer}
    live = {value.name for value in model.graph.input} - fixed
    for node in model.graph.node:
        if any(name in live for name in node.input) or any(a.HasField("g") for a in node.attribute):
            live |= set(node.output)
    return live


def _needed(model: ModelProto) -> set[str]:
    """Tensors on which an output depends."""
    needed = {value.name for value in model.graph.output}
    for node in reversed(model.graph.node):
        if needed & set(node.output):
            needed |= set(node.input)
    return needed


def _instruction(
    plan: ExecutionPlan, instruction: Instruction, nodes: Sequence[NodeTrace], code: CodeLines, machine: Machine
) -> InstructionTrace:
    calls = (instruction.call.node, *(call.node for call in instruction.call.chain))
    names = {printable(name) for node in calls for name in (node.name, node.part_of, *node.outputs) if name}
    whole = {instruction.index} | {one.index for one in plan.instructions if one.name == instruction.call.node.part_of}
    own = tuple(node.number for node in nodes if node.instruction in whole or node.name in names)
    lines = tuple(code.of(instruction.index))
    symbols = dict.fromkeys(symbol.name for part in lines for symbol in machine.holding(part.first, part.last))
    why = ""
    if instruction.fused_into:
        why = f"computed tile by tile inside of '{printable(instruction.fused_into)}'"
    elif instruction.errand_of:
        why = f"computed by the core that drives the others, during the sitting of '{printable(instruction.errand_of)}'"
    elif not lines and instruction.aliasing is not None:
        why = SAME_BYTES
    constants = tuple(f"{machine.model}_c{index}" for index in instruction.frozen)
    return InstructionTrace(
        instruction.index, printable(instruction.name), instruction.op_name, instruction.kernel.name, own, lines,
        tuple(symbols), constants, why, OWN if instruction.call.node.domain == DOMAIN else "",
    )  # fmt: skip


def _symbols(
    plan: ExecutionPlan, instructions: Sequence[InstructionTrace], code: CodeLines, machine: Machine
) -> Iterator[SymbolTrace]:
    serves: dict[str, set[int]] = {}
    for one in instructions:
        for part in one.code:
            if any(span.first == part.first and span.kind == "layer" for span in code.spans):
                for symbol in machine.holding(part.first, part.last):
                    serves.setdefault(_plain(symbol.name), set()).add(one.index)
        for name in one.constants:
            serves.setdefault(name, set()).add(one.index)
    _hand_on(serves, machine.calls, code)
    for holder, held in machine.held:
        if held not in serves and holder in serves:
            serves[held] = set(serves[holder])
    _hand_on(serves, machine.calls, code)
    for one in instructions:
        for name in one.symbols:
            serves.setdefault(_plain(name), set()).add(one.index)
    serves |= _tables(serves, code, machine)
    for symbol in machine.symbols:
        lines = machine.lines(symbol) if symbol.kind == "code" else set()
        yield SymbolTrace(
            symbol.name, symbol.kind, symbol.size_bytes, tuple(sorted(serves.get(_plain(symbol.name), ()))),
            _purpose(symbol, serves, lines, code, machine), len(lines),
        )  # fmt: skip


def _hand_on(serves: dict[str, set[int]], calls: CallGraph, code: CodeLines) -> None:
    """What the line of a call serves, the function that is called serves too; where that line is shared by many
    functions, all that the caller serves."""
    pairs = [(one, other) for one, others in calls.calls.items() for other in others]
    changed = True
    while changed:
        changed = False
        for one, other in pairs:
            by_line = [code.served_by(line) for line in calls.lines.get((one, other), ())]
            known = set().union(*by_line) if by_line and all(by_line) else serves.get(_plain(one), set())
            more = known - serves.get(_plain(other), set())
            if more:
                serves.setdefault(_plain(other), set()).update(more)
                changed = True


def _tables(serves: Mapping[str, set[int]], code: CodeLines, machine: Machine) -> dict[str, set[int]]:
    """What tables of shared sources serve: all that the functions serve that are made of these sources."""
    served_by = dict[str, set[int]]()
    for symbol in machine.symbols:
        declared = machine.table.variables.get(symbol.address) if symbol.kind != "code" else None
        span = code.at(declared) if declared is not None else None
        if span is not None and span.kind == "shared":
            users = [serves.get(_plain(one.name), set()) for one in machine.holding(span.first, span.last)]
            if served := set().union(*users):
                served_by[_plain(symbol.name)] = served
    return served_by


def _purpose(symbol: Symbol, serves: Mapping[str, set[int]], lines: set[int], code: CodeLines, machine: Machine) -> str:
    """What a symbol is for; empty where nobody knows."""
    spans = [span for line in lines if (span := code.at(line)) is not None]
    names = {span.name for span in spans if span.kind == "interface"}
    if symbol.kind == "code" and _plain(symbol.name) in names:
        return "a function of the interface"
    if _plain(symbol.name) in serves:
        return "machine code of instructions" if symbol.kind == "code" else "constants of instructions"
    if symbol.kind == "code" and any(span.kind == "head" for span in spans):
        return "a function of the interface"
    model = machine.model
    known = {
        f"{model}_arena": "the arena of all activations",
        f"{model}_version": "tells which network an image runs",
        f"{model}_state_memory": "what lives from call to call",
    }
    if symbol.name in known:
        return known[symbol.name]
    declared = machine.table.variables.get(symbol.address)
    span = code.at(declared) if declared is not None else None
    if span is None or symbol.kind == "code":
        return ""
    return "memory of the network" if span.kind == "head" else f"a table of {span.name}"


def _plain(title: str) -> str:
    """A function's name from gcc's title of it, or from that of a copy with constants put in (`.constprop.0`)."""
    return title.rpartition(":")[2].partition(".")[0]
