"""What the author of a kernel asks of operators: which there are, their windows, axes and sizes, how they may be cut.

Shapes, attributes and types of a node are in its `Call`; here are what several kernels would otherwise work out again:
the window of a convolution with its padding made explicit, the axis that a Softmax runs along counted from the front,
the heads of an attention. Functions of a call raise ModelError where the node contradicts itself.
"""

from tilewright.ops.arg import arg_axis
from tilewright.ops.attention_rule import Heads as AttentionHeads
from tilewright.ops.attention_rule import heads as attention_heads
from tilewright.ops.attention_rule import rotated as rotary_heads
from tilewright.ops.attention_rule import scale as attention_scale
from tilewright.ops.bounded import has_bound, length_bound
from tilewright.ops.code_descent import Place as CodeDescentPlace
from tilewright.ops.code_descent import Result as CodeDescentResult
from tilewright.ops.code_descent import code_term
from tilewright.ops.code_descent import products as code_descent_products
from tilewright.ops.code_descent import replaces as code_descent_replaces
from tilewright.ops.coded_attention import BLOCK as ATTENTION_BLOCK
from tilewright.ops.coded_attention import attention_units, coded_widths
from tilewright.ops.coded_attention import power_tables as attention_powers
from tilewright.ops.coded_lstm import LstmNumbers, LstmSizes, lstm_numbers, lstm_sizes
from tilewright.ops.coded_lstm import curve as lstm_curve
from tilewright.ops.codes import AsIntegers, Converts, Mean, Moves, Pairwise
from tilewright.ops.conv import conv_window
from tilewright.ops.conv_transpose import spread as transposed_window
from tilewright.ops.cumsum import running_axis
from tilewright.ops.descent import DescentTerm, descent_terms, product_term
from tilewright.ops.descent import products_of as descent_products
from tilewright.ops.descent import replaces as descent_replaces
from tilewright.ops.descent_pair import DX as PAIR_DX
from tilewright.ops.descent_pair import FIRST_NEXT, FIRST_OF_PAIR, SIGNS, pair_terms
from tilewright.ops.descent_pair import replaces as pair_replaces
from tilewright.ops.gather import gather_axis
from tilewright.ops.grid_sample import sampling as grid_sampling
from tilewright.ops.maxunpool import pooled_shape
from tilewright.ops.norm_rows import NormRows, norm_rows, row_parameter
from tilewright.ops.operands import one_axis
from tilewright.ops.operator import remembered, unmapped
from tilewright.ops.pool import pool_window
from tilewright.ops.pooled_conv import pooled_term, sign_bytes
from tilewright.ops.put import put_axis
from tilewright.ops.recurrent import Activation as RecurrentActivation
from tilewright.ops.recurrent import Cell as RecurrentCell
from tilewright.ops.recurrent import cell as recurrent_cell
from tilewright.ops.reduce import reduced_axes
from tilewright.ops.registry import all_operators, names_with
from tilewright.ops.resize import folded as folded_taps
from tilewright.ops.resize import resizing
from tilewright.ops.reverse_sequence import sequence_axes
from tilewright.ops.row_codes import code_block, highest_code
from tilewright.ops.select import compress_axis
from tilewright.ops.shift import newest_first, shift_axis
from tilewright.ops.spectral import dft_axis, dft_length, frames
from tilewright.ops.suppression import limits as suppression_limits
from tilewright.ops.topk import count as top_count
from tilewright.ops.topk import top_axis
from tilewright.tiling.stages import Addressing, Boxed, addressing, relayout_nest, straight_loops

__all__ = [
    "ATTENTION_BLOCK",
    "FIRST_NEXT",
    "FIRST_OF_PAIR",
    "PAIR_DX",
    "SIGNS",
    "Addressing",
    "AsIntegers",
    "AttentionHeads",
    "Boxed",
    "CodeDescentPlace",
    "CodeDescentResult",
    "Converts",
    "DescentTerm",
    "LstmNumbers",
    "LstmSizes",
    "Mean",
    "Moves",
    "NormRows",
    "Pairwise",
    "RecurrentActivation",
    "RecurrentCell",
    "addressing",
    "all_operators",
    "arg_axis",
    "attention_heads",
    "attention_powers",
    "attention_scale",
    "attention_units",
    "code_block",
    "code_descent_products",
    "code_descent_replaces",
    "code_term",
    "coded_widths",
    "compress_axis",
    "conv_window",
    "descent_products",
    "descent_replaces",
    "descent_terms",
    "dft_axis",
    "dft_length",
    "folded_taps",
    "frames",
    "gather_axis",
    "grid_sampling",
    "has_bound",
    "highest_code",
    "length_bound",
    "lstm_curve",
    "lstm_numbers",
    "lstm_sizes",
    "names_with",
    "newest_first",
    "norm_rows",
    "one_axis",
    "pair_replaces",
    "pair_terms",
    "pool_window",
    "pooled_shape",
    "pooled_term",
    "product_term",
    "put_axis",
    "recurrent_cell",
    "reduced_axes",
    "relayout_nest",
    "remembered",
    "resizing",
    "rotary_heads",
    "row_parameter",
    "running_axis",
    "sequence_axes",
    "shift_axis",
    "sign_bytes",
    "straight_loops",
    "suppression_limits",
    "top_axis",
    "top_count",
    "transposed_window",
    "unmapped",
]  # fmt: skip
