"""When an output replicates the model: code for code, or within a bound that is derived here.

SONNX asks for this criterion (exact or approximate) and for the error of each operator with its derivation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tilewright.compile import Compiled
from tilewright.evidence.document import Bounds, Criterion, InputRange, Replication, Rounding
from tilewright.evidence.error_bounds.compose import (
    Analysis,
    Orders,
    OutputBound,
    analyse,
    at_vector,
    calls_of,
    output_bound,
    over_ranges,
    require_complete,
)
from tilewright.evidence.error_bounds.in_order import Order, by_planes
from tilewright.evidence.error_bounds.likely import CHANCE, likely_errors
from tilewright.evidence.error_bounds.moves import moves
from tilewright.evidence.error_bounds.rules import PRODUCTS
from tilewright.evidence.replays import Replays
from tilewright.model import Array, Model
from tilewright.ops.codes import Converts
from tilewright.ops.operator import Call
from tilewright.plan.plan import ExecutionPlan
from tilewright.platform import KernelMethods, Operands
from tilewright.report.collect import numerics_of
from tilewright.report.text import printable
from tilewright.rows.chain import RowChain

EXACT = ("exact", "proved", "exact_sequence")
BOUNDED = 4
"""Vectors at which bounds are computed; errors are observed at all of them."""
WORDS = {
    "proved": "the 32-bit form that the C computes equals the definition on every sum that these weights can reach",
    "exact_sequence": "the C computes the definition itself, in 64 bits where sums or ties ask for it",
    "exact": "the C computes the operator's integer definition bit for bit, as tests show, not proved here",
}
ASSUMPTIONS = (
    "exact arithmetic is that of real numbers on the constants of the compiled network; constants that the compiler "
    "computed itself (folded batch normalisations) are taken as they are",
    "the target computes float32 by IEEE 754, rounded to nearest, with subnormals; products may be fused into sums",
    "kernels compute no transformed sum; those that declare an order of their sums keep it, as tests show bit for bit, "
    "others add in any order",
    "at the vectors, however roundings fall: every rounding of a sum in a declared order moves its value by half the "
    "distance of floats there, those of other sums are bounded after Higham (2002), all of them in the worst "
    "direction, composed by affine arithmetic; where an error could change the side of a limit, it is a symbol of its "
    "own",
    "in the order of the kernels: products are all fused with sums, or none is; sums in a declared order are computed "
    "again, so that their roundings are known, and what the target gave is held against them; operators without a "
    "declared order keep their bounds",
    "over the ranges: the same rules on intervals; intervals grow from layer to layer, so this bound is wide",
    f"likely: roundings independent and of mean zero (Higham and Mary, 2019); it fails with a chance of {CHANCE:g}",
)


@dataclass(frozen=True)
class Observed:
    """What the target gave for every vector, output by output, and who computed it."""

    vectors: Sequence[Mapping[str, Array]]
    outputs: Sequence[Mapping[str, Array]]
    by: str
    on_target: bool


def replication(
    compiled: Compiled, seen: Observed, ranges: Sequence[InputRange], match: bool | None, match_text: str
) -> Replication:
    """The criterion of every output of the compiled network."""
    model, numerics = compiled.model, numerics_by_node(compiled.plan)
    made = {name: call for call in calls_of(model) for name in call.node.outputs if name}
    reasons = {name: _inexact(name, made, numerics) for name in model.results}
    outputs = list[Criterion]()
    bounded = None
    for name, told in zip(model.results, compiled.plan.output_names, strict=False):
        tensor = model.tensors[name]
        if not reasons[name]:
            statement = _exact_statement(made.get(name), model)
            outputs.append(Criterion(printable(told), tensor.dtype.value, tensor.shape, "exact", statement, None, ()))
            continue
        if bounded is None:
            bounded = _Bounded(compiled, seen, ranges, numerics)
        outputs.append(bounded.criterion(name, told, reasons[name]))
    proved = tuple(
        Rounding(printable(node), made_by.node.op, WORDS.get(how, how), 0.0)
        for node, how in numerics.items()
        if how in EXACT and (made_by := _call_named(made, node)) is not None
    )
    assumptions = ASSUMPTIONS if bounded is not None else ()
    return Replication(tuple(outputs), tuple(ranges), assumptions, proved, match, match_text)


def numerics_by_node(plan: ExecutionPlan) -> dict[str, str]:
    """What the kernel of every node declares, or what was proved of this very layer."""
    declared = dict[str, str]()
    for one in plan.instructions:
        if one.aliasing is not None:
            declared[one.name] = "exact"
        elif isinstance(one.kernel.methods, RowChain):
            for stage in one.kernel.methods.stages:
                declared[stage.node.call.node.name] = numerics_of(stage.node.call, stage.kernel.numerics)
        else:
            declared[one.name] = numerics_of(one.call, one.kernel.numerics)
    return declared


def declared_orders(plan: ExecutionPlan) -> Orders:
    """The nodes whose kernels add terms one behind the other, with the order of a product's inputs in memory."""
    orders = dict[str, Order]()
    for one in plan.instructions:
        if one.aliasing is not None:
            continue
        if isinstance(one.kernel.methods, RowChain):
            stages = one.kernel.methods.stages
            added = (s for s in stages if s.kernel.methods.adds_in_order(s.node.call))
            orders |= {s.node.call.node.name: _conv_order(s.band.operands, s.kernel.methods) for s in added}
        elif one.kernel.methods.adds_in_order(one.call):
            layout = plan.slots[one.inputs[0]].layout
            if one.call.node.op in PRODUCTS and not layout.is_default:
                orders[one.name] = tuple(layout.pack(np.arange(layout.elements)).tolist())
            else:
                layouts = {one.call.tensor(0).name: layout}
                orders[one.name] = _conv_order(Operands(one.call, layouts), one.kernel.methods)
    return orders


