"""Firmware with the monitor for simulated boards and for this machine, started behind a stream of bytes."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import tilewright.run
from tilewright.project.ecosystems import project_files
from tilewright.project.library import Library
from tilewright.target import Target, targets_folder

AVR_BOARD = Path(__file__).with_name("avr_board.c")
SUPPORT = Path(__file__).with_name("board_support.c")
HARNESS = Path(tilewright.run.__path__[0]) / "harness"
STRICT = (
    "-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Wsign-conversion", "-Wpedantic", "-Wshadow", "-Wcast-qual",
    "-Wstrict-prototypes", "-Wmissing-prototypes", "-Werror",
)  # fmt: skip


@dataclass(frozen=True)
class Uart:
    """The first UART of a simulated board: its address, and its kind as examples/monitor/uart.c calls it."""

    address: int
    kind: str


UARTS = {
    "qemu_mps2_an385": Uart(0x40004000, "CMSDK"), "qemu_mps2_an386": Uart(0x40004000, "CMSDK"),
    "qemu_mps2_an500": Uart(0x40004000, "CMSDK"), "qemu_mps3_an547": Uart(0x49303000, "CMSDK"),
    "qemu_rv32imc": Uart(0x10000000, "16550"),
}  # fmt: skip


def write_monitor(library: Library, folder: Path) -> None:
    """The files of `compile --project monitor`, into a written project."""
    for name, text in project_files(library, ("monitor",)).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def _sources(project: Path, *, native: bool) -> list[Path]:
    examples = project / "examples" / "monitor"
    stream = [] if native else [examples / "uart.c", examples / "cycles.c"]
    model = [file for file in (project / "src").iterdir() if file.suffix in (".c", ".S")]
    return [*sorted(model), *(project / "monitor").glob("*.c"), examples / "main.c", *stream, SUPPORT]


def _compile(command: Sequence[str | Path], work: Path) -> None:
    done = subprocess.run(list(map(str, command)), cwd=work, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]} failed: {done.stderr[-2000:]}")


def _includes(project: Path) -> list[str]:
    return [f"-I{project / part}" for part in ("src", "monitor", "examples/monitor")]


def build_native(project: Path, work: Path, *flags: str, compiler: str = "gcc") -> Path:
    """The firmware as a program of this machine, which speaks by its standard input and output."""
    path = work / "firmware"
    options = ["-O1", "-DBOARD_NATIVE", "-D_DEFAULT_SOURCE", *STRICT, *flags, *_includes(project)]
    _compile([compiler, *options, *_sources(project, native=True), "-lm", "-o", path], work)
    return path


def build_for(target: Target, project: Path, work: Path, *flags: str) -> Path:
    """The firmware for a simulated board, with the start-up file and the link script of its target."""
    path, uart = work / "firmware.elf", UARTS[target.name]
    port = [f"-DMONITOR_UART={uart.address:#x}", f"-DMONITOR_UART_{uart.kind}", "-DMONITOR_STACK_LOW=__stack_limit"]
    # a loop that does nothing but read a register keeps QEMU from serving the line where processors are scarce
    port += ["-DMONITOR_IDLE()=for (volatile int wait = 0; wait < 2000; wait++) {}"]
    options = [*target.flags, *target.library_flags, "-std=gnu11", *port, *flags, *_includes(project), f"-I{HARNESS}"]
    # a Cortex-M of QEMU has no DWT: the start-up file brings its SysTick
    sources = [file for file in _sources(project, native=False) if target.platform == "riscv" or file.stem != "cycles"]
    places = [f"-Wl,--defsym=__stack_size={target.stack_bytes or 4096:#x}"]
    for level, memory in target.memories.items():
        places += [f"-Wl,--defsym=__{level}_start={memory.address:#x}", f"-Wl,--defsym=__{level}_size={memory.size:#x}"]
    link = [*places, f"-L{target.folder}", f"-L{targets_folder() / 'start'}", "-nostartfiles"]
    started: list[str | Path] = [target.file(name) for name in target.startup]
    script: list[str | Path] = ["-T", target.file(target.link_script), *target.link_flags, "-o", path]
    _compile([target.compilers[0], *options, *sources, *started, *link, *script], work)
    return path


def avr_board(work: Path) -> Path:
    """The program that is a simulated ATmega1284P, whose UART is its standard input and output."""
    path = work / "avr_board"
    _compile(["gcc", "-O2", "-Wall", "-Wextra", "-Werror", AVR_BOARD, "-lsimavr", "-o", path], work)
    return path


def build_for_avr(project: Path, work: Path, *flags: str) -> Path:
    """The firmware for it."""
    path = work / "firmware.elf"
    uart = ["-DMONITOR_UART=0xc0", "-DMONITOR_UART_AVR", "-DMONITOR_STACK_LOW=_end"]
    sources = [file for file in _sources(project, native=False) if file.stem != "cycles"]
    options = ["-mmcu=atmega1284p", "-Os", "-std=gnu99", "-Wall", "-Wextra", *uart, *flags, *_includes(project)]
    _compile(["avr-gcc", *options, *sources, "-lm", "-o", path], work)
    return path


@contextmanager
def native(*command: Path) -> Iterator[tuple[socket.socket, subprocess.Popen[bytes]]]:
    """The host's end of a socket pair whose other end is the program's input and output."""
    ours, theirs = socket.socketpair()
    with ours, subprocess.Popen(list(map(str, command)), stdin=theirs.fileno(), stdout=theirs.fileno()) as process:
        theirs.close()
        try:
            yield ours, process
        finally:
            process.kill()


@contextmanager
def on_a_terminal(target: Target, firmware: Path) -> Iterator[str]:
    """The firmware in QEMU, its UART at a pseudo-terminal whose name is given."""
    command = [word.replace("{elf}", str(firmware)) for word in target.command]
    command = [word.replace("stdio,id=semihosting", "null,id=semihosting") for word in command]
    at = command.index("-serial")
    command[at : at + 2] = ["-chardev", "pty,id=line", "-serial", "chardev:line"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as qemu:
        try:
            assert qemu.stdout is not None
            told = qemu.stdout.readline()  # char device redirected to /dev/pts/3 (label line)
            yield next((word for word in told.split() if word.startswith("/dev/")), "")
        finally:
            qemu.kill()
