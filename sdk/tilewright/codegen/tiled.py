"""Tiled layers in C: per schedule one function with static tables of tiles and copies, and its tile loop.

A kernel that can be cut computes one tile: beside its pointers, which point to buffers in the compute level, it is
given `const <tile_type> *tile, int core, int cores`. Its class says `tile_type`, a struct that its sources declare, and
`tile(call, view)`, the struct's members for one tile. Copies are lists that the HAL of the target starts and waits for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise, product
from pathlib import Path

from tilewright.codegen.c_types import C_TYPES
from tilewright.codegen.comments import safe
from tilewright.codegen.parameters import Parameter, parameters
from tilewright.codegen.pointers import Pointer
from tilewright.codegen.render import render
from tilewright.codegen.tables import COPY, Cell, Members, Struct, Table
from tilewright.plan.plan import ExecutionPlan, Instruction
from tilewright.platform import Kernel, TiledKernelMethods, TileView
from tilewright.tiling.schedule import Operand, Stage, TileCopy, TileSchedule, TileStep

TEMPLATES = Path(__file__).parent / "templates"
HEADER = "tilewright_cluster.h"


@dataclass(frozen=True)
class Place:
    """A pointer of a tiled function into the compute level, by its name in what a stage's cores are given."""

    name: str
    at: str


@dataclass(frozen=True)
class StageText:
    """One kernel call per tile. `guard` is its bit in a tile's `computed`, 0 where every tile computes it. `engine`
    names the unit that takes the tile as jobs, empty where the cores compute it; else they are called for each of its
    `phases`.
    """

    number: int
    kernel: str
    arguments: tuple[Place, ...]
    guard: int
    comment: str
    engine: str = ""
    phases: int = 1

    @property
    def functions(self) -> tuple[str, ...]:
        """What the cores are called with, for each phase."""
        return core_functions(self.kernel, self.phases)


@dataclass(frozen=True)
class CoresText:
    """A kernel's function as the cores are called with it, one tile of it as one value: `jobs` where an engine takes
    part in it.
    """

    kernel: str
    parameters: tuple[Parameter, ...]
    tile_type: str
    phases: int
    jobs: bool

    @property
    def declarations(self) -> tuple[str, ...]:
        """The pointers of a tile, as members of a structure."""
        return tuple(one.text(False) for one in self.parameters)

    @property
    def pointers(self) -> tuple[tuple[str, str], ...]:
        """The same as variables, with their names: the structure is const, not what they point to."""
        texts = (one.text(False) for one in self.parameters)
        return tuple((text.replace("*", "*const "), one.name) for text, one in zip(texts, self.parameters, strict=True))

    @property
    def functions(self) -> tuple[tuple[str, str], ...]:
        """The function for each phase, and what it hands on to the kernel."""
        which = ["work->job, "] if self.jobs else [""] if self.phases == 1 else [f"{n}, " for n in range(self.phases)]
        return tuple(zip(core_functions(self.kernel, self.phases), which, strict=True))


@dataclass(frozen=True)
class TiledLayer:
    """Everything that the template prints of one schedule. `homes` are the function's own parameters, `loaded` the
    copies that start before the first tile.
    """

    name: str
    level: str
    parameters: str
    homes: tuple[str, ...]
    stages: tuple[StageText, ...]
    copies: Table
    tiles: Table
    loaded: int
    double: bool
    comment: str

    @property
    def count(self) -> int:
        """Number of tiles."""
        return len(self.tiles.rows)

    @property
    def early(self) -> bool:
        """True where every tile begins with jobs: they run while the driver fills in what later stages are given."""
        return bool(self.stages[0].engine) and not self.stages[0].guard

    def following(self, stage: StageText) -> StageText | None:
        """The stage whose first job is written while the cores finish a stage's last: the next one, of every tile."""
        behind = next((other for other in self.stages if other.number == stage.number + 1), None)
        if behind is None or behind.engine != stage.engine or behind.guard or stage.guard:
            return None
        return behind

    def written_ahead(self, stage: StageText) -> bool:
        """True where a stage's first job is written before the stage begins: by the one before, or with the tile."""
        before = next((other for other in self.stages if other.number + 1 == stage.number), None)
        if before is None:
            return self.early
        return bool(before.engine) and self.following(before) is stage

    @property
    def table_bytes(self) -> int:
        """Bytes of the tables in flash."""
        return self.copies.size_bytes + self.tiles.size_bytes


