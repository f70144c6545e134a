"""A built program and where its objects lie."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tilewright.errors import TilewrightError
from tilewright.run.elf import ElfFile, Sizes
from tilewright.run.interface import Interface
from tilewright.run.stack import StackBound
from tilewright.target import Target


@dataclass(frozen=True)
class Toolchain:
    """The compiler as found, its version line, and the flags that the model's files were compiled with."""

    compiler: str
    version: str
    flags: str


@dataclass(frozen=True)
class Image:
    """A program ready to run. `sizes` are those of the model with the libraries it needs, without the test's code.

    `stack` is None where the compiler does not tell (clang).
    """

    path: Path
    work: Path
    target: Target
    interface: Interface
    toolchain: Toolchain
    elf: ElfFile
    sizes: Sizes
    stack: StackBound | None
    trace: bool
    fence: bool
    sanitize: bool

    @property
    def model(self) -> str:
        """The model's name, the prefix of all its symbols."""
        return self.interface.model


def arena_symbol(image: Image) -> str:
    """Name of the symbol that holds the activations, `<model>_arena`."""
    return f"{image.model}_arena"


def locate(image: Image, symbol: str, offset: int, size_bytes: int) -> int:
    """Address of bytes inside a symbol; TilewrightError where the symbol is missing or too small."""
    name = symbol or arena_symbol(image)
    found = image.elf.symbol(name)
    if found is None:
        raise TilewrightError(f"the image has no symbol '{name}'", why="a dump or a fence refers to it")
    if offset < 0 or offset + size_bytes > found.size_bytes:
        raise TilewrightError(
            f"bytes {offset} to {offset + size_bytes} lie outside '{name}'", why=f"it holds {found.size_bytes} bytes"
        )
    return found.address + offset
