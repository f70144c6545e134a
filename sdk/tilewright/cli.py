"""The command line: verbs, exit codes, and one sentence for everything that goes wrong.

Results go to standard output or to files, logs and errors to standard error. Nothing heavy is imported here:
`tilewright --help` answers at once.
"""

from __future__ import annotations

import argparse
import errno
import logging
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, NoReturn

from tilewright.commands.answer import Answer
from tilewright.commands.codes import in_codes
from tilewright.commands.common import add_output, overwritten
from tilewright.commands.completion import Completion
from tilewright.commands.ending import ended_by_signals
from tilewright.commands.prefilling import with_prefill
from tilewright.commands.streams import complain, open_streams, say
from tilewright.errors import TilewrightError, UnsupportedError, UsageError
from tilewright.output.unfinished import remove_living
from tilewright.version import VERSION

if TYPE_CHECKING:
    from tilewright.report.codec import Json

VERBS = (
    "check",
    "compile",
    "run",
    "prove",
    "memory",
    "tune",
    "time",
    "train",
    "report",
    "diff",
    "evidence",
    "export-torch",
    "import-torch",
    "convert",
    "quantize",
    "ops",
    "targets",
    "platforms",
    "conform",
    "new-platform",
)
INTERRUPTED = 130
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
OUTSIDE = (*FULL, errno.ENAMETOOLONG, errno.EROFS, errno.EIO, errno.ELOOP, errno.EMFILE, errno.ENFILE)


class _Parser(argparse.ArgumentParser):
    """An argument parser whose errors are ours, so that they reach `--json` too."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, fix=f"see '{self.prog} --help'")


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    top = _Parser(
        prog="tilewright",
        description="Turns an ONNX network into firmware-ready C and proves how much memory it needs.",
        epilog="exit codes: 0 ok, 1 a bug in tilewright, 2 usage, 3 unsupported, 4 does not fit, 5 outputs differ, "
        "6 a tool is missing",
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"tilewright {VERSION}")
    top.add_argument("--completion", action=Completion, metavar="SHELL", help="print completion for bash, zsh or fish")
    verbs = top.add_subparsers(dest="verb", metavar="VERB", required=True)
    for verb in VERBS:
        module = _module(verb)
        one = verbs.add_parser(verb, help=module.SUMMARY, description=module.__doc__, allow_abbrev=False)
        module.add_arguments(one)
        add_output(one)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line; the exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    open_streams()
    with ended_by_signals():
        try:
            return _carried_out(words)
        except KeyboardInterrupt:
            remove_living()
            complain("tilewright: interrupted\n")
            return INTERRUPTED


def _carried_out(words: Sequence[str]) -> int:
    verbose = False
    try:
        chosen = _parsed(words)
        verbose = chosen.verbose
        _log(chosen.verbose, chosen.quiet)
        if spared := overwritten(chosen):
            return _fail(spared, verbose)  # not in JSON, which may be the file
        with _drawn_tables(), in_codes(chosen), with_prefill(chosen):
            answer: Answer = _module(chosen.verb).execute(chosen)
    except TilewrightError as error:
        return _refuse(error, words, verbose)
    except Exception as error:
        return _refuse(_outside(error) or _bug(error, verbose), words, verbose)
    return _told(answer, chosen.json, verbose)


def _drawn_tables() -> AbstractContextManager[None]:
    """Tables as rich draws them where standard output is a terminal."""
    if not sys.stdout.isatty() or os.environ.get("TERM") == "dumb":
        return nullcontext()
    from tilewright.report.styled import looked_at

    return looked_at(True)


def _parsed(words: Sequence[str]) -> argparse.Namespace:
    """The options. Help and version end the program here, once their text is seen gone."""
    try:
        return parser().parse_args(words)
    except SystemExit:
        say("")
        raise


def _told(answer: Answer, json: str | None, verbose: bool) -> int:
    """Print and write an answer; the exit code is that of its error, or else of what kept it from being told."""
    unsaid: list[TilewrightError] = []
    try:
        if json != "-" and answer.text:
            say(answer.text if answer.text.endswith("\n") else answer.text + "\n")
    except UsageError as error:
        unsaid.append(error)
    try:
        if json is not None:
            _write_json(answer.json, json)
    except UsageError as error:
        unsaid.append(error)
    errors = [*unsaid, *([answer.error] if answer.error is not None else [])]
    for told in errors:
        _fail(told, verbose)
    return errors[-1].code if errors else 0


def _outside(error: Exception) -> TilewrightError | None:
    """The error for what the machine does not give, None for a bug in tilewright."""
    if isinstance(error, MemoryError):
        return UnsupportedError(
            "this machine has not enough memory for the network", why=str(error), fix="use a larger machine"
        )
    if isinstance(error, OSError) and error.errno in OUTSIDE:
        place = "" if error.filename is None else f" '{error.filename}'"
        return UsageError(
            f"cannot write{place}" if error.errno in FULL else f"cannot use{place or ' a file'}",
            why=error.strerror or type(error).__name__,
            fix="make room on the disk, in TMPDIR too" if error.errno in FULL else "name another place",
            file="" if error.filename is None else str(error.filename),
        )
    if isinstance(error, FileNotFoundError) and "temporary directory" in str(error):
        return UsageError(
            "there is no temporary folder that can be written", why=error.strerror or "", fix="set TMPDIR to one"
        )
    return None


def _bug(error: Exception, verbose: bool) -> TilewrightError:
    bug = TilewrightError(
        "tilewright failed",
        why=f"{type(error).__name__}: {error}",
        fix="this is a bug in tilewright; the traceback stands above"
        if verbose
        else "this is a bug in tilewright; run the same command with -v for the traceback",
    )
    bug.__cause__ = error
    return bug


def _module(verb: str) -> ModuleType:
    return import_module(f"tilewright.commands.{verb.replace('-', '_')}")


def _log(verbose: bool, quiet: bool) -> None:
    """Send the package's log to standard error, once."""
    logger = logging.getLogger("tilewright")
    logger.handlers = [logging.StreamHandler(sys.stderr)]
    logger.propagate = False
    logger.setLevel(logging.DEBUG if verbose else logging.ERROR if quiet else logging.INFO)


