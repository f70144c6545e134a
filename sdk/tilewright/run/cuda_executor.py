"""Warm up, capture, replay: a plan on a GPU, or on the stand-in, with the policy written once for both.

    with CUDAGraphExecutor(plan, warmups=2) as executor:
        (y,) = executor.run(x)
        executor.stats        # warmups, captures, replays, eager, nodes

The first `warmups` calls run instruction by instruction. The next one captures the regions and replays them; from
then on every call is a replay. Where a region cannot be captured, the executor goes on without, for ever, and starts
again only from that region's first instruction: what ran before it has run, and state advances once.
"""

from __future__ import annotations

import importlib
import shutil
import tempfile
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import numpy as np

from tilewright.errors import UsageError
from tilewright.memory.buffer_layout import POISON, BufferLayout, compute_buffer_layout
from tilewright.model import Array
from tilewright.plan.execute import evaluate_call
from tilewright.plan.plan import ExecutionPlan
from tilewright.plan.schedule import NON_CAPTURABLE, CaptureRegions, capture_regions
from tilewright.plugins import platform
from tilewright.run.cuda_library import CaptureError, CudaError, Library, build_library
from tilewright.target import Target, load_target

Restore = Callable[[], None]


@dataclass(frozen=True)
class Stats:
    """Calls by kind, captures of regions, and the nodes of each captured graph."""

    warmups: int = 0
    captures: int = 0
    replays: int = 0
    eager: int = 0
    nodes: tuple[int, ...] = ()


def build_plan(plan: ExecutionPlan, layout: BufferLayout, target: Target, work: Path) -> Path:
    """Emit a plan of the target's platform and build it; the library's path."""
    emitter = importlib.import_module(platform(target.platform).emitter)
    (work / "network.cu").write_text(emitter.emit_network(plan, layout), encoding="utf-8")
    shutil.copy(emitter.TEMPLATES / emitter.STAND_IN, work)
    return build_library(work, target, work)


