"""Start an image on its target, feed it, and bring back what it computed and what it cost."""

from __future__ import annotations

import shutil
import struct
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tilewright.errors import TilewrightError, UsageError
from tilewright.run.counts import Counts, Span, SpanKind
from tilewright.run.fence import FenceMap, guard_file
from tilewright.run.image import Image, arena_range, locate
from tilewright.run.outcome import explain
from tilewright.run.plugin import ARGUMENTS, RESULT, plugin_compiler, prepare, read_counts, read_touched
from tilewright.run.tool import Finished, find_tool, start
from tilewright.target import Target

MAGIC = 0x31525754
PAINT, GUARD, CLOCK, PROFILE = 1, 2, 4, 8
SPANS: tuple[SpanKind, ...] = ("layer", "kernel", "copy", "wait")
INTERRUPT_INSTRUCTIONS = 5
"""Of the handler of SysTick in targets/start/cortex_m.c."""


@dataclass(frozen=True)
class DumpEntry:
    """Bytes to bring back after (or before) a plan instruction; `offset` in bytes into `symbol`, by default the arena.

    `tensor` only names the bytes in the result.
    """

    instruction: int
    tensor: str
    offset: int
    size_bytes: int
    symbol: str = ""
    before: bool = False


@dataclass(frozen=True)
class Dump:
    """The bytes of one dump entry."""

    instruction: int
    tensor: str
    data: bytes


@dataclass(frozen=True)
class Tap:
    """Rows that a node inside of a chain has made: `node` counts from 1 in the instruction's chain."""

    instruction: int
    node: int
    first_row: int
    data: bytes


@dataclass(frozen=True)
class Execution:
    """What a run brought back. `stack_bytes` is the stack that the model really used, None where not measured.

    `cycles` and, with trace, `spans` come from a simulator that models time, where they were counted.
    `touched` are the bytes of each memory that a run inside the plugin's fence read or wrote, but for the stack.
    `taps` come from an image that is built to give them.
    """

    outputs: tuple[bytes, ...]
    dumps: tuple[Dump, ...]
    exit_code: int
    counts: Counts | None
    stack_bytes: int | None
    console: str
    touched: Mapping[str, int] = field(default_factory=dict)
    cycles: int | None = None
    spans: tuple[Span, ...] = ()
    taps: tuple[Tap, ...] = ()


def execute(
    image: Image,
    inputs: Sequence[bytes],
    *,
    dump: Sequence[DumpEntry] = (),
    count: bool = False,
    fence: FenceMap | None = None,
    timeout: float | None = None,
) -> Execution:
    """Run one inference. Counting, fencing and dumping are separate runs.

    UsageError for inputs of the wrong length, FenceError for memory touched outside what was declared,
    TilewrightError for a crash, a time-out, or a model that returns an error.
    """
    _check(image, inputs, dump, count, fence)
    with tempfile.TemporaryDirectory(dir=image.work, prefix="run-") as name:
        folder = Path(name)
        entries = sorted(enumerate(dump), key=lambda e: (e[1].instruction, not e[1].before, e[0]))
        _write_files(image, folder, inputs, [entry for _, entry in entries], fence, _by_clock(image, count))
        done, counts = _start(image, folder, count, fence, timeout or image.target.timeout_seconds)
        explain(image, folder, done, fence, timeout or image.target.timeout_seconds)
        outputs = _split((folder / "output.bin").read_bytes(), image.interface.outputs)
        raw = (folder / "dump.bin").read_bytes() if dump else b""
        pieces = _split(raw, [entry.size_bytes for _, entry in entries])
        found = {at: Dump(e.instruction, e.tensor, data) for (at, e), data in zip(entries, pieces, strict=True)}
        stack = _result(folder).stack_bytes
        measured = _painted(image, _by_clock(image, count)) and not dump and not fence
        cycles, spans = _timed(folder) if count and image.target.simulator == "gvsoc" else (None, ())
        return Execution(
            outputs, tuple(found[at] for at in range(len(dump))), done.code or 0, counts,
            stack if measured else None, done.output + done.errors,
            read_touched(image, folder) if fence and image.target.simulator == "qemu" else {},
            cycles, spans, tuple(_taps(folder)),
        )  # fmt: skip


