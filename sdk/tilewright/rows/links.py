"""Which nodes of a bound graph can follow one another in a chain of rows, and the kernels that compute their bands."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tilewright.binding.candidates import by_operator, candidates
from tilewright.binding.graph import BoundGraph, BoundNode
from tilewright.binding.layouts import demanded, resulting
from tilewright.binding.order import Order
from tilewright.layout import Layout
from tilewright.model import Tensor
from tilewright.ops.operator import Call
from tilewright.platform import Kernel, RowMoves
from tilewright.rows.bands import ALIKE, RowWise, band, row_layout, row_wise
from tilewright.rows.chain import BY_WORDS, Band, Stage, chain_call, chain_kernel
from tilewright.rows.walk import WalkedNode, walk

LONGEST = 6
"""Nodes of one chain at most, beside one that only brings rows of an input into their order."""
BANDS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12)
"""Rows of the last node that are tried at a time; a single one also with single rows of the nodes before it."""


Form = tuple[object, ...]
"""What a node's bands depend on, but for the values of its constants and the names of its tensors."""


@dataclass(frozen=True)
class Price:
    """A chain by the rows of its nodes: bytes of scratch, and estimated instructions."""

    rows: int
    single_rows: bool
    scratch_bytes: int
    cost: float


class Links:
    """The nodes of a graph with those that alone read their results; chains are made of these on demand."""

    def __init__(self, graph: BoundGraph, kernels: Sequence[Kernel], order: Order) -> None:
        self.graph, self.order = graph, order
        self.offered = by_operator(kernels)
        self.moves = _row_moves(kernels)
        self.bound = {bound.call.node.name: bound for bound in graph.nodes}
        self.wise = {name: _row_wise(bound) for name, bound in self.bound.items()}
        self.next = _only_readers(graph)
        self._bands: dict[tuple[str, int], Band | None] = {}
        self._forms: dict[str, Form] = {}
        self._prices: dict[tuple[object, ...], tuple[Price, ...]] = {}

    def paths(self) -> Iterator[tuple[str, ...]]:
        """Every run of two or more nodes that a chain may be tried for."""
        for start in self.bound:
            path, first = [start], self.wise[start]
            longest = LONGEST + (isinstance(first, RowWise) and first.whole)
            while len(path) < longest and path[-1] in self.next:
                path.append(self.next[path[-1]])
                if any(isinstance(self.wise[name], str) for name in path):
                    break
                yield tuple(path)

    def chains(self, path: Sequence[str]) -> list[BoundNode]:
        """The chain of these nodes for several numbers of rows: those where more scratch means fewer instructions, and
        that of single rows where it takes less scratch than all of them.
        """
        candidates: list[tuple[int, float, BoundNode]] = []
        for rows in BANDS:
            if (made := self.chain(path, rows)) is not None:
                candidates.append((*self._price(made), made))
        members, least = list[BoundNode](), float("inf")
        for _, cost, made in sorted(candidates, key=lambda item: item[:2]):
            if cost < least:
                members.append(made)
                least = cost
        single = self.chain(path, 1, single_rows=True) if members else None
        if single is not None and self._price(single)[0] < self._price(members[0])[0]:
            members.insert(0, single)
        return members

    def _price(self, chain: BoundNode) -> tuple[int, float]:
        """Bytes of scratch and estimated instructions."""
        assert chain.kernel is not None
        operands = self.graph.operands(chain)
        return chain.kernel.scratch(operands), chain.kernel.cost(operands.call)

    def prices(self, path: Sequence[str]) -> tuple[Price, ...]:
        """What the chains of these nodes cost. Nodes of one form, which repeat in a network, are priced once.

        The values of constants are left out of the form: `chain` says whether their kernels take bands of them.
        """
        calls = [self.bound[name].call for name in path]
        feeds = [_feed(a, b) for a, b in itertools.pairwise(calls)]
        key = (*(self._form(name) for name in path), *feeds)
        if key not in self._prices:
            self._prices[key] = tuple(Price(one.rows, one.single_rows, *self._price(one)) for one in self.chains(path))
        return self._prices[key]

    @property
    def priced(self) -> int:
        """Paths of different form that were priced."""
        return len(self._prices)

    def _form(self, name: str) -> Form:
        if name not in self._forms:
            self._forms[name] = _form(self.bound[name], self.graph.layouts)
        return self._forms[name]

    def chain(self, path: Sequence[str], rows: int, *, single_rows: bool = False) -> BoundNode | None:
        """The chain of these nodes that computes `rows` rows of the last at a time, and single rows of those before it
        where these are wanted; None where that cannot be.
        """
        nodes = [wise for name in path if isinstance(wise := self.wise[name], RowWise)]
        if len(nodes) < len(path) or rows > nodes[-1].rows or any(node.whole for node in nodes[1:]):
            return None
        feeds = [(), *(_feed(a.call, b.call) for a, b in itertools.pairwise(nodes))]
        steps = _steps(nodes, feeds, rows, 1 if single_rows else None)
        walked = walk(steps) if steps else None
        if walked is None:
            return None
        stages: list[Stage] = []
        for node, step, feed in zip(nodes, steps, feeds, strict=True):
            made = self._band(node, step.rows)
            if made is None:
                return None
            stages.append(Stage(node, made, step, feed))
        parts = tuple(self.bound[name] for name in path)
        kernel = chain_kernel(stages, walked, self.graph.layouts, self.moves)
        call = chain_call([node.call for node in nodes])
        return BoundNode(call, kernel, parts=parts, rows=rows, single_rows=single_rows)

    def _band(self, node: RowWise, rows: int) -> Band | None:
        """The band of a node with a kernel for it: the node's own, or else the first that takes the band."""
        key = (node.call.node.name, rows)
        if key not in self._bands:
            self._bands[key] = self._bound_band(node, rows)
        return self._bands[key]

    def _bound_band(self, node: RowWise, rows: int) -> Band | None:
        call, layouts = band(node, rows), dict[str, Layout]()
        for whole, cut in zip((*node.call.inputs, *node.call.outputs), (*call.inputs, *call.outputs), strict=True):
            if whole is None or cut is None or whole.name not in self.graph.layouts:
                continue
            layout = _band_layout(whole, cut, self.graph.layouts[whole.name])
            if layout is None:
                return None
            layouts[cut.name] = layout
        own = self.bound[node.call.node.name].kernel
        if own is not None and own.accepts(call) is None and _fits(own, call, layouts):
            return Band(call, own, layouts)
        for candidate in candidates(call, self.offered.get(call.node.op, ()), {}, self.order):
            if candidate.refusal is None and _fits(candidate.kernel, call, layouts):
                return Band(call, candidate.kernel, layouts)
        return None


