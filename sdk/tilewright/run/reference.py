"""Our NumPy executor against ONNX Runtime with graph optimisation off, tensor by tensor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from tilewright.ieee import ieee
from tilewright.model import Array, DType, Shape, Tensor
from tilewright.ops import code_descent
from tilewright.ops.fixed.errors import codes_next_to_ties, fixed_error
from tilewright.ops.fixed.tensors import is_fixed, reals_of
from tilewright.ops.interleave import is_interleave, places
from tilewright.ops.operator import Call
from tilewright.ops.quantised.explain import explain
from tilewright.ops.requantize import dequantise, quantise
from tilewright.passes.signed_codes import less_offset
from tilewright.plan.execute import evaluate_call, first_value, slot_value
from tilewright.plan.plan import ExecutionPlan, Instruction
from tilewright.report.build import DifferenceReport, ReferenceReport
from tilewright.run.exact import ExactCodes
from tilewright.run.lengths import counts_of, outputs_of, with_padding

NAME = "onnxruntime"
FLOAT_TOLERANCE = 1e-3
"""Relative to the largest value of a tensor: ONNX Runtime sums in another order, and folded scales round once less."""

HALF_STEPS = 4
"""Floats of sixteen bits may be so many of their own steps apart: one of them is up to a thousandth of a number."""
BFLOAT16_TOLERANCE = 1 / 64
"""As FLOAT_TOLERANCE for bfloat16: two steps of the largest value."""


class NoReferenceError(Exception):
    """ONNX Runtime cannot be asked; the text says why."""


def refuse_other_numerics(plan: ExecutionPlan) -> None:
    """NoReferenceError for codes that are made in another way than ONNX says."""
    if any(slot.tensor.quantisation and slot.tensor.quantisation.numerics != "exact" for slot in plan.slots):
        raise NoReferenceError(f"codes are those of TensorFlow Lite Micro, {NAME} computes others")
    in_codes = {operator.name for operator in code_descent.OPERATORS}
    if any(instruction.call.node.op in in_codes for instruction in plan.instructions):
        raise NoReferenceError(f"gradients are codes, {NAME} computes those in floats")


def compare_with_reference(
    source: Path, plan: ExecutionPlan, inputs: Sequence[Array]
) -> tuple[ReferenceReport | None, str]:
    """Every tensor that the file names too, also inside of chains; or None and the reason why nothing was compared.

    Each node is computed from ONNX Runtime's own operands where it names them, so that one step of difference is
    counted where it arises and not again in every layer behind it.
    """
    try:
        reference = Reference(source, plan, inputs)
        return _Comparison(reference, plan, inputs).report(), ""
    except NoReferenceError as why:
        return None, str(why)


def with_states(plan: ExecutionPlan, inputs: Sequence[Array]) -> dict[int, Array]:
    """What the first call reads, by slot: the inputs, and the first values of the states."""
    first = {pair.state: first_value(plan, pair) for pair in plan.state}
    return dict(zip(plan.input_slots, inputs, strict=True)) | first


def first_states(plan: ExecutionPlan) -> dict[str, tuple[Tensor, Array]]:
    """What the file's own states hold before the first call, by the input's name, with how we hold it."""
    states: dict[str, tuple[Tensor, Array]] = {}
    for pair in plan.state:
        tensor, value = plan.slots[pair.state].tensor, first_value(plan, pair)
        name = pair.past or tensor.name
        if pair.window is not None:
            value = pair.window.of(value)
            states[name] = (replace(tensor, name=name, shape=value.shape), value)
        elif pair.part is None:
            states[name] = (replace(tensor, name=name), value)
        else:
            if name not in states:
                whole = np.zeros(pair.part.shape, value.dtype)
                states[name] = (replace(tensor, name=name, shape=whole.shape), whole)
            box = pair.part.of(states[name][1])
            box[...] = value.reshape(box.shape)
    return states


class Reference:
    """ONNX Runtime on one file and its inputs, its graph optimisation off."""

    def __init__(self, source: Path, plan: ExecutionPlan, inputs: Sequence[Array]) -> None:
        from tilewright.frontend.cut import tensor_names

        refuse_other_numerics(plan)
        self.source, self.plan = source, plan
        self.given = {plan.slots[s].tensor.name: (plan.slots[s].tensor, value)
                      for s, value in with_states(plan, inputs).items()}  # fmt: skip
        self.given |= first_states(plan)
        self.names = tensor_names(source)

    def values(self, names: Sequence[str]) -> dict[str, Array]:
        """Tensors of the file by name, as ONNX Runtime computes them; NoReferenceError where it refuses the file."""
        known = [name for name in dict.fromkeys(names) if name in self.names]
        values = {name: value for name, (_, value) in self.given.items() if name in names}
        if not known:
            return values
        return {**values, **dict(zip(known, self._computed(known), strict=True))}

    def _computed(self, wanted: Sequence[str]) -> list[Array]:
        try:
            import onnxruntime
        except ImportError:
            raise NoReferenceError(f"{NAME} is not installed") from None
        from tilewright.frontend.cut import cut

        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level = 4
        model = cut(self.source, wanted).SerializeToString()
        try:
            session = onnxruntime.InferenceSession(model, sess_options=options, providers=["CPUExecutionProvider"])
            types = {entry.name: entry.type for entry in session.get_inputs()}
            feed = {name: as_named(*given, types) for name, given in self.given.items() if name in types}
            return [np.asarray(value) for value in session.run(wanted, feed)]
        except Exception as error:  # an operator or type that it does not have, an input that was frozen
            why = str(error).strip().splitlines() or [type(error).__name__]
            raise NoReferenceError(f"{NAME} refuses the file: {why[0][:200]}") from None


class _Comparison:
    """One walk over a plan, with what was found so far."""

    def __init__(self, reference: Reference, plan: ExecutionPlan, inputs: Sequence[Array]) -> None:
        self.plan, self.inputs = plan, inputs
        self.exact = ExactCodes(reference.source, reference.values)
        inner = [t.name for i in plan.instructions for call in i.call.chain for t in call.outputs]
        slots = [slot.tensor.name for slot in plan.slots if slot.index not in (*plan.input_slots, *plan.state_slots)]
        self.theirs = reference.values([*slots, *inner, *plan.output_names])
        named = [(slot.tensor.name, slot.tensor) for slot in plan.slots]
        self.theirs = {**counts_of([*named, *outputs_of(plan)], self.theirs), **self.theirs}
        self.theirs |= parts_of(plan, self.theirs)
        self.compared: set[str] = set()
        self.unlike: list[str] = []
        self.shortened: list[str] = []
        self.differing: list[DifferenceReport] = []

    def report(self) -> ReferenceReport:
        """Walk the plan; NoReferenceError where it has no tensor that the file names."""
        values = with_states(self.plan, self.inputs)
        for instruction in self.plan.instructions:
            arrays = [None if s < 0 else slot_value(self.plan, values, s) for s in instruction.inputs]
            for slot, result in zip(instruction.outputs, self._results(instruction, arrays), strict=True):
                values[slot] = result
        for name, slot in zip(self.plan.output_names, self.plan.output_slots, strict=True):
            self._output(name, self.plan.slots[slot].tensor, slot_value(self.plan, values, slot))
        if not self.compared and not self.unlike:
            raise NoReferenceError("no node of the file computes a tensor that the plan holds too")
        total, explained, exact = (
            sum(getattr(each, field) for each in self.differing) for field in ("mismatches", "explained", "exact")
        )
        return ReferenceReport(
            NAME,
            total,
            explained,
            exact,
            len(self.compared),
            tuple(self.unlike),
            tuple(self.differing),
            tuple(self.shortened),
        )

    def _results(self, instruction: Instruction, arrays: Sequence[Array | None]) -> list[Array]:
        """The results of an instruction, ONNX Runtime's where it has them; a chain is walked node by node."""
        call = instruction.call
        if not call.chain:
            return self._computed(instruction, call, arrays)
        values = {t.name: array for t, array in zip(call.inputs, arrays, strict=True) if t is not None}
        for each in call.chain:
            operands = [None if t is None else values.get(t.name) for t in each.inputs]
            results = self._computed(instruction, each, operands)
            values.update(zip((t.name for t in each.outputs), results, strict=True))
        return [values[tensor.name] for tensor in call.outputs]  # type: ignore[misc]

    def _computed(self, instruction: Instruction, call: Call, arrays: Sequence[Array | None]) -> list[Array]:
        results = list(evaluate_call(call, arrays))
        for place, (tensor, ours) in enumerate(zip(call.outputs, results, strict=True)):
            theirs = self._counterpart(tensor.name, tensor, ours)
            if theirs is not None:
                verdict = self._judged(call, arrays, tensor, ours, theirs)
                self._note(tensor.name, call.node.name, instruction.name, ours.size, verdict)
                results[place] = theirs
        return results

    def _output(self, name: str, tensor: Tensor, ours: Array) -> None:
        """An output that the file calls otherwise than the plan's slot."""
        if name in self.compared or any(text.startswith(f"'{name}' ") for text in self.unlike):
            return
        theirs = self._counterpart(name, tensor, ours)
        if theirs is not None:
            self._note(name, "", "", ours.size, _Verdict(differing(ours, theirs)))

    def _counterpart(self, name: str, tensor: Tensor, ours: Array) -> Array | None:
        """ONNX Runtime's value of a tensor as we hold it; None where it has none, or one of another shape or type."""
        if name not in self.theirs:
            return None
        theirs = as_held(tensor, self.theirs[name])
        self.shortened += [
            f"'{name}' has {theirs.shape[length.axis]} elements along axis {length.axis} in {NAME}, "
            f"here the first {tensor.shape[length.axis]} are kept"
            for length in tensor.lengths
            if theirs.ndim == ours.ndim and theirs.shape[length.axis] > tensor.shape[length.axis]
        ]
        theirs = with_padding(tensor, ours, theirs)
        if theirs.shape != ours.shape or theirs.dtype != ours.dtype:
            self.unlike.append(
                f"'{name}' is {ours.dtype}{list(ours.shape)} here and {theirs.dtype}{list(theirs.shape)} in {NAME}"
            )
            return None
        self.compared.add(name)
        return theirs

    def _judged(
        self, call: Call, arrays: Sequence[Array | None], tensor: Tensor, ours: Array, theirs: Array
    ) -> _Verdict:
        """What becomes of the differences of one result: exact arithmetic decides, else the distance from a tie."""
        if is_fixed(tensor):
            error = fixed_error(call, arrays)
            return _Verdict(differing(reals_of(ours, tensor), reals_of(theirs, tensor), error))
        if call.node.op == "RowCodes" and is_fixed(call.tensor(0)):
            return _Verdict(differing(ours, theirs), codes_next_to_ties(call, arrays, ours, theirs))
        own = call.operator.error if call.operator is not None else None
        wrong = differing(ours, theirs, 0.0 if own is None else own(call, arrays))
        if not wrong or tensor.quantisation is None or call.operator is None:
            return _Verdict(wrong)
        places = np.flatnonzero(ours != theirs)
        right = self.exact.of(*in_file(tensor, places, self.theirs[tensor.name].shape))
        if right is not None:
            codes = zip(ours.reshape(-1)[places].tolist(), right, strict=True)
            kinds = [(low <= code <= high, low == code == high) for code, (low, high) in codes]
            return _Verdict(wrong, sum(good for good, _ in kinds), sum(exact for _, exact in kinds))
        if tensor is not call.outputs[0]:
            return _Verdict(wrong)
        full = [call.constants.get(i, array) for i, array in enumerate(arrays)]
        return _Verdict(wrong, explain(call.operator, call, full, ours, theirs).explained)

    def _note(self, tensor: str, node: str, layer: str, elements: int, verdict: _Verdict) -> None:
        if verdict.mismatches:
            self.differing.append(
                DifferenceReport(tensor, node, layer, elements, verdict.mismatches, verdict.explained, verdict.exact)
            )


