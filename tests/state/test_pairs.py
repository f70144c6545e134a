"""Which inputs and outputs are one tensor between calls: said by the user, by the file, or by exporters' names."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from graphs import node, onnx_model
from onnx import helper, numpy_helper
from state.networks import filtered
from tilewright.compile import compile_model
from tilewright.errors import TilewrightError
from tilewright.frontend.load import load
from tilewright.frontend.states import METADATA, guessed_pairs, parse_pairs
from tilewright.model import Model
from tilewright.options import CompileOptions, StateWish
from tilewright.passes.quantise.lower import integer_states, lower
from tilewright.plan.build import first_value
from tilewright.project.ecosystems import parse_ecosystems, project_files
from tilewright.project.library import describe
from tilewright.target import load_target


def _states(model: Model) -> list[tuple[str, str]]:
    return [(state.past, state.present) for state in model.states]


def _said(text: str) -> onnx.ModelProto:
    model = filtered()
    helper.set_model_props(model, {METADATA: text})
    return model


@pytest.mark.parametrize(
    ("inputs", "outputs", "pairs"),
    [
        ("past_key_values.0.key x", "present.0.key y", "past_key_values.0.key=present.0.key"),
        ("l0_past_k l0_past_v", "l0_present_k l0_present_v", "l0_past_k=l0_present_k l0_past_v=l0_present_v"),
        ("mix conv_cache", "enh conv_cache_out", "conv_cache=conv_cache_out"),
        ("input state sr", "output stateN", "state=stateN"),
        ("h_in c_in", "h_out c_out", "h_in=h_out c_in=c_out"),
        ("h0 c0 x", "hn cn y", "h0=hn c0=cn"),
        ("x_in audio", "x_out audio_out", ""),  # nothing says that a signal lives between calls
        ("cache_in", "cache_out new_cache_in", "cache_in=cache_out"),
    ],
)
def test_names_of_usual_exporters(inputs: str, outputs: str, pairs: str) -> None:
    found = guessed_pairs(inputs.split(), outputs.split())
    assert " ".join(f"{past}={present}" for past, present in found) == pairs


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("a=b, c = d", [("a", "b"), ("c", "d")]), ('"a,x"="b=y",c=d', [("a,x", "b=y"), ("c", "d")]),
        ('"a""q"=b=c', [('a"q', "b=c")]), ("a b=c", [("a b", "c")]), ("a=b,", None), ('"a=b', None), ("a", None),
    ],
)  # fmt: skip
def test_names_in_quotes(text: str, pairs: list[tuple[str, str]] | None) -> None:
    if pairs is not None:
        assert list(parse_pairs(text)) == pairs
        return
    with pytest.raises(ValueError, match="is no INPUT=OUTPUT"):
        parse_pairs(text)


def test_who_says_it() -> None:
    assert _states(load(filtered())) == []
    assert _states(load(filtered(), state=StateWish(auto=True))) == [("h", "h_out")]
    assert _states(load(_said("h=h_out"))) == [("h", "h_out")]
    assert "state by the file: 'h' <- 'h_out'" in load(_said("h=h_out")).notes
    assert _states(load(_said("h=h_out"), state=StateWish(()))) == []
    told = load(filtered(), state=StateWish(auto=True))
    assert (told.given, told.results) == (("x",), ("y",))
    assert "state by name: 'h' <- 'h_out'" in told.notes


@pytest.mark.parametrize(
    ("model", "wish", "fault"),
    [
        (filtered(), StateWish((("g", "h_out"),)), "--state: the model has no input 'g'"),
        (filtered(), StateWish((("h", "g"),)), "--state: the model has no output 'g'"),
        (filtered(), StateWish((("h", "y"), ("x", "y"))), "output 'y' stands in two pairs"),
        (_said("h"), StateWish(), "metadata 'tilewright.state' cannot be read"),
        (_said("h=g"), StateWish(), "metadata 'tilewright.state': the model has no output 'g'"),
        (onnx_model([node("Relu", "a", "b")], {"a": (2,)}, ["b"]), StateWish(auto=True), "--state auto finds no state"),
        (
            onnx_model([node("Concat", "h x", "k", axis=0)], {"h": (2,), "x": (1,)}, ["k"]),
            StateWish((("h", "k"),)), "'k' cannot be the next 'h'",
        ),
    ],
)  # fmt: skip
def test_what_is_no_state_is_refused(model: onnx.ModelProto, wish: StateWish, fault: str) -> None:
    with pytest.raises(TilewrightError) as refused:
        load(model, state=wish)
    assert fault in str(refused.value)


def test_first_values_come_from_an_initialiser_or_a_file(tmp_path: Path) -> None:
    held, given = np.full((1, 8), 3, np.float32), np.arange(8, dtype=np.float32).reshape(1, 8)
    model = filtered()
    model.graph.initializer.append(numpy_helper.from_array(held, "h"))
    wish = StateWish((("h", "h_out"),))
    (state,) = load(model, state=wish).states
    np.testing.assert_array_equal(state.initial, held)
    np.savez(tmp_path / "first.npz", h=given)
    (state,) = load(model, state=StateWish(wish.pairs, initial=tmp_path / "first.npz")).states
    np.testing.assert_array_equal(state.initial, given)
    np.savez(tmp_path / "wrong.npz", g=given)
    with pytest.raises(TilewrightError, match="'g' is no state"):
        load(model, state=StateWish(wish.pairs, initial=tmp_path / "wrong.npz"))


def test_a_state_whose_scales_agree_stays_in_codes() -> None:
    """h is quantised where it is read, h_out is dequantised where it is made: between calls both are codes."""
    for zero, codes in ((3, True), (4, False)):
        values = {"s": np.float32(0.25), "z": np.uint8(3), "other": np.uint8(zero)}
        nodes = [
            node("QuantizeLinear", "h s z", "hq"), node("DequantizeLinear", "hq s z", "hd"),
            node("QuantizeLinear", "x s z", "xq"), node("DequantizeLinear", "xq s z", "xd"),
            node("Add", "hd xd", "sum"), node("QuantizeLinear", "sum s other", "oq"),
            node("DequantizeLinear", "oq s other", "h_out"),
        ]  # fmt: skip
        model = onnx_model(nodes, {"x": (1, 8), "h": (1, 8)}, ["h_out", "xd"], values)
        found = integer_states(lower(load(model, state=StateWish((("h", "h_out"),)))))
        assert (found.tensors["h"].quantisation is not None) == codes
        assert found.tensors["h"].type_token == found.tensors["h_out"].type_token
        first = first_value(found.tensors["h"], found.states[0])
        assert (None if first is None else first.tolist()) == ([[3] * 8] if codes else None)


def test_a_platform_that_writes_its_own_code_refuses_state(tmp_path: Path) -> None:
    onnx.save(filtered(), tmp_path / "filter.onnx")
    with pytest.raises(TilewrightError, match="'h' is state, which platform 'cuda' does not keep"):
        compile_model(tmp_path / "filter.onnx", CompileOptions(state=StateWish(auto=True)), load_target("cuda_host"))


@pytest.mark.parametrize("context", [False, True])
def test_an_example_begins_its_sequence(tmp_path: Path, context: bool) -> None:
    onnx.save(filtered(), tmp_path / "filter.onnx")
    options = CompileOptions(state=StateWish(auto=True), context=context)
    compiled = compile_model(tmp_path / "filter.onnx", options, load_target("host"))
    files = project_files(describe(compiled), parse_ecosystems("make,arduino"))
    call = f"(void)filter_reset({'&context' if context else ''});"
    assert sum(call in text for text in files.values()) == 2
