"""Workers as processes of this machine: each holds one question at a time, so that a dead one loses no other."""

from __future__ import annotations

import signal
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import TypeVar

from tilewright.errors import TilewrightError
from tilewright.sweep.attempt import TRIES, attempt, lost

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class _Worker:
    process: BaseProcess
    pipe: Connection


def on_processes(
    function: Callable[[T], R], questions: Sequence[T], jobs: int
) -> Iterator[tuple[int, R | TilewrightError]]:
    """Answers in the order in which they come. Processes start afresh: solvers' threads do not survive a fork."""
    waiting = deque(range(len(questions)))
    tries: Counter[int] = Counter()
    idle: list[_Worker] = []
    busy: dict[Connection, tuple[_Worker, int]] = {}
    try:
        while waiting or busy:
            while waiting and len(busy) < jobs:
                worker = idle.pop() if idle else _start(function)
                index = waiting.popleft()
                tries[index] += 1
                busy[worker.pipe] = worker, index
                _ask(worker, questions[index])
            for pipe in wait(list(busy)):
                assert isinstance(pipe, Connection)
                worker, index = busy.pop(pipe)
                try:
                    answer = pipe.recv()
                except (EOFError, OSError):
                    why = _end(worker)
                    if tries[index] < TRIES:
                        waiting.append(index)  # behind the others: what kills workers must not hold them up
                        continue
                    answer = lost(why)
                else:
                    idle.append(worker)
                yield index, answer
    finally:
        for worker in [*idle, *(worker for worker, _ in busy.values())]:
            worker.process.terminate()
            _end(worker)


def _start(function: Callable[[T], R]) -> _Worker:
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(theirs, function), daemon=True)
    process.start()
    theirs.close()  # so that its end is seen
    return _Worker(process, ours)


def _ask(worker: _Worker, question: object) -> None:
    try:
        worker.pipe.send(question)
    except (BrokenPipeError, ConnectionResetError):
        return  # it died while it had nothing to do; reading from it says so


def _end(worker: _Worker) -> str:
    """Wait for a process that ends, and say how."""
    worker.pipe.close()
    worker.process.join(10)
    code = worker.process.exitcode
    if code is not None and code < 0:
        return f"it was ended by signal {signal.Signals(-code).name}"
    return f"it ended with {code}"


def _work(pipe: Connection, function: Callable[[T], R]) -> None:
    """What a worker does until the other end closes. Ctrl-C is for the process that asks."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        try:
            question = pipe.recv()
        except EOFError:
            return
        pipe.send(attempt(function, question))
