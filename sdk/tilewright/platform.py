"""What the author of a platform imports: memory levels, copies, kernels, and the platform that holds them.

    PLATFORM = Platform(name="acme", summary="...", memory=LEVELS, copies=COPIES, compute_in="tcm",
                        constants_in="flash", inherits="generic", kernels="acme.kernels")

    @PLATFORM.kernel("Conv", types="qi8, qi8, i32 -> qi8", layout="channels_last", template="conv_i8.c.mako")
    class ConvI8:
        def accepts(self, call): ...

A kernel is a class; every method is optional and has the meaning given in `KernelMethods`. `generic` itself is
written with nothing but the names of this module.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

from tilewright.errors import PlatformError
from tilewright.layout import Layout
from tilewright.model import Array, Clamp, DType, Node, Quantisation, Shape, Tensor
from tilewright.ops.operator import Call
from tilewright.platform_facts import Allowance, Engine, Feature, TileCosts, require_features

__all__ = [
    "Allowance", "Array", "Call", "Clamp", "Constant", "Copy", "DType", "Engine", "Feature", "Kernel", "KernelMethods",
    "KiB", "Layout", "MemoryLevel", "MiB", "Node", "Operands", "Platform", "Quantisation", "Rule", "Shape", "Tensor",
    "TileCosts", "multiple", "prefer", "priced", "whole",
]  # fmt: skip

KiB = 1024
MiB = 1024 * 1024
LayoutRule = Literal["default", "channels_last", "same", "like", "axes", "rows", "any"]
T = TypeVar("T", bound=type)


@dataclass(frozen=True)
class MemoryLevel:
    """A named memory. `size` in bytes, None where the target says it; `section` is the linker section."""

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
    template: str
    ranks: int = 1
    setup_cycles: int = 0
    burst_cycles: int = 0
    bytes_per_cycle: float = 1.0
    asynchronous: bool = False


@dataclass(frozen=True)
class Rule:
    """A demand (`whole`, `multiple`) or a wish (`prefer`) on one loop of the operator, and the sentence why."""

    kind: Literal["whole", "multiple", "prefer"]
    loop: str
    value: int
    why: str


def whole(*loops: str, why: str) -> list[Rule]:
    """These loops are never cut."""
    return [Rule("whole", loop, 0, why) for loop in loops]


def multiple(loop: str, of: int, why: str) -> Rule:
    """Every tile but the last is a multiple of `of`."""
    return Rule("multiple", loop, of, why)


def prefer(loop: str, of: int, why: str) -> Rule:
    """Multiples of `of` are worth trying; nothing is forbidden."""
    return Rule("prefer", loop, of, why)


@dataclass(frozen=True)
class Constant:
    """A constant array as the kernel wants it in memory: weights repacked, tables, multipliers. `values` is flat.

    `along` names loops, outermost first, whose steps own equal parts of the values one after the other: weights
    packed [oc][kh][kw][ic] are `along=("oc",)`, a tile of output channels needs only its part. Without it it needs all.
    """

    name: str
    dtype: DType
    values: Array
    align: int = 4
    along: tuple[str, ...] = ()


@dataclass(frozen=True)
class Operands:
    """What a kernel is asked about: the call and the memory layout of every operand and result.

    `layouts` maps tensor names to layouts; constants lie in the order that `Kernel.constants` gives them.
    """

    call: Call
    layouts: Mapping[str, Layout] = field(default_factory=dict)

    def layout(self, tensor: Tensor) -> Layout:
        """Layout of a tensor, row-major where none was decided."""
        return self.layouts.get(tensor.name, Layout.default(tensor.shape))


class KernelMethods(Protocol):
    """The methods that a kernel class may have; those that it lacks take the defaults described here.

    accepts(call)          None, or the sentence why this kernel cannot run the node. Default: None.
    rules(call)            how the tiler may cut the operator's loops. A kernel that lacks it is never cut: it runs
                           whole, on operands where they lie; an empty list means that any tile will do.
    cycles(call, sizes)    estimated cycles of one tile; `sizes` maps every loop to an integer or an array of
                           candidates. Default: points of the tile divided by the platform's cores.
    tile_scratch(call, sizes)  bytes of working memory of one tile, as above. Default: that of the whole call.
    constants(operands)    tuple of `Constant`: what lies in flash for this node, e.g. repacked weights. Default: every
                           constant operand as it is, in the layout of the rule.
    scratch(operands)      bytes of working memory that one call needs. Default: 0.
    context(operands)      a frozen dataclass with every number that the template prints. Default: None.
    cost(call)             estimated instructions of one call on the cores that the platform is for. Of several kernels
                           of one platform that accept a node, the cheapest is bound; one without `cost` keeps its
                           place in the order of preference. Default: elements.
    overlap(operands)      tuple of (operand index, result index, gap): the result may lie over the dying operand as
                           long as it starts at least `gap` bytes before it (negative: inside). Default: ().
    in_place(call)         tuple of (operand index, result index) pairs whose memory may be the same. Default: ().
    tolerance              class attribute: declared relative error of a float kernel against the operator's meaning.
    """


@dataclass(frozen=True)
class Kernel:
    """One kernel as registered: what it declares and the object whose methods are asked."""

    name: str
    op: str
    types: tuple[tuple[str, ...], tuple[str, ...]]
    layout: tuple[LayoutRule, LayoutRule]
    template: Path
    sources: tuple[Path, ...]
    numerics: str
    methods: Any
    platform: str
    summary: str = ""
    flags: tuple[str, ...] = ()
    preference: int = 0
    requires: tuple[str, ...] = ()
    lacking: str = ""
    calibrated: bool = False
    engine: str = ""

    def on_core(self, capabilities: Sequence[str]) -> Kernel:
        """The kernel as a core with these capabilities sees it: refused where one that it requires is missing."""
        unmet = (n for n in self.requires if (n.removeprefix("no ") in capabilities) == n.startswith("no "))
        missing = next(unmet, "")
        return replace(self, lacking=missing) if missing != self.lacking else self

    def accepts(self, call: Call) -> str | None:
        """None, or the sentence why this kernel cannot run the node."""
        if self.lacking.startswith("--"):
            return f"it is offered with {self.lacking} only"
        if self.lacking.startswith("engine "):
            return f"the platform declares no {self.lacking}"
        if self.lacking:
            has = f"'{self.lacking.removeprefix('no ')}'" if self.lacking.startswith("no ") else f"no '{self.lacking}'"
            return f"the core has {has} among its capabilities"
        method = getattr(self.methods, "accepts", None)
        return method(call) if method else None

    @property
    def tileable(self) -> bool:
        """True where the kernel declares how it may be cut."""
        return hasattr(self.methods, "rules")

    def cycles(self, call: Call, sizes: Mapping[str, Any]) -> Any | None:
        """Estimated cycles of one tile, an integer or an array as `sizes`; None where the kernel gives no estimate."""
        method = getattr(self.methods, "cycles", None)
        return method(call, sizes) if method else None

    def tile_scratch(self, operands: Operands, sizes: Mapping[str, Any]) -> Any:
        """Bytes of working memory of one tile, an integer or an array as `sizes`."""
        method = getattr(self.methods, "tile_scratch", None)
        return method(operands.call, sizes) if method else self.scratch(operands)

    def rules(self, call: Call) -> list[Rule]:
        """How the tiler may cut the operator's loops."""
        method = getattr(self.methods, "rules", None)
        return list(method(call)) if method else []

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """What lies in read-only memory for this node."""
        method = getattr(self.methods, "constants", None)
        return tuple(method(operands)) if method else plain_constants(operands)

    def scratch(self, operands: Operands) -> int:
        """Bytes of working memory of one call."""
        method = getattr(self.methods, "scratch", None)
        return int(method(operands)) if method else 0

    def context(self, operands: Operands) -> object:
        """The typed numbers that the template prints."""
        method = getattr(self.methods, "context", None)
        return method(operands) if method else None

    def cost(self, call: Call) -> float:
        """Estimated instructions of one call."""
        method = getattr(self.methods, "cost", None)
        return float(method(call)) if method else float(sum(t.elements for t in call.outputs))

    def declared_cost(self, call: Call) -> float | None:
        """Estimated instructions of one call; None where the kernel declares no estimate of its own."""
        return self.cost(call) if hasattr(self.methods, "cost") else None

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """Results that may lie over a dying operand, with the distance in bytes that the kernel proves safe."""
        method = getattr(self.methods, "overlap", None)
        return tuple(method(operands)) if method else ()

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Pairs of operand and result that may share memory."""
        method = getattr(self.methods, "in_place", None)
        return tuple(method(call)) if method else ()


def priced(work: Sequence[float], prices: Sequence[float]) -> float:
    """Instructions of some work: amounts times instructions for one of each; for `cost` of a kernel."""
    return float(sum(amount * price for amount, price in zip(work, prices, strict=True)))


def plain_constants(operands: Operands) -> tuple[Constant, ...]:
    """Every constant operand as it is, row-major, named by its place: `c1`, `c2`, ..."""
    call = operands.call
    found = []
    for index, value in sorted(call.constants.items()):
        tensor = call.tensor(index)
        found.append(Constant(f"c{index}", tensor.dtype, value.reshape(-1)))
    return tuple(found)


def parse_types(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """`"f32, f32 -> f32"` to `(("f32", "f32"), ("f32",))`.

    A token is a type (`f32`, `qi8`), alternatives (`f32|f64`), `*` for any type, a token followed by `?` for an
    operand that may be missing, or by `...` for any number of operands of that type.
    """
    left, arrow, right = text.partition("->")
    if not arrow:
        raise PlatformError(f"types '{text}' lack '->'", fix='write for instance "f32, f32 -> f32"')
    return tuple(t.strip() for t in left.split(",") if t.strip()), tuple(t.strip() for t in right.split(","))


@dataclass
class Platform:
    """An instruction set with its memories: data, and a registry of kernels.

    `kernels` names the package whose modules declare them; they are imported when a kernel is first asked for.
    `emitter` names the module whose `emit(placed, levels, flags)` writes the project; empty for a folder of C.
    `supports` is what its code can be, by default all that tilewright's own code can; one with an emitter says it. A
    stage leaves out, or refuses, what is not among it.
    With `calibrated` the costs of its kernels agree with counts and binding compares them. With `sweeps` the plan is
    told which elementwise instructions are computed in one sweep. `engines` are the units that compute, where
    there are several: the first runs every kernel that names none, inherited ones above all.
    """

    name: str
    summary: str
    memory: Sequence[MemoryLevel]
    copies: Sequence[Copy] = ()
    compute_in: str = "ram"
    constants_in: str = "flash"
    inherits: str | None = None
    headers: Sequence[str] = ()
    cores: int = 1
    allowance: Allowance = field(default_factory=Allowance)
    kernels: str = ""
    emitter: str = ""
    supports: Collection[Feature] | None = None
    sweeps: bool = False
    calibrated: bool = False
    engines: Sequence[Engine] = ()
    tile_costs: TileCosts = field(default_factory=TileCosts)
    declared: list[Kernel] = field(default_factory=list, repr=False)

    def __post_init__(self) -> None:
        """Refuse two engines of one name, and an emitter of which nobody says what it supports."""
        require_features(self.name, self.emitter, self.supports)
        names = [engine.name for engine in self.engines]
        if twice := next((name for name in names if names.count(name) > 1), ""):
            raise PlatformError(
                f"platform '{self.name}' declares engine '{twice}' twice", why="a kernel names one of them by name",
                fix="give each a name of its own",
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
        return kernel if kernel.engine in names else replace(kernel, requires=(f"engine {kernel.engine}",))

    def kernel(
        self,
        *ops: str,
        types: str,
        template: str,
        layout: LayoutRule | tuple[LayoutRule, LayoutRule] = "default",
        sources: Sequence[str] = (),
        numerics: str = "exact",
        flags: Sequence[str] = (),
        preference: int = 0,
        requires: Sequence[str] = (),
        engine: str = "",
    ) -> Callable[[T], T]:
        """Declare a kernel class for one or several operators.

        `layout` is the rule for operands and results, or one for each: `default` row-major, `channels_last`,
        `same` (operands of the result's shape lie alike, results like them), `like` (results keep the order
        of the first operand's axes), `axes` (every axis has a stride), `rows`
        (row-major unless all axes but the last are 1: then any order), `any`
        (the kernel asks `Operands.layout`).
        `template` and `sources` are paths beside the class's own file. `numerics` is `exact` or a relative bound
        such as `1e-5`. `requires` names what the target's core must have in its `capabilities`, or with `no ` in
        front what it must not, or an option such as `--optimize speed`. Kernels of higher `preference` are tried first
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
            folder = Path(inspect.getfile(cls)).parent
            rule = layout if isinstance(layout, tuple) else (layout, layout)
            for op in ops:
                self.add(
                    Kernel(
                        name=cls.__name__, op=op, types=parse_types(types), layout=rule, template=folder / template,
                        sources=tuple((folder / s).resolve() for s in sources), numerics=numerics, methods=cls(),
                        platform=self.name, summary=(cls.__doc__ or "").strip().split("\n")[0], flags=tuple(flags),
                        preference=preference, requires=tuple(requires), calibrated=self.calibrated, engine=engine,
                    )
                )  # fmt: skip
            return cls

        return register
