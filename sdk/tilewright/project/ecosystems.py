"""The files of each ecosystem beside `src/`; one folder serves all that are asked for."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright.codegen.render import render
from tilewright.errors import UsageError
from tilewright.project.cmsis_pack import can_be_packed, description
from tilewright.project.cores import ANY
from tilewright.run.board import protocol

if TYPE_CHECKING:
    from tilewright.project.library import Library

CMSIS_PACK, MONITOR = "cmsis-pack", "monitor"
"""The pack that IDEs import; what answers `run --port` on a board, which no ecosystem asks for."""
ALL = "all"
TEMPLATES = Path(__file__).parent / "templates"
_FILES: Mapping[str, Mapping[str, str]] = {
    "cmake": {
        "CMakeLists.txt": "CMakeLists.txt.mako",
        "examples/cmake/CMakeLists.txt": "cmake_example.txt.mako",
        "examples/cmake/main.c": "main.c.mako",
    },
    "make": {
        "Makefile": "Makefile.mako",
        "examples/make/Makefile": "make_example.mako",
        "examples/make/main.c": "main.c.mako",
    },
    "zephyr": {
        "zephyr/module.yml": "module.yml.mako",
        "zephyr/CMakeLists.txt": "zephyr_CMakeLists.txt.mako",
        "zephyr/Kconfig": "Kconfig.mako",
        "examples/zephyr/CMakeLists.txt": "zephyr_app.txt.mako",
        "examples/zephyr/prj.conf": "prj.conf.mako",
        "examples/zephyr/src/main.c": "main.c.mako",
    },
    "arduino": {
        "library.properties": "library.properties.mako",
        "examples/arduino/arduino.ino": "sketch.ino.mako",
    },
    "platformio": {
        "examples/platformio/platformio.ini": "platformio.ini.mako",
        "examples/platformio/src/main.c": "main.c.mako",
    },
    "esp-idf": {
        "CMakeLists.txt": "CMakeLists.txt.mako",
        "idf_component.yml": "idf_component.yml.mako",
        "examples/esp-idf/CMakeLists.txt": "idf_app.txt.mako",
        "examples/esp-idf/main/CMakeLists.txt": "idf_main.txt.mako",
        "examples/esp-idf/main/main.c": "main.c.mako",
    },
    CMSIS_PACK: {"examples/cmsis-pack/main.c": "main.c.mako"},
    MONITOR: {
        "monitor/{name}_monitor.h": "monitor/monitor.h.mako",
        "monitor/{name}_monitor.c": "monitor/monitor.c.mako",
        "examples/monitor/main.c": "monitor/main.c.mako",
        "examples/monitor/board.h": "monitor/board.h.mako",
        "examples/monitor/cycles.c": "monitor/cycles.c.mako",
        "examples/monitor/uart.c": "monitor/uart.c.mako",
        "examples/monitor/semihosting.c": "monitor/semihosting.c.mako",
        "examples/monitor/rtt.c": "monitor/rtt.c.mako",
        "examples/monitor/usb_cdc.c": "monitor/usb_cdc.c.mako",
    },
}
ECOSYSTEMS = tuple(name for name in _FILES if name != MONITOR)


def parse_ecosystems(text: str) -> tuple[str, ...]:
    """Names between commas, or `all`, which is every ecosystem, and `monitor`; UsageError for another name."""
    names = [name.strip() for name in text.split(",")]
    if set(names) in ({ALL}, {ALL, MONITOR}):
        names += ECOSYSTEMS
        names.remove(ALL)
    for name in names:
        if name not in _FILES:
            raise UsageError(
                f"--project {text}",
                why=f"there is no ecosystem '{name}'",
                fix="name some of " + ", ".join(_FILES) + f", or {ALL}",
            )
    return tuple(name for name in _FILES if name in names)


def fitting(library: Library, text: str) -> tuple[str, ...]:
    """The ecosystems that are meant: of `all` those that can take the library; UsageError for another name."""
    named = parse_ecosystems(text)
    every = ALL in map(str.strip, text.split(","))
    return tuple(name for name in named if not every or name != CMSIS_PACK or can_be_packed(library))


def project_files(library: Library, ecosystems: Sequence[str]) -> dict[str, str]:
    """Relative path with `/` to text, of every file of the ecosystems."""
    files: dict[str, str] = {}
    for ecosystem in ecosystems:
        main = "app_main" if ecosystem == "esp-idf" else "main"
        result = "void" if ecosystem == "esp-idf" else "int"
        for path, template in _FILES[ecosystem].items():
            names: dict[str, object] = {"m": library, "ecosystems": tuple(ecosystems), "main": main, "result": result}
            names["protocol"] = protocol
            files[path.format(name=library.name)] = render(TEMPLATES / template, **names)
        if ecosystem in _WRITTEN:
            path, text = _WRITTEN[ecosystem](library)
            files[path] = text
    return files


def _library_json(library: Library) -> tuple[str, str]:
    """Name and text of PlatformIO's manifest. A licence would make its tools ask for the list of licences."""
    manifest = {
        "name": library.name,
        "version": library.version,
        "description": library.sentence,
        "keywords": ["neural network", "inference", "onnx"],
        "headers": f"{library.name}.h",
        "frameworks": "*",
        "platforms": "*" if library.boards.platforms == ANY else list(library.boards.platforms),
        "build": {"srcDir": "src", "includeDir": "src", "flags": list(library.tuning_flags)},
    }
    return "library.json", json.dumps(manifest, indent=2) + "\n"


_WRITTEN: Mapping[str, Callable[[Library], tuple[str, str]]] = {"platformio": _library_json, CMSIS_PACK: description}
