"""Integer depthwise convolution on cores with the DSP extension: pairs of inputs along one axis in one word.

Of four channels two at a time are copied to planes of 16-bit pairs, zero points where padding is. With stride 1 two
results share their words: (w0, w1) and (w1, w2) of one kernel line, and halves of words where one tap is left, give six
multiply-accumulates in four instructions. The pairs run along the axis that leaves the fewest multiplications.

Along an axis of dilation `d` a word holds inputs `d` apart, and so are its two results: `d` neighbouring units of two
results are a group, word and unit `g` begin at position `2 * g - g % d`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.numerics import C_TYPES, MultiplyHigh, RoundedTwice
from tilewright.platform import Call, Constant, DType, KernelMethods, Needs, Operands, Work
from tilewright.platforms.cortex_m.kernels import matrix_i8
from tilewright.platforms.cortex_m.kernels.depthwise_taps import PackedTaps, Pair, packed_taps
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels import conv_i8 as portable
from tilewright.platforms.generic.kernels import depthwise_i8 as portable_depthwise
from tilewright.platforms.generic.kernels.blocks import Axis


@dataclass(frozen=True)
class DepthwiseWork(Work):
    """Multiplications with their loads; results, and those whose codes are limited; lines of results; words and columns
    of the planes."""

    products: float
    results: float
    limited: float
    lines: float
    plane_words: float
    plane_columns: float


PRICES = DepthwiseWork(products=1.35, results=0.2, limited=8.2, lines=48.0, plane_words=3.9, plane_columns=0.0)
"""Instructions for one unit of each kind of work."""
PLANE_BYTES = 2560
"""Planes are cut into bands along the paired axis where two of them would be larger."""
UNROLLED = 64
"""Multiplications that stand in one turn of the loop over results, where it is more than one result or two."""
SINGLE = 4
"""Inputs of a single channel are loaded one by one, so its plane costs as much as those of so many channels."""
LARGEST_PLANE = 0.25
"""Of the bytes of the result: the plane of a single channel is larger than what other kernels gather."""
OFFSET = 1 << 15
"""What is taken from unsigned codes of 16 bits."""
WIDEST = 1 << 13
"""Weights that stay inside of 16 bits once they are doubled."""
TYPES = "qi8|qu8|qi16|qu16, qi8|qu8|qi4|qu4|qi16, i32? -> qi8|qu8|qi16|qu16"
SATURATES = {(-128, 127): "", (0, 255): "_UNSIGNED", (0, 127): "_POSITIVE"}
"""Limits of codes that one instruction keeps, as the macros are named."""
LARGEST_GROUP = 128
"""Multiplications of one dilated group, which stand in one turn."""


@dataclass(frozen=True)
class Tap:
    """`result` (0 or 1) += `instruction`(word `word` of the line, weight word `weight`)."""

    instruction: str
    result: int
    word: int
    weight: int


@dataclass(frozen=True)
class DepthwiseContext:
    """Every number of one layer: `p` is the axis of the pairs, `q` the other; words per column and per plane.

    Each input channel gives `multiplier` results; `units`, `rest` and `at_once` are those of `Bands`.

    `addend` is C of what comes to a rounded product where channels differ in it, `shift` where they do not.
    Codes of `two_signs` are rounded twice, others are `scale` of a sum, its multiplier and its addend. Inputs of 16
    bits are `halves`, two to a word, and `flip` makes unsigned ones signed.
    """

    x_type: str
    y_type: str
    unsigned: bool
    halves: bool
    flip: int
    y_bits: int
    p: Axis
    q: Axis
    y_p: int
    y_q: int
    channels: int
    multiplier: int
    zero_point: int
    taps: tuple[tuple[Tap, ...], ...]
    line_words: int
    weights: PackedTaps
    table_words: int
    units: int
    rest: tuple[int, ...]
    at_once: int
    unroll: int
    column_words: int
    columns: int
    own: bool
    addend: str
    two_signs: bool
    scale: str
    shift: int
    saturates: str
    limited: bool
    low: int
    high: int


def line(p: Axis) -> tuple[list[Pair], list[Tap]]:
    """Weight words of one kernel line as pairs of taps (-1 for none), and the multiplications of one or two results."""
    kernel = p.kernel
    if p.stride == 2:
        words = [(2 * t, 2 * t + 1 if 2 * t + 1 < kernel else -1) for t in range((kernel + 1) // 2)]
        return words, [Tap("smlad", 0, t, t) for t in range(len(words))]
    even = [(2 * t, 2 * t + 1) for t in range(kernel // 2)]
    odd = [(2 * t - 1, 2 * t) for t in range(1, (kernel + 1) // 2)]
    if p.out <= p.dilation:  # no second result reads the odd words; the last tap of an odd line stands in one
        odd = odd[-1:] if kernel % 2 else []
    words = even + odd or [(0, -1)]
    taps = [Tap("smlad", 0, t, t) for t in range(len(even))]
    if kernel == 1:
        taps.append(Tap("smlabb", 0, 0, 0))
    elif kernel % 2:
        taps.append(Tap("smlabt", 0, kernel // 2, len(words) - 1))
    if p.out > p.dilation:
        taps.append(Tap("smlatb", 1, 0, 0))
        taps += [Tap("smlad", 1, t + 1, len(even) + t) for t in range(len(odd))]
        if kernel % 2 == 0:
            taps.append(Tap("smlabt", 1, kernel // 2, len(even) - 1))
    return words, sorted(taps, key=lambda tap: tap.word)


def taps_of(call: Call, p: Axis, q: Axis) -> PackedTaps:
    """How the weights of a channel lie in its table; those of more than eight bits as they are used."""
    doubled, wide = matrix_i8.twice_form(call) is not None, portable.weights_of(call)[1] is not DType.I8
    return packed_taps(line(p)[0], q.kernel, p.kernel, doubled=doubled, once=wide or p.out * q.out == 1)


def addend_of(twice: RoundedTwice | None, words: int) -> str:
    """C of a channel's addend: the zero point, with half a unit before the shift where codes have one sign."""
    if twice is None:
        return f"(int32_t)t[{words + 2}]"
    if matrix_i8.has_one_sign(twice):
        return "(int32_t)((2u * (uint32_t)codes[0] + 1u) << (shift - 1))"
    return "codes[0]"


