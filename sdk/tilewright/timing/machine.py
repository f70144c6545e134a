"""The abstract machine in C (`engine/`): compiled by this machine's compiler on first use, called as a library."""

from __future__ import annotations

import ctypes
import hashlib
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tilewright.errors import TilewrightError, ToolMissing
from tilewright.run.plugin import plugin_compiler
from tilewright.run.tool import start
from tilewright.timing.stream import Stream

ENGINE = Path(__file__).parent / "engine"
FORK = np.dtype([("times", "<u8"), ("sum", "<u8"), ("most", "<u8")])
COST = np.dtype([("most", "<u8"), ("least", "<u8"), ("most_cycles", "<u8"), ("least_cycles", "<u8")])
LAYER = np.dtype([("before", COST), ("spent", COST), ("runs", "<u8")])
LAYERS, ANSWERS = 4100, 11
STEPS_BETWEEN = 10_000_000
"""Instructions between two moments at which the run can be interrupted."""


class Status(IntEnum):
    """How a run ended, as `enum status` of engine/machine.h."""

    DONE = 0
    PAUSED = 1
    NEEDS_CODE = 2
    UNKNOWN_STORE = 3
    STORE_TO_CONSTANT = 4
    UNKNOWN_JUMP = 5
    UNKNOWN_CALL = 6
    UNKNOWN_RETURN = 7
    RECURSION = 8
    NO_END = 9
    ARMS_APART = 10
    NOT_MODELLED = 11
    NO_MEMORY = 12


@dataclass(frozen=True)
class Cost:
    """Instructions at most and at least, and modelled cycles."""

    most: int
    least: int
    most_cycles: int
    least_cycles: int


@dataclass(frozen=True)
class Counted:
    """What the machine says: the cost so far, steps taken, forks open, the operation to go on at, the address of the
    instruction that ran last, that of code that it wants, loads from addresses that are not known."""

    cost: Cost
    steps: int
    level: int
    resume: int
    address: int
    wanted: int
    unknown_loads: int


def build_engine(folder: Path) -> Path:
    """The machine as a shared library in `folder`, or in the folder that TILEWRIGHT_CACHE names; compiled if not there.

    The file's name holds a hash of the sources, and it is moved into place whole, so several runs may share a folder.
    ToolMissing without a C compiler for this machine.
    """
    cached = Path(os.environ.get("TILEWRIGHT_CACHE") or folder)
    sources = sorted(ENGINE.glob("*.[ch]"))
    digest = hashlib.sha256(b"\0".join(source.read_bytes() for source in sources)).hexdigest()[:16]
    library = (cached / f"tilewright-machine-{digest}.so").resolve()
    if library.is_file():
        return library
    compiler = plugin_compiler()
    if compiler is None:
        raise ToolMissing(
            "there is no C compiler for this machine",
            why="the machine that bounds instructions is built with it",
            fix="install the Debian package 'gcc'",
        )
    cached.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cached, prefix="machine-") as name:
        fresh = Path(name) / "machine.so"
        options = ["-std=gnu11", "-O2", "-fPIC", "-shared", "-fno-math-errno"]
        done = start([compiler, *options, str(ENGINE / "machine.c"), "-lm", "-o", str(fresh)], Path(name))
        if done.code != 0:
            raise TilewrightError("the machine that bounds instructions is not compiled", why=done.errors.strip()[:300])
        fresh.replace(library)
    return library


@cache
def _library(path: Path) -> ctypes.CDLL:
    library = ctypes.CDLL(str(path))
    pointer, word, long = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint64
    takes: dict[str, list[type]] = {
        "free": [], "segment": [word, word, ctypes.c_char_p], "write": [word, ctypes.c_char_p, word],
        "registers": [word], "set": [word, word, long],
        "code": [pointer, word, pointer, word, word, pointer, word, pointer, pointer, pointer],
        "reached": [pointer, word, word], "convention": [word, word, word, pointer, word],
        "cycles": [word, word, word, word], "run": [word, long, long],
        "answer": [pointer], "jumps": [], "turns": [], "layers": [],
    }  # fmt: skip
    for name, types in takes.items():
        function = getattr(library, f"machine_{name}")
        function.argtypes = [pointer, *types]
        function.restype = pointer if name in ("jumps", "turns", "layers") else ctypes.c_int
    library.machine_new.restype = pointer
    return library


