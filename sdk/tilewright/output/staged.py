"""Writes what the user asked for, whole or not at all: it appears by renaming, and only where the user said."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from tilewright.errors import UsageError
from tilewright.output.publishing import Refusal, clean, exchangeable, publish
from tilewright.output.unfinished import remove_abandoned, unfinished_file, unfinished_folder, uninterrupted


@contextmanager
def staged(folder: Path, refusal: Refusal | None = None) -> Iterator[Path]:
    """An empty folder to write into; on success its files replace those of `folder`, all at once, on error none does.

    Files that `folder` holds already and that are not written again stay. `refusal` protects files that may not be
    replaced. A folder that did not exist is removed again on error. UsageError where the folder cannot be written.
    """
    created: list[Path] = []
    try:
        with suppress(OSError):
            clean(folder.resolve())
        real = _make_parents(folder, created)
        whole = exchangeable(real) and _writable(real.parent)
        if not real.exists():
            created.insert(0, real)
            if not whole:
                real.mkdir()
        with unfinished_folder(real.parent if whole else real) as unfinished:
            tree = unfinished / "new"
            tree.mkdir()
            yield tree
            with uninterrupted():
                publish(tree, real, refusal, whole=whole)
                created.clear()
    except BaseException as error:
        for made in created:
            with suppress(OSError):
                made.rmdir()
        if isinstance(error, OSError):
            raise unwritable(folder, error) from error
        raise


def write_files(files: Mapping[str, str], folder: Path) -> None:
    """Write texts by their relative paths, which are ours, into a staged folder."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it, where they are missing; UsageError where that cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(folder, error) from error


def write_text(file: Path, text: str) -> None:
    """Write one file whole or not at all, by renaming; UsageError where it cannot be written."""
    write_bytes(file, text.encode("utf-8"))


def write_bytes(file: Path, data: bytes) -> None:
    """Write one file whole or not at all, by renaming; UsageError where it cannot be written.

    A device or a pipe is written into.
    """
    try:
        if _is_stream(file):
            with open(os.open(file, os.O_WRONLY | os.O_APPEND), "wb", buffering=0) as stream:
                write_all(stream.fileno(), data)
            return
        if file.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        remove_abandoned(file.parent)
        with unfinished_file(file.parent) as (unfinished, descriptor):
            write_all(descriptor, data)
            mask = os.umask(0)
            os.umask(mask)
            os.fchmod(descriptor, 0o666 & ~mask)  # only its owner may read a temporary file
            os.replace(unfinished, file)
    except OSError as error:
        raise unwritable(file, error) from error


def append_line(descriptor: int, line: str) -> None:
    """Add a line to an open file, whole or not at all; OSError where it cannot be written."""
    status = os.fstat(descriptor)
    try:
        write_all(descriptor, (line + "\n").encode("utf-8"))
    except OSError:
        if stat.S_ISREG(status.st_mode):
            with suppress(OSError):
                os.ftruncate(descriptor, status.st_size)
        raise


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of the bytes, in as few calls as the system takes."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def unwritable(place: Path, error: OSError) -> UsageError:
    """The error for a place that cannot be written."""
    return UsageError(
        f"cannot write '{place}'",
        why=error.strerror or type(error).__name__,
        fix="name a place that can be written",
        file=str(place),
    )


def _is_stream(file: Path) -> bool:
    """Whether bytes go into what has this name, because it cannot be replaced: a device, a pipe, an open descriptor."""
    try:
        mode = file.stat().st_mode
    except FileNotFoundError:
        return False
    within = file.absolute().parts[1:2]
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)) or (within in (("dev",), ("proc",)) and file.is_symlink())


def _make_parents(folder: Path, created: list[Path]) -> Path:
    """Make the folders above, innermost first in `created`; the folder's place without links."""
    if folder.exists() and not folder.is_dir():
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
    real = folder.resolve()
    for place in reversed(real.parents):
        if not place.exists():
            place.mkdir()
            created.insert(0, place)
        elif not place.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    return real


def _writable(folder: Path) -> bool:
    return os.access(folder, os.W_OK | os.X_OK)
