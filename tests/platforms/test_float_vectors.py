"""Functions, distributions and codes of floats on boards: near everywhere, right at the ends, also for no numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from board_layers import board_or_skip, kernels, preferring
from graphs import node, onnx_model
from onnx import TensorProto
from tilewright.compile import compile_model, run_model, write
from tilewright.options import CompileOptions, RunOptions
from tilewright.target import load_target

SCALAR, HELIUM = "qemu_mps2_an386", "qemu_mps3_an547"
Reals = npt.NDArray[np.float32]
FOURS = ("Sigmoid", "Swish", "Tanh", "Erf")
FUNCTIONS = (*FOURS, "Elu", "Selu")


def run(
    model: onnx.ModelProto,
    feeds: dict[str, Any],
    board: str,
    work: Path,
    first: tuple[str, ...],
    atol: float = 1e-30,
    rtol: float = 1e-6,
) -> set[str]:
    """Run on a board, compare with NumPy within `rtol` of each result, and give the kernels that computed it."""
    board_or_skip(board)
    path, target = work / "vectors.onnx", load_target(board)
    onnx.save(model, path)
    done = compile_model(path, CompileOptions(), target, pipeline=preferring(first))
    write(done, work / "project")
    np.savez(work / "calls.npz", allow_pickle=False, **{name: value[None] for name, value in feeds.items()})
    options = RunOptions(frames=work / "calls.npz", rtol=rtol, atol=atol)
    report = run_model(done, target, options, work / "project")
    assert report.run is not None
    assert report.run.match, report.run.frames
    return set(kernels(done).values())


def values(count: int) -> Reals:
    """Numbers of all sizes, small ones of both signs, the ends, infinities and what is no number."""
    small = np.logspace(-30, 0, 300)
    ends = [0.0, -0.0, -86, 86, -100, 100, 3e38, -3e38, np.nan, -np.nan, -np.inf, np.inf]
    drawn = np.concatenate([np.linspace(-30, 30, 1001), small, -small, ends]).astype(np.float32)
    return np.resize(drawn, count)


@pytest.mark.parametrize("count", [1613, 1616, 3])
def test_functions_in_vectors(count: int, tmp_path: Path) -> None:
    nodes = [node(name, "x", name, name.lower()) for name in FUNCTIONS]
    model = onnx_model(nodes, {"x": [count]}, FUNCTIONS, opset=24)
    assert run(model, {"x": values(count)}, HELIUM, tmp_path, ("FunctionsMve",)) == {"FunctionsMve"}


@pytest.mark.parametrize("count", [1613, 1616, 3])
def test_functions_in_fours(count: int, tmp_path: Path) -> None:
    nodes = [node(name, "x", name, name.lower()) for name in FOURS]
    model = onnx_model(nodes, {"x": [count]}, FOURS, opset=24)
    assert run(model, {"x": values(count)}, SCALAR, tmp_path, ("FunctionsFpu",), rtol=4.5e-7) == {"FunctionsFpu"}


@pytest.mark.parametrize("count", [1613, 3])
def test_powers_of_e_in_fours(count: int, tmp_path: Path) -> None:
    nodes = [node(name, "x", name, name.lower()) for name in ("Exp", "Mish", "Softplus")]
    model = onnx_model(nodes, {"x": [count]}, ["Exp", "Mish", "Softplus"], opset=22)
    given = values(count)
    given[2::9] *= 2.7  # powers that are no normal numbers, and those beside the largest
    assert run(model, {"x": given}, SCALAR, tmp_path, ("FunctionsFpu",), atol=2e-33) == {"FunctionsFpu"}


@pytest.mark.parametrize("count", [1613, 3])
def test_linear_units_of_an_exponential_in_fours(count: int, tmp_path: Path) -> None:
    nodes = [node("Elu", "x", "elu", "elu"), node("Elu", "x", "deep", "deep", alpha=-2.5)]
    nodes += [node("Selu", "x", "selu", "selu"), node("Selu", "x", "own", "own", alpha=0.3, gamma=1.7)]
    model = onnx_model(nodes, {"x": [count]}, ["elu", "deep", "selu", "own"], opset=22)
    assert run(model, {"x": values(count)}, SCALAR, tmp_path, ("FunctionsFpu",), rtol=4.5e-7) == {"FunctionsFpu"}


def test_a_scaled_swish_stays_with_the_portable_kernel(tmp_path: Path) -> None:
    model = onnx_model([node("Swish", "x", "y", "swish", alpha=1.5)], {"x": [37]}, ["y"], opset=24)
    assert run(model, {"x": values(37)}, SCALAR, tmp_path, ("FunctionsFpu",)) == {"FunctionsF32"}


@pytest.mark.parametrize(("board", "kernel"), [(SCALAR, "FunctionsFpu"), (HELIUM, "FunctionsMve")])
def test_gelus_in_vectors(board: str, kernel: str, tmp_path: Path) -> None:
    """What is small beside one is lost in its sum, so results of large negative numbers are near zero, no nearer."""
    nodes = [node("Gelu", "x", "exact", "gelu"), node("Gelu", "x", "near", "gelu_tanh", approximate="tanh")]
    model, given = onnx_model(nodes, {"x": [805]}, ["exact", "near"], opset=20), values(1613)
    given = given[np.isfinite(given) & (np.abs(given) < 100)][:805]
    assert run(model, {"x": given}, board, tmp_path, (kernel,), atol=3e-6) == {kernel}


@pytest.mark.parametrize(
    ("board", "kernel", "length"),
    [
        *((HELIUM, "SoftmaxFloatMve", length) for length in (37, 8, 5)),
        *((SCALAR, "SoftmaxFpu", n) for n in (37, 8, 5, 3)),
    ],
)
def test_distributions_in_vectors(board: str, kernel: str, length: int, tmp_path: Path) -> None:
    given = np.random.default_rng(1).normal(0, 20, (9, length)).astype(np.float32)
    given[1, 2:] = -np.inf  # a mask
    given[2, -1] = 300  # the largest comes last
    given[3, 0], given[4, -1], given[5, 1], given[6] = np.nan, np.nan, np.inf, -np.inf
    given[7] = np.linspace(-3e38, 3e38, length)
    model = onnx_model([node("Softmax", "x", "y", "softmax")], {"x": list(given.shape)}, ["y"])
    assert run(model, {"x": given}, board, tmp_path, (kernel,)) == {kernel}


def test_logarithms_of_distributions_over_any_axis(tmp_path: Path) -> None:
    given = np.random.default_rng(4).normal(0, 6, (3, 7, 5, 6)).astype(np.float32)
    given[0, 2:, 0, 0], given[2, 0, 2, 2] = -300, np.nan
    nodes = [node("LogSoftmax", "x", f"y{axis}", f"softmax{axis}", axis=axis) for axis in (1, 2, 3)]
    model = onnx_model(nodes, {"x": list(given.shape)}, ["y1", "y2", "y3"])
    assert run(model, {"x": given}, SCALAR, tmp_path, ("SoftmaxFpu",), atol=1e-6) == {"SoftmaxFpu"}


@pytest.mark.parametrize(("board", "kernel"), [(SCALAR, "SoftmaxFpu"), (HELIUM, "SoftmaxFloatMve")])
def test_distributions_over_any_axis(board: str, kernel: str, tmp_path: Path) -> None:
    given = np.random.default_rng(2).normal(0, 9, (3, 19, 5, 6)).astype(np.float32)
    given[0, 2:, 0, 0], given[1, 0, 1, 1], given[2, :, 2, 2] = -np.inf, 300, -np.inf
    nodes = [node("Softmax", "x", f"y{axis}", f"softmax{axis}", axis=axis) for axis in range(4)]
    model = onnx_model(nodes[1:], {"x": list(given.shape)}, ["y1", "y2", "y3"])
    assert run(model, {"x": given}, board, tmp_path, (kernel,)) == {kernel}
    model = onnx_model(nodes[:1], {"x": [5, 19, 3, 6]}, ["y0"])
    assert run(model, {"x": given.transpose(2, 1, 0, 3)}, board, tmp_path, (kernel,)) == {kernel}


@pytest.mark.parametrize(("board", "kernel"), [(SCALAR, "QuantiseFpu"), (HELIUM, "QuantiseMve")])
def test_codes_of_floats(board: str, kernel: str, tmp_path: Path) -> None:
    """At every half between two codes and beside it, and for what is beyond all codes or no number."""
    nodes, names, feeds = [], list[str](), dict[str, Reals]()
    constants = dict[str, object]()
    for n, (dtype, size) in enumerate(
        (d, s) for d in (np.int8, np.uint8, np.int16, np.uint16) for s in (0.1, 0.0078125, 3.3e-7, 1.7e9)
    ):
        ends, step = np.iinfo(dtype), np.float32(size)
        zero = int(ends.min) + (int(ends.max) - int(ends.min)) // 3
        codes = np.unique(np.linspace(int(ends.min) - 2, int(ends.max) + 2, 300).astype(np.int64)) - zero
        halves = ((codes + 0.5).astype(np.float64) * float(step)).astype(np.float32)
        near = [halves, np.nextafter(halves, np.float32(np.inf)), np.nextafter(halves, np.float32(-np.inf))]
        ends_too = np.asarray([np.nan, np.inf, -np.inf, 3e38, -3e38, 1e-40, 0.0], np.float32)
        feeds[f"x{n}"] = np.concatenate([*near, ends_too])
        constants |= {f"s{n}": step, f"z{n}": dtype(zero)}
        nodes.append(node("QuantizeLinear", f"x{n} s{n} z{n}", f"y{n}", f"codes{n}"))
        names.append(f"y{n}")
    types = {f"y{n}": kind for n, kind in enumerate(
        kind for kind in (TensorProto.INT8, TensorProto.UINT8, TensorProto.INT16, TensorProto.UINT16) for _ in range(4)
    )}  # fmt: skip
    model = onnx_model(nodes, {name: [len(x)] for name, x in feeds.items()}, names, constants, 21, types=types)
    assert run(model, feeds, board, tmp_path, (kernel,)) == {kernel}


@pytest.mark.parametrize(("board", "kernel"), [(SCALAR, "DynamicFpu"), (HELIUM, "DynamicMve")])
def test_codes_of_a_measured_range(board: str, kernel: str, tmp_path: Path) -> None:
    generator = np.random.default_rng(3)
    feeds = {
        "plain": generator.normal(0, 3, 1001).astype(np.float32),
        "positive": generator.uniform(1, 9, 64).astype(np.float32),
        "negative": generator.uniform(-9, -1, 65).astype(np.float32), "zero": np.zeros(7, np.float32),
        "tiny": (generator.normal(0, 1, 50) * 1e-37).astype(np.float32), "short": np.asarray([1.5, -0.5], np.float32),
        "huge": (generator.normal(0, 1, 50) * 3e37).astype(np.float32),
        "no_number": np.asarray([1.0, np.nan, -3.0, 2.0, 0.3], np.float32),
        "endless": np.asarray([1.0, np.inf, -3.0, 2.0, 0.3, 9.0], np.float32),
    }  # fmt: skip
    nodes = [node("DynamicQuantizeLinear", name, f"{name}_y {name}_s {name}_z", name) for name in feeds]
    names = [f"{name}_{part}" for name in feeds for part in "ysz"]
    types = {name: TensorProto.FLOAT if name.endswith("_s") else TensorProto.UINT8 for name in names}
    model = onnx_model(nodes, {name: [len(x)] for name, x in feeds.items()}, names, types=types)
    assert run(model, feeds, board, tmp_path, (kernel,)) == {kernel}


def test_limits_in_vectors_keep_what_is_no_number(tmp_path: Path) -> None:
    weights = np.eye(8, dtype=np.float32)
    nodes = [node("MatMul", "x w", "sum", "product"), node("Clip", "sum low high", "y", "clip")]
    given = np.random.default_rng(5).normal(0, 3, (5, 8)).astype(np.float32)
    given[1, 2], given[3] = np.nan, np.inf
    model = onnx_model(nodes, {"x": [5, 8]}, ["y"], {"w": weights, "low": np.float32(-1), "high": np.float32(2)})
    assert run(model, {"x": given}, HELIUM, tmp_path, ("DenseFloatMve",)) == {"DenseFloatMve"}


@pytest.mark.parametrize("board", [SCALAR, HELIUM])
@pytest.mark.parametrize("width", [4, 8, 12])
def test_products_between_tensors_at_known_addresses(board: str, width: int, tmp_path: Path) -> None:
    """The compiler knows every address and count of the middle layers; assembly in them takes all vector registers."""
    rng = np.random.default_rng(width)
    shapes = {"w0": (6, width), "w1": (width, width), "w2": (width, width)}
    weights = {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    nodes = [
        node("MatMul", "x w0", "a"),
        node("MatMul", "a w1", "b"),
        node("Erf", "b", "c"),
        node("MatMul", "c w2", "y"),
    ]
    model = onnx_model(nodes, {"x": [12, 6]}, ["y"], weights, opset=17)
    given = {"x": rng.normal(size=(12, 6)).astype(np.float32)}
    assert "Dense" in "".join(run(model, given, board, tmp_path, (), atol=1e-5))
