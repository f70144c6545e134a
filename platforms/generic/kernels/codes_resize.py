"""Interpolation of codes: integer weights from tables, one requantisation per result."""

from __future__ import annotations

from tilewright.numerics import (
    C_TYPES,
    ROUNDING,
    ResizeForm,
    code_limits,
    initialiser,
    interpolates,
    requantise,
    resize_form,
    resize_proof,
    the_quantisation,
    times,
    too_wide,
)
from tilewright.ops.index.loop_nest import ConstantTable, Loop, LoopNest, Loops, Part, declarations
from tilewright.platform import Call, Constant, DType, KernelMethods, Operands
from tilewright.platforms.generic.kernels.codes import Q
from tilewright.platforms.generic.kernels.codes_sums import row_major
from tilewright.platforms.generic.kernels.nest import NestContext, strides_of
from tilewright.platforms.generic.kernels.nest_address import minus_text
from tilewright.platforms.generic.platform import PLATFORM


def form_of(call: Call) -> ResizeForm:
    """The integer form, which `accepts` has shown to be there."""
    form = resize_form(call)
    assert form is not None, call.node.name
    return form


def tables(form: ResizeForm) -> tuple[ConstantTable, ...]:
    """Source positions and weights of every resized axis as constant arrays."""
    tables = []
    for each in form.axes:
        positions, weights = each.positions.reshape(-1), each.weights.reshape(-1)
        tables.append(ConstantTable(f"place{each.axis}", "int32_t", positions.size, initialiser(DType.I32, positions)))
        tables.append(ConstantTable(f"weight{each.axis}", "int32_t", weights.size, initialiser(DType.I32, weights)))
    return tuple(tables)


def result_parts(call: Call, form: ResizeForm, strides: tuple[int, ...]) -> tuple[Part, ...]:
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
            place.append(times(f"i{axis}", stride))
    address = " + ".join(place)
    code = f"({minus_text(f'(int32_t)x[{address}]', zero)})"
    taps_of = tuple(Loop(f"t{axis}", each.positions.shape[1]) for axis, each in resized.items())
    term = f"acc += {' * '.join([*factors, code])};"
    code_of_sum = requantise(resize_proof(call, form)).c("sum")
    sum_ = f"(int32_t)tilewright_divide_half_even(acc, {form.bits - form.kept})" if wide else "acc"
    return (
        f"{'int64_t' if wide else 'int32_t'} acc = 0;",
        Loops(taps_of, (term,)) if taps_of else term,
        f"const int32_t sum = {sum_};",
        f"const int32_t code = (int32_t)({code_of_sum});",
    )


@PLATFORM.kernel(
    "Resize", "Upsample", types=f"{Q}, *... -> {Q}", template="nest.c.mako", layout=("axes", "like"),
    sources=[*ROUNDING], preference=10,
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
        result = result_parts(call, form, known.get("x", row_major(x.shape)))
        place = [times(f"i{axis}", stride) for axis, stride in enumerate(known.get("y", row_major(y.shape)))]
        limited = f"code < {low} ? {low} : code > {high} ? {high} : code"
        store = f"y[{' + '.join(place)}] = ({C_TYPES[y.dtype]})({limited});"
        outer = tuple(Loop(f"i{axis}", size, parallel=True) for axis, size in enumerate(y.shape))
        comment = f"y = sum of {' * '.join(f'weight{each.axis}' for each in form.axes)} * x, {form.bits} bits"
        nest = LoopNest(comment, (Loops(outer, (*result, store)),), tables(form))
        return NestContext(declarations([nest]), (nest,))
