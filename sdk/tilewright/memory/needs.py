"""What a memory level needs: the one value from which every command, page and comment takes bytes and their names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from tilewright.platform import MemoryLevel, Platform
from tilewright.tiling.hierarchy import hierarchy

Status = Literal["optimal", "gap"]
Provenance = Literal["proved", "measured", "estimated"]
BufferKind = Literal["activation", "io", "scratch", "copy_buffer", "table", "constant", "state"]
PARTS = ("activations", "io", "scratch", "copy_buffers", "tables", "padding", "state", "constants", "stack")
CODE = "code"
ALL_PARTS = (*PARTS, CODE)
"""Everything of which a level's total consists, by the names that are shown."""


@dataclass(frozen=True)
class Amount:
    """Bytes and how they are known: proved for every input, measured in a build, or estimated without a compiler.

    `basis` names the core whose figures an estimate takes where its own was never measured.
    """

    size_bytes: int
    provenance: Provenance
    basis: str = ""


@dataclass(frozen=True)
class BufferReport:
    """A placed buffer: `size` bytes at `offset`, alive from instruction `first` to `last`, both included.

    A later one of several buffers of a tensor, between which tiles change, names the first in `copy_of`.
    """

    name: str
    offset: int
    size: int
    first: int
    last: int
    kind: BufferKind
    copy_of: str = ""


