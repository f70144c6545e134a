"""Replays the calls of a chain row by row, without the walk that made them: every row is there when it is read.

Also replays them over one memory in which the result lies over each operand as far as the chain allows.
"""

from __future__ import annotations

from tilewright.binding.check import check as check_binding
from tilewright.binding.graph import BoundGraph
from tilewright.errors import TilewrightError
from tilewright.ops.operator import Call
from tilewright.platform import Kernel, Operands
from tilewright.rows.chain import RowChain, Stage, row_bytes

Rows = dict[str, range]
"""By tensor the rows that one call touches."""


def check(graph: BoundGraph) -> None:
    """Check the bound graph and replay every chain of rows in it; TilewrightError where something is wrong."""
    check_binding(graph)
    for node in graph.nodes:
        if node.call.chain:
            assert node.kernel is not None
            check_chain(node.call, node.kernel)


def check_chain(call: Call, kernel: Kernel) -> None:
    """Raise where a call of the chain reads rows that are not there, or where rows of the result are never written."""
    chain = kernel.methods
    if not isinstance(chain, RowChain) or [s.node.call for s in chain.stages] != list(call.chain):
        raise _bug(call, "is computed by a kernel that is not made for its nodes")
    made: dict[str, int] = {}
    outside = {tensor.name for tensor in call.inputs if tensor is not None}
    held = dict(zip([s.result.name for s in chain.stages], chain.walked.held, strict=False))
    for step in chain.walked.calls:
        stage = chain.stages[step.number]
        for name, rows in _reads(stage, step.row).items():
            if name in outside:
                continue
            last = made.get(name, 0)
            if rows.stop > last or last - rows.start > held[name]:
                raise _bug(call, f"reads rows {rows.start} to {rows.stop - 1} of '{name}', which its window lacks")
        if step.row > made.get(stage.result.name, 0):
            raise _bug(call, f"leaves out rows of '{stage.result.name}'")
        made[stage.result.name] = step.row + stage.call.outputs[0].shape[2]
    if made.get(chain.stages[-1].result.name) != chain.stages[-1].result.shape[2]:
        raise _bug(call, f"leaves out rows of '{chain.stages[-1].result.name}'")
    for operand, _, gap in kernel.overlap(Operands(call)):
        check_gap(call, chain, operand, gap)


def _reads(stage: Stage, row: int) -> Rows:
    """Rows of each operand that lie inside of it and that the call from `row` on reads."""
    touched: Rows = {}
    for index, reads in stage.node.maps.items():
        whole, cut = stage.node.call.tensor(index), stage.call.tensor(index)
        top = row * reads.stride - reads.before
        touched[whole.name] = range(max(0, top), min(top + cut.shape[2], whole.shape[2]))
    return touched


def check_gap(call: Call, chain: RowChain, operand: int, gap: int) -> None:
    """Every row of the operand still stands when a call reads it, with the result `gap` bytes before the operand."""
    tensor, last = call.tensor(operand), len(chain.stages) - 1
    written = 0
    for step in chain.walked.calls:
        stage = chain.stages[step.number]
        rows = _reads(stage, step.row).get(tensor.name)
        if rows and written and written - gap > rows.start * chain.step_bytes(tensor):
            raise _bug(call, f"writes over rows of '{tensor.name}' before it reads them")
        if step.number == last:
            written = max(written, (step.row + stage.call.outputs[0].shape[2]) * row_bytes(stage.result))


def _bug(call: Call, what: str) -> TilewrightError:
    return TilewrightError(
        f"binding is inconsistent: the chain '{call.node.name}' {what}", why="this is a bug in tilewright",
        fix="please report it with the model", node=call.node.name,
    )  # fmt: skip