def multiplications(p: Axis, q: Axis) -> float:
    """Multiply instructions per channel when the pairs run along `p`."""
    _, taps = line(p)
    units = p.out if p.stride == 2 else (p.out + 1) / 2
    return q.out * q.kernel * (len(taps) * units + 4.0) + 8.0 * q.out


def is_grouped(p: Axis, q: Axis) -> bool:
    """True where a dilated axis has groups that stand in one turn."""
    return p.stride == 1 and p.dilation * len(line(p)[1]) * q.kernel <= LARGEST_GROUP


def oriented(call: Call) -> tuple[Axis, Axis, bool] | None:
    """(axis of the pairs, other axis, True where the pairs run along columns); None where neither axis allows it."""
    h, w = matrix_i8.folded_axes(call)
    orientations = [
        (multiplications(p, q), swapped, p, q)
        for p, q, swapped in ((h, w, False), (w, h, True))
        if p.stride <= 2 and p.size > 1 and (p.dilation == 1 or is_grouped(p, q))
    ]
    if not orientations:
        return None
    _, swapped, p, q = min(orientations, key=lambda item: item[0])
    return p, q, swapped


def times_of(call: Call) -> int:
    """Results of each input channel."""
    return call.outputs[0].shape[1] // call.shape(0)[1]


@dataclass(frozen=True)
class Bands:
    """`units` of one or two results and the results of each unit of the `rest`; units at once, words per column of the
    planes, and columns.
    """

    units: int
    rest: tuple[int, ...]
    at_once: int
    words: int
    columns: int