@dataclass(frozen=True)
class MemoryReport:
    """One memory level at its worst moment: every byte is in exactly one part, and the parts sum to `worst_case`.

    `total` is what the level must have: the worst case, and `code` where machine code lies here, with the constants
    and variables that it and its libraries bring. `provenance` names how stack and code are known; all other parts are
    proved. `estimated` is true where one of them is an estimate, `basis` the core that it was measured on where that is
    another one. `live_set`, `lower_bound` and `status` speak of what
    is placed; None in a level where nothing is. `cut_off`: so much is alive at once that the search for offsets ended
    before it had tried what it tries for less. `state` lives from call to call.
    """

    size: int | None
    readonly: bool
    worst_case: int
    live_set: int | None
    lower_bound: int | None
    status: Status | None
    activations: int = 0
    io: int = 0
    scratch: int = 0
    copy_buffers: int = 0
    tables: int = 0
    padding: int = 0
    constants: int = 0
    stack: int | None = None
    code: int | None = None
    total: int = field(init=False, default=0)
    provenance: Mapping[str, Provenance] = field(default_factory=dict)
    basis: str = ""
    estimated: bool = False
    cut_off: bool = False
    state: int = 0
    buffers: tuple[BufferReport, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a decomposition that does not sum to the worst case."""
        parts = self.parts()
        if negative := [name for name, size in parts.items() if size < 0]:
            raise ValueError(f"{negative[0]} is negative")
        total = sum(parts.values())
        if total - parts[CODE] != self.worst_case:
            raise ValueError(f"worst_case is {self.worst_case}, but its parts sum to {total - parts[CODE]}")
        object.__setattr__(self, "total", total)

    def parts(self) -> dict[str, int]:
        """All parts of the total by name; an unknown one counts as nothing."""
        sizes: dict[str, int | None] = {name: getattr(self, name) for name in ALL_PARTS}
        return {name: size or 0 for name, size in sizes.items()}

    def of(self, part: str) -> Provenance:
        """How the bytes of a part are known; an older report says of stack and code only whether it estimates them."""
        if part not in ("stack", CODE):
            return "proved"
        return self.provenance.get(part, "estimated" if self.estimated else "measured")

    @property
    def certainty(self) -> Provenance:
        """The weakest provenance of what the total consists of."""
        provenances = {self.of(part) for part, size in self.parts().items() if size}
        return "estimated" if "estimated" in provenances else "measured" if "measured" in provenances else "proved"

    @property
    def surely(self) -> int:
        """Bytes that are no estimate."""
        return sum(size for part, size in self.parts().items() if self.of(part) != "estimated")

    @property
    def fits(self) -> bool:
        """True where the level is large enough, or its size is nobody's business."""
        return self.size is None or self.total <= self.size

    @property
    def verdict(self) -> str:
        """Whether the level fits, and how that is known; for an estimate also the share of the level that is left."""
        return verdict_of([self])

    def with_stack(self, stack: Amount) -> MemoryReport:
        """The level with this stack instead of the one that it had."""
        without = self.worst_case - (self.stack or 0)
        provenance = {**self.provenance, "stack": stack.provenance}
        return replace(
            self, stack=stack.size_bytes, worst_case=without + stack.size_bytes, provenance=provenance,
            estimated="estimated" in provenance.values(), basis=stack.basis,
        )  # fmt: skip

    def with_code(self, code: Amount) -> MemoryReport:
        """The level with this much code instead of what it had."""
        provenance = {**self.provenance, CODE: code.provenance}
        estimated = "estimated" in provenance.values()
        return replace(self, code=code.size_bytes, provenance=provenance, estimated=estimated, basis=code.basis)


def verdict_of(levels: Iterable[MemoryReport]) -> str:
    """Whether all levels fit. What limits none of them is claimed by nobody; of estimates the least margin is told."""
    limited = [(level, level.size) for level in levels if level.size is not None and level.total]
    small = [level for level, _ in limited if not level.fits]
    if small:
        sure = any(level.surely > (level.size or 0) for level in small)
        return "does not fit" + " (estimated)" * (not sure and any(x.certainty == "estimated" for x in small))
    certainties = {level.certainty for level, _ in limited}
    if "estimated" in certainties:
        margin = min(100 * (size - x.total) // size for x, size in limited if size and x.certainty == "estimated")
        basis = next((f" from {level.basis}" for level, _ in limited if level.basis), "")
        return f"fits (estimated{basis}, margin {margin} %)"
    return "fits (measured)" if "measured" in certainties else "fits (proved)" if certainties else "fits"


@dataclass(frozen=True)
class Places:
    """Levels of a platform by what lies in them: its constants at rest, its machine code, its variables and stack."""

    constants: str
    code: str
    variables: str

    @staticmethod
    def of(platform: Platform) -> Places:
        """Code runs from where constants rest; where tiles are copied, from the level of the activations."""
        whole = hierarchy(platform)
        if whole is None:
            return Places(platform.constants_in, platform.constants_in, platform.compute_in)
        return Places(platform.constants_in, whole.home.name, whole.home.name)


@dataclass(frozen=True)
class Program:
    """What is known of a network's program beside its data; None for what nobody knows.

    `code` lies where code runs, `variables` are those of its libraries; `stack` is that of all cores together.
    """

    code: Amount | None = None
    variables: Amount | None = None
    stack: Amount | None = None


def with_program(memory: Mapping[str, MemoryReport], places: Places, program: Program) -> dict[str, MemoryReport]:
    """Every level with the program in it. Stacks for which the plan made room in another level stay there."""
    levels = dict(memory)
    elsewhere = any(row.stack is not None for name, row in memory.items() if name != places.variables)
    if program.stack is not None and not elsewhere:
        levels[places.variables] = levels[places.variables].with_stack(program.stack)
    for level, amounts in _amounts(places, program).items():
        sizes = sum(amount.size_bytes for amount in amounts)
        weakest: Provenance = max((a.provenance for a in amounts), key=("proved", "measured", "estimated").index)
        if sizes or levels[level].code:
            levels[level] = levels[level].with_code(Amount(sizes, weakest, amounts[0].basis))
    return levels


def _amounts(places: Places, program: Program) -> dict[str, list[Amount]]:
    """What counts as code by level: variables lie in theirs, and their first values beside the code."""
    by_level: dict[str, list[Amount]] = {}
    for level, amount in ((places.code, program.code), (places.variables, program.variables)):
        if amount is not None:
            by_level.setdefault(level, []).append(amount)
    if program.variables is not None and places.code != places.variables:
        by_level.setdefault(places.code, []).append(program.variables)
    return by_level


def empty(level: MemoryLevel) -> MemoryReport:
    """The row of a level in which nothing lies."""
    return MemoryReport(level.size, level.readonly, 0, live_set=None, lower_bound=None, status=None)
