"""The forms of a requantisation as values: the numbers that make codes of exact sums, in NumPy and in C.

They compute, for every sum within the bounds that they were made for, the very code

    clamp(zero_point + round_half_even(sum * multiplier), low, high)

or, as `RoundedTwice` and `RawAverage`, that of TensorFlow Lite Micro. `tilewright.numerics.requantise` chooses one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from tilewright.codegen.c_types import C_TYPES
from tilewright.codegen.terms import plus
from tilewright.model import DType
from tilewright.ops.quantised.proof import FixedPoint
from tilewright.ops.requantize import Integers, divide_half_even
from tilewright.platform import Constant

NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Channelwise:
    """One integer for all output channels, or one for each of them, which C reads from an array of that name."""

    name: str
    dtype: DType
    values: tuple[int, ...]

    @property
    def uniform(self) -> bool:
        """True where one value serves all channels."""
        return len(self.values) == 1

    def spread(self, channels: int) -> Integers:
        """One int64 for each of `channels`."""
        return np.broadcast_to(np.asarray(self.values, np.int64), (channels,))

    def c(self, channel: str, held: Mapping[str, str] = NOTHING) -> str:
        """C expression of the value of a channel: that of `held` under its name, an element of an array, a literal."""
        if self.name in held:
            return held[self.name]
        if not self.uniform:
            return f"{self.name}[{channel}]"
        return f"INT64_C({self.values[0]})" if self.dtype is DType.I64 else str(self.values[0])


@dataclass(frozen=True)
class Requantiser(ABC):
    """From exact sums of 32 bits to codes from `low` to `high`, both included."""

    low: int
    high: int

    @property
    @abstractmethod
    def numbers(self) -> tuple[Channelwise, ...]:
        """The numbers that may differ from channel to channel."""

    @abstractmethod
    def c(self, accumulator: str, channel: str = "0", held: Mapping[str, str] = NOTHING) -> str:
        """C expression, int32_t or int64_t, of the code before it is limited to `low` and `high`.

        `accumulator` and `channel` are C expressions, and so is what `held` has for numbers that stand elsewhere.
        """

    @property
    def wide(self) -> bool:
        """True where the expression is an int64_t."""
        return False

    def code(self, accumulator: str, channel: str = "0", held: Mapping[str, str] = NOTHING) -> str:
        """The expression of `c` as an int32_t."""
        text = self.c(accumulator, channel, held)
        return f"(int32_t)({text})" if self.wide else text

    @abstractmethod
    def apply(self, sums: Integers, axis: int = -1) -> Integers:
        """What the C computes, with its limits: codes of the sums, whose dimension `axis` counts channels."""

    @property
    def arrays(self) -> tuple[Channelwise, ...]:
        """The numbers that lie in memory, one for each channel, in the order of a function's parameters."""
        return tuple(number for number in self.numbers if not number.uniform)

    @property
    def constants(self) -> tuple[Constant, ...]:
        """The arrays, to be given back by `constants` of a kernel."""
        return tuple(Constant(n.name, n.dtype, np.asarray(n.values, n.dtype.numpy)) for n in self.arrays)

    @property
    def parameters(self) -> str:
        """C declarations of the arrays, each followed by a comma."""
        return "".join(f"const {C_TYPES[n.dtype]} *{n.name}, " for n in self.arrays)

    @property
    def held(self) -> Mapping[str, str]:
        """Variables that hold the numbers of one channel, by the arrays that they are read from: `own_NAME`."""
        return {number.name: f"own_{number.name}" for number in self.arrays}

    def declarations(self, channel: str) -> tuple[str, ...]:
        """C declarations of these variables; compilers read an array anew behind a store."""
        return tuple(f"const {C_TYPES[n.dtype]} own_{n.name} = {n.c(channel)};" for n in self.arrays)

    def arguments(self, offset: str) -> str:
        """C expressions of the arrays from channel `offset` on, each followed by a comma."""
        return "".join(f"{n.name} + {offset}, " for n in self.arrays)


