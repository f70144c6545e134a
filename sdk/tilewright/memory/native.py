"""Compiles the canonical search with the host's C compiler on first use and keeps it in the user's cache."""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from tilewright.memory.canonical_search import Outcome, Rectangles

SOURCE = Path(__file__).with_name("canonical.c")
LARGEST = 1 << 62  # products in 64 bits stay below
FLAGS = ("-O3", "-std=c99", "-shared", "-fPIC")


def search(problem: Rectangles, work: int) -> tuple[Outcome, list[int], int] | None:
    """The outcome, the offsets and the work left; None without a compiler, without memory or with too large numbers."""
    if max(problem.size, default=0) * max(problem.width, default=0) * 1024 > LARGEST or problem.capacity > LARGEST:
        return None
    library = load(os.environ.get("CC", ""), cache_folder())
    if library is None:
        return None
    count = len(problem.size)
    offsets, left = (ctypes.c_int64 * count)(), ctypes.c_int64(work)
    status = library.tilewright_canonical(
        ctypes.c_int32(count),
        ctypes.c_int32(problem.sections),
        (ctypes.c_int32 * count)(*problem.first),
        (ctypes.c_int32 * count)(*problem.last),
        (ctypes.c_int64 * count)(*problem.size),
        (ctypes.c_int64 * count)(*problem.align),
        (ctypes.c_int64 * count)(*problem.lowest),
        (ctypes.c_int64 * count)(*problem.highest),
        (ctypes.c_int64 * count)(*problem.width),
        ctypes.c_int64(problem.capacity),
        ctypes.c_uint64(problem.seed),
        ctypes.byref(left),
        offsets,
    )
    if status not in (outcome.value for outcome in Outcome):
        return None
    return Outcome(status), list(offsets), left.value


def cache_folder() -> Path:
    """Where compiled code is kept: $XDG_CACHE_HOME/tilewright, by default ~/.cache/tilewright."""
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(home) / "tilewright"


@cache
def load(compiler: str, folder: Path) -> ctypes.CDLL | None:
    """The compiled search; `compiler` is a command, or empty for the host's cc. None where it cannot be built.

    The file's name is the hash of source, flags, machine and compiler; it appears in one step, so that processes that
    compile at the same time do not meet half a file.
    """
    command = compiler.split() or [name for name in ("cc", "gcc", "clang") if shutil.which(name)][:1]
    if not command or shutil.which(command[0]) is None:
        return None
    key = "\0".join((SOURCE.read_text(encoding="utf-8"), *FLAGS, *command, platform.machine(), sys.platform))
    target = folder / f"canonical-{hashlib.sha256(key.encode()).hexdigest()[:16]}.so"
    try:
        if not target.exists():
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=folder) as scratch:
                built = Path(scratch) / "canonical.so"
                subprocess.run(
                    [*command, *FLAGS, str(SOURCE), "-o", str(built)], check=True, capture_output=True, timeout=120
                )
                built.replace(target)
        return ctypes.CDLL(str(target))
    except (OSError, subprocess.SubprocessError):
        return None
