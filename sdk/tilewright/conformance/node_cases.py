"""The test cases that ship inside the onnx package, through our C.

A case whose shape or axes must be known at compile time has that input frozen; it is counted apart.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tilewright.conformance.program import Outcome, run_batch
from tilewright.conformance.subject import Subject, load_and_pass, place, subject
from tilewright.errors import PlatformError, TilewrightError, UnsupportedError
from tilewright.model import Array, DType
from tilewright.platform import Platform
from tilewright.run.lengths import without_padding

SETS = ("node", "simple", "pytorch-converted", "pytorch-operator")
_BFLOAT16_BOUND = 2**-6
"""Two steps, as the onnx package's own test runner allows them."""
_NOISE = "the expected zeros carry the noise of a float32 transform"
TURNS = 12
"""The bound of a loop whose turns are decided at run time by something else than an integer among the inputs."""
LOOSE = {"test_dft_inverse": (1e-6, _NOISE), "test_dft_inverse_opset19": (1e-6, _NOISE)}
"""Cases whose expected values are less exact than their tolerance: the absolute tolerance that holds, and why."""


@dataclass(frozen=True)
class Case:
    """A model with operand values and expected results of every data set; None where one is no tensor."""

    name: str
    group: str
    operator: str
    model: Any
    data: tuple[tuple[tuple[Array | None, ...], tuple[Array | None, ...]], ...]
    rtol: float
    atol: float


@dataclass(frozen=True)
class Verdict:
    """How a case ended: `passes`, `refused` with the reason, or `wrong` with what differs.

    `cause` is why it was refused without the names of its own nodes and tensors, so that equal causes count together.
    `frozen` are the inputs that were made constants, `folded` is true where nothing was left for run time.
    """

    name: str
    group: str
    operator: str
    result: str
    reason: str = ""
    cause: str = ""
    frozen: tuple[str, ...] = ()
    folded: bool = False


@dataclass(frozen=True)
class Prepared:
    """A case as a subject, with its frozen inputs, and loops with a bound, and expected outputs for every run."""

    case: Case
    subject: Subject
    expected: tuple[tuple[Array | None, ...], ...]
    frozen: tuple[str, ...] = field(default=())


def collect(groups: Sequence[str] = SETS) -> list[Case]:
    """Every case of the sets, in their own order."""
    cases_of_sets: list[Case] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if "node" in groups:
            from onnx.backend.test.case.node import collect_testcases

            cases: list[Any] = collect_testcases(None)
            cases_of_sets += [_node_case(case) for case in cases]
        from onnx.backend.test.loader import load_model_tests

        for group in groups:
            if group != "node":
                cases_of_sets += [_stored_case(case, group) for case in load_model_tests(kind=group)]
    return cases_of_sets


def _node_case(case: Any) -> Case:
    data = tuple((tuple(map(_array, given)), tuple(map(_array, wanted))) for given, wanted in case.data_sets)
    atol = LOOSE[case.name][0] if case.name in LOOSE else case.atol
    return Case(case.name, "node", _operator(case.name, case.model), case.model, data, case.rtol, atol)


def _stored_case(case: Any, group: str) -> Case:
    """A case that lies in a folder of the package."""
    import onnx

    folder = Path(case.model_dir)
    model = onnx.load(folder / "model.onnx")
    data = []
    for inner in sorted(folder.glob("test_data_set_*")):
        pair = []
        for word, values in (("input", model.graph.input), ("output", model.graph.output)):
            files = [inner / f"{word}_{i}.pb" for i in range(len(list(inner.glob(f"{word}_*.pb"))))]
            pair.append(tuple(_stored(file, value) for file, value in zip(files, values, strict=False)))
        data.append((pair[0], pair[1]))
    return Case(case.name, group, _operator(case.name, model), model, tuple(data), case.rtol, case.atol)


def _stored(file: Path, value: Any) -> Array | None:
    from onnx import TensorProto, numpy_helper

    if not value.type.HasField("tensor_type"):
        return None
    tensor = TensorProto()
    tensor.ParseFromString(file.read_bytes())
    return np.asarray(numpy_helper.to_array(tensor))


def _array(value: Any) -> Array | None:
    from onnx import TensorProto, numpy_helper

    if isinstance(value, TensorProto):
        return np.asarray(numpy_helper.to_array(value))
    return np.asarray(value) if isinstance(value, np.ndarray | np.generic | int | float) else None


def _operator(name: str, model: Any) -> str:
    """The operator that the case is about: that of its only node, else the first that the name begins with."""
    nodes = [node.op_type for node in model.graph.node]
    if len(nodes) == 1:
        return str(nodes[0])
    word = name.removeprefix("test_").replace("_", "")
    fits = [op for op in dict.fromkeys(nodes) if word.startswith(op.lower())]
    return str(max(fits, key=len)) if fits else str(nodes[0] if nodes else "")


