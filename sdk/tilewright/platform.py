"""What the author of a platform imports: memory levels, copies, kernels, and the platform that holds them.

    PLATFORM = Platform(name="acme", summary="...", memory=LEVELS, copies=COPIES, compute_in="tcm",
                        constants_in="flash", inherits="generic", kernels="acme.kernels")

    @PLATFORM.kernel("Conv", types="qi8, qi8, i32 -> qi8", layout="channels_last", template="conv_i8.c.mako")
    class ConvI8(KernelMethods):
        def accepts(self, call): ...

A kernel is a class of `KernelMethods`, or of `TiledKernelMethods` where it computes tiles: what it does not answer
itself, these do. Arithmetic on codes is in `tilewright.numerics`, windows and axes of operators in
`tilewright.operators`, index maps in `tilewright.ops.index`; no other module of ours is for platforms.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from tilewright.errors import PlatformError
from tilewright.kernel import (
    Constant,
    JobKernelMethods,
    JobTimes,
    Kernel,
    KernelMethods,
    LayoutRule,
    Needs,
    Operands,
    Rule,
    TiledKernelMethods,
    TileView,
    Work,
    adds,
    multiple,
    parse_types,
    prefer,
    whole,
)
from tilewright.kernel_check import check_methods
from tilewright.layout import Layout, RowMoves
from tilewright.model import Array, Clamp, DType, Node, Quantisation, Shape, Tensor
from tilewright.ops.operator import Call
from tilewright.platform_facts import Allowance, Engine, Feature, Rate, TileCosts, require_features

__all__ = [
    "Allowance", "Array", "Call", "Clamp", "Constant", "Copy", "DType", "Engine", "Feature", "JobKernelMethods",
    "JobTimes", "Kernel", "KernelMethods", "KiB", "Layout", "MemoryLevel", "MiB", "Needs", "Node", "Operands",
    "Platform", "Quantisation", "Rate", "RowMoves", "Rule", "Shape", "Tensor", "TileCosts", "TileView",
    "TiledKernelMethods", "Work", "adds", "multiple", "parse_types", "prefer", "whole",
]  # fmt: skip

KiB = 1024
MiB = 1024 * 1024
T = TypeVar("T", bound=type[KernelMethods])


@dataclass(frozen=True)
class MemoryLevel:
    """A named memory. `size` in bytes, None where the target says it. `section` is where the linker puts the buffers of
    tiles that are computed here; `bytes_per_cycle` is what a core loads from here in layers that run whole."""

    name: str
    size: int | None = None
    align: int = 4
    section: str = ""
    readonly: bool = False
    bytes_per_cycle: float = 4.0


@dataclass(frozen=True)
class Copy:
    """An engine that moves boxes from one level to another. `ranks`: dimensions that one command strides over."""

    source: str
    target: str
    ranks: int = 1
    setup_cycles: int = 0
    burst_cycles: int = 0
    bytes_per_cycle: float = 1.0
    asynchronous: bool = False


@dataclass
class Platform:
    """An instruction set with its memories: data, and a registry of kernels.

    `kernels` names the package whose modules declare them; they are imported when a kernel is first asked for.
    `emitter` names the module whose `emit(placed, levels, flags)` writes the project; empty for a folder of C.
    `supports` is what its code can be, by default all that tilewright's own code can; one with an emitter says it. A
    stage leaves out, or refuses, what is not among it.
    With `calibrated` the costs of its kernels agree with counts and binding compares them. With `sweeps` the plan is
    told which elementwise instructions are computed in one sweep. `engines` are the units that compute, where
    there are several: the first runs every kernel that names none, inherited ones above all. `rates` say what kernels,
    inherited ones too, take on its cores.
    """

    name: str
    summary: str
    memory: Sequence[MemoryLevel]
    copies: Sequence[Copy] = ()
    compute_in: str = "ram"
    constants_in: str = "flash"
    inherits: str | None = None
    cores: int = 1
    allowance: Allowance = field(default_factory=Allowance)
    kernels: str = ""
    emitter: str = ""
    supports: Collection[Feature] | None = None
    sweeps: bool = False
    calibrated: bool = False
    engines: Sequence[Engine] = ()
    tile_costs: TileCosts = field(default_factory=TileCosts)
    rates: Mapping[str, Rate] = field(default_factory=dict)
    declared: list[Kernel] = field(default_factory=list, repr=False)

    def __post_init__(self) -> None:
        """Refuse two engines of one name, one whose memory is no level, an emitter that does not say what it can."""
        require_features(self.name, self.emitter, self.supports)
        names = [engine.name for engine in self.engines]
        if twice := next((name for name in names if names.count(name) > 1), ""):
            raise PlatformError(
                f"platform '{self.name}' declares engine '{twice}' twice", why="a kernel names one of them by name",
                fix="give each a name of its own",
            )  # fmt: skip
        levels = {level.name for level in self.memory}
        for engine in self.engines:
            if engine.memory and engine.memory not in levels:
                raise PlatformError(
                    f"engine '{engine.name}' of platform '{self.name}' reads its memory '{engine.memory}'",
                    why=f"the platform declares {', '.join(sorted(levels))}", fix="add that level, or correct the name",
                )  # fmt: skip

    def can(self, feature: Feature) -> bool:
        """True where the code of this platform can be that."""
        return self.supports is None or feature in self.supports

    def add(self, kernel: Kernel) -> None:
        """Register a kernel that was made from another one, with methods of a class of this platform."""
        self.declared.append(kernel)

    def own_kernels(self) -> tuple[Kernel, ...]:
        """The kernels that this platform declares, by preference, then by the names of their modules.

        Imports the modules of the package `kernels`; whatever they raise is raised here.
        """
        if self.kernels:
            package = importlib.import_module(self.kernels)
            for name in sorted(info.name for info in pkgutil.iter_modules(package.__path__)):
                importlib.import_module(f"{self.kernels}.{name}")
        return tuple(sorted(self.declared, key=lambda kernel: (-kernel.preference, type(kernel.methods).__module__)))

    def at_home(self, kernel: Kernel) -> Kernel:
        """The kernel as this platform runs it: on its first engine, or on the one that it names.

        An inherited kernel for an engine that is not here is refused with that sentence.
        """
        names = [engine.name for engine in self.engines]
        if not kernel.engine:
            return replace(kernel, engine=names[0]) if names else kernel
        return kernel if kernel.engine in names else replace(kernel, requires=Needs(engine=kernel.engine))

    def kernel(
        self,
        *ops: str,
        types: str,
        template: str,
        layout: LayoutRule | tuple[LayoutRule, LayoutRule] = "default",
        sources: Sequence[str] = (),
        numerics: str = "exact",
        preference: int = 0,
        requires: Needs | None = None,
        engine: str = "",
    ) -> Callable[[T], T]:
        """Declare a kernel class for one or several operators.

        `layout` is the rule for operands and results, or one for each: `default` row-major, `channels_last`,
        `same` (operands of the result's shape lie alike, results like them), `like` (results keep the order
        of the first operand's axes), `axes` (every axis has a stride), `rows`
        (row-major unless all axes but the last are 1: then any order), `any`
        (the kernel asks `Operands.layout`).
        `template` and `sources` are paths beside the class's own file. `numerics` is `exact` or a relative bound
        such as `1e-5`. `requires` says what the kernel needs of the target's core and
        of the options. Kernels of higher `preference` are tried first
        unless their costs say otherwise, those of one platform before inherited ones. `engine` names the unit of the
        platform that runs it, by default the first.
        """
        declared = [one.name for one in self.engines]
        if engine and engine not in declared:
            raise PlatformError(
                f"a kernel for {', '.join(ops)} names engine '{engine}'",
                why=f"platform '{self.name}' declares " + (", ".join(declared) or "no engines"),
                fix=f'add Engine("{engine}") to its engines, or correct the name',
            )

        def register(cls: T) -> T:
            check_methods(cls)
            folder = Path(inspect.getfile(cls)).parent
            rule = layout if isinstance(layout, tuple) else (layout, layout)
            for op in ops:
                self.add(
                    Kernel(
                        name=cls.__name__, op=op, types=parse_types(types), layout=rule, template=folder / template,
                        sources=tuple((folder / s).resolve() for s in sources), numerics=numerics, methods=cls(),
                        platform=self.name, summary=(cls.__doc__ or "").strip().split("\n")[0],
                        preference=preference, requires=requires or Needs(), calibrated=self.calibrated, engine=engine,
                    )
                )  # fmt: skip
            return cls

        return register