def bands(p: Axis, q: Axis) -> Bands:
    """How planes of limited size hold the inputs."""
    _, taps = line(p)
    group = p.dilation
    reach = max(tap.word for tap in taps) * group
    units, rest = p.out, tuple[int, ...]()
    if p.stride == 1:
        units, left = p.out // (2 * group) * group, p.out % (2 * group)
        rest = tuple(2 if unit + group < left else 1 for unit in range(min(group, left)))
    columns = (q.out - 1) * q.stride + (q.kernel - 1) * q.dilation + 1

    def words(at_once: int) -> int:
        return at_once + (group if rest else 0) + reach

    at_once, step = units, group if group > 1 else 4
    while at_once > max(4, group) and 8 * columns * words(at_once) > PLANE_BYTES:
        at_once = (at_once - 1) // step * step or 1
    return Bands(units, rest, at_once, words(at_once), columns)


def plane_bytes(call: Call, p: Axis, q: Axis) -> int:
    """Bytes of two planes, or of that of a single channel."""
    cut = bands(p, q)
    return 4 * (1 if call.shape(0)[1] == 1 else 2) * cut.words * cut.columns


@dataclass(frozen=True)
class Coding:
    """How sums become codes: rounded `twice`, below zero too (`two_signs`), channels with an addend and shift of their
    `own`, `limited` where saturation is not enough, else shifted by `shift` and saturated as `saturates` says.
    """

    twice: bool
    two_signs: bool
    own: bool
    limited: bool
    shift: int
    saturates: str


def coding(call: Call) -> Coding:
    """The form of a layer that is not refused."""
    twice = matrix_i8.twice_form(call)
    form = twice or matrix_i8.fixed_point(call)
    own, saturates = twice is not None or matrix_i8.is_own(call), SATURATES.get((form.low, form.high))
    return Coding(
        twice=twice is not None,
        two_signs=twice is not None and not matrix_i8.has_one_sign(twice),
        own=own,
        limited=saturates is None or (own and saturates != "") or call.outputs[0].dtype.bits == 16,
        shift=form.shift.values[0] if isinstance(form, MultiplyHigh) else 0,
        saturates=saturates or "",
    )


