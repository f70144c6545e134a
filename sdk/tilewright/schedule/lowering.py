"""From the network as it was loaded to the network that is bound: integers where it is quantised, then the passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tilewright.binding.types import mismatch
from tilewright.frontend.check import check_model
from tilewright.model import Model
from tilewright.ops.operator import Call
from tilewright.options import MEMORY_PASSES, CompileOptions
from tilewright.passes import gates
from tilewright.passes.driver import passes_for
from tilewright.passes.driver import run as run_passes
from tilewright.passes.fixed_point.apply import in_fixed_point
from tilewright.passes.input_rows import streamed_inputs
from tilewright.passes.quantise.known import require_known
from tilewright.passes.quantise.lower import integer_border, integer_states, lower
from tilewright.passes.quantise.report import require_integers
from tilewright.passes.states import split_states
from tilewright.passes.stream.stream import streamed
from tilewright.platform import Kernel
from tilewright.schedule.question import Lowered


def in_blocks(kernels: Sequence[Kernel], call: Call) -> bool:
    """True where a kernel that is no last resort computes the call."""
    able = (kernel for kernel in kernels if kernel.op == call.node.op and kernel.preference > 0)
    return any(mismatch(kernel, call) is None and kernel.accepts(call) is None for kernel in able)


def lowered(loaded: Model, options: CompileOptions, kernels: Sequence[Kernel]) -> Lowered:
    """Quantised patterns as integers; then fold, fuse, cancel, as far as the options let them.

    `kernels` are those of the target: what only plain loops of it compute is taken apart, which takes memory, so not
    where size is the aim.
    """
    integers = integer_states(lower(replace(loaded, numerics=options.numerics)))
    if options.stream is not None:
        integers = streamed(integers, options.stream)
    if options.quantized_io:
        integers = integer_border(integers)
    if options.io == "stream":
        integers = streamed_inputs(integers)
    if options.numerics == "tflm":
        require_known(integers)
    if options.integer_only and options.real == "float":
        require_integers(integers)
    if "state" not in options.disabled_passes:
        integers = split_states(integers)
    disabled = options.disabled_passes - MEMORY_PASSES
    if options.real == "fixed":
        disabled |= {gates.name}  # sigmoids and products have a meaning in fixed point
    model, reports = run_passes(
        integers, tuple(disabled), passes_for(lambda call: options.optimize == "size" or in_blocks(kernels, call))
    )
    if options.real == "fixed":
        model = check_model(in_fixed_point(model), "the stage of fixed point")
    if options.integer_only:
        require_integers(model)
    return Lowered(loaded, model, reports)
