"""Start an image on its target, feed it, and bring back what it computed and what it cost."""

from __future__ import annotations

import shutil
import struct
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tilewright.errors import TilewrightError, UsageError
from tilewright.run.counts import Counts, Span
from tilewright.run.fence import FenceMap, guard_file
from tilewright.run.follow import followed
from tilewright.run.image import Image, arena_range, locate, state_range
from tilewright.run.outcome import explain
from tilewright.run.result import read_result
from tilewright.run.simulator import simulator_of

MAGIC = 0x31525754
PAINT, GUARD, CLOCK, PROFILE = 1, 2, 4, 8


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
class Step:
    """One call: its outputs, the state behind it, and ticks of the core's counter with its interrupts."""

    outputs: tuple[bytes, ...]
    state: bytes
    ticks: int
    interrupts: int


@dataclass(frozen=True)
class Execution:
    """What a run brought back. `outputs` are those of the first call; `steps` are all calls.

    `stack_bytes` is the stack that the model really used, None where not measured.

    `cycles` and, with trace, `spans` come from a simulator that models time, where they were counted.
    `touched` are the bytes of each memory that a run inside the plugin's fence read or wrote, but for the stack.
    `taps` come from an image that is built to give them. `tokens` of an image that writes text: how many
    the prompt has, then all. `coverage` are the compiler's counters by file, of an image that counts its lines.
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
    steps: tuple[Step, ...] = ()
    tokens: tuple[int, ...] = ()
    coverage: Mapping[str, bytes] = field(default_factory=dict)


def execute(
    image: Image,
    inputs: Sequence[bytes],
    *,
    more: Sequence[Sequence[bytes]] = (),
    dump: Sequence[DumpEntry] = (),
    count: bool = False,
    fence: FenceMap | None = None,
    timeout: float | None = None,
    prompt: bytes = b"",
    tell: Callable[[str], None] | None = None,
) -> Execution:
    """Run one inference, and `more` behind it with their own inputs, in one start.

    With a `prompt` the image chooses the inputs and how many calls there are, at most those given; `tell` gets its text
    as it comes.

    Counting, fencing and dumping are separate runs.

    UsageError for inputs of the wrong length, FenceError for memory touched outside what was declared,
    TilewrightError for a crash, a time-out, or a model that returns an error.
    """
    calls = (inputs, *more)
    for given in calls:
        _check(image, given, dump, count, fence)
    patience = timeout or image.target.timeout_seconds * (1 + len(more) // 16)
    simulator = simulator_of(image.target)
    clock = simulator.by_clock(image, count)
    paint = not image.sanitize and not (clock and simulator.clock_takes_stack)
    with tempfile.TemporaryDirectory(dir=image.work, prefix="run-") as name:
        folder = Path(name)
        entries = sorted(enumerate(dump), key=lambda e: (e[1].instruction, not e[1].before, e[0]))
        _write_files(image, folder, calls, [entry for _, entry in entries], fence, clock=clock, paint=paint)
        if prompt:
            (folder / "prompt.bin").write_bytes(prompt)
        with followed(folder / "text.bin", tell):
            done, counts = simulator.start(image, folder, count, fence, patience)
        explain(image, folder, done, fence, patience)
        raw_steps = (folder / "output.bin").read_bytes()
        made = len(raw_steps) // _step_bytes(image) if prompt else len(calls)
        steps = _steps(image, raw_steps, made)
        tokens = (folder / "tokens.bin").read_bytes() if prompt else b""
        raw = (folder / "dump.bin").read_bytes() if dump else b""
        pieces = _split(raw, [entry.size_bytes for _, entry in entries])
        dumps = {at: Dump(e.instruction, e.tensor, data) for (at, e), data in zip(entries, pieces, strict=True)}
        stack = read_result(folder).stack_bytes
        measured = paint and not dump and not fence
        cycles, spans = simulator.timed(folder) if count else (None, ())
        return Execution(
            steps[0].outputs, tuple(dumps[at] for at in range(len(dump))), done.code or 0, counts,
            stack if measured else None, done.output + done.errors,
            simulator.touched(image, folder) if fence else {},
            cycles, spans, tuple(_taps(folder)), steps, struct.unpack(f"<{len(tokens) // 4}I", tokens),
            {file.name: file.read_bytes() for file in sorted(folder.glob("*.gcda"))},
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


def _write_files(
    image: Image,
    folder: Path,
    calls: Sequence[Sequence[bytes]],
    dump: Sequence[DumpEntry],
    fence: FenceMap | None,
    *,
    clock: bool,
    paint: bool,
) -> None:
    """Write what the image reads; the whole arena is poisoned before the inputs are read."""
    fills = [place for place in (arena_range(image), state_range(image)) if place[1]]
    guard = guard_file(image, fence) if fence and simulator_of(image.target).sanitizer_fences else None
    flags = (PAINT if paint else 0) | (0 if guard is None else GUARD) | (CLOCK if clock else 0)
    flags |= PROFILE if clock and image.trace else 0
    control = struct.pack("<5I", MAGIC, flags, len(fills), len(dump), len(calls))
    control += b"".join(struct.pack("<2Q", *fill) for fill in fills)
    for entry in dump:
        address = locate(image, entry.symbol, entry.offset, entry.size_bytes)
        control += struct.pack("<2I2Q", entry.instruction, int(not entry.before), address, entry.size_bytes)
    (folder / "control.bin").write_bytes(control)
    (folder / "input.bin").write_bytes(b"".join(data for inputs in calls for data in inputs))
    for index in range(len(image.interface.blobs)):
        if (blob := image.work / f"blob_{index}.bin").is_file():
            shutil.copyfile(blob, folder / blob.name)
    if guard is not None:
        (folder / "guard.bin").write_bytes(guard)


def _taps(folder: Path) -> Iterator[Tap]:
    """What an image that is built for it took out of its chains, in the order of execution."""
    file, at = folder / "tap.bin", 0
    raw = file.read_bytes() if file.is_file() else b""
    while at < len(raw):
        instruction, node, first_row, size = struct.unpack_from("<4I", raw, at)
        yield Tap(instruction, node, first_row, raw[at + 16 : at + 16 + size])
        at += 16 + size


def _step_bytes(image: Image) -> int:
    return sum(image.interface.outputs) + image.interface.state_bytes + 8


def _steps(image: Image, raw: bytes, calls: int) -> tuple[Step, ...]:
    """Every call as the image wrote it down."""
    outputs, state = image.interface.outputs, image.interface.state_bytes
    pieces = _split(raw, [*outputs, state, 8] * calls)
    width = len(outputs) + 2
    return tuple(
        Step(pieces[at : at + len(outputs)], pieces[at + len(outputs)], *struct.unpack("<2I", pieces[at + width - 1]))
        for at in range(0, len(pieces), width)
    )


def _split(raw: bytes, sizes: Sequence[int]) -> tuple[bytes, ...]:
    """Cut a file into pieces of the given bytes."""
    if len(raw) != sum(sizes):
        raise TilewrightError("the image wrote a short file", why=f"{len(raw)} of {sum(sizes)} bytes")
    pieces, at = [], 0
    for size in sizes:
        pieces.append(raw[at : at + size])
        at += size
    return tuple(pieces)
