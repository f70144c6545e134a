"""The generated C of two small networks, kept as files: a change of the product is seen by a person.

`pytest tests/golden --update-golden` writes them anew.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import tilewright
from conftest import NetworkFiles
from row_networks import inverted_residual

FOLDER = Path(__file__).parent


@pytest.mark.parametrize("name", ["digits", "digits_int8"])
@pytest.mark.parametrize("file", ["{name}.h", "{name}.c"])
def test_the_code_is_as_it_was(
    name: str, file: str, network: Callable[[str], NetworkFiles], request: pytest.FixtureRequest
) -> None:
    options = tilewright.CompileOptions(quantized_io=name.endswith("int8"))
    stages = tilewright.compile_model(network(name).model, options, tilewright.load_target("host"))
    text = stages.artifacts.files["src/" + file.format(name=name)]
    golden = FOLDER / (file.format(name=name) + ".txt")
    if request.config.getoption("--update-golden"):
        golden.write_text(text)
    assert golden.read_text() == text, f"{golden.name} differs; look at it, then run with --update-golden"


def test_a_chain_of_rows_is_as_it_was(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    options = tilewright.CompileOptions(quantized_io=True, optimize="size")
    stages = tilewright.compile_model(inverted_residual(tmp_path), options, tilewright.load_target("host"))
    code = stages.artifacts.files["src/inverted.c"]
    start = code.index("/* Band by band of rows:")
    text, golden = code[start : code.index("\n}\n", start) + 3], FOLDER / "row_chain.c.txt"
    if request.config.getoption("--update-golden"):
        golden.write_text(text)
    assert golden.read_text() == text, f"{golden.name} differs; look at it, then run with --update-golden"