@dataclass(frozen=True)
class Home:
    """A tensor or constant outside the compute level: the operand, its parameter, its address in the call.

    One that is not `copied` is read where it lies: the kernel takes the parameter itself.
    """

    key: str
    declaration: str
    name: str
    argument: Pointer
    copied: bool = True


@dataclass(frozen=True)
class Member:
    """A stage's instruction, the name of its kernel's function, and the addresses of its operands at home by key."""

    instruction: Instruction
    stage: Stage
    function: str
    homes: tuple[Home, ...]


def tile_type_of(kernel: Kernel, function: str) -> str:
    """The struct of a tile's numbers; one that a kernel declares beside its function bears the function's name."""
    return _tiled(kernel).tile_type.replace("{function}", function)


def tile_parameters(kernel: Kernel, function: str) -> str:
    """What a tiled kernel's function takes beside its pointers."""
    which = "int job, " if kernel.gives_jobs else "int phase, " if kernel.phases > 1 else ""
    return f"const {tile_type_of(kernel, function)} *tile, {which}int core, int cores"


def core_functions(function: str, phases: int) -> tuple[str, ...]:
    """Names of what the cores are called with, for each phase of a kernel's function."""
    if phases == 1:
        return (f"{function}_core",)
    return tuple(f"{function}_core_phase{phase}" for phase in range(phases))


def cores_text(kernel: Kernel, function: str, listed: Sequence[Parameter]) -> str:
    """C of what the cores are called with, to stand behind the kernel's function."""
    text = CoresText(function, tuple(listed), tile_type_of(kernel, function), kernel.phases, kernel.gives_jobs)
    return render(TEMPLATES / "cores.c.mako", m=text)


def job_parameters(kernel: Kernel, function: str) -> str:
    """What a kernel that gives jobs takes beside its pointers to write one; nothing for all others."""
    return f"const {tile_type_of(kernel, function)} *tile, int job" if kernel.gives_jobs else ""


def _tiled(kernel: Kernel) -> TiledKernelMethods:
    assert kernel.tiled is not None, "a kernel that is never cut has no tiles"
    return kernel.tiled


def home_of(
    plan: ExecutionPlan, operand: Operand, instruction: Instruction, number: int, argument: Pointer, many: bool
) -> Home:
    """The parameter through which a tiled function reaches an operand at home."""
    if operand.kind == "constant":
        dtype = plan.frozen_slots[instruction.frozen[operand.index]].constant.dtype
    else:
        slots = instruction.outputs if operand.kind == "output" else instruction.inputs
        dtype = plan.slots[slots[operand.index]].tensor.dtype
    name = f"{operand.name}_{number}" if many else operand.name
    const = "" if operand.kind == "output" else "const "
    return Home(operand.key, f"{const}{C_TYPES[dtype]} *{name}", name, argument)


def read_in_place(
    plan: ExecutionPlan, instruction: Instruction, number: int, many: bool, addresses: Mapping[int, str]
) -> tuple[Home, ...]:
    """The constants that an engine or the cores read where they rest, by the addresses of frozen slots."""
    homes = []
    for index in instruction.frozen:
        constant = plan.frozen_slots[index].constant
        if constant.level or constant.name in instruction.kernel.methods.at_rest:
            name = f"{constant.name}_{number}" if many else constant.name
            declaration = f"const {C_TYPES[constant.dtype]} *{name}"
            homes.append(Home(f"{number}.c.{constant.name}", declaration, name, Pointer(addresses[index]), False))
    return tuple(homes)


