"""IF, WHILE, and places and shapes of the run time, against the wheel and by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tflite_files import G, Op, T, single, written
from tflm_codes import codes_of, lowered
from tilewright.cli import main
from tilewright.errors import TilewrightError, UnsupportedError
from tilewright.model import Array

RNG = np.random.default_rng(3)
CODES, OTHER = T((1, 4), "int8", 0.1, 3), T((1, 4), "int8", 0.07, -9)
LINE = RNG.integers(-128, 128, (6, 1, 4)).astype(np.int8)


def choosing(condition: T) -> bytes:
    """The sum of two tensors where the condition holds, else the first one."""
    outer = G([condition, CODES, CODES, OTHER], [Op("IF", [0, 1, 2], [3], [(0, "i", 1), (1, "i", 2)])],
              [0, 1, 2] if condition.data is None else [1, 2], [3])  # fmt: skip
    then = G([CODES, CODES, OTHER], [Op("ADD", [0, 1], [2], [(0, "b", 0)])], [0, 1], [2])
    other = G([CODES, CODES, OTHER], [Op("QUANTIZE", [0], [2])], [0, 1], [2])
    return written(outer, then, other)


def counting(limit: T, kind: str = "int8") -> bytes:
    """Codes that are added to themselves until a counter reaches a limit."""
    values = CODES if kind == "int8" else T((1, 4))
    begin, one = T((1,), "int32", data=np.asarray([0])), T((1,), "int32", data=np.asarray([1]))
    number = T((1,), "int32")
    outer = G([begin, limit, values, number, number, values],
              [Op("WHILE", [0, 1, 2], [3, 4, 5], [(0, "i", 1), (1, "i", 2)])],
              [1, 2] if limit.data is None else [2], [5])  # fmt: skip
    asked = G([number, number, values, T((1,), "bool")], [Op("LESS", [0, 1], [3])], [0, 1, 2], [3])
    added = [Op("ADD", [0, 3], [4], [(0, "b", 0)]), Op("ADD", [2, 2], [5], [(0, "b", 0)])]
    turn = G([number, number, values, one, number, values], added, [0, 1, 2], [4, 1, 5])
    return written(outer, asked, turn)


THREE = T((1,), "int32", data=np.asarray([3]))
PLACES = T((3,), "int32")
CACHE = RNG.integers(-128, 128, (1, 6, 4)).astype(np.int8)
NEW = RNG.integers(-128, 128, (1, 2, 4)).astype(np.int8)


def overwriting(part: tuple[int, ...]) -> bytes:
    """A part of a tensor that is written over."""
    tensors = [T(CACHE.shape, "int8", 0.1, 3), T(part, "int8", 0.1, 3), PLACES]
    return single("DYNAMIC_UPDATE_SLICE", tensors, [T(CACHE.shape, "int8", 0.1, 3)])


SHAPES = T((2,), "int32"), T((3,), "int32")
CASES: dict[str, tuple[bytes, tuple[Array, ...]]] = {
    "then": (choosing(T((1,), "bool")), (np.asarray([True]), LINE[0], LINE[1])),
    "else": (choosing(T((1,), "bool")), (np.asarray([False]), LINE[2], LINE[3])),
    "three turns": (counting(THREE), (LINE[4],)),
    "no turn": (counting(T((1,), "int32", data=np.asarray([0]))), (LINE[5],)),
    "in the middle": (overwriting((1, 2, 4)), (CACHE, NEW, np.asarray([0, 3, 0], np.int32))),
    "too far": (overwriting((1, 2, 4)), (CACHE, NEW, np.asarray([7, 99, -5], np.int32))),
    "a corner": (overwriting((1, 2, 2)), (CACHE, NEW[:, :, :2].copy(), np.asarray([0, 1, 2], np.int32))),
    "all of it": (overwriting(CACHE.shape), (CACHE, CACHE[:, ::-1].copy(), np.asarray([0, 1, 2], np.int32))),
    "shapes": (single("BROADCAST_ARGS", SHAPES, [T((3,), "int32")]),
               (np.asarray([1, 5], np.int32), np.asarray([3, 4, 1], np.int32))),
}  # fmt: skip


def ours(case: str) -> Array:
    """The result by the semantics, under the contract of the wheel."""
    content, inputs = CASES[case]
    model = lowered(content)
    return codes_of(model, dict(zip(model.given, inputs, strict=True)))[0]


@pytest.mark.parametrize("case", CASES)
def test_results_are_those_of_the_kernels(case: str) -> None:
    runtime = pytest.importorskip("tflite_micro", reason="tflite-micro is not installed").runtime
    content, inputs = CASES[case]
    interpreter = runtime.Interpreter.from_bytes(content, arena_size=1 << 18)
    for index, value in enumerate(inputs):
        interpreter.set_input(value, index)
    interpreter.invoke()
    assert np.array_equal(ours(case), interpreter.get_output(0))


def test_results_are_recorded() -> None:
    """Sums that see order and value, as the wheel 0.dev20261023182759 gave them."""
    assert {case: int((ours(case).astype(np.int64).reshape(-1) * np.arange(1, ours(case).size + 1)).sum())
            for case in CASES} == RECORDED  # fmt: skip


RECORDED = {
    "then": -488,
    "else": -765,
    "three turns": -515,
    "no turn": 244,
    "in the middle": -1122,
    "too far": 2520,
    "a corner": -1020,
    "all of it": 4695,
    "shapes": 26,
}


@pytest.mark.parametrize("case", ["then", "else", "three turns", "in the middle", "too far", "a corner", "shapes"])
@pytest.mark.parametrize("numerics", ["exact", "tflm"])
def test_the_generated_code_computes_them(case: str, numerics: str, tmp_path: Path) -> None:
    content, inputs = CASES[case]
    file = tmp_path / "net.tflite"
    file.write_bytes(content)
    named: dict[str, Any] = {f"t{place}": value for place, value in zip(places(case), inputs, strict=True)}
    np.savez(tmp_path / "values.npz", **named)
    assert main(["run", str(file), "-t", "host", "--numerics", numerics, "--inputs", str(tmp_path / "values.npz")]) == 0


def places(case: str) -> range:
    """The numbers of the tensors that are given."""
    return range(2, 3) if "turn" in case else range(len(CASES[case][1]))


def test_a_number_of_turns_that_data_gives_asks_for_a_bound(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "net.tflite"
    file.write_bytes(counting(T((1,), "int32"), "float32"))
    assert main(["check", str(file), "-t", "host"]) == 3
    assert "number of iterations is computed at run time" in capsys.readouterr().err
    values: dict[str, Any] = {"t1": np.asarray([3], np.int32), "t2": np.ones((1, 4), np.float32)}
    np.savez(tmp_path / "values.npz", **values)
    inputs = ["--inputs", str(tmp_path / "values.npz"), "--bound", "WHILE_0/Loop=4"]
    assert main(["run", str(file), "-t", "host", *inputs]) == 0


DAMAGED = {
    "holds itself": written(G([T((), "bool"), CODES, CODES], [Op("IF", [0, 1], [2], [(0, "i", 0), (1, "i", 0)])],
                              [0, 1], [2])),
    "no subgraph 7": written(G([T((), "bool"), CODES, CODES], [Op("IF", [0, 1], [2], [(0, "i", 7), (1, "i", 7)])],
                               [0, 1], [2])),
    "has 1 operands for a graph of 2 inputs": written(
        G([T((), "bool"), CODES, CODES], [Op("IF", [0, 1], [2], [(0, "i", 1), (1, "i", 1)])], [0, 1], [2]),
        G([CODES, CODES], [], [0, 1], [0]),
    ),
    "they differ in type, shape or scale": written(
        G([T((), "bool"), CODES, CODES], [Op("IF", [0, 1], [2], [(0, "i", 1), (1, "i", 1)])], [0, 1], [2]),
        G([OTHER], [], [0], [0]),
    ),
    "its condition is not one truth value": written(
        G([CODES, CODES], [Op("WHILE", [0], [1], [(0, "i", 1), (1, "i", 1)])], [0], [1]), G([CODES], [], [0], [0])
    ),
    "is no part of": overwriting((1, 7, 4)),
}  # fmt: skip


@pytest.mark.parametrize("why", DAMAGED)
def test_graphs_that_do_not_fit_are_told(why: str) -> None:
    with pytest.raises(TilewrightError, match=why):
        lowered(DAMAGED[why])


def test_graphs_that_name_one_another_too_often_are_refused() -> None:
    """Each of twenty graphs is called twice by the one before: a million operators from a small file."""
    yes = T((), "bool", data=np.asarray(1))
    calls = [Op("IF", [0, 1], [2], [(0, "i", 1), (1, "i", 1)]), Op("IF", [0, 2], [3], [(0, "i", 1), (1, "i", 1)])]
    graphs = []
    for number in range(20):
        ops = [Op(op.name, op.inputs, op.outputs, [(slot, "i", number + 1) for slot in (0, 1)]) for op in calls]
        graphs.append(G([yes, CODES, CODES, CODES], ops, [1], [3]))
    graphs.append(G([CODES], [], [0], [0]))
    with pytest.raises(TilewrightError, match="its graphs name one another too often"):
        lowered(written(*graphs))


def test_state_inside_of_a_branch_is_refused() -> None:
    reading = [Op("VAR_HANDLE", [], [0], [(1, "s", "kept")]), Op("READ_VARIABLE", [0], [1])]
    inner = G([T((), "resource"), CODES], reading, [], [1])
    outer = G([T((), "bool"), CODES], [Op("IF", [0], [1], [(0, "i", 1), (1, "i", 1)])], [0], [1])
    with pytest.raises(UnsupportedError, match="keeps something from call to call in one of its graphs"):
        lowered(written(outer, inner))


def test_turns_without_an_end_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = G([CODES, T((1,), "bool", data=np.asarray([1]))], [], [0], [1])
    turn = G([CODES, CODES], [Op("ADD", [0, 0], [1], [(0, "b", 0)])], [0], [1])
    file = tmp_path / "net.tflite"
    file.write_bytes(
        written(G([CODES, CODES], [Op("WHILE", [0], [1], [(0, "i", 1), (1, "i", 2)])], [0], [1]), asked, turn)
    )
    assert main(["check", str(file), "-t", "host"]) == 3
    assert len(capsys.readouterr().err.splitlines()) == 1
