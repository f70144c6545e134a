"""Linear interpolation of images of codes in vectors of channels, each result from its four sources."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.numerics import MultiplyHigh, Requantiser, RoundedDivision, requantise, resize_proof, the_quantisation
from tilewright.platform import Call, Constant, DType, KernelMethods, Needs, Operands
from tilewright.platforms.generic.kernels.codes_resize import form_of
from tilewright.platforms.generic.kernels.resize_linear_i8 import ResizeLinearI8
from tilewright.platforms.generic.kernels.resized_images import ResizedImages, images_of, source_constants
from tilewright.platforms.riscv.kernels.rvv_asm import code_operands, codes, in_vectors
from tilewright.platforms.riscv.platform import PLATFORM

PORTABLE = ResizeLinearI8()
LANES = 32


@dataclass(frozen=True)
class ResizeVectorContext:
    """The instructions of one turn over channels, and names and C of what they read."""

    extent: ResizedImages
    turn: tuple[str, ...]
    operands: tuple[tuple[str, str], ...]


@PLATFORM.kernel(
    "Resize", "Upsample", types="qi8|qu8, *... -> qi8|qu8", template="resize_vector_i8.c.mako", layout="channels_last",
    preference=40, requires=Needs(has=("rvv",)),
)  # fmt: skip
class ResizeVectorI8(KernelMethods):
    """Enlarging by two and its like, the sums of the portable kernel."""

    def accepts(self, call: Call) -> str | None:
        """Short weights, and codes that vectors make."""
        if (why := PORTABLE.accepts(call)) is not None:
            return why
        if call.shape()[1] == 1:
            return "a single channel fills no vector"
        form = requantise(resize_proof(call, form_of(call)), DType.I32)
        return None if in_vectors(form) or _by_shift(form) else "its codes need more than 32 bits"

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Places and weights of the sources."""
        return source_constants(operands.call, operands.call.shape()[1])

    def cost(self, call: Call) -> float:
        """Some sixty instructions a pixel, thirty for thirty-two channels more."""
        y = call.outputs[0]
        pixels = y.elements / y.shape[1]
        return pixels * (25.0 + 37.0 * -(-y.shape[1] // LANES))

    def context(self, operands: Operands) -> ResizeVectorContext:
        """The numbers of the layer."""
        call = operands.call
        x, y, sums = call.tensor(0), call.outputs[0], form_of(call)
        form = requantise(resize_proof(call, sums), DType.I32)
        offset = the_quantisation(x).zero_point[0] << sums.bits
        named = (("offset", -offset), *_rounded(form)) if isinstance(form, RoundedDivision) else (("offset", -offset),)
        read = tuple((name, str(value)) for name, value in named if value)
        if isinstance(form, MultiplyHigh):
            read += code_operands(form, y.dtype)
        return ResizeVectorContext(images_of(call, y.shape[1]), _turn(x.dtype, y.dtype, form, offset), read)


def _by_shift(form: Requantiser) -> bool:
    """True for a division by a power of two in 32 bits, ties to even."""
    return isinstance(form, RoundedDivision) and form.narrow


def _rounded(form: RoundedDivision) -> tuple[tuple[str, int], ...]:
    """What codes of a division read."""
    return (("zero_point", form.zero_point), ("low", form.low), ("high", form.high))


def _turn(x_type: DType, y_type: DType, form: Requantiser, offset: int) -> tuple[str, ...]:
    """Sums of sixteen bits, which codes times all weights fit, and their codes."""
    widen = "vsext.vf2" if x_type.is_signed else "vzext.vf2"
    lines = ["vsetvli %[width], %[left], e16, m4, ta, ma"]
    for source in range(4):
        multiply = f"vmacc.vx v8, %[w{source}], v4" if source else "vmul.vx v8, v4, %[w0]"
        lines += [f"vle8.v v0, (%[x{source}])", f"{widen} v4, v0", multiply]
    lines += ["vsetvli zero, zero, e32, m8, ta, ma", f"{widen} v16, v8"]
    lines += ["vadd.vx v16, v16, %[offset]"] * (offset != 0)
    if isinstance(form, MultiplyHigh):
        return (*lines, *codes(["v16"], LANES // 4, form, y_type))
    assert isinstance(form, RoundedDivision), "it is accepted"
    lines += ["csrwi vxrm, 1", f"vssra.vi v16, v16, {form.denominator.values[0]}"]
    for name, value in _rounded(form):
        instruction = {"zero_point": "vadd", "low": "vmax", "high": "vmin"}[name]
        if value or name != "zero_point":
            lines.append(f"{instruction}.vx v16, v16, {f'%[{name}]' if value else 'zero'}")
    for width, group in ((16, 4), (8, 2)):
        lines += [f"vsetvli zero, zero, e{width}, m{group}, ta, ma", "vnsrl.wi v16, v16, 0"]
    return (*lines, "vse8.v v16, (%[y])")
