"""Writes what the user asked for, whole or not at all: files appear by renaming, and only below the folder named."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from tilewright.errors import UsageError


@contextmanager
def staged(folder: Path) -> Iterator[Path]:
    """An empty folder to write into; on success its files replace those of `folder` one by one, on error none does.

    Files that `folder` holds already and that are not written again stay. A folder that did not exist is removed
    again on error. UsageError where the folder cannot be written.
    """
    created = _make(folder)
    try:
        staging = Path(tempfile.mkdtemp(prefix=".tilewright-", dir=folder))
        try:
            yield staging
            _publish(staging, folder)
        finally:
            shutil.rmtree(staging, ignore_errors=True)
    except BaseException as error:
        for made in created:
            with suppress(OSError):
                made.rmdir()
        if isinstance(error, OSError):
            raise _unwritable(folder, error) from error
        raise


def write_files(files: Mapping[str, str], folder: Path) -> None:
    """Write texts by their relative paths, which are ours, into a staged folder."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")


def write_text(file: Path, text: str) -> None:
    """Write one file whole or not at all, by renaming; UsageError where it cannot be written."""
    write_bytes(file, text.encode("utf-8"))


def write_bytes(file: Path, data: bytes) -> None:
    """Write one file whole or not at all, by renaming; UsageError where it cannot be written."""
    try:
        handle, name = tempfile.mkstemp(prefix=".tilewright-", dir=file.parent)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
            _open_to_readers(Path(name))
            os.replace(name, file)
        except BaseException:
            with suppress(OSError):
                os.unlink(name)
            raise
    except OSError as error:
        raise _unwritable(file, error) from error


def _make(folder: Path) -> list[Path]:
    """Create the folder and its parents; those that are new, innermost first."""
    new = []
    for place in (folder, *folder.parents):
        if place.exists():
            break
        new.append(place)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(folder, error) from error
    return new


def _publish(staging: Path, folder: Path) -> None:
    root = folder.resolve()
    pairs = [(file, folder / file.relative_to(staging)) for file in sorted(staging.rglob("*")) if not file.is_dir()]
    for _, goal in pairs:
        inside = goal.parent.resolve()
        if inside != root and root not in inside.parents:
            raise UsageError(
                f"'{goal}' lies outside of '{folder}'",
                why="a link leads there",
                fix="name an output folder without links",
            )
        if goal.is_dir():
            raise UsageError(f"cannot write '{goal}'", why="a folder has that name", fix="name another output folder")
    for file, goal in pairs:
        goal.parent.mkdir(parents=True, exist_ok=True)
        os.replace(file, goal)


def _open_to_readers(file: Path) -> None:
    """Give a temporary file, which only its owner may read, the mode of any new file."""
    mask = os.umask(0)
    os.umask(mask)
    file.chmod(0o666 & ~mask)


def _unwritable(place: Path, error: OSError) -> UsageError:
    return UsageError(
        f"cannot write '{place}'",
        why=error.strerror or type(error).__name__,
        fix="name a place that can be written",
        file=str(place),
    )
