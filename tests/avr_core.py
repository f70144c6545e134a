"""Generated networks on a simulated ATmega1284P: `int` and pointers of 16 bits, `double` of 32, 16 KB of RAM."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from tilewright.codegen.c_types import packed
from tilewright.conformance.program import STRICT, unpack
from tilewright.conformance.subject import Subject
from tilewright.model import Array
from tilewright.run.tool import find_tool, start

CORE = "atmega1284p"
RAM_BYTES, STACK_BYTES = 16384, 1536
_GREEN = "\x1b[32m"
"""In which the simulator shows what the core sends."""
_SERIAL = re.compile(r"\x1b\[[0-9;]*m|[^0-9a-f]")
_MAIN = """
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/pgmspace.h>
#include <avr/sleep.h>
#include <string.h>

%(inputs)s
static void put(char letter)
{
    while ((UCSR0A & (1 << UDRE0)) == 0) {
    }
    UDR0 = (uint8_t)letter;
}

static void print(const void *from, uint16_t bytes)
{
    static const char digits[] PROGMEM = "0123456789abcdef";
    const uint8_t *const byte = from;
    for (uint16_t i = 0; i < bytes; i++) {
        put((char)pgm_read_byte(&digits[byte[i] >> 4]));
        put((char)pgm_read_byte(&digits[byte[i] & 15]));
    }
    put('\\n'); /* the simulator shows whole lines */
}

int main(void)
{
    UCSR0A = 1 << U2X0;
    UBRR0 = 0;
    UCSR0B = 1 << TXEN0;
%(runs)s
    for (volatile uint16_t i = 0; i < 200; i++) { /* until the last letter is out */
    }
    cli();
    sleep_mode();
    return 0;
}
"""


class Refused(Exception):
    """The core does not take a network; the compiler's own words."""


def sources(subject: Subject, folder: Path) -> tuple[str, ...]:
    """The network's files, written side by side into `folder`; the names of the two that are compiled."""
    for path, text in subject.artifacts.files.items():
        if path.startswith("src/"):
            (folder / Path(path).name).write_text(text, encoding="utf-8")
    return f"{subject.name}.c", f"{subject.name}_weights.c"


def avr_gcc(folder: Path, *arguments: str) -> str:
    """What the compiler says of what it refuses, empty where it takes all."""
    done = start([find_tool("avr-gcc", "gcc-avr"), f"-mmcu={CORE}", "-O1", *arguments], folder, timeout=300.0)
    return done.errors if done.code != 0 else ""


def run_on_avr(subject: Subject, folder: Path) -> tuple[tuple[Array, ...], ...]:
    """The outputs of every run of a network. Refused where the compiler refuses its C or it does not fit into the core.

    AssertionError where the network returns an error or the core stops early.
    """
    folder.mkdir(parents=True)
    code, weights = sources(subject, folder)
    if said := avr_gcc(folder, "-std=c99", *STRICT, "-c", code, weights):
        raise Refused(said)
    (folder / "main.c").write_text(f'#include "{subject.name}.h"\n' + _main(subject), encoding="utf-8")
    objects = [str(Path(name).with_suffix(".o")) for name in (code, weights)]
    if said := avr_gcc(folder, "-std=gnu99", *STRICT, "-Wno-conversion", "main.c", *objects, "-o", "image.elf", "-lm"):
        raise Refused(said)
    sizes = start([find_tool("avr-size", "binutils-avr"), "image.elf"], folder, timeout=60.0).output.split("\n")[1]
    used = sum(int(size) for size in sizes.split()[1:3])
    if used > RAM_BYTES - STACK_BYTES:
        raise Refused(f"{used} bytes will not fit beside the stack")
    done = start([find_tool("simavr", "simavr"), "-m", CORE, "-f", "16000000", "image.elf"], folder, timeout=120.0)
    lines = [line for line in (done.output + done.errors).split("\n") if _GREEN in line]
    return _outputs(subject, _SERIAL.sub("", "".join(lines)))


def _main(subject: Subject) -> str:
    """The program: for each run the inputs from flash, one inference, status and outputs in hexadecimal."""
    inputs, runs = [], []
    for run, arrays in enumerate(subject.runs):
        for index, (tensor, array) in enumerate(zip(subject.inputs, arrays, strict=True)):
            raw = packed(tensor.dtype, np.ascontiguousarray(array)).tobytes()
            if raw:
                inputs.append(f"static const uint8_t x{run}_{index}[] PROGMEM = {{{', '.join(map(str, raw))}}};")
                runs.append(f"memcpy_P({subject.name}_input_{index}(), x{run}_{index}, {len(raw)}u);")
        runs.append(f"{{ const uint8_t status = (uint8_t){subject.name}_run(); print(&status, 1); }}")
        for index, tensor in enumerate(subject.outputs):
            runs.append(f"print({subject.name}_output_{index}(), {tensor.size_bytes}u);")
    return _MAIN % {"inputs": "\n".join(inputs), "runs": "\n".join(f"    {line}" for line in runs)}


def _outputs(subject: Subject, text: str) -> tuple[tuple[Array, ...], ...]:
    expected = len(subject.runs) * (1 + sum(tensor.size_bytes for tensor in subject.outputs))
    assert len(text) == 2 * expected, f"{subject.name}: {len(text) // 2} of {expected} bytes came back"
    raw, at, found = bytes.fromhex(text), 0, []
    for _ in subject.runs:
        assert raw[at] == 0, f"{subject.name}: status {raw[at]}"
        at += 1
        outputs = []
        for tensor in subject.outputs:
            outputs.append(unpack(tensor, raw[at : at + tensor.size_bytes]))
            at += tensor.size_bytes
        found.append(tuple(outputs))
    return tuple(found)