def _check(
    image: Image, inputs: Sequence[bytes], dump: Sequence[DumpEntry], count: bool, fence: FenceMap | None
) -> None:
    """Refuse what the image cannot do before anything is started."""
    expected = image.interface.inputs
    if tuple(map(len, inputs)) != expected:
        got = ", ".join(str(len(data)) for data in inputs)
        raise UsageError(
            f"the inputs of '{image.model}' have the wrong length",
            why=f"given are {got or 'no'} bytes, needed {', '.join(map(str, expected)) or 'no'} bytes",
        )
    if count and (fence or dump):
        raise UsageError("counting, fencing and dumping are separate runs", why="each would change what another sees")
    if (dump or fence) and not image.trace:
        raise UsageError("the image has no trace", why="dumps and fences follow its calls", fix="build with trace")
    if count and image.sanitize:
        raise UsageError("a sanitized image is not counted", why="most of its instructions are the sanitizer's")


def _painted(image: Image, clock: bool) -> bool:
    """True where the stack is measured: not with sanitizers, nor while a clock of QEMU puts its frames on the stack."""
    return not image.sanitize and not (clock and image.target.simulator == "qemu")


def _by_clock(image: Image, count: bool) -> bool:
    """True where the core's own counter must serve: the simulator takes no plugin, or no compiler can build it."""
    if image.target.simulator == "gvsoc":
        return count
    return count and image.target.simulator == "qemu" and (not image.target.plugin or plugin_compiler() is None)


def _write_files(
    image: Image,
    folder: Path,
    inputs: Sequence[bytes],
    dump: Sequence[DumpEntry],
    fence: FenceMap | None,
    clock: bool,
) -> None:
    """Write what the image reads; the whole arena is poisoned before the inputs are read."""
    arena = arena_range(image)
    fills = [arena] if arena[1] else []
    native = image.target.simulator == "native"
    flags = (PAINT if _painted(image, clock) else 0) | (GUARD if fence and native else 0) | (CLOCK if clock else 0)
    flags |= PROFILE if clock and image.trace else 0
    control = struct.pack("<4I", MAGIC, flags, len(fills), len(dump))
    control += b"".join(struct.pack("<2Q", *fill) for fill in fills)
    for entry in dump:
        address = locate(image, entry.symbol, entry.offset, entry.size_bytes)
        control += struct.pack("<2I2Q", entry.instruction, int(not entry.before), address, entry.size_bytes)
    (folder / "control.bin").write_bytes(control)
    (folder / "input.bin").write_bytes(b"".join(inputs))
    for index in range(len(image.interface.blobs)):
        if (blob := image.work / f"blob_{index}.bin").is_file():
            shutil.copyfile(blob, folder / blob.name)
    if fence and native:
        (folder / "guard.bin").write_bytes(guard_file(image, fence))


def _start(
    image: Image, folder: Path, count: bool, fence: FenceMap | None, timeout: float
) -> tuple[Finished, Counts | None]:
    """Start the image by itself, under callgrind or in the simulator."""
    target = image.target
    if target.simulator == "native":
        if count:
            from tilewright.run.callgrind import run_counted

            return run_counted(image, folder, timeout)
        return start(_command(image), folder, timeout=timeout, environment=_SANITIZER), None
    if target.simulator == "gvsoc" and fence is None:
        return start(_command(image), folder, timeout=timeout), None
    if _by_clock(image, count):
        return _start_clocked(image, folder, timeout)
    if not count and fence is None:
        return start(_command(image), folder, timeout=timeout), None
    if not target.plugin:
        raise UsageError(f"target '{target.name}' cannot fence", why="its simulator does not take the QEMU plugin")
    prepare(image, folder, fence)
    done = start([*_command(image), *ARGUMENTS], folder, timeout=timeout)
    if fence is not None and (folder / RESULT).is_file():
        crossed = (folder / RESULT).read_text(encoding="ascii")
        done = Finished(done.code, done.output, done.errors + crossed)
    return done, read_counts(image, folder) if count and done.code == 0 else None


