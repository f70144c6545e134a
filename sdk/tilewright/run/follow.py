"""What a running image writes to a file, told as it comes."""

from __future__ import annotations

import codecs
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

PAUSE_SECONDS = 0.1


@contextmanager
def followed(file: Path, tell: Callable[[str], None] | None) -> Iterator[None]:
    """Tell what is written to a file in UTF-8 while the block runs; nothing where nobody asks."""
    if tell is None:
        yield
        return
    over = threading.Event()
    reader = threading.Thread(target=_follow, args=(file, tell, over), daemon=True)
    reader.start()
    try:
        yield
    finally:
        over.set()
        reader.join()


def _follow(file: Path, tell: Callable[[str], None], over: threading.Event) -> None:
    decoder, at, last = codecs.getincrementaldecoder("utf-8")("replace"), 0, False
    while True:
        last = over.is_set()
        if file.is_file():
            with file.open("rb") as stream:
                stream.seek(at)
                new = stream.read()
            at += len(new)
            if text := decoder.decode(new, final=last):
                tell(text)
        if last:
            return
        over.wait(PAUSE_SECONDS)
