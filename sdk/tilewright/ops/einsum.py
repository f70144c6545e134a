"""Einsum: sums of products named by letters, with ellipsis and repeated letters."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import prod

import numpy as np

from tilewright.model import Array
from tilewright.ops.clamp import clamped
from tilewright.ops.index.body import body, combine
from tilewright.ops.index.build import operand
from tilewright.ops.index.nest import Nest, Space, Tensor
from tilewright.ops.operands import LIMIT_BYTES, Arrays, broadcast, given, result
from tilewright.ops.operator import Call, Operator, TensorType
from tilewright.ops.products import pairs
from tilewright.ops.torch import Torch


@dataclass(frozen=True)
class Equation:
    """Letters per axis of each operand and of the result; ellipsis axes are named by upper digits `\\x00`, `\\x01`, ...

    `extents` gives the size of every letter.
    """

    operands: tuple[tuple[str, ...], ...]
    result: tuple[str, ...]
    extents: dict[str, int]


def equation(call: Call) -> Equation:
    """The equation of the node, resolved against the shapes of its operands."""
    text = call.text("equation").replace(" ", "")
    if not re.fullmatch(r"[A-Za-z.,]*(->[A-Za-z.]*)?", text):
        raise call.invalid(f"the equation '{text[:80]}' holds other characters than letters, dots and commas")
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(call.inputs):
        raise call.invalid(f"the equation '{text[:80]}' names {len(terms)} operands, there are {len(call.inputs)}")
    widest = max(
        (len(call.shape(i)) - len(_letters(call, term)) for i, term in enumerate(terms) if "..." in term), default=0
    )
    operands: list[tuple[str, ...]] = []
    extents: dict[str, int] = {}
    for index, term in enumerate(terms):
        names, shape = _resolve(call, term, widest, len(call.shape(index))), call.shape(index)
        if len(names) != len(shape):
            raise call.invalid(f"'{term}' does not fit the shape {shape}")
        if len(set(zip(names, shape, strict=True))) != len(set(names)):
            raise call.invalid(f"'{term}' repeats a letter, the shape {shape} has different sizes there")
        for name, size in zip(names, shape, strict=True):
            extents[name] = broadcast(call, (extents.get(name, 1),), (size,))[0]
        operands.append(names)
    return Equation(tuple(operands), _result(call, terms, operands, right if arrow else None, widest), extents)


def _letters(call: Call, term: str) -> str:
    letters = term.replace("...", "", 1)
    if "." in letters:
        raise call.invalid(f"'{term}' has dots that are no ellipsis")
    return letters


def _resolve(call: Call, term: str, widest: int, rank: int | None) -> tuple[str, ...]:
    letters = _letters(call, term)
    if "..." not in term:
        return tuple(letters)
    count = widest if rank is None else rank - len(letters)
    if count < 0:
        raise call.invalid(f"'{term}' names more axes than its operand has")
    before = term.index("...")
    return (*term[:before], *(chr(widest - count + place) for place in range(count)), *term[before + 3 :])


def _result(
    call: Call, terms: list[str], operands: list[tuple[str, ...]], right: str | None, widest: int
) -> tuple[str, ...]:
    if right is not None:
        names = _resolve(call, right, widest, None)
        missing = set(names) - {name for operand in operands for name in operand}
        if missing - {chr(place) for place in range(widest)} or len(set(names)) != len(names):
            raise call.invalid(f"the result '{right}' repeats letters or names some that no operand has")
        return names
    every = "".join(_letters(call, term) for term in terms)
    once = tuple(sorted(letter for letter in set(every) if every.count(letter) == 1))
    return (*(chr(place) for place in range(widest)), *once)


def _infer(call: Call) -> tuple[TensorType, ...]:
    parsed, first = equation(call), call.tensor(0)
    for index in range(len(call.inputs)):
        if call.tensor(index).dtype is not first.dtype:
            raise call.invalid("its operands differ in type")
    if prod(parsed.extents.values()) > LIMIT_BYTES * 64:
        raise call.unsupported(f"{prod(parsed.extents.values())} products are too many")
    return (result(call, first.dtype, [parsed.extents[name] for name in parsed.result]),)


def _evaluate(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    parsed = equation(call)
    numbers = {name: index for index, name in enumerate(parsed.extents)}
    arguments: list[object] = []
    for index, names in enumerate(parsed.operands):
        x = given(arrays, index)
        wide = x.astype(np.float32) if x.dtype == np.float16 else x
        arguments += [wide, [numbers[name] for name in names]]
    value = np.einsum(*arguments, [numbers[name] for name in parsed.result], optimize=len(arrays) > 2)  # type: ignore[call-overload]
    return (clamped(call, np.asarray(value).astype(call.outputs[0].dtype.numpy)),)


def _nests(call: Call) -> tuple[Nest, ...]:
    """One nest where there are one or two operands; letters name loops `i_`, `j_`, those of an ellipsis `d0`, `d1`."""
    (kind,), parsed = _infer(call), equation(call)
    if len(parsed.operands) > 2 or 0 in parsed.extents.values():
        return ()
    space = Space(tuple((_loop(name), size) for name, size in parsed.extents.items()))
    loops = dict(zip(parsed.extents, space, strict=True))
    sources = [operand(call.tensor(index), f"x{index}") for index in range(len(call.inputs))]
    accesses = tuple(
        source[*(0 if size == 1 else loops[name] for name, size in zip(names, source.shape, strict=True))]
        for source, names in zip(sources, parsed.operands, strict=True)
    )
    y = Tensor("y", kind.shape, kind.dtype)[*(loops[name] for name in parsed.result)]
    return (Nest(space, y, accesses, body("mul" if len(accesses) == 2 else "copy"), combine("add")),)


def _loop(name: str) -> str:
    return f"{name}_" if name.isalpha() else f"d{ord(name)}"


OPERATORS = (Operator("Einsum", _infer, _evaluate, ("x...",), nests=_nests, torch=Torch(writer="einsum"), work=pairs),)
