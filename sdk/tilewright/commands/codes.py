"""`--weights int8` and `int4:32`, `--cache int8` and `int4`: a network in codes in the place of the float one."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tilewright.commands.common import CACHE_BITS, existing, storage_of
from tilewright.errors import UsageError


@contextmanager
def in_codes(arguments: argparse.Namespace) -> Iterator[None]:
    """Let the verb see files of networks in codes; `floats` are those that the user named."""
    words = getattr(arguments, "weights", None)
    if not isinstance(words, str):
        yield
        return
    from tilewright.quantiser.codes import Scheme

    storage_of(words)
    scheme = next((parsed for word in words.split(",") if (parsed := Scheme.parse(word)) is not None), None)
    cache_bits = CACHE_BITS[arguments.cache]
    if scheme is None and not cache_bits:
        _refuse_beside(arguments)
        yield
        return
    from tilewright.quantiser.rewrite import rewrite_file

    sources: Sequence[Path] = arguments.models if "models" in arguments else [arguments.model]
    if arguments.write_codes is not None and len(sources) > 1:
        raise UsageError("--write-codes", why="it names one file, and there are several models", fix="pass one model")
    with tempfile.TemporaryDirectory(prefix="tilewright-codes-") as folder:
        made = []
        for number, source in enumerate(sources):
            existing(source)
            # the model's name may be that of its folder
            file = Path(folder) / str(number) / source.resolve().parent.name / source.name
            file.parent.mkdir(parents=True)
            rewrite_file(source, file, scheme, rows=arguments.activations == "int8", cache_bits=cache_bits)
            made.append(file)
        if arguments.write_codes is not None:
            from tilewright.output.staged import write_bytes

            write_bytes(arguments.write_codes, made[0].read_bytes())
        arguments.floats = list(sources)
        if "models" in arguments:
            arguments.models = made
        else:
            arguments.model = made[0]
        yield


def _refuse_beside(arguments: argparse.Namespace) -> None:
    """Options that mean nothing without codes."""
    for option, given in (("--write-codes", arguments.write_codes is not None), ("--activations",
                          arguments.activations != "int8")):  # fmt: skip
        if given:
            raise UsageError(
                option, why="nothing is to be in codes", fix="also pass --weights int8, int4:32 or --cache int8"
            )
