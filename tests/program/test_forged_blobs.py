"""Blobs with right checksums and wrong numbers: what the firmware's verification refuses never reaches a kernel."""

from __future__ import annotations

import json
import subprocess
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
import tilewright
from conftest import NetworkFiles
from tilewright.compile import write

OK, DAMAGED, REFUSED = 0, 6, 11
WEIGHTS = 96 * 10
MAIN = """
#include "digits_int8.h"
#include <stdio.h>
#include <string.h>
enum { ROOM = (DIGITS_INT8_BLOB_0_BYTES / DIGITS_INT8_BLOB_ALIGN + 2) * DIGITS_INT8_BLOB_ALIGN };
static unsigned char blob[2][ROOM] __attribute__((aligned(DIGITS_INT8_BLOB_ALIGN)));

/* In the place of a signature: the last four bytes are a keyed sum of all before them. */
int verify(const void *given, size_t size_bytes);
int verify(const void *given, size_t size_bytes)
{
    const unsigned char *byte = given;
    unsigned long sum = 20177;
    size_t i;
    if (size_bytes < 4) {
        return 1;
    }
    for (i = 0; i < size_bytes - 4; i++) {
        sum = (sum * 31 + byte[i]) & 0xffffffffu;
    }
    return memcmp(&sum, byte + size_bytes - 4, 4) != 0;
}

int main(int argc, char **argv)
{
    float first[10];
    int i, code = 0;
    for (i = 1; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        const size_t size_bytes = fread(blob[i - 1], 1, sizeof blob[0], file);
        code = digits_int8_load_weights(blob[i - 1], size_bytes);
        printf("%d ", code);
        memset(digits_int8_input_0(), 0, DIGITS_INT8_INPUT_0_BYTES);
        code = digits_int8_run();
        if (i == 1) {
            memcpy(first, digits_int8_output_0(), sizeof first);
        }
        printf("%d %d ", code, memcmp(first, digits_int8_output_0(), sizeof first) != 0);
    }
    return 0;
}
"""


def signed(blob: bytes) -> bytes:
    total = 20177
    for byte in blob:
        total = (total * 31 + byte) & 0xFFFFFFFF
    return blob + total.to_bytes(4, "little")


def forged(blob: bytes) -> bytes:
    """Weights at their highest, biases the lowest sum, both checksums right."""
    payload = b"\x7f" * WEIGHTS + b"\0\0\0\x80" * ((len(blob) - 32 - WEIGHTS) // 4)
    head = blob[:12] + zlib.crc32(payload).to_bytes(4, "little") + blob[16:28]
    return head + zlib.crc32(head).to_bytes(4, "little") + payload


@pytest.fixture(scope="module", params=["export", "runtime"])
def folder(
    request: pytest.FixtureRequest, network: Callable[[str], NetworkFiles], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The network with the weights of its last product in a blob, the genuine one and a forged one, both signed."""
    place = tmp_path_factory.mktemp("forged")
    regions = place / "regions.json"
    regions.write_text(json.dumps({"regions": {"head": {"nodes": ["dense"], "compile_mode": request.param}}}))
    options = tilewright.CompileOptions(program=regions)
    write(tilewright.compile_model(network("digits_int8").model, options, tilewright.load_target("host")), place)
    genuine = (place / "weights" / "head.bin").read_bytes()
    (place / "genuine").write_bytes(signed(genuine))
    (place / "forged").write_bytes(signed(forged(genuine))[:-1] + b"\0")
    (place / "main.c").write_text(MAIN)
    return place


def told(folder: Path, *flags: str) -> tuple[list[int], str]:
    """What the program says of the genuine blob and of the forged one: code, state of the run, whether it differs."""
    files = [str(file) for file in (*sorted((folder / "src").glob("*.c")), folder / "main.c")]
    command = ["gcc", "-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", *flags, f"-I{folder / 'src'}", *files, "-lm"]
    subprocess.run([*command, "-o", str(folder / "program")], check=True)
    done = subprocess.run([folder / "program", "genuine", "forged"], cwd=folder, capture_output=True, text=True)
    return [int(word) for word in done.stdout.split()], done.stderr


def test_a_verification_keeps_forged_numbers_from_the_kernels(folder: Path) -> None:
    codes, said = told(folder, "-DDIGITS_INT8_VERIFY_WEIGHTS=verify", "-fsanitize=address,undefined")
    assert codes == [OK, 0, 0, REFUSED, 0, 0]  # what was loaded before goes on
    assert not said


def test_without_one_they_touch_no_memory_of_others_but_sums_overflow(folder: Path) -> None:
    codes, said = told(folder, "-fsanitize=address,undefined")
    assert codes == [OK, 0, 0, OK, 0, 1]
    assert "signed integer overflow" in said
    assert "AddressSanitizer" not in said


def test_checksums_come_first(folder: Path) -> None:
    """A verification is asked of whole blobs only."""
    data = (folder / "genuine").read_bytes()
    (folder / "forged").write_bytes(data[:40] + bytes([data[40] ^ 1]) + data[41:])
    codes, _ = told(folder, "-DDIGITS_INT8_VERIFY_WEIGHTS=verify")
    assert codes == [OK, 0, 0, DAMAGED, 0, 0]
