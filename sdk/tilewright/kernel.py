"""What the author of a kernel writes, and `Kernel`, one as registered; import it from `tilewright.platform`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

from tilewright.errors import PlatformError
from tilewright.layout import Layout, RowMoves
from tilewright.model import Array, DType, Tensor
from tilewright.ops.index.affine import Tile
from tilewright.ops.index.nest import Access, Footprint
from tilewright.ops.operator import Call

LayoutRule = Literal["default", "channels_last", "same", "like", "axes", "rows", "any"]


@dataclass(frozen=True)
class Rule:
    """A demand (`whole`, `multiple`), a wish (`prefer`) or a permission (`adds`) on one loop, and the sentence why."""

    kind: Literal["whole", "multiple", "prefer", "adds"]
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


def adds(*loops: str, why: str) -> list[Rule]:
    """These loops may be cut although some results are sums over them: a tile adds to what earlier ones have left in
    the compute level; the first, whose range begins at 0, begins the sum, and the last ends it."""
    return [Rule("adds", loop, 0, why) for loop in loops]


@dataclass(frozen=True)
class Constant:
    """A constant array as the kernel wants it in memory: weights repacked, tables, multipliers. `values` is flat.

    `along` names loops, outermost first, whose steps own equal parts of the values one after the other: weights
    packed [oc][kh][kw][ic] are `along=("oc",)`, a tile of output channels needs only its part. Without it it needs all.
    Equal ones of several nodes lie in one place. `level` names a memory in which it rests and is read by an engine of
    its own; it is never copied, and a tile is given all of it.
    """

    name: str
    dtype: DType
    values: Array
    align: int = 4
    along: tuple[str, ...] = ()
    level: str = ""

    @property
    def size_bytes(self) -> int:
        """Bytes that the values take; elements of four bits lie two to a byte, the last byte may be half used."""
        return -(-self.values.size * self.dtype.bits // 8)


@dataclass(frozen=True)
class Operands:
    """What a kernel is asked about: the call and the memory layout of every operand and result.

    `layouts` maps tensor names to layouts; constants lie in the order that `KernelMethods.constants` gives them.
    """

    call: Call
    layouts: Mapping[str, Layout] = field(default_factory=dict)

    def layout(self, tensor: Tensor) -> Layout:
        """Layout of a tensor, row-major where none was decided."""
        return self.layouts.get(tensor.name, Layout.default(tensor.shape))


@dataclass(frozen=True)
class TileView:
    """One tile as its kernel sees it: loop ranges; and by operand name the box with the padding that it lacks, and how
    the operand is accessed. `stage` is the layer's place among those that are computed tile by tile together."""

    loops: Tile
    boxes: Mapping[str, Footprint]
    accesses: Mapping[str, tuple[Access, ...]] = field(default_factory=dict)
    stage: int = 0

    def size(self, loop: str) -> int:
        """Steps of a loop in this tile."""
        low, high = self.loops[loop]
        return high - low


@dataclass(frozen=True)
class Work:
    """Amounts of several kinds of work, one field for each; for `cost` of a kernel.

    A kernel names the kinds in a class of its own. Its prices are a value of that class, too: instructions for one
    unit of each kind, as a calibration found them.
    """

    def priced(self, prices: Self) -> float:
        """Instructions of this work: the sum of amounts times prices."""
        amounts = zip(vars(self).values(), vars(prices).values(), strict=True)
        return float(sum(amount * price for amount, price in amounts))


class KernelMethods:
    """What a kernel class answers; override what differs from these answers. A kernel of this class is never cut.

    One object answers for every node that the kernel computes, so it keeps nothing between two questions. Of constants
    of a kernel that is cut, the cores read those named in `at_rest` where they rest. A kernel of Relayout may say
    by `row_moves` how rows of chains are moved on its cores.
    """

    at_rest: ClassVar[frozenset[str]] = frozenset()
    row_moves: ClassVar[RowMoves | None] = None

    def accepts(self, call: Call) -> str | None:
        """None, or the sentence why this kernel cannot run the node."""
        return None

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """What lies in read-only memory for this node, e.g. weights repacked.

        By default every constant operand as it is, row-major, named by its place: `c1`, `c2`, ...
        """
        call = operands.call
        return tuple(
            Constant(f"c{index}", call.tensor(index).dtype, value.reshape(-1))
            for index, value in sorted(call.constants.items())
        )

    def scratch(self, operands: Operands) -> int:
        """Bytes of working memory that one call needs."""
        return 0

    def context(self, operands: Operands) -> object:
        """A frozen dataclass with every number that the template prints, there called `k`."""
        return None

    def cost(self, call: Call) -> float | None:
        """Estimated instructions of one call on the cores that the platform is for; None: no estimate.

        Of several kernels of one platform that accept a node, the cheapest is bound; one without an estimate keeps
        its place in the order of preference, and elsewhere the elements of its results stand for it.
        """
        return None

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """(operand index, result index, gap in bytes): the result may lie over the operand, if that dies here, as long
        as it starts at least so many bytes before it (negative: inside)."""
        return ()

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """(operand index, result index) pairs whose memory may be the same."""
        return ()

    def adds_in_order(self, call: Call) -> bool:
        """True where every float sum of products starts from the bias and adds one product behind the other: place by
        place of the window, in each the channels of the group; inputs of a matrix product from the first on. A mean
        starts from zero, adds the window place by place, and is divided once. Bounds of rounding errors rest on it.
        """
        return False

    def adds_planes(self, operands: Operands) -> bool:
        """True where a convolution that adds in order goes channel by channel, in each place by place."""
        return False


