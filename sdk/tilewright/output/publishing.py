"""Brings a finished tree to its place in one step: two folders exchange their names.

Where they cannot (a mount, a working directory, a file system without links) the files are replaced one by one, from a
journal by which an error, or the next run after a kill, brings back what was there.
"""

from __future__ import annotations

import ctypes
import errno
import filecmp
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tilewright.errors import UsageError
from tilewright.output.unfinished import JOURNAL, KEPT, is_unfinished, locked, remove_abandoned, restore, second_name

Refusal = Callable[[str, Path], str | None]
"""Why the file of that relative name, which stands at that place, must not be replaced; None where it may."""

_AT_FDCWD, _RENAME_EXCHANGE = -100, 2


def exchangeable(folder: Path) -> bool:
    """Whether a folder's name can be given to another one: no mount point, and no one of ours works in it."""
    try:
        working = Path.cwd()
    except OSError:
        return False
    return folder not in (working, *working.parents) and not os.path.ismount(folder)


def publish(tree: Path, folder: Path, refusal: Refusal | None, *, whole: bool) -> None:
    """Move the files of `tree`, the folder `new` of an unfinished one, to `folder`; those of others there stay.

    `whole` where both lie beside each other, so that they can be exchanged. UsageError where a link, a folder or a file
    of somebody else is in the way; then nothing has changed.
    """
    if whole and not folder.exists():
        with suppress(OSError):  # another run was first
            tree.rename(folder)
            return
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder):
        names = sorted(str(file.relative_to(tree)) for file in tree.rglob("*") if not file.is_dir())
        for name in names:
            _require_free(name, tree, folder, refusal)
        if whole:
            with locked(tree):
                if _exchanged(tree, folder):
                    return
        _one_by_one(tree, folder, names)


def _require_free(name: str, tree: Path, folder: Path, refusal: Refusal | None) -> None:
    goal, inside = folder / name, (folder / name).parent.resolve()
    root = folder.resolve()
    if inside != root and root not in inside.parents:
        raise UsageError(
            f"'{goal}' lies outside of '{folder}'",
            why="a link leads there",
            fix="name an output folder without links",
        )
    above = next((place for place in goal.parents if place != folder and folder in place.parents), None)
    if above is not None and above.exists() and not above.is_dir():
        raise UsageError(f"cannot write '{goal}'", why=f"'{above}' is a file", fix="name another output folder")
    if goal.is_dir() and not goal.is_symlink():
        raise UsageError(
            f"cannot write '{goal}'", why="that name belongs to a folder", fix="name another output folder"
        )
    if refusal is None or not goal.exists() or filecmp.cmp(tree / name, goal, shallow=False):
        return
    if (why := refusal(name, goal)) is not None:
        raise UsageError(
            f"'{goal}' is not replaced",
            why=why,
            fix="move it away, name another output folder, or replace it with --force",
            file=str(goal),
        )


def _exchanged(tree: Path, folder: Path) -> bool:
    """Give `tree` all that only `folder` holds, let them exchange their names; False where that cannot be."""
    names = {str(path.relative_to(tree)) for path in tree.rglob("*")}
    try:
        _link_others(folder, tree)
        shutil.copystat(folder, tree)
        _exchange(tree, folder)
    except OSError:
        for path in sorted(tree.rglob("*"), reverse=True):  # the files of others are still at their place
            if str(path.relative_to(tree)) not in names:
                with suppress(OSError):
                    path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
        return False
    with suppress(OSError):
        _save_latecomers(tree, folder, names)
    return True


def _link_others(source: Path, goal: Path) -> None:
    """The entries of a folder in another one too, files as hard links; those that the other has stay as they are."""
    for entry in list(os.scandir(source)):
        place = goal / entry.name
        if is_unfinished(entry.name):
            continue
        if entry.is_dir(follow_symlinks=False):
            if os.path.ismount(entry.path):
                raise OSError(errno.EXDEV, "a mount lies in the folder")
            if not place.is_dir():
                place.mkdir()
            _link_others(Path(entry.path), place)
            shutil.copystat(entry.path, place)
        elif not place.exists():
            os.link(entry.path, place, follow_symlinks=False)


def _save_latecomers(old: Path, folder: Path, ours: set[str], above: str = "") -> None:
    """Move over what came into the old folder while its successor was made.

    Folders that are not `ours` come over themselves, in exchange for their likeness: somebody may work in them.
    """
    for entry in list(os.scandir(old)):
        place, name = folder / entry.name, above + entry.name
        if not (place.exists() or place.is_symlink()):
            os.rename(entry.path, place)
        elif entry.is_dir(follow_symlinks=False) and place.is_dir():
            if name in ours or not _exchange_by_system(Path(entry.path), place):
                _save_latecomers(Path(entry.path), place, ours, name + "/")


def _exchange(one: Path, other: Path) -> None:
    """Exchange the names of two folders; where the system cannot, rename one aside and the other to its place."""
    if not _exchange_by_system(one, other):
        aside = one.parent / "aside"
        aside.mkdir()
        other.rename(aside / other.name)
        try:
            one.rename(other)
        except BaseException:
            (aside / other.name).rename(other)
            raise
        (aside / other.name).rename(one)


def _exchange_by_system(one: Path, other: Path) -> bool:
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    if rename(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):
        return False
    raise OSError(number, os.strerror(number), str(other))


def _one_by_one(tree: Path, folder: Path, names: list[str]) -> None:
    """Replace files one after the other; an error puts back those that were replaced."""
    unfinished = tree.parent
    for name in names:
        if (folder / name).is_symlink() or (folder / name).exists():
            (unfinished / KEPT / name).parent.mkdir(parents=True, exist_ok=True)
            second_name(folder / name, unfinished / KEPT / name)
    journal = unfinished / (JOURNAL + ".new")
    journal.write_bytes(b"\0".join(os.fsencode(name) for name in names))
    journal.rename(unfinished / JOURNAL)
    made: list[Path] = []
    try:
        for name in names:
            _make_folders((folder / name).parent, made)
            os.replace(tree / name, folder / name)
    except BaseException:
        restore(unfinished, folder)
        for place in reversed(made):
            with suppress(OSError):
                place.rmdir()
        raise
    finally:
        (unfinished / JOURNAL).unlink(missing_ok=True)


def _make_folders(place: Path, made: list[Path]) -> None:
    if not place.exists():
        _make_folders(place.parent, made)
        place.mkdir()
        made.append(place)


def clean(folder: Path) -> None:
    """Remove what killed runs into this folder left, in it and beside it."""
    remove_abandoned(folder.parent)
    if folder.is_dir():
        with locked(folder):
            remove_abandoned(folder)
