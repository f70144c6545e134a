"""SHA-256 of everything that an image is made of: model, tool, compiler, generated sources, the ELF itself."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import tilewright
from tilewright.evidence.document import Hashed
from tilewright.run.tool import start
from tilewright.version import VERSION

PARTS = ("cc1", "as", "ld")
"""The programs that a compiler's driver starts; their bytes decide of the machine code, not the driver's."""
BESIDE = ("platforms", "targets")
"""Folders that an installed package holds in itself, and a checkout beside it."""


def of_file(path: Path, name: str = "") -> Hashed:
    """A file by its bytes; SPDX asks for SHA-1 beside."""
    with path.open("rb") as stream:
        sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
        stream.seek(0)
        return Hashed(name or path.name, sha256, "", hashlib.file_digest(stream, "sha1").hexdigest())


def of_tree(folder: Path) -> tuple[Hashed, ...]:
    """Every file of a folder by its relative path with `/`, in order."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return tuple(of_file(path, path.relative_to(folder).as_posix()) for path in files)


def of_tool() -> Hashed:
    """tilewright by all of its sources: Python, templates, C, tables, of platforms and targets too."""
    digest = hashlib.sha256()
    for name, path in sorted(_sources()):
        digest.update(f"{name}\0{of_file(path).sha256}\n".encode())
    return Hashed("tilewright", digest.hexdigest(), VERSION)


def _sources() -> Iterator[tuple[str, Path]]:
    """The files of the package, and of those that a checkout keeps beside it."""
    from tilewright import platforms, targets

    for package, prefix in ((tilewright, "sdk"), (platforms, "platforms"), (targets, "targets")):
        for root in map(Path, package.__path__):
            for path in root.rglob("*"):
                inside = path.relative_to(root)
                if prefix == "sdk" and inside.parts[0] in BESIDE:
                    continue
                if path.is_file() and "__pycache__" not in inside.parts and path.suffix not in (".pyc", ".so"):
                    yield f"{prefix}/{inside.as_posix()}", path


def of_compiler(driver: str, version: str, image: Path, work: Path) -> tuple[Hashed, ...]:
    """The compiler's driver, the programs that it starts and the files that it linked from elsewhere, by their bytes.

    Those are libraries and start-up code, as the linker's map beside the image tells them.
    """
    programs = [Hashed(Path(driver).name, of_file(Path(driver)).sha256, version)]
    for part in PARTS:
        told = start([driver, f"-print-prog-name={part}"], work)
        path = Path(shutil.which(told.output.strip()) or "")
        if told.code == 0 and path.is_absolute() and path.is_file():
            programs.append(of_file(path, part))
    programs += [of_file(path) for path in _linked(image)]
    return tuple(programs)


def _linked(image: Path) -> list[Path]:
    """The files from elsewhere that the linker read for an image, each once, in its order."""
    told = image.with_suffix(".map").read_text(encoding="utf-8", errors="replace")
    named = [Path(line.removeprefix("LOAD ")) for line in told.splitlines() if line.startswith("LOAD ")]
    paths = dict.fromkeys(path.resolve() for path in named if path.is_absolute())
    return [path for path in paths if path.is_file() and not path.is_relative_to(image.parent.resolve())]


def of_objects(sources: Path, driver: str, flags: Sequence[str], work: Path) -> tuple[Hashed, ...]:
    """The object file of every C file in a folder: where two compilers differ, it tells for which of them."""
    objects = list[Hashed]()
    for source in sorted(sources.glob("*.c")):
        told = start([driver, *flags, "-std=c99", "-c", source.name, "-o", str(work / "one.o")], sources)
        if told.code == 0:
            objects.append(of_file(work / "one.o", source.name))
    return tuple(objects)