def _write_json(value: Json, place: str) -> None:
    from tilewright.output.staged import write_text
    from tilewright.report.build import dumps

    if place == "-":
        say(dumps(value))
    else:
        write_text(Path(place), dumps(value))


def _refuse(error: TilewrightError, words: Sequence[str], verbose: bool) -> int:
    """Tell an error that ended a command, in JSON too where `--json` was asked for."""
    place = _json_of(words)
    if place is not None:
        from tilewright.report.envelope import error_json

        try:
            _write_json(error_json(error), place)
        except UsageError as second:
            _fail(second, verbose)
    return _fail(error, verbose)


def _json_of(words: Sequence[str]) -> str | None:
    """Where `--json` points, read without the parser, which may be what failed."""
    for index, word in enumerate(words):
        if word == "--":
            return None
        if word == "--json":
            return words[index + 1] if index + 1 < len(words) else None
        if word.startswith("--json="):
            return word.removeprefix("--json=")
    return None


def _fail(error: TilewrightError, verbose: bool) -> int:
    if verbose and error.code == 1:
        complain("".join(traceback.format_exception(error)))
    text = " ".join(str(error).split())
    if verbose and error.where.step:
        text += f" (in step '{error.where.step}')"
    if error.smallest:
        text += " (smallest that fits: " + ", ".join(f"{k}={v}" for k, v in error.smallest.items())
        text += "".join(f", given {k}={v}" for k, v in error.given.items()) + ")"
    head = "tilewright: error:"
    if sys.stderr.isatty() and not os.environ.get("NO_COLOR"):
        head = f"\x1b[1;31m{head}\x1b[0m"
    complain(f"{head} {_visible(text)}\n")
    return error.code


def _visible(text: str) -> str:
    """The text with control characters escaped: names in a model are a stranger's."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


if __name__ == "__main__":
    raise SystemExit(main())
