"""A few hundred mutated models on every run; `python ci/fuzz` runs any number and prints the seed."""

from __future__ import annotations

import subprocess
import sys

from conftest import ROOT


def fuzz(*options: str) -> str:
    command = [sys.executable, str(ROOT / "ci" / "fuzz"), *options]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_mutated_models_are_loaded_or_refused_in_a_sentence() -> None:
    out = fuzz("--count", "300", "--seed", "7")
    assert out.startswith("seed 7, models 0 to 299\n")
    assert "ok" in out


def test_any_seed_is_printed_and_gives_the_same_again() -> None:
    first = fuzz("--count", "20")
    seed = first.split()[1].rstrip(",")
    assert fuzz("--count", "20", "--seed", seed) == first
