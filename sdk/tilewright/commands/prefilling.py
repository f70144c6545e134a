"""`--prefill N`: the network that reads N tokens of a prompt, put into one image with that of one token."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tilewright.commands.common import existing, whole
from tilewright.errors import UsageError

KIT, LENGTH = "_kit", 32


def add_prefill(group: argparse._ArgumentGroup) -> None:
    """The option, where networks of one image are spoken of."""
    group.add_argument(
        "--prefill", metavar="N", type=whole,
        help="also the network that reads N tokens of a prompt in one call, from the same weights into the same caches",
    )  # fmt: skip


@contextmanager
def with_prefill(arguments: argparse.Namespace) -> Iterator[None]:
    """Let the verb see the file of the network of several tokens behind that of one, and a bundle of both."""
    count = getattr(arguments, "prefill", None)
    if count is None:
        yield
        return
    if len(arguments.models) != 1:
        raise UsageError("--prefill", why="it is derived from one network, and several are named", fix="name one")
    from tilewright.compile import model_name
    from tilewright.frontend.names import c_identifier
    from tilewright.frontend.states import AUTO, NONE, parse_pairs
    from tilewright.prefill.files import SUFFIX, write_prefill

    source: Path = arguments.models[0]
    existing(source)
    name = c_identifier(model_name(source), set(), LENGTH - len(SUFFIX))
    try:
        pairs = [pair for text in arguments.state if text not in (AUTO, NONE) for pair in parse_pairs(text)]
    except ValueError as error:
        raise UsageError("--state", why=str(error), fix="write input=output,..., auto or none") from None
    if not arguments.state or NONE in arguments.state:
        raise UsageError("--prefill", why="the caches are its states, and none are named", fix="pass --state auto")
    with tempfile.TemporaryDirectory(prefix="tilewright-prefill-") as folder:
        file = Path(folder) / f"{name}{SUFFIX}.onnx"
        write_prefill(source, file, count, pairs)
        arguments.floats = getattr(arguments, "floats", [source])
        arguments.models = [source, file]
        arguments.bundle = arguments.bundle or c_identifier(f"{name}{KIT}", set(), LENGTH)
        yield
