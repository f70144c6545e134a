"""Prints the lowest version that pyproject.toml allows of every package of the main path, for pip.

python ci/lowest.py >lowest.txt
python ci/lowest.py --any >needed.txt   # the same packages in every version that is allowed
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
EXTRAS = ("verify", "cli", "run")
REQUIREMENT = re.compile(r"([a-z0-9-]+)>=([0-9.]+),<[0-9]+")


def requirements(file: Path = PROJECT) -> Iterator[str]:
    """What the package needs, and what its extras of the main path need."""
    project = tomllib.loads(file.read_text(encoding="utf-8"))["project"]
    yield from project["dependencies"]
    for extra in EXTRAS:
        yield from project["optional-dependencies"][extra]


def lowest(requirement: str) -> str:
    """A requirement with the lowest version that it allows; ValueError where it has not both bounds."""
    parts = REQUIREMENT.fullmatch(requirement)
    if parts is None:
        raise ValueError(f"'{requirement}' is not NAME>=LOWEST,<MAJOR")
    return f"{parts[1]}=={parts[2]}"


if __name__ == "__main__":
    any_version = sys.argv[1:] == ["--any"]
    sys.stdout.writelines(f"{each if any_version else lowest(each)}\n" for each in requirements())
