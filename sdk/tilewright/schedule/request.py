"""What one compilation is asked: a file, options, and a target with its platform, kernels and sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tilewright.errors import TilewrightError, UsageError
from tilewright.options import CompileOptions
from tilewright.platform import Kernel, MemoryLevel, Platform
from tilewright.plugins import kernels_of, platform
from tilewright.target import StackRoom, Target


@dataclass(frozen=True)
class Request:
    """What one compilation is asked: the model, the options, the target with its platform and kernels.

    `levels` are the platform's memory levels with the sizes of the target, or those that the options give.
    `program_bytes` of the home level are left to code, tables and stacks, 0 where nothing is known of them yet.
    """

    source: Path
    options: CompileOptions
    target: Target
    platform: Platform
    kernels: tuple[Kernel, ...]
    levels: tuple[MemoryLevel, ...]
    program_bytes: int = 0

    @property
    def stacks(self) -> StackRoom:
        """The room for stacks of the target, and for the program that lies beside them."""
        return replace(self.target.stacks, program_bytes=self.program_bytes)


def make_request(source: Path, options: CompileOptions, target: Target) -> Request:
    """Resolve platform, kernels and level sizes; UsageError for a level that the platform does not have."""
    chosen = platform(target.platform)
    level_names = {level.name for level in chosen.memory}
    for option, sizes in (("set", options.level_sizes), ("budget", options.budgets)):
        for name in sizes:
            if name not in level_names:
                raise UsageError(
                    f"--{option} {name}={sizes[name]}", why=f"platform '{chosen.name}' has no memory level '{name}'",
                    fix=f"it has {', '.join(sorted(level_names))}",
                )  # fmt: skip
    levels = tuple(_sized(level, options.level_sizes, target) for level in chosen.memory)
    kernels = tuple(kernel.on_core(target.capabilities, (options.optimize,)) for kernel in kernels_of(chosen))
    return Request(source, options, target, chosen, _of_engines(chosen, kernels, options.engine), levels)


def _of_engines(platform: Platform, kernels: Sequence[Kernel], wanted: str) -> tuple[Kernel, ...]:
    """The kernels with those refused whose engine `--engine` leaves out; UsageError for one that is not there."""
    names = [engine.name for engine in platform.engines]
    if wanted == "auto":
        return tuple(kernels)
    if wanted not in names:
        raise UsageError(
            f"--engine {wanted}", why=f"platform '{platform.name}' has no engine of that name",
            fix=f"it has {', '.join(names)}" if names else "leave it out: it has one unit that computes",
        )  # fmt: skip
    allowed = {names[0], wanted}
    refusal = f"--engine {wanted} leaves its engine out"
    return tuple(k if k.engine in allowed or k.refusal else replace(k, refusal=refusal) for k in kernels)


def _sized(level: MemoryLevel, sizes: Mapping[str, int], target: Target) -> MemoryLevel:
    memory = target.memories.get(level.name)
    size = sizes.get(level.name, memory.size if memory is not None and memory.size else level.size)
    return replace(level, size=size)


def request() -> Request:
    """What is to be compiled; `compile_model` overrides it."""
    raise TilewrightError("no request was given to the compiler", fix="call compile_model")
