"""What the tests of a generated folder share: compile into it, build it, start it where it belongs."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import tilewright
from tilewright.cli import main
from tilewright.compile import Compiled, compile_model
from tilewright.options import CompileOptions
from tilewright.plan.execute import run

SEMIHOSTED = "--crt0=semihost --oslib=semihost -Wl,--defsym=__stack_size=0x2000"
CONSOLE = "-nographic;-monitor;none;-serial;none;-chardev;stdio,id=sh0;-semihosting-config"


@dataclass(frozen=True)
class Machine:
    """Where a folder is built for: compiler, its flags, the linker's, and the emulator's command before the program."""

    name: str
    compiler: str
    flags: str
    link: str
    emulator: tuple[str, ...]

    def toolchain(self, folder: Path) -> list[str]:
        """The option of CMake that builds for it."""
        if not self.emulator:
            return []
        text = "\n".join(
            [
                "set(CMAKE_SYSTEM_NAME Generic)",
                f"set(CMAKE_C_COMPILER {self.compiler})",
                "set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)",
                f'set(CMAKE_C_FLAGS_INIT "{self.flags}")',
                f'set(CMAKE_EXE_LINKER_FLAGS_INIT "{self.link}")',
                f'set(CMAKE_CROSSCOMPILING_EMULATOR "{";".join(self.emulator)}")',
            ]
        )
        file = folder / f"{self.name}.cmake"
        file.write_text(text + "\n")
        return [f"-DCMAKE_TOOLCHAIN_FILE={file}"]


def _memories(flash: int, ram: int) -> str:
    symbols = {"__flash": flash, "__flash_size": 0x200000, "__ram": ram, "__ram_size": 0x200000}
    return " ".join([SEMIHOSTED, *(f"-Wl,--defsym={name}={value:#x}" for name, value in symbols.items())])


MACHINES = (
    Machine("host", "gcc", "-O1", "", ()),
    Machine(
        "m4",
        "arm-none-eabi-gcc",
        "--specs=picolibc.specs -mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 -O1",
        _memories(0, 0x20000000),
        (
            *("qemu-system-arm", "-machine", "mps2-an386", *CONSOLE.split(";")),
            *("enable=on,target=native,chardev=sh0", "-kernel"),
        ),
    ),
    Machine(
        "rv32",
        "riscv64-unknown-elf-gcc",
        "--specs=picolibc.specs -march=rv32imc -mabi=ilp32 -misa-spec=2.2 -O1",
        _memories(0x80000000, 0x80200000),
        (
            *("qemu-system-riscv32", "-machine", "virt", "-cpu", "rv32", "-m", "16M", "-bios", "none"),
            *(*CONSOLE.split(";"), "enable=on,target=native,chardev=sh0", "-kernel"),
        ),
    ),
)


def pack(model: Path, folder: Path, *options: str, target: str = "host") -> Path:
    """`tilewright compile --project all` into a folder."""
    words = ["compile", str(model), "-t", target, "-o", str(folder), "--project", "all", "-q", *options]
    assert main(words) == 0
    return folder


def compiled(model: Path, **options: object) -> Compiled:
    """The stages of the same compilation."""
    return compile_model(model, CompileOptions(**options), tilewright.load_target("host"))  # type: ignore[arg-type]


def on_zeros(done: Compiled) -> list[list[float]]:
    """What the example must print: the outputs for inputs of zeros, computed in NumPy."""
    tensors = [done.plan.slots[slot].tensor for slot in done.plan.input_slots]
    outputs = run(done.plan, [np.zeros(tensor.shape, tensor.dtype.numpy) for tensor in tensors])
    return [[float(value) for value in output.reshape(-1)] for output in outputs]


def printed(text: str) -> list[list[float]]:
    """The numbers behind each `output N:` of the example."""
    lines = [line.partition(":")[2] for line in text.splitlines() if line.startswith("output ")]
    return [[float(word) for word in line.split()] for line in lines]


def assert_printed(text: str, wanted: Sequence[Sequence[float]]) -> None:
    """The example has printed these numbers, as far as six digits tell."""
    found = printed(text)
    assert [len(line) for line in found] == [len(line) for line in wanted], text
    for have, want in zip(found, wanted, strict=True):
        np.testing.assert_allclose(have, want, rtol=1e-4, atol=1e-5)


def tool(*command: str | Path, folder: Path | None = None, environment: Mapping[str, str] | None = None) -> str:
    """The output of a program that must end well; without it the installation of the tests is incomplete."""
    if shutil.which(str(command[0])) is None:
        pytest.fail(f"{command[0]} is missing; ci/test installs it")
    done = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=300,
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout + done.stderr
