"""What is lifted of a program so far: functions that are reached, and ways through them."""

from __future__ import annotations

from dataclasses import dataclass, field

from tilewright.timing.binary import Binary, Function
from tilewright.timing.conventions import CONVENTIONS, words_of
from tilewright.timing.flow import Flow, edges, flow_of, place
from tilewright.timing.lift import Instruction, Lifter
from tilewright.timing.live import Called, bytes_of, live_words


@dataclass
class Program:
    """What is lifted so far. `jumps` are targets of computed jumps by the address of the jump."""

    binary: Binary
    lifter: Lifter
    functions: dict[int, Function] = field(default_factory=dict)
    jumps: dict[int, set[int]] = field(default_factory=dict)
    flows: dict[int, tuple[frozenset[tuple[int, int]], Flow]] = field(default_factory=dict)

    def reach(self, address: int) -> None:
        """Lift the function at an address and all that it calls."""
        waiting = [address]
        while waiting:
            one = self.binary.function_at(waiting.pop())
            if one is None or one.address in self.functions:
                continue
            self.functions[one.address] = one
            self.lifter.sweep(one.address, one.end)
            for instruction in self.instructions(one):
                for each in instruction.operations:
                    target = each.inputs[0] if each.name in ("CALL", "BRANCH", "CBRANCH") else None
                    if target is not None and target.space == "ram":
                        waiting.append(target.offset)

    def instructions(self, function: Function) -> list[Instruction]:
        """What is lifted of a function."""
        known = self.lifter.instructions
        return [known[at] for at in range(function.address, function.end, 2) if at in known]

    def flow(self, function: Function) -> Flow:
        """Ways through a function, found once for the jumps that are known."""
        instructions = self.instructions(function)
        jumps = {one.address: self.jumps[one.address] for one in instructions if one.address in self.jumps}
        key = frozenset((at, to) for at, targets in jumps.items() for to in targets) | {(0, len(instructions))}
        known = self.flows.get(function.address)
        if known is None or known[0] != key:
            graph = edges(instructions, function.address, function.end, jumps)
            live = live_words(graph, instructions, self._called())
            known = self.flows[function.address] = (key, flow_of(graph, place(function.address), live))
        return known[1]

    def _called(self) -> Called:
        """What calls read and leave on this core."""
        convention, clobbered = CONVENTIONS[self.binary.machine], 0
        argument = self.lifter.register(convention.argument)
        for name in convention.clobbered:
            clobbered |= bytes_of(self.lifter.register(name)) if self.lifter.has_register(name) else 0
        arguments = [((1 << (4 * words)) - 1) << argument.offset for words in range(5)]
        reads = {one.address: arguments[words] for one in self.binary.functions if (words := words_of(one.names))}
        return Called(arguments[4], clobbered, reads)
