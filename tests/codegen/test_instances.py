"""`--context`: several instances of one network in one image, beside other networks, each with memory of its own."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
import tilewright
from conftest import NetworkFiles
from tilewright.compile import Compiled, run_model, write
from tilewright.plan.execute import run
from tilewright.run.inputs import input_arrays

Network = Callable[[str], NetworkFiles]
WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Wshadow", "-Wstrict-prototypes", "-Werror")


def written(model: Path, folder: Path, **options: object) -> Compiled:
    chosen = tilewright.CompileOptions(context=True, **options)  # type: ignore[arg-type]
    done = tilewright.compile_model(model, chosen, tilewright.load_target("host"))
    folder.mkdir(parents=True, exist_ok=True)
    write(done, folder)
    return done


def program(main: str, folders: Sequence[Path], place: Path, *flags: str) -> tuple[int, bytes]:
    """Exit code and standard output of a C program over the generated code."""
    (place / "main.c").write_text(main)
    sources = [str(file) for folder in folders for file in sorted((folder / "src").glob("*.c"))]
    includes = [f"-I{folder / 'src'}" for folder in folders]
    command = ["gcc", "-std=c99", "-O1", *flags, *includes, str(place / "main.c"), *sources, "-lm", "-lpthread"]
    subprocess.run([*command, "-o", str(place / "program")], check=True)
    done = subprocess.run([place / "program"], capture_output=True)
    return done.returncode, done.stdout


def c_array(name: str, values: bytes) -> str:
    return f"static const unsigned char {name}[] = {{{', '.join(map(str, values))}}};\n"


def test_two_instances_do_not_disturb_each_other(network: Network, tmp_path: Path) -> None:
    """Both are filled before either runs; two inputs and three outputs each."""
    done = written(network("odd_several").model, tmp_path / "c")
    drawn = [input_arrays(done.plan, None, seed) for seed in (1, 2)]
    main = '#include <stdio.h>\n#include <string.h>\n#include "odd_several.h"\nstatic odd_several_context a, b;\n'
    for letter, arrays in zip("ab", drawn, strict=True):
        main += "".join(c_array(f"{letter}{i}", array.tobytes()) for i, array in enumerate(arrays))
    fill = "".join(f"memcpy(odd_several_input_{i}(&{c}), {c}{i}, sizeof {c}{i});\n" for c in "ab" for i in range(2))
    show = "".join(
        f"fwrite(odd_several_output_{i}(&{c}), 1, ODD_SEVERAL_OUTPUT_{i}_BYTES, stdout);\n"
        for c in "ab" for i in range(3)
    )  # fmt: skip
    main += f"int main(void) {{\n{fill}if (odd_several_run(&a) || odd_several_run(&b)) return 1;\n{show}return 0;\n}}\n"
    code, told = program(main, [tmp_path / "c"], tmp_path)
    assert code == 0
    wanted = [output for arrays in drawn for output in run(done.plan, arrays)]
    found = np.frombuffer(told, np.float32)
    np.testing.assert_allclose(found, np.concatenate([w.reshape(-1) for w in wanted]), rtol=1e-4, atol=1e-5)


def test_instances_of_two_networks_run_in_threads(network: Network, tmp_path: Path) -> None:
    """200 inferences in each of four threads, two networks, one image; every result is the same."""
    names = ("digits", "digits_int8")
    for name in names:
        written(network(name).model, tmp_path / name)
    main = '#include <pthread.h>\n#include <string.h>\n#include "digits.h"\n#include "digits_int8.h"\n'
    for name in names:
        stem = name.upper()
        main += (
            f"static {name}_context {name}_of[2];\n"
            f"static void *{name}_thread(void *given)\n{{\n"
            f"    {name}_context *context = given;\n    unsigned char first[{stem}_OUTPUT_0_BYTES];\n    long n, i;\n"
            f"    long seed = context == &{name}_of[1];\n    for (n = 0; n < 200; n++) {{\n"
            f"        for (i = 0; i < {stem}_INPUT_0_ELEMENTS; i++)"
            f" {name}_input_0(context)[i] = (float)((i * 7 + seed * 3) % 17);\n"
            f"        if ({name}_run(context)) return context;\n"
            f"        if (n == 0) memcpy(first, {name}_output_0(context), sizeof first);\n"
            f"        if (memcmp(first, {name}_output_0(context), sizeof first)) return context;\n"
            f"    }}\n    return 0;\n}}\n"
        )
    main += "int main(void) {\n    pthread_t threads[4];\n    void *failed;\n    int i, bad = 0;\n"
    for index, (name, number) in enumerate((name, number) for name in names for number in range(2)):
        main += f"    pthread_create(&threads[{index}], 0, {name}_thread, &{name}_of[{number}]);\n"
    main += (
        "    for (i = 0; i < 4; i++) { pthread_join(threads[i], &failed); bad += failed != 0; }\n    return bad;\n}\n"
    )
    failed, _ = program(main, [tmp_path / name for name in names], tmp_path)
    assert failed == 0


def test_instances_in_memory_of_the_firmware(network: Network, tmp_path: Path) -> None:
    written(network("digits").model, tmp_path / "c")
    main = (
        '#include "digits.h"\n'
        "static unsigned char memory[2][DIGITS_ARENA_BYTES + DIGITS_ARENA_ALIGN] __attribute__((aligned(64)));\n"
        "int main(void) {\n    digits_context a = {0}, b = {0};\n"
        "    if (digits_run(&a) != DIGITS_ERROR_NO_ARENA) return 1;\n"
        "    if (digits_init(&a, memory[0], 8) != DIGITS_ERROR_ARENA_TOO_SMALL) return 2;\n"
        "    if (digits_init(&a, memory[0] + 1, DIGITS_ARENA_BYTES) != DIGITS_ERROR_ARENA_MISALIGNED) return 3;\n"
        "    if (digits_init(&a, memory[0], DIGITS_ARENA_BYTES) != DIGITS_OK) return 4;\n"
        "    if (digits_run(&b) != DIGITS_ERROR_NO_ARENA) return 5;\n"
        "    if (digits_init(&b, memory[1], DIGITS_ARENA_BYTES) != DIGITS_OK) return 6;\n"
        "    if (digits_input_0(&a) == digits_input_0(&b)) return 7;\n"
        "    return digits_run(&a) + digits_run(&b);\n}\n"
    )
    step, _ = program(main, [tmp_path / "c"], tmp_path, "-DDIGITS_EXTERNAL_ARENA")
    assert step == 0


NOTHING = """
#include "odd_several.h"
#include <stddef.h>
static odd_several_context context;
static float data[5][4096];
static unsigned char memory[ODD_SEVERAL_ARENA_BYTES] __attribute__((aligned(64)));
static int run(odd_several_context *given, int without)
{
    float *p[5];
    int i;
    for (i = 0; i < 5; i++) {
        p[i] = i == without ? NULL : data[i];
    }
    return odd_several_run(given, p[0], p[1], p[2], p[3], p[4]);
}

