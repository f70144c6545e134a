"""Zephyr's and ESP-IDF's own builds of generated applications, run in QEMU or natively, outputs compared with NumPy's.

An SDK is used where its environment variable says that it is there, as its own set-up script leaves it; any other is
skipped by name. Exit 1 where a build fails or an output differs.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from project.packing import assert_printed, compiled, on_zeros, pack, printed

MODELS = Path(__file__).parents[1] / "tests" / "models"
NETWORKS: Mapping[str, bool] = {"digits_int8": True, "digits": False}
"""Networks that are built, and whether their codes stand at the border: integers, and floats that need a whole libm."""
BUILD_SECONDS, RUN_SECONDS = 1800.0, 60.0
CHIP, CHIP_COMPILER = "esp32c3", "riscv32-esp-elf-gcc"


class Missing(Exception):
    """What has to be there, and is not: the SDK or its simulator is skipped with this sentence."""


class Failed(Exception):
    """A build that failed or an application that printed nothing."""


def _tool(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        raise Missing(f"{name} is not on the path")
    return path


def _require(variable: str, file: str) -> None:
    """Missing where a variable is not set, or names a folder that is no such SDK."""
    name = os.environ.get(variable)
    if not name:
        raise Missing(f"{variable} is not set")
    if not (Path(name) / file).exists():
        raise Missing(f"{variable} is {name}, where there is no {file}")


def _built(*command: str | Path) -> None:
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, timeout=BUILD_SECONDS)
    if done.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))}: {(done.stdout + done.stderr)[-3000:]}")


def _said(command: Sequence[str | Path], outputs: int) -> str:
    """What an application that never ends has printed when all of its outputs are there."""
    with tempfile.TemporaryFile("w+") as file:
        with subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=file, stderr=file) as process:
            end = time.monotonic() + RUN_SECONDS
            try:
                while time.monotonic() < end and process.poll() is None:
                    time.sleep(0.2)
                    file.seek(0)
                    text = file.read()
                    if len(printed(text)) == outputs and text.endswith("\n"):
                        return text
            finally:
                process.kill()
        file.seek(0)
        raise Failed(f"{command[0]} showed no outputs: {file.read()[-3000:]}")


def zephyr(folder: Path, work: Path) -> Sequence[str | Path]:
    """Build for QEMU's Cortex-M3, or for the board in ZEPHYR_BOARD, a native one; the command that starts it."""
    build, board = work / "zephyr", os.environ.get("ZEPHYR_BOARD", "qemu_cortex_m3")
    _built(_tool("cmake"), "-G", "Ninja", "-B", build, f"-DBOARD={board}", "-S", folder / "examples" / "zephyr")
    _built("cmake", "--build", build)
    if (native := build / "zephyr" / "zephyr.exe").is_file():
        return [native]
    emulator = _tool("qemu-system-arm")
    machine = ["-cpu", "cortex-m3", "-machine", "lm3s6965evb", "-nographic", "-monitor", "none", "-serial", "stdio"]
    return [emulator, *machine, "-kernel", build / "zephyr" / "zephyr.elf"]


def esp_idf(folder: Path, work: Path) -> Sequence[str | Path]:
    """Build for an ESP32-C3, or for Linux where the chip's compiler is not there; the command that starts it."""
    build, application = work / "idf", folder / "examples" / "esp-idf"
    chip = CHIP if shutil.which(CHIP_COMPILER) else "linux"
    idf: list[str | Path] = [_tool("idf.py"), "--preview", "-C", application, "-B", build]
    idf.append(f"-DSDKCONFIG={work / 'sdkconfig'}")
    _built(*idf, "set-target", chip)
    _built(*idf, "build")
    return [next(build.glob("*_example.elf"))] if chip == "linux" else _in_qemu(build, work)


def _in_qemu(build: Path, work: Path) -> Sequence[str | Path]:
    """The command that starts what was built for the chip: its flash as one file, in Espressif's QEMU."""
    image = work / "flash.bin"
    flash = ["merge_bin", "--fill-flash-size", "4MB", "-o", image, "@flash_args"]
    with_folder = subprocess.run(
        [_tool("esptool.py"), "--chip", CHIP, *map(str, flash)], cwd=build, capture_output=True, text=True, check=False
    )
    if with_folder.returncode != 0:
        raise Failed(f"esptool.py: {with_folder.stderr[-2000:]}")
    emulator = _tool("qemu-system-riscv32")
    machines = subprocess.run([emulator, "-machine", "help"], capture_output=True, text=True, check=False).stdout
    if CHIP not in machines:
        raise Missing(f"it builds, and {emulator} has no machine {CHIP}: Espressif's QEMU has")
    drive = f"file={image},if=mtd,format=raw"
    return [emulator, "-nographic", "-icount", "3", "-machine", CHIP, "-drive", drive]


@dataclass(frozen=True)
class Sdk:
    """The variable that says where an SDK is, a file that it has, and what builds for it."""

    variable: str
    file: str
    build: Callable[[Path, Path], Sequence[str | Path]]


SDKS: Mapping[str, Sdk] = {
    "Zephyr": Sdk("ZEPHYR_BASE", "cmake/modules/FindHostTools.cmake", zephyr),
    "ESP-IDF": Sdk("IDF_PATH", "tools/idf.py", esp_idf),
}


def main(words: Sequence[str]) -> int:
    """Every SDK that is named, or all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("sdk", nargs="*", help=f"some of {', '.join(SDKS)}; all where none is named")
    chosen = parser.parse_args(words).sdk or list(SDKS)
    if unknown := [name for name in chosen if name not in SDKS]:
        print(f"no SDK is called {', '.join(unknown)}; there are {', '.join(SDKS)}", file=sys.stderr)
        return 2
    results = [_one(SDKS[name], name, network, codes) for name in chosen for network, codes in NETWORKS.items()]
    return int(not all(results))


def _one(sdk: Sdk, name: str, network: str, codes: bool) -> bool:
    """False where the application of a network was not built, or printed something else."""
    model = MODELS / network / "model.onnx"
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        try:
            _require(sdk.variable, sdk.file)
            project = pack(model, work / network, *(["--quantized-io"] if codes else []))
            wanted = on_zeros(compiled(model, quantized_io=codes))
            command = sdk.build(project, work)
            assert_printed(_said(command, len(wanted)), wanted)
            where = "natively" if Path(command[0]).is_relative_to(work) else f"in {Path(command[0]).name}"
            print(f"{name}, {network}: built, and its outputs {where} are NumPy's")
        except Missing as error:
            print(f"{name}, {network}: skipped, {error}")
        except (Failed, AssertionError, subprocess.TimeoutExpired) as error:
            print(f"{name}, {network}: FAILED, {error}")
            return False
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
