"""Each ecosystem's manifest under its own tool, or under the schema that its documentation gives."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import NetworkFiles
from project.packing import pack, tool
from tilewright.cli import main

Network = Callable[[str], NetworkFiles]
EVERY_OPTION = [[], ["--io", "caller"], ["--context"], ["--context", "--io", "caller"]]
ARDUINO_KEYS = {"name", "version", "author", "maintainer", "sentence", "paragraph", "category", "url", "architectures"}
ARDUINO_CATEGORIES = {
    "Display", "Communication", "Signal Input/Output", "Sensors", "Device Control", "Timing", "Data Storage",
    "Data Processing", "Other", "Uncategorized",
}  # fmt: skip
MODULE_SCHEMA = {  # the keys of zephyr/module.yml that we use, as Zephyr's documentation describes them
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string"},
        "build": {
            "type": "object",
            "additionalProperties": False,
            "properties": {"cmake": {"type": "string"}, "kconfig": {"type": "string"}},
        },
    },
}
ARDUINO_H = """#include <stdio.h>
struct Port {
    void begin(long) {}
    void print(const char *t) { printf("%s", t); }
    void print(char c) { printf("%c", c); }
    void print(double v) { printf("%g", v); }
    void print(long v) { printf("%ld", v); }
    void print(unsigned long v) { printf("%lu", v); }
    void println(int v) { printf("%d\\n", v); }
    void println() { printf("\\n"); }
};
static Port Serial;
static void delay(int) {}
"""
SDK = {  # what the build systems of Zephyr and ESP-IDF define, as far as our files call it
    "zephyr": """set(CONFIG_TILEWRIGHT_DIGITS y)
function(zephyr_include_directories)
  foreach(one ${ARGN})
    get_filename_component(path ${one} ABSOLUTE)
    include_directories(${path})
  endforeach()
endfunction()
function(zephyr_library_named name)
  set(SDK_LIBRARY ${name} CACHE INTERNAL "")
  add_library(${name} STATIC)
endfunction()
function(zephyr_library_sources)
  target_sources(${SDK_LIBRARY} PRIVATE ${ARGN})
endfunction()
include_directories(SYSTEM network/src)
add_subdirectory(network/zephyr)
""",
    "esp-idf": """set(ESP_PLATFORM 1)
macro(idf_component_register)
  cmake_parse_arguments(given "" "" "SRCS;INCLUDE_DIRS;REQUIRES" ${ARGN})
  set(COMPONENT_LIB component)
  add_library(component STATIC ${given_SRCS})
  target_include_directories(component PUBLIC ${given_INCLUDE_DIRS})