class CUDAGraphExecutor:
    """Runs one plan on fixed addresses; not for several threads at once.

    `regions` is `longest` or `all`; a sweep that the border of a region cuts is launched instruction by instruction.
    `on_captured` is called after a successful capture. `snapshot_cache` is called before one and returns what puts the
    caller's own state back where the capture fails. `samples` inputs are computed at once; every array then has one
    more first axis. Operators in `host_operators` run in NumPy between regions. `library` is a built library of this
    plan and `layout`; without it one is built for `target`. With `poison` the arena is filled with a pattern before
    every run.
    """

    def __init__(
        self,
        plan: ExecutionPlan,
        warmups: int = 1,
        regions: str = "longest",
        on_captured: Callable[[], None] | None = None,
        snapshot_cache: Callable[[], Restore] | None = None,
        *,
        target: str | Target = "cuda_host",
        samples: int = 1,
        layout: BufferLayout | None = None,
        library: Path | None = None,
        host_operators: Set[str] = NON_CAPTURABLE,
        poison: bool = False,
    ) -> None:
        if samples < 1:
            raise UsageError(f"{samples} samples at once", fix="use a number from 1")
        self.plan, self.warmups, self.samples, self.poison = plan, max(warmups, 1), samples, poison
        self.on_captured, self.snapshot_cache = on_captured, snapshot_cache
        self.host_operators = frozenset(host_operators)
        self.regions: CaptureRegions = capture_regions(plan, regions, self.host_operators)
        self.layout = compute_buffer_layout(plan) if layout is None else layout
        self.capture_error: CaptureError | None = None
        self.failed = not self.regions.regions
        self._calls = self._warmed = self._captures = self._replays = self._eager_calls = 0
        self._nodes: tuple[int, ...] = ()
        self._captured = self._ready = self._closed = False
        self._folder = tempfile.TemporaryDirectory(prefix="tilewright-cuda-")
        work = Path(self._folder.name)
        try:
            if library is None:
                chosen = load_target(target) if isinstance(target, str) else target
                library = build_plan(plan, self.layout, chosen, work)
            own = Path(shutil.copy(library, work / "own.so"))
            self.library = Library(own, plan.name)
            self._open()
        except BaseException:
            self._folder.cleanup()
            raise

    def __enter__(self) -> CUDAGraphExecutor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def stats(self) -> Stats:
        """What was done so far."""
        return Stats(self._warmed, self._captures, self._replays, self._eager_calls, self._nodes)

    # ------------------------------------------------------------------ life
    def _open(self) -> None:
        self.library.init(self.samples)
        self._ready = True
        plan = self.plan
        self._inputs = [self._staged(False, n, slot) for n, slot in enumerate(plan.input_slots)]
        self._outputs = [self._staged(True, n, slot) for n, slot in enumerate(plan.output_slots)]

    def _staged(self, output: bool, index: int, slot: int) -> Array:
        tensor = self.plan.slots[slot].tensor
        size = tensor.size_bytes
        return self.library.staging(output, index, size * self.samples).reshape(self.samples, size)

    def destroy(self) -> None:
        """Free graphs and device memory. A later run takes memory anew, its state is zero, and it captures again."""
        if self._ready:
            self.library.call("destroy")
        self._ready = self._captured = False
        self._nodes = ()

    def close(self) -> None:
        """`destroy`, unload the library and remove its file; nothing can be run any more."""
        if self._closed:
            return
        self.destroy()
        self._closed = True
        self.library.close()
        self._folder.cleanup()

    # ------------------------------------------------------------------ running
    def run(self, *inputs: Array) -> tuple[Array, ...]:
        """One run. UsageError for a wrong number, shape or type; CudaError where the device fails."""
        self._begin(inputs)
        if self.failed or self._calls <= self.warmups:
            warming = not self.failed
            self._eager_range(0, self.regions.count)
            self._warmed, self._eager_calls = self._warmed + warming, self._eager_calls + (not warming)
        elif self._captured:
            for start, end, region in self.regions.segments:
                if region < 0:
                    self._eager_range(start, end)
                else:
                    self.library.call("replay", region)
            self._replays += 1
        else:
            self._capture_all()
        return self._end()

    def run_megakernel(self, inputs: Sequence[Array]) -> tuple[Array, ...]:
        """One run as a single launch; a plan runner's `set_megakernel_fn` takes this."""
        if self.host_operators.intersection(i.op_name for i in self.plan.instructions):
            raise UsageError("a megakernel cannot run operators on the host", fix="pass no host operators")
        self._begin(inputs)
        self._copy_in()
        self.library.call("run_megakernel")
        self._copy_out()
        return self._end()

    def run_steps(self, *inputs: Array) -> tuple[tuple[Array, ...], ...]:
        """One run instruction by instruction: the results of each, read before the next can write over them."""
        self._begin(inputs)
        outputs = []
        last = self.regions.count
        for index in range(last):
            self._eager_range(index, index + 1)
            outputs.append(tuple(self.read_slot(slot) for slot in self.plan.instructions[index].outputs))
        self._end()
        return tuple(outputs)

    def _begin(self, inputs: Sequence[Array]) -> None:
        if self._closed:
            raise UsageError("the executor is closed", why="its library is gone", fix="make a new one")
        if not self._ready:
            self._open()
        if len(inputs) != len(self._inputs):
            raise UsageError(f"the plan takes {len(self._inputs)} inputs", why=f"{len(inputs)} were given")
        for slot, staged, array in zip(self.plan.input_slots, self._inputs, inputs, strict=True):
            where = self.plan.slots[slot]
            tensor = where.tensor
            shape = tensor.shape if self.samples == 1 else (self.samples, *tensor.shape)
            if array.shape != shape or array.dtype != tensor.dtype.numpy:
                raise UsageError(
                    f"input '{tensor.name}' is {array.dtype}{list(array.shape)}",
                    why=f"the executor takes {tensor.dtype.numpy}{list(shape)}", fix="convert it first",
                    tensor=tensor.name,
                )  # fmt: skip
            for row, sample in zip(staged, array.reshape(self.samples, *tensor.shape), strict=True):
                row[:] = where.layout.pack(sample).view(np.uint8)
        if self.poison:
            self.library.call("poison", POISON)
        self._calls += 1

    def _end(self) -> tuple[Array, ...]:
        self.library.call("sync")
        return tuple(self._logical(s, rows) for s, rows in zip(self.plan.output_slots, self._outputs, strict=True))

    def _logical(self, slot: int, rows: Array) -> Array:
        """Bytes of a slot, one row per sample, as a logical array of our own."""
        where = self.plan.slots[slot]
        values = [where.layout.unpack(r.copy().view(where.tensor.dtype.numpy), where.tensor.shape) for r in rows]
        return values[0] if self.samples == 1 else np.stack(values)

    # ------------------------------------------------------------------ parts of a run
    def _copy_in(self) -> None:
        self.library.call("copy_in")

    def _copy_out(self) -> None:
        self.library.call("copy_out")
        self.library.call("advance_state")

    def _eager_range(self, start: int, end: int) -> None:
        """What lies between host operators at once, those in NumPy, copies where the range touches the plan's ends."""
        if start == 0:
            self._copy_in()
        begin = start
        for index in (i for i in range(start, end) if self.plan.instructions[i].op_name in self.host_operators):
            self.library.call("run_range", begin, index)
            self._on_host(index)
            begin = index + 1
        self.library.call("run_range", begin, end)
        if end == self.regions.count:
            self._copy_out()

    def _on_host(self, index: int) -> None:
        self.library.call("sync")
        instruction = self.plan.instructions[index]
        for sample in range(self.samples):
            arrays = [self._value(slot, sample) if slot >= 0 else None for slot in instruction.inputs]
            results = evaluate_call(instruction.call, arrays)
            for slot, result in zip(instruction.outputs, results, strict=True):
                self.library.write(slot, sample, self.plan.slots[slot].layout.pack(result))

    def _capture_all(self) -> None:
        """The first call after the warm-ups: capture each region, and replay it at once."""
        nodes = []
        for start, end, region in self.regions.segments:
            if region < 0 or self.failed:
                self._eager_range(start, end)
                continue
            restore = self.snapshot_cache() if self.snapshot_cache is not None else None
            error = self._capture(start, end, region)
            if error is not None:
                self._give_up(error, restore)
                self._eager_range(start, end)
                continue
            nodes.append(self.library.code("nodes", region))
            self.library.call("replay", region)
        if self.failed:
            self._eager_calls += 1
            return
        self._nodes, self._captured = tuple(nodes), True
        self._captures += len(nodes)
        self._replays += 1
        if self.on_captured is not None:
            self.on_captured()

    def _capture(self, start: int, end: int, region: int) -> CaptureError | None:
        """Record a region; nothing of it runs. The error where it cannot be captured."""
        if code := self.library.code("begin_capture"):
            return CaptureError(f"to begin the capture of region [{start}, {end})", code)
        code = 0
        try:
            if start == 0:
                self._copy_in()
            self.library.call("run_range", start, end)
            if end == self.regions.count:
                self._copy_out()
        except CudaError as error:
            code = error.cuda_code
        ended = self.library.code("end_capture", region)
        if code or ended:
            return CaptureError(f"the capture of region [{start}, {end})", code or ended)
        return None

    def _give_up(self, error: CaptureError, restore: Restore | None) -> None:
        self.capture_error, self.failed = error, True
        for region in range(len(self.regions.regions)):
            self.library.call("drop", region)
        if restore is not None:
            restore()

    # ------------------------------------------------------------------ slots
    def _require(self, slot: int) -> None:
        """UsageError for a slot that the plan does not have, or while there is no memory on the device."""
        if not self._ready:
            raise UsageError("there is nothing on the device", why="the executor was destroyed", fix="call run first")
        if not 0 <= slot < self.plan.slot_count:
            raise UsageError(
                f"slot {slot}", why="the plan does not have it", fix=f"give one from 0 to {self.plan.slot_count - 1}"
            )

    def read_slot(self, slot: int) -> Array:
        """The logical value that a slot's place holds now; a slot whose bytes were reused reads what took them."""
        self._require(slot)
        size = self.plan.slots[slot].tensor.size_bytes
        return self._logical(slot, np.stack([self.library.read(slot, n, size) for n in range(self.samples)]))

    def _value(self, slot: int, sample: int) -> Array:
        where = self.plan.slots[slot]
        raw = self.library.read(slot, sample, where.tensor.size_bytes)
        return where.layout.unpack(raw.view(where.tensor.dtype.numpy), where.tensor.shape)

    def slot_address(self, slot: int) -> int:
        """Where a slot lies on the device; the same in every run until `destroy`."""
        self._require(slot)
        return self.library.address(slot)

    def reset_stateful(self) -> None:
        """Every state slot is zero again."""
        for slot in self.plan.state_slots:
            self._require(slot)
            zeros = np.zeros(self.plan.slots[slot].tensor.size_bytes, np.uint8)
            for sample in range(self.samples):
                self.library.write(slot, sample, zeros)

    def snapshot_state(self) -> Restore:
        """A function that puts the state slots back as they are now; UsageError where the executor was destroyed."""
        for slot in self.plan.state_slots:
            self._require(slot)
        state = [
            (slot, sample, self.library.read(slot, sample, self.plan.slots[slot].tensor.size_bytes))
            for slot in self.plan.state_slots
            for sample in range(self.samples)
        ]

        def restore() -> None:
            for slot, sample, data in state:
                self._require(slot)
                self.library.write(slot, sample, data)

        return restore
