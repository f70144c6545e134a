"""How far the fuzzer takes a model: through the passes, through the command line, or to C that compilers accept."""

from __future__ import annotations

import contextlib
import io
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from tilewright.cli import main
from tilewright.errors import TilewrightError
from tilewright.frontend.load import load
from tilewright.passes.driver import run
from tilewright.passes.quantise.lower import lower

WARNINGS = "-std=c99 -Wall -Wextra -Wconversion -Wpedantic -Wshadow -Werror".split()


def through_passes(content: bytes) -> str:
    """`ok`, the kind of the refusal, or `FAILED ...`."""
    try:
        run(lower(load(content)))
        return "ok"
    except TilewrightError as error:
        if error.code not in (2, 3) or "\n" in str(error):
            return f"FAILED with exit {error.code}: {error}"
        return type(error).__name__


def through_cli(content: bytes, inspect: Callable[[Path], str] = lambda folder: "") -> str:
    """`exit N`, or `FAILED ...`: the exit code must be one of a user's mistakes, and nothing may be half-written."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "model.onnx").write_bytes(content)
        words = ["compile", str(folder / "model.onnx"), "-t", "host", "-o", str(folder / "out")]
        code, text = _answer(words)
        if code not in (0, 2, 3, 4):
            return f"FAILED with exit {code}: {_answer([*words, '-v'])[1]}"
        written = sorted(path.name for path in folder.iterdir())
        if written != (["model.onnx"] if code else ["model.onnx", "out"]):
            return f"FAILED: exit {code}, and in the folder stand {written}"
        if code and (text.count("\n") > 1 or "Traceback" in text):
            return f"FAILED: exit {code} with more than a sentence: {text}"
        fault = "" if code else inspect(folder / "out")
        return f"FAILED: {fault}" if fault else f"exit {code}"


def through_c(content: bytes) -> str:
    """As `through_cli`; what is written must be accepted by gcc without a warning."""
    return through_cli(content, _compiled)


def _answer(words: list[str]) -> tuple[int, str]:
    errors = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(errors):
        try:
            code = main(words)
        except SystemExit as leave:
            code = int(leave.code or 0)
    return code, errors.getvalue()


def _compiled(folder: Path) -> str:
    gcc = shutil.which("gcc")
    if gcc is None:
        return "no gcc is installed, which --through c needs"
    sources = [str(path) for path in sorted((folder / "src").glob("*.c"))]
    done = subprocess.run([gcc, *WARNINGS, "-fsyntax-only", *sources], capture_output=True, text=True, timeout=60)
    return done.stderr


ROUTES: dict[str, Callable[[bytes], str]] = {"passes": through_passes, "cli": through_cli, "c": through_c}
