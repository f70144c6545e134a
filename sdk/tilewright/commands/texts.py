"""Options of `run` that have a language model write, and what they mean."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright.commands.common import existing, path, tolerance, whole
from tilewright.errors import UsageError

if TYPE_CHECKING:
    from tilewright.options import ReadingWish, TextWish

BESIDE = ("tokenizer.json", "tokenizer.bin")
"""Where a tokeniser lies beside its model."""


def add_text(parser: argparse.ArgumentParser) -> None:
    """`--generate` and what goes with it."""
    group = parser.add_argument_group("text")
    group.add_argument("--generate", metavar="N", type=whole, help="have a language model write N tokens on the target")
    group.add_argument("--prompt", metavar="TEXT", help="what it goes on from")
    group.add_argument("--text", metavar="FILE", type=path, help="tell the perplexity of this text, and that in floats")
    group.add_argument("--temperature", metavar="T", type=tolerance, help="draw tokens; 0, the default, takes the best")
    group.add_argument("--top-p", metavar="P", type=tolerance, help="draw among the best that add up to P; default: 1")


def text_wish(arguments: argparse.Namespace) -> TextWish | None:
    """The text that is asked for; UsageError where the options contradict one another or no tokeniser is found."""
    from tilewright.options import TextWish
    from tilewright.text.sampler import Sampling

    if arguments.generate is None:
        beside = {"--prompt": arguments.prompt, "--temperature": arguments.temperature, "--top-p": arguments.top_p}
        if option := next((name for name, value in beside.items() if value is not None), None):
            raise UsageError(option, why="nothing is written without --generate", fix="also pass --generate N")
        return None
    _alone("--generate", "writes", arguments)
    sampling = Sampling(
        arguments.temperature or 0.0, 1.0 if arguments.top_p is None else arguments.top_p, arguments.seed
    )  # fmt: skip
    tokenizer = _tokenizer("--generate", arguments)
    tell = None if arguments.quiet else _tell
    return TextWish(tokenizer, arguments.prompt or "", arguments.generate, sampling, tell)


def reading_wish(arguments: argparse.Namespace) -> ReadingWish | None:
    """The text that is to be foreseen; UsageError where no tokeniser is found."""
    from tilewright.options import ReadingWish

    if arguments.text is None:
        return None
    _alone("--text", "reads", arguments)
    existing(arguments.text)
    floats: Path = getattr(arguments, "floats", arguments.models)[0]
    return ReadingWish(_tokenizer("--text", arguments), arguments.text, floats)


def _alone(option: str, does: str, arguments: argparse.Namespace) -> None:
    prompts = option == "--generate" and arguments.prefill is not None
    if "," in arguments.target or (not prompts and (len(arguments.models) != 1 or arguments.bundle is not None)):
        raise UsageError(option, why=f"one network {does}, on one target", fix="run each by itself")


def _tokenizer(option: str, arguments: argparse.Namespace) -> Path:
    given: Path = arguments.tokenizer or _beside(option, getattr(arguments, "floats", arguments.models)[0])
    existing(given)
    return given


def _beside(option: str, model: Path) -> Path:
    for name in BESIDE:
        if (file := model.resolve().parent / name).is_file():
            return file
    raise UsageError(
        f"{option} needs a tokeniser", why=f"neither {' nor '.join(BESIDE)} lies beside {model}",
        fix="name one with --tokenizer",
    )  # fmt: skip


def _tell(text: str) -> None:
    """Write text where progress is told; marks that steer a terminal are shown."""
    plain = "".join(letter if letter.isprintable() or letter == "\n" else "\ufffd" for letter in text)
    sys.stderr.write(plain)
    sys.stderr.flush()
