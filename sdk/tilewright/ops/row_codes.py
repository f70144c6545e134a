"""Products of rows that are coded as they come: RowCodes, CodeProduct, and CodeRows, which takes rows of a table.

The passes make them of standard operators; no file contains them. All three are exact: integers, and float32
operations whose order is fixed.
"""

from __future__ import annotations

from math import prod

import numpy as np

from tilewright.model import Array, DType
from tilewright.ops.facts import Reads, indices
from tilewright.ops.index.build import axes, operand
from tilewright.ops.index.nest import Nest, Space, Tensor
from tilewright.ops.operands import Arrays, checked_indices, given, needs_index, result
from tilewright.ops.operator import Call, Operator, TensorType
from tilewright.ops.relayout import DOMAIN

HIGHEST = 127
_CODES = (DType.I8, DType.I4)


def code_block(call: Call) -> int:
    """Weights that share a factor: all of a row where the attribute is 0."""
    width = call.shape(2 if call.node.op == "CodeProduct" else 0)[1]
    return call.integer("block", 0) or width


def highest_code(call: Call) -> int:
    """The code of a row's largest element: of eight bits, or of fewer where the attribute says so."""
    return call.integer("highest", HIGHEST)


def _row_codes(call: Call) -> tuple[TensorType, ...]:
    x = call.tensor(0)
    if x.dtype is not DType.F32 or not x.shape or not x.shape[-1]:
        raise call.invalid(f"rows of float32 are coded, not {x.dtype.value}{list(x.shape)}")
    if not 0 < highest_code(call) <= HIGHEST:
        raise call.invalid(f"{highest_code(call)} is no highest code of eight bits")
    return result(call, DType.I8, x.shape), result(call, DType.F32, (*x.shape[:-1], 1))


def _coded(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    x, highest = given(arrays, 0), highest_code(call)
    least = np.float32(call.real("least"))
    with np.errstate(invalid="ignore", over="ignore"):
        most = np.fmax(np.fmax.reduce(np.abs(x), -1, keepdims=True), least).astype(np.float32)
        scaled = x * (np.float32(highest) / most)
        limited = np.where(scaled > highest, highest, np.where(scaled >= -highest, scaled, -highest))
    return np.rint(limited).astype(np.int8), most


def _table(call: Call, codes: int, factors: int) -> tuple[int, int]:
    """Outputs and inputs of rows of weights, whose blocks and types fit."""
    weights, shares = call.tensor(codes), call.tensor(factors)
    if len(weights.shape) != 2 or weights.dtype not in _CODES or shares.dtype is not DType.I8:
        raise call.invalid("weights must be rows of int8 or int4 with factors of int8")
    outputs, inputs = weights.shape
    block = call.integer("block", 0) or inputs
    if not inputs or shares.shape != (outputs, -(-inputs // block)):
        raise call.invalid(f"factors {shares.shape} do not fit weights {weights.shape} in blocks of {block}")
    return outputs, inputs


def _product(call: Call) -> tuple[TensorType, ...]:
    outputs, inputs = _table(call, 2, 3)
    x, most = call.tensor(0), call.tensor(1)
    if x.dtype is not DType.I8 or x.shape[-1:] != (inputs,) or most.shape != (*x.shape[:-1], 1):
        raise call.invalid(f"rows {x.shape} with {most.shape} do not fit weights {call.shape(2)}")
    return (result(call, DType.F32, (*x.shape[:-1], outputs)),)


def _summed(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    x, most, weights, factors = (given(arrays, index) for index in range(4))
    block = code_block(call)
    sums = np.zeros((*x.shape[:-1], len(weights)), np.int64)
    for number, begin in enumerate(range(0, weights.shape[1], block)):
        part = slice(begin, begin + block)
        sums = sums + (x[..., part].astype(np.int64) @ weights[:, part].T.astype(np.int64)) * factors[:, number]
    with np.errstate(over="ignore", invalid="ignore"):
        return ((sums.astype(np.float32) * (most * np.float32(call.real("unit")))).astype(np.float32),)


def _rows(call: Call) -> tuple[TensorType, ...]:
    _, inputs = _table(call, 0, 1)
    needs_index(call, 2)
    return (result(call, DType.F32, (*call.shape(2), inputs)),)


def _taken(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    weights, factors, index = given(arrays, 0), given(arrays, 1), given(arrays, 2)
    at = checked_indices(call, index, len(weights), 2)
    spread = np.repeat(factors[at], code_block(call), axis=-1)[..., : weights.shape[1]]
    step = np.float32(call.real("unit"))
    codes = weights[at].astype(np.float32)
    if call.tensor(0).dtype is DType.I8:
        return (codes * (spread.astype(np.float32) * step),)
    return ((codes * spread.astype(np.float32)) * step,)


def _reads(call: Call, operand: int) -> Reads | None:
    rows = call.shape(0)[0]
    return indices(rows, f"numbers of rows of a table of {rows}") if operand == 2 else None


def _products(call: Call) -> int:
    return prod(call.shape(0)) * call.shape(2)[0]


def _row_footprints(call: Call) -> tuple[Nest, ...]:
    """Rows `r0`, `r1`, ..., of which the largest element and every code need all elements `e`."""
    shape = call.shape()
    space = Space.of(**axes("r", shape[:-1]), e=shape[-1])
    *rows, e = space
    x = operand(call.tensor(0), "x")[*rows, e]
    most = Tensor("most", (*shape[:-1], 1), DType.F32)[*rows, 0]
    return Nest(space, most, (x,)), Nest(space, Tensor("codes", shape, DType.I8)[*rows, e], (x, most))


def _product_footprints(call: Call) -> tuple[Nest, ...]:
    """Rows `r0`, `r1`, ..., outputs `n`, inputs `k`; weights lie as their kernel wants them."""
    shape, (outputs, inputs) = call.shape(0), call.shape(2)
    space = Space.of(**axes("r", shape[:-1]), n=outputs, k=inputs)
    *rows, n, k = space
    x, most = operand(call.tensor(0), "x"), operand(call.tensor(1), "most")
    reads = (x[*rows, k], most[*rows, 0])
    return (Nest(space, Tensor("y", (*shape[:-1], outputs), DType.F32)[*rows, n], reads),)


OPERATORS = (
    Operator(
        "RowCodes", _row_codes, _coded, ("x",), ("codes", "most"), footprints=_row_footprints, domain=DOMAIN,
        sketch="row_codes",
    ),
    Operator(
        "CodeProduct", _product, _summed, ("x", "most", "w", "factors"), footprints=_product_footprints, domain=DOMAIN,
        products=_products, sketch="code_product",
    ),
    Operator("CodeRows", _rows, _taken, ("w", "factors", "index"), domain=DOMAIN, sketch="code_rows", reads=_reads),
)  # fmt: skip
