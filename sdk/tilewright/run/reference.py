"""Our NumPy executor against ONNX Runtime with graph optimisation off, tensor by tensor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from tilewright.ieee import ieee
from tilewright.model import Array, DType, Tensor
from tilewright.ops.quantised_explain import explain
from tilewright.ops.registry import find
from tilewright.ops.requantize import dequantise, quantise
from tilewright.plan.execute import evaluate_call, slot_value
from tilewright.plan.plan import ExecutionPlan, Instruction
from tilewright.report.build import ReferenceReport

FLOAT_TOLERANCE = 1e-3
"""Relative to the largest value of a tensor: ONNX Runtime sums in another order, and folded scales round once less."""

BFLOAT16_TOLERANCE = 1 / 64
"""The same for bfloat16, two steps of the largest value."""


def compare_with_reference(source: Path, plan: ExecutionPlan, inputs: Sequence[Array]) -> ReferenceReport | None:
    """Count the elements that differ, instruction by instruction; None where ONNX Runtime cannot be asked.

    Each instruction is computed from ONNX Runtime's own operands where it names them, so that one step of difference
    is counted where it arises and not again in every layer behind it.
    """
    theirs = reference_values(source, plan, inputs)
    if theirs is None:
        return None
    mismatches = explained = 0
    values: dict[int, Array] = dict(zip(plan.input_slots, inputs, strict=True))
    known = {s.index: _as_held(s.tensor, theirs[s.tensor.name]) for s in plan.slots if s.tensor.name in theirs}
    for instruction in plan.instructions:
        arrays = [None if s < 0 else slot_value(plan, values, s) for s in instruction.inputs]
        results = evaluate_call(instruction.call, arrays)
        for slot, ours in zip(instruction.outputs, results, strict=True):
            values[slot] = ours
            if slot in known and known[slot].shape == ours.shape and known[slot].dtype == ours.dtype:
                found = _difference(instruction, arrays, ours, known[slot])
                mismatches, explained = mismatches + found[0], explained + found[1]
                values[slot] = known[slot]
    return ReferenceReport("onnxruntime", mismatches, explained)


def _as_held(tensor: Tensor, theirs: Array) -> Array:
    """A tensor of the file as we hold it: codes where only our border is integer."""
    if tensor.quantisation is not None and theirs.dtype.kind == "f" and theirs.shape == tensor.shape:
        return quantise(theirs, tensor.quantisation, tensor.dtype)
    return theirs


def _as_named(tensor: Tensor, value: Array, types: Mapping[str, str]) -> Array:
    """An input as the file wants it: real numbers where only our border holds codes."""
    if tensor.quantisation is not None and types.get(tensor.name) == "tensor(float)":
        return dequantise(value, tensor.quantisation)
    return value


def _difference(
    instruction: Instruction, arrays: Sequence[Array | None], ours: Array, theirs: Array
) -> tuple[int, int]:
    """(differing, explained) elements of one result."""
    call = instruction.call
    wrong = differing(ours, theirs)
    operator = find(call.node.op, call.node.domain)
    if not wrong or call.outputs[0].quantisation is None or operator is None:
        return wrong, 0
    full = [call.constants.get(i, array) for i, array in enumerate(arrays)]
    return wrong, explain(operator, call, full, ours, theirs).explained


def reference_values(source: Path, plan: ExecutionPlan, inputs: Sequence[Array]) -> dict[str, Array] | None:
    """Every tensor of the plan that the file names too, as ONNX Runtime computes it."""
    try:
        import onnxruntime
    except ImportError:
        return None
    from tilewright.frontend.cut import cut, tensor_names

    known = tensor_names(source)
    wanted = [slot.tensor.name for slot in plan.slots if slot.index not in plan.input_slots]
    wanted += [name for name in plan.output_names if name not in wanted]
    wanted = [name for name in wanted if name in known]
    if not wanted:  # constants only
        return {}
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    model = cut(source, wanted)
    try:
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), sess_options=options, providers=["CPUExecutionProvider"]
        )
        types = {found.name: found.type for found in session.get_inputs()}
        feed = {
            plan.slots[s].tensor.name: _as_named(plan.slots[s].tensor, value, types)
            for s, value in zip(plan.input_slots, inputs, strict=True)
        }
        found = session.run(wanted, feed)
    except Exception:  # an operator or type that ONNX Runtime does not have: nothing to compare with
        return None
    return {name: np.asarray(value) for name, value in zip(wanted, found, strict=True)}


@ieee
def differing(ours: Array, theirs: Array) -> int:
    """Elements that differ: integers at all, floats by more than the tolerance."""
    if ours.shape != theirs.shape:
        return max(ours.size, theirs.size)
    if ours.dtype.kind in "iub":
        return int(np.count_nonzero(ours != theirs))
    left, right = ours.astype(np.float64), theirs.astype(np.float64)
    scale = float(np.max(np.abs(right[np.isfinite(right)]), initial=0.0))
    tolerance = BFLOAT16_TOLERANCE if ours.dtype == DType.BF16.numpy else FLOAT_TOLERANCE
    same = (left == right) | (np.isnan(left) & np.isnan(right)) | (np.abs(left - right) <= tolerance * scale + 1e-6)
    return int(np.count_nonzero(~same))