def _conv_order(operands: Operands, methods: KernelMethods) -> Order:
    """The terms of a convolution as its kernel adds them; empty in the order that all others add in."""
    call = operands.call
    return tuple(by_planes(call.constants[1])) if call.node.op == "Conv" and methods.adds_planes(operands) else ()


def _call_named(made: Mapping[str, Call], node: str) -> Call | None:
    return next((call for call in made.values() if call.node.name == node), None)


def _inexact(output: str, made: Mapping[str, Call], numerics: Mapping[str, str]) -> str:
    """Why an output is not exact: the first node before it that rounds floats; empty where there is none."""
    waiting, met = [output], set[str]()
    while waiting:
        call = made.get(waiting.pop())
        if call is None or call.node.name in met:
            continue
        met.add(call.node.name)
        waiting += [name for name in call.node.inputs if name]
        how = numerics.get(call.node.name, "exact")
        border = isinstance(call.codes, Converts)
        floats = any(t.dtype.is_float and t.quantisation is None for t in call.outputs)
        if how not in EXACT or (floats and not border and not moves(call)):
            return f"node '{printable(call.node.name)}' ({call.node.op}) computes in floats"
    return ""


def _exact_statement(call: Call | None, model: Model) -> str:
    arithmetic = "the operators' integer definitions on the model's scales: exact sums, codes rounded half to even"
    if model.numerics != "exact":
        arithmetic = "TensorFlow Lite Micro's arithmetic with two roundings"
    if call is not None and call.node.op == "DequantizeLinear":
        return (
            f"exact: every code equals that of {arithmetic}; the float is scale * (code - zero point), one float32 "
            "operation, so it equals the standard's bit for bit"
        )
    return f"exact: every element equals that of {arithmetic}; criterion of replication: equal bits"