def tiled_function(
    name: str, level: str, plan: ExecutionPlan, schedule: TileSchedule, members: Sequence[Member]
) -> tuple[str, int]:
    """C of one schedule, and bytes of its tables."""
    steps = tuple(schedule.steps())
    homes = [home for member in members for home in member.homes]
    at = {home.key: index for index, home in enumerate(home for home in homes if home.copied)}
    deep = [o for stage in schedule.stages for o in stage.operands if _own(o) and (o.depth > 1 or _parted(schedule, o))]
    copies, ends = _copies(schedule, steps, at)
    spans = tuple(pairwise(ends))
    guards = [number for number in range(len(members)) if not all(step.computed[number] for step in steps)]
    stages = tuple(
        stage_text(plan, number, member, deep, level, number in guards) for number, member in enumerate(members)
    )
    layer = TiledLayer(
        name=name,
        level=level,
        parameters=", ".join(home.declaration for home in homes),
        homes=tuple(home.name for home in homes if home.copied),
        stages=stages,
        copies=copies,
        tiles=_tiles(schedule, steps, members, deep, spans, bool(guards)),
        loaded=spans[0][0],
        double=schedule.double,
        comment=_comment(schedule),
    )
    return render(TEMPLATES / "tiled.c.mako", m=layer), layer.table_bytes


def _tiles(
    schedule: TileSchedule, steps: Sequence[TileStep], members: Sequence[Member], deep: Sequence[Operand],
    spans: Sequence[tuple[int, int]], guarded: bool,
) -> Table:  # fmt: skip
    """Per tile the copies that start with it, its moving buffers, the stages it computes, and the kernels' numbers."""
    numbers = [[numbers_of(member, step, number) for number, member in enumerate(members)] for step in steps]
    fields = [Members("int", ("first", "end")), *(Members("int", (_buffer(operand),)) for operand in deep)]
    fields += [Members("unsigned", ("computed",))] * guarded
    for number, (member, values) in enumerate(zip(members, numbers[0], strict=True)):
        tile_type = tile_type_of(member.instruction.kernel, member.function)
        struct = Struct(tile_type, (Members("int", tuple(values)),), designated=True)
        fields.append(Members(struct, (f"numbers{number}",)))
    rows = list[tuple[Cell, ...]]()
    for step, given in zip(steps, numbers, strict=True):
        computed = sum(1 << number for number, computed in enumerate(step.computed) if computed)
        places = (_place(schedule, operand, step) for operand in deep)
        cells: list[Cell] = [*spans[step.index], *places, *[computed] * guarded]
        rows.append((*cells, *(tuple(values.values()) for values in given)))
    return Table(Struct("", tuple(fields)), tuple(rows), tuple(_ranges(step, schedule.order) for step in steps))


def _own(operand: Operand) -> bool:
    """True for operands with buffers of their own: a local result is counted where it is made."""
    return not (operand.kind == "local" and operand.index >= 0)


def _parted(schedule: TileSchedule, operand: Operand) -> bool:
    """True for constants that lie in the compute level as a whole, and of which a tile needs a part."""
    return operand.kind == "constant" and schedule.resident(operand) and bool(schedule.moving[operand.key])


def _place(schedule: TileSchedule, operand: Operand, step: TileStep) -> int:
    """Byte of the compute level at which one tile finds an operand."""
    if _parted(schedule, operand):
        return operand.offset + operand.transfer(step.boxes[operand.key].box).offset * operand.bits // 8
    return operand.offset + step.buffers[operand.key] * operand.size


def _buffer(operand: Operand) -> str:
    return f"at_{operand.key.replace('.', '_')}"


def stage_text(
    plan: ExecutionPlan, number: int, member: Member, deep: Sequence[Operand], level: str, guarded: bool
) -> StageText:
    """What is printed of a stage; `deep` are operands whose place differs from tile to tile."""
    instruction, stage = member.instruction, member.stage
    moving = {operand.key for operand in deep}
    arguments = []
    operands = _in_order(plan, member)
    for parameter, operand in zip(parameters(plan, instruction), [*operands, None], strict=False):
        if isinstance(operand, Home):
            arguments.append(Place(parameter.name, operand.name))
            continue
        if operand is None:
            place = str(stage.scratch_offset)
        else:
            place = f"tiles[t].{_buffer(operand)}" if operand.key in moving else str(operand.offset)
        const = "const " if parameter.readonly else ""
        cast = f"({const}{parameter.c_type} *)(void *)" if const or parameter.c_type != "void" else "(void *)"
        arguments.append(Place(parameter.name, f"{cast}{level if place == '0' else f'({level} + {place})'}"))
    node = instruction.call.node
    return StageText(
        number, member.function, tuple(arguments),
        1 << number if guarded else 0, f"{safe(node.op)} '{safe(node.name)}'",
        instruction.kernel.engine if instruction.kernel.gives_jobs else "", instruction.kernel.phases,
    )  # fmt: skip


