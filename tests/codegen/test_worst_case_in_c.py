"""The worst case of every level stands in the header, and the code does not compile where a level is too small."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import NetworkFiles
from tilewright.compile import Compiled, compile_model, write
from tilewright.options import CompileOptions
from tilewright.target import load_target


def built(compiled: Compiled, folder: Path, *flags: str) -> str:
    """What the compiler says of the network's C; nothing where it takes it."""
    folder.mkdir(exist_ok=True)
    write(compiled, folder)
    source = folder / "src" / f"{compiled.plan.name}.c"
    command = ["gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", *flags, "-c", str(source), "-o", str(folder / "o")]
    return subprocess.run(command, capture_output=True, text=True).stderr


def test_the_header_tells_what_the_report_tells(network: Callable[[str], NetworkFiles], tmp_path: Path) -> None:
    options = CompileOptions(level_sizes={"l1": 32 * 1024})
    compiled = compile_model(network("resnet8_int8").model, options, load_target("qemu_pulp"))
    header = compiled.artifacts.files[f"src/{compiled.plan.name}.h"]
    upper = compiled.plan.name.upper()
    for name, level in compiled.report.memory.items():
        found = re.search(rf"#define {upper}_{name.upper()}_BYTES (\d+) /\* (.*) \*/", header)
        assert found is not None
        told = {part.rpartition(" ")[0]: int(part.rpartition(" ")[2]) for part in found[2].split(", ")}
        proved = {part: size for part, size in level.parts().items() if size and level.of(part) == "proved"}
        assert told == {part.replace("_", " "): size for part, size in proved.items()}
        assert sum(told.values()) == int(found[1]) == level.surely
    fast, home = compiled.report.memory["l1"], compiled.report.memory["l2"]
    assert fast.copy_buffers > 20_000
    assert home.tables > 1_000
    assert home.constants > 80_000
    assert home.activations == home.live_set


@pytest.mark.parametrize("short", ["ram", "flash"])
def test_a_level_too_small_stops_the_compiler(
    network: Callable[[str], NetworkFiles], tmp_path: Path, short: str
) -> None:
    model = network("digits_int8").model
    needed = compile_model(model, CompileOptions(), load_target("host")).report.memory[short].worst_case
    enough = compile_model(model, CompileOptions(level_sizes={short: needed}), load_target("host"))
    assert built(enough, tmp_path / "enough") == ""
    small = compile_model(model, CompileOptions(level_sizes={short: needed - 1}), load_target("host"))
    assert f"_fits_{short}" in built(small, tmp_path / "small")


def test_the_stack_counts_once_it_is_known(network: Callable[[str], NetworkFiles], tmp_path: Path) -> None:
    model = network("digits_int8").model
    needed = compile_model(model, CompileOptions(), load_target("host")).report.memory["ram"].worst_case
    roomy = compile_model(model, CompileOptions(level_sizes={"ram": needed + 100}), load_target("host"))
    macro = f"-D{roomy.plan.name.upper()}_STACK_BYTES"
    assert built(roomy, tmp_path / "roomy", f"{macro}=100") == ""
    assert "_fits_ram" in built(roomy, tmp_path / "deep", f"{macro}=101")
