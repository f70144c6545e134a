"""Outputs whose length data decides: drawn ones in C against ONNX Runtime, without the padding behind them."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
import pytest
from frontend.test_loops import asked
from graphs import node, onnx_model
from onnx import TensorProto, helper
from tilewright.cli import main
from tilewright.conformance.program import SANITIZE, STRICT, run_batch
from tilewright.conformance.subject import Subject, place, subject
from tilewright.errors import UnsupportedNode
from tilewright.frontend.load import load
from tilewright.passes.driver import run as run_passes
from tilewright.plugins import platform
from tilewright.run.lengths import counts_of, outputs_of, with_padding, without_padding

Array = npt.NDArray[Any]
Drawn = tuple[onnx.ModelProto, Mapping[str, Array]]
SEED, EACH = 19, 6
TYPES = {"f": (TensorProto.FLOAT, np.float32), "q": (TensorProto.INT64, np.int64), "b": (TensorProto.BOOL, np.bool_)}


def model(op: str, feeds: Mapping[str, Array], outputs: str, name: str = "it", **attributes: Any) -> onnx.ModelProto:
    types = {key: helper.np_dtype_to_tensor_dtype(value.dtype) for key, value in feeds.items()}
    results = outputs.split()
    integers = {name: TensorProto.INT64 for name in results[1:]}
    first = types["x"] if op in ("Compress", "Unique", "TopK") else TensorProto.INT64
    return onnx_model(
        [node(op, " ".join(feeds), outputs, name, **attributes)],
        {key: value.shape for key, value in feeds.items()},
        [each for each in results if each != "-"],
        types={**types, **integers, results[0]: first},
    )


def shape(r: random.Random, rank: int) -> tuple[int, ...]:
    return tuple(r.randint(1, 5) for _ in range(rank))


def few(r: random.Random, size: tuple[int, ...], kind: npt.DTypeLike = np.float32) -> Array:
    """Values of which many are equal, zeros among them."""
    return np.random.default_rng(r.randint(0, 1 << 30)).integers(-2, 3, size).astype(kind)


def non_zero(r: random.Random) -> Drawn:
    feeds = {"x": few(r, shape(r, r.randint(1, 3)), r.choice([np.float32, np.uint8, np.bool_, np.int64]))}
    return model("NonZero", feeds, "y"), feeds


def compress(r: random.Random) -> Drawn:
    x = few(r, shape(r, r.randint(1, 3)))
    axis = r.choice([None, *range(-x.ndim, x.ndim)])
    feeds = {"x": x, "c": few(r, (x.size if axis is None else x.shape[axis],), np.bool_)}
    return model("Compress", feeds, "y", **({} if axis is None else {"axis": axis})), feeds


def unique(r: random.Random) -> Drawn:
    x = few(r, shape(r, r.randint(1, 3)), r.choice([np.float32, np.int64]))
    axis = r.choice([None, *range(-x.ndim, x.ndim)])
    attributes = {"sorted": r.randint(0, 1), **({} if axis is None else {"axis": axis})}
    return model("Unique", {"x": x}, r.choice(["y", "y i v n", "y - v", "y - - n"]), **attributes), {"x": x}


def top_k(r: random.Random) -> Drawn:
    x = few(r, shape(r, r.randint(1, 3)))
    axis = r.randint(-x.ndim, x.ndim - 1)
    feeds = {"x": x, "k": np.array([r.randint(1, x.shape[axis])])}
    return model("TopK", feeds, "y i", axis=axis, largest=r.randint(0, 1)), feeds


def suppression(r: random.Random) -> Drawn:
    batch, classes, count = r.randint(1, 2), r.randint(1, 3), r.randint(1, 12)
    generator = np.random.default_rng(r.randint(0, 1 << 30))
    feeds = {
        "x": (generator.integers(0, 8, (batch, count, 4)) / 4).astype(np.float32),
        "s": (generator.integers(0, 8, (batch, classes, count)) / 8).astype(np.float32),
        "n": np.array([r.randint(0, 5)]),
        "o": np.array([r.choice([0.0, 0.25, 0.5])], np.float32),
        "t": np.array([0.25], np.float32),
    }
    feeds = dict(list(feeds.items())[: r.randint(3, 5)])
    return model("NonMaxSuppression", feeds, "y", center_point_box=r.randint(0, 1)), feeds


FAMILIES: tuple[Callable[[random.Random], Drawn], ...] = (non_zero, compress, unique, top_k, suppression)


def prepared(proto: onnx.ModelProto, feeds: Mapping[str, Array], name: str, bounds: Mapping[str, int]) -> Subject:
    generic = platform("generic")
    placed = place(run_passes(load(proto, name=name, bounds=bounds))[0], generic)
    inputs = [placed.plan.slots[slot].tensor.name for slot in placed.plan.input_slots]
    return subject(placed, generic, [[feeds[each] for each in inputs]])


def test_what_is_there_is_what_onnx_runtime_gives_and_a_bound_keeps_the_first(tmp_path: Path) -> None:
    r = random.Random(SEED)
    drawn = [family(r) for family in FAMILIES for _ in range(EACH)]
    bounds = [{"it": r.randint(1, 4)} if r.random() < 0.4 else {} for _ in drawn]
    many = {"x": np.arange(40, dtype=np.float32)}  # counts of values that are not kept have no place
    drawn, bounds = [*drawn, (model("Unique", many, "y i v n"), many)], [*bounds, {"it": 2}]
    subjects = [
        prepared(proto, feeds, f"m{at}", most)
        for at, ((proto, feeds), most) in enumerate(zip(drawn, bounds, strict=True))
    ]
    for at, outcome in enumerate(run_batch(subjects, tmp_path, flags=("-O1", *STRICT, *SANITIZE))):
        assert not outcome.failure, (SEED, at, outcome.failure)
        (proto, feeds), placed = drawn[at], subjects[at].placed
        session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
        names = [value.name for value in proto.graph.output]
        wanted = dict(zip(names, session.run(names, dict(feeds)), strict=True))
        wanted |= counts_of(outputs_of(placed.plan), wanted)
        given = without_padding(subjects[at].outputs, outcome.runs[0])
        for (name, tensor), found, padded in zip(outputs_of(placed.plan), given, outcome.runs[0], strict=True):
            told = (SEED, at, proto.graph.node[0].op_type, name)
            expected = with_padding(tensor, padded, wanted[name])
            np.testing.assert_array_equal(padded, expected, str(told))
            most = bounds[at].get("it")
            lengths = [length.axis for length in tensor.lengths]
            if most is None or all(wanted[name].shape[axis] <= most for axis in lengths):
                np.testing.assert_array_equal(found, wanted[name], str(told))


def detector(declared: str = "") -> onnx.ModelProto:
    """Boxes that stay, taken out by their indices, with their scores."""
    nodes = [
        node("NonMaxSuppression", "boxes scores most overlap least", "chosen", "nms"),
        node("Gather", "chosen two", "column", axis=1),
        node("Squeeze", "column one", "places"),
        node("Squeeze", "boxes zero", "flat"),
        node("Gather", "flat places", "taken"),
        node("Mul", "taken size", "found"),
        node("Shape", "found", "extents"),
    ]
    constants = {
        "most": np.array([3]), "overlap": np.array([0.5], np.float32), "least": np.array([0.0], np.float32),
        "two": np.array([2]),
        "one": np.array([1]), "zero": np.array([0]), "size": np.array([96], np.float32),
    }  # fmt: skip
    proto = onnx_model(
        nodes, {"boxes": [1, 12, 4], "scores": [1, 2, 12]}, ["found", "extents"], constants,
        types={"extents": TensorProto.INT64},
    )  # fmt: skip
    if declared:
        proto.graph.output[0].CopyFrom(helper.make_tensor_value_info("found", TensorProto.FLOAT, [declared, 4]))
    return proto


@pytest.mark.parametrize(
    ("target", "bound"),
    [("host", "nms=6"), pytest.param("qemu_mps2_an386", "found=6", marks=pytest.mark.sim("qemu-system-arm"))],
)
def test_a_detector_runs_inside_its_fences(
    target: str, bound: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "detector.onnx"
    onnx.save(detector(), file)
    assert main(["run", str(file), "-t", target, "--bound", bound]) == 0
    told = capsys.readouterr().out
    assert "0 differences in 6 tensors" in told
    if target != "host":
        assert "nothing touched outside" in told


def test_the_header_says_which_output_counts(tmp_path: Path) -> None:
    file = tmp_path / "detector.onnx"
    onnx.save(detector(declared="n"), file)
    assert main(["compile", str(file), "-t", "host", "-o", str(tmp_path / "c"), "--bound", "n=5"]) == 0
    header = (tmp_path / "c" / "src" / "detector.h").read_text(encoding="utf-8")
    assert (
        "/* output 0: 'found', f32[5,4]; along axis 0 the first elements are there, as many as output 2 says */"
        in header
    )
    assert "/* output 2: 'chosen_count', i64[1] */" in header


def test_expected_outputs_may_stand_without_padding(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, inputs, expected = tmp_path / "m.onnx", tmp_path / "in.npz", tmp_path / "out.npz"
    x = np.array([0, 3, 0, 4], np.float32)
    onnx.save(model("NonZero", {"x": x}, "y"), file)
    np.savez(inputs, x=x)
    command = ["run", str(file), "-t", "host", "--inputs", str(inputs), "--expect", str(expected)]
    np.savez(expected, y=np.array([[1, 3]]))
    assert main(command) == 0
    np.savez(expected, y=np.array([[1]]))
    assert main(command) == 5
    assert main([*command[:-2], "--bound", "y=1"]) == 0
    assert "'y' has 2 elements along axis 1 in onnxruntime, here the first 1 are kept" in capsys.readouterr().out


def test_no_operator_of_a_file_has_a_bound_of_its_own() -> None:
    proto = model("NonZero", {"x": np.zeros(4, np.float32)}, "y")
    proto.graph.node[0].attribute.append(helper.make_attribute("bound", 2))
    with pytest.raises(Exception, match="bound"):
        load(proto)
    with pytest.raises(UnsupportedNode):
        load(onnx_model([node("NonZero", "x", "y"), node("ReduceSum", "y", "z")], {"x": [4]}, ["z"]))


def test_a_loop_that_ends_at_its_bound_is_an_error_whatever_is_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, inputs, expected = tmp_path / "m.onnx", tmp_path / "in.npz", tmp_path / "out.npz"
    onnx.save(asked("n - x"), file)
    command = ["run", str(file), "-t", "host", "--bound", "loop=2", "--inputs", str(inputs)]
    for turns, code in ((2, 0), (3, 5)):
        np.savez(inputs, x=np.ones((2, 3), np.float32), n=np.array(turns))
        assert main(command) == code
    assert "data asks for more iterations: output 'loop_cut' is 1" in capsys.readouterr().err
    np.savez(expected, y=np.full((2, 3), 2, np.float32))
    assert main([*command, "--expect", str(expected)]) == 5
