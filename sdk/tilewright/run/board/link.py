"""One question and its answer over a stream that damages bytes: sequence numbers, repeats, time limits."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from tilewright.errors import BoardError, UsageError
from tilewright.run.board.framing import Frames, framed, opened
from tilewright.run.board.protocol import ANSWER, HELLO, NO_SESSION, REFUSED
from tilewright.run.board.stream import ByteStream

FIRST_WAIT, LEAST_WAIT, MOST_WAIT = 0.05, 0.003, 0.25
"""Seconds after which a question is repeated: before any answer, and the limits of what is learned from answers."""
QUIET = 0.002
"""Seconds of silence behind a damaged frame after which the question is repeated."""
SILENT, SLOWER = 4, 1.5
"""Repeats without a byte coming back after which the waits for an inference grow, and by how much: it takes time."""
BABBLE = 12
"""Times the patience that a question may take while bytes come back of which none is its answer."""
NOISY, CALM_WAIT, COPIES = 32, 0.03, 4
"""Questions behind a damaged frame for which the line counts as bad; elsewhere one waits a little longer, and on a bad
line a repeat is sent several times at once: the monitor does nothing twice."""
ANSWER_BYTES = 24
"""Of most answers on the line."""
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
        self, stream: ByteStream, name: str, patience_seconds: float = 5.0,
        byte_seconds: float = 0.0, clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        """`name` is what messages call the board, which hangs where it says nothing for `patience_seconds`; a byte
        takes `byte_seconds` on the line."""
        self.byte_seconds, self._last_damage = byte_seconds, -NOISY
        self.stream, self.name, self.patience_seconds, self.clock = stream, name, patience_seconds, clock
        self.traffic = Traffic()
        self._frames, self._sequence, self._wait, self._heard = Frames(), 0, FIRST_WAIT, 0

    def ask(
        self, operation: int, body: bytes = b"", *, seconds: float | None = None, tries: int = 0,
        answer_bytes: int = ANSWER_BYTES,
    ) -> bytes | None:  # fmt: skip
        """The body of the answer. None where `tries` repeats brought none; without that, BoardError once nothing has
        come back for the link's patience, or for `seconds`, the time that the board may compute.

        BoardError where the stream is gone or the board was reset, UsageError where it refuses the question.
        """
        self._sequence = self._sequence % 255 + 1
        frame = framed(bytes([self._sequence, operation]) + body)
        patience = max(seconds or 0.0, self.patience_seconds)
        begun = last_heard = self.clock()
        on_line = (len(frame) + answer_bytes) * self.byte_seconds
        wait, attempt, silent = self._wait_for(on_line), 0, 0
        self.traffic.questions += 1
        while self.clock() < min(last_heard + patience, begun + BABBLE * patience):
            heard = self._heard
            copies = COPIES if attempt > 1 and self._is_noisy() else 1
            self._write(frame if attempt == 0 else copies * (b"\0" + frame))
            answer = self._answer(operation, wait, on_line)
            if answer is not None:
                if attempt and seconds is None and not self._is_noisy():
                    self._wait = min(MOST_WAIT, 1.5 * (self.clock() - begun))  # no line is bad: the board is slow
                return answer
            attempt += 1
            self.traffic.repeats += 1
            if tries and attempt >= tries:
                return None
            if self._heard != heard:
                last_heard, silent, wait = self.clock(), 0, self._wait_for(on_line)
            else:
                silent += 1
                wait = min(MOST_WAIT, wait * SLOWER) if seconds is not None and silent > SILENT else wait
        raise self._silence(operation)

    def _is_noisy(self) -> bool:
        return self.traffic.questions - self._last_damage <= NOISY

    def _wait_for(self, on_line: float) -> float:
        return (self._wait if self._is_noisy() else max(self._wait, CALM_WAIT)) + on_line

    def _answer(self, operation: int, wait: float, on_line: float) -> bytes | None:
        """The answer to the question that was sent last; None where it did not come in time."""
        sent = self.clock()
        until = sent + wait
        while (left := until - self.clock()) > 0:
            data = self._read(left)
            self._heard += len(data)
            for frame in self._frames.add(data):
                payload = opened(frame)
                self._learn(self.clock() - sent - on_line)
                if payload is None:
                    self.traffic.damaged += 1
                    self._last_damage = self.traffic.questions
                    until = min(until, self.clock() + QUIET)
                elif payload[0] == self._sequence and payload[1] == operation | ANSWER:
                    return payload[2:]
                elif payload[0] == self._sequence and payload[1] == REFUSED:
                    self._refused(operation, payload[2:])
        return None

    def _learn(self, taken: float) -> None:
        """The next waits go by how fast frames come back; an answer to an earlier repeat makes them too short only."""
        self._wait = max(LEAST_WAIT, min(self._wait, 0.5 * self._wait + 0.5 * (3 * taken + QUIET)))

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
                f"the board at {self.name} was reset in the middle", why="it has forgotten what was sent to it",
                fix="look at its supply, its watchdog and its fault handlers, then run again",
            )  # fmt: skip
        raise UsageError(
            f"the monitor at {self.name} refuses a request", why=f"operation {operation} gave the reason {reason}",
            fix="write the monitor anew with 'compile --project monitor' of this release, and flash it",
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
