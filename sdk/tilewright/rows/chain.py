"""A chain of nodes as one kernel: every node's own kernel on bands of rows, what lies between them in scratch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from tilewright.layout import Layout
from tilewright.model import Node, Tensor
from tilewright.ops.operator import Call
from tilewright.ops.relayout import DOMAIN
from tilewright.platform import Constant, Kernel, KernelMethods, Operands, RowMoves
from tilewright.rows.bands import RowMap, RowWise, row_elements, row_step
from tilewright.rows.walk import Walk, WalkedNode

TEMPLATE = Path(__file__).parent.parent / "codegen" / "templates" / "row_chain.c.mako"
TAP = TEMPLATE.with_name("row_tap.h")
ALIGN = 8
"""Windows start at multiples of so many bytes."""
CALL_COST, FILL_COST = 30.0, 0.55
"""Instructions of one call with its tests, and of each byte that is set at a border."""
BY_WORDS = RowMoves("", TEMPLATE.with_name("row_chain.h"), 30.0, 0.55)
"""Moves by words, in functions for rows of several lengths."""


@dataclass(frozen=True)
class Band:
    """A number of rows of a node: the call that computes them, its kernel, the layouts of its tensors."""

    call: Call
    kernel: Kernel
    layouts: Mapping[str, Layout]

    @property
    def operands(self) -> Operands:
        """What the kernel is asked about."""
        return Operands(self.call, self.layouts)

    @cached_property
    def scratch_bytes(self) -> int:
        """Working memory of one call."""
        return self.kernel.scratch(self.operands)

    @cached_property
    def cost(self) -> float:
        """Instructions of one call."""
        return self.kernel.cost(self.call)


@dataclass(frozen=True)
class Stage:
    """One node of a chain: `band` of its rows, `step` by step.

    `feed` are the operands that read the node before; the first node has none.
    """

    node: RowWise
    band: Band
    step: WalkedNode
    feed: tuple[int, ...]

    @property
    def call(self) -> Call:
        """The call of a band."""
        return self.band.call

    @property
    def kernel(self) -> Kernel:
        """The kernel of a band."""
        return self.band.kernel

    @property
    def operands(self) -> Operands:
        """What the kernel is asked about."""
        return self.band.operands

    @property
    def result(self) -> Tensor:
        """The whole result."""
        return self.node.call.outputs[0]

    @property
    def memory(self) -> tuple[int, ...]:
        """Operands that are read from tensors outside of the chain."""
        return tuple(index for index in self.node.maps if index not in self.feed)

    @property
    def scratch_bytes(self) -> int:
        """Working memory of one call."""
        return self.band.scratch_bytes

    def edges(self, row: int) -> tuple[int, int]:
        """Rows above and below the operand that the call from `row` on reads."""
        top = self.step.reads.first(row)
        height = self.node.call.tensor(next(iter(self.node.maps))).shape[2]
        return max(0, -top), max(0, top + self.step.reads.count(self.step.rows) - height)


@dataclass(frozen=True)
class Places:
    """Where things lie in scratch, in bytes: the window of every node but the last, rows at the border, the rest."""

    windows: tuple[int, ...]
    edge: int
    rest: int
    size: int


@dataclass(frozen=True)
class RowChain(KernelMethods):
    """The methods of the kernel that computes a chain; `whole_layouts` are those of its nodes' whole tensors, `moves`
    say how rows are moved."""

    stages: tuple[Stage, ...]
    walked: Walk
    whole_layouts: Mapping[str, Layout]
    moves: RowMoves

    @property
    def edged(self) -> bool:
        """True where the first node's windows reach over its operand: those rows are copied beside each other."""
        return self.stages[0].node.fill is not None

    @cached_property
    def places(self) -> Places:
        """The parts of scratch."""
        at, windows = 0, list[int]()
        for stage, held in zip(self.stages[:-1], self.walked.held, strict=True):
            windows.append(at)
            at += _aligned(held * row_bytes(stage.result))
        edge = at
        if self.edged:
            first = self.stages[0]
            at += _aligned(first.step.reads.count(first.step.rows) * row_bytes(first.node.call.tensor(0)))
        return Places(tuple(windows), edge, at, at + max(stage.scratch_bytes for stage in self.stages))

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Those of every node, in order; names say whose they are."""
        return tuple(constant for stage in range(len(self.stages)) for constant in self.constants_of(stage))

    def constants_of(self, number: int) -> Iterator[Constant]:
        """Those of one node."""
        stage = self.stages[number]
        for constant in stage.kernel.constants(stage.operands):
            yield replace(constant, name=f"n{number + 1}_{constant.name}", along=())

    def scratch(self, operands: Operands) -> int:
        """Windows, rows at the border, and the most that one of the kernels needs."""
        return self.places.size

    def cost(self, call: Call) -> float:
        """The kernels' own costs for every call, and what is moved between them."""
        total = sum(self.stages[made.number].band.cost for made in self.walked.calls)
        total += CALL_COST * len(self.walked.calls)
        moves = zip(self.stages, self.walked.moved, strict=False)
        total += sum(moved * self.row_cost(stage) for stage, moved in moves)
        if self.edged:
            first = self.stages[0]
            edges = sum(any(first.edges(made.row)) for made in self.walked.calls if made.number == 0)
            read = first.step.reads.count(first.step.rows) * row_bytes(first.node.call.tensor(0))
            total += (FILL_COST + self.moves.byte_cost) * edges * read
        return total

    def row_cost(self, stage: Stage) -> float:
        """Instructions of moving a row of its result."""
        return self.moves.row_cost + self.moves.byte_cost * row_bytes(stage.result)

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """How far the result may start inside each operand: no row is written that a later call still reads."""
        call = operands.call
        return tuple((index, 0, self._gap(tensor)) for index, tensor in enumerate(call.inputs) if tensor is not None)

    def _gap(self, tensor: Tensor) -> int:
        last = len(self.stages) - 1
        y_row, gap, later = row_bytes(self.stages[last].result), -tensor.size_bytes, tensor.size_bytes
        read_by = [tuple(_readers(stage, tensor)) for stage in self.stages]
        row = self.step_bytes(tensor) if any(read_by) else 0
        apart = [
            number < last or not all((index, 0) in stage.kernel.in_place(stage.call) for index in stage.memory)
            for number, stage in enumerate(self.stages)
        ]
        for made in reversed(self.walked.calls):
            reads = min((max(0, rows.first(made.row)) * row for rows in read_by[made.number]), default=later)
            if apart[made.number]:
                later = min(later, reads)
            if made.number == last:
                gap = max(gap, (made.row + self.stages[last].step.rows) * y_row - later)
            later = min(later, reads)
        return gap

    def row_step(self, tensor: Tensor) -> int:
        """Elements from one row of a whole tensor to the next."""
        return row_step(tensor, self.whole_layouts.get(tensor.name))

    def step_bytes(self, tensor: Tensor) -> int:
        """Bytes from one row of a whole tensor to the next."""
        return self.row_step(tensor) * tensor.dtype.bits // 8


