"""C for every body, combination and finish of the index maps' vocabulary (`tilewright.ops.index.body`).

Operands are written a, b, c, d, e and printed as the local variables `e0`, `e1`, ...; parameters p, q, r are printed as
literals. Bodies of any number of operands are printed from that number. Floats of 16 bits are computed in `float`.
Unsigned arithmetic gives integers their two's complement wrap without undefined behaviour.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from tilewright.numerics import C_TYPES, is_half, loaded, stored
from tilewright.numerics import literal as c_literal
from tilewright.platform import DType

LETTERS = "abcde"
VARIADIC = ("min", "max", "sum", "mean")

FLOAT = {
    "copy": "a", "add": "a + b", "sub": "a - b", "mul": "a * b", "div": "a / b", "neg": "-a", "abs": "fabs{f}(a)",
    "mod": "(fmod{f}(a, b) != {zero} && (fmod{f}(a, b) < {zero}) != (b < {zero})) ? fmod{f}(a, b) + b : fmod{f}(a, b)",
    "fmod": "fmod{f}(a, b)", "pow": "pow{f}(a, b)", "square": "a * a", "reciprocal": "{one} / a",
    "sign": "(a > {zero} ? {one} : a < {zero} ? -{one} : a)", "abs_pow": "pow{f}(fabs{f}(a), {p})", "scale": "a * {p}",
    "sq_diff": "(a - b) * (a - b)", "exp_sub": "exp{f}(a - b)", "sub_sub": "a - b - c",
    "div_or_zero": "b == {zero} ? {zero} : a / b",
    "exp": "exp{f}(a)", "log": "log{f}(a)", "sqrt": "sqrt{f}(a)", "floor": "floor{f}(a)", "ceil": "ceil{f}(a)",
    "round": "rint{f}(a)", "erf": "erf{f}(a)", "sin": "sin{f}(a)", "cos": "cos{f}(a)", "tan": "tan{f}(a)",
    "asin": "asin{f}(a)", "acos": "acos{f}(a)", "atan": "atan{f}(a)", "sinh": "sinh{f}(a)", "cosh": "cosh{f}(a)",
    "tanh": "tanh{f}(a)", "asinh": "asinh{f}(a)", "acosh": "acosh{f}(a)", "atanh": "atanh{f}(a)",
    "relu": "a < {zero} ? {zero} : a",
    "clip_operands": "(a < b ? b : a) > c ? c : (a < b ? b : a)",
    "leaky_relu": "a < {zero} ? {p} * a : a", "prelu": "a < {zero} ? b * a : a",
    "thresholded_relu": "a > {p} ? a : {zero}",
    "elu": "a < {zero} ? {p} * expm1{f}(a) : a", "selu": "a > {zero} ? {q} * a : {q} * {p} * expm1{f}(a)",
    "celu": "a > {zero} ? a : {p} * expm1{f}(a / {p})",
    "gelu": "{half} * a * ({one} + erf{f}(a * {root_half}))",
    "gelu_tanh": "{half} * a * ({one} + tanh{f}({root_two_over_pi} * (a + {gelu_cubic} * a * a * a)))",
    "sigmoid": "a < {zero} ? exp{f}(a) / ({one} + exp{f}(a)) : {one} / ({one} + exp{f}(-a))",
    "hard_sigmoid": "({p} * a + {q}) < {zero} ? {zero} : ({p} * a + {q}) > {one} ? {one} : ({p} * a + {q})",
    "hard_swish": "a * (a <= -{three} ? {zero} : a >= {three} ? {one} : a * {sixth} + {half})",
    "swish": "{p} * a < {zero} ? a * exp{f}({p} * a) / ({one} + exp{f}({p} * a)) : a / ({one} + exp{f}(-{p} * a))",
    "mish": "a * tanh{f}((a > {zero} ? a : {zero}) + log1p{f}(exp{f}(-fabs{f}(a))))",
    "softplus": "(a > {zero} ? a : {zero}) + log1p{f}(exp{f}(-fabs{f}(a)))", "softsign": "a / ({one} + fabs{f}(a))",
    "shrink": "a < -{p} ? a + {q} : a > {p} ? a - {q} : {zero}",
    "equal": "a == b", "greater": "a > b", "less": "a < b", "greater_equal": "a >= b", "less_equal": "a <= b",
    "is_nan": "a != a", "is_inf": "({p} != {zero} && a == -INFINITY) || ({q} != {zero} && a == INFINITY)",
    "batch_norm": "(a - d) / sqrt{f}(e + {p}) * b + c",
    "rms_scale": "a / sqrt{f}(b + {p}) * c", "standardise": "(a - b) / (sqrt{f}(c) + {p})",
    "lrn": "a / pow{f}({r} + {p} * b, {q})",
    "where": "a ? b : c",
    "not": "!a", "and": "a && b", "or": "a || b", "xor": "!a != !b",
}  # fmt: skip

INTEGER = {
    "copy": "a", "add": "({U})a + ({U})b", "sub": "({U})a - ({U})b", "mul": "({U})a * ({U})b",
    "div": "b == 0 ? 0 : a / b", "mod": "b == 0 ? 0 : (a % b != 0 && (a % b < 0) != (b < 0)) ? a % b + b : a % b",
    "fmod": "b == 0 ? 0 : a % b", "pow": "pow((double)a, (double)b)", "neg": "({U})0 - ({U})a",
    "abs": "a < 0 ? ({U})0 - ({U})a : ({U})a", "sign": "(a > 0) - (a < 0)", "square": "({U})a * ({U})a",
    "sq_diff": "(({U})a - ({U})b) * (({U})a - ({U})b)", "sub_sub": "({U})a - ({U})b - ({U})c",
    "exp": "exp((double)a)", "log": "log((double)a)", "sqrt": "sqrt((double)a)",
    "scale": "({U})a * ({U}){p}", "relu": "a < 0 ? 0 : a",
    "clip_operands": "(a < b ? b : a) > c ? c : (a < b ? b : a)", "prelu": "a < 0 ? ({U})b * ({U})a : ({U})a",
    "not": "!a", "and": "a && b", "or": "a || b", "xor": "!a != !b",
    "bit_not": "~({U})a", "bit_and": "({U})a & ({U})b", "bit_or": "({U})a | ({U})b", "bit_xor": "({U})a ^ ({U})b",
    "shift_left": "({U})b < {bits} ? ({U})a << b : 0", "shift_right": "({U})b < {bits} ? a >> b : 0",
    "equal": "a == b", "greater": "a > b", "less": "a < b", "greater_equal": "a >= b", "less_equal": "a <= b",
    "where": "a ? b : c", "reciprocal": "a == 0 ? 0 : 1 / a",
    "dequantise": "({F})tilewright_difference((int64_t)a, (int64_t)c) * b",
    "mul_offsets": "((int32_t)a - (int32_t)c) * ((int32_t)b - (int32_t)d)",
    "shrink": "a < -{p} ? ({U})a + ({U}){q} : a > {p} ? ({U})a - ({U}){q} : 0",
}  # fmt: skip

SIGNED = {
    "shift_right": "({U})b < {bits} ? a >> b : a < 0 ? -1 : 0",
    "div": "b == 0 ? 0 : b == -1 ? ({T})(({U})0 - ({U})a) : a / b", "fmod": "b == 0 || b == -1 ? 0 : a % b",
    "mod": "b == 0 || b == -1 ? 0 : (a % b != 0 && (a % b < 0) != (b < 0)) ? a % b + b : a % b",
}  # fmt: skip
"""Division by -1 apart: the smallest number has no counterpart."""

UNSIGNED = {
    "mod": "b == 0 ? 0 : a % b", "abs": "a", "sign": "a > 0", "relu": "a", "prelu": "((void)b, a)",
    "shrink": "a > {p} ? ({U})a - ({U}){q} : 0",
}  # fmt: skip
"""Without comparisons that are never true."""


def literal(dtype: DType, value: float | int) -> str:
    """A parameter as C: a float literal of the computing type, or an integer."""
    if not dtype.is_float:
        return str(int(value)) if abs(int(value)) < 1 << 31 else c_literal(dtype, int(value))
    if dtype is not DType.F64:
        return c_literal(DType.F32, value)
    if value != value:
        return "NAN"
    if value in (float("inf"), float("-inf")):
        return "INFINITY" if value > 0 else "-INFINITY"
    text = f"{float(value):.17g}"
    return text if "." in text or "e" in text else text + ".0"


def computing(dtype: DType) -> DType:
    """The type in which values are computed: half floats in float, four bits in eight, all others in their own."""
    return {DType.F16: DType.F32, DType.BF16: DType.F32, DType.I4: DType.I8, DType.U4: DType.U8}.get(dtype, dtype)


@dataclass(frozen=True)
class BodyText:
    """C of a body: `steps` are constants (name, value) declared in order behind the operands, `value` reads them."""

    value: str
    steps: tuple[tuple[str, str], ...] = ()


def body_text(
    name: str, kinds: Sequence[DType], result: DType, parameters: Sequence[float | int], operands: Sequence[str] = ()
) -> BodyText | None:
    """The body over operands of these types; None where C has none for them. Its length grows with their number.

    `operands` are their texts, by default the local variables that hold them.
    """
    texts = operands or [local(index) for index in range(len(kinds))]
    if name in VARIADIC:
        return _variadic(name, texts, computing(kinds[0]))
    form = _body(name, kinds, result, parameters)
    return None if form is None else BodyText(_with_operands(form, texts))


def local(index: int) -> str:
    """Name of the local variable that holds operand `index`."""
    return f"e{index}"


def _with_operands(form: str, operands: Sequence[str]) -> str:
    """A form of this module with its operands, which it calls by single letters."""
    return re.sub(rf"\b([{LETTERS}])\b", lambda letter: operands[LETTERS.index(letter[1])], form)


def _body(name: str, kinds: Sequence[DType], result: DType, parameters: Sequence[float | int]) -> str | None:
    lead = computing(kinds[0] if len(kinds) < 2 or name not in ("where", "select_equal") else kinds[-1])
    if name == "select_equal":
        equal = "(a == b || a != a)" if kinds[0].is_float else "a == b"
        return f"{equal} ? c : {literal(lead, parameters[0])}"
    if name == "cast":
        return _cast(computing(kinds[0]), result)
    if name == "normalise":
        f = "" if lead is DType.F64 else "f"
        scale = " * d" if len(kinds) > 3 else ""
        return f"(a - b) / sqrt{f}(c + {literal(lead, parameters[0])}){scale}{' + e' if len(kinds) > 4 else ''}"
    if name == "quantise":
        f = "" if lead is DType.F64 else "f"
        zero = f" + ({'double' if lead is DType.F64 else 'float'})c" if len(kinds) > 2 else ""
        low, high = literal(lead, parameters[0]), literal(lead, parameters[1])
        by = kinds[1]  # the type of the quotient
        real = "a" if kinds[0] is by or not is_half(by) else loaded(by, stored(by, "a"))
        quotient = loaded(by, stored(by, f"{real} / b")) if is_half(by) else "a / b"
        return f"fmin{f}(fmax{f}(rint{f}({quotient}){zero}, {low}), {high})"
    if name == "clip":
        return _clip(lead, *parameters)
    if name == "pow" and not any(kind.is_float for kind in kinds):
        return "tilewright_power((int64_t)a, (int64_t)b)"
    table = FLOAT if lead.is_float else {**INTEGER, **(SIGNED if lead.is_signed else UNSIGNED)}
    form = table.get(name)
    return None if form is None else _fill(form, lead, result, parameters)


def _fill(form: str, lead: DType, result: DType, parameters: Sequence[float | int]) -> str:
    names = dict(zip("pqr", (literal(lead, p) for p in parameters), strict=False))
    real = lead if lead.is_float else (result if result.is_float else DType.F32)
    numbers = {
        "zero": 0.0, "one": 1.0, "three": 3.0, "half": 0.5, "sixth": 1 / 6, "root_half": 0.5**0.5,
        "root_two_over_pi": 0.7978845608028654, "gelu_cubic": 0.044715,
    }  # fmt: skip
    return form.format(
        f="" if lead is DType.F64 else "f",
        U=unsigned(lead),
        T=C_TYPES[lead],
        F="double" if real is DType.F64 else "float",
        bits=lead.bits,
        **{key: literal(real, value) for key, value in numbers.items()},
        **names,
    )


def _cast(lead: DType, result: DType) -> str:
    if result is DType.BOOL:
        return "a != 0"
    if not lead.is_float or result.is_float:
        return "a"
    wide = result if result.bits >= 32 else DType.I32  # smaller types wrap what int32 would hold
    low, high = wide.range
    above = literal(lead, float(high + 1))
    below = f"a <= {literal(lead, -1.0)}" if low == 0 else f"a < {literal(lead, float(low))}"
    ends = c_literal(wide, low), c_literal(wide, high)
    return f"a != a ? 0 : {below} ? {ends[0]} : a >= {above} ? {ends[1]} : ({C_TYPES[wide]})a"


def _clip(lead: DType, low: float | int, high: float | int) -> str:
    """min(max(a, low), high) by the limits that the type can exceed; compilers warn of others."""
    least, most = (-inf, inf) if lead.is_float else lead.range
    low = min(low, high)  # where the limits cross, every value becomes the upper one
    lower, upper = (literal(lead, end) if lead.is_float else c_literal(lead, int(end)) for end in (low, high))
    above = f"a > {upper} ? {upper} : a" if high < most else "a"
    return f"a < {lower} ? {lower} : {above}" if low > least else above


def _variadic(name: str, operands: Sequence[str], lead: DType) -> BodyText:
    """A body of any number of operands, from left to right."""
    if name in ("min", "max"):
        return _extreme(name, operands, lead)
    if name == "sum" and not lead.is_float:
        return BodyText(" + ".join(f"({unsigned(lead)}){operand}" for operand in operands))
    total = " + ".join(operands)
    return BodyText(total if name == "sum" else f"({total}) / {literal(lead, len(operands))}")


def _extreme(name: str, operands: Sequence[str], lead: DType) -> BodyText:
    """The smallest or largest operand, NaN if any is. What the first ones give is a constant (`max2`, `max3`, ...): it
    is read more than once, so text in its place would grow exponentially.
    """
    sign = "<" if name == "min" else ">"
    so_far, steps = operands[0], list[tuple[str, str]]()
    for count, operand in enumerate(operands[1:], 2):
        keeps = f"{so_far} {sign} {operand}"
        first = f"({keeps} || {so_far} != {so_far})" if lead.is_float else keeps
        steps.append((f"{name}{count}", f"{first} ? {so_far} : {operand}"))
        so_far = f"{name}{count}"
    return BodyText(steps[-1][1] if steps else so_far, tuple(steps[:-1]))


def unsigned(dtype: DType) -> str:
    """The unsigned type in which an integer type wraps."""
    return "uint64_t" if dtype.bits > 32 else "uint32_t"


def combine_text(name: str, dtype: DType, total_type: str) -> str:
    """The statement that takes `term` into `acc`, which has `total_type`."""
    kind = computing(dtype)
    if name in ("max", "min"):
        sign = ">" if name == "max" else "<"
        return f"if (term {sign} acc{' || term != term' if kind.is_float else ''}) {{ acc = term; }}"
    if name == "or":
        return "acc = (uint8_t)(acc || term);"
    if name == "and":
        return "acc = (uint8_t)(acc && term);"
    if name == "set":
        return "acc = term;"
    sign = {"add": "+", "mul": "*"}[name]
    if kind.is_float:
        return f"acc {sign}= term;"
    u = unsigned(kind)
    return f"acc = ({total_type})(({u})acc {sign} ({u})term);"


def finish_text(name: str, dtype: DType, parameters: Sequence[float | int], total_type: str) -> str:
    """The expression of a finish over `acc`, which has `total_type`, `points` and the operands."""
    kind = computing(dtype)
    f, real = ("", "double") if kind is DType.F64 else ("f", "float")
    p = literal(kind, parameters[0]) if parameters else ""
    q = literal(kind, parameters[1]) if len(parameters) > 1 else ""
    count = f"({real})points" if kind.is_float else f"({total_type})points"
    text = {
        "keep": "acc", "mean": f"acc / {count}", "pad_value": f"points > 0 ? acc : {p}",
        "pad_operand": "points > 0 ? acc : a", "add": "acc + a",
        "scale": f"acc * {p}", "scale_add": f"{p} * acc + {q} * a", "sqrt": f"sqrt{f}(acc)",
        "log": f"log{f}(acc)", "root": f"pow{f}(acc, {literal(kind, 1)} / {p})",
        "finite": f"isfinite(acc) ? acc : {literal(kind, 0)}",
        "inverse_root": f"{literal(kind, 1)} / sqrt{f}(acc / {count} + {p})",
    }[name]  # fmt: skip
    return _with_operands(text, [local(index) for index in range(len(LETTERS))])
