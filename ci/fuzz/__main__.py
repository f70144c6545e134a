"""Mutated models through the frontend and the passes: a model or one sentence, never a traceback, a hang or a crash.

    python ci/fuzz [--count N] [--seed S] [--start I] [--through passes|cli|c] [--keep DIR]

Model I of seed S is always the same. Each has ten seconds of the processor (on a busy machine a clock on the wall says
little), two minutes of waiting and two gigabytes. Exit 1 where one of them failed.
"""

from __future__ import annotations

import argparse
import os
import resource
import signal
import sys
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

from mutate import mutated
from routes import ROUTES
from seeds import seed_models

SECONDS = 10
WAITING_SECONDS = 120
MEMORY_BYTES = 2 << 30


class Hang(BaseException):
    """A model took longer than it may; no code of ours catches this."""


def model(seed: int, index: int, seeds: list[bytes]) -> bytes:
    """Model `index` of the sequence that `seed` starts."""
    random = Random(f"{seed}/{index}")
    return mutated(random.choice(seeds), random)


def outcome(content: bytes, route: Callable[[bytes], str]) -> str:
    """What the route says, or `FAILED ...` with what went wrong."""
    for number in (signal.SIGPROF, signal.SIGALRM):
        signal.signal(number, _raise_hang)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)  # counts this process's own time, in user code and in the system
    signal.alarm(WAITING_SECONDS)
    try:
        return route(content)
    except Hang as hang:
        return f"FAILED: no answer in {hang}\n{traceback.format_exc(limit=-6)}"
    except Exception:
        return f"FAILED with a traceback\n{traceback.format_exc(limit=-6)}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)


def _raise_hang(number: int, _frame: object) -> None:
    used = f"{SECONDS} s of the processor" if number == signal.SIGPROF else f"{WAITING_SECONDS} s on the clock"
    raise Hang(used)


def run_range(
    seed: int, start: int, stop: int, seeds: list[bytes], route: Callable[[bytes], str]
) -> tuple[list[str], int]:
    """The outcomes in a child process, and its exit status: a crash ends the list early."""
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read_end)
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY_BYTES, used + MEMORY_BYTES))
        with os.fdopen(write_end, "w") as stream:
            for index in range(start, stop):
                stream.write(outcome(model(seed, index, seeds), route).replace("\n", "\x1f") + "\n")
                stream.flush()
        os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end) as stream:
        outcomes = [line.rstrip("\n").replace("\x1f", "\n") for line in stream]
    return outcomes, os.waitpid(child, 0)[1]


def main() -> int:
    """Run the models, print a summary, return the exit code."""
    parser = argparse.ArgumentParser(prog="python ci/fuzz", description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--keep", type=Path, default=None, help="write the models that failed into this folder")
    parser.add_argument("--through", choices=sorted(ROUTES), default="passes", help="how far each model goes")
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else int.from_bytes(os.urandom(4), "little")
    print(f"seed {seed}, models {options.start} to {options.start + options.count - 1}", flush=True)
    route = ROUTES[options.through]
    seeds = [proto.SerializeToString() for proto in seed_models()]
    for proto in seeds:
        outcome(proto, route)  # what is imported lazily is imported once, before the processes part
    counts: Counter[str] = Counter()
    index, stop = options.start, options.start + options.count
    while index < stop:
        outcomes, status = run_range(seed, index, stop, seeds, route)
        if status:
            outcomes.append(f"FAILED: the process ended with status {status}")
        for verdict in outcomes:
            counts[verdict.split("\n")[0].split(":")[0]] += 1
            if verdict.startswith("FAILED"):
                print(f"model {index} of seed {seed}: {verdict}", flush=True)
                if options.keep:
                    options.keep.mkdir(parents=True, exist_ok=True)
                    (options.keep / f"{seed}_{index}.onnx").write_bytes(model(seed, index, seeds))
            index += 1
    for kind, count in sorted(counts.items()):
        print(f"{count:7} {kind}")
    return 1 if any(kind.startswith("FAILED") for kind in counts) else 0


if __name__ == "__main__":
    sys.exit(main())
