"""The bound of a program: lifts what is reached, runs it in the machine, and tells what was counted or why not.

UnsupportedError names what cannot be followed, with function and line; ToolMissing what is not installed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tilewright.errors import TilewrightError, UnsupportedError
from tilewright.run.cycles import cycle_table, load_model
from tilewright.run.image import Image
from tilewright.run.pcode import undescribed
from tilewright.target import Target
from tilewright.timing.binary import Function, read_binary
from tilewright.timing.conventions import CONVENTIONS, clobbered, known_registers, words_of
from tilewright.timing.flow import Flow, Loop, address_of
from tilewright.timing.lift import Instruction, Lifter, unmodelled
from tilewright.timing.lines import Line, lines_of
from tilewright.timing.machine import Cost, Counted, Machine, Status, build_engine
from tilewright.timing.program import Program
from tilewright.timing.stream import Calls, Costs, Layout, Registers, Stream
from tilewright.timing.unreached import Unreached, unreached

LIMIT = 20_000_000_000
"""Instructions after which a run is given up."""
ROUNDS = 200
CALLER_BYTES = 256
"""Stack that lies above the first call."""


@dataclass(frozen=True)
class Place:
    """A branch that data decides: how often the machine took both ways, and by how many instructions they differ, in
    all and at most. Ways inside of ways count there too."""

    address: int
    function: str
    line: Line | None
    times: int
    instructions: int
    most: int


@dataclass(frozen=True)
class LoopBound:
    """The most times that the head of a loop runs each time that the loop is entered."""

    address: int
    function: str
    line: Line | None
    most: int


@dataclass(frozen=True)
class TimeBound:
    """Bounds on one run. `places` cost most first, `layers` are by plan instruction where the image has trace.

    `steps` are instructions that the machine ran; `unknown_loads` loads whose address data decide. `unreached` is the
    network's machine code that no input reaches, in functions that are called.
    """

    cost: Cost
    modelled: bool
    places: tuple[Place, ...]
    loops: tuple[LoopBound, ...]
    layers: Mapping[int, Cost]
    steps: int
    unknown_loads: int
    unreached: tuple[Unreached, ...]


class Analysis:
    """An image that is bounded, for all inputs or for some; what was lifted once stays."""

    def __init__(self, image: Image) -> None:
        refuse_core(image.target)
        binary = read_binary(image.path)
        self.image = image
        self.program = Program(binary, Lifter(binary))
        self.library = build_engine(image.work)
        self.registers = Registers()
        self.core = load_model(image.target)
        table = None if self.core is None else cycle_table(self.core, image)
        self.cycles = {} if table is None else {table.address + 2 * at: one for at, one in enumerate(table.cycles)}

    def bound(
        self,
        inputs: Mapping[int, bytes] | None = None,
        *,
        again: bool = False,
        limit: int = LIMIT,
        part: int | None = None,
    ) -> TimeBound:
        """Run until the machine is done, with more code each time that it wants some.

        `inputs` are known bytes by their addresses. With `again` it runs once more when all computed jumps are known,
        so that no loop is missed. After `limit` instructions it gives up. `part` is the slice that is bounded,
        the call of `run_some` with this number, in place of a whole run.
        """
        entry = self._entry() if part is None else self._slices()
        self.program.reach(entry.address)
        fresh, status = True, Status.PAUSED
        machine, stream, at = None, None, 0
        for _ in range(ROUNDS):
            if fresh:
                if machine is not None:
                    machine.close()
                machine = None
            stream = self._stream()
            if machine is None:
                machine, at = self._machine(inputs or {}, part), stream.place(entry.address)
            machine.code(stream)
            status = machine.run(at, limit)
            counted, jumped = machine.counted(), self._note_jumps(machine, stream)
            if status is Status.NEEDS_CODE:
                before = len(self.program.functions)
                self.program.reach(counted.wanted)
                if len(self.program.functions) == before and self.program.lifter.instruction(counted.wanted) is None:
                    raise self._refusal(Status.UNKNOWN_JUMP, counted)
                fresh = counted.level > 0
                address, behind = stream.inside(counted.resume)
                if not fresh:
                    at = self._stream().place(address) + behind
            elif (status is Status.ARMS_APART or (status is Status.DONE and again)) and jumped:
                fresh = True
            elif status is Status.DONE:
                return self._told(machine, stream)
            else:
                raise self._refusal(status, counted)
        raise TilewrightError("the machine asks for code again and again")

    def _entry(self) -> Function:
        """The run function, or the test image's that hands it memory."""
        model, names = self.image.model, ("tw_hand_over", "tw_instance_run")
        interface = self.image.interface
        wanted = names if interface.takes_pointers or interface.context else (f"{model}_run",)
        for name in wanted:
            if (function := self.program.binary.named(name)) is not None:
                return function
        raise TilewrightError(f"the image of '{model}' cannot be bounded", why="it lacks the run function's symbol")

    def _slices(self) -> Function:
        """The function that goes on with an inference, where it takes nothing but the number of the slice."""
        interface = self.image.interface
        function = self.program.binary.named(f"{self.image.model}_run_some")
        if interface.takes_pointers or interface.context or function is None:
            raise UnsupportedError(
                f"slices of '{self.image.model}' cannot be bounded",
                why="they take pointers from the caller" if function is not None else "the image has no run_some",
                fix="compile with --slice, without --io caller and --context",
            )  # fmt: skip
        return function

    def _stream(self) -> Stream:
        program, image = self.program, self.image
        flows, instructions = dict[int, Flow](), dict[int, Instruction]()
        for function in program.functions.values():
            flow = program.flow(function)
            for one in program.instructions(function):
                flows[one.address], instructions[one.address] = flow, one
        functions = program.binary.functions
        own = tuple((one.address, one.end) for one in functions if _own(image, one))
        trace = program.binary.named(f"{image.model}_trace") if image.trace else None
        summarised = {one.address: words for one in functions if (words := words_of(one.names))}
        calls = Calls(summarised, trace.address if trace is not None else None)
        return Layout(instructions, flows, self.registers, Costs(own, self.cycles), calls, program.binary.data).laid()

    def _machine(self, inputs: Mapping[int, bytes], part: int | None) -> Machine:
        """A machine with the program's memory and registers, before the first instruction.

        The number of a slice lies above the stack, where its caller would have it.
        """
        program, target = self.program, self.image.target
        machine, convention = Machine(self.library), CONVENTIONS[program.binary.machine]
        for constants in program.binary.constants:
            machine.constants(constants.address, constants.data)
        machine.note(
            min(one.address for one in program.binary.functions), max(one.end for one in program.binary.functions)
        )
        for memory in target.memories.values():
            if not memory.readonly and memory.size:
                machine.memory(memory.address, memory.size)
        for address, data in inputs.items():
            machine.write(address, data)
        stack = program.binary.elf.label("__stack_top")
        if stack is None:
            raise UnsupportedError(f"target '{target.name}' cannot be bounded", why="its link script names no stack")
        named = known_registers(program.binary, convention, stack - CALLER_BYTES)
        places = {name: self.registers.place(program.lifter.register(name).offset) for name in named}
        left = clobbered(convention, program.lifter, self.registers)
        machine.registers(self.registers.used_bytes)
        for name, value in named.items():
            machine.set(places[name], 4, value)
        argument = self.registers.place(program.lifter.register(convention.argument).offset)
        if part is not None:
            machine.write(stack - CALLER_BYTES // 2, part.to_bytes(4, "little"))
            machine.set(argument, 4, stack - CALLER_BYTES // 2)
        machine.convention(argument, places[convention.stack], places[convention.link], left)
        if self.core is not None:
            flash = next((m for m in target.memories.values() if m.readonly and m.size), None)
            low, size = (flash.address, flash.size or 0) if flash is not None else (0, 0)
            machine.cycles(self.core.refill, target.flash_wait_states, low, low + size)
        return machine

    def _note_jumps(self, machine: Machine, stream: Stream) -> bool:
        """Keep where computed jumps led; whether there was a new one."""
        new = False
        for operation, target in machine.jumps():
            jump, _ = stream.inside(operation)
            targets = self.program.jumps.setdefault(jump, set())
            new |= target & ~1 not in targets
            targets.add(target & ~1)
        return new

    def _told(self, machine: Machine, stream: Stream) -> TimeBound:
        counted = machine.counted()
        lines = lines_of(self.image.path)
        places = [
            Place(address, self._name(address), lines.at(address), *numbers)
            for operation, numbers in machine.forks().items()
            for address in (stream.inside(operation)[0],)
        ]
        loops = [self._loop(loop, turns, lines.at(address_of(loop.header))) for loop, turns in
                 zip(stream.loops, machine.turns(), strict=True) if turns]  # fmt: skip
        places.sort(key=lambda one: (-one.instructions, one.address))
        layers = machine.layers()
        idle = unreached(self.program, machine, lines, f"{self.image.model}.c")
        machine.close()
        return TimeBound(
            counted.cost, self.core is not None, tuple(places), tuple(loops), layers, counted.steps,
            counted.unknown_loads, idle,
        )  # fmt: skip

    def _loop(self, loop: Loop, turns: int, line: Line | None) -> LoopBound:
        address = address_of(loop.header)
        return LoopBound(address, self._name(address), line, turns)

    def _name(self, address: int) -> str:
        function = self.program.binary.function_at(address)
        return function.name if function is not None else f"{address:#x}"

    def _instruction(self, address: int) -> str:
        """What is not modelled, in words: the instruction at the address, or the one behind it, which nobody reads."""
        one = self.program.lifter.instruction(address)
        if one is not None and any(each.name == "CALLOTHER" for each in one.operations):
            return f"'{self.program.lifter.mnemonic(address)}'"
        return f"the instruction behind {address:#x}"

    def _refusal(self, status: Status, counted: Counted) -> TilewrightError:
        """Why the machine cannot go on, in one sentence with function and line."""
        line = lines_of(self.image.path).at(counted.address)
        where = f"{self._name(counted.address)}" + (f" ({line})" if line is not None else "")
        if status is Status.NO_MEMORY:
            return UnsupportedError("this machine has not enough memory for the bound")
        if status is Status.NOT_MODELLED:
            return unmodelled(self.image.model, self._instruction(counted.address), where)
        return UnsupportedError(
            f"instructions of '{self.image.model}' cannot be bounded", why=f"{where} {_WHY[status]}"
        )


def refuse_core(target: Target) -> None:
    """UnsupportedError for cores that the lifter's language does not have, and for several at once."""
    if why := undescribed(target):
        raise UnsupportedError(
            f"instructions on target '{target.name}' cannot be bounded", why=why, fix="name another target"
        )


def _own(image: Image, function: Function) -> bool:
    """Whether a function is the test image's."""
    return function.name.startswith("tw_") or function.name in ("main", f"{image.model}_trace")


_WHY = {
    Status.UNKNOWN_STORE: "writes to an address that data decide",
    Status.STORE_TO_CONSTANT: "writes to memory that holds constants",
    Status.UNKNOWN_JUMP: "jumps to where data decide",
    Status.UNKNOWN_CALL: "calls a function that data decide",
    Status.UNKNOWN_RETURN: "returns to where it was not called from",
    Status.RECURSION: "calls itself",
    Status.NO_END: "holds a loop whose end data decide",
    Status.ARMS_APART: "holds a branch whose ways do not meet",
}
