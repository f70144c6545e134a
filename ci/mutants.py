"""Plants the faults of ci/planted/*.toml, one at a time, and lists those that no test notices.

    bash ci/mutants [--only AREA[/WORD]] [--jobs N] [--again] [--list]

A fault is a text of a source file and what stands there instead; its tests are the ones that cover the place. They are
run on a copy of the tree, once as it is and once with each fault. Verdicts are kept in build/mutants, so a run that was
cut off goes on where it stopped; a fault is judged anew when the file, the fault or its tests change. Exit 1 where
less than 95 % are noticed, or where a fault survives without a reason beside it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).parents[1]
PLANTED = ROOT / "ci" / "planted"
WORK = ROOT / "build" / "mutants"
COPIED = ("sdk", "platforms", "targets", "tests", "ci", "docs", "docker")
PACKAGE = (("sdk/tilewright", ""), ("platforms", "platforms"), ("targets", "targets"))
SECONDS = 900
SHARE_NOTICED = 0.95


@dataclass(frozen=True)
class Fault:
    """One planted fault: `old` stands exactly once in `file`; `survives` is the reason why no test can see it."""

    area: str
    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    survives: str = ""

    def key(self) -> str:
        """Changes with the fault, the file and the tests."""
        texts = [self.old, self.new, (ROOT / self.file).read_text(encoding="utf-8")]
        for test in self.tests:
            place = ROOT / test.split("::")[0]
            texts += [test, *(p.read_text(encoding="utf-8") for p in sorted(_modules(place)))]
        return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:24]


@dataclass(frozen=True)
class Verdict:
    """What became of a fault: noticed, survived, or broken where its tests fail without it; and who noticed."""

    outcome: str
    detail: str = ""


def _modules(place: Path) -> list[Path]:
    return list(place.rglob("*.py")) if place.is_dir() else [place]


def read_faults(folder: Path = PLANTED) -> Iterator[Fault]:
    """Every planted fault, area by area."""
    for path in sorted(folder.glob("*.toml")):
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        for entry in table["fault"]:
            tests = tuple(entry.get("tests", table.get("tests", ())))
            yield Fault(
                path.stem, entry["name"], entry["file"], entry["old"], entry["new"], tests, entry.get("survives", "")
            )


def complaint(fault: Fault) -> str | None:
    """Why a fault cannot be planted; None where it can."""
    if not (ROOT / fault.file).is_file():
        return f"there is no file {fault.file}"
    occurrences = (ROOT / fault.file).read_text(encoding="utf-8").count(fault.old)
    if occurrences != 1:
        return f"its text stands {occurrences} times in {fault.file}"
    if fault.old == fault.new:
        return "it changes nothing"
    missing = [test for test in fault.tests if not (ROOT / test.split("::")[0]).exists()]
    if missing or not fault.tests:
        return f"its tests are missing: {', '.join(missing) or 'none is named'}"
    return None


class Copy:
    """A copy of the tree with the package as an installation holds it, where one fault at a time is planted."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.package = folder / "package" / "tilewright"
        self._stamps = count(1)
        shutil.rmtree(folder, ignore_errors=True)
        ignored = shutil.ignore_patterns("__pycache__", "cache")
        for name in COPIED:
            shutil.copytree(ROOT / name, folder / name, ignore=ignored)
        for path in (p for p in ROOT.iterdir() if p.is_file()):
            shutil.copy2(path, folder / path.name)
        for source, inside in PACKAGE:
            shutil.copytree(ROOT / source, self.package / inside, ignore=ignored, dirs_exist_ok=True)

    def write(self, file: str, text: str) -> None:
        """Change a file of the sources and of the package; under a new date, so that no byte code is stale."""
        for path in self._places(file):
            path.write_text(text, encoding="utf-8")
            date = path.stat().st_mtime + 2 * next(self._stamps)
            os.utime(path, (date, date))

    def _places(self, file: str) -> Iterator[Path]:
        yield self.folder / file
        for source, inside in PACKAGE:
            if file.startswith(source + "/"):
                yield self.package / inside / file.removeprefix(source + "/")

    def run(self, tests: Sequence[str]) -> tuple[int, str]:
        """Exit status of pytest, -1 past the limit, and the first test that fails."""
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join((str(self.package.parent), "ci")),
            "PYTHONPYCACHEPREFIX": str(self.folder / "bytecode"),
        }
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--tb=no", *tests]
        try:
            done = subprocess.run(
                command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=SECONDS
            )
        except subprocess.TimeoutExpired:
            return -1, f"no answer in {SECONDS} s"
        lines = done.stdout.splitlines()
        failed = next((line.split(" - ")[0] for line in lines if line.startswith(("FAILED", "ERROR"))), "")
        return done.returncode, failed or (lines[-1] if lines else done.stderr[-200:])


