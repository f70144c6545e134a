"""Bounds of a network on three cores: counts lie inside, a known input is counted exactly; the verb tells them."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from conftest import NetworkFiles
from tilewright.cli import main
from tilewright.compile import compile_model, write
from tilewright.errors import UnsupportedError
from tilewright.options import CompileOptions
from tilewright.run.build import build
from tilewright.run.inputs import input_arrays
from tilewright.run.simulate import execute
from tilewright.target import load_target, missing_tools
from tilewright.timing.bound import Analysis, refuse_core
from tilewright.timing.inputs import placed_inputs

BOARDS = ("qemu_mps2_an386", "qemu_rv32imc")


@pytest.fixture(scope="module")
def cached(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("networks")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TILEWRIGHT_CACHE", str(place / "cache"))
        yield place


def needs(board: str) -> None:
    pytest.importorskip("pypcode")
    for tool, _ in missing_tools(load_target(board)):
        pytest.skip(f"{tool} is not installed")


@pytest.mark.parametrize("board", BOARDS)
def test_every_count_lies_inside_and_known_inputs_are_exact(
    board: str, cached: Path, network: Callable[[str], NetworkFiles]
) -> None:
    needs(board)
    target = load_target(board)
    compiled = compile_model(network("digits_int8").model, CompileOptions(quantized_io=True), target)
    (cached / board).mkdir()
    write(compiled, cached / board)
    image = build(cached / board, compiled.artifacts.interface, target, cached / f"{board}.build")
    [ordinary] = input_arrays(compiled.plan, None, 0)
    random = np.random.default_rng(1)
    inputs = [np.full_like(ordinary, value) for value in (-128, 0, 127)]
    inputs += [random.integers(-128, 128, ordinary.shape, np.int8) for _ in range(9)]
    raw = [[array.tobytes()] for array in (ordinary, *inputs)]
    counts = execute(image, raw[0], more=raw[1:], count=True).counts
    assert counts is not None
    analysis = Analysis(image)
    bound = analysis.bound().cost
    assert bound.least <= min(counts.calls) <= max(counts.calls) <= bound.most <= 1.05 * max(counts.calls)
    cost = analysis.bound(placed_inputs(compiled.placed, image, raw[1])).cost
    assert cost.least == cost.most == counts.calls[1]


@pytest.mark.parametrize("board", ["qemu_mps2_an385", "qemu_rv32imc"])
def test_floats_without_a_float_unit_stay_inside_whatever_they_are(
    board: str, cached: Path, network: Callable[[str], NetworkFiles]
) -> None:
    needs(board)
    target = load_target(board)
    compiled = compile_model(network("odd_lstm").model, CompileOptions(), target)
    (cached / f"lstm-{board}").mkdir()
    write(compiled, cached / f"lstm-{board}")
    image = build(cached / f"lstm-{board}", compiled.artifacts.interface, target, cached / f"lstm-{board}.build")
    [ordinary] = input_arrays(compiled.plan, None, 0)
    random = np.random.default_rng(1)
    drawn = [random.integers(0, 2**32, ordinary.shape, np.uint32).view(np.float32) for _ in range(4)]
    sparse = [ordinary * (random.random(ordinary.shape) < 0.3) for _ in range(2)]
    inputs = [np.zeros_like(ordinary), ordinary * 1e-40, ordinary * 1e30, ordinary + np.inf, *sparse, *drawn]
    raw = [[array.astype(np.float32).tobytes()] for array in (ordinary, *inputs)]
    counts = execute(image, raw[0], more=raw[1:], count=True).counts
    assert counts is not None
    analysis = Analysis(image)
    bound = analysis.bound()
    assert bound.cost.least <= min(counts.calls) <= max(counts.calls) <= bound.cost.most
    assert bound.steps < 20_000_000  # ways that end early do not run what lies behind a loop once each
    for number in (1, 7):
        cost = analysis.bound(placed_inputs(compiled.placed, image, raw[number])).cost
        assert cost.least == cost.most == counts.calls[number]


def test_the_verb_tells_bounds_layers_and_places(
    cached: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], network: Callable[[str], NetworkFiles]
) -> None:
    needs("qemu_rv32imc")
    model, facts = str(network("digits_int8").model), tmp_path / "digits.ff"
    words = ["time", model, "-t", "qemu_rv32imc", "-q", "--layers", "--ff", str(facts), "--json", f"{tmp_path}/a.json"]
    assert main([*words, "--quantized-io"]) == 0
    told, answer = capsys.readouterr().out, json.loads((tmp_path / "a.json").read_text())
    assert answer["schema"] == "tilewright/time/1"
    least, most = answer["instructions"]["least"], answer["instructions"]["most"]
    assert f"{least:,}" in told
    assert f"{most:,}" in told
    assert answer["modelled_cycles"]["most"] > most
    layers = [layer["instructions"]["most"] for layer in answer["layers"]]
    assert 0.9 * most < sum(layers) < 1.1 * most
    assert answer["places"][0]["file"] == "digits_int8.c"
    assert facts.read_text().count("\nloop 0x") == len(answer["loops"]) > 10


def test_what_is_missing_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], network: Callable[[str], NetworkFiles]
) -> None:
    monkeypatch.setitem(sys.modules, "pypcode", None)
    assert main(["time", str(network("digits").model), "-t", "qemu_rv32imc", "-q"]) == 6
    assert "pypcode is not installed: " in (told := capsys.readouterr().err)
    assert "install tilewright with its extra 'time'" in told


@pytest.mark.parametrize(
    ("board", "reason"), [("qemu_mps3_an547", "extension 'mve'"), ("gvsoc_pulp_open", "cores compute together")]
)
def test_cores_that_the_lifter_does_not_know_are_refused(board: str, reason: str) -> None:
    with pytest.raises(UnsupportedError, match=f"on target '{board}' cannot be bounded: .*{reason}"):
        refuse_core(load_target(board))


def test_another_core_is_refused(capsys: pytest.CaptureFixture[str], network: Callable[[str], NetworkFiles]) -> None:
    pytest.importorskip("pypcode")
    assert main(["time", str(network("digits").model), "-t", "host", "-q"]) == 3
    assert "not a 32-bit Arm or RISC-V program" in capsys.readouterr().err
