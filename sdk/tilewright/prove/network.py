"""A network's image run once over unknown codes, each layer compared with its operator behind its last instruction."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tilewright.memory.placed import PlacedPlan
from tilewright.plan.plan import Instruction
from tilewright.prove.book import Book
from tilewright.prove.chains import NotFound, last_of
from tilewright.prove.compare import Comparison, Difference, Outcome, Undecided
from tilewright.prove.expected import Expected
from tilewright.prove.machine.gave_up import GaveUp
from tilewright.prove.machine.memory import Memory
from tilewright.prove.machine.program import Program
from tilewright.prove.machine.run import Budget, Machine
from tilewright.prove.meaning import NotAttempted, Numbers, eight_bits, expectations
from tilewright.prove.result import Counterexample, LayerProof
from tilewright.prove.solver import solve
from tilewright.prove.terms import Term, Value, variable
from tilewright.run.image import STATE, Image, locate

BLOCKS = 40_000_000
"""Blocks of machine code that a run may take."""


class NetworkRun:
    """The state of one proof: the machine, the codes of every tensor, and the verdicts so far."""

    def __init__(self, placed: PlacedPlan, image: Image, wanted: frozenset[str], blocks: int = BLOCKS) -> None:
        self.placed, self.plan, self.image, self.wanted = placed, placed.plan, image, wanted
        self.book = Book()
        program = Program(image.path)
        self.memory = Memory(program.regions, self.book.keep, self.book.left_over)
        self.memory.look_up = self._look_up
        self.budget = Budget(blocks)
        self.machine = Machine(program, self.memory, self.budget)
        self.comparison = Comparison(self.book, solve)
        self.numbers: dict[int, Numbers] = {}
        self.layers: dict[int, LayerProof] = {}
        self.skipped = _Skipped()

    def run(self) -> tuple[LayerProof, ...]:
        """The verdicts of all instructions."""
        self.machine.hook(f"{self.image.model}_trace", self._traced)
        why = ""
        try:
            self.machine.call("tw_init")
            self._forget()
            self.machine.call(f"{self.image.model}_run")
        except GaveUp as error:
            why = str(error)
        return tuple(
            self.layers.get(i.index) or _told(i, "gave up", why or "it was not reached") for i in self.plan.instructions
        )

    def _look_up(self, address: Term, size: int) -> Value:
        """A load from a table: its entries by what the address is above the lowest."""
        lowest, above, addresses = self.book.addresses(address)
        entries = [0] * (addresses[-1] - lowest + 1)
        for each in addresses:
            value = self.memory.load(each, size)
            if not isinstance(value, int):
                raise GaveUp("a load whose address and contents both depend on the inputs")
            entries[each - lowest] = value
        return Term("table", (above, tuple(entries)), size)

    def _forget(self) -> None:
        """Give the inputs codes that may be anything; what lies elsewhere in the arena is left over."""
        for slot in self.placed.slot_offsets:
            if self.plan.slots[slot].storage is None:
                address, size = self._place(slot)
                self.memory.mark_stale(address, size)
        for slot in self.plan.input_slots:
            if eight_bits(self.plan.slots[slot].tensor):
                self._free(slot)

    def _place(self, slot: int) -> tuple[int, int]:
        """Address and bytes of a slot."""
        size = self.plan.slots[slot].tensor.size_bytes
        for offsets, symbol in ((self.placed.slot_offsets, ""), (self.placed.state_offsets, STATE)):
            if slot in offsets:
                return locate(self.image, symbol, offsets[slot], size), size
        raise NotAttempted(f"'{self.plan.slots[slot].tensor.name}' lies nowhere as a whole")

    def _free(self, slot: int) -> None:
        """Codes that may be anything in the place of a tensor."""
        tensor = self.plan.slots[slot].tensor
        low, high = tensor.dtype.range
        self._hold(slot, np.asarray([self.book.fresh(low, high) for _ in range(tensor.elements)], np.int64))

    def _hold(self, slot: int, flat: Numbers) -> None:
        """Codes of these numbers, in memory's order, in the place of a tensor."""
        address, _ = self._place(slot)
        for offset, number in enumerate(flat.tolist()):
            self.memory.store(address + offset, variable(number), 1)
        self.book.held.update(flat.tolist())
        root, start = self._root(slot)
        if root not in self.numbers:
            self.numbers[root] = np.full(self.plan.slots[root].tensor.size_bytes, -1, np.int64)
        self.numbers[root][start : start + flat.size] = flat

    def _root(self, slot: int) -> tuple[int, int]:
        """The slot whose bytes a slot shows, and where in them it begins."""
        start = 0
        while (storage := self.plan.slots[slot].storage) is not None:
            slot, start = storage[0], start + storage[1]
        return slot, start

    def _codes(self, slot: int) -> Numbers:
        """Numbers of a tensor's codes in its logical shape, as they were when it was made."""
        where = self.plan.slots[slot]
        root, start = self._root(slot)
        if root not in self.numbers:
            raise NotAttempted(f"'{where.tensor.name}' holds no codes of eight bits")
        flat = self.numbers[root][start : start + where.tensor.elements]
        if (flat < 0).any():
            raise NotAttempted(f"'{where.tensor.name}' holds no codes of eight bits")
        return where.layout.unpack(flat, where.tensor.shape)

    def _traced(self, machine: Machine) -> None:
        """Called before and behind every instruction."""
        instruction = self.plan.instructions[machine.argument(0)]
        if machine.argument(1) == 0:
            self._before(instruction)
        else:
            self._behind(instruction)

    def _before(self, instruction: Instruction) -> None:
        try:
            self.skipped.expected = self._expected(instruction)
        except NotAttempted as error:
            self.layers[instruction.index] = _told(instruction, "not attempted", error.why)
            self.skipped.expected = None
            self._make_known(instruction)

    def _expected(self, instruction: Instruction) -> list[list[Expected]]:
        if self.wanted and instruction.name not in self.wanted:
            raise NotAttempted("it was not asked for")
        call = instruction.call
        results = [self.plan.slots[slot].tensor for slot in instruction.outputs]
        operands = [self.plan.slots[slot].tensor for slot in instruction.inputs if slot >= 0]
        odd = next((tensor for tensor in (*operands, *results) if not eight_bits(tensor)), None)
        if odd is not None:
            raise NotAttempted(f"'{odd.name}' is {odd.dtype.value}, no code of eight bits")
        if instruction.schedule is not None or instruction.fused_into:
            raise NotAttempted("it is computed tile by tile with others")
        numbers = [self._codes(slot) if slot >= 0 else None for slot in instruction.inputs]
        if not call.chain:
            return expectations(call, numbers)
        names = [self.plan.slots[slot].tensor.name for slot in instruction.inputs]
        self.skipped.operands = {name: each for name, each in zip(names, numbers, strict=True) if each is not None}
        return []

    def _make_known(self, instruction: Instruction) -> None:
        """Run a layer that is not attempted on zeros, so that no branch of it asks for an unknown code."""
        for slot in instruction.inputs:
            if slot < 0:
                continue
            try:
                address, size = self._place(slot)
            except NotAttempted:
                continue
            for at in range(address, address + size):
                self.skipped.saved.setdefault(at, self.memory.byte(at))
                self.memory.store(at, 0, 1)

    def _behind(self, instruction: Instruction) -> None:
        expected = self.skipped.expected
        if expected is None:
            self._restore(instruction)
        elif not instruction.call.chain:
            self.layers[instruction.index] = self._judged(instruction, expected)
        else:
            self.layers[instruction.index] = self._chained(instruction)

    def _chained(self, instruction: Instruction) -> LayerProof:
        """The verdict on layers that were computed band by band."""
        try:
            expected = last_of(instruction.call.chain, self.skipped.operands, self.comparison)
        except (NotAttempted, NotFound) as error:
            for slot in instruction.outputs:
                self._free(slot)
            return _told(instruction, "not attempted" if isinstance(error, NotAttempted) else "gave up", error.why)
        return self._judged(instruction, expected)

    def _restore(self, instruction: Instruction) -> None:
        """Give a layer's operands back what they held, and its results codes that may be anything."""
        for address, value in self.skipped.saved.items():
            self.memory.store(address, value, 1)
        self.skipped.saved.clear()
        for slot in instruction.outputs:
            if eight_bits(self.plan.slots[slot].tensor):
                self._free(slot)

    def _judged(self, instruction: Instruction, expected: list[list[Expected]]) -> LayerProof:
        """The verdict; from here on the results are known as codes of their own."""
        outcome: Outcome = None
        wrong: tuple[int, int] | None = None
        functions, leaves, elements = set[int](), set[object](), 0
        for slot, wanted in zip(instruction.outputs, expected, strict=False):
            flat = self._stored(slot)
            logical = self.plan.slots[slot].layout.unpack(flat, self.plan.slots[slot].tensor.shape).reshape(-1)
            elements += logical.size
            for element, (number, meant) in enumerate(zip(logical.tolist(), wanted, strict=True)):
                outcome = self.comparison.compare(number, meant)
                if outcome is not None:
                    wrong = (slot, element)
                    break
                self.book.codes.narrow(number, *self._range(number, meant))
                functions.add(self._shape(number))
                leaves.update(meant.leaves)
            if wrong is not None:
                break
            self._hold(slot, flat)
        if wrong is None:
            return _told(instruction, "proved", "", elements, len(functions), len(leaves))
        for slot in instruction.outputs:
            self._free(slot)
        return self._failed(instruction, outcome, *wrong)

    def _range(self, number: int, meant: Expected) -> tuple[int, int]:
        low, high = meant.rule.limits
        codes = self.book.codes
        return max(low, codes.lows[number]), max(min(high, codes.highs[number]), max(low, codes.lows[number]))

    def _shape(self, number: int) -> int:
        definition = self.book.definitions.get(number)
        return -1 if definition is None else definition.shape

    def _stored(self, slot: int) -> Numbers:
        """Numbers of the codes that memory holds for a tensor, in memory's order."""
        address, size = self._place(slot)
        return np.asarray([self.book.number(self.memory.byte(at)) for at in range(address, address + size)], np.int64)

    def _failed(self, instruction: Instruction, outcome: Outcome, slot: int, element: int) -> LayerProof:
        tensor = self.plan.slots[slot].tensor
        if isinstance(outcome, Undecided):
            return _told(instruction, "gave up", f"element {element} of '{tensor.name}': {outcome.why}")
        assert isinstance(outcome, Difference)
        if any(number in self.book.stale for number in outcome.codes):
            why = f"element {element} of '{tensor.name}' depends on bytes that nothing wrote in this call"
        else:
            stored, meant = (_code(byte, tensor.dtype.range) for byte in (outcome.stored, outcome.meant))
            why = f"element {element} of '{tensor.name}' can be {stored} and should be {meant}"
        if instruction.call.chain:
            return _told(instruction, "gave up", f"{why}, for codes between its layers that may or may not occur")
        operands = {}
        for index in instruction.inputs:
            if index >= 0:
                low = self.plan.slots[index].tensor.dtype.range[0]
                numbers = self._codes(index).reshape(-1).tolist()
                operands[self.plan.slots[index].tensor.name] = tuple(outcome.codes.get(n, low) for n in numbers)
        limits = tensor.dtype.range
        example = Counterexample(
            tensor.name, element, _code(outcome.stored, limits), _code(outcome.meant, limits), operands
        )  # fmt: skip
        return _told(instruction, "refuted", why, counterexample=example)


@dataclass
class _Skipped:
    """What is under way between the two calls around an instruction."""

    expected: list[list[Expected]] | None = None
    operands: dict[str, Numbers] = field(default_factory=dict)
    saved: dict[int, Value] = field(default_factory=dict)


def _code(byte: int, limits: tuple[int, int]) -> int:
    return byte - 256 if byte > limits[1] else byte


def _told(
    instruction: Instruction, verdict: str, why: str = "", elements: int = 0, functions: int = 0, sums: int = 0,
    counterexample: Counterexample | None = None,
) -> LayerProof:  # fmt: skip
    return LayerProof(
        instruction.name, instruction.op_name, instruction.kernel.name, verdict, why, elements, functions, sums,  # type: ignore[arg-type]
        counterexample,
    )  # fmt: skip
