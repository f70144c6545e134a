"""Layers that are computed band by band are proved through the codes that they store in between."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import NetworkFiles
from tilewright.compile import compile_model, write
from tilewright.errors import UnsupportedError
from tilewright.options import CompileOptions
from tilewright.prove.model import prove_project
from tilewright.target import load_target

BOARD = "qemu_mps2_an386"
CHANGES = [
    pytest.param(("", ""), "proved", "", id="as it is"),
    pytest.param(("oh, ow - 1);", "oh, ow);"), "gave up", "is stored nowhere as a function of the sum", id="places"),
    pytest.param(("to, 6, 8, 8, codes", "to, 6, 8, 8, codes + 1"), "gave up", "and should be", id="limits"),
    pytest.param(("x + ih * 64 + iw * 8", "x + ih * 64 + iw * 8 + 1"), "gave up", "between its layers", id="last"),
]


@pytest.mark.sim("arm-none-eabi-gcc")
@pytest.mark.parametrize(("change", "verdict", "why"), CHANGES)
def test_a_chain_is_proved_through_what_it_stores(
    change: tuple[str, str], verdict: str, why: str, network: Callable[[str], NetworkFiles], tmp_path: Path
) -> None:
    target = load_target(BOARD)
    compiled = compile_model(network("digits_int8").model, CompileOptions(quantized_io=True), target)
    compiled = write(compiled, tmp_path)
    file = tmp_path / "src" / "digits_int8.c"
    text = file.read_text()
    assert change[0] in text
    file.write_text(text.replace(*change) if change[0] else text)
    name = next(one.name for one in compiled.plan.instructions if one.call.chain)
    layer = next(layer for layer in prove_project(compiled, target, tmp_path, [name]).layers if layer.name == name)
    assert (layer.op, layer.verdict) == ("Chain", verdict)
    assert why in layer.why


@pytest.mark.sim("arm-none-eabi-gcc")
@pytest.mark.parametrize(
    ("board", "why"),
    [("qemu_mps3_an547", "its extension 'mve' is not modelled"), ("qemu_pulp", "its cores compute together")],
)
def test_machine_code_that_the_lifter_would_misread_is_refused(
    board: str, why: str, network: Callable[[str], NetworkFiles], tmp_path: Path
) -> None:
    target = load_target(board)
    compiled = write(compile_model(network("digits_int8").model, CompileOptions(), target), tmp_path)
    with pytest.raises(UnsupportedError, match=f"no layer of 'digits_int8' can be proved on '{board}': {why}"):
        prove_project(compiled, target, tmp_path)