def prepare(case: Case, index: int, platform: Platform) -> Prepared:
    """Compile a case; UnsupportedError where it is refused. A loop that asks for a bound is given one."""
    names = [value.name for value in case.model.graph.input]
    first = dict(zip(names, case.data[0][0], strict=False))
    frozen: dict[str, Array] = {}
    bounds: dict[str, int] = {}
    while True:
        try:
            model = load_and_pass(case.model, f"m{index}", frozen, bounds=bounds)
            placed = place(model, platform)
            break
        except UnsupportedError as error:
            if "--bound" in error.fix and error.where.tensor not in bounds:
                bounds[error.where.tensor] = _turns(first)
                continue
            wanted = _wanted(error, case.model, first, frozen)
            if wanted is None:
                raise
            frozen[wanted[0]] = wanted[1]
    runs, expected = [], []
    inputs = [placed.plan.slots[slot].tensor for slot in placed.plan.input_slots]
    for given, wanted_outputs in case.data:
        values = dict(zip(names, given, strict=False))
        if any(_differs(values.get(name), array) for name, array in frozen.items()):
            continue
        arrays = [values[tensor.name] for tensor in inputs]
        runs.append([np.asarray(a).astype(t.dtype.numpy) for a, t in zip(arrays, inputs, strict=True)])
        expected.append(wanted_outputs)
    return Prepared(case, subject(placed, platform, runs), tuple(expected), (*frozen, *bounds))


def _turns(values: Mapping[str, Array | None]) -> int:
    """A bound for the turns of a loop: the largest number among the inputs, which the case turns at the most."""
    numbers = [
        int(each.max()) for each in values.values() if each is not None and each.size == 1 and each.dtype == np.int64
    ]
    return max((number for number in numbers if number > 0), default=TURNS)


def _differs(value: Array | None, frozen: Array) -> bool:
    return value is None or not np.array_equal(value, frozen)


def _wanted(
    error: UnsupportedError, model: Any, values: Mapping[str, Array | None], frozen: Mapping[str, Array]
) -> tuple[str, Array] | None:
    """The input that the error asks to be known at compile time, with its value; one without elements holds no data.

    Where a tensor is asked for that nodes compute, it is the first input of integers or conditions that it comes from.
    """
    name = error.where.tensor
    value = values.get(name)
    if value is not None and not value.size:
        return None if name in frozen else (name, value)
    if "not known at compile time" not in str(error) and "or freeze that input" not in str(error):
        return None
    for source in _sources(model, name):
        value = values.get(source)
        if value is not None and source not in frozen and (source == name or value.dtype.kind in "biu"):
            decides = "not known" in str(error) or value.dtype.kind == "b"
            return (source, value) if decides else None
    return None


def _sources(model: Any, name: str) -> list[str]:
    """The tensor, and those that it is computed from."""
    writers = {result: node for node in model.graph.node for result in node.output}
    names = [name]
    for each in names:
        names += [read for read in (writers[each].input if each in writers else ()) if read and read not in names]
    return names


def compare(prepared: Prepared, outcome: Outcome) -> str:
    """Empty where every output is as expected, else what differs."""
    if outcome.failure:
        return outcome.failure
    case = prepared.case
    for padded, expected in zip(outcome.runs, prepared.expected, strict=True):
        arrays = without_padding(prepared.subject.outputs, padded)
        for index, (got, wanted) in enumerate(zip(arrays, expected, strict=False)):
            if wanted is None:
                continue
            if got.shape != wanted.shape:
                return f"output {index} has shape {list(got.shape)}, not {list(wanted.shape)}"
            if difference := _difference(got, wanted, case):
                return f"output {index} {difference}"
    return ""


def _difference(got: Array, wanted: Array, case: Case) -> str:
    if DType.of(got.dtype).is_float:
        left, right = got.astype(np.float64), wanted.astype(np.float64)
        relative = max(case.rtol, _BFLOAT16_BOUND) if DType.of(got.dtype) is DType.BF16 else case.rtol
        close = np.isclose(left, right, rtol=relative, atol=case.atol, equal_nan=True)
    else:
        close = got.astype(np.int64) == wanted.astype(np.int64)
    if close.all():
        return ""
    at = np.argwhere(~close)[0]
    place = tuple(at.tolist())
    count = f"{int((~close).sum())} of {got.size} elements"
    return f"differs in {count}, first at {list(place)}: {got[place]}, not {wanted[place]}"


def cause_of(error: TilewrightError, case: Case) -> str:
    """What an error says and why, without the names of the case's own nodes and tensors."""
    nodes = case.model.graph.node
    tensors = (name for node in nodes for name in (*node.input, *node.output))
    names = {error.where.node, error.where.tensor, *(node.name for node in nodes), *tensors}
    text = f"{error.what}: {error.why}" if error.why else error.what
    for name in sorted(filter(None, names), key=len, reverse=True):
        text = text.replace(f" '{name}'", "")
    return text


def judge(cases: Sequence[Case], platform: Platform, folder: Path, flags: Sequence[str] = ("-O1",)) -> list[Verdict]:
    """Every case compiled, run and compared."""
    prepared: list[Prepared] = []
    verdicts: dict[str, Verdict] = {}
    for index, case in enumerate(cases):
        try:
            prepared.append(prepare(case, index, platform))
        except TilewrightError as error:
            # a broken template or an error that is no refusal is a fault of ours
            refused = isinstance(error, UnsupportedError) and not isinstance(error, PlatformError)
            result, why = ("refused", str(error)) if refused else ("wrong", f"{type(error).__name__}: {error}")
            verdicts[case.name] = Verdict(case.name, case.group, case.operator, result, why, cause_of(error, case))
    outcomes = run_batch([p.subject for p in prepared], folder, flags=flags)
    for item, outcome in zip(prepared, outcomes, strict=True):
        case, why = item.case, compare(item, outcome)
        folded = not item.subject.inputs
        result = "wrong" if why else "passes"
        verdicts[case.name] = Verdict(case.name, case.group, case.operator, result, why, "", item.frozen, folded)
    return [verdicts[case.name] for case in cases]