int main(void)
{
    int i, wrong = odd_several_init(NULL, memory, sizeof memory) != ODD_SEVERAL_ERROR_NULL_POINTER;
    wrong += odd_several_init(&context, NULL, sizeof memory) != ODD_SEVERAL_ERROR_NULL_POINTER;
    wrong += run(&context, 5) != ODD_SEVERAL_ERROR_NO_ARENA;
    wrong += odd_several_init(&context, memory, sizeof memory) != ODD_SEVERAL_OK;
    wrong += run(NULL, 5) != ODD_SEVERAL_ERROR_NULL_POINTER;
    for (i = 0; i < 5; i++) {
        wrong += run(&context, i) != ODD_SEVERAL_ERROR_NULL_POINTER;
    }
    return wrong + run(&context, 5);
}
"""


def test_pointers_to_nothing_are_refused(network: Network, tmp_path: Path) -> None:
    written(network("odd_several").model, tmp_path / "c", io="caller")
    wrong, _ = program(NOTHING, [tmp_path / "c"], tmp_path, "-DODD_SEVERAL_EXTERNAL_ARENA", "-fsanitize=undefined")
    assert wrong == 0


def test_an_instance_that_is_none_has_no_inputs(network: Network, tmp_path: Path) -> None:
    written(network("digits").model, tmp_path / "c")
    main = (
        '#include "digits.h"\n'
        "int main(void) {\n    static digits_context a;\n"
        "    if (digits_input_0(0) != 0 || digits_output_0(0) != 0) return 1;\n"
        "    if (digits_run(0) != DIGITS_ERROR_NULL_POINTER) return 2;\n"
        "    return digits_input_0(&a) == 0 || digits_run(&a);\n}\n"
    )
    step, _ = program(main, [tmp_path / "c"], tmp_path, "-fsanitize=undefined")
    assert step == 0


@pytest.mark.parametrize("io", ["arena", "caller"])
@pytest.mark.parametrize(
    "flags", [(), ("-DODD_SEVERAL_EXTERNAL_ARENA", "-DODD_SEVERAL_TRACE")], ids=["own", "external"]
)
def test_it_is_clean_under_every_warning(io: str, flags: tuple[str, ...], network: Network, tmp_path: Path) -> None:
    written(network("odd_several").model, tmp_path, io=io)
    for compiler in ("gcc", "clang"):
        for source in sorted((tmp_path / "src").glob("*.c")):
            command = [compiler, "-std=c99", "-fsyntax-only", *WARNINGS, *flags, str(source)]
            done = subprocess.run(command, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr[:2000]
    (tmp_path / "main.cpp").write_text('#include "odd_several.h"\nstatic odd_several_context one;\nvoid *p = &one;\n')
    command = ["g++", "-Wall", "-Werror", "-fsyntax-only", f"-I{tmp_path / 'src'}", str(tmp_path / "main.cpp")]
    subprocess.run(command, check=True)


@pytest.mark.parametrize("target", ["host", "qemu_mps2_an386"])
def test_a_run_with_a_context_is_compared_and_fenced_too(target: str, network: Network, tmp_path: Path) -> None:
    model, board = network("digits_int8").model, tilewright.load_target(target)
    found = []
    for context in (False, True):
        folder = tmp_path / str(context)
        done = tilewright.compile_model(model, tilewright.CompileOptions(context=context), board)
        folder.mkdir()
        write(done, folder)
        report = run_model(done, board, tilewright.RunOptions(layers=True), folder)
        outcome = report.run
        assert outcome is not None
        assert outcome.match
        assert {layer.mismatches for layer in report.layers if layer.max_abs_error is not None} == {0}
        found.append(outcome.ram_bytes or 0)
    assert 0 <= found[1] - found[0] < 64  # the instance counts, with what aligns it


def test_weights_of_an_instance_lie_in_its_blob(network: Network, tmp_path: Path) -> None:
    """An instance without weights says so, whatever another has loaded."""
    regions = tmp_path / "regions.json"
    regions.write_text('{"regions": {"head": {"nodes": ["dense"], "compile_mode": "export"}}}')
    written(network("digits").model, tmp_path / "c", program=regions)
    blob = next((tmp_path / "c" / "weights").glob("*.bin")).read_bytes()
    main = '#include "digits.h"\n' + c_array("blob", blob).replace("[]", "[] __attribute__((aligned(64)))")
    main += (
        "static digits_context a, b;\nint main(void) {\n"
        "    if (digits_load_weights(&a, blob, sizeof blob) != DIGITS_OK) return 1;\n"
        "    if (digits_run(&a) != DIGITS_OK) return 2;\n"
        "    if (digits_load_weights(0, blob, sizeof blob) != DIGITS_ERROR_NULL_POINTER) return 3;\n"
        "    return digits_run(&b) != DIGITS_ERROR_NO_WEIGHTS;\n}\n"
    )
    code, _ = program(main, [tmp_path / "c"], tmp_path)
    assert code == 0
