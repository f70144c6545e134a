"""Networks that run slice by slice: the same results, between two calls of which anything else may run."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import onnx
import pytest
from conftest import NetworkFiles
from state.networks import filtered
from tilewright.cli import main
from tilewright.compile import Compiled, compile_model, run_model, write
from tilewright.options import CompileOptions, RunOptions, StateWish
from tilewright.target import load_target

STATE = StateWish((("h", "h_out"),))
MAIN = """#include "filtered.h"
#include <stdio.h>

static filtered_context one, other;

int main(void)
{
    float *const x = filtered_input_0(&one);
    int step = 0, calls = 0, status, i;
    filtered_reset(&one);
    filtered_reset(&other);
    for (i = 0; i < 8; i++) {
        x[i] = (float)i;
        filtered_input_0(&other)[i] = (float)i;
    }
    do {
        status = filtered_run_some(&one, &step);
        calls++;
        if (status == FILTERED_MORE && filtered_run(&other) != FILTERED_OK) {
            return 1; /* another instance runs between two slices */
        }
    } while (status == FILTERED_MORE);
    printf("%d %d %d %d ", status, step, calls == FILTERED_SLICES, FILTERED_SLICES);
    step = FILTERED_SLICES;
    printf("%d ", filtered_run_some(&one, &step) == FILTERED_ERROR_STEP);
    printf("%d\\n", filtered_run_some(&one, 0) == FILTERED_ERROR_NULL_POINTER);
    return 0;
}
"""


def sliced(model: Path, folder: Path, options: CompileOptions, board: str = "host") -> Compiled:
    folder.mkdir()
    return write(compile_model(model, options, load_target(board)), folder)


@pytest.mark.parametrize(("name", "options", "board"), [
    ("odd_several", CompileOptions(slice_instructions=1, io="caller"), "host"),
    ("digits_int8", CompileOptions(slice_instructions=12_000), "qemu_mps2_an385"),
])  # fmt: skip
def test_the_results_are_those_of_the_whole(
    name: str, options: CompileOptions, board: str, tmp_path: Path, network: Callable[[str], NetworkFiles]
) -> None:
    made = sliced(network(name).model, tmp_path / "c", options, board)
    report = run_model(made, load_target(board), RunOptions(reference=False), tmp_path / "c")
    assert report.run is not None
    assert report.run.match
    assert report.slices is not None
    assert report.slices.count > 1
    steps = [(one.first, one.last) for one in made.artifacts.slices]
    assert (steps[0][0], steps[-1][1]) == (0, len(made.plan.instructions) - 1)
    assert all(after[0] > before[1] for before, after in pairwise(steps))
    for one in made.artifacts.slices:
        assert one.instructions <= options.slice_instructions or one.first == one.last


def test_another_instance_runs_between_two_slices(tmp_path: Path) -> None:
    onnx.save(filtered(), tmp_path / "filtered.onnx")
    sliced(tmp_path / "filtered.onnx", tmp_path / "c", CompileOptions(state=STATE, context=True, slice_instructions=1))
    (tmp_path / "c" / "main.c").write_text(MAIN)
    sources = [str(path) for path in (tmp_path / "c" / "src").glob("*.c")]
    command = ["gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsanitize=address,undefined", "-Isrc"]
    subprocess.run([*command, "main.c", *sources, "-lm", "-o", "main"], cwd=tmp_path / "c", check=True)
    told = subprocess.run(["./main"], cwd=tmp_path / "c", check=True, capture_output=True, text=True).stdout.split()
    assert told[:3] == ["0", "0", "1"]
    assert int(told[3]) > 1
    assert told[4:] == ["1", "1"]


def test_the_longest_slice_is_told(
    network: Callable[[str], NetworkFiles], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = str(network("digits_int8").model)
    words = ["compile", model, "-o", str(tmp_path / "out"), "-q"]
    assert main([*words, "-t", "qemu_mps2_an386", "--slice", "20000"]) == 0
    longest = r"the longest of about 3\d,\d{3} instructions: 'input_QuantizeLinear \+ conv0 \+ conv2' alone takes more"
    assert re.search(rf"slices, {longest} than 20,000\n", capsys.readouterr().out)
    assert main(["compile", model, "-o", str(tmp_path / "cuda"), "-q", "-t", "cuda_host", "--slice", "20000"]) == 2
    assert "platform 'cuda' writes its own code, which has none; leave it out" in capsys.readouterr().err
