"""The generated C as a product: clean under every warning, sanitized, two models in one image, the caller's memory."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import tilewright
from conftest import NetworkFiles
from tilewright.run.build import build
from tilewright.run.inputs import input_arrays
from tilewright.run.ranges import fence_map
from tilewright.run.simulate import execute

Network = Callable[[str], NetworkFiles]
WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Wshadow", "-Wstrict-prototypes", "-Werror")
LEVEL = {"gcc": ("-O1",), "clang": ("-fsyntax-only",)}
"""gcc warns of more where it optimises; clang says all it has to say without generating code."""
NAMES = ("digits", "digits_int8", "odd_mobile", "odd_mobile_int8", "odd_temporal_int8", "odd_unet", "odd_several")


def written(files: NetworkFiles, folder: Path, **options: object) -> tilewright.Compiled:
    chosen = tilewright.CompileOptions(**options)  # type: ignore[arg-type]
    stages = tilewright.compile_model(files.model, chosen, tilewright.load_target("host"))
    folder.mkdir(parents=True, exist_ok=True)
    tilewright.write(stages, folder)
    return stages


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_it_is_clean_under_every_warning(name: str, compiler: str, network: Network, tmp_path: Path) -> None:
    stages = written(network(name), tmp_path)
    if shutil.which(compiler) is None:
        pytest.fail(f"{compiler} is missing; ci/test installs it")
    for source in sorted((tmp_path / "src").glob("*.c")):
        done = subprocess.run(
            [compiler, "-std=c99", *LEVEL[compiler], *WARNINGS, "-c", source, "-o", tmp_path / f"{source.stem}.o"],
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"{stages.plan.name}: {done.stderr[:2000]}"


@pytest.mark.parametrize("name", ["digits", "digits_int8", "odd_mobile_int8", "odd_unet"])
@pytest.mark.parametrize("io", ["arena", "caller"])
def test_it_touches_only_what_it_declares(name: str, io: str, network: Network, tmp_path: Path) -> None:
    """AddressSanitizer with the arena poisoned around live buffers, and UBSan, which is slow to build.

    The larger networks' layers are the same code in the caller's memory: UBSan looks at them once.
    """
    once = ("-fno-sanitize=undefined",) if io == "caller" and name.startswith("odd_") else ()
    stages = written(network(name), tmp_path / "c", io=io)
    target = tilewright.load_target("host")
    image = build(
        tmp_path / "c",
        stages.artifacts.interface,
        target,
        tmp_path / "b",
        trace=True,
        fence=True,
        sanitize=True,
        extra_flags=once,
    )
    inputs = [array.tobytes() for array in input_arrays(stages.plan, None, 1)]
    execution = execute(image, inputs, fence=fence_map(stages.placed))
    assert execution.exit_code == 0


def test_two_models_link_into_one_image(network: Network, tmp_path: Path) -> None:
    for name in ("digits", "digits_int8"):
        written(network(name), tmp_path / name)
    main = tmp_path / "main.c"
    main.write_text(
        '#include "digits.h"\n#include "digits_int8.h"\n'
        "int main(void) { return digits_run() + digits_int8_run() + (digits_version[0] == 0); }\n"
    )
    sources = [main, *sorted(tmp_path.glob("digits*/src/*.c"))]
    includes = [f"-I{tmp_path / name / 'src'}" for name in ("digits", "digits_int8")]
    program = tmp_path / "both"
    subprocess.run(["gcc", "-std=c99", "-O1", *includes, *sources, "-o", program, "-lm"], check=True)
    assert subprocess.run([program]).returncode == 0


def test_the_header_is_for_cplusplus_too(network: Network, tmp_path: Path) -> None:
    written(network("digits"), tmp_path)
    main = tmp_path / "main.cpp"
    main.write_text('#include "digits.h"\nint main() { return *digits_input_0() > 0 ? 1 : 0; }\n')
    code = tmp_path / "digits.o"
    subprocess.run(["gcc", "-std=c99", "-c", tmp_path / "src" / "digits.c", "-o", code], check=True)
    weights = tmp_path / "weights.o"
    subprocess.run(["gcc", "-std=c99", "-c", tmp_path / "src" / "digits_weights.c", "-o", weights], check=True)
    program = tmp_path / "program"
    strict = ["-Wall", "-Wextra", "-Werror", f"-I{tmp_path / 'src'}"]
    command: list[str | Path] = ["g++", *strict, main, code, weights, "-o", program, "-lm"]
    subprocess.run(command, check=True)
    assert subprocess.run([program]).returncode == 0


def test_the_firmware_may_pass_the_arena(network: Network, tmp_path: Path) -> None:
    written(network("digits"), tmp_path)
    main = tmp_path / "main.c"
    main.write_text(
        '#include "digits.h"\n'
        "static unsigned char memory[DIGITS_ARENA_BYTES + DIGITS_ARENA_ALIGN] __attribute__((aligned(64)));\n"
        "int main(void) {\n"
        "    if (digits_run() != DIGITS_ERROR_NO_ARENA) return 1;\n"
        "    if (digits_init(memory, 8) != DIGITS_ERROR_ARENA_TOO_SMALL) return 2;\n"
        "    if (digits_init(memory + 1, DIGITS_ARENA_BYTES) != DIGITS_ERROR_ARENA_MISALIGNED) return 3;\n"
        "    if (digits_init(0, DIGITS_ARENA_BYTES) != DIGITS_ERROR_NULL_POINTER) return 4;\n"
        "    if (digits_run() != DIGITS_ERROR_NO_ARENA) return 5;\n"
        "    if (digits_input_0() != 0 || digits_output_0() != 0) return 6;\n"
        "    if (digits_init(memory, DIGITS_ARENA_BYTES) != DIGITS_OK) return 7;\n"
        "    if ((unsigned char *)digits_input_0() - memory >= DIGITS_ARENA_BYTES) return 8;\n"
        "    return digits_run();\n}\n"
    )
    program = tmp_path / "program"
    sources = sorted((tmp_path / "src").glob("*.c"))
    flags = ["-std=gnu99", "-DDIGITS_EXTERNAL_ARENA", f"-I{tmp_path / 'src'}"]
    subprocess.run(["gcc", *flags, main, *sources, "-o", program, "-lm"], check=True)
    assert subprocess.run([program]).returncode == 0


def test_make_and_cmake_build_the_library(network: Network, tmp_path: Path) -> None:
    written(network("digits"), tmp_path)
    subprocess.run(["make", "-s", "-C", tmp_path], check=True)
    assert (tmp_path / "libdigits.a").exists()
    if shutil.which("cmake"):
        build_folder = tmp_path / "cmake"
        subprocess.run(["cmake", "-S", tmp_path, "-B", build_folder], check=True, capture_output=True)
        subprocess.run(["cmake", "--build", build_folder], check=True, capture_output=True)
        assert list(build_folder.glob("libdigits.a"))
