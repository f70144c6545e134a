"""Every body, combination and finish as C against its meaning in NumPy, on the numbers where they could differ."""

from __future__ import annotations

import ctypes
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tilewright.codegen.c_types import C_TYPES
from tilewright.conformance.program import STRICT
from tilewright.model import Array, DType
from tilewright.ops.index.body import BODIES, COMBINES, FINISHES
from tilewright.platforms.generic.kernels import nest_expressions
from tilewright.platforms.generic.kernels.nest_expressions import body_text, combine_text, finish_text, literal, local

INF, NAN = float("inf"), float("nan")
REALS = (-INF, -7.5, -3.0, -1.0, -0.5, -0.0, 0.5, 1.0, 3.0, 7.5, INF, NAN)
LOGIC, BITS = ("not", "and", "or", "xor"), ("bit_not", "bit_and", "bit_or", "bit_xor", "shift_left", "shift_right")
COMPARISONS = ("equal", "greater", "less", "greater_equal", "less_equal", "is_nan", "is_inf")
PARAMETERS: dict[str, tuple[tuple[float, ...], ...]] = {
    "clip": ((-1, 3), (3, -1), (1, 1)), "scale": ((3,),), "leaky_relu": ((0.1,),), "thresholded_relu": ((1.0,),),
    "elu": ((1.5,),), "selu": ((1.67, 1.05),), "celu": ((2.0,),), "hard_sigmoid": ((0.2, 0.5),), "swish": ((1.0,),),
    "shrink": ((3, 2),), "abs_pow": ((3.0,),), "is_inf": ((1, 0), (0, 1), (1, 1)), "batch_norm": ((1e-3,),),
    "normalise": ((1e-3,),), "rms_scale": ((1e-3,),), "standardise": ((1e-3,),), "lrn": ((0.5, 0.75, 1.0),),
    "select_equal": ((9,),), "quantise": ((-128, 127),),
}  # fmt: skip
ARITY = {"normalise": 5, "quantise": 3, "select_equal": 3, "min": 4, "max": 4, "sum": 4, "mean": 4}
OTHERWISE_TESTED = {"cast", "dequantise", "mul_offsets"}
"""Their operands or results are of several types: the standard's cases and the networks of codes run them."""

NOT_FOR_INTEGERS = {"exp", "log", "sqrt", "reciprocal", "pow", "mean", "copy"}
PER_OPERAND = {1: 12, 2: 12, 3: 6, 4: 4, 5: 3}


@dataclass(frozen=True)
class Case:
    name: str
    kind: DType
    parameters: tuple[float, ...]
    operands: tuple[Array, ...]
    result: DType


def edges(kind: DType) -> Array:
    if kind is DType.BOOL:
        return np.array([False, True])
    if kind.is_float:
        return np.array(REALS, kind.numpy)
    low, high = kind.range
    return np.array(sorted({low, low + 1, *range(max(low, -3), 4), kind.bits, 33, high - 1, high}), kind.numpy)


