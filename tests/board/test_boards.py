"""The monitor on simulated boards, behind their UARTs: the command line, outputs, layers, cycles, stack and size."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from board.boards import on_this_machine
from board.streams import Noisy
from board_firmware import STRICT, UARTS, avr_board, build_for, build_for_avr, on_a_terminal, write_monitor
from tilewright.cli import main
from tilewright.compile import compile_model, run_model, write
from tilewright.options import CompileOptions, RunOptions
from tilewright.project.library import describe
from tilewright.run.board.runner import Board
from tilewright.target import Target, load_target, missing_tools

DIGITS = Path(__file__).parents[1] / "models" / "digits_int8" / "model.onnx"
SIMAVR = Path("/usr/include/simavr/sim_avr.h")
MOST_CODE_BYTES = 2048


def _target(name: str) -> Target:
    target = load_target(name)
    for tool, _ in missing_tools(target):
        pytest.skip(f"{tool} is not installed")
    return target


def _project(target: Target, folder: Path) -> Path:
    project = folder / "project"
    project.mkdir()
    compiled = write(compile_model(DIGITS, CompileOptions(), target), project)
    write_monitor(describe(compiled), project)
    return project


@pytest.mark.parametrize("name", UARTS)
def test_every_board_computes_what_numpy_does(name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    target = _target(name)
    firmware = build_for(target, _project(target, tmp_path), tmp_path, "-DDIGITS_INT8_TRACE")
    with on_a_terminal(target, firmware) as port:
        told = tmp_path / "told.json"
        code = main(
            ["run", str(DIGITS), "-t", name, "--port", port, "--layers", "--profile", "--json", str(told), "--flash",
             "true 'the board is flashed'"]
        )  # fmt: skip
        assert code == 0, capfd.readouterr().err
    run = json.loads(told.read_text())["run"]
    layers = json.loads(told.read_text())["layers"]
    assert f"on the board at {port}: " in capfd.readouterr().out
    assert run["match"]
    assert run["board"]["port"] == port
    assert run["reference"]["mismatches"] == 0
    assert 100 <= run["stack_bytes"] <= 2048
    assert all(layer["max_abs_error"] == 0 and layer["cycles"] > 0 for layer in layers)
    assert run["cycles"] >= sum(layer["cycles"] for layer in layers) * 0.5


@pytest.mark.parametrize("name", ["qemu_mps2_an385", "qemu_mps2_an386", "qemu_rv32imc"])
def test_the_monitor_is_small_and_its_examples_compile(name: str, tmp_path: Path) -> None:
    target = _target(name)
    project, path = _project(target, tmp_path), tmp_path / "monitor.o"
    includes = [f"-I{project / part}" for part in ("src", "monitor", "examples/monitor")]
    options = [*target.cpu_flags, *target.library_flags, "-DDIGITS_INT8_TRACE", "-Os", *includes, *STRICT]
    uart = ["-DMONITOR_UART=0x40011000", "-std=gnu11"]
    kinds = ("STM32", "STM32_ISR", "16550", "AVR")
    for source, more in (
        ("monitor/digits_int8_monitor.c", []), ("examples/monitor/main.c", []),
        ("examples/monitor/semihosting.c", uart), ("examples/monitor/cycles.c", uart),
        ("examples/monitor/cycles.c", [*uart, "-DMONITOR_SYSTICK"]),
        *(("examples/monitor/uart.c", [*uart, f"-DMONITOR_UART_{kind}"]) for kind in kinds),
    ):  # fmt: skip
        output = path if source.startswith("monitor") else tmp_path / "example.o"
        subprocess.run([target.compilers[0], *options, *more, "-c", project / source, "-o", output], check=True)
    size = shutil.which(target.compilers[0].replace("gcc", "size"))
    assert size is not None
    told = subprocess.run([size, path], capture_output=True, text=True, check=True).stdout
    assert int(told.splitlines()[1].split()[0]) < MOST_CODE_BYTES


def test_a_core_of_sixteen_bits_in_simavr(tmp_path: Path) -> None:
    """Every layer on a good line and on a bad one; `int` and pointers of 16 bits on the board, of 32 and 64 here."""
    for tool, package in (("avr-gcc", "gcc-avr"), ("gcc", "gcc")):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed: it comes with {package}")
    if not SIMAVR.exists():
        pytest.skip(f"{SIMAVR} is not there: it comes with libsimavr-dev")
    target, project = load_target("host"), tmp_path / "project"
    project.mkdir()
    compiled = write(compile_model(DIGITS, CompileOptions(quantized_io=True), target), project)
    write_monitor(describe(compiled), project)
    firmware, simulator = build_for_avr(project, tmp_path, "-DDIGITS_INT8_TRACE"), avr_board(tmp_path)
    for part in (0.0, 0.02):
        with on_this_machine(simulator, firmware) as line:
            board = Board(Noisy(line, 1, part), "simavr", 30.0, 30.0)
            report = run_model(compiled, target, RunOptions(layers=True, reference=False), project, board)
        assert report.run is not None
        assert report.run.match
        assert all(layer.max_abs_error == 0 for layer in report.layers)
        assert 3_000_000 < (report.run.cycles or 0) < 5_000_000
        assert 200 < (report.run.stack_bytes or 0) < 1024


def test_options_of_a_board_that_make_no_sense(capfd: pytest.CaptureFixture[str]) -> None:
    run = ["run", str(DIGITS), "-t", "host"]
    for options, message in (
        (["--baud", "9600"], "--baud: it applies to a board, and none is named; also pass --port"),
        (["--port", ""], "--port is empty: no board is named; name a port such as /dev/ttyACM0"),
        (["--port", "/dev/x", "--baud", "0"], "--baud 0: nothing would ever arrive; use 1 or more"),
        (["--port", "/dev/x", "--flash", "'"], "--flash ': its quotes are not closed: No closing quotation; close "
         "them"),
        (["-t", "host,qemu_rv32imc", "--port", "/dev/x"], "--port: a board holds one network, compiled for "
         "one target; name one model and one target"),
        (["--port", "/dev/x", "--against", str(DIGITS), "--inputs", str(DIGITS)], "--port with --against: the other "
         "network is not on the board; pass its outputs as an .npz file"),
    ):  # fmt: skip
        assert main([*run, *options]) == 2
        assert message in capfd.readouterr().err
    for flash, message in (
        ("false", "--flash false failed with code 1: it gave no reason; run it by hand"),
        ("no-such-flasher", "--flash no-such-flasher cannot be started: No such file or directory; install it, or "
         "give its path"),
    ):  # fmt: skip
        assert main([*run, "--port", "/dev/x", "--flash", flash]) == 6
        assert message in capfd.readouterr().err
