"""Linear interpolation of images of codes on cores with the vector extension: halves join rows, words columns."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.numerics import (
    ROUNDING,
    MultiplyHigh,
    Requantiser,
    RoundedDivision,
    requantise,
    resize_proof,
    the_quantisation,
)
from tilewright.platform import Call, Constant, KernelMethods, Needs, Operands
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels.codes_resize import form_of
from tilewright.platforms.generic.kernels.resize_linear_i8 import ResizeLinearI8
from tilewright.platforms.generic.kernels.resized_images import MOST_CHANNELS, ResizedImages, images_of

PORTABLE = ResizeLinearI8()
FEWEST = 3
"""With fewer channels the words of a vector stay empty."""


@dataclass(frozen=True)
class MveResizeContext:
    """The sum has `offset` taken off; `code` is the requantised vector `sum` as C, between `low` and `high`."""

    extent: ResizedImages
    offset: int
    code: str
    low: int
    high: int


def _vector_code(form: Requantiser) -> str | None:
    """The codes of a vector of sums; None for a form that vectors do not have."""
    if isinstance(form, MultiplyHigh):
        multiplier, addend, shift = (number.values[0] for number in form.numbers)
        scaled = f"vshlq_n_s32(sum, {form.pre_shift})" if form.pre_shift else "sum"
        return f"vshlq_r_s32(vaddq_n_s32(vmulhq_s32({scaled}, vdupq_n_s32({multiplier})), {addend}), {-shift})"
    if isinstance(form, RoundedDivision) and form.narrow:
        bits = int(form.denominator.values[0])
        odd = f"vandq_s32(vshlq_r_s32(sum, {-bits}), vdupq_n_s32(1))"
        code = f"vshlq_r_s32(vaddq_n_s32(vaddq_s32(sum, {odd}), {(1 << bits - 1) - 1}), {-bits})"
        return f"vaddq_n_s32({code}, {form.zero_point})" if form.zero_point else code
    return None


@PLATFORM.kernel(
    "Resize", "Upsample", types="qi8|qu8, *... -> qi8|qu8", template="resize_mve.c.mako", layout="channels_last",
    sources=[*ROUNDING, "mve.h"], preference=40, requires=Needs(has=("mve",)),
)  # fmt: skip
class ResizeMve(KernelMethods):
    """Eight codes of two rows, then four codes of two columns at a time."""

    def accepts(self, call: Call) -> str | None:
        """What the portable kernel accepts, some channels, and a requantisation that vectors have."""
        if (why := PORTABLE.accepts(call)) is not None:
            return why
        if call.shape()[1] < FEWEST:
            return f"fewer than {FEWEST} channels, vectors would stay empty"
        form = requantise(resize_proof(call, form_of(call)))
        return None if _vector_code(form) is not None else "the requantisation takes more than 32 bits"

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Those of the portable kernel."""
        return PORTABLE.constants(operands)

    def scratch(self, operands: Operands) -> int:
        """Two joined rows of some channels, two bytes for a code."""
        shape = operands.call.shape()
        return 2 * min(shape[1], MOST_CHANNELS) * shape[3]

    def cost(self, call: Call) -> float:
        """Some fourteen instructions for four results, and what a pixel takes."""
        y = call.outputs[0]
        pixels = y.elements / y.shape[1]
        return 14.0 * pixels * -(-y.shape[1] // 4) + 20.0 * pixels

    def context(self, operands: Operands) -> MveResizeContext:
        """The numbers of the layer."""
        call = operands.call
        form = form_of(call)
        requantiser = requantise(resize_proof(call, form))
        code = _vector_code(requantiser)
        assert code is not None, "accepts refuses other forms"
        extent = images_of(call, min(call.shape()[1], MOST_CHANNELS))
        offset = the_quantisation(call.tensor(0)).zero_point[0] << form.bits
        return MveResizeContext(extent, offset, code, requantiser.low, requantiser.high)