def grid(kind: DType, count: int, *, logical_first: bool = False) -> tuple[Array, ...]:
    values = edges(kind)
    step = max(1, len(values) // PER_OPERAND[count])
    columns = [[False, True] if logical_first and not i else values[i % step :: step].tolist() for i in range(count)]
    rows = list(product(*columns))
    kinds = [DType.BOOL if logical_first and not i else kind for i in range(count)]
    return tuple(np.array(column, k.numpy) for column, k in zip(zip(*rows, strict=True), kinds, strict=True))


def arity(name: str, kind: DType) -> int:
    if name in ARITY:
        return ARITY[name]
    table = nest_expressions.FLOAT if kind.is_float else nest_expressions.INTEGER
    letters = set(re.findall(r"\b([a-e])\b", re.sub(r"\{\w+\}", "", table.get(name, "a"))))
    return 1 + max(map("abcde".index, letters), default=0)


def cases() -> list[Case]:
    found = []
    for kind in (DType.F32, DType.F64, DType.I8, DType.U8, DType.I32, DType.U32, DType.I64, DType.U64, DType.BOOL):
        for name in BODIES.keys() - OTHERWISE_TESTED:
            table = nest_expressions.FLOAT if kind.is_float else nest_expressions.INTEGER
            known = name in table or name in (
                *nest_expressions.VARIADIC,
                "clip",
                "normalise",
                "quantise",
                "select_equal",
            )
            mine = LOGIC if kind is DType.BOOL else BODIES.keys() - set(LOGIC) - (set(BITS) if kind.is_float else set())
            if not known or name not in mine or (not kind.is_float and name in NOT_FOR_INTEGERS):
                continue
            if not kind.is_float and name in ("normalise", "quantise"):
                continue
            operands = grid(kind, arity(name, kind), logical_first=name == "where")
            result = DType.BOOL if name in (*LOGIC, *COMPARISONS) else kind
            for parameters in PARAMETERS.get(name, ((),)):
                low = kind.range[0] if not kind.is_float else -INF
                if min(parameters, default=0) >= low:
                    found.append(Case(name, kind, parameters, operands, result))
    return found


def function(number: int, case: Case) -> str:
    kinds = [DType.BOOL if a.dtype == bool else case.kind for a in case.operands]
    text = body_text(case.name, kinds, case.result, case.parameters)
    assert text is not None, case
    listed = "".join(f"const {C_TYPES[kind]} *x{i}, " for i, kind in enumerate(kinds))
    lines = [f"const {C_TYPES[kind]} {local(i)} = x{i}[i];" for i, kind in enumerate(kinds)]
    lines += [f"const {C_TYPES[case.kind]} {name} = {value};" for name, value in text.steps]
    y = C_TYPES[case.result]
    body = " ".join([*lines, f"y[i] = ({y})({text.value});"])
    head = f"void body_{number}({listed}{y} *y, int n)"
    return f"{head};\n{head}\n{{\n    for (int i = 0; i < n; i++) {{ {body} }}\n}}\n"


def library(texts: Sequence[str], folder: Path) -> ctypes.CDLL:
    source = folder / "expressions.c"
    includes = "#include <math.h>\n#include <stdint.h>\n"
    source.write_text(includes + "".join(texts))
    made = folder / "expressions.so"
    command: list[str | Path] = ["gcc", "-std=c99", "-O1", *STRICT, "-shared", "-fPIC", source, "-o", made, "-lm"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:3000]
    return ctypes.CDLL(str(made))


def pointers(arrays: Sequence[Array]) -> list[Any]:
    return [array.ctypes.data_as(ctypes.c_void_p) for array in arrays]


def test_bodies_mean_in_c_what_they_mean_in_numpy(tmp_path: Path) -> None:
    made = cases()
    assert {case.name for case in made} == BODIES.keys() - OTHERWISE_TESTED
    loaded = library([function(number, case) for number, case in enumerate(made)], tmp_path)
    for number, case in enumerate(made):
        got = np.empty(case.operands[0].shape, case.result.numpy)
        loaded[f"body_{number}"](*pointers([*case.operands, got]), got.size)
        with np.errstate(all="ignore"):
            wanted = np.asarray(BODIES[case.name].function(*case.operands, *case.parameters))
        exact = case.result.numpy.kind != "f"
        label = f"{case.name} of {case.kind.value} with {case.parameters}"
        np.testing.assert_allclose(
            got.astype(wanted.dtype), wanted, rtol=0 if exact else 3e-6, atol=0 if exact else 1e-6, err_msg=label
        )


@pytest.mark.parametrize("kind", [DType.F32, DType.I8, DType.I32, DType.U8])
def test_combinations_take_in_every_term(kind: DType, tmp_path: Path) -> None:
    names = [name for name in COMBINES if (name in ("or", "and")) == (kind is DType.U8)]
    texts, c_type = [], C_TYPES[kind]
    for name in names:
        head = f"void {name}_all(const {c_type} *x, {c_type} *y, int n)"
        start = literal(kind, COMBINES[name].start(kind.numpy).item())
        taken = combine_text(name, kind, c_type)
        loop = f"for (int i = 0; i < n; i++) {{ const {c_type} term = x[i]; {taken} y[i] = acc; }}"
        texts.append(f"{head};\n{head}\n{{\n    {c_type} acc = {start};\n    {loop}\n}}\n")
    loaded = library(texts, tmp_path)
    logical = kind is DType.U8
    terms = np.array([0, 1, 0, 1], np.uint8) if logical else np.repeat(edges(kind)[::-1], 2)
    for name in names:
        got = np.empty_like(terms)
        loaded[f"{name}_all"](*pointers([terms, got]), terms.size)
        ufunc = COMBINES[name].ufunc
        with np.errstate(all="ignore"):
            first = COMBINES[name].start(kind.numpy)
            wanted = terms if ufunc is None else [reduce(ufunc, terms[: i + 1], first) for i in range(terms.size)]
        np.testing.assert_array_equal(got, np.asarray(wanted).astype(got.dtype), err_msg=name)


def test_finishes_mean_in_c_what_they_mean_in_numpy(tmp_path: Path) -> None:
    parameters = {"pad_value": (9.0,), "scale": (3.0,), "scale_add": (2.0, 0.5), "root": (3.0,), "inverse_root": (0.1,)}
    texts = []
    for name in FINISHES:
        head = f"void {name}_all(const float *x, const int *count, const float *more, float *y, int n)"
        value = finish_text(name, DType.F32, parameters.get(name, ()), "float")
        step = "const float acc = x[i], e0 = more[i]; const int points = count[i]; (void)e0; (void)points; "
        step += f"y[i] = {value};"
        texts.append(f"{head};\n{head}\n{{\n    for (int i = 0; i < n; i++) {{ {step} }}\n}}\n")
    loaded = library(texts, tmp_path)
    totals, counts = np.array([-2.0, 0.5, 4.0, NAN, INF, 8.0], np.float32), np.array([1, 3, 0, 2, 5, 4], np.int32)
    more = np.array([1.0, -2.0, 0.25, 3.0, 0.5, -1.0], np.float32)
    for name, meaning in FINISHES.items():
        got: Array = np.empty_like(totals)
        loaded[f"{name}_all"](*pointers([totals, counts, more, got]), got.size)
        given = (more,) if name in ("add", "scale_add", "pad_operand") else ()
        with np.errstate(all="ignore"):
            wanted = meaning.function(totals, counts, *given, *parameters.get(name, ()))
        np.testing.assert_allclose(got, wanted, rtol=1e-6, err_msg=name)
