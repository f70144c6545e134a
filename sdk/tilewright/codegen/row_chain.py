"""What the template of a chain prints: for every node where its rows come from and go to, as C."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tilewright.codegen.c_types import C_TYPES
from tilewright.codegen.comments import safe
from tilewright.codegen.terms import plus, times
from tilewright.ops.operator import Call
from tilewright.platform import RowMoves
from tilewright.rows.bands import row_elements
from tilewright.rows.chain import RowChain, row_bytes

CHAIN_NAMES = (("x...",), ("y",))
"""Parameters of a chain's function for the tensors that it reads and writes."""


def moving(moves: RowMoves, size_bytes: int) -> str:
    """The core's function; else that of `row_chain.h` which moves multiples of so many bytes without an idle loop."""
    if moves.function:
        return moves.function
    return next((f"tilewright_move{piece}" for piece in (32, 4) if size_bytes % piece == 0), "tilewright_move")


@dataclass(frozen=True)
class Edge:
    """Rows of the first operand copied beside each other where a call reads outside of it; `offset` in scratch;
    `move` is the function that moves them."""

    c_type: str
    offset: int
    height: int
    row: int
    row_bytes: int
    fill: int
    above: bool
    below: bool
    move: str


@dataclass(frozen=True)
class Window:
    """Rows of a node's result that the next one reads: `held` rows at `offset` in scratch, from row `first` on.

    With `alike` the next node reads just the rows of one call, with `slides` some rows are read again later. `fill`
    stands in `above` rows at the start, and behind the last row with `below`.
    """

    c_type: str
    offset: int
    held: int
    row: int
    row_bytes: int
    alike: bool
    slides: bool
    above: int
    below: bool
    fill: int
    move: str


@dataclass(frozen=True)
class Part:
    """One node: `rows` of `height` rows in a call, which reads `reads` rows of the node before from
    `row * stride - before` on. `at` is the variable of a call's first row, `result` the place of that row.
    """

    number: int
    comment: str
    at: str
    rows: int
    height: int
    even: bool
    reads: int
    stride: int
    before: int
    arguments: str
    result: str
    window: Window | None


@dataclass(frozen=True)
class ChainText:
    """The whole chain; `edge` is None where the first node never reads outside of its operand."""

    parts: tuple[Part, ...]
    edge: Edge | None


def chain_text(chain: RowChain, call: Call) -> ChainText:
    """What is printed of a chain that computes `call`."""
    operand_names = {t.name: f"x{index}" for index, t in enumerate(call.inputs) if t is not None}
    parts: list[Part] = []
    at = ""
    for number in reversed(range(len(chain.stages))):
        stage = chain.stages[number]
        last = number == len(chain.stages) - 1
        if last or not chain.walked.alike[number]:
            at = f"at{number + 1}"
        parts.append(
            Part(
                number=number + 1, comment=f"{safe(stage.node.call.node.op)} '{safe(stage.node.call.node.name)}'",
                at=at, rows=stage.step.rows, height=stage.step.height,
                even=stage.step.height % stage.step.rows == 0, reads=stage.step.reads.count(stage.step.rows),
                stride=stage.step.reads.stride, before=stage.step.reads.before,
                arguments=", ".join(_arguments(chain, number, at, operand_names)), result=_result(chain, number, at),
                window=None if last else _window(chain, number),
            )
        )  # fmt: skip
    return ChainText(tuple(reversed(parts)), _edge(chain))


def _arguments(chain: RowChain, number: int, at: str, operand_names: Mapping[str, str]) -> list[str]:
    """Pointers in the order of a layer function's parameters: operands, result, constants, scratch."""
    stage, arguments = chain.stages[number], list[str]()
    for index in sorted(stage.node.maps):
        if index in stage.feed:
            arguments.append(f"rows{number}")
        elif number == 0 and chain.edged:
            arguments.append("from")
        elif stage.node.handed_over:
            arguments.append(operand_names[stage.node.call.tensor(index).name])
        else:
            tensor, reads = stage.node.call.tensor(index), stage.node.maps[index]
            step = reads.stride * chain.row_step(tensor)
            arguments.append(f"{operand_names[tensor.name]} + {times(at, step)}")
    arguments.append(_result(chain, number, at))
    arguments += [constant.name for constant in chain.constants_of(number)]
    return [*arguments, plus("bytes", chain.places.rest)] if stage.scratch_bytes else arguments


def _result(chain: RowChain, number: int, at: str) -> str:
    """Where a call writes its rows."""
    row = row_elements(chain.stages[number].result)
    if number == len(chain.stages) - 1:
        return f"y + {times(at, row)}"
    if chain.walked.alike[number]:
        return f"rows{number + 1}"
    return f"rows{number + 1} + {times(f'({at} - first{number + 1})', row)}"


def _window(chain: RowChain, number: int) -> Window:
    stage, after = chain.stages[number], chain.stages[number + 1]
    reads, step = after.step.reads, after.step
    return Window(
        c_type=C_TYPES[stage.result.dtype], offset=chain.places.windows[number], held=chain.walked.held[number],
        row=row_elements(stage.result), row_bytes=row_bytes(stage.result), alike=chain.walked.alike[number],
        slides=chain.walked.moved[number] > 0, above=reads.before,
        below=reads.first(step.height - step.rows) + reads.count(step.rows) > stage.step.height,
        fill=after.node.fill or 0, move=moving(chain.moves, row_bytes(stage.result)),
    )  # fmt: skip


def _edge(chain: RowChain) -> Edge | None:
    if not chain.edged:
        return None
    stage = chain.stages[0]
    tensor, step = stage.node.call.tensor(0), stage.step
    return Edge(
        c_type=C_TYPES[tensor.dtype], offset=chain.places.edge, height=tensor.shape[2], row=row_elements(tensor),
        row_bytes=row_bytes(tensor), fill=stage.node.fill or 0, above=step.reads.before > 0,
        below=step.reads.first(step.height - step.rows) + step.reads.count(step.rows) > tensor.shape[2],
        move=moving(chain.moves, row_bytes(tensor)),
    )  # fmt: skip
