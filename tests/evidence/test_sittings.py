"""Layers at one sitting: what their table calls is traced to the instructions that it computes, and back."""

from __future__ import annotations

from pathlib import Path

import pytest
from tilewright.cli import main
from tilewright.evidence.document import Trace, load
from tilewright.target import load_target, missing_tools

MODEL = Path(__file__).parents[1] / "models" / "digits_int8" / "model.onnx"
RELAYOUT = "Relayout"


@pytest.fixture(scope="module", params=[(), ("--quantized-io",)], ids=["floats", "codes"])
def trace(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Trace:
    for tool, _ in missing_tools(load_target("qemu_pulp")):
        pytest.skip(f"{tool} is not installed")
    folder = tmp_path_factory.mktemp("sittings") / "out"
    words = ["evidence", str(MODEL), "-t", "qemu_pulp", "--only", "trace", "-o", str(folder), "-q", *request.param]
    assert main(words) == 0
    found = load(folder).trace
    assert found is not None
    return found


def test_nothing_is_unmatched(trace: Trace) -> None:
    assert not trace.missing
    assert trace.unmatched == ()
    assert all(symbol.purpose for symbol in trace.symbols)


def test_functions_of_the_table_are_traced_both_ways(trace: Trace) -> None:
    tiled = {one.index: one for one in trace.instructions if one.why.startswith("computed tile by tile")}
    assert len(tiled) >= 5
    cores = {symbol.name: symbol.instructions for symbol in trace.symbols if symbol.name.endswith("_core")}
    for index, one in tiled.items():
        own = [name for name in one.symbols if name in cores]
        assert own, one.name
        assert all(index in cores[name] for name in own)
        assert any(one.kernel.lower() in name for name in own)
    for name, served in cores.items():
        assert served, name
        assert all(name in trace.instructions[index].symbols for index in served)


def test_what_takes_the_turns_serves_the_sittings(trace: Trace) -> None:
    """It is called by its address alone."""
    (turns,) = (symbol for symbol in trace.symbols if symbol.name == "tilewright_take_turns")
    last = {one.index for one in trace.instructions if any("_layer" in part.function for part in one.code)}
    assert last <= {*turns.instructions}


def test_a_relayout_of_codes_comes_of_the_compiler(trace: Trace) -> None:
    (one,) = (one for one in trace.instructions if one.op == RELAYOUT)
    assert one.nodes == ()
    assert one.origin == "made by the compiler: the same values in another order"
    assert one.symbols
