"""The images of `docker/` and the lock file that they hold.

No engine is at hand here, so the files are linted and held against `ci/test`; `ci/test` itself installs by the lock.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from conftest import ROOT
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

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
    text = (ROOT / "ci" / "test").read_text().partition("apt_install ")[2].partition("\ntest_environment")[0]
    pairs = re.sub(r'\\\n|"', " ", text).split()
    return [set(pair.rpartition("=")[2].split(",")) for pair in pairs if "=" in pair]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_it_keeps_the_rules(file: Path) -> None:
    words = [word for word, _ in instructions(file)]
    assert words[0] in ("ARG", "FROM")
    assert set(words) <= {"ARG", "FROM", "RUN", "WORKDIR", "COPY", "CMD", "ENV", "SHELL"}
    assert of(file, "FROM") == ["${BASE}"], "a digest may be given for it"
    (base,) = of(file, "ARG")
    assert re.search(r"^BASE=[\w./-]+:(?!latest)[\w.-]+(@sha256:[0-9a-f]{64})?$", base)
    for run in of(file, "RUN"):
        if "apt-get install" in run:
            assert "apt-get update &&" in run
            assert "--no-install-recommends" in run
            assert " -y" in run
            assert run.endswith("rm -rf /var/lib/apt/lists/*")
    assert all(place.startswith("/") for place in of(file, "WORKDIR"))
    if file.stem != "fresh":  # what a container runs lies in the image: nothing is left to be fetched
        assert words[words.index("COPY") + 1 : -1] == ["RUN", "ENV"]
        assert of(file, "RUN")[-1] == "bash ci/image /opt/tilewright"
        assert of(file, "ENV")[-1].startswith("PATH=/opt/tilewright/bin:")
    (command,) = of(file, "CMD")
    assert "ci/test" in json.loads(command)[-1]  # the form without a shell is JSON
    for script in re.findall(r"bash (ci/[\w-]+)", command):
        assert (ROOT / script).is_file()


@pytest.mark.parametrize("file", [file for file in FILES if file.stem != "fresh"], ids=lambda file: file.stem)
def test_it_brings_what_ci_test_needs(file: Path) -> None:
    base = of(file, "ARG")[0].removeprefix("BASE=").partition(":")[0]
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


Lock = dict[str, list[tuple[str, str, int]]]
"""By package: version, marker and number of hashes of each entry."""


def locked(text: str) -> Lock:
    """The entries of a lock file; an entry that pins nothing has the version ""."""
    found: Lock = {}
    for entry in re.split(
        r"\n(?=\S)", "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    ):
        head, *options = [word.strip() for word in entry.replace("\\\n", "\0").split("\0")]
        name, _, marker = head.partition(";")
        requirement = Requirement(name)
        (version,) = re.findall(r"^==([\w.+]+)$", str(requirement.specifier)) or [""]
        hashes = sum(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", word) is not None for word in options)
        found.setdefault(canonicalize_name(requirement.name), []).append((version, marker, hashes))
    return found


def lacking(lock: Lock, asked: list[str]) -> list[str]:
    """Requirements that the lock does not meet, and entries without version or hash."""
    bad = [name for name, entries in lock.items() for version, _, hashes in entries if not version or not hashes]
    for text in asked:
        requirement = Requirement(text)
        entries = lock.get(canonicalize_name(requirement.name), [])
        if not entries or not all(requirement.specifier.contains(version) for version, _, _ in entries if version):
            bad.append(text)
    return bad


def test_the_lock_pins_what_the_tests_need() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (extras,) = re.findall(r"^LOCKED_EXTRAS=(.*)$", (ROOT / "ci" / "setup.sh").read_text(), re.M)
    asked = [one for extra in extras.split(",") for one in project["optional-dependencies"][extra]]
    asked += project["optional-dependencies"]["distributed"] + project["dependencies"]
    asked = [one for one in asked if not one.startswith("tilewright[")]
    text = (ROOT / "ci" / "lock.txt").read_text()
    assert "://" not in text
    assert lacking(locked(text), asked) == [], "run bash ci/lock"
    assert lacking(locked(re.sub("sha256:", "md5:", text)), []), "an entry without hashes is seen"
    assert lacking(locked(text.replace("\nonnx==1.", "\nonnx==0.")), asked) == ["onnx>=1.17.0,<2"]


def test_ci_test_and_the_images_install_by_the_lock() -> None:
    texts = {name: (ROOT / "ci" / name).read_text() for name in ("setup.sh", "test", "image")}
    assert 'environment .venv-test "$extras" ci/lock.txt' in texts["setup.sh"]
    assert '--require-hashes --requirement "$lock"' in texts["setup.sh"]
    assert all("\ntest_environment\n" in texts[name] for name in ("test", "image"))
    assert "--no-deps build/wheel/*.whl" in texts["image"], "the wheel brings no package that the lock does not know"