def work(call: Call) -> DepthwiseWork:
    """The work of one call."""
    axes = oriented(call)
    assert axes is not None
    p, q, _ = axes
    _, taps = line(p)
    cut = bands(p, q)
    channels = call.shape(0)[1]
    inputs = -(-channels // 4) * 4 if channels > 1 else SINGLE
    count = inputs * times_of(call) if channels > 1 else times_of(call)
    runs = -(-cut.units // cut.at_once) if cut.at_once else 1
    loads = taps[-1].word + 1
    steps = runs * cut.at_once * (len(taps) + loads) + sum(len(taps) * many / 2 + loads for many in cut.rest)
    return DepthwiseWork(
        products=count * q.out * q.kernel * steps,
        results=count * p.out * q.out,
        limited=count * p.out * q.out * coding(call).limited,
        lines=runs * count * q.out,
        plane_words=runs * inputs * cut.columns * cut.words,
        plane_columns=runs * inputs / 2 * cut.columns,
    )


@PLATFORM.kernel(
    "Conv", types=TYPES, template="depthwise_i8.c.mako", layout="channels_last",
    sources=["dsp.h", "halves.h", "depthwise_i8.h"], preference=30, requires=Needs(has=("dsp",)),
)  # fmt: skip
class DepthwiseDsp(KernelMethods):
    """Integer depthwise convolution with pairs of inputs along one axis, stride 1 or 2 there, dilated at stride 1."""

    def accepts(self, call: Call) -> str | None:
        """Stride 1, or 2 without dilation, along one axis, one channel or four and more, a plain requantisation."""
        channels = call.shape(0)[1]
        why = portable.accepts(call) if channels == 1 else portable_depthwise.accepts(call, several=True)
        if why is not None:
            return why
        if 1 < channels < 4:
            return "the kernel computes four channels at once, or one"
        if (reach := int(np.abs(portable.weights_of(call)[0].astype(np.int64)).max())) > WIDEST:
            return f"a weight of {reach}, the kernel takes those up to {WIDEST}"
        axes = oriented(call)
        if axes is None:
            return "no axis has stride 1 with a small dilation, or 2 without"
        if channels == 1 and plane_bytes(call, *axes[:2]) > LARGEST_PLANE * call.outputs[0].elements:
            return "the plane of the single channel is too large beside the result"
        return matrix_i8.refusal_of_both(call, with_constant=True)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Per channel its weight words, start and multiplier, and addend and shift where channels differ."""
        call = operands.call
        axes = oriented(call)
        assert axes is not None
        p, q, swapped = axes
        weights, _ = portable.weights_of(call)
        plain = weights.reshape(weights.shape[0], *((q.kernel, p.kernel) if swapped else (p.kernel, q.kernel)))
        lines = plain if swapped else plain.transpose(0, 2, 1)
        twice = matrix_i8.twice_form(call)
        packed = taps_of(call, p, q).table(lines.reshape(weights.shape[0], -1))
        table = matrix_i8.channel_table(call, weights.shape[0])
        if call.tensor(0).dtype is DType.U16:
            table[:, 0] += (OFFSET * weights.astype(np.int64).reshape(len(weights), -1).sum(axis=1)).astype(np.uint32)
        if twice is not None:
            table = table[:, [0, 1, 3]]  # start, multiplier, shift: the addend follows from the shift
        values = np.concatenate([packed, table], axis=1)
        return Constant("table", DType.U32, values.reshape(-1)), matrix_i8.codes_constant(call)

    def scratch(self, operands: Operands) -> int:
        """Two planes, or that of a single channel."""
        axes = oriented(operands.call)
        assert axes is not None
        return plane_bytes(operands.call, *axes[:2])

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """A channel is copied whole before their results are written, where nothing overlaps."""
        axes = oriented(call)
        assert axes is not None
        cut = bands(*axes[:2])
        alike = times_of(call) == 1 and call.tensor(0).dtype.bits == call.outputs[0].dtype.bits
        return ((0, 0),) if alike and cut.units == cut.at_once else ()

    def cost(self, call: Call) -> float:
        """Work at the prices of its kinds."""
        return work(call).priced(PRICES)

    def context(self, operands: Operands) -> DepthwiseContext:
        """The numbers of the layer."""
        call = operands.call
        x, y = call.tensor(0), call.outputs[0]
        axes = oriented(call)
        assert axes is not None
        assert x.quantisation is not None
        p, q, swapped = axes
        words, taps = line(p)
        products = len(taps) * q.kernel * p.dilation
        cut = bands(p, q)
        twice = matrix_i8.twice_form(call)
        form = twice or matrix_i8.fixed_point(call)
        codes = coding(call)
        channels = x.shape[1]
        row = (p.out if swapped else q.out) * y.shape[1]
        weights, halves = taps_of(call, p, q), x.dtype.bits == 16
        return DepthwiseContext(
            x_type=C_TYPES[x.dtype],
            y_type=C_TYPES[y.dtype],
            unsigned=x.dtype is DType.U8,
            halves=halves,
            flip=OFFSET | OFFSET << 16 if x.dtype is DType.U16 else 0,
            y_bits=y.dtype.bits,
            p=p,
            q=q,
            y_p=y.shape[1] if swapped else row,
            y_q=row if swapped else y.shape[1],
            channels=channels,
            multiplier=times_of(call),
            zero_point=x.quantisation.zero_point[0],
            taps=tuple(tuple(tap for tap in taps if tap.word == word) for word in range(taps[-1].word + 1)),
            line_words=len(words),
            weights=weights,
            table_words=weights.words + (3 if codes.twice else 4 if codes.own else 2),
            units=cut.units,
            rest=cut.rest,
            at_once=cut.at_once,
            unroll=next(
                n * p.dilation
                for n in (4, 3, 2, 1)
                if cut.at_once % (n * p.dilation) == 0 and n * products <= max(products, UNROLLED)
            ),
            column_words=cut.words,
            columns=cut.columns,
            own=codes.own,
            addend=addend_of(twice, weights.words),
            two_signs=codes.two_signs,
            scale="tilewright_scale" if twice is None else "tilewright_scale_rounded",
            shift=codes.shift,
            saturates=codes.saturates,
            limited=codes.limited,
            low=form.low,
            high=form.high,
        )