def _row_moves(kernels: Sequence[Kernel]) -> RowMoves:
    """What a kernel of Relayout that the core runs declares, else moves by words."""
    said = (each.methods.row_moves for each in kernels if each.op == "Relayout" and not each.refusal)
    return next((moves for moves in said if moves is not None), BY_WORDS)


def _band_layout(whole: Tensor, cut: Tensor, layout: Layout) -> Layout | None:
    """Layout of an operand or result of a band; None where a band of it cannot be had."""
    if cut is whole:
        return layout if layout.axis_strides(whole.shape) is not None else None
    return row_layout(whole, layout, cut.shape[2] if len(cut.shape) > 2 else 0)


def _row_wise(bound: BoundNode) -> RowWise | str:
    if bound.kernel is None:
        return "it is a view"
    return row_wise(bound.call)


def _only_readers(graph: BoundGraph) -> dict[str, str]:
    """Node to the only node that reads its only result, where that is no output of the network."""
    readers: dict[str, list[str]] = {}
    for bound in graph.nodes:
        for tensor in dict.fromkeys(t.name for t in bound.call.inputs if t is not None):
            readers.setdefault(tensor, []).append(bound.call.node.name)
    sole = {}
    for bound in graph.nodes:
        made = [t.name for t in bound.call.outputs]
        if len(made) == 1 and made[0] not in graph.model.outputs and len(readers.get(made[0], ())) == 1:
            sole[bound.call.node.name] = readers[made[0]][0]
    return sole


def _feed(before: Call, call: Call) -> tuple[int, ...]:
    """Operands of a call that are the result of the call before."""
    made = before.outputs[0].name
    return tuple(index for index, tensor in enumerate(call.inputs) if tensor is not None and tensor.name == made)


def _form(bound: BoundNode, layouts: Mapping[str, Layout]) -> Form:
    call, kernel = bound.call, bound.kernel
    tensors = tuple(
        None if t is None else (t.dtype, t.shape, t.quantisation is None, layouts.get(t.name))
        for t in (*call.inputs, *call.outputs)
    )
    attributes = tuple((name, repr(value)) for name, value in sorted(call.node.attributes.items()))
    bound_by = None if kernel is None else (kernel.platform, kernel.name)
    return (call.node.domain, call.node.op, call.opset, attributes, tensors, tuple(call.constants), bound_by)


def _steps(
    nodes: Sequence[RowWise], feeds: Sequence[tuple[int, ...]], rows: int, most_before: int | None
) -> list[WalkedNode]:
    """Rows of a call of every node, so that a call of the next finds about what it reads, or at most so many of the
    nodes before the last; empty where none serve.
    """
    steps: list[WalkedNode] = []
    for number in reversed(range(len(nodes))):
        node, after = nodes[number], steps[0] if steps else None
        if after is not None:
            rows = min(node.rows, most_before or after.rows * after.reads.stride)
        if node.handed_over:
            rows = next(count for count in range(rows, 0, -1) if node.rows % count == 0)
        reads = {node.maps[index] for index in feeds[number] or tuple(node.maps)[:1]}
        outside = [index for index in node.maps if index not in feeds[number]] if number else []
        if len(reads) != 1 or any(node.maps[index] != ALIKE for index in outside):
            return []
        (read,) = reads
        if number and read.stride > read.extent:
            return []
        steps.insert(0, WalkedNode(read, rows, node.rows))
    return steps


def _fits(kernel: Kernel, call: Call, layouts: Mapping[str, Layout]) -> bool:
    """True where the kernel takes and gives the layouts that bands have."""
    if kernel.layout == ("any", "any"):
        return True
    results = {t.name: layouts[t.name] for t in call.outputs}
    return not demanded(kernel.layout, call, layouts) and resulting(kernel.layout, call, layouts) == results


def with_chains(graph: BoundGraph, chains: Sequence[BoundNode]) -> BoundGraph:
    """The graph in which each chain stands in the place of its last node, and its other nodes and tensors are gone."""
    last = {chain.parts[-1].call.node.name: chain for chain in chains}
    gone = {part.call.node.name for chain in chains for part in chain.parts}
    inner = {t.name for chain in chains for part in chain.parts[:-1] for t in part.call.outputs}
    nodes = [
        last.get(bound.call.node.name, bound)
        for bound in graph.nodes
        if bound.call.node.name in last or bound.call.node.name not in gone
    ]
    layouts = {name: layout for name, layout in graph.layouts.items() if name not in inner}
    return replace(graph, nodes=tuple(nodes), layouts=layouts)
