"""Modelled cycles: a table of a core's manual, applied to the listing of an image.

Each table in `cores/` names its source and its limits. The cycles of an instruction follow from its mnemonic, its
registers and its neighbour in the listing; the plugin adds them up as the instructions run, and what a taken branch and
slow flash cost. Cores whose makers publish no table (Cortex-M7, M33, M55) have none here, and no modelled cycles.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tilewright.errors import PlatformError, TilewrightError
from tilewright.run.image import Image
from tilewright.run.tool import start
from tilewright.target import Target

FOLDER = Path(__file__).parent / "cores"
_LINE = re.compile(r"^\s*([0-9a-f]+):\t([0-9a-f ]+?)\s*\t(\S+)(?:\t([^;@]*))?")
_REGISTER = re.compile(r"\b(r\d+|s\d+|d\d+|q\d+|sl|fp|ip|sp|lr|pc)\b")
_SPAN = re.compile(r"\b([rsd])(\d+)-[rsd](\d+)\b")
_CONDITION = re.compile(r"(eq|ne|cs|cc|mi|pl|vs|vc|hi|ls|ge|lt|gt|le|hs|lo)$")


@dataclass(frozen=True)
class Rule:
    """`cycles` of the instructions whose mnemonic matches, with `per_register` more for each register of a list.

    A pattern with a space is held against mnemonic and operands. `kind` is `load` or `store` (one register), `memory`
    (any other access), `branch`, `flags` (it writes no register), `float` (arithmetic of a floating-point unit) or
    `data`.
    """

    mnemonic: re.Pattern[str]
    cycles: int
    per_register: int
    kind: str


@dataclass(frozen=True)
class CoreModel:
    """A core's table. `refill` is what a taken branch adds, `address_stall` what an address from the instruction before
    costs, `result_stall` what a float result costs that the next instruction uses; with `pipelined_loads` a load or
    store right behind a load takes a cycle less."""

    core: str
    source: str
    limits: str
    refill: int
    pipelined_loads: bool
    address_stall: int
    result_stall: int
    rules: tuple[Rule, ...]


@dataclass(frozen=True)
class Listed:
    """An instruction of a listing: address, bytes, mnemonic without width and operands."""

    address: int
    size_bytes: int
    mnemonic: str
    operands: str

    @property
    def end(self) -> int:
        """Address behind it."""
        return self.address + self.size_bytes


@dataclass(frozen=True)
class CycleTable:
    """Cycles of the instruction at each half-word from `address` on."""

    address: int
    cycles: bytes


OTHER = Rule(re.compile(""), 1, 0, "data")


def load_model(target: Target) -> CoreModel | None:
    """The table of the target's core, None where it names none; PlatformError where there is no such table."""
    if not target.core:
        return None
    known = sorted(path.stem for path in FOLDER.glob("*.toml"))
    if target.core not in known:
        raise PlatformError(
            f"target '{target.name}' names the core '{target.core}'",
            why="there is no table of its cycles",
            fix="known are " + ", ".join(known),
        )
    return read_model(FOLDER / f"{target.core}.toml")


@cache
def read_model(file: Path) -> CoreModel:
    """Read a table."""
    text = tomllib.loads(file.read_text(encoding="utf-8"))
    rules = []
    for pattern, cycles, kind in text["rules"]:
        base, plus, _ = str(cycles).partition("+N")
        rules.append(Rule(re.compile(pattern), int(base), int(bool(plus)), kind))
    return CoreModel(
        text["core"], text["source"], text["limits"], text["refill"], text["pipelined_loads"], text["address_stall"],
        text["result_stall"], tuple(rules),
    )  # fmt: skip