class TiledKernelMethods(KernelMethods, ABC):
    """What a kernel answers that computes one tile in the compute level, on all cores; see docs/tiling.md.

    Its function takes, beside its pointers, `const TYPE *tile, int core, int cores`, where TYPE is `tile_type`: a
    struct that its sources declare, or its template, then called `{function}_...` after the function. A kernel of
    several `phases` is called once for each of them, with `int phase` behind its tile: no core begins one before all
    have ended the one before, so what one core leaves in working memory another may read. One that `gives_way` cuts
    nothing: a layer that the compute level does not hold goes to another kernel, unless none may fall back.
    """

    tile_type: ClassVar[str] = ""
    phases: ClassVar[int] = 1
    gives_way: ClassVar[bool] = False

    @abstractmethod
    def rules(self, call: Call) -> list[Rule]:
        """How the tiler may cut the operator's loops, each with its reason; an empty list: any tile will do."""

    @abstractmethod
    def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
        """The members of `tile_type` for one tile, by name."""

    def cycles(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """Estimated cycles of one tile; `sizes` maps every loop to an integer or to an array of candidates, as is the
        result. None: the points of the tile, shared by the platform's cores."""
        return None

    def tile_scratch(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """Bytes of working memory of one tile, for `sizes` as above. None: those of the whole call."""
        return None


@dataclass(frozen=True)
class JobTimes:
    """Modelled cycles of the jobs of a tile, taken as alike: `before` the first one starts, and what each takes the
    engine and the cores."""

    jobs: int
    before: float
    engine: float
    cores: float


class JobKernelMethods(TiledKernelMethods, ABC):
    """What a kernel answers whose tiles an engine computes as jobs, beside the cores; see docs/new_engine.md.

    Its template writes three functions: `int {function}_jobs(const TYPE *tile)`, how many jobs a tile is;
    `{function}_write(...)`, on the core that drives the tiles, which writes one job down for the engine; and
    `{function}(...)`, in which the cores finish what a job has computed. The last two take `int job` behind `tile`.
    While the cores finish a job the next one runs, and the one after that is written: results of two jobs are alive.
    The firmware brings `tilewright_{engine}_start` and `tilewright_{engine}_wait`.
    """

    def job_times(self, call: Call, sizes: Mapping[str, int]) -> JobTimes | None:
        """The jobs of a tile as the model of costs has them, for what is told and drawn; None: engine and cores are
        both taken to work as long as the tile does."""
        return None


VECTORS = "simd"
"""The capability of a core for which compilers make vectors of plain C."""


@dataclass(frozen=True)
class Needs:
    """What a kernel requires, and is refused without: capabilities that the target's core `has` or `lacks`, the aim of
    `--optimize`, the `engine` that its platform must declare."""

    has: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    optimize: Literal["", "speed", "balanced", "size"] = ""
    engine: str = ""

    def __bool__(self) -> bool:
        """True where anything is required."""
        return bool(self.words())

    def words(self) -> tuple[str, ...]:
        """What is required, in words."""
        return (
            *((f"engine {self.engine}",) if self.engine else ()), *self.has, *(f"no {name}" for name in self.lacks),
            *((f"--optimize {self.optimize}",) if self.optimize else ()),
        )  # fmt: skip

    def unmet(self, capabilities: Collection[str], aims: Collection[str]) -> str | None:
        """None, or the sentence why a core with these capabilities cannot run the kernel under one of these aims."""
        if self.engine:
            return f"the platform declares no engine {self.engine}"
        if missing := next((name for name in self.has if name not in capabilities), ""):
            return f"the core has no '{missing}' among its capabilities"
        if unwanted := next((name for name in self.lacks if name in capabilities), ""):
            return f"the core has '{unwanted}' among its capabilities"
        if self.optimize and self.optimize not in aims:
            return f"it is offered with --optimize {self.optimize} only"
        return None


@dataclass(frozen=True)
class Kernel:
    """One kernel as registered: what it declares, the object that answers for it, and how the target sees it.

    `refusal` says why the core of the target cannot run it; None where it can, or where no target was asked.
    `vectorised`: the core's compilers make vectors of plain C. There alone pointers have `restrict`: scalar code is the
    same without it, and MISRA C:2012 (rule 8.14) refuses the word.
    """

    name: str
    op: str
    types: tuple[tuple[str, ...], tuple[str, ...]]
    layout: tuple[LayoutRule, LayoutRule]
    template: Path
    sources: tuple[Path, ...]
    numerics: str
    methods: KernelMethods
    platform: str
    summary: str = ""
    preference: int = 0
    requires: Needs = Needs()
    refusal: str | None = None
    calibrated: bool = False
    engine: str = ""
    vectorised: bool = False

    def on_core(self, capabilities: Collection[str], aims: Collection[str]) -> Kernel:
        """The kernel as a core with these capabilities sees it, where code is made for one of these aims
        (`--optimize`): refused where it requires something else."""
        refusal, vectorised = self.requires.unmet(capabilities, aims), VECTORS in capabilities
        changed = (refusal, vectorised) != (self.refusal, self.vectorised)
        return replace(self, refusal=refusal, vectorised=vectorised) if changed else self

    def accepts(self, call: Call) -> str | None:
        """None, or the sentence why this kernel cannot run the node."""
        return self.refusal or self.methods.accepts(call)

    @property
    def tiled(self) -> TiledKernelMethods | None:
        """The methods of a kernel that computes tiles; None for one that is never cut."""
        return self.methods if isinstance(self.methods, TiledKernelMethods) else None

    @property
    def gives_jobs(self) -> bool:
        """True for a kernel whose engine takes jobs beside the cores."""
        return isinstance(self.methods, JobKernelMethods)

    @property
    def phases(self) -> int:
        """How often the cores are called for a tile, each time when all have ended."""
        return self.tiled.phases if self.tiled else 1

    @property
    def gives_way(self) -> bool:
        """True where a layer that the compute level does not hold goes to another kernel."""
        return self.tiled is not None and self.tiled.gives_way

    @property
    def tileable(self) -> bool:
        """True where the kernel declares how it may be cut."""
        return self.tiled is not None

    def cycles(self, call: Call, sizes: Mapping[str, Any]) -> Any | None:
        """Estimated cycles of one tile, an integer or an array as `sizes`; None where the kernel gives no estimate."""
        return self.tiled.cycles(call, sizes) if self.tiled else None

    def job_times(self, call: Call, sizes: Mapping[str, int]) -> JobTimes | None:
        """The jobs of a tile as modelled; None where the kernel gives none, or does not say."""
        return self.methods.job_times(call, sizes) if isinstance(self.methods, JobKernelMethods) else None

    def tile_scratch(self, operands: Operands, sizes: Mapping[str, Any]) -> Any:
        """Bytes of working memory of one tile, an integer or an array as `sizes`."""
        size_bytes = self.tiled.tile_scratch(operands.call, sizes) if self.tiled else None
        return self.scratch(operands) if size_bytes is None else size_bytes

    def rules(self, call: Call) -> list[Rule]:
        """How the tiler may cut the operator's loops."""
        return list(self.tiled.rules(call)) if self.tiled else []

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """What lies in read-only memory for this node."""
        return self.methods.constants(operands)

    def scratch(self, operands: Operands) -> int:
        """Bytes of working memory of one call."""
        return int(self.methods.scratch(operands))

    def context(self, operands: Operands) -> object:
        """The typed numbers that the template prints."""
        return self.methods.context(operands)

    def cost(self, call: Call) -> float:
        """Estimated instructions of one call; where the kernel declares none, the elements of its results."""
        declared = self.declared_cost(call)
        return float(sum(t.elements for t in call.outputs)) if declared is None else declared

    def declared_cost(self, call: Call) -> float | None:
        """Estimated instructions of one call; None where the kernel declares no estimate of its own."""
        cost = self.methods.cost(call)
        return None if cost is None else float(cost)

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """Results that may lie over a dying operand, with the distance in bytes that the kernel proves safe."""
        return self.methods.overlap(operands)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Pairs of operand and result that may share memory."""
        return self.methods.in_place(call)


def parse_types(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """`"f32, f32 -> f32"` to `(("f32", "f32"), ("f32",))`.

    A token is a type (`f32`, `qi8`), alternatives (`f32|f64`), `*` for any type, a token followed by `?` for an
    operand that may be missing, or by `...` for any number of operands of that type.
    """
    left, arrow, right = text.partition("->")
    if not arrow:
        raise PlatformError(f"types '{text}' lack '->'", fix='write for example "f32, f32 -> f32"')
    return tuple(t.strip() for t in left.split(",") if t.strip()), tuple(t.strip() for t in right.split(","))
