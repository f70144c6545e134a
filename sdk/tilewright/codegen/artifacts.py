"""What code generation gives: file names relative to the output folder, and their bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from tilewright.codegen.code_counts import FunctionCounts
from tilewright.codegen.interface import Interface

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
class Parts:
    """What the generated C is made of: the path of the file of code and of weights, and whole lines of them by use.

    Empty where a platform's own emitter does not name the part.
    """

    code: str
    weights: str = ""
    includes: str = ""
    declarations: str = ""
    memory: str = ""
    port_sizes: str = ""
    port_functions: str = ""
    state_functions: str = ""
    ports: tuple[str, ...] = ()
    run: str = ""

    @property
    def port_declarations(self) -> str:
        """What the header says of inputs, outputs and state."""
        return self.port_sizes + self.port_functions + self.state_functions


@dataclass(frozen=True)
class LayerSite:
    """Where the C of a plan instruction stands: the `functions` of its own, and its `statements` in `run`."""

    instruction: int
    functions: tuple[str, ...]
    statements: tuple[str, ...]


@dataclass(frozen=True)
class CodeMap:
    """What the file of code is made of, by its texts: functions of layers by name, the sources that they share, the
    functions of the interface by name, and which instruction runs what."""

    functions: Mapping[str, str]
    sources: tuple[str, ...]
    interface: Mapping[str, str]
    sites: tuple[LayerSite, ...]


@dataclass(frozen=True)
class StepRange:
    """A slice: the instructions of the plan from `first` to `last`, and what they take as their kernels estimate."""

    first: int
    last: int
    instructions: int


@dataclass(frozen=True)
class Artifacts:
    """The generated project. `files` maps a relative path with `/` to text.
    `parts` are what those texts were put together from, `interface` is how its C is called.

    `blobs` are binary files beside the code: weights that it reads at run time. `binaries` are those that the build
    takes in, each as what gives its bytes in parts. `runtime_bytes` of weights lie in RAM.
    `table_bytes` of `constant_bytes` are tables of tiles and copies. `wide_core`: the C stops
    compilers with an `int` of 16 bits or a `double` of 32. `counts` are those of the functions of its C, none where a
    platform's own emitter writes another language. `code_map` says which instruction each line serves, None of code
    that several networks share or an emitter of its own wrote. `slices` are those of `run_some`
    where that was asked for.
    """

    files: Mapping[str, str]
    parts: Parts
    interface: Interface
    constant_bytes: int
    functions: tuple[str, ...]
    blobs: Mapping[str, bytes] = field(default_factory=dict)
    binaries: Mapping[str, Callable[[], Iterator[bytes]]] = field(default_factory=dict)
    runtime_bytes: int = 0
    table_bytes: int = 0
    wide_core: bool = False
    counts: tuple[FunctionCounts, ...] = ()
    code_map: CodeMap | None = None
    slices: tuple[StepRange, ...] = ()

    @property
    def model(self) -> str:
        """The prefix of all symbols."""
        return self.interface.model

    def pieces(self, path: str) -> Iterator[str]:
        """The text of a file, in parts where it is long."""
        return self.files.pieces(path) if isinstance(self.files, Texts) else iter((self.files[path],))

    def text(self, path: str) -> str:
        """The whole text of a file; empty where the platform has no such file."""
        return self.files.get(path, "")

    def marked(self, *, layers: bool, tiles: bool) -> Artifacts:
        """The project with the marks around layers and around tiles switched on, as a user would with -D."""
        upper, code = self.model.upper(), self.parts.code
        head = f"#define {upper}_TRACE\n" * layers + f"#define {upper}_TRACE_TILES\n" * tiles
        if not head:
            return self
        if isinstance(self.files, Texts):
            texts: Mapping[str, str] = Texts({**self.files.files, code: (head, *self.files.files[code])})
        else:
            texts = {**self.files, code: head + self.files[code]}
        return replace(self, files=texts)
