"""The images of `docker/`: no engine is at hand here, so their files are linted and held against `ci/test`."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

FILES = sorted((ROOT / "docker").glob("*.Dockerfile"))
IGNORED = ("DL3008",)  # the release of the base image pins its packages
OF_A_VENDOR = {  # Ubuntu has chromium as a snap alone, the test that opens a page says so; its sanitizers lie elsewhere
    "nvidia/cuda": {"chromium"},
    "ghcr.io/pulp-platform/deeploy": {"chromium", "libclang-rt-dev"},
}


def instructions(file: Path) -> list[tuple[str, str]]:
    """Word and rest of each instruction, continued lines joined, comments left out."""
    lines = [line for line in file.read_text().splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    pairs = [line.partition(" ") for line in joined.splitlines() if line.strip()]
    return [(word, rest.strip()) for word, _, rest in pairs]


def of(file: Path, word: str) -> list[str]:
    return [rest for one, rest in instructions(file) if one == word]


def installed(file: Path) -> set[str]:
    """The packages that an image's instructions name."""
    found: set[str] = set()
    for run in of(file, "RUN"):
        for command in re.split(r"&&|;", run):
            if "apt-get install" in command:
                words = command.partition("apt-get install")[2].split()
                found |= {word for word in words if not word.startswith("-")}
    return found


def wanted() -> list[set[str]]:
    """What `ci/test` installs where it may: for each tool the names under which distributions have it."""
    text = (ROOT / "ci" / "test").read_text().partition("apt_install ")[2].partition("\nif ")[0]
    pairs = re.sub(r'\\\n|"', " ", text).split()
    return [set(pair.rpartition("=")[2].split(",")) for pair in pairs if "=" in pair]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_it_keeps_the_rules(file: Path) -> None:
    words = [word for word, _ in instructions(file)]
    assert words[0] in ("ARG", "FROM")
    assert set(words) <= {"ARG", "FROM", "RUN", "WORKDIR", "COPY", "CMD", "ENV", "SHELL"}
    for base in of(file, "FROM"):
        assert re.search(r":(?!latest)[\w.-]+$", base) or base == "${BASE}"
    for run in of(file, "RUN"):
        if "apt-get install" in run:
            assert "apt-get update &&" in run
            assert "--no-install-recommends" in run
            assert " -y" in run
            assert run.endswith("rm -rf /var/lib/apt/lists/*")
    assert all(place.startswith("/") for place in of(file, "WORKDIR"))
    (command,) = of(file, "CMD")
    assert "ci/test" in json.loads(command)[-1]  # the form without a shell is JSON
    for script in re.findall(r"bash (ci/[\w-]+)", command):
        assert (ROOT / script).is_file()


@pytest.mark.parametrize("file", [file for file in FILES if file.stem != "fresh"], ids=lambda file: file.stem)
def test_it_brings_what_ci_test_needs(file: Path) -> None:
    base = (
        next(iter(of(file, "FROM")))
        .replace("${BASE}", next(iter(of(file, "ARG")), "").partition("=")[2])
        .partition(":")[0]
    )
    packages = {re.sub(r"-\d+-dev$", "-dev", package) for package in installed(file)}
    lacking = [names for names in wanted() if not names & (packages | OF_A_VENDOR.get(base, set()))]
    assert not lacking, f"{file.name} does not install {lacking}"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_hadolint_finds_nothing(file: Path) -> None:
    """The linter comes with the tests' packages on x86-64 alone; elsewhere the rules above must do."""
    linter = shutil.which("hadolint", path=str(Path(sys.executable).parent)) or shutil.which("hadolint")
    if linter is not None:
        ignored = [word for code in IGNORED for word in ("--ignore", code)]
        done = subprocess.run([linter, *ignored, str(file)], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout
