"""Functions of floats on cores with vectors, and of codes as float32 has them: dequantised, computed and quantised."""

from __future__ import annotations

from tilewright.numerics import code_limits, literal, rounds_twice, the_quantisation
from tilewright.operators import unmapped
from tilewright.ops.index.nest import Nest
from tilewright.platform import Call, Constant, DType, KernelMethods, Needs, Operands, Tensor
from tilewright.platforms.generic.kernels import codes
from tilewright.platforms.generic.kernels.nest import nests_of, operand_names, same_size, unread
from tilewright.platforms.generic.kernels.nest_loops import direct
from tilewright.platforms.generic.kernels.quantise_f32 import QuantiseF32
from tilewright.platforms.riscv.kernels.elements_vector import NO_STRIP, as_codes
from tilewright.platforms.riscv.kernels.function_bodies import FUNCTION_BODIES, Body, number
from tilewright.platforms.riscv.kernels.strips import VALUES, StripContext, StripText, strip_of
from tilewright.platforms.riscv.kernels.vector_walk import Walk
from tilewright.platforms.riscv.platform import PLATFORM

QUANTISE = QuantiseF32()


def _joined(instruction: str, flipped: str = "") -> Body:
    """Two values by one instruction; `flipped` where the first is a scalar and the order counts."""

    def join(text: StripText, values: tuple[str, ...], parameters: tuple[float, ...]) -> None:
        first, second = values
        if first not in VALUES:
            text(f"{flipped or instruction}.vf v8, {second}, {first}")
        else:
            text(f"{instruction}.v{'v' if second in VALUES else 'f'} v8, {first}, {second}")

    return join


def _relu(text: StripText, values: tuple[str, ...], parameters: tuple[float, ...]) -> None:
    zero = number(text, "zero", 0.0)
    text(f"vmflt.vf v0, v8, {zero}", f"vfmerge.vfm v8, v8, {zero}, v0")


def _sloped(text: StripText, slope: str, kind: str) -> None:
    """What is below 0 times a slope."""
    text(f"vmflt.vf v0, v8, {number(text, 'zero', 0.0)}", f"vfmul.v{kind} v24, v8, {slope}")
    text("vmerge.vvm v8, v8, v24, v0")


def _leaky_relu(text: StripText, values: tuple[str, ...], parameters: tuple[float, ...]) -> None:
    _sloped(text, number(text, "slope", parameters[0]), "f")


def _prelu(text: StripText, values: tuple[str, ...], parameters: tuple[float, ...]) -> None:
    _sloped(text, values[1], "v" if values[1] in VALUES else "f")


def _clip(text: StripText, values: tuple[str, ...], parameters: tuple[float, ...], register: str = "v8") -> None:
    low, high = min(parameters), parameters[1]
    for name, limit, instruction in (("least", low, "vmflt.vf"), ("most", high, "vmfgt.vf")):
        if abs(limit) != float("inf"):
            bound = number(text, name, limit)
            text(f"{instruction} v0, {register}, {bound}", f"vfmerge.vfm {register}, {register}, {bound}, v0")


def _extreme(instruction: str) -> Body:
    """The smaller or larger value; what is no number stays none."""

    def extreme(text: StripText, values: tuple[str, ...], parameters: tuple[float, ...]) -> None:
        for register, value in zip(VALUES, values, strict=False):
            if value not in VALUES:
                text(*(["vmv.v.v v16, v8"] if register == "v8" else []), f"vfmv.v.f {register}, {value}")
        text(f"{instruction}.vv v0, v8, v16", "vmfne.vv v24, v8, v8", "vmor.mm v0, v0, v24")
        text("vmerge.vvm v8, v16, v8, v0")

    return extreme


def _hard_sigmoid(text: StripText, values: tuple[str, ...], parameters: tuple[float, ...]) -> None:
    rise, shift = parameters[:2]
    text(f"vfmul.vf v8, v8, {number(text, 'rise', rise)}", f"vfadd.vf v8, v8, {number(text, 'shift', shift)}")
    _clip(text, values, (0.0, 1.0))


def _hard_swish(text: StripText, values: tuple[str, ...], parameters: tuple[float, ...]) -> None:
    text(f"vfmul.vf v16, v8, {number(text, 'rise', 1 / 6)}", f"vfadd.vf v16, v16, {number(text, 'shift', 0.5)}")
    _clip(text, values, (0.0, 1.0), "v16")
    text("vfmul.vv v8, v8, v16")


