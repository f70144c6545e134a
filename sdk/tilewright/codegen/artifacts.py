"""What code generation gives: file names relative to the output folder, and their bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

Piece = str | Callable[[], Iterator[str]]
"""A text, or what gives it piece by piece when it is wanted."""


@dataclass(frozen=True, eq=False)
class Texts(Mapping[str, str]):
    """Files by name, their long parts unwritten until somebody reads them: `check` needs no text of any weight."""

    files: Mapping[str, tuple[Piece, ...]]

    def __getitem__(self, path: str) -> str:
        """The whole text of a file."""
        return "".join(self.pieces(path))

    def __iter__(self) -> Iterator[str]:
        """The paths."""
        return iter(self.files)

    def __len__(self) -> int:
        """How many files there are."""
        return len(self.files)

    def pieces(self, path: str) -> Iterator[str]:
        """The text of a file in parts of less than a few megabytes, if no short part is longer."""
        for piece in self.files[path]:
            if isinstance(piece, str):
                yield piece
            else:
                yield from piece()


@dataclass(frozen=True)
class Artifacts:
    """The generated project. `files` maps a relative path with `/` to text; `model` is the prefix of all symbols.

    `blobs` are binary files beside the code: weights that it reads at run time. `runtime_bytes` of weights lie in RAM.
    `table_bytes` of `constant_bytes` are tables of tiles and copies. `wide_core`: the C stops
    compilers with an `int` of 16 bits or a `double` of 32.
    """

    model: str
    files: Mapping[str, str]
    constant_bytes: int
    functions: tuple[str, ...]
    blobs: Mapping[str, bytes] = field(default_factory=dict)
    runtime_bytes: int = 0
    table_bytes: int = 0
    wide_core: bool = False

    def pieces(self, path: str) -> Iterator[str]:
        """The text of a file, in parts where it is long."""
        return self.files.pieces(path) if isinstance(self.files, Texts) else iter((self.files[path],))