def parts_of(plan: ExecutionPlan, theirs: Mapping[str, Array]) -> dict[str, Array]:
    """The operands of an Interleave, which the file does not have, as parts of its result, which it does."""
    parts: dict[str, Array] = {}
    for call in (each for instruction in plan.instructions for each in (instruction.call, *instruction.call.chain)):
        whole = theirs.get(call.outputs[0].name) if is_interleave(call) else None
        if whole is not None and whole.shape == call.outputs[0].shape:
            names = (tensor.name for tensor in call.inputs if tensor is not None)
            parts |= {name: whole[where] for name, where in zip(names, places(call), strict=True)}
    return parts


@dataclass(frozen=True)
class _Verdict:
    """Elements that differ, those that are explained, and those of them that are exact here."""

    mismatches: int
    explained: int = 0
    exact: int = 0


def in_file(tensor: Tensor, places: Array, shape: Shape) -> tuple[Tensor, list[int]]:
    """A tensor of which only some channels are held as the file has it, of `shape`, and flat places of ours in it."""
    if not tensor.kept:
        return tensor, places.tolist()
    batch, channel, *rest = np.unravel_index(places, tensor.shape)
    theirs = np.ravel_multi_index((batch, np.asarray(tensor.kept)[channel], *rest), shape)
    return replace(tensor, shape=shape, kept=()), np.asarray(theirs).tolist()