def _in_order(plan: ExecutionPlan, member: Member) -> list[Operand | Home]:
    """The stage's operands in the order of the kernel's parameters: operands, results, constants."""
    instruction, stage = member.instruction, member.stage
    inputs = [o for o in stage.operands if o.kind == "input" or (o.kind == "local" and o.index >= 0)]
    results = [o for o in stage.operands if o.kind == "output" or (o.kind == "local" and o.index < 0)]
    copied = {o.name: o for o in stage.operands if o.kind == "constant"}
    in_place = {home.key.rpartition(".")[2]: home for home in member.homes if not home.copied}
    names = [plan.frozen_slots[index].constant.name for index in instruction.frozen]
    return [*sorted(inputs, key=lambda o: o.index), *results, *(copied.get(n) or in_place[n] for n in names)]


def _copies(schedule: TileSchedule, steps: Sequence[TileStep], at: Mapping[str, int]) -> tuple[Table, list[int]]:
    """All copies in the order in which they start, and the ends of the lists: of the first tile's loads, then of what
    starts with each tile. What is behind the last end is stored when all tiles are done.

    With single buffers a tile's list starts behind its kernels: the next one's loads, its stores. With double ones it
    starts beside them: the next one's loads, the stores of the tile before; what is stored once has no second buffer
    and goes last. Pinned constants are there already, see `staging.py`.
    """
    late = 2 if schedule.double else 1
    lists: list[list[tuple[int, ...]]] = [[] for _ in range(len(steps) + late)]
    for step in steps:
        for move in step.loads:
            lists[step.index] += copy_rows(schedule, move, at[move.key], False)
    for step in steps:  # behind the loads, which take longer as a rule
        for move in step.stores:
            once = schedule.double and schedule.operand(move.key).depth == 1
            lists[-1 if once else step.index + late] += copy_rows(schedule, move, at[move.key], True)
    ends = list(accumulate(len(rows) for rows in lists[: len(steps) + 1]))
    return Table(COPY, tuple(chain.from_iterable(lists))), ends


def copy_rows(schedule: TileSchedule, move: TileCopy, at: int, store: bool) -> list[tuple[int, ...]]:
    """One move of operand number `at` as copies of two dimensions: rows of `COPY`."""
    scale = schedule.operand(move.key).bits // 8
    *outer, (runs, stride) = move.transfer.repeats or ((1, 0),)
    size = move.transfer.run * scale
    rows = list[tuple[int, ...]]()
    for number, place in enumerate(product(*(range(count) for count, _ in outer))):
        far = move.transfer.offset + sum(i * step for i, (_, step) in zip(place, outer, strict=True))
        near = move.address + number * runs * size
        rows.append((near, far * scale, size, stride * scale, runs, at, int(store)))
    return rows


def numbers_of(member: Member, step: TileStep, number: int) -> Mapping[str, int]:
    """The members of one stage's tile."""
    moving = {o.name: o for o in member.stage.operands if o.kind != "constant"}
    boxes = {name: o.footprint(step.tiles[number]) for name, o in moving.items()}
    accesses = {name: o.accesses for name, o in moving.items()}
    call = member.instruction.call
    return _tiled(member.instruction.kernel).tile(call, TileView(step.tiles[number], boxes, accesses, number))


def _ranges(step: TileStep, order: Sequence[str]) -> str:
    return ", ".join(f"{name} {step.tiles[-1][name][0]}..{step.tiles[-1][name][1]}" for name in order) or "whole"


def _comment(schedule: TileSchedule) -> str:
    cut = ", ".join(f"{name} by {schedule.sizes[name]}" for name in schedule.order) or "whole"
    last = schedule.stages[-1].extents
    extents = ", ".join(f"{name} {size}" for name, size in last.items() if "." not in name and size > 1)
    return (
        f"{schedule.tiles} tiles ({cut} of {extents}), {schedule.compute_bytes} bytes of {schedule.compute_level}, "
        f"{schedule.traffic_bytes} bytes copied"
    )
