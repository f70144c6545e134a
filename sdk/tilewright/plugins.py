"""Finds platforms: the folders of `tilewright.platforms`, then the entry points "tilewright.platforms" of others.

A folder `platforms/<name>/` that holds a `platform.py` is the platform `<name>`; an outside distribution names a
`Platform` object under the entry-point group. Nothing is imported before it is asked for, and a platform that cannot
be loaded does not hide the others.
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint
from pathlib import Path

from tilewright.distributions import published
from tilewright.errors import PlatformError, UsageError
from tilewright.platform import Kernel, Platform

GROUP = "tilewright.platforms"


@dataclass(frozen=True)
class Source:
    """Where a platform comes from: `origin` is the distribution in words, `load` imports it."""

    name: str
    origin: str
    load: Callable[[], object]


class Platforms(Mapping[str, Platform]):
    """Platforms by name, loaded when first looked up.

    Looking up one that is broken, or whose name two distributions claim, is a PlatformError; the others still work.
    """

    def __init__(self, sources: Iterable[Source]) -> None:
        self._sources: dict[str, list[Source]] = {}
        for source in sources:
            self._sources.setdefault(source.name, []).append(source)
        self._loaded: dict[str, Platform] = {}

    def __getitem__(self, name: str) -> Platform:
        """The platform; KeyError where there is none of that name."""
        if name not in self._loaded:
            self._loaded[name] = _load(self._sources[name])
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        """Names, those of our own folders first."""
        return iter(self._sources)

    def __len__(self) -> int:
        """Number of names."""
        return len(self._sources)

    def __contains__(self, name: object) -> bool:
        """True for a known name, even of a platform that cannot be loaded."""
        return name in self._sources

    def origin(self, name: str) -> str:
        """The distribution that a platform comes from, in words."""
        return " and ".join(source.origin for source in self._sources[name])

    def problems(self) -> dict[str, PlatformError]:
        """Load everything; what went wrong, by name."""
        problems = {}
        for name in self:
            try:
                kernels_of(self[name], self)
            except PlatformError as error:
                problems[name] = error
        return problems


def find_platforms() -> Platforms:
    """Every platform that is installed, found once per process."""
    return _installed()


def platform(name: str) -> Platform:
    """The installed platform of that name; UsageError where there is none, PlatformError where it is broken."""
    installed = find_platforms()
    if name not in installed:
        near = difflib.get_close_matches(name, list(installed), 1)
        raise UsageError(
            f"there is no platform '{name}'",
            why="installed are " + (", ".join(installed) or "none"),
            fix=f"did you mean '{near[0]}'?" if near else "see 'tilewright platforms'",
        )
    return installed[name]


def kernels_of(platform: Platform, platforms: Mapping[str, Platform] | None = None) -> tuple[Kernel, ...]:
    """The kernels of a platform in order of preference: its own, then those of the platforms that it inherits from.

    Their modules are imported here, when they are first asked for; PlatformError where one of them cannot be.
    """
    known = find_platforms() if platforms is None else platforms
    line = [platform]
    while (parent := line[-1].inherits) is not None:
        if parent in [member.name for member in line]:
            circle = " -> ".join([*(member.name for member in line), parent])
            raise PlatformError(
                f"platform '{platform.name}' inherits from itself", why=circle, fix="let one of them inherit nothing"
            )
        if parent not in known:
            raise PlatformError(
                f"platform '{line[-1].name}' inherits from '{parent}'",
                why=f"there is no platform '{parent}'; installed are " + ", ".join(known),
                fix="install it, or correct 'inherits'",
            )
        line.append(known[parent])
    return tuple(platform.at_home(kernel) for member in line for kernel in _own_kernels(member, known))


def _own_kernels(member: Platform, known: Mapping[str, Platform]) -> tuple[Kernel, ...]:
    """The kernels that a platform declares itself; a package of kernels that cannot be imported is a PlatformError."""
    origin = known.origin(member.name) if isinstance(known, Platforms) and member.name in known else member.kernels
    with _loading(member.name, origin):
        return member.own_kernels()


@cache
def _installed() -> Platforms:
    return Platforms([*folder_sources(GROUP), *entry_point_sources(published(GROUP))])


def folder_sources(package: str) -> list[Source]:
    """The folders of a package that hold a `platform.py`, by name."""
    sources = []
    for place in importlib.import_module(package).__path__:
        for file in sorted(Path(place).glob("*/platform.py")):
            sources.append(_folder_source(package, file.parent.name))
    return sources


def _folder_source(package: str, name: str) -> Source:
    def load() -> object:
        return importlib.import_module(f"{package}.{name}.platform").PLATFORM

    return Source(name, f"folder platforms/{name}", load)


def entry_point_sources(points: Iterable[EntryPoint]) -> list[Source]:
    """What other distributions publish, in the order of their names."""
    sources = []
    for point in sorted(points, key=lambda point: (point.name, point.value)):
        origin = f"{point.dist.name} {point.dist.version}" if point.dist else "an unknown distribution"
        sources.append(Source(point.name, origin, point.load))
    return sources


@contextmanager
def _loading(name: str, origin: str) -> Iterator[None]:
    """Whatever the code of a plug-in raises while it is imported, as a PlatformError that names it."""
    try:
        yield
    except PlatformError as error:
        why = f"{error.what}: {error.why}" if error.why else error.what
        raise PlatformError(f"platform '{name}' ({origin}) cannot be loaded", why=why, fix=error.fix) from error
    except (Exception, SystemExit) as error:
        raise PlatformError(
            f"platform '{name}' ({origin}) cannot be loaded",
            why=f"{type(error).__name__}: {error}",
            fix="fix the plug-in, or uninstall it",
        ) from error


def _load(sources: list[Source]) -> Platform:
    name = sources[0].name
    if len(sources) > 1:
        raise PlatformError(
            f"two platforms are called '{name}'",
            why="one comes from " + ", the other from ".join(source.origin for source in sources),
            fix="uninstall one of the two distributions",
        )
    origin = sources[0].origin
    with _loading(name, origin):
        loaded = sources[0].load()
    if not isinstance(loaded, Platform):
        raise PlatformError(
            f"platform '{name}' ({origin}) cannot be loaded",
            why=f"a {type(loaded).__name__} stands where a Platform should",
            fix="name the PLATFORM object in the entry point",
        )
    if loaded.name != name:
        raise PlatformError(
            f"platform '{name}' ({origin}) calls itself '{loaded.name}'",
            why="its folder or entry point and its 'name' differ",
            fix="give both the same name",
        )
    return loaded
