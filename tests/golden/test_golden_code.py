"""The generated C of two small networks, kept as files: a change of the product is seen by a person.

`pytest tests/golden --update-golden` writes them anew.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import tilewright
from conftest import NetworkFiles

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
