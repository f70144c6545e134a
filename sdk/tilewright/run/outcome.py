"""From how an image ended to what went wrong: one sentence with layer, buffer and address."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from pathlib import Path

from tilewright.errors import FenceError, TilewrightError
from tilewright.run.fence import EVERYTHING, FenceMap, nearest, place
from tilewright.run.image import Image
from tilewright.run.tool import Finished

MODEL_FAILED, BAD_FILE = 64, 65
NEAR = 64
"""Bytes behind a guarded object in which an access is still told from the buffer that lies nearest."""
UNKNOWN_ADDRESS = 0xFFFFFFFF
_REPORT = re.compile(
    r"tilewright: (fence|trap) (load|store|fetch|access|other) pc (\w+) address (\w+) bytes (\d+) layer (-?\w+)"
)
_ASAN = re.compile(r"AddressSanitizer: ([\w-]+)(?: on (?:unknown )?address (0x[0-9a-f]+))?")
_ACCESS = re.compile(r"(READ|WRITE) of size (\d+) at (0x[0-9a-f]+)")
_UBSAN = re.compile(r"([\w.]+:\d+):\d+: runtime error: (.*)")
_LAYER = re.compile(r"tilewright: layer (-?\d+)")
_SIGNALS = {4: "an illegal instruction", 6: "an abort", 7: "a bus error", 8: "a division", 11: "a segmentation fault"}


@dataclass(frozen=True)
class Fault:
    """One access that was refused. `instruction` is -1 where no layer was known."""

    access: str
    pc: int
    address: int
    size_bytes: int
    instruction: int


def explain(image: Image, folder: Path, done: Finished, fence: FenceMap | None, timeout: float) -> None:
    """Return where the image ended well; else raise FenceError for memory faults, TilewrightError for the rest."""
    text = done.errors + done.output
    report = _REPORT.search(text)
    if report:
        fault = Fault(report[2], int(report[3], 16), int(report[4], 16), int(report[5]), _layer(report[6]))
        raise trap_error(image, fault, fence) if report[1] == "trap" else fence_error(image, fault, fence)
    if done.code is None:
        raise TilewrightError(
            f"'{image.model}' did not finish on target '{image.target.name}'",
            why=f"it was stopped after {timeout:g} s",
            fix="raise the timeout, or look for an endless loop",
        )
    if image.sanitize and ("AddressSanitizer" in text or "runtime error" in text):
        raise _sanitizer_error(image, text, fence)
    result = folder / "result.bin"
    if done.code < 0:
        cause = _SIGNALS.get(-done.code, f"signal {-done.code}")
        raise FenceError(
            f"'{image.model}' crashed on target '{image.target.name}'",
            why=f"the program was ended by {cause}",
            fix="run it sanitized to see the access" if "sanitizer" in image.target.capabilities else "",
        )
    status, returned = struct.unpack_from("<2I", result.read_bytes()) if result.is_file() else (done.code, 0)
    if status == MODEL_FAILED:
        raise TilewrightError(f"{image.model}_run returned the error {returned}", why="0 means success")
    if done.code != 0 or status != 0 or not result.is_file():
        told = text.strip().splitlines()
        raise TilewrightError(
            f"the image of '{image.model}' ended with code {done.code} on target '{image.target.name}'",
            why="it could not read or write its files"
            if status == BAD_FILE
            else told[-1]
            if told
            else "it said nothing",
        )


def _layer(text: str) -> int:
    """A plan instruction, -1 for none; the test image on a bare core prints 32 bits in hexadecimal."""
    value = int(text, 0)
    return -1 if value >= 1 << 31 else value


def fence_error(image: Image, fault: Fault, fence: FenceMap | None) -> FenceError:
    """The software fence was crossed: says the layer, the buffer that lies nearest, and how far off."""
    verb = "wrote" if fault.access == "store" else "read"
    layer = fence.layer(fault.instruction) if fence else ""
    ranges = place(image, fence) if fence else ()
    guarded = any(r.instruction == EVERYTHING and _inside(r.address, r.size_bytes + NEAR, fault) for r in ranges)
    near = nearest(ranges, fault.instruction, fault.address) if guarded else None
    place_text = _where(image, fault.address)
    buffer = ""
    if near is not None:
        entry, gap = near
        buffer = entry.tensor
        place_text += f", inside '{buffer}', which it may only read" if gap == 0 else f", {_side(gap)} '{buffer}'"
    owner = next((r for r in ranges if r.instruction != EVERYTHING and _inside(r.address, r.size_bytes, fault)), None)
    if owner is not None and owner.tensor != buffer:
        place_text += f", in '{owner.tensor}'"
    return FenceError(
        f"{_layer_text(fault.instruction, layer)} of '{image.model}' {verb} {_bytes(fault.size_bytes)} at "
        f"{fault.address:#x} that it did not declare",
        why=place_text,
        fix="the kernel or its tile computation is wrong",
        node=layer,
        tensor=buffer,
    )


def _side(gap: int) -> str:
    """A distance in words: 1 is the first byte behind, -1 the last one before."""
    if gap < 0:
        return f"{_bytes(-gap)} before"
    return "the first byte behind" if gap == 1 else f"{_bytes(gap - 1)} behind the end of"


def _bytes(count: int) -> str:
    return "1 byte" if count == 1 else f"{count} bytes"


def _inside(address: int, size_bytes: int, fault: Fault) -> bool:
    return address <= fault.address < address + size_bytes


def trap_error(image: Image, fault: Fault, fence: FenceMap | None = None) -> TilewrightError:
    """The core trapped: a memory fault is a crossed fence, anything else an error of its own."""
    function = image.elf.at(fault.pc) if fault.pc else None
    inside = f" in {function.name}" if function else ""
    name = fence.layer(fault.instruction) if fence else ""
    layer = _layer_text(fault.instruction, name)
    if fault.access == "other":
        return TilewrightError(
            f"'{image.model}' trapped on target '{image.target.name}' at pc {fault.pc:#x}{inside}",
            why="the core refused the instruction",
        )
    verb = {"store": "wrote to", "load": "read", "fetch": "jumped to", "access": "touched"}[fault.access]
    known = fault.address != UNKNOWN_ADDRESS
    return FenceError(
        f"{layer} of '{image.model}' {verb} forbidden memory" + (f" at {fault.address:#x}" if known else "") + inside,
        why=_where(image, fault.address) if known else "the core does not tell the address",
        fix="run it with the simulator's fence to see the access",
        node=name,
    )


def _layer_text(instruction: int, name: str) -> str:
    """A layer for messages."""
    if instruction < 0:
        return "a layer"
    return f"layer {instruction} '{name}'" if name else f"layer {instruction}"


def _where(image: Image, address: int) -> str:
    """What lies at an address: the stack's end, an object of the image, a memory, or nothing."""
    limit = image.elf.label("__stack_limit")
    if limit is not None and limit - 65536 <= address < limit:
        return f"the stack overran its end by {limit - address} bytes"
    symbol = image.elf.at(address)
    if symbol is not None:
        kind = {"code": "code", "constant": "the constants", "data": "data"}[symbol.kind]
        return f"it lies in {kind} '{symbol.name}' + {address - symbol.address}"
    for level, memory in image.target.memories.items():
        if memory.size and memory.address <= address < memory.address + memory.size:
            return f"it lies in no object of memory '{level}'"
    return "it lies outside every memory of the target"


def _sanitizer_error(image: Image, text: str, fence: FenceMap | None) -> TilewrightError:
    """What the sanitizers of the host found."""
    undefined, memory_fault, access = _UBSAN.search(text), _ASAN.search(text), _ACCESS.search(text)
    layer = _LAYER.search(text)
    if memory_fault is None:
        assert undefined is not None
        return TilewrightError(f"'{image.model}' has undefined behaviour at {undefined[1]}", why=undefined[2])
    if access is None:
        address = int(memory_fault[2] or "0", 16)
        return FenceError(f"'{image.model}' crashed at address {address:#x}", why=_where(image, address))
    verb = "store" if access[1] == "WRITE" else "load"
    fault = Fault(verb, 0, int(access[3], 16), int(access[2]), int(layer[1]) if layer else -1)
    if memory_fault[1] == "use-after-poison":
        return fence_error(image, fault, fence)
    return FenceError(
        f"{_layer_text(fault.instruction, '')} of '{image.model}' touched {_bytes(fault.size_bytes)} at "
        f"{fault.address:#x}",
        why=f"the sanitizer calls it {memory_fault[1]}; {_where(image, fault.address)}",
    )