@dataclass(frozen=True)
class MultiplyHigh(Requantiser):
    """`((int32_t)(((int64_t)(sum << pre_shift) * multiplier) >> 32) + addend) >> shift`; nothing leaves 32 bits.

    `multiplier` is from 0 to 2^31 - 1, `shift` from 1 to 30, and zero point and rounding are in `addend`.
    """

    pre_shift: int
    multiplier: Channelwise
    addend: Channelwise
    shift: Channelwise

    @property
    def numbers(self) -> tuple[Channelwise, ...]:
        """Multiplier, addend and shift."""
        return (self.multiplier, self.addend, self.shift)

    def c(self, accumulator: str, channel: str = "0", held: Mapping[str, str] = NOTHING) -> str:
        """See `Requantiser.c`; an int32_t."""
        multiplier, addend, shift = (number.c(channel, held) for number in self.numbers)
        before = f"{accumulator} * {1 << self.pre_shift}" if self.pre_shift else accumulator
        upper = f"tilewright_upper((int64_t)({before}) * {multiplier}) + {addend}"
        literal = self.shift.uniform and self.shift.name not in held
        return f"tilewright_floor({upper}, {shift}u)" if literal else f"({upper}) >> {shift}"

    def apply(self, sums: Integers, axis: int = -1) -> Integers:
        """See `Requantiser.apply`."""
        channels = max(len(number.values) for number in self.numbers)
        multiplier, addend, shift = (number.spread(channels).astype(np.int32) for number in self.numbers)
        return FixedPoint(self.pre_shift, multiplier, addend, shift, self.low, self.high).apply(sums, axis)


@dataclass(frozen=True)
class SplitMultiply(Requantiser):
    """`((sum * below >> bits) + sum * above + addend) >> shift`; nothing leaves 32 bits.

    The multiplier is `above * 2^bits + below`: two short products take fewer cycles than the high half of a long one
    where that is not one instruction of one cycle. Rounding and zero point are in `addend`.
    """

    bits: int
    below: Channelwise
    above: Channelwise
    addend: Channelwise
    shift: int

    @property
    def numbers(self) -> tuple[Channelwise, ...]:
        """Both parts of the multiplier, and the addend."""
        return (self.below, self.above, self.addend)

    def c(self, accumulator: str, channel: str = "0", held: Mapping[str, str] = NOTHING) -> str:
        """See `Requantiser.c`; an int32_t. The sum is written out twice."""
        below, above, addend = (number.c(channel, held) for number in self.numbers)
        low_part = f"tilewright_floor({accumulator} * {below}, {self.bits}u)"
        return f"tilewright_floor({low_part} + {accumulator} * {above} + {addend}, {self.shift}u)"

    def apply(self, sums: Integers, axis: int = -1) -> Integers:
        """See `Requantiser.apply`."""
        shape = [1] * sums.ndim
        channels = max(len(number.values) for number in self.numbers)
        if channels > 1:
            shape[axis] = channels
        below, above, addend = (number.spread(channels).reshape(shape) for number in self.numbers)
        words = (sums * below >> self.bits) + sums * above + addend
        codes: Integers = np.clip(words >> self.shift, self.low, self.high).astype(np.int64)
        return codes


@dataclass(frozen=True)
class RoundedDivision(Requantiser):
    """`zero_point + round_half_even((sum * 2^bits + residue) * numerator / denominator)` in 64 bits.

    `denominator` is named `exponent` and counts bits where it is a power of two, else `divisor`. `narrow`: nothing is
    multiplied, one power of two serves all channels, and the sum with half of it stays inside 32 bits.
    """

    zero_point: int
    bits: int
    residue: Channelwise
    numerator: Channelwise
    denominator: Channelwise
    narrow: bool = False

    @property
    def numbers(self) -> tuple[Channelwise, ...]:
        """Numerator, denominator and residue."""
        return (self.numerator, self.denominator, self.residue)

    @property
    def wide(self) -> bool:
        """See `Requantiser.wide`."""
        return not self.narrow

    @property
    def by_shift(self) -> bool:
        """True where the denominator is a power of two in every channel."""
        return self.denominator.name == "exponent"

    def c(self, accumulator: str, channel: str = "0", held: Mapping[str, str] = NOTHING) -> str:
        """See `Requantiser.c`; within 31 bits."""
        if self.narrow:
            total, bits = f"(int32_t)({accumulator})", self.denominator.values[0]
            odd = f"tilewright_bit({total}, {bits}u)"
            return plus(f"tilewright_floor({plus(total, (1 << bits - 1) - 1)} + {odd}, {bits}u)", self.zero_point)
        numerator, denominator, residue = (number.c(channel, held) for number in self.numbers)
        wide = f"(int64_t)({accumulator})"
        if self.bits:
            wide = f"({wide} * {1 << self.bits} + {residue})"
        quotient = "divide" if self.by_shift else "quotient"
        scaled = wide if numerator == "INT64_C(1)" else f"{wide} * {numerator}"
        return plus(f"tilewright_{quotient}_half_even({scaled}, {denominator})", self.zero_point)

    def apply(self, sums: Integers, axis: int = -1) -> Integers:
        """See `Requantiser.apply`."""
        shape = [1] * sums.ndim
        used = (self.numerator, self.denominator, self.residue)
        channels = max(len(number.values) for number in used)
        if channels > 1:
            shape[axis] = channels
        numerator, denominator, residue = (number.spread(channels).reshape(shape) for number in used)
        divisor = np.int64(1) << denominator if self.by_shift else denominator
        quotient = divide_half_even((sums * (1 << self.bits) + residue) * numerator, divisor)
        codes: Integers = np.clip(quotient + self.zero_point, self.low, self.high).astype(np.int64)
        return codes


