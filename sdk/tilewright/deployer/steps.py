"""The steps that a deployer and everything around it take in the same order."""

from __future__ import annotations

from typing import Protocol

from tilewright.codegen.artifacts import Artifacts
from tilewright.deployer.verbosity import QUIET, CodeGenVerbosity
from tilewright.errors import TilewrightError, UnsupportedNode
from tilewright.schedule.search import Found


class Inner(Protocol):
    """The deployer inside of all wrappers: what it has come to."""

    parsed: bool
    prepared: bool
    found: Found | None
    artifacts: Artifacts | None
    refusal: UnsupportedNode | None

    def finish_mid_end(self) -> None:
        """Plan and place."""
        ...

    def code_transform(self, verbose: CodeGenVerbosity) -> None:
        """Generate the code."""
        ...

    def made(self) -> Artifacts:
        """The code."""
        ...


class Deployer(Protocol):
    """A network deployer, or a wrapper around one."""

    @property
    def inner(self) -> Inner:
        """The deployer inside of all wrappers."""
        ...

    def front_end(self) -> None:
        """Load, lower, parse."""
        ...

    def bind(self) -> bool:
        """Choose kernels; False where there is no choice."""
        ...

    def mid_end(self) -> None:
        """Bind, tile where there is a tiler, plan and place."""
        ...

    def back_end(self, verbose: CodeGenVerbosity) -> None:
        """Generate the code."""
        ...


def prepare(deployer: Deployer, verbose: CodeGenVerbosity) -> None:
    """The whole way, with whatever the wrappers add."""
    deployer.front_end()
    deployer.mid_end()
    deployer.back_end(verbose)
    deployer.inner.prepared = True


def mid_end(deployer: Deployer) -> None:
    """Bind, plan and place; the error of binding where there is no choice of kernels."""
    if not deployer.bind():
        refusal = deployer.inner.refusal or TilewrightError("Could not find a valid binding for the graph")
        refusal.add_note("Could not find a valid binding for the graph")
        raise refusal
    deployer.inner.finish_mid_end()


def generate_function(deployer: Deployer, verbose: CodeGenVerbosity) -> str:
    """The C of the network, after the steps that are missing; what was tiled by hand stays."""
    inner = deployer.inner
    if not inner.parsed:
        deployer.front_end()
    if inner.found is None:
        deployer.mid_end()
    if inner.artifacts is None or verbose != QUIET:
        inner.code_transform(verbose)
    inner.prepared = True
    made = inner.made()
    return made.text(made.parts.code)
