"""One question and its answer over a stream that damages bytes: sequence numbers, repeats, time limits."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from tilewright.errors import BoardError, UsageError
from tilewright.run.board.framing import Frames, framed, opened
from tilewright.run.board.protocol import ANSWER, HELLO, NO_SESSION, REFUSED
from tilewright.run.board.stream import ByteStream

FIRST_WAIT, LEAST_WAIT, CALM_WAIT, MOST_WAIT = 0.05, 0.003, 0.03, 1.0
"""Seconds until a question is repeated: before any answer; at least on a bad line, on a good one; at most."""
SAMPLES = 8
"""Of how fast something came back for questions sent once, the shortest of which counts: others waited for others."""
QUIET, FLOWING = 0.002, 0.005
"""Seconds of silence behind a damaged frame after which the question is repeated; behind anything sound that comes."""
SLOWER = 2
"""By how much a wait grows that brought not one byte: the board computes, or is slow."""
NOISY, COPIES = 32, 8
"""Questions behind a damaged frame for which the line counts as bad, and copies of each question that are sent there at
once: the monitor does nothing twice."""
BABBLE = 12
"""Times the patience that a question may take while bytes come back of which none is its answer."""
READ_BYTES = 4096


@dataclass
class Traffic:
    """What a session cost: questions, how often one was repeated, damaged frames that came in."""

    questions: int = 0
    repeats: int = 0
    damaged: int = 0


class Link:
    """Asks a monitor, one question at a time.

    Every question has a number. It is repeated until its answer has come, and the monitor does nothing twice.
    """

    def __init__(
        self, stream: ByteStream, name: str, patience_seconds: float = 10.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        """`name` is what messages call the board, which hangs where it says nothing for `patience_seconds`."""
        self.stream, self.name, self.patience_seconds, self.clock = stream, name, patience_seconds, clock
        self.traffic = Traffic()
        self._frames, self._sequence, self._heard, self._last_damage = Frames(), 0, 0, -NOISY
        self._taken = deque[float](maxlen=SAMPLES)

    def ask(self, operation: int, body: bytes = b"", *, seconds: float | None = None, tries: int = 0) -> bytes | None:
        """The body of the answer. None where `tries` repeats on a bad line brought none; without that, BoardError once
        nothing has come back for the link's patience, or for `seconds`, the time that the board may compute.

        BoardError where the stream is gone or the board was reset, UsageError where it refuses the question.
        """
        self._sequence = self._sequence % 255 + 1
        frame = framed(bytes([self._sequence, operation]) + body)
        patience = max(seconds or 0.0, self.patience_seconds)
        begun = last_heard = self.clock()
        self.traffic.questions += 1
        wait, attempt = self._wait(), 0
        while self.clock() < min(last_heard + patience, begun + BABBLE * patience):
            heard = self._heard
            copies = COPIES if self._is_noisy() else 1
            self._write(copies * (b"\0" + frame))
            answer = self._answer(operation, wait, learn=attempt == 0)
            if answer is not None:
                if attempt or copies > 1:
                    self._settle()
                return answer
            attempt += 1
            self.traffic.repeats += 1
            if tries and attempt >= tries and self._is_noisy():
                return None
            if self._heard == heard:
                wait = min(MOST_WAIT, wait * SLOWER)
            else:
                last_heard, wait = self.clock(), self._wait()
        raise self._silence(operation)

    def _is_noisy(self) -> bool:
        return self.traffic.questions - self._last_damage <= NOISY

    def _wait(self) -> float:
        """Seconds that an answer may take before its question is repeated."""
        usual = 2 * min(self._taken) + QUIET if self._taken else FIRST_WAIT
        return min(MOST_WAIT, max(LEAST_WAIT if self._is_noisy() else CALM_WAIT, usual))

    def _settle(self) -> None:
        """Take what still comes of the repeats, so that they never pile up before a slow board."""
        end = self.clock() + self.patience_seconds
        while (data := self._read(self._wait())) and self.clock() < end:
            self._frames.add(data)

    def _answer(self, operation: int, wait: float, learn: bool) -> bytes | None:
        """The answer to the question that was sent last; None where nothing comes any more."""
        sent = self.clock()
        until = sent + wait
        while (left := until - self.clock()) > 0:
            data = self._read(left)
            self._heard += len(data)
            if data and not self._is_noisy():
                until = max(until, self.clock() + FLOWING)
            for frame in self._frames.add(data):
                payload = opened(frame)
                if payload is None:
                    self.traffic.damaged += 1
                    self._last_damage = self.traffic.questions
                    until = self.clock() + QUIET
                elif payload[0] != self._sequence:
                    continue  # of a repeat of the question before
                if learn:
                    self._taken.append(self.clock() - sent)
                    learn = False
                if payload is not None and payload[1] == operation | ANSWER:
                    return payload[2:]
                if payload is not None and payload[1] == REFUSED:
                    self._refused(operation, payload[2:])
        return None

    def _read(self, seconds: float) -> bytes:
        try:
            return self.stream.read(READ_BYTES, seconds)
        except OSError as error:
            raise self._gone(error) from None

    def _write(self, frame: bytes) -> None:
        try:
            self.stream.write(frame)
        except OSError as error:
            raise self._gone(error) from None

    def _gone(self, error: OSError) -> BoardError:
        return BoardError(
            f"the connection to the board at {self.name} broke off",
            why=error.strerror or str(error) or "it was closed",
            fix="plug the board in again and look whether its port has changed",
        )  # fmt: skip

    def _refused(self, operation: int, body: bytes) -> None:
        reason = body[0] if body else 0
        if reason == NO_SESSION:
            raise BoardError(
                f"the board at {self.name} was reset in the middle", why="it no longer knows what was sent to it",
                fix="look at its supply, its watchdog and its fault handlers, then run again",
            )  # fmt: skip
        raise UsageError(
            f"the monitor at {self.name} refuses a request", why=f"operation {operation} gave the reason {reason}",
            fix="write the monitor again with 'compile --project monitor' of this release, and flash it",
        )  # fmt: skip

    def _silence(self, operation: int) -> BoardError:
        if operation != HELLO:
            return BoardError(
                f"the board at {self.name} hangs", why="it answered before and does not any more",
                fix="reset it; with --layers the error names the layer behind which it stopped",
            )  # fmt: skip
        if self._heard:
            return BoardError(
                f"the board at {self.name} does not speak the monitor's protocol",
                why=f"{self._heard} bytes came, and none were a frame",
                fix="check --baud, and that the firmware calls the monitor of this project",
            )  # fmt: skip
        return BoardError(
            f"no board answers at {self.name}", why=f"nothing came for {self.patience_seconds:g} s",
            fix="check the cable and the port, reset the board, and that its firmware calls the monitor",
        )  # fmt: skip
