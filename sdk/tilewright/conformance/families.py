"""The families of random calls, by the words with which operators name theirs (`Operator.sketch`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tilewright.conformance import draws as d
from tilewright.conformance import draws_codes as c
from tilewright.conformance import draws_gradients as g
from tilewright.conformance import draws_micro as micro
from tilewright.conformance import draws_moves as m
from tilewright.conformance.draws_descent import descent, descent_pair, pooled_conv
from tilewright.conformance.draws_lengths import selected, suppressed
from tilewright.conformance.draws_packed import packed_weights
from tilewright.conformance.draws_trees import trees
from tilewright.ops.operator import Operator
from tilewright.ops.registry import named

FAMILIES: Mapping[str, d.Sketcher] = {
    "along": d.along(), "attention": m.attention, "bias_descent": g.bias_descent, "blocks": m.blocks,
    "broadcast": d.broadcast, "cache": m.cache,
    "cast": d.cast, "clip": d.clip, "code_descent": g.code_descent, "code_product": c.code_product,
    "code_rows": c.code_rows,
    "coded_attention": c.coded_attention, "coded_lstm": c.coded_lstm, "concat": m.concat,
    "conv": d.conv, "conv_integer": d.conv_integer, "conv_transpose": d.conv_transpose, "cut": m.cut,
    "descent": descent, "descent_pair": descent_pair,
    "dynamic": m.dynamic, "expand": m.expand, "gather": m.gather, "gemm": d.gemm,
    "gradient_codes": g.gradient_codes, "gradient_mask": g.gradient_mask, "gradient_max_pool": g.gradient_max_pool,
    "gradient_mean_pool": g.gradient_mean_pool, "gradient_slopes": g.gradient_slopes, "gradient_sum": g.gradient_sum,
    "half_attention": c.half_attention, "image": d.image,
    "layer_norm": d.layer_norm, "matmul": d.matmul, "matmul_integer": d.matmul_integer,
    "micro_product": micro.wide_product, "micro_rows": micro.rows, "micro_sums": micro.running_rows,
    "normalised_by_four": d.per_channel(4), "normalised_by_two": d.per_channel(2),
    "normalised_in_groups": d.per_channel(2, num_groups=2), "packed_weights": packed_weights, "pad": m.pad,
    "places": d.along(keepdims=(0, 1), select_last_index=(0, 1)), "pool": d.pool,
    "pooled_conv": pooled_conv, "prelu": d.prelu, "put": m.put,
    "quantising": m.quantising, "recurrent": m.recurrent, "reduce": d.reduce, "resize": m.resize, "rotary": m.rotary,
    "row_codes": c.row_codes, "running": d.running, "sampled": m.sampled, "scatter": m.scatter, "selected": selected,
    "sequences": m.sequences, "shift": m.shift, "spectrum": m.spectrum, "split": m.split, "squares": m.squares,
    "suppressed": suppressed, "top_k": d.top_k, "transpose": m.transpose, "trees": trees, "tuples": m.tuples,
    "unary": d.unary, "unpool": m.unpool, "variadic": d.variadic, "where": d.where, "windowed": m.windowed,
}  # fmt: skip
"""Operators that name none are covered by the cases of the standard."""
UNSETTLED = frozenset(("attention", "resize", "sampled", "spectrum", "squares"))
"""Where infinities meet weights of zero or each other, in an order that neither the standard nor a kernel promises."""


def drawn_operator(op: str) -> Operator | None:
    """The operator of this name that says how it is drawn; None where there is none."""
    return next((each for each in named(op) if each.sketch), None)


def sketch_of(operator: Operator, r: d.Draw) -> d.Sketch:
    """One random call of an operator that says how it is drawn."""
    return replace(FAMILIES[operator.sketch](r, operator.name), domain=operator.domain)
