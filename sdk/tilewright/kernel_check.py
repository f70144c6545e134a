"""Classes of kernels are checked when they are declared: a misspelt method would never be called."""

from __future__ import annotations

import difflib
import inspect
from abc import ABC
from collections.abc import Iterator

from tilewright.errors import PlatformError
from tilewright.kernel import JobKernelMethods, KernelMethods, TiledKernelMethods

BASES = (JobKernelMethods, TiledKernelMethods, KernelMethods)


def check_methods(cls: type[object]) -> None:
    """PlatformError where a class is no kernel class, or has a public name or a signature that nothing calls."""
    name = cls.__name__
    if not issubclass(cls, KernelMethods):
        raise PlatformError(
            f"kernel class '{name}' is no KernelMethods",
            why="that class answers what it does not answer itself",
            fix=f"write class {name}(KernelMethods), or (TiledKernelMethods) where it computes tiles",
        )
    base = next(base for base in BASES if issubclass(cls, base))
    known = [method for method in dir(base) if not method.startswith("_")]
    for method, owner in _public_names(cls):
        if method not in known:
            raise PlatformError(
                f"kernel class '{name}' has a public '{method}' that {base.__name__} has not",
                why="nothing calls a method of that name", fix=_fix(method, known, base),
            )  # fmt: skip
        _check_signature(name, method, owner, base)
    if issubclass(cls, TiledKernelMethods) and not _describes_tiles(cls):
        raise PlatformError(
            f"kernel '{name}' can be cut but does not describe its tiles",
            why="its class lacks 'tile_type' or the method 'tile' or 'rules'",
            fix="declare them, or derive it from KernelMethods",
        )


def _fix(method: str, known: list[str], base: type) -> str:
    if near := difflib.get_close_matches(method, known, 1):
        return f"did you mean '{near[0]}'?"
    if base is KernelMethods and method in dir(TiledKernelMethods):
        return "a kernel that computes tiles derives from TiledKernelMethods"
    return f"its methods are {', '.join(known)}; begin the names of others with '_'"


def _public_names(cls: type) -> Iterator[tuple[str, type]]:
    """Public names that a class or one of its own bases defines, each with the class that does."""
    names = set[str]()
    for owner in cls.__mro__:
        if owner not in (*BASES, ABC, object):
            own = [name for name in vars(owner) if not name.startswith("_") and name not in names]
            names.update(own)
            yield from ((name, owner) for name in own)


def _check_signature(name: str, method: str, owner: type, base: type) -> None:
    expected, own = getattr(base, method), inspect.getattr_static(owner, method)
    if not callable(expected):
        return
    if not inspect.isfunction(own) or _parameters(own) != _parameters(expected):
        given = f"takes ({', '.join(_parameters(own))})" if inspect.isfunction(own) else "is no method"
        parameters = ", ".join(_parameters(expected))
        raise PlatformError(
            f"'{method}' of kernel class '{name}' {given}", why=f"it is called as ({parameters})",
            fix=f"write def {method}({parameters})",
        )  # fmt: skip


def _parameters(function: object) -> list[str]:
    return list(inspect.signature(function).parameters)  # type: ignore[arg-type]


def _describes_tiles(cls: type[TiledKernelMethods]) -> bool:
    return bool(cls.tile_type) and not inspect.isabstract(cls)
