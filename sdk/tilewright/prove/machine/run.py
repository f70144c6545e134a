"""One run of a function over terms: loops and calls as they come, both arms of a branch that the inputs decide.

The arms are joined where they meet: at the first label that both come by with one stack pointer. Any such place is
right, since the join keeps what each arm has computed under the branch's condition.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tilewright.prove.machine.gave_up import GaveUp
from tilewright.prove.machine.memory import Memory, Undo
from tilewright.prove.machine.program import RETURN, STACK_BYTES, STACK_START, Program
from tilewright.prove.machine.translate import Translator, label_of
from tilewright.prove.terms import Term, Value, choose

ARM_LENGTHS = (3, 6, 12, 48)
"""Blocks that an arm of a branch may go on before it meets the other: short ways are tried first."""
MOST_NESTED = 24
Hook = Callable[["Machine"], None]


@dataclass
class Budget:
    """Blocks that a run may take: work, not time, so that it ends alike everywhere."""

    left: int

    def spend(self) -> None:
        """Take one block."""
        self.left -= 1
        if self.left < 0:
            raise GaveUp("the limit of work is reached")


class Machine:
    """Registers and memory of one image, and what is called in the place of some of its functions."""

    def __init__(self, program: Program, memory: Memory, budget: Budget) -> None:
        self.program = program
        self.memory = memory
        self.budget = budget
        self.translator = Translator(program, memory.load, memory.store)
        self.registers: list[Value] = []
        self.sizes: list[int] = []
        self.hooks: dict[int, Hook] = {}
        self.meetings: dict[int, int] = {}
        self.seeking: set[int] = set()
        self.obstacle = ""
        self.depth = 0
        names = ("sp", "lr" if program.arm else "ra")
        self.stack, self.link = (self._cell(name) for name in names)
        self.arguments = [self._cell(f"r{i}" if program.arm else f"a{i}") for i in range(4)]
        self._set(self.stack, STACK_START + STACK_BYTES - 64)
        if program.arm:
            self._set(self._cell("fpscr"), 0)  # as a reset leaves it
        if not program.arm and "__global_pointer$" in program.labels:
            self._set(self._cell("gp"), program.labels["__global_pointer$"])

    def _cell(self, name: str) -> int:
        return self.translator.cells.register(self.program.registers[name][0])[0]

    def _set(self, cell: int, value: Value) -> None:
        self._grow()
        self.registers[cell] = value

    def _grow(self) -> None:
        missing = len(self.translator.cells.places) - len(self.registers)
        if missing <= 0:
            return
        for (kind, offset), _ in list(self.translator.cells.places.items())[-missing:]:
            size = self.translator.cells.register(offset)[2] if kind == "register" else 0
            self.registers.append(Term("unset", (), size))
            self.sizes.append(size)

    def argument(self, index: int) -> int:
        """An argument of the function that a hook stands for."""
        value = self.registers[self.arguments[index]]
        if not isinstance(value, int):
            raise GaveUp("an argument that depends on the inputs")
        return value

    def hook(self, name: str, called: Hook) -> None:
        """Let `called` run in the place of a function."""
        self.hooks[label_of(self.program.address(name))] = called

    def call(self, name: str) -> None:
        """Run a function to its return."""
        self._set(self.link, RETURN)
        self._run(label_of(self.program.address(name)), label_of(RETURN))

    def _run(self, label: int, end: int) -> None:
        """Run from a label until another is reached."""
        while label != end:
            label = self._step(label)

    def _step(self, label: int) -> int:
        """One block, or one branch with both of its arms."""
        self.budget.spend()
        hook = self.hooks.get(label)
        if hook is not None:
            hook(self)
            back = self.registers[self.link]
            if not isinstance(back, int):
                raise GaveUp("a return address that depends on the inputs")
            return label_of(back & ~1)
        block = self.translator.block(label)
        if len(self.registers) < len(self.translator.cells.places):
            self._grow()
        after = block(self.registers)
        return after if isinstance(after, int) else self._both(label, *after)

    def _both(self, label: int, condition: Value, first: int, second: int) -> int:
        """Both arms up to where they meet, and the join of what they did."""
        if self.depth >= MOST_NESTED:
            raise GaveUp("branches that depend on the inputs lie too deep in one another")
        self.depth += 1
        try:
            meeting = self.meetings.get(label)
            if meeting is None:
                meeting = self.meetings[label] = self._meet(label, first, second)
                self.translator.lead(meeting)
            left = self._arm(first, meeting)
            right = self._arm(second, meeting)
            self._join(condition, left, right)
        finally:
            self.depth -= 1
        return meeting

    def _arm(self, label: int, meeting: int) -> tuple[list[Value], dict[int, Value]]:
        """Registers and written bytes behind one arm; the machine is left as it was."""
        before, outer = list(self.registers), self.memory.undo
        undo = self.memory.undo = Undo()
        stack = before[self.stack]
        try:
            for _ in range(ARM_LENGTHS[-1] * 8):
                if label == meeting and self.registers[self.stack] == stack:
                    break
                label = self._step(label)
            else:
                raise GaveUp("the arms of a branch that depends on the inputs do not meet again")
            after = self.registers
        finally:
            written = self.memory.taken_back(undo)
            self.memory.undo = outer
            self.registers = before + self.registers[len(before) :]
        return after, written

    def _join(
        self, condition: Value, left: tuple[list[Value], dict[int, Value]], right: tuple[list[Value], dict[int, Value]]
    ) -> None:
        for cell, (a, b) in enumerate(zip(left[0], right[0], strict=False)):
            if a is b or a == b:
                self.registers[cell] = a
            elif self.sizes[cell]:
                self.registers[cell] = choose(condition, a, b, self.sizes[cell])
        for address in {**left[1], **right[1]}:
            first = left[1][address] if address in left[1] else self.memory.byte(address)
            second = right[1][address] if address in right[1] else self.memory.byte(address)
            self.memory.store(address, choose(condition, first, second, 1), 1)

    def _meet(self, label: int, first: int, second: int) -> int:
        """The first label of the second arm's way that lies on the first arm's too."""
        self.obstacle = ""
        if label in self.seeking:
            raise GaveUp("the arms of a branch that depends on the inputs come to it again")
        self.seeking.add(label)
        try:
            for length in ARM_LENGTHS:
                seen = set(self._way(first, length))
                for place in self._way(second, length):
                    if place in seen:
                        return place
        finally:
            self.seeking.discard(label)
        raise GaveUp(f"the arms of a branch that depends on the inputs do not meet again{self.obstacle}")

    def _way(self, label: int, length: int) -> list[int]:
        """Labels that an arm comes by in the frame that it begins in."""
        before, outer, budget = list(self.registers), self.memory.undo, self.budget.left
        undo = self.memory.undo = Undo()
        stack, way = before[self.stack], list[int]()
        try:
            for _ in range(length):
                if self.registers[self.stack] == stack:
                    way.append(label)
                if label in self.hooks:
                    break
                label = self._step(label)
        except GaveUp as error:
            self.obstacle = f": {error}"
        finally:
            self.memory.taken_back(undo)
            self.memory.undo = outer
            self.registers = before + self.registers[len(before) :]
            self.budget.left = budget
        return way