def as_held(tensor: Tensor, theirs: Array) -> Array:
    """A tensor of the file as we hold it: codes where only our border is integer, signed ones where it has unsigned,
    without the channels that never change.
    """
    if tensor.kept and theirs.ndim == len(tensor.shape) and tensor.kept[-1] < theirs.shape[1]:
        theirs = theirs[:, list(tensor.kept)]
    same = theirs.shape == tensor.shape or bool(tensor.lengths)
    if tensor.quantisation is not None and theirs.dtype.kind == "f" and same:
        return quantise(theirs, tensor.quantisation, tensor.dtype)
    if tensor.type_token == "qi8" and theirs.dtype == np.uint8:
        return less_offset(theirs)
    return theirs


def as_named(tensor: Tensor, value: Array, types: Mapping[str, str]) -> Array:
    """An input as the file wants it: real numbers where only our border holds codes."""
    if tensor.quantisation is not None and types.get(tensor.name) == "tensor(float)":
        return dequantise(value, tensor.quantisation)
    return value


def tensor_differing(tensor: Tensor, ours: Array, theirs: Array) -> int:
    """Elements of a tensor that differ; numbers in fixed point are compared as the real numbers that they stand for."""
    if is_fixed(tensor):
        ours, theirs = reals_of(ours, tensor), reals_of(theirs, tensor)
    return differing(ours, theirs)


@ieee
def differing(ours: Array, theirs: Array, error: float = 0.0) -> int:
    """Elements that differ: integers at all, floats by more than the tolerance, which `error` widens."""
    if ours.dtype.kind in "iub":
        return int(np.count_nonzero(ours != theirs))
    left, right = ours.astype(np.float64), theirs.astype(np.float64)
    scale = float(np.max(np.abs(right[np.isfinite(right)]), initial=0.0))
    with np.errstate(invalid="ignore"):
        relative = BFLOAT16_TOLERANCE if ours.dtype == DType.BF16.numpy else FLOAT_TOLERANCE
        tolerance: float | Array = relative * scale + 1e-6 + error
        if ours.dtype == np.float16:
            tolerance = np.maximum(tolerance, HALF_STEPS * np.spacing(np.abs(theirs)).astype(np.float64))
        same = (left == right) | (np.isnan(left) & np.isnan(right)) | (np.abs(left - right) <= tolerance)
    return int(np.count_nonzero(~same))
