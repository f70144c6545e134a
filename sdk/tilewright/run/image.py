"""A built program and where its objects lie."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tilewright.codegen.interface import Interface
from tilewright.errors import TilewrightError
from tilewright.run.elf import ElfFile, Sizes
from tilewright.run.glue import INSTANCE
from tilewright.run.stack import StackBound
from tilewright.sizes import align_up
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

    `stack` is that of one call, `core_stack` the deepest of functions that it does not call itself, which other cores
    of a cluster run; None where the compiler does not tell (clang).
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
    core_stack: StackBound | None = None

    @property
    def model(self) -> str:
        """The model's name, the prefix of all its symbols."""
        return self.interface.model


def arena_symbol(image: Image) -> str:
    """Name of the symbol that holds the activations, `<model>_arena`, or the instance that it begins."""
    return INSTANCE if image.interface.context else f"{image.interface.owner}_arena"


def arena_range(image: Image) -> tuple[int, int]:
    """First address and bytes of the activations; zeros where there are none."""
    symbol = image.elf.symbol(arena_symbol(image))
    if symbol is None:
        return 0, 0
    part = image.interface.context  # an instance holds pointers and the end of its alignment behind the arena
    return symbol.address, min(symbol.size_bytes, image.interface.arena_bytes) if part else symbol.size_bytes


STATE = "<state>"
"""Stands for the symbol of the memory that lives from call to call."""


def state_range(image: Image) -> tuple[int, int]:
    """First address and bytes of what lives from call to call; zeros where there is nothing."""
    name, start = _symbol(image, STATE)
    symbol = image.elf.symbol(name)
    if symbol is None or not image.interface.state_bytes:
        return 0, 0
    return symbol.address + start, image.interface.state_bytes if start else symbol.size_bytes


def _symbol(image: Image, symbol: str) -> tuple[str, int]:
    """The symbol that a name stands for, and the byte of it that is meant by the first."""
    if symbol != STATE:
        return symbol or arena_symbol(image), 0
    if not image.interface.context:
        return f"{image.interface.owner}_state_memory", 0
    return INSTANCE, align_up(max(image.interface.arena_bytes, 1), image.interface.align)


def locate(image: Image, symbol: str, offset: int, size_bytes: int) -> int:
    """Address of bytes inside a symbol; TilewrightError where the symbol is missing or too small."""
    name, start = _symbol(image, symbol)
    array = image.elf.symbol(name)
    if array is None:
        raise TilewrightError(f"the image has no symbol '{name}'", why="a dump or a fence refers to it")
    if offset < 0 or start + offset + size_bytes > array.size_bytes:
        raise TilewrightError(
            f"bytes {offset} to {offset + size_bytes} lie outside '{name}'", why=f"it holds {array.size_bytes} bytes"
        )
    return array.address + start + offset