def _start_clocked(image: Image, folder: Path, timeout: float) -> tuple[Finished, Counts | None]:
    """Count by the core's counter, which goes by the simulator's instructions; a total is all it gives."""
    unable = UsageError(
        f"target '{image.target.name}' cannot count instructions",
        why="the QEMU plugin cannot be used and the core's counter is not known",
        fix="install gcc for this machine, or give run.icount_shift and run.systick_hz in target.toml",
    )
    if not has_clock(image):
        raise unable
    done = start([*_command(image), "-icount", f"shift={image.target.icount_shift}"], folder, timeout=timeout)
    if done.code != 0:
        return done, None
    result = _result(folder)
    if result.ticks == 0:
        raise unable
    return done, Counts(_instructions(image.target, result), counter="icount")


def has_clock(image: Image) -> bool:
    """True where the core's own counter can be read as instructions; SysTick needs its frequency for that."""
    if image.target.icount_shift is None:
        return False
    return image.target.systick_hz is not None or image.elf.symbol("tw_systick") is None


def _instructions(target: Target, result: Result) -> int:
    """Ticks as instructions: one takes 2^shift ns, and one more was run than was measured."""
    shift = target.icount_shift or 0
    if target.systick_hz is None:
        return (result.ticks >> shift) + 1
    per_second = target.systick_hz << shift
    return (2 * 10**9 * result.ticks + per_second) // (2 * per_second) + 1 - INTERRUPT_INSTRUCTIONS * result.interrupts


@dataclass(frozen=True)
class Result:
    """What the image says of its run: ticks of the core's counter, and interrupts of that counter meanwhile."""

    status: int
    returned: int
    stack_bytes: int
    ticks: int
    interrupts: int


def _result(folder: Path) -> Result:
    """Read result.bin."""
    return Result(*struct.unpack("<5I", (folder / "result.bin").read_bytes()))


def _taps(folder: Path) -> Iterator[Tap]:
    """What an image that is built for it took out of its chains, in the order of execution."""
    file, at = folder / "tap.bin", 0
    raw = file.read_bytes() if file.is_file() else b""
    while at < len(raw):
        instruction, node, first_row, size = struct.unpack_from("<4I", raw, at)
        yield Tap(instruction, node, first_row, raw[at + 16 : at + 16 + size])
        at += 16 + size


def _timed(folder: Path) -> tuple[int, tuple[Span, ...]]:
    """Cycles of the inference and, where the image has trace, of all that its firmware was asked for."""
    file = folder / "profile.bin"
    raw = struct.unpack(f"<{file.stat().st_size // 4}I", file.read_bytes()) if file.is_file() else ()
    rows = zip(raw[::3], raw[1::3], raw[2::3], strict=True)
    return _result(folder).ticks + 1, tuple(Span(what >> 3, SPANS[what & 7], at, cycles) for what, at, cycles in rows)


_SANITIZER = {"ASAN_OPTIONS": "detect_leaks=0:abort_on_error=0:exitcode=77", "UBSAN_OPTIONS": "print_stacktrace=0"}


def _command(image: Image) -> list[str]:
    """The target's command line with the image's path in it."""
    words = [word.replace("{elf}", str(image.path)) for word in image.target.command]
    if image.target.simulator != "native":
        words[0] = find_tool(words[0], image.target.tools.get(words[0], ""))
    return words


def _split(raw: bytes, sizes: Sequence[int]) -> tuple[bytes, ...]:
    """Cut a file into pieces of the given bytes."""
    if len(raw) != sum(sizes):
        raise TilewrightError("the image wrote a short file", why=f"{len(raw)} of {sum(sizes)} bytes")
    pieces, at = [], 0
    for size in sizes:
        pieces.append(raw[at : at + size])
        at += size
    return tuple(pieces)