def cycle_table(model: CoreModel, image: Image) -> CycleTable:
    """The cycles of every instruction of an image; 1 where the listing shows none."""
    instructions = listing(image)
    if not instructions:
        raise TilewrightError(f"the listing of '{image.path.name}' shows no instruction")
    first, end = instructions[0].address, max(one.end for one in instructions)
    cycles = bytearray(b"\1" * ((end - first) // 2))
    for one, count in cycles_of(model, instructions):
        cycles[(one.address - first) // 2] = min(count, 255)
    return CycleTable(first, bytes(cycles))


def listing(image: Image) -> list[Listed]:
    """What objdump of the image's compiler shows, by address; empty where it cannot be run."""
    answer = start([image.toolchain.compiler, "-print-prog-name=objdump"], image.work)
    done = start([answer.output.strip() or "objdump", "-d", "-w", str(image.path)], image.work)
    return read_listing(done.output) if done.code == 0 else []


def read_listing(text: str) -> list[Listed]:
    """The instructions of an objdump, by address."""
    instructions = {}
    for line in text.splitlines():
        match = _LINE.match(line)
        if match is None or match[3].startswith("."):
            continue
        size = len(match[2].replace(" ", "")) // 2
        mnemonic = re.sub(r"\.[nw]$", "", match[3])
        instructions[int(match[1], 16)] = Listed(int(match[1], 16), size, mnemonic, (match[4] or "").strip())
    return [instructions[address] for address in sorted(instructions)]


def cycles_of(model: CoreModel, instructions: Sequence[Listed]) -> Iterator[tuple[Listed, int]]:
    """Every instruction with its cycles, taken branches aside."""
    before: Listed | None = None
    kind = ""
    for one in instructions:
        rule = rule_of(model, one)
        count = rule.cycles + rule.per_register * (registers(one.operands) if rule.per_register else 0)
        if before is not None and before.end == one.address and rule.kind in ("load", "store", "memory"):
            depends = bool(written(before) & addressing(one))
            if kind == "load" and rule.kind in ("load", "store") and model.pipelined_loads and not depends:
                count = max(1, count - 1)
            if kind == "data" and depends:
                count += model.address_stall
        if before is not None and before.end == one.address and kind == "float" and written(before) & read(one):
            count += model.result_stall
        yield one, count
        before, kind = one, rule.kind


def rule_of(model: CoreModel, one: Listed) -> Rule:
    """The first rule for an instruction, also without its condition; one cycle where there is none."""
    for name in (one.mnemonic, _CONDITION.sub("", one.mnemonic)):
        for rule in model.rules:
            if rule.mnemonic.fullmatch(f"{name} {one.operands}" if " " in rule.mnemonic.pattern else name):
                return rule
    return OTHER


def registers(operands: str) -> int:
    """Words of a register list `{r4, r5, r8-r11}`; a double register is two."""
    inside = operands.partition("{")[2].partition("}")[0]
    total = 0
    for part in filter(None, (word.strip() for word in inside.split(","))):
        span = _SPAN.fullmatch(part)
        words = int(span[3]) - int(span[2]) + 1 if span else 1
        total += words * (2 if part.startswith("d") else 1)
    return total


def written(one: Listed) -> set[str]:
    """The register that an instruction writes: its first operand."""
    first = _REGISTER.match(one.operands)
    return {first[1]} if first else set()


def addressing(one: Listed) -> set[str]:
    """The registers of an address, `[base, index]` or the base of a list."""
    inside = one.operands.partition("[")[2].partition("]")[0]
    if not inside and "{" in one.operands:
        inside = one.operands.partition("{")[0] or "sp"
    return set(_REGISTER.findall(inside))


def read(one: Listed) -> set[str]:
    """The registers that a floating-point instruction needs when it starts: all but the first operand.

    A multiply-accumulate takes its addend, the first operand, a cycle later. Stores and comparisons read theirs.
    """
    text = _SPAN.sub(lambda m: ", ".join(f"{m[1]}{n}" for n in range(int(m[2]), int(m[3]) + 1)), one.operands)
    registers = _REGISTER.findall(text)
    return set(registers if one.mnemonic.startswith(("vst", "vpush", "vcmp")) else registers[1:])
