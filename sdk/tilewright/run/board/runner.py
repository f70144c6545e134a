"""A network on a real board, compared as in a simulator: inputs go in, outputs, states and layers come out."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tilewright.codegen.interface import Interface
from tilewright.errors import BoardError, UnsupportedError, UsageError
from tilewright.options import RunOptions
from tilewright.report.build import Report
from tilewright.report.calls import BoardReport
from tilewright.run.board import protocol
from tilewright.run.board.link import Link
from tilewright.run.board.monitor import Identity, Monitor, Stop
from tilewright.run.board.stream import ByteStream
from tilewright.run.calls import Called
from tilewright.run.compare import Comparison
from tilewright.run.counts import Span
from tilewright.run.data_set import judged_set, raw_call
from tilewright.run.image import STATE
from tilewright.run.inputs import input_arrays
from tilewright.run.samples import COMPARED, SampleSet, progress_bar, read_set
from tilewright.run.sequence import frames_of, judged
from tilewright.run.session import (
    LayerResult,
    call_of,
    compare_layers,
    np_bytes,
    of_one_call,
    report_of,
    results_of,
)
from tilewright.run.simulate import Execution, Step
from tilewright.run.simulator import Simulator, Subject
from tilewright.target import Target


class Board(Simulator):
    """Where a compiled network runs when its firmware, with the monitor, is on a board behind a stream."""

    def __init__(
        self, stream: ByteStream, name: str, patience_seconds: float = 10.0, run_seconds: float | None = None
    ) -> None:
        """`name` is what messages call the board; it hangs where it says nothing for `patience_seconds`, while the
        network runs for `run_seconds` (None: as long as the target's simulator would be given)."""
        self.link, self.run_seconds = Link(stream, name, patience_seconds), run_seconds

    def run(self, subject: Subject, target: Target, options: RunOptions) -> Report:
        """Run once, or a sequence, or a set of samples, and compare. BoardError where the board does not answer,
        UsageError where it runs anything else."""
        _refuse(subject, options)
        session = Session(Monitor(self.link), subject.interface, self.run_seconds or target.timeout_seconds)
        plan, interface = subject.placed.plan, subject.interface
        samples = None if options.frames is not None else read_set(plan, options)
        frames = frames_of(subject, options) if options.frames is not None else ()
        session.monitor.connect(Identity(interface.model, plan.sha256, interface.build))
        if frames:
            called = session.called([[np_bytes(array) for array in frame] for frame in frames])
            report = judged(subject, called, frames, options)
        elif samples is not None:
            called = session.called([raw_call(samples, n) for n in range(min(COMPARED, samples.count))])
            report = judged_set(subject, options, samples, called, session.others(samples))
        else:
            report = _run_once(session, subject, options)
        assert report.run is not None
        return replace(report, run=replace(report.run, board=self._told(session.monitor)))

    def _told(self, monitor: Monitor) -> BoardReport:
        traffic = self.link.traffic
        return BoardReport(self.link.name, monitor.build.traced, traffic.questions, traffic.repeats, traffic.damaged)


def _refuse(subject: Subject, options: RunOptions) -> None:
    """UsageError for what a monitor does not do."""
    if options.text is not None:
        raise UsageError("--generate", why="the monitor takes inputs and gives outputs, and writes no text",
                         fix="leave out --port, or give the inputs of the calls with --frames")  # fmt: skip
    if subject.shared is not None:
        raise UsageError("--bundle", why="a monitor serves one network", fix="run each network by itself")
    if len(subject.interface.inputs) + len(subject.interface.outputs) > protocol.MOST_PORTS:
        raise UnsupportedError(
            f"'{subject.interface.model}' has too many inputs and outputs for the monitor",
            why=f"it numbers at most {protocol.MOST_PORTS}", fix="run it in a simulator",
        )  # fmt: skip


def _run_once(session: Session, subject: Subject, options: RunOptions) -> Report:
    """One call, and with `layers` or `profile` another one that is looked into."""
    inputs = input_arrays(subject.placed.plan, options.inputs, options.seed)
    raw = [np_bytes(array) for array in inputs]
    execution, layers = session.called([raw]).execution, dict[int, Comparison]()
    call = call_of(subject, inputs, execution, options)
    spans = session.spans(len(subject.placed.plan.instructions)) if options.profile else ()
    if options.layers:
        results = results_of(subject.placed)
        layers = compare_layers(subject.placed, results, session.dumps(subject, results, raw), call.slots, options)
    report = report_of(subject, None, execution, call.results, layers, None, ())
    return of_one_call(subject, report, call, spans, options)


class Session:
    """The calls that are made through an open monitor; each inference may take `run_seconds`."""

    def __init__(self, monitor: Monitor, interface: Interface, run_seconds: float) -> None:
        self.monitor, self.interface, self.run_seconds = monitor, interface, run_seconds

    def called(self, calls: Sequence[Sequence[bytes]]) -> Called:
        """All calls, the first from the first state; the stack is that of the first."""
        steps, stacks, cycles = list[Step](), list[int](), list[int]()
        for number, inputs in enumerate(calls):
            stop = self._call(inputs, first=number == 0)
            steps.append(self._step())
            stacks.append(stop.stack_bytes)
            cycles.append(stop.cycles)
        build = self.monitor.build
        stack = stacks[0] if build.measures_stack and stacks[0] else None
        total = cycles[0] if build.counts_cycles else None
        execution = Execution(steps[0].outputs, (), 0, None, stack, "", cycles=total, steps=tuple(steps))
        return Called(None, execution, (), tuple(cycles) if build.counts_cycles else ())

    def others(self, samples: SampleSet) -> Iterator[tuple[bytes, ...]]:
        """The outputs of all samples that are not compared."""
        for number in range(COMPARED, samples.count):
            self._call(raw_call(samples, number), first=number == COMPARED)
            yield self._step().outputs
            progress_bar(number + 1, samples.count)

    def spans(self, layers: int) -> tuple[Span, ...]:
        """The cycles of every layer of the last call."""
        self._need_trace("--profile")
        if not self.monitor.build.counts_cycles:
            raise UsageError("--profile", why=f"the board at {self.monitor.link.name} counts no cycles",
                             fix="give its monitor a counter, such as examples/monitor/cycles.c")  # fmt: skip
        cycles = struct.unpack(f"<{layers}I", self.monitor.read(protocol.LAYER_CYCLES, 0, 4 * layers))
        return tuple(Span(index, "layer", 0, count) for index, count in enumerate(cycles))

    def dumps(self, subject: Subject, results: Sequence[LayerResult], inputs: Sequence[bytes]) -> list[bytes]:
        """Every result, read while the network stands still right behind the instruction that made it.

        Zeros stand for those of instructions that did not run.
        """
        self._need_trace("--layers")
        self._load(inputs, anew=True)
        data = [bytes(result.entry.size_bytes) for result in results]
        stop = self.monitor.run(paint=False, pause=True, seconds=self.run_seconds)
        while stop.instruction is not None:
            for at, result in enumerate(results):
                entry = result.entry
                if entry.instruction == stop.instruction:
                    region = protocol.STATE if entry.symbol == STATE else protocol.ARENA
                    data[at] = self.monitor.read(region, entry.offset, entry.size_bytes)
            stop = self._go_on(subject, stop.instruction)
        return data

    def _go_on(self, subject: Subject, instruction: int) -> Stop:
        try:
            return self.monitor.go_on(pause=True, seconds=self.run_seconds)
        except BoardError as error:
            layers = subject.report.layers
            name = layers[instruction].name if instruction < len(layers) else "the last"
            raise BoardError(error.what, why=f"{error.why}; the last layer that ended is {instruction} '{name}'",
                             fix="look at the layer behind it, then reset the board", node=name) from None  # fmt: skip

    def _load(self, inputs: Sequence[bytes], *, anew: bool) -> None:
        if anew:
            self.monitor.prepare()
        for number, data in enumerate(inputs):
            self.monitor.write(protocol.FIRST_PORT + number, data)

    def _call(self, inputs: Sequence[bytes], *, first: bool) -> Stop:
        """One inference; the first of several begins anew and is painted."""
        self._load(inputs, anew=first)
        return self.monitor.run(paint=first, pause=False, seconds=self.run_seconds)

    def _step(self) -> Step:
        first = protocol.FIRST_PORT + len(self.interface.inputs)
        outputs = tuple(
            self.monitor.read(first + number, 0, size) for number, size in enumerate(self.interface.outputs)
        )
        state = self.monitor.read(protocol.STATE, 0, self.interface.state_bytes)
        return Step(outputs, state, 0, 0)

    def _need_trace(self, option: str) -> None:
        if not self.monitor.build.traced:
            macro = self.interface.trace_macro
            raise UsageError(
                option,
                why=f"the firmware at {self.monitor.link.name} was compiled without {macro}",
                fix=f"compile src/ and monitor/ with -D{macro} and flash it; an external arena cannot be looked into",
            )