def _alone(*lines: str) -> Body:
    """One value by instructions alone."""

    def alone(text: StripText, values: tuple[str, ...], parameters: tuple[float, ...]) -> None:
        text(*lines)

    return alone


def _reciprocal(text: StripText, values: tuple[str, ...], parameters: tuple[float, ...]) -> None:
    text(f"vfrdiv.vf v8, v8, {number(text, 'one', 1.0)}")


def _square_difference(text: StripText, values: tuple[str, ...], parameters: tuple[float, ...]) -> None:
    _joined("vfsub", "vfrsub")(text, values, parameters)
    text("vfmul.vv v8, v8, v8")


def _scale(text: StripText, values: tuple[str, ...], parameters: tuple[float, ...]) -> None:
    text(f"vfmul.vf v8, v8, {number(text, 'scale', parameters[0])}")


BODIES: dict[str, tuple[int, Body]] = {
    "add": (2, _joined("vfadd")), "sub": (2, _joined("vfsub", "vfrsub")), "mul": (2, _joined("vfmul")),
    "div": (2, _joined("vfdiv", "vfrdiv")), "min": (2, _extreme("vmflt")), "max": (2, _extreme("vmfgt")),
    "sum": (2, _joined("vfadd")), "sq_diff": (2, _square_difference), "prelu": (2, _prelu), "relu": (1, _relu),
    "leaky_relu": (1, _leaky_relu), "clip": (1, _clip), "hard_sigmoid": (1, _hard_sigmoid),
    "hard_swish": (1, _hard_swish), "scale": (1, _scale), "reciprocal": (1, _reciprocal), "copy": (1, _alone()),
    "neg": (1, _alone("vfneg.v v8, v8")), "abs": (1, _alone("vfabs.v v8, v8")),
    "sqrt": (1, _alone("vfsqrt.v v8, v8")), "square": (1, _alone("vfmul.vv v8, v8, v8")), **FUNCTION_BODIES,
}  # fmt: skip
"""Operands of every body that vectors compute, and its instructions."""
CODED = ("Add", "Sub", "Mul", "Div", "Min", "Max", "PRelu", "QuantizeLinear", "Relu")
FLOATS = (
    "Add", "Sub", "Mul", "Div", "Min", "Max", "Sum", "PRelu", "Relu", "LeakyRelu", "Clip", "HardSigmoid", "HardSwish",
    "Reciprocal", "Neg", "Abs", "Sqrt", "DequantizeLinear",
)  # fmt: skip


def refused(call: Call) -> str | None:
    """None, or why vectors of float32 do not compute the call."""
    if rounds_twice(call):
        return "its codes are rounded twice, the kernel rounds once"
    for index, tensor in enumerate(call.inputs[: _count(call)]):
        if tensor is not None and tensor.quantisation is None and tensor.dtype is not DType.F32:
            return f"'{tensor.name}' is {tensor.type_token}, the kernel computes f32"
        if tensor is not None and tensor.quantisation is not None and len(tensor.quantisation.scale) > 1:
            return f"'{tensor.name}' has a scale for each channel"
        if tensor is None:
            return f"operand {index} is missing"
    meaning = call.outputs[0].quantisation
    if meaning is not None and len(meaning.scale) > 1:
        return "the result has a scale for each channel"
    nest = nest_of(call)
    if nest is None or not direct(nest) or nest.reductions or nest.finish.name != "keep":
        return unmapped(call)[0]
    if nest.body.name not in BODIES or BODIES[nest.body.name][0] != len(nest.ins):
        return f"'{nest.body.name}' of {len(nest.ins)} operands has no form in vectors"
    return None if as_codes(call, nest, Operands(call)) else NO_STRIP


def _count(call: Call) -> int:
    """Operands that are computed with, not scales and limits."""
    return 1 if call.node.op in ("QuantizeLinear", "DequantizeLinear", "Clip") else len(call.inputs)


def nest_of(call: Call) -> Nest | None:
    """The only nest of a call over real numbers; that of a copy at the border."""
    if call.node.op in ("QuantizeLinear", "DequantizeLinear"):
        return codes.unary_nests(call)[0]
    nests = nests_of(codes.real(call))
    return nests[0] if len(nests) == 1 else None