class Judge:
    """Runs faults on copies and keeps the verdicts in a file, one line each."""

    def __init__(self, folder: Path, jobs: int, again: bool) -> None:
        self.file = folder / "verdicts.jsonl"
        folder.mkdir(parents=True, exist_ok=True)
        self.known: dict[str, Verdict] = {} if again else dict(_verdicts(self.file))
        self.sound: dict[tuple[str, ...], Verdict | None] = {}
        self.copies: SimpleQueue[Copy] = SimpleQueue()
        for number in range(jobs):
            self.copies.put(Copy(folder / f"copy{number}"))

    def judge(self, fault: Fault) -> Verdict:
        """The verdict on one fault, from the file where it is known."""
        key = fault.key()
        if key not in self.known:
            copy = self.copies.get()
            try:
                self.known[key] = self._planted(copy, fault)
            finally:
                copy.write(fault.file, (ROOT / fault.file).read_text(encoding="utf-8"))
                self.copies.put(copy)
            with self.file.open("a", encoding="utf-8") as stream:
                verdict = self.known[key]
                stream.write(json.dumps({"key": key, "outcome": verdict.outcome, "detail": verdict.detail}) + "\n")
        verdict = self.known[key]
        print(f"{verdict.outcome:9} {fault.area}: {fault.name}  [{verdict.detail}]", flush=True)
        return verdict

    def _planted(self, copy: Copy, fault: Fault) -> Verdict:
        unfit = complaint(fault)
        if unfit:
            return Verdict("broken", unfit)
        if fault.tests not in self.sound:
            status, detail = copy.run(fault.tests)
            self.sound[fault.tests] = None if status == 0 else Verdict("broken", f"without the fault: {detail}")
        if (unsound := self.sound[fault.tests]) is not None:
            return unsound
        text = (ROOT / fault.file).read_text(encoding="utf-8")
        copy.write(fault.file, text.replace(fault.old, fault.new))
        status, detail = copy.run(fault.tests)
        if status == 0:
            return Verdict("survived", detail)
        return Verdict("broken" if status in (2, 4, 5) and "ERROR" not in detail else "noticed", detail)


def _verdicts(file: Path) -> Iterator[tuple[str, Verdict]]:
    if file.exists():
        for line in file.read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            if entry["outcome"] != "broken":
                yield entry["key"], Verdict(entry["outcome"], entry["detail"])


def table(judged: Sequence[tuple[Fault, Verdict]]) -> Iterator[str]:
    """Counts by area, then every fault that was not noticed, with its reason."""
    yield f"{'area':16} {'planted':>8} {'noticed':>8} {'survived':>9} {'broken':>7}"
    areas = sorted({fault.area for fault, _ in judged})
    for area in [*areas, "all"]:
        outcomes = [verdict.outcome for fault, verdict in judged if area in ("all", fault.area)]
        counts = [outcomes.count(outcome) for outcome in ("noticed", "survived", "broken")]
        yield f"{area:16} {len(outcomes):8} {counts[0]:8} {counts[1]:9} {counts[2]:7}"
    for fault, verdict in judged:
        if verdict.outcome != "noticed":
            reason = fault.survives or "no reason is given"
            yield f"{verdict.outcome}: {fault.area}: {fault.name} ({fault.file}): {verdict.detail}; {reason}"


def main() -> int:
    """Judge the faults, print the table, return the exit code."""
    parser = argparse.ArgumentParser(prog="bash ci/mutants", description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--only", action="append", default=[], help="AREA, or AREA/WORD of the fault's name")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="faults at once, each on its own copy")
    parser.add_argument("--again", action="store_true", help="forget what was found before")
    parser.add_argument("--list", action="store_true", help="only print the faults")
    options = parser.parse_args()
    faults = [f for f in read_faults() if not options.only or any(_chosen(f, only) for only in options.only)]
    if options.list:
        print("\n".join(f"{fault.area}: {fault.name} ({fault.file})" for fault in faults))
        return 0
    judge = Judge(WORK, max(1, options.jobs), options.again)
    with ThreadPoolExecutor(max(1, options.jobs)) as pool:
        judged = list(zip(faults, pool.map(judge.judge, faults), strict=True))
    print("\n" + "\n".join(table(judged)))
    noticed = sum(verdict.outcome == "noticed" for _, verdict in judged)
    unexplained = [fault for fault, verdict in judged if verdict.outcome != "noticed" and not fault.survives]
    return 1 if unexplained or noticed < SHARE_NOTICED * len(judged) else 0


def _chosen(fault: Fault, only: str) -> bool:
    area, _, word = only.partition("/")
    return fault.area == area and word in fault.name


if __name__ == "__main__":
    sys.exit(main())
