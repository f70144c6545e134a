"""Follows a page of the documentation: writes its files, runs its commands, and looks for the output it promises."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

BLOCK = re.compile(
    r'^```(?P<kind>\w+)(?: title="(?P<title>[^"]+)")?(?: exit=(?P<code>\d))?\n(?P<text>.*?)^```$', re.M | re.S
)


@dataclass
class Followed:
    """What the commands printed so far, and what went otherwise than the page says."""

    output: str = ""
    faults: list[str] = field(default_factory=list)


def follow(page: str, folder: Path) -> list[str]:
    """Titled blocks become files, `sh` blocks are run line by line, each line of a `text` block must then be there."""
    done = Followed()
    for block in BLOCK.finditer(page):
        if block["title"]:
            place = folder / block["title"]
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(block["text"])
        elif block["kind"] == "sh":
            done.output = ""
            for command in block["text"].splitlines():
                run(command, int(block["code"] or 0), folder, done)
        elif block["kind"] == "text":
            promised = [line for line in block["text"].splitlines() if line.strip()]
            done.faults += [f"not printed: {line}" for line in promised if line not in done.output]
        if done.faults:
            break
    return done.faults


def run(command: str, code: int, folder: Path, done: Followed) -> None:
    """One command of the page, in a shell, as a reader types it."""
    print(f"$ {command}", flush=True)
    ran = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True, check=False)
    print(ran.stdout, flush=True)
    done.output += ran.stdout + ran.stderr
    if ran.returncode != code:
        done.faults.append(f"{command}: exit {ran.returncode}, the page says {code}\n{ran.stderr[-2000:]}")


def main(page: str, folder: str) -> int:
    """Follow `page` in `folder`."""
    faults = follow(Path(page).read_text(), Path(folder))
    print("\n".join(faults) if faults else f"{page}: every command ran and printed what the page promises")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
