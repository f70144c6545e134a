"""Frozen dataclasses to JSON and back, by their type annotations; what is damaged is a StateError that says where.

Keys are field names. Keys that a class does not know are ignored, so that a newer writer may add some; a field
without a default must be there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from tilewright.errors import StateError

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
T = TypeVar("T")


def to_plain(value: Any) -> Json:
    """JSON values of dataclasses, mappings, tuples and scalars. A float that is not finite becomes null."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [to_plain(item) for item in value]
    if is_dataclass(value):
        return {field.name: to_plain(getattr(value, field.name)) for field in fields(value)}
    raise TypeError(f"a {type(value).__name__} has no JSON form")


def from_plain(kind: type[T], value: Json, path: str = "report") -> T:
    """The dataclass `kind` from what `to_plain` gave; StateError naming the place where the two disagree."""
    instance: T = _read(kind, value, path)
    return instance


def damaged(path: str, why: str) -> StateError:
    """The error for a saved value that cannot be read."""
    return StateError(f"{path} is damaged", why=why, fix="write it again with 'tilewright compile'")


def _read(kind: Any, value: Json, path: str) -> Any:
    if kind is NoneType:
        if value is not None:
            raise damaged(path, "expected null")
        return None
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        return _read_union(get_args(kind), value, path)
    if origin is Literal:
        if value not in get_args(kind):
            raise damaged(path, "expected " + " or ".join(f"'{choice}'" for choice in get_args(kind)))
        return value
    if origin is tuple:
        if not isinstance(value, list):
            raise damaged(path, "expected a list")
        return tuple(_read(get_args(kind)[0], item, f"{path}[{i}]") for i, item in enumerate(value))
    if origin is not None:
        if not isinstance(value, dict):
            raise damaged(path, "expected an object")
        return {key: _read(get_args(kind)[1], item, f"{path}.{key}") for key, item in value.items()}
    if is_dataclass(kind):
        return _read_dataclass(kind, value, path)
    return _read_scalar(kind, value, path)


def _read_union(kinds: tuple[Any, ...], value: Json, path: str) -> Any:
    if value is None and NoneType in kinds:
        return None
    present = [kind for kind in kinds if kind is not NoneType]
    return _read(present[0], value, path)


def _read_dataclass(kind: Any, value: Json, path: str) -> Any:
    if not isinstance(value, dict):
        raise damaged(path, "expected an object")
    hints = get_type_hints(kind)
    filled = {}
    for field in fields(kind):
        if not field.init:
            continue  # it follows from the others
        if field.name in value:
            filled[field.name] = _read(hints[field.name], value[field.name], f"{path}.{field.name}")
        elif field.default is MISSING and field.default_factory is MISSING:
            raise damaged(path, f"'{field.name}' is missing")
    try:
        return kind(**filled)
    except ValueError as error:
        raise damaged(path, str(error)) from error


def _read_scalar(kind: Any, value: Json, path: str) -> Any:
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        names = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}
        raise damaged(path, f"expected {names[kind]}")
    return value