@dataclass(frozen=True)
class RoundedTwice(Requantiser):
    """`zero_point + ((sum * multiplier + 2^(30 + right) + (sum < 0 ? -half : half)) >> (31 + right))` in 64 bits.

    The product of a `Twice`: `half` is 2^30 where there is a shift to the right, else 0. The sum is written out twice.
    """

    zero_point: int
    multiplier: Channelwise
    right: Channelwise
    half: Channelwise

    @property
    def wide(self) -> bool:
        """See `Requantiser.wide`."""
        return True

    @property
    def numbers(self) -> tuple[Channelwise, ...]:
        """Multiplier, shift to the right, and the part of the addend that has the sign of the sum."""
        return (self.multiplier, self.right, self.half)

    def c(self, accumulator: str, channel: str = "0", held: Mapping[str, str] = NOTHING) -> str:
        """See `Requantiser.c`; an int64_t within 32 bits."""
        multiplier, right, half = (number.c(channel, held) for number in self.numbers)
        product = f"(int64_t)({accumulator}) * {multiplier}"
        signed = f"(({accumulator}) < 0 ? -{half} : {half})"
        return plus(f"(({product} + ((int64_t)1 << (30 + {right})) + {signed}) >> (31 + {right}))", self.zero_point)

    def apply(self, sums: Integers, axis: int = -1) -> Integers:
        """See `Requantiser.apply`."""
        shape = [1] * sums.ndim
        channels = max(len(number.values) for number in self.numbers)
        if channels > 1:
            shape[axis] = channels
        multiplier, right, half = (number.spread(channels).reshape(shape) for number in self.numbers)
        rounded = sums * multiplier + (np.int64(1) << (30 + right)) + np.where(sums < 0, -half, half)
        codes: Integers = np.clip((rounded >> (31 + right)) + self.zero_point, self.low, self.high)
        return codes


@dataclass(frozen=True)
class RawAverage(Requantiser):
    """The mean of `count` codes as they are, ties away from zero: a quotient of 32 bits, cut towards zero.

    A sum of codes less their zero point comes back with `shift` added; the mean comes with `offset`.
    """

    count: int
    shift: int
    offset: int

    @property
    def numbers(self) -> tuple[Channelwise, ...]:
        """None: all channels are alike."""
        return ()

    def c(self, accumulator: str, channel: str = "0", held: Mapping[str, str] = NOTHING) -> str:
        """See `Requantiser.c`; an int32_t. The sum is written out twice."""
        raw, half = f"{accumulator} + {self.shift}" if self.shift else accumulator, self.count // 2
        mean = f"({raw} + ({raw} > 0 ? {half} : {-half})) / {self.count}"
        return f"{mean} + {self.offset}" if self.offset else mean

    def apply(self, sums: Integers, axis: int = -1) -> Integers:
        """See `Requantiser.apply`."""
        raw, half = sums + self.shift, self.count // 2
        mean = np.where(raw > 0, (raw + half) // self.count, -((half - raw) // self.count))
        codes: Integers = np.clip(mean + self.offset, self.low, self.high)
        return codes
