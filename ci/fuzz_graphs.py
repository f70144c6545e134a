"""Random networks through the compiler, their C against the semantics: quantised ones bit for bit, floats in bounds.

python ci/fuzz_graphs.py --count 2000            seeds 0 to 1999 of both kinds
python ci/fuzz_graphs.py --kind float --seed 7   one seed alone
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from tilewright.conformance.fuzz import Fuzzed, fuzz
from tilewright.plugins import platform

BATCH = 50


def batch(first: int, count: int, name: str, quantised: bool) -> Fuzzed:
    with tempfile.TemporaryDirectory() as folder:
        return fuzz(range(first, first + count), platform(name), Path(folder), quantised=quantised)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=2000, help="networks of each kind")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seed", type=int, help="this seed alone")
    parser.add_argument("--kind", choices=("quantised", "float", "both"), default="both")
    parser.add_argument("--platform", default="generic", help="whose kernels")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    arguments = parser.parse_args()
    first, count = (arguments.first, arguments.count) if arguments.seed is None else (arguments.seed, 1)
    starts = range(first, first + count, BATCH)
    sizes = [min(BATCH, first + count - start) for start in starts]
    wrong = False
    for kind in ("quantised", "float"):
        if arguments.kind not in (kind, "both"):
            continue
        begun = time.monotonic()
        with ProcessPoolExecutor(arguments.jobs, mp_context=multiprocessing.get_context("fork")) as pool:
            work = partial(batch, name=arguments.platform, quantised=kind == "quantised")
            parts = []
            for part in pool.map(work, starts, sizes):
                parts.append(part)
                for text in part.differences:
                    print(f"{kind} {text}", flush=True)
        differences = sum(len(part.differences) for part in parts)
        networks, layers, elements = (
            sum(getattr(part, name) for part in parts) for name in ("networks", "layers", "elements")
        )
        print(
            f"{kind}: seeds {first} to {first + count - 1}, {networks} networks, {layers} layers, {elements} results, "
            f"{differences} differences, {time.monotonic() - begun:.0f} s",
            flush=True,
        )
        wrong |= bool(differences)
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
