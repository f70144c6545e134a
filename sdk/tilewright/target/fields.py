"""Fields of a TOML file of ours: each is checked and converted, and every refusal names the file and the field."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import cast

from tilewright.errors import PlatformError
from tilewright.sizes import parse_size


class Fields:
    """The fields of one file. A key is its whole path, such as `memory.ram.size`; tables are read by its last part."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> Mapping[str, object]:
        """The file's outermost table; PlatformError where it is no TOML."""
        try:
            return tomllib.loads(self.path.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise PlatformError(f"{self.path} is not valid TOML", why=str(error), file=str(self.path)) from error

    def wrong(self, key: str, why: str) -> PlatformError:
        """The error for a field."""
        return PlatformError(f"{self.path}: field '{key}' is wrong", why=why, file=str(self.path))

    def only(self, table: Mapping[str, object], keys: Collection[str], shown: str = "") -> None:
        """Refuse a key that is none of `keys`."""
        for key in table:
            if key not in keys:
                known = ", ".join(sorted(keys))
                raise self.wrong(f"{shown}.{key}".lstrip("."), f"there is no such field; known are {known}")

    def table(self, table: Mapping[str, object], key: str, shown: str = "") -> Mapping[str, object]:
        """A table inside of a table, empty where it is missing."""
        value = table.get(key, {})
        if not isinstance(value, dict):
            raise self.wrong(shown or key, "it is no table")
        return cast("dict[str, object]", value)

    def text(self, table: Mapping[str, object], key: str, required: bool = False) -> str:
        """A text, "" where it is missing; PlatformError for anything else."""
        value = table.get(key.rpartition(".")[2], "")
        if not isinstance(value, str):
            raise self.wrong(key, f"{value!r} is no text")
        if required and not value:
            raise self.wrong(key, "it is missing")
        return value

    def texts(self, table: Mapping[str, object], key: str) -> tuple[str, ...]:
        """A list of texts, empty where it is missing."""
        value = table.get(key.rpartition(".")[2], [])
        if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
            raise self.wrong(key, "it is no list of texts")
        return tuple(str(word) for word in value)

    def strings(self, table: Mapping[str, object], key: str) -> dict[str, str]:
        """A table of texts."""
        for name, value in table.items():
            if not isinstance(value, str):
                raise self.wrong(f"{key}.{name}", f"{value!r} is no package name")
        return {name: str(value) for name, value in table.items()}

    def flag(self, table: Mapping[str, object], key: str) -> bool:
        """True or false; false where it is missing."""
        value = table.get(key.rpartition(".")[2], False)
        if not isinstance(value, bool):
            raise self.wrong(key, f"{value!r} is neither true nor false")
        return value

    def number(self, table: Mapping[str, object], key: str) -> int | None:
        """A whole number of at least 0, None where it is missing."""
        value = table.get(key.rpartition(".")[2])
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
            raise self.wrong(key, f"{value!r} is not a whole number")
        return value

    def size(self, table: Mapping[str, object], key: str) -> int | None:
        """Bytes, as a number or in the form of '64K'; None where it is missing."""
        value = table.get(key.rpartition(".")[2])
        if isinstance(value, str):
            return self.parsed(value, key)
        return self.number(table, key)

    def parsed(self, text: str, key: str) -> int:
        """Bytes that a text names."""
        size = parse_size(text)
        if size is None:
            raise self.wrong(key, f"'{text}' is no size such as 65536 or '64K'")
        return size
