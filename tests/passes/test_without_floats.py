"""Language models without floats: bounds hold, the C has no float but at the border, and what is refused."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from letters_network import VOCABULARY, Sizes, shapes, step
from tilewright.cli import main
from tilewright.commands.comparing import mismatch
from tilewright.compile import Compiled, compile_model, run_model, write
from tilewright.errors import UnsupportedError
from tilewright.frontend.load import load
from tilewright.model import DType, Model, Node, State, Tensor
from tilewright.ops.fixed.tensors import is_fixed, reals_of
from tilewright.options import CompileOptions, RunOptions, StateWish
from tilewright.passes.fixed_point.apply import in_fixed_point
from tilewright.passes.fixed_point.bounds import Bound, of_array
from tilewright.plan.execute import Interpreter, first_value, values_before
from tilewright.quantiser.caches import coded_caches
from tilewright.quantiser.codes import Scheme
from tilewright.quantiser.rewrite import rewritten
from tilewright.target import load_target

SIZES = Sizes(width=32, layers=2, heads=4, key_heads=2, hidden=48, positions=12)
FIXED = CompileOptions(state=StateWish(auto=True), integer_only=True, real="fixed", weights="c")


def _model(cache: int = 8, weights: str = "int8", deviation: float = 0.3) -> onnx.ModelProto:
    draw = np.random.default_rng(4)
    drawn = {name: draw.normal(0, deviation, shape).astype(np.float32) for name, shape in shapes(SIZES).items()}
    scheme = Scheme.parse(weights)
    assert scheme is not None
    return coded_caches(rewritten(step(SIZES, drawn, "drawn"), scheme), cache)


def _compiled(model: onnx.ModelProto, folder: Path, options: CompileOptions = FIXED, target: str = "host") -> Compiled:
    onnx.save(model, folder / "drawn.onnx")
    return compile_model(folder / "drawn.onnx", options, load_target(target))


def _calls(count: int) -> tuple[np.ndarray, np.ndarray]:
    return np.random.default_rng(2).integers(0, len(VOCABULARY), (count, 1)), np.arange(count)[:, None]


@pytest.mark.parametrize(("cache", "weights"), [(8, "int8"), (4, "int4:32"), (4, "int8")])
def test_calls_are_those_of_whole_numbers(cache: int, weights: str, tmp_path: Path) -> None:
    compiled = _compiled(_model(cache, weights), tmp_path)
    assert compiled.report.model.quantisation.float_tensors == ()
    assert "FixedCodedAttention" in {layer.kernel for layer in compiled.report.layers}
    write(compiled, tmp_path)
    tokens, positions = _calls(12)
    np.savez(tmp_path / "calls.npz", token=tokens, pos=positions)
    report = run_model(compiled, load_target("host"), RunOptions(frames=tmp_path / "calls.npz"), tmp_path)
    assert mismatch(report) is None
    assert report.run is not None
    assert report.run.match
    assert report.run.max_lsb_error == 0
    one = run_model(compiled, load_target("host"), RunOptions(layers=True), tmp_path)
    assert mismatch(one) is None
    assert one.run is not None
    assert one.run.reference is not None
    assert one.run.reference.mismatches == one.run.reference.explained


@pytest.mark.parametrize(
    "target",
    [
        pytest.param(name, marks=pytest.mark.sim(name))
        for name in ("qemu_rv32imc", "qemu_mps2_an385", "qemu_microbit", "qemu_mps2_an386")
    ],
)
def test_cores_without_float_unit_write_what_numpy_does(target: str, tmp_path: Path) -> None:
    compiled = _compiled(_model(), tmp_path, FIXED, target)
    write(compiled, tmp_path)
    tokens, positions = _calls(12)
    np.savez(tmp_path / "calls.npz", token=tokens, pos=positions)
    report = run_model(compiled, load_target(target), RunOptions(frames=tmp_path / "calls.npz"), tmp_path)
    assert mismatch(report) is None
    assert report.run is not None
    assert report.run.match


def test_the_c_holds_no_float_but_at_the_border(tmp_path: Path) -> None:
    options = replace(FIXED, optimize="size")
    write(_compiled(_model(), tmp_path, options, "qemu_rv32imc"), tmp_path)
    code = (tmp_path / "src" / "drawn.c").read_text()
    body = re.sub(r"/\*.*?\*/|^#include.*?$", "", code, flags=re.DOTALL | re.MULTILINE)
    floats = [line.strip() for line in body.splitlines() if re.search(r"\b(float|double)\b|\d\.\d*f\b", line)]
    assert floats
    assert all("float *" in line for line in floats), floats


@pytest.mark.parametrize("deviation", [0.05, 1.5])
def test_no_number_is_beyond_its_bound(deviation: float, tmp_path: Path) -> None:
    """Large weights too; the step of a tensor leaves few bits unused."""
    plan = _compiled(_model(deviation=deviation), tmp_path).placed.plan
    tokens, positions = _calls(12)
    states = [first_value(plan, pair) for pair in plan.state]
    largest: dict[str, float] = {}
    for token, position in zip(tokens, positions, strict=True):
        values = values_before(plan, [token, position], states)
        run = Interpreter(plan, values)
        run.interpret(plan.instructions)
        for slot in plan.slots:
            if is_fixed(slot.tensor) and slot.index in run.values and slot.tensor.elements:
                most = int(np.abs(run.values[slot.index].astype(np.int64)).max())
                largest[slot.tensor.name] = max(largest.get(slot.tensor.name, 0), most)
        states = [run.values[pair.source] for pair in plan.state]
    assert largest
    assert max(largest.values()) < 1 << 30
    assert min(largest.values()) > 1 << 12
    assert np.median(list(largest.values())) > 1 << 22


def test_choices_and_scores_are_those_of_the_codes_in_floats(tmp_path: Path) -> None:
    model, floats = _model(), replace(FIXED, real="float", integer_only=False)
    tokens, positions = _calls(8)
    scores = []
    for name, options in (("fixed", FIXED), ("floats", floats)):
        (tmp_path / name).mkdir()
        plan = _compiled(model, tmp_path / name, options).placed.plan
        states, kept = [first_value(plan, pair) for pair in plan.state], []
        for token, position in zip(tokens, positions, strict=True):
            run = Interpreter(plan, values_before(plan, [token, position], states))
            run.interpret(plan.instructions)
            kept.append(run.values[plan.output_slots[0]].reshape(-1))
            states = [run.values[pair.source] for pair in plan.state]
        scores.append(np.stack(kept))
    assert np.abs(scores[0] - scores[1]).max() < 0.02 * np.abs(scores[1]).max()
    assert (scores[0].argmax(1) == scores[1].argmax(1)).all()


def _network(node: Node, tensors: dict[str, Tensor], constants: dict[str, np.ndarray], **more: object) -> Model:
    named = tensors | {name: Tensor(name, DType.of(value.dtype), value.shape) for name, value in constants.items()}
    given = tuple(name for name in tensors if name in node.inputs)
    return Model("made", (node,), named, constants, given, node.outputs, 21, **more)  # type: ignore[arg-type]


def test_what_has_no_bound_or_no_meaning_is_refused() -> None:
    x, y = Tensor("x", DType.F32, (2, 4)), Tensor("y", DType.F32, (2, 4))
    with pytest.raises(UnsupportedError, match="input 'x' holds floats without a bound"):
        in_fixed_point(_network(Node("it", "Sigmoid", ("x",), ("y",)), {"x": x, "y": y}, {}))
    index = Tensor("i", DType.I64, (2,))
    tables = {"table": np.ones((3, 4), np.float32)}
    rows = Node("rows", "Gather", ("table", "i"), ("r",))
    row = Tensor("r", DType.F32, (2, 4))
    model = _network(rows, {"i": index, "r": row}, tables)
    exp = Node("it", "Exp", ("r",), ("y",))
    with pytest.raises(UnsupportedError, match=r"'it' \(Exp\) stays float: Exp has no meaning in fixed point"):
        in_fixed_point(replace(model, nodes=(rows, exp), tensors={**model.tensors, "y": y}, outputs=("y",)))


def test_a_state_that_may_grow_for_ever_is_refused() -> None:
    tensors = {name: Tensor(name, DType.F32, (4,)) for name in ("before", "after")}
    node = Node("it", "Add", ("before", "one"), ("after",))
    model = _network(node, tensors, {"one": np.ones(4, np.float32)}, states=(State("before", "after"),))
    with pytest.raises(UnsupportedError, match="state 'before' may grow with every call"):
        in_fixed_point(model)


def test_the_first_values_of_states_are_codes_too() -> None:
    tensors = {name: Tensor(name, DType.F32, (1, 1, 3, 1)) for name in ("before", "after")}
    tensors |= {"at": Tensor("at", DType.I64, (1,))}
    node = Node("it", "TensorScatter", ("before", "row", "at"), ("after",), {"axis": 2})
    initial = np.array([0.5, -2.0, 3.0], np.float32).reshape(1, 1, 3, 1)
    constants = {"row": np.full((1, 1, 1, 1), 0.25, np.float32)}
    made = in_fixed_point(_network(node, tensors, constants, states=(State("before", "after", initial),)))
    tensor = made.tensors["before"]
    assert is_fixed(tensor)
    assert tensor == replace(made.tensors["after"], name="before")
    (state,) = made.states
    assert state.initial is not None
    assert np.array_equal(reals_of(state.initial, tensor), initial)


def test_bounds_of_rows() -> None:
    values = np.array([[3.0, 4.0], [-1.0, 0.0]])
    assert of_array(values) == Bound(4.0, 5.0)
    assert of_array(np.array(-2.0)) == Bound(2.0, 2.0)


@pytest.mark.parametrize(("options", "told"), [
    (["--weights", "int8"], r"\((Div|Softmax|Attention|MatMul|TensorScatter|Where)\) stays float: .*--cache"),
    (["--weights", "int8", "--cache", "float16"], r"\(Cast\) stays float: Cast has no meaning in fixed point"),
    (["--weights", "int8", "--cache", "int8", "--real", "float"], "--real fixed"),
])  # fmt: skip
def test_the_command_names_what_stays_float(
    options: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    draw = np.random.default_rng(4)
    weights = {name: draw.normal(0, 0.3, shape).astype(np.float32) for name, shape in shapes(SIZES).items()}
    onnx.save(step(SIZES, weights, "drawn"), tmp_path / "drawn.onnx")
    words = ["compile", str(tmp_path / "drawn.onnx"), "-t", "host", "--state", "auto", "--integer-only", *options]
    assert main([*words, "-o", str(tmp_path / "out")]) == 3
    assert re.search(told, capsys.readouterr().err)
    assert not (tmp_path / "out").exists()


def test_the_command_takes_fixed_point_where_codes_are_made(tmp_path: Path) -> None:
    draw = np.random.default_rng(4)
    weights = {name: draw.normal(0, 0.3, shape).astype(np.float32) for name, shape in shapes(SIZES).items()}
    onnx.save(step(SIZES, weights, "drawn"), tmp_path / "drawn.onnx")
    words = ["compile", str(tmp_path / "drawn.onnx"), "-t", "host", "--state", "auto", "--integer-only"]
    assert main([*words, "--weights", "int8", "--cache", "int8", "-o", str(tmp_path / "out")]) == 0
    assert "int32_t" in (tmp_path / "out" / "src" / "drawn.c").read_text()
    assert load(tmp_path / "drawn.onnx").states == ()