class _Bounded:
    """Bounds of the float outputs of a network, computed once for all of them."""

    def __init__(
        self, compiled: Compiled, seen: Observed, ranges: Sequence[InputRange], numerics: Mapping[str, str]
    ) -> None:
        self.model, self.seen = compiled.model, seen
        declared = {name: float(how) for name, how in numerics.items() if how not in EXACT}
        vectors, orders = seen.vectors[:BOUNDED], declared_orders(compiled.plan)
        self.at: list[Analysis] = [
            analyse(self.model, at_vector(self.model, v), declared, orders=orders) for v in vectors
        ]
        for analysis in self.at:
            require_complete(self.model, analysis)
        self.likely = [likely_errors(self.model, at_vector(self.model, v), declared, orders) for v in vectors]
        self.replays = Replays(self.model, seen.vectors, declared, orders)
        boxes = {each.input: (each.low, each.high) for each in ranges}
        whole = all(name in boxes for name in self.model.inputs) and not self.model.states
        self.over = (
            analyse(self.model, over_ranges(self.model, boxes), declared, follow_back=False, orders=orders)
            if whole
            else None
        )

    def criterion(self, name: str, told: str, why: str) -> Criterion:
        """The criterion of one output."""
        tensor = self.model.tensors[name]
        refused = next((a.refused[name] for a in self.at if name in a.refused), None)
        if refused is not None or not self.at:
            at, sentence = refused or ("", "no bound: there is no vector")
            statement = f"{why}; {sentence}" + (f" (node '{printable(at)}')" if at else "")
            return Criterion(printable(told), tensor.dtype.value, tensor.shape, "none", statement, None, self._steps())
        bounds = [output_bound(analysis, name) for analysis in self.at]
        certain = max(float(bound.certain.max(initial=0.0)) for bound in bounds)
        over = self.over.known[name].error if self.over is not None and name in self.over.known else None
        in_order, order = self.replays.bound(name, told, self.seen.outputs)
        if not self.seen.on_target:
            in_order, order = None, "there is none, because the target did not run"
        values = Bounds(
            over_ranges=None if over is None else float(over.max(initial=0.0)),
            at_vectors=certain,
            in_order=in_order,
            order=order,
            likely=max(
                float(np.minimum(likely[name], bound.certain).max(initial=0.0))
                for likely, bound in zip(self.likely, bounds, strict=True)
            ),
            chance=CHANCE,
            observed=self._observed(name, told),
            vectors=len(self.seen.vectors),
        )
        statement = f"bound: {why}; |C - exact| is at most " + ", ".join(
            [f"{certain:.3g} at the vectors given however roundings fall"]
            + ([] if in_order is None else [f"{in_order:.3g} there in the order that the kernels declare"])
            + ([] if over is None else [f"{values.over_ranges:.3g} for every input in the ranges"])
        )
        steps = self._steps(max(bounds, key=lambda bound: float(bound.certain.max(initial=0.0))))
        return Criterion(printable(told), tensor.dtype.value, tensor.shape, "bound", statement, values, steps)

    def _observed(self, name: str, told: str) -> float | None:
        """The largest difference between the target's output and exact arithmetic over all vectors."""
        differences = [
            float(np.abs(given[told].astype(np.float64) - analysis.known[name].centre).max(initial=0.0))
            for analysis, given in zip(self.replays.analyses[False], self.seen.outputs, strict=False)
            if told in given and name in analysis.known
        ]
        return max(differences) if differences else None

    def _steps(self, bound: OutputBound | None = None) -> tuple[Rounding, ...]:
        """What every node adds at the first vector, or why it has no bound."""
        if not self.at:
            return ()
        first, brought = self.at[0], {} if bound is None else bound.parts
        refused = {node: why for node, why in first.refused.values()}
        own = {f.node: f for f in reversed(first.steps)}
        rows = list[Rounding]()
        for node in self.model.nodes:
            if node.name in refused:
                rows.append(Rounding(printable(node.name), node.op, "", None, refused[node.name]))
            elif node.name in own:
                share = brought.get(node.name)
                fresh = own[node.name].step.fresh
                size = share if share is not None else float(fresh.max(initial=0.0))
                rows.append(Rounding(printable(node.name), node.op, own[node.name].step.rule, size))
        return tuple(rows)


def ranges_of(
    model: Model, given: Mapping[str, tuple[float, float]], vectors: Sequence[Mapping[str, Array]], drawn: bool
) -> tuple[InputRange, ...]:
    """The range of every input: as declared, else the one that the vectors span."""
    ranges = list[InputRange]()
    for name in model.inputs:
        if name in given:
            ranges.append(InputRange(printable(name), *given[name], "declared with --range"))
        elif vectors and name in vectors[0]:
            low = min(float(vector[name].min(initial=0)) for vector in vectors)
            high = max(float(vector[name].max(initial=0)) for vector in vectors)
            origin = "drawn at random" if drawn else "of --inputs"
            ranges.append(InputRange(printable(name), low, high, f"spanned by the vectors, {origin}"))
    return tuple(ranges)
