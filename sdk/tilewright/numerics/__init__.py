"""What the author of an integer kernel imports beside `tilewright.platform`: codes, sums, and the way between them.

A quantised tensor holds codes; `the_quantisation(tensor)` gives its scales and zero points, `code_limits(call, tensor)`
the smallest and largest code that a result may have. Every operator on codes is defined by exact integers:

    sum  = bias + sum over k of (x[k] - x_zero) * (w[k] - w_zero)         within int32, or the node is refused
    code = clamp(zero_point + round_half_even(sum * multiplier), low, high)

`accumulator(call)` gives what the sums of a Conv, ConvTranspose, Gemm or MatMul start from and the least and largest
of them that can occur; `centred(tensor, codes)` the weights less their zero point. `proof(call)` has compared, at each
of the at most 255 steps of each channel, a form of 32 bits with that definition; `requantise(proof(call))` is the
form as a value that prints itself in C. A call that has no such form takes the exact one in 64 bits, and a kernel
refuses what is `too_wide(proof)` for that too. Means, interpolations, pairs of tensors, functions of one code and
Softmax have forms of their own below.

    def accepts(self, call):   return too_wide(proof(call))
    def constants(self, operands):   return (..., *requantise(proof(operands.call)).constants)
    def context(self, operands):   return MyContext(..., requantise(proof(operands.call)), C_TYPES[y.dtype])

Names of `tilewright.ops` that are not repeated here, and other inner modules, may change with any version.
"""

from tilewright.codegen.c_types import (
    C_TYPES,
    constant_address,
    constant_type,
    initialiser,
    is_half,
    literal,
    loaded,
    packed,
    stored,
)
from tilewright.codegen.terms import plus, times
from tilewright.numerics.c_text import OF_PAIRS, minus, pair_text
from tilewright.numerics.requantise import ROUNDING, SHIFTS, requantise, rounded_twice, split_multiply, too_wide
from tilewright.numerics.requantisers import (
    Channelwise,
    MultiplyHigh,
    Requantiser,
    RoundedDivision,
    RoundedTwice,
    SplitMultiply,
)
from tilewright.ops.fixed.attention import AttentionForm
from tilewright.ops.fixed.attention import attention_form as fixed_attention
from tilewright.ops.fixed.elements import StepForm, SumForm, product_exponent, step_form, sum_form
from tilewright.ops.fixed.normalised import NormForm
from tilewright.ops.fixed.normalised import norm_form as fixed_norm
from tilewright.ops.fixed.products import MatrixForm
from tilewright.ops.fixed.products import matrix_form as fixed_matrix
from tilewright.ops.fixed.rows import UnitForm
from tilewright.ops.fixed.rows import product_form as fixed_product
from tilewright.ops.fixed.rows import table_form as fixed_table
from tilewright.ops.fixed.tensors import fraction_bits, is_fixed
from tilewright.ops.fixed.turned import turn_exponents
from tilewright.ops.fixed.whole import mantissa
from tilewright.ops.operands import zero_code
from tilewright.ops.quantised.add import PairForm, pair_form
from tilewright.ops.quantised.curve_twice import factor as curve_factor
from tilewright.ops.quantised.curve_twice import points as curve_points
from tilewright.ops.quantised.function_twice import root_rule
from tilewright.ops.quantised.linear import (
    Accumulator,
    accumulator,
    by_channel,
    centred,
    channel_axis,
    channels,
    proof,
    requantisation,
    split_bias,
    wraps,
)
from tilewright.ops.quantised.log_shares import log_shares_form
from tilewright.ops.quantised.mean import mean_proof, window_counts
from tilewright.ops.quantised.meaning import requantisation_table, same_meaning
from tilewright.ops.quantised.meaning import table as lookup_table
from tilewright.ops.quantised.near import NearForm, near_form
from tilewright.ops.quantised.normalised import NormalisedForm, has_normalised_form, normalised_form
from tilewright.ops.quantised.proof import Bounds, Proof, prove, thresholds
from tilewright.ops.quantised.quotient import QuotientForm, quotient_form
from tilewright.ops.quantised.quotient_twice import Quotient
from tilewright.ops.quantised.real import code_limits, real_call, rounds_twice, the_quantisation
from tilewright.ops.quantised.resize import ResizeAxis, ResizeForm, interpolates, resize_form, resize_proof
from tilewright.ops.quantised.running_sums import running_along, running_rule
from tilewright.ops.quantised.settled import SettledForm, rounds_as_floats, settled_form
from tilewright.ops.quantised.softmax import SoftmaxForm, softmax_axis, softmax_form
from tilewright.ops.quantised.softmax_lines import exponential_points, inverse_points, softmax_lines_rule
from tilewright.ops.quantised.softmax_twice import TOTAL_SHIFT, softmax_twice_form, softmax_twice_unknown
from tilewright.ops.quantised.twice import Addition, Distance, Twice
from tilewright.ops.quantised.twice_elements import clip_steps, element_rules
from tilewright.ops.quantised.twice_elements import unknown as element_twice_unknown
from tilewright.ops.quantised.wide_matmul import wide_nests, wide_rule
from tilewright.ops.requantize import Integers, Requantisation, dequantise, quantise

__all__ = [
    "C_TYPES", "OF_PAIRS", "ROUNDING", "SHIFTS", "TOTAL_SHIFT", "Accumulator", "Addition", "AttentionForm", "Bounds",
    "Channelwise", "Distance", "Integers", "MatrixForm", "MultiplyHigh", "NearForm", "NormForm", "NormalisedForm",
    "PairForm", "Proof", "Quotient", "QuotientForm", "Requantisation", "Requantiser", "ResizeAxis", "ResizeForm",
    "RoundedDivision", "RoundedTwice", "SettledForm", "SoftmaxForm", "SplitMultiply", "StepForm", "SumForm", "Twice",
    "UnitForm", "accumulator", "by_channel", "centred", "channel_axis", "channels", "clip_steps", "code_limits",
    "constant_address", "constant_type", "curve_factor", "curve_points", "dequantise", "element_rules",
    "element_twice_unknown", "exponential_points", "fixed_attention", "fixed_matrix", "fixed_norm", "fixed_product",
    "fixed_table", "fraction_bits", "has_normalised_form", "initialiser", "interpolates", "inverse_points", "is_fixed",
    "is_half", "literal", "loaded", "log_shares_form", "lookup_table", "mantissa", "mean_proof", "minus", "near_form",
    "normalised_form", "packed", "pair_form", "pair_text", "plus", "product_exponent", "proof", "prove", "quantise",
    "quotient_form", "real_call", "requantisation", "requantisation_table", "requantise", "resize_form", "resize_proof",
    "root_rule", "rounded_twice", "rounds_as_floats", "rounds_twice", "running_along", "running_rule", "same_meaning",
    "settled_form", "softmax_axis", "softmax_form", "softmax_lines_rule", "softmax_twice_form", "softmax_twice_unknown",
    "split_bias", "split_multiply", "step_form", "stored", "sum_form", "the_quantisation", "thresholds", "times",
    "too_wide", "turn_exponents", "wide_nests", "wide_rule", "window_counts", "wraps", "zero_code",
]  # fmt: skip