def _readers(stage: Stage, tensor: Tensor) -> Iterator[RowMap]:
    """For every operand that is this tensor, the rows that a call of the stage reads of it."""
    for index in stage.memory:
        if stage.node.call.tensor(index).name == tensor.name:
            yield stage.node.maps[index]


def row_bytes(tensor: Tensor) -> int:
    """Bytes of one row."""
    return row_elements(tensor) * tensor.dtype.bits // 8


def _aligned(size: int) -> int:
    return -(-size // ALIGN) * ALIGN


def chain_call(calls: Sequence[Call]) -> Call:
    """The call that stands for all: it reads what no node of the chain makes, and writes what the last one does."""
    reads = reads_of(calls)
    results = calls[-1].outputs
    name = " + ".join(call.node.name for call in calls)
    node = Node(name, "Chain", tuple(reads), tuple(t.name for t in results), domain=DOMAIN)
    return Call(node, tuple(reads.values()), results, {}, calls[-1].opset, tuple(calls), operator=None)


def reads_of(calls: Sequence[Call]) -> dict[str, Tensor]:
    """What the calls read at run time and none of them makes, by name."""
    made = {call.outputs[0].name for call in calls}
    reads: dict[str, Tensor] = {}
    for call in calls:
        for index, tensor in enumerate(call.inputs):
            if tensor is not None and index not in call.constants and tensor.name not in made:
                reads.setdefault(tensor.name, tensor)
    return reads


def chain_kernel(stages: Sequence[Stage], walked: Walk, layouts: Mapping[str, Layout], moves: RowMoves) -> Kernel:
    """The kernel of the chain; it promises what the least exact of its kernels does."""
    kernels = [stage.kernel for stage in stages]
    sources = tuple(dict.fromkeys(source for kernel in kernels for source in kernel.sources))
    names = {t.name for s in stages for t in (*s.node.call.inputs, *s.node.call.outputs) if t is not None}
    whole = {name: layouts[name] for name in sorted(names) if name in layouts}
    bounds = [kernel.numerics for kernel in kernels if kernel.numerics != "exact"]
    return Kernel(
        name="RowChain", op="Chain", types=(("*...",), ("*",)), layout=("any", "any"), template=TEMPLATE,
        sources=tuple(dict.fromkeys((*sources, moves.header, TAP))),
        numerics=max(bounds, key=float) if bounds else "exact",
        methods=RowChain(tuple(stages), walked, whole, moves), platform=kernels[-1].platform,
        summary="Several nodes, band by band of rows.",
        calibrated=all(kernel.calibrated for kernel in kernels), engine=kernels[-1].engine,
    )  # fmt: skip
