"""Interpolation of codes: integer weights from tables, one requantisation per result."""

from __future__ import annotations

from tilewright.numerics import (
    C_TYPES,
    HALF_EVEN,
    ResizeForm,
    code_limits,
    initialiser,
    interpolates,
    requantise,
    resize_form,
    resize_proof,
    the_quantisation,
    too_wide,
)
from tilewright.platform import Call, Constant, DType, KernelMethods, Operands
from tilewright.platforms.generic.kernels.codes import Q
from tilewright.platforms.generic.kernels.codes_sums import row_major
from tilewright.platforms.generic.kernels.nest import NestContext, strides_of
from tilewright.platforms.generic.kernels.nest_text import Written
from tilewright.platforms.generic.platform import PLATFORM


def form_of(call: Call) -> ResizeForm:
    """The integer form, which `accepts` has shown to be there."""
    form = resize_form(call)
    assert form is not None, call.node.name
    return form


def tables(form: ResizeForm) -> tuple[tuple[str, str, int, str], ...]:
    """Source positions and weights of every resized axis as constant arrays."""
    found = []
    for each in form.axes:
        positions, weights = each.positions.reshape(-1), each.weights.reshape(-1)
        found.append((f"place{each.axis}", "int32_t", positions.size, initialiser(DType.I32, positions)))
        found.append((f"weight{each.axis}", "int32_t", weights.size, initialiser(DType.I32, weights)))
    return tuple(found)


def result_lines(call: Call, form: ResizeForm, strides: tuple[int, ...]) -> list[str]:
    """The sum of one result and its code in `code`."""
    zero = the_quantisation(call.tensor(0)).zero_point[0]
    wide = form.bits > form.kept
    resized = {each.axis: each for each in form.axes}
    place, factors = [], []
    for axis, stride in enumerate(strides):
        if axis in resized:
            taps = resized[axis].positions.shape[1]
            place.append(f"place{axis}[i{axis} * {taps} + t{axis}] * {stride}")
            factors.append(f"{'(int64_t)' if wide else ''}weight{axis}[i{axis} * {taps} + t{axis}]")
        else:
            place.append(f"i{axis} * {stride}")
    code = f"((int32_t)x[{' + '.join(place)}] - {zero})".replace("- -", "+ ")
    lines = [f"acc += {' * '.join([*factors, code])};"]
    for axis, each in reversed(resized.items()):
        loop = f"for (int t{axis} = 0; t{axis} < {each.positions.shape[1]}; t{axis}++) {{"
        lines = [loop, *(f"    {line}" for line in lines), "}"]
    code_of_sum = requantise(resize_proof(call, form)).c("sum")
    sum_ = f"(int32_t)tilewright_divide_half_even(acc, {form.bits - form.kept})" if wide else "acc"
    return [
        f"{'int64_t' if wide else 'int32_t'} acc = 0;",
        *lines,
        f"const int32_t sum = {sum_};",
        f"const int32_t code = (int32_t)({code_of_sum});",
    ]


@PLATFORM.kernel(
    "Resize", "Upsample", types=f"{Q}, *... -> {Q}", template="nest.c.mako", layout=("axes", "like"),
    sources=[HALF_EVEN], preference=10,
)  # fmt: skip
class ResizeCodes(KernelMethods):
    """Linear and cubic interpolation of codes in integers."""

    def accepts(self, call: Call) -> str | None:
        """An interpolation with an integer form."""
        if not interpolates(call):
            return "nearest neighbours are moved, the kernel interpolates"
        form = resize_form(call)
        return "it extrapolates" if form is None else too_wide(resize_proof(call, form))

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """None: positions and weights stand in tables."""
        return ()

    def context(self, operands: Operands) -> NestContext:
        """Loops over results, then taps."""
        call = operands.call
        form, x, y = form_of(call), call.tensor(0), call.outputs[0]
        known = strides_of(operands)
        low, high = code_limits(call, y)
        lines = result_lines(call, form, known.get("x", row_major(x.shape)))
        place = [f"i{axis} * {stride}" for axis, stride in enumerate(known.get("y", row_major(y.shape)))]
        limited = f"code < {low} ? {low} : code > {high} ? {high} : code"
        lines.append(f"y[{' + '.join(place)}] = ({C_TYPES[y.dtype]})({limited});")
        for axis, size in reversed(list(enumerate(y.shape))):
            lines = [f"for (int i{axis} = 0; i{axis} < {size}; i{axis}++) {{", *(f"    {line}" for line in lines), "}"]
        declarations = tuple(f"static const {c} {name}[{size}] = {{{text}}};" for name, c, size, text in tables(form))
        comment = f"y = sum of {' * '.join(f'weight{each.axis}' for each in form.axes)} * x, {form.bits} bits"
        return NestContext(declarations, (Written(comment, tuple(lines), ()),))
