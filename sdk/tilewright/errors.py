"""Everything that can go wrong for a user, as one tree. Each class carries its exit code.

    TilewrightError                 1  a bug in tilewright where nothing more exact is known
    ├── UsageError                  2  the command line, an option or a file that the user names is wrong
    │   └── StateError              2  a saved state, plan or checkpoint cannot be read
    ├── UnsupportedError            3  the network asks for something that we do not do
    │   ├── ModelError              3  the model file is damaged, invalid or hostile
    │   ├── UnsupportedNode         3  no operator or no kernel for a node
    │   └── PlatformError           3  a platform plug-in or target is declared wrongly
    ├── DoesNotFit                  4  a memory level or a budget is too small; carries the smallest sizes
    ├── MismatchError               5  outputs differ
    │   └── FenceError              5  the generated code touched memory that it did not declare
    └── ToolMissing                 6  a compiler, simulator or package is not installed
        └── BoardError              6  a board is not there, or does not answer any more

Every message says what (node, tensor, file), why, and what to do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Where:
    """The place of an error; empty strings where it does not apply. `step` is filled by the pipeline."""

    node: str = ""
    tensor: str = ""
    file: str = ""
    step: str = ""


class TilewrightError(Exception):
    """What happened, why, and what to do about it."""

    code = 1

    def __init__(
        self,
        what: str,
        *,
        why: str = "",
        fix: str = "",
        node: str = "",
        tensor: str = "",
        file: str = "",
        smallest: Mapping[str, int] | None = None,
        given: Mapping[str, int] | None = None,
    ) -> None:
        self.what, self.why, self.fix = what, why, fix
        self.where = Where(node, tensor, file)
        self.smallest: dict[str, int] = dict(smallest or {})
        self.given: dict[str, int] = dict(given or {})
        super().__init__(what, why, fix)

    def __reduce__(self) -> tuple[object, ...]:
        """An error crosses the border of a process whole, without what caused it."""
        return _remade, (type(self), self.args, self.__dict__)

    def __str__(self) -> str:
        text = self.what
        if self.why:
            text += f": {self.why}"
        if self.fix:
            text += f"; {self.fix}"
        return text


def _remade(kind: type[TilewrightError], args: tuple[str, ...], state: dict[str, object]) -> TilewrightError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


class UsageError(TilewrightError):
    """The command line, an option or a file that the user names is wrong."""

    code = 2


class StateError(UsageError):
    """A saved state, plan or checkpoint cannot be read."""


class UnsupportedError(TilewrightError):
    """The network asks for something that we do not do."""

    code = 3


class ModelError(UnsupportedError):
    """The model file is damaged, invalid or hostile."""


class UnsupportedNode(UnsupportedError):
    """No operator or no kernel for a node."""


class PlatformError(UnsupportedError):
    """A platform plug-in or a target is declared wrongly."""


class DoesNotFit(TilewrightError):
    """A memory level or a budget is too small; `smallest` maps each level to the bytes that would do.

    Where one level's need depends on another's size, `given` are the sizes with which they would.
    """

    code = 4


class MismatchError(TilewrightError):
    """Outputs differ."""

    code = 5


class FenceError(MismatchError):
    """The generated code touched memory that it did not declare."""


class ToolMissing(TilewrightError):
    """A compiler, simulator or package is not installed."""

    code = 6


class BoardError(ToolMissing):
    """A board is not there, or does not answer any more."""