def context_of(operands: Operands) -> StripContext:
    """Operands as floats, the body, and its value as an element of the result."""
    call = operands.call
    nest = nest_of(call)
    assert nest is not None
    strips = as_codes(call, nest, operands)
    assert strips is not None
    text = StripText()
    values = _values(call, strips, text)
    BODIES[nest.body.name][1](text, values, tuple(map(float, nest.body.parameters)))
    (y,) = call.outputs
    if y.quantisation is None:
        if call.node.clamp is not None:
            _clip(text, values, (call.node.clamp.low, call.node.clamp.high))
    else:
        _quantised(text, call)
    text.store("v8", "y", strips.operands[0])
    return StripContext((*strips.tables, *unread(operands, (nest,))), (strip_of(strips, text),))


def _values(call: Call, strips: Walk, text: StripText) -> tuple[str, ...]:
    """Every operand in a vector register, in order, or as a scalar where it stands still."""
    values, registers, names = list[str](), iter(VALUES), operand_names(call)
    for index, operand in enumerate(strips.operands[1:]):
        tensor, name = call.tensor(names.index(operand.name)), f"e{index}"
        if not operand.step:
            element = operand.element if tensor.quantisation is None else _real(tensor, operand.element)
            values.append(text.input(name, text.scalar(f"{name}_value", "float", element), "f"))
            continue
        register = next(registers)
        values.append(register)
        text.whole(register, name, operand)
        if tensor.quantisation is not None:
            zero, scale = tensor.quantisation.zero_point[0], tensor.quantisation.scale[0]
            if zero:
                text(f"vadd.vx {register}, {register}, {text.input(f'{name}_zero', str(-zero))}")
            text(f"vfcvt.f.x.v {register}, {register}")
            text(f"vfmul.vf {register}, {register}, {number(text, f'{name}_scale', scale)}")
    return tuple(values)


def _real(tensor: Tensor, element: str) -> str:
    meaning = the_quantisation(tensor)
    scale = literal(DType.F64, meaning.scale[0])
    return f"(float)((double)({element} + {-meaning.zero_point[0]}) * {scale})"


def _quantised(text: StripText, call: Call) -> None:
    """The value as a code: what is no number becomes the lowest one."""
    y = call.outputs[0]
    meaning = the_quantisation(y)
    zero = int(meaning.zero_point[0])
    low, high = code_limits(call, y)
    text(f"vfdiv.vf v8, v8, {number(text, 'step', meaning.scale[0])}")
    text(f"vfmax.vf v8, v8, {number(text, 'lowest', float(low - zero))}")
    text(f"vfmin.vf v8, v8, {number(text, 'highest', float(high - zero))}", "vfcvt.x.f.v v8, v8")
    if zero:
        text(f"vadd.vx v8, v8, {text.input('y_zero', str(zero))}")
    text.narrowed("v8", y.dtype)


@PLATFORM.kernel(
    *CODED, types=f"{codes.Q}|f32, *... -> {codes.Q}", template="strip.c.mako", layout=("axes", "same"), preference=20,
    requires=Needs(has=("rvv", "fpu")),
)  # fmt: skip
class RealVector(KernelMethods):
    """Codes of what float32 makes of codes and floats, bit by bit as ONNX says, in vectors."""

    def accepts(self, call: Call) -> str | None:
        """Bodies with instructions."""
        return refused(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Constant operands as they are."""
        return constants_of(operands)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Every operand of the result's shape and element size."""
        return same_size(call)

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """Codes of eight bits of floats: each turn is written after its floats were read."""
        return QUANTISE.overlap(operands) if operands.call.node.op == "QuantizeLinear" else ()

    def context(self, operands: Operands) -> StripContext:
        """The instructions of the body."""
        return context_of(operands)


@PLATFORM.kernel(
    *FLOATS, types=f"{codes.Q}|f32, *... -> f32", template="strip.c.mako", layout=("axes", "same"), preference=20,
    numerics="1e-5", requires=Needs(has=("rvv", "fpu")),
)  # fmt: skip
class FloatVector(KernelMethods):
    """Functions of floats in vectors."""

    def accepts(self, call: Call) -> str | None:
        """Bodies with instructions."""
        return refused(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Constant operands as they are."""
        return constants_of(operands)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Every operand of the result's shape and element size."""
        return same_size(call)

    def context(self, operands: Operands) -> StripContext:
        """The instructions of the body."""
        return context_of(operands)


def constants_of(operands: Operands) -> tuple[Constant, ...]:
    """Constant operands of the nest as they are."""
    nest = nest_of(operands.call)
    return codes.read_constants(operands, () if nest is None else (nest,))
