"""Files and folders that are not finished yet: their names, the locks of who works on them, and their removal.

Whoever makes one holds a lock on it for as long as it lives. What is not locked belongs to a process that was killed,
and the next run into the same place removes it.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

if sys.platform != "win32":
    import fcntl

PREFIX, SUFFIX = ".tilewright-", ".part"
_NAME = re.compile(r"\.tilewright-[a-z0-9_]{8}\.part")
PATIENCE_SECONDS = 60.0
JOURNAL, KEPT = "journal", "kept"
_LIVING: set[Path] = set()


def is_unfinished(name: str) -> bool:
    """Whether a file's name is that of something unfinished."""
    return _NAME.fullmatch(name) is not None


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Signals that end a program wait until the block is over."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def unfinished_folder(place: Path) -> Iterator[Path]:
    """A new folder in `place`, which is removed at the end whatever happens; OSError where there can be none."""
    folder, lock = None, -1
    try:
        with uninterrupted():
            folder, lock = _locked_folder(place)
            _LIVING.add(folder)
        yield folder
    finally:
        with uninterrupted():
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)
                _LIVING.discard(folder)
                os.close(lock)


@contextmanager
def unfinished_file(place: Path) -> Iterator[tuple[Path, int]]:
    """A new file in `place` and its descriptor; it is removed at the end where it was not renamed."""
    file, descriptor = None, -1
    try:
        with uninterrupted():
            file, descriptor = _locked_file(place)
            _LIVING.add(file)
        yield file, descriptor
    finally:
        with uninterrupted():
            if file is not None:
                with suppress(OSError):
                    file.unlink()
                _LIVING.discard(file)
                os.close(descriptor)


def remove_living() -> None:
    """Remove what this process has not finished: a signal may fall between any two steps, those of a removal too."""
    for path in list(_LIVING):
        with suppress(OSError):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        _LIVING.discard(path)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Alone in a folder that exists, among those who ask; without a lock where the file system has none."""
    descriptor = _lock_of(folder)
    try:
        yield
    finally:
        os.close(descriptor)


def remove_abandoned(place: Path) -> None:
    """Remove what killed processes left in a folder; what they had begun to replace there comes back first."""
    with suppress(OSError):
        for entry in list(os.scandir(place)):
            if is_unfinished(entry.name):
                _remove(Path(entry.path), place)


def _remove(path: Path, place: Path) -> None:
    status = path.lstat()
    if not (stat.S_ISDIR(status.st_mode) or stat.S_ISREG(status.st_mode)):
        return
    if sys.platform == "win32" or status.st_uid != os.geteuid():
        return
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        if not _try_lock(descriptor):
            return
        if stat.S_ISDIR(status.st_mode):
            restore(path, place)
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()
    finally:
        os.close(descriptor)


def restore(unfinished: Path, place: Path) -> None:
    """Put back what stands aside in an unfinished folder: the journal names each file that was about to be replaced.

    A name with a file in `older` had one before; another is new, and goes where it was moved in already. Where a whole
    folder was renamed aside, and nothing has taken its name, it gets its name back.
    """
    with suppress(FileNotFoundError):
        for folder in list((unfinished / "aside").iterdir()):
            if not (place / folder.name).exists():
                folder.rename(place / folder.name)
    with suppress(FileNotFoundError):
        for name in (unfinished / JOURNAL).read_text(encoding="utf-8", errors="surrogateescape").split("\0"):
            older, goal = unfinished / KEPT / name, place / name
            if older.is_symlink() or older.exists():
                again = unfinished / "again"
                second_name(older, again)  # what is kept stays, in case this is cut off too
                os.replace(again, goal)
            elif not (unfinished / "new" / name).exists():
                goal.unlink(missing_ok=True)


def second_name(file: Path, place: Path) -> None:
    """A second name for a file, or a copy of it where there are no links."""
    place.unlink(missing_ok=True)
    try:
        os.link(file, place, follow_symlinks=False)
    except OSError:
        shutil.copy2(file, place, follow_symlinks=False)


def _locked_folder(place: Path) -> tuple[Path, int]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, suffix=SUFFIX, dir=place))
        with suppress(FileNotFoundError):  # another process took it for abandoned before it was locked
            return folder, _lock_of(folder)


def _locked_file(place: Path) -> tuple[Path, int]:
    while True:
        descriptor, name = tempfile.mkstemp(prefix=PREFIX, suffix=SUFFIX, dir=place)
        _wait_for_lock(descriptor)
        if _same(descriptor, Path(name)):
            return Path(name), descriptor
        os.close(descriptor)


def _lock_of(folder: Path) -> int:
    """A locked descriptor of the folder that has this name now: it may be exchanged while one waits."""
    while True:
        descriptor = os.open(folder, os.O_RDONLY)
        _wait_for_lock(descriptor)
        if _same(descriptor, folder):
            return descriptor
        os.close(descriptor)


def _same(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False


def _try_lock(descriptor: int) -> bool:
    """Whether nobody else holds the lock; False too where the file system has no locks, so nobody can be told dead."""
    if sys.platform == "win32":
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _wait_for_lock(descriptor: int) -> None:
    """Lock, or go on without where there are no locks or somebody holds this one for very long."""
    if sys.platform == "win32":
        return
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.01)
        except OSError:
            return
        else:
            return
