"""Every test case of the onnx package through our C: a page, and a status that says whether the promise holds."""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tilewright.conformance.node_cases import SETS, Case, Verdict, collect, judge
from tilewright.conformance.table import page
from tilewright.plugins import platform

PAGE = Path(__file__).parents[1] / "docs" / "conformance.md"
LEAST = 1650
CASES: list[Case] = []


def part(first: int, step: int, name: str) -> list[Verdict]:
    with tempfile.TemporaryDirectory() as folder:
        return judge(CASES[first::step], platform(name), Path(folder))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", default=",".join(SETS), help="which sets, between commas; the page needs all")
    parser.add_argument("--match", default="", help="only cases with this in their name; nothing is written")
    parser.add_argument("--platform", default="generic", help="whose kernels")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    arguments = parser.parse_args()
    begun = time.monotonic()
    CASES.extend(case for case in collect(tuple(arguments.sets.split(","))) if arguments.match in case.name)
    with ProcessPoolExecutor(arguments.jobs, mp_context=multiprocessing.get_context("fork")) as pool:
        parts = list(
            pool.map(
                part, range(arguments.jobs), [arguments.jobs] * arguments.jobs, [arguments.platform] * arguments.jobs
            )
        )
    verdicts = [parts[i % arguments.jobs][i // arguments.jobs] for i in range(len(CASES))]
    whole = not arguments.match and arguments.sets == ",".join(SETS)
    if whole:
        PAGE.write_text(page(verdicts), encoding="utf-8")
    counts = Counter((v.group, v.result) for v in verdicts)
    for (group, result), count in sorted(counts.items()):
        print(f"{group:18} {result:8} {count:5}")
    for verdict in verdicts:
        if verdict.result == "wrong" or arguments.match:
            print(f"{verdict.result}: {verdict.name}: {verdict.reason}")
    print(f"{time.monotonic() - begun:.0f} s")
    wrong = any(v.result == "wrong" for v in verdicts)
    return int(wrong or (whole and counts["node", "passes"] < LEAST))


if __name__ == "__main__":
    sys.exit(main())