endmacro()
add_subdirectory(network)
""",
}


def needs(module: str, package: str) -> None:
    """Skip, naming the package, where a tool of an ecosystem is not installed."""
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{package} is not installed")


def test_platformio_packs_it(network: Network, tmp_path: Path) -> None:
    needs("platformio", "platformio")
    folder = pack(network("digits").model, tmp_path / "network")
    own = {"PLATFORMIO_CORE_DIR": str(tmp_path / "core"), "PLATFORMIO_SETTING_ENABLE_TELEMETRY": "no"}
    command = [sys.executable, "-m", "platformio", "pkg", "pack", "-o", str(tmp_path / "digits.tar.gz"), str(folder)]
    assert "Wrote a tarball" in tool(*command, environment={**os.environ, **own})
    manifest = json.loads((folder / "library.json").read_text())
    manifest["version"] = "one"  # the tool does look
    (folder / "library.json").write_text(json.dumps(manifest))
    refused = subprocess.run(command, env={**os.environ, **own}, capture_output=True, text=True)
    assert refused.returncode != 0
    assert "semantic version" in refused.stdout + refused.stderr


def test_the_component_manager_of_esp_idf_reads_its_manifest(network: Network, tmp_path: Path) -> None:
    needs("idf_component_tools", "idf-component-manager")
    folder = pack(network("digits").model, tmp_path / "network")
    script = (
        "import sys; from idf_component_tools.manager import ManifestManager;"
        "print(ManifestManager(sys.argv[1], 'digits', upload_mode=True).load().version)"
    )
    assert tool(sys.executable, "-c", script, folder).strip().endswith("1.0.0")


def test_zephyr_reads_its_module(network: Network, tmp_path: Path) -> None:
    import yaml
    from jsonschema import validate

    folder = pack(network("digits").model, tmp_path / "network")
    module = yaml.safe_load((folder / "zephyr" / "module.yml").read_text())
    validate(module, MODULE_SCHEMA)
    assert (folder / module["build"]["cmake"] / "CMakeLists.txt").is_file()
    assert (folder / module["build"]["kconfig"]).is_file()


def test_kconfig_is_read_by_the_parser_that_zephyr_uses(network: Network, tmp_path: Path) -> None:
    needs("kconfiglib", "kconfiglib")
    import kconfiglib

    folder = pack(network("digits").model, tmp_path / "network")
    parsed = kconfiglib.Kconfig(str(folder / "zephyr" / "Kconfig"), warn_to_stderr=False)
    parsed.load_config(str(folder / "examples" / "zephyr" / "prj.conf"))
    assert parsed.syms["TILEWRIGHT_DIGITS"].str_value == "y"
    assert "digits" in parsed.syms["TILEWRIGHT_DIGITS"].nodes[0].help


def test_arduino_finds_every_property_that_it_demands(network: Network, tmp_path: Path) -> None:
    folder = pack(network("digits").model, tmp_path / "network")
    pairs = [line.partition("=") for line in (folder / "library.properties").read_text().splitlines()]
    found = {key: value for key, _, value in pairs}
    assert set(found) >= ARDUINO_KEYS
    assert all(found.values())
    assert found["category"] in ARDUINO_CATEGORIES
    assert (folder / "src" / found["includes"]).is_file()
    assert not found["sentence"].lower().startswith(("arduino", "a library"))


@pytest.mark.parametrize("options", EVERY_OPTION, ids=lambda options: "+".join(options) or "plain")
def test_the_sketch_is_a_program(options: list[str], network: Network, tmp_path: Path) -> None:
    """Compiled as C++ against a stand-in for Arduino.h, as the IDE does; `src` alone is on the path."""
    folder = pack(network("odd_several").model, tmp_path / "network", *options)
    sketch = (folder / "examples" / "arduino" / "arduino.ino").read_text()
    (tmp_path / "sketch.cpp").write_text(ARDUINO_H + sketch + "int main() { setup(); loop(); return 0; }\n")
    source = tmp_path / "sketch.cpp"
    objects = []
    for file in sorted((folder / "src").glob("*.c")):
        objects.append(tmp_path / f"{file.stem}.o")
        tool("gcc", "-O1", "-c", file, "-o", objects[-1])
    strict = ["-Wall", "-Wextra", "-Werror", f"-I{folder / 'src'}"]
    tool("g++", *strict, source, *objects, "-lm", "-o", tmp_path / "sketch")
    assert tool(tmp_path / "sketch").count("output ") == 3


@pytest.mark.parametrize("options", EVERY_OPTION, ids=lambda options: "+".join(options) or "plain")
def test_every_example_is_clean_under_every_warning(options: list[str], network: Network, tmp_path: Path) -> None:
    folder = pack(network("odd_several").model, tmp_path / "network", *options)
    examples = sorted(folder.glob("examples/**/main.c"))
    assert len(examples) == 6
    strict = ["-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Wshadow", "-Werror"]
    for file in examples:
        for compiler in ("gcc", "clang"):
            tool(compiler, *strict, f"-I{folder / 'src'}", "-fsyntax-only", file)


@pytest.mark.parametrize("sdk", sorted(SDK))
def test_the_files_of_an_sdk_build_the_library(sdk: str, network: Network, tmp_path: Path) -> None:
    """With stand-ins for the functions of Zephyr and of ESP-IDF, whose SDKs are not here."""
    pack(network("digits").model, tmp_path / "network")
    head = "cmake_minimum_required(VERSION 3.20)\nproject(image C)\n"
    (tmp_path / "CMakeLists.txt").write_text(head + SDK[sdk])
    tool("cmake", "-S", tmp_path, "-B", tmp_path / "build")
    tool("cmake", "--build", tmp_path / "build")
    assert list((tmp_path / "build").rglob("lib*.a"))


def test_only_what_is_asked_for_is_written(network: Network, tmp_path: Path) -> None:
    model = str(network("digits").model)
    assert main(["compile", model, "-t", "host", "-o", str(tmp_path), "--project", "zephyr, arduino", "-q"]) == 0
    assert (tmp_path / "zephyr" / "module.yml").exists()
    assert (tmp_path / "library.properties").exists()
    assert not (tmp_path / "library.json").exists()
    assert not (tmp_path / "idf_component.yml").exists()


def test_refusals(network: Network, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = str(network("digits_int8").model)
    assert main(["compile", model, "-t", "host", "-o", str(tmp_path / "a"), "--project", "cmake,bazel"]) == 2
    assert "there is no ecosystem 'bazel'; name some of cmake, make, zephyr" in capsys.readouterr().err
    if shutil.which("gcc"):
        assert main(["compile", model, "-t", "cuda_host", "-o", str(tmp_path / "b"), "--project", "make"]) == 3
        assert "cannot pack the code of platform 'cuda'" in capsys.readouterr().err
    assert main(["compile", model, "-t", "qemu_pulp", "-o", str(tmp_path / "c"), "--project", "make"]) == 3
    assert "computed by a cluster" in capsys.readouterr().err
    assert not any((tmp_path / name).exists() for name in "abc")