class Machine:
    """One run: memory and registers first, then code, then `run` until it is done."""

    def __init__(self, library: Path) -> None:
        self._library = _library(library)
        self._machine = self._library.machine_new()
        if not self._machine:
            raise MemoryError("the machine that bounds instructions")
        self._stream: Stream | None = None
        self._forks: npt.NDArray[np.void] = np.zeros(0, FORK)
        self._clobbered: npt.NDArray[np.uint32] = np.zeros(0, np.uint32)
        self._reached: npt.NDArray[np.uint8] = np.zeros(0, np.uint8)
        self._low = 0

    def close(self) -> None:
        """Give its memory back."""
        if self._machine:
            self._library.machine_free(self._machine)
        self._machine = None

    def constants(self, address: int, data: bytes) -> None:
        """Bytes that nobody writes."""
        self._take(self._library.machine_segment(self._machine, address, address + len(data), data))

    def memory(self, address: int, size_bytes: int) -> None:
        """Bytes of which nothing is known."""
        self._take(self._library.machine_segment(self._machine, address, address + size_bytes, None))

    def write(self, address: int, data: bytes) -> None:
        """Make bytes of memory known; ValueError where there is no memory."""
        if not self._library.machine_write(self._machine, address, data, len(data)):
            raise ValueError(f"there is no memory at {address:#x}")

    def registers(self, used_bytes: int) -> None:
        """Make all registers unknown."""
        self._library.machine_registers(self._machine, used_bytes)

    def set(self, place: int, size_bytes: int, value: int) -> None:
        """Make a register known."""
        self._library.machine_set(self._machine, place, size_bytes, value)

    def convention(self, arguments: int, stack_pointer: int, link: int, clobbered: Sequence[int]) -> None:
        """Places of the first argument, the stack pointer, the way back, and the words that a call leaves unknown."""
        self._clobbered = np.array(clobbered, np.uint32)
        self._library.machine_convention(
            self._machine, arguments, stack_pointer, link, self._clobbered.ctypes.data, len(self._clobbered)
        )

    def cycles(self, refill: int, wait: int, slow_low: int, slow_high: int) -> None:
        """What taken branches add, and what loads and branches add in slow memory."""
        self._library.machine_cycles(self._machine, refill, wait, slow_low, slow_high)

    def note(self, low: int, end: int) -> None:
        """Note from now on which instructions of [low, end) run."""
        self._low, self._reached = low, np.zeros((end - low) // 2, np.uint8)
        self._library.machine_reached(self._machine, self._reached.ctypes.data, low, len(self._reached))

    def reached(self, address: int) -> bool:
        """True where the instruction at an address ran on any way."""
        place = (address - self._low) // 2
        return 0 <= place < len(self._reached) and bool(self._reached[place])

    def code(self, stream: Stream) -> None:
        """The program as it is known now."""
        self._stream = stream
        self._forks = np.zeros(len(stream.operations), FORK)
        self._library.machine_code(
            self._machine, stream.operations.ctypes.data, len(stream.operations), stream.places.ctypes.data,
            stream.low, len(stream.places), self._forks.ctypes.data, len(stream.loops),
            stream.points.ctypes.data, stream.chains.ctypes.data, stream.live.ctypes.data,
        )  # fmt: skip

    def run(self, operation: int, limit: int) -> Status:
        """Run from an operation until the machine is done, or cannot go on."""
        while True:
            status = Status(self._library.machine_run(self._machine, operation, STEPS_BETWEEN, limit))
            if status is not Status.PAUSED:
                return status
            operation = self.counted().resume

    def counted(self) -> Counted:
        """What was counted so far."""
        numbers = np.zeros(ANSWERS, np.uint64)
        self._library.machine_answer(self._machine, numbers.ctypes.data)
        values = [int(one) for one in numbers]
        return Counted(Cost(*values[:4]), *values[4:10])

    def jumps(self) -> list[tuple[int, int]]:
        """Operation and target of every computed jump."""
        numbers = np.zeros(ANSWERS, np.uint64)
        self._library.machine_answer(self._machine, numbers.ctypes.data)
        words = self._array(self._library.machine_jumps(self._machine), 2 * int(numbers[10]))
        return [(int(words[at]), int(words[at + 1])) for at in range(0, len(words), 2)]

    def turns(self) -> list[int]:
        """The most turns of each loop each time that it was entered."""
        count = len(self._stream.loops) if self._stream is not None else 0
        return [int(one) for one in self._array(self._library.machine_turns(self._machine), count)]

    def forks(self) -> Mapping[int, tuple[int, int, int]]:
        """By operation: how often it went both ways, the sum of the instructions by which they differ, the most."""
        of = self._forks
        rows = np.flatnonzero(of["times"])
        return {int(at): (int(of["times"][at]), int(of["sum"][at]), int(of["most"][at])) for at in rows}

    def layers(self) -> dict[int, Cost]:
        """What every instruction of the plan cost, of an image with trace; those inside of an open fork lack."""
        data = ctypes.string_at(self._library.machine_layers(self._machine), LAYERS * LAYER.itemsize)
        table = np.frombuffer(data, LAYER)
        return {int(at): Cost(*(int(one) for one in table[at]["spent"])) for at in np.flatnonzero(table["runs"])}

    def _array(self, address: int, count: int) -> npt.NDArray[np.uint32]:
        return np.frombuffer(ctypes.string_at(address, 4 * count), np.uint32)

    def _take(self, done: int) -> None:
        if not done:
            raise MemoryError("the machine that bounds instructions")
