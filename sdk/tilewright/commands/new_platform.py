"""Writes a distribution with a platform of its own: memories, one kernel, a target that is this machine, and a test."""

from __future__ import annotations

import argparse
import keyword
import re
import sys
from pathlib import Path

from tilewright.commands.answer import Answer
from tilewright.commands.common import path
from tilewright.errors import UsageError

SUMMARY = "a working plug-in skeleton"
SCHEMA = "tilewright/new-platform/1"
_NAME = re.compile(r"[a-z][a-z0-9_]*")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The name, and where the distribution goes."""
    parser.add_argument("name", metavar="NAME", help="of the platform and its Python package, e.g. acme_rv32")
    parser.add_argument("-o", "--output", metavar="DIR", type=path, help="a new or empty folder; default: NAME")


def execute(arguments: argparse.Namespace) -> Answer:
    """The files that were written; UsageError where the name is taken or the folder holds something."""
    from tilewright.output.staged import staged, write_files
    from tilewright.plugins import find_platforms
    from tilewright.skeleton import skeleton

    name, folder = arguments.name, arguments.output or Path(arguments.name)
    if not _NAME.fullmatch(name) or keyword.iskeyword(name):
        raise UsageError(
            f"'{name}' is no name for a platform",
            why="it becomes a Python package and a prefix in C",
            fix="use lower-case letters, digits and _, starting with a letter",
        )
    if name in find_platforms():
        why = f"it comes from {find_platforms().origin(name)}"
        raise UsageError(f"there is a platform '{name}' already", why=why, fix="choose another name")
    if name in sys.stdlib_module_names or name in ("tilewright", "tests", "board"):
        raise UsageError(
            f"'{name}' is no name for a platform",
            why="a package of that name exists already",
            fix="choose another name",
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"'{folder}' holds something already", fix="name a new or empty folder with -o")
    files = skeleton(name)
    with staged(folder) as place:
        write_files(files, place)
    text = "\n".join(
        [
            f"wrote {len(files)} files to {folder}:",
            *(f"  {path}" for path in sorted(files)),
            f"next: pip install -e {folder} && tilewright conform {name}",
        ]
    )
    return Answer(text, {"schema": SCHEMA, "platform": name, "folder": str(folder), "files": list(sorted(files))})
