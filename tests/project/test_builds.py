"""A generated folder builds and runs with CMake and with make: alone, in a project, on the host and on two cores."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import onnx
import pytest
from conftest import NetworkFiles
from project.packing import MACHINES, Machine, assert_printed, compiled, on_zeros, pack, tool
from tilewright.cli import main

Network = Callable[[str], NetworkFiles]
ON_EACH = pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.name)


@ON_EACH
def test_cmake_builds_it_and_ctest_runs_it(machine: Machine, network: Network, tmp_path: Path) -> None:
    files = network("odd_several")  # two inputs and three outputs
    folder, build = pack(files.model, tmp_path / "network"), tmp_path / "build"
    tool("cmake", "-S", folder, "-B", build, *machine.toolchain(tmp_path))
    tool("cmake", "--build", build)
    text = tool("ctest", "--test-dir", build, "-V")
    assert "100% tests passed" in text
    told = "\n".join(line.partition(": ")[2] for line in text.splitlines() if line.startswith("1: "))
    assert_printed(told, on_zeros(compiled(files.model)))


@ON_EACH
def test_make_builds_it(machine: Machine, network: Network, tmp_path: Path) -> None:
    files = network("digits_int8")
    folder = pack(files.model, tmp_path / "network", "--quantized-io")
    variables = [f"CC={machine.compiler}", f"CFLAGS={machine.flags}", f"LDFLAGS={machine.link}"]
    tool("make", "-C", folder / "examples" / "make", *variables)
    assert (folder / "libdigits_int8.a").exists()
    text = tool(*machine.emulator, folder / "examples" / "make" / "example")
    assert_printed(text, on_zeros(compiled(files.model, quantized_io=True)))
    tool("make", "-C", folder / "examples" / "make", "clean")
    assert not (folder / "libdigits_int8.a").exists()


def test_its_own_flags_suffice_for_its_own_target(network: Network, tmp_path: Path) -> None:
    folder = pack(network("digits").model, tmp_path, target="qemu_mps2_an386")
    tool("make", "-C", folder, "CC=arm-none-eabi-gcc --specs=picolibc.specs")
    header = tool("arm-none-eabi-readelf", "-A", folder / "digits.o")
    assert "Cortex-M4" in header or "v7E-M" in header


@ON_EACH
def test_two_networks_are_subprojects_of_one_image(machine: Machine, network: Network, tmp_path: Path) -> None:
    for name in ("digits", "digits_int8"):
        pack(network(name).model, tmp_path / name)
    lines = ["cmake_minimum_required(VERSION 3.16)", "project(firmware C)", "enable_testing()"]
    lines += ["add_subdirectory(digits)", "add_subdirectory(digits_int8)", "add_executable(firmware main.c)"]
    lines += ["target_link_libraries(firmware PRIVATE digits::digits digits_int8::digits_int8)"]
    lines += ["add_test(NAME firmware COMMAND firmware)"]
    (tmp_path / "CMakeLists.txt").write_text("\n".join(lines) + "\n")
    (tmp_path / "main.c").write_text(
        '#include "digits.h"\n#include "digits_int8.h"\n'
        "int main(void) { return digits_run() + digits_int8_run() + (digits_version[0] == 0); }\n"
    )
    build = tmp_path / "build"
    tool("cmake", "-S", tmp_path, "-B", build, *machine.toolchain(tmp_path))
    tool("cmake", "--build", build)
    assert "100% tests passed" in tool("ctest", "--test-dir", build)


def test_an_installed_package_is_found(network: Network, tmp_path: Path) -> None:
    folder, root = pack(network("digits").model, tmp_path / "network"), tmp_path / "root"
    tool("cmake", "-S", folder, "-B", tmp_path / "build", f"-DCMAKE_INSTALL_PREFIX={root}")
    tool("cmake", "--build", tmp_path / "build", "--target", "install")
    user = tmp_path / "user"
    user.mkdir()
    shutil.copy(folder / "examples" / "cmake" / "main.c", user)
    lines = ["cmake_minimum_required(VERSION 3.16)", "project(user C)", "find_package(digits 1.0 REQUIRED)"]
    lines += ["add_executable(user main.c)", "target_link_libraries(user PRIVATE digits::digits)"]
    (user / "CMakeLists.txt").write_text("\n".join(lines) + "\n")
    tool("cmake", "-S", user, "-B", user / "build", f"-DCMAKE_PREFIX_PATH={root}")
    tool("cmake", "--build", user / "build")
    assert tool(user / "build" / "user").startswith("output 0: ")


@pytest.mark.parametrize(
    "name", ["test", "all", "clean", "m", "zephyr", "a;b $(x) ${y}", 'q"uo`te', "no", "1e5", "%s%n", "ünïcode", "main"]
)
def test_hostile_names_of_a_model(name: str, network: Network, tmp_path: Path) -> None:
    """The file's name is a stranger's: nothing of it reaches a build file but through the mangler."""
    model = tmp_path / f"{name}.onnx"
    proto = onnx.load(network("digits").model)
    proto.graph.name = name
    proto.graph.output[0].name = '"*/ #include ${x}'
    proto.graph.node[-1].output[0] = '"*/ #include ${x}'
    onnx.save(proto, model)
    folder = pack(model, tmp_path / "network")
    for archive in folder.rglob("*.pack"):
        with ZipFile(archive) as members:
            assert all(member.isascii() for member in members.namelist())
            members.extractall(tmp_path / "network" / "unpacked")
    for file in folder.rglob("*"):
        if file.is_file() and file.name != "report.json" and file.suffix != ".pack":
            text = file.read_text(encoding="utf-8")
            assert text.isascii(), file
            assert not any(harm in text for harm in ("${x}", "$(x)", "${y}")), file
    build = tmp_path / "build"
    tool("cmake", "-S", folder, "-B", build)
    tool("cmake", "--build", build)
    assert "100% tests passed" in tool("ctest", "--test-dir", build)
    tool("make", "-C", folder / "examples" / "make")
    assert tool(folder / "examples" / "make" / "example").startswith("output 0: ")
    assert main(["compile", str(model), "-t", "host", "-o", str(tmp_path / "plain"), "-q"]) == 0
    tool("cmake", "-S", tmp_path / "plain", "-B", tmp_path / "plain_build")
