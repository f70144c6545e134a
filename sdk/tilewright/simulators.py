"""Finds simulators by name: those of `tilewright.run.simulators`, then the entry points of other distributions.

The group "tilewright.simulators" names objects of class `tilewright.run.simulator.Simulator`, and a target
says such a name as `run.simulator`. Nothing is imported before a network is run.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence

from tilewright.distributions import published
from tilewright.errors import PlatformError
from tilewright.plugins import Source, entry_point_sources

GROUP = "tilewright.simulators"
OWN = ("native", "qemu", "gvsoc", "cuda", "none")


def known_simulators() -> tuple[str, ...]:
    """Names of all simulators; `none` stands last."""
    return (*OWN[:-1], *sorted({source.name for source in _published()} - set(OWN)), OWN[-1])


def is_known(name: str) -> bool:
    """True for the name of a simulator; other distributions are asked only for a name that is not our own."""
    return name in OWN or name in known_simulators()


def load_simulator(name: str) -> object:
    """What stands under that name; PlatformError where two distributions claim it, or where it cannot be loaded."""
    if name in OWN:
        return importlib.import_module(f"tilewright.run.simulators.{name}").SIMULATOR
    sources = [source for source in _published() if source.name == name]
    if len(sources) != 1:
        origins = ", the other from ".join(source.origin for source in sources)
        raise PlatformError(
            f"two simulators are called '{name}'" if sources else f"there is no simulator '{name}'",
            why=f"one comes from {origins}" if sources else "known are " + ", ".join(known_simulators()),
            fix="uninstall one of the two distributions" if sources else "install it, or correct run.simulator",
        )
    try:
        return sources[0].load()
    except (Exception, SystemExit) as error:
        raise PlatformError(
            f"simulator '{name}' ({sources[0].origin}) cannot be loaded",
            why=f"{type(error).__name__}: {error}",
            fix="fix the plug-in, or uninstall it",
        ) from error


def _published() -> Sequence[Source]:
    return entry_point_sources(published(GROUP))
