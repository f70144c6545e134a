"""Clip whose limits cross, are NaN, infinite or at the ends of the type: C, NumPy and ONNX Runtime agree everywhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import pytest
from graphs import node, onnx_model, reference
from on_host import PLATFORMS, kernels_here, run_on_host, text_of
from onnx import helper
from tilewright.conformance.subject import load_and_pass, place
from tilewright.memory.placed import PlacedPlan
from tilewright.model import Array, Clamp, Tensor
from tilewright.plan.execute import run
from tilewright.platforms.generic.kernels.float_text import clamp_text, limit_texts, rectified_text
from tilewright.plugins import platform

NAN, INF = float("nan"), float("inf")
REALS = (
    (2.0, -1.0), (-1.0, 2.0), (1.5, 1.5), (NAN, 0.5), (-0.5, NAN), (NAN, NAN), (INF, INF), (-INF, -INF), (3.0, None),
    (None, 3.0),
)  # fmt: skip
"""A missing limit is none here, the largest number in ONNX Runtime: they differ where an operand is infinite."""

WHOLE = ((9, 3), (3, 9), (5, 5), (100, 0))
X = np.array([-3.0, -1.0, -0.0, 0.25, 2.0, 7.0, NAN, INF, -INF], np.float32)
SHAPE = (X.size,)


@dataclass(frozen=True)
class Case:
    """A network with the values of its inputs; `exact` where C has to give ONNX Runtime's bits. `judged_as` is the
    same in words that ONNX Runtime takes.
    """

    model: onnx.ModelProto
    feeds: Mapping[str, Array]
    exact: bool = True
    judged_as: onnx.ModelProto | None = None


def clip(dtype: str, limits: tuple[float | None, float | None], *, at_run_time: bool) -> Case:
    """One Clip over `SHAPE`, its limits constants or inputs."""
    kind = np.dtype(dtype)
    element = helper.np_dtype_to_tensor_dtype(kind)
    held = {name: np.asarray(end, kind) for name, end in zip(("lo", "hi"), limits, strict=True) if end is not None}
    real = kind.kind == "f"
    x = (np.where(np.isinf(X) & (None in limits), 9, X) if real else np.arange(X.size)).astype(kind)
    if not real:
        x[-2:] = np.iinfo(kind).min, np.iinfo(kind).max
    reads = f"x {'lo' if 'lo' in held else '-'} {'hi' if 'hi' in held else '-'}"
    shapes = {"x": SHAPE, **({name: () for name in held} if at_run_time else {})}
    types = {name: element for name in ("x", "y", *held)}
    model = onnx_model([node("Clip", reads, "y")], shapes, ["y"], {} if at_run_time else held, types=types)
    return Case(model, {"x": x, **(held if at_run_time else {})})


def ends_of(dtype: str) -> tuple[tuple[int, int], ...]:
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    return ((high, low), (low, high), (low, low), (high, high))


def old_clip(low: float, high: float) -> Case:
    """Limits as attributes, as before opset 11."""
    model = onnx_model([node("Clip", "x", "y", min=low, max=high)], {"x": SHAPE}, ["y"], opset=6)
    return Case(model, {"x": X}, judged_as=clip("float32", (low, high), at_run_time=False).model)


def fused(producer: str, reads: str, low: float | None, high: float | None) -> Case:
    """A Clip that becomes the limits of the node before it."""
    draw = np.random.default_rng(3)
    shape = (1, 4, 5, 5) if producer == "Conv" else (4, 4)
    constants: dict[str, object] = {"w": draw.normal(0, 1, (4, 4, 1, 1) if producer == "Conv" else (4, 4))}
    constants = {name: np.asarray(value, np.float32) for name, value in constants.items()}
    constants |= {name: np.float32(end) for name, end in (("lo", low), ("hi", high)) if end is not None}
    limits = f"a {'-' if low is None else 'lo'} {'-' if high is None else 'hi'}"
    model = onnx_model([node(producer, reads, "a"), node("Clip", limits, "y")], {"x": shape}, ["y"], constants)
    return Case(model, {"x": draw.normal(0, 2, shape).astype(np.float32)}, exact=False)


def quantised(low: float | None, high: float | None, *, product: bool) -> Case:
    """A Clip between codes, alone or behind a product of which it becomes the range."""
    held: dict[str, object] = {
        "s": np.float32(0.05), "z": np.int8(3), "ws": np.float32(0.02), "wz": np.int8(0),
        "wq": np.random.default_rng(4).integers(-127, 128, (4, 4)).astype(np.int8),
        **{name: np.float32(end) for name, end in (("lo", low), ("hi", high)) if end is not None},
    }  # fmt: skip
    limits = f"{'a' if product else 'xd'} {'-' if low is None else 'lo'} {'-' if high is None else 'hi'}"
    nodes = [node("QuantizeLinear", "x s z", "xq"), node("DequantizeLinear", "xq s z", "xd")]
    if product:
        nodes += [node("DequantizeLinear", "wq ws wz", "w"), node("MatMul", "xd w", "a")]
    nodes += [node("Clip", limits, "c"), node("QuantizeLinear", "c s z", "q"), node("DequantizeLinear", "q s z", "y")]
    feeds = {"x": np.random.default_rng(5).normal(0, 4, (4, 4)).astype(np.float32)}
    return Case(onnx_model(nodes, {"x": (4, 4)}, ["y"], held), feeds)


def cases() -> Iterator[tuple[str, Case]]:
    for dtype in ("float32", "float64"):
        for number, limits in enumerate(REALS):
            yield f"{dtype}_{number}", clip(dtype, limits, at_run_time=False)
            if None not in limits:
                yield f"{dtype}_late_{number}", clip(dtype, limits, at_run_time=True)
    for dtype in ("int8", "uint8", "int32", "uint32", "int64", "uint64"):
        for number, limits in enumerate((*WHOLE, *ends_of(dtype))):
            yield f"{dtype}_{number}", clip(dtype, limits, at_run_time=False)
        yield f"{dtype}_late", clip(dtype, WHOLE[0], at_run_time=True)
    yield "old_crossing", old_clip(2.0, -1.0)
    yield "old", old_clip(-1.0, 2.0)
    for number, (low, high) in enumerate(REALS):
        for producer, reads in (("Conv", "x w"), ("MatMul", "x w"), ("Gemm", "x w"), ("Add", "x w")):
            if (producer, number) in (("Conv", number), ("MatMul", number), ("Gemm", 0), ("Add", 0), ("Add", 6)):
                yield f"{producer.lower()}_{number}", fused(producer, reads, low, high)
        for product in (False, True):
            name = f"codes_{'product' if product else 'alone'}_{number}"
            yield name, quantised(low, high, product=product)


CASES = dict(cases())


def chosen(name: str) -> dict[str, Case]:
    """All cases for the platform that the others inherit from; limits that cross or are NaN for those."""
    return {case: made for case, made in CASES.items() if name == "generic" or case.endswith(("_0", "_3", "_crossing"))}


def inputs_of(placed: PlacedPlan) -> list[Tensor]:
    return [placed.plan.slots[slot].tensor for slot in placed.plan.input_slots]


@pytest.mark.parametrize("name", PLATFORMS)
def test_clip_on_every_platform(name: str, tmp_path: Path) -> None:
    tried = {
        case: (made, place(load_and_pass(made.model.SerializeToString(), case), platform(name), kernels_here(name)))
        for case, made in chosen(name).items()
    }
    if name == "cortex_m":  # its own kernels need its instructions; those that it inherits do not
        tried = {k: v for k, v in tried.items() if all(i.kernel.platform != name for i in v[1].plan.instructions)}
    plans = [plan for _, plan in tried.values()]
    feeds = [made.feeds for made, _ in tried.values()]
    runs = [[[fed[t.name] for t in inputs_of(plan)]] for plan, fed in zip(plans, feeds, strict=True)]
    assert len(plans) >= 18
    results = run_on_host(plans, runs, tmp_path)
    for (case, (made, one)), [arrays], [(got,)] in zip(tried.items(), runs, results, strict=True):
        with np.errstate(all="ignore"):
            (ours,) = run(one.plan, arrays)
        theirs = reference(made.judged_as or made.model, made.feeds)["y"]
        bound = 0 if made.exact else 1e-5
        np.testing.assert_allclose(got, theirs, rtol=bound, atol=bound, err_msg=f"{case}: C")
        np.testing.assert_allclose(ours, theirs, rtol=bound, atol=bound, err_msg=f"{case}: NumPy")


def printed(dtype: str, low: float | None, high: float | None) -> str:
    """The statement that stores a result of a Clip."""
    made = clip(dtype, (low, high), at_run_time=False)
    text = text_of(place(load_and_pass(made.model.SerializeToString(), "limits"), platform("generic")))
    return next(line.strip() for line in text.splitlines() if line.strip().startswith("y["))


def test_limits_that_never_act_are_not_printed() -> None:
    assert printed("float32", -1.0, 2.0) == "y[i0] = e0 < -1.0f ? -1.0f : e0 > 2.0f ? 2.0f : e0;"
    assert printed("float32", -1.0, None) == "y[i0] = e0 < -1.0f ? -1.0f : e0;"
    assert printed("float32", None, 2.0) == "y[i0] = e0 > 2.0f ? 2.0f : e0;"


def test_limits_next_to_the_ends_of_a_type() -> None:
    assert printed("int8", -127, 126) == "y[i0] = (int8_t)(e0 < -127 ? -127 : e0 > 126 ? 126 : e0);"
    assert printed("uint8", 1, 254) == "y[i0] = (uint8_t)(e0 < 1 ? 1 : e0 > 254 ? 254 : e0);"
    assert printed("uint8", 0, 254) == "y[i0] = (uint8_t)(e0 > 254 ? 254 : e0);"
    assert printed("int8", -127, 127) == "y[i0] = (int8_t)(e0 < -127 ? -127 : e0);"


def test_a_constant_limit_of_nan_is_none() -> None:
    assert printed("float32", NAN, 2.0) == printed("float32", None, 2.0)
    assert printed("float32", -1.0, NAN) == printed("float32", -1.0, None)


def test_infinite_limits_are_printed() -> None:
    assert clamp_text("v", Clamp(INF, INF)) == "(v < INFINITY ? INFINITY : v)"
    assert clamp_text("v", Clamp(-INF, -INF)) == "(v > -INFINITY ? -INFINITY : v)"
    assert clamp_text("v", Clamp(-INF, INF)) == "v"
    assert limit_texts(Clamp(INF, INF)) == ("HUGE_VALF", "HUGE_VALF")
    assert limit_texts(None) == ("-HUGE_VALF", "HUGE_VALF")
    assert rectified_text("v", Clamp(0.0, INF)) == "TILEWRIGHT_RECTIFIED(v)"
    assert rectified_text("v", Clamp(0.0, 6.0)) == "(v < 0.0f ? 0.0f : (v > 6.0f ? 6.0f : v))"


@pytest.mark.parametrize("limits", [(1.0, 0.0), (NAN, 1.0), (0.0, NAN), (INF, -INF)])
def test_a_clamp_is_a_range(limits: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="is no range"):
        Clamp(*limits)
