"""What a layer is estimated to cost before anything has run, and the fastest kernel that refuses it.

Costs that a kernel declares for the cores of its platform come first, then the platform's table of rates. Floats on a
core without FPU are computed in software, which no table of a kernel knows.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from tilewright.binding.graph import Candidate
from tilewright.binding.types import mismatch
from tilewright.ops.codes import Moves
from tilewright.ops.operator import Call
from tilewright.ops.products import kind_of_products, multiply_accumulates, units_of_work
from tilewright.platform import Kernel, Needs, Platform

PER_PRODUCT, PER_RESULT = 8.0, 15.0
"""Instructions of portable loops for one multiply-accumulate and for one result."""
SOFTWARE_PRODUCT, SOFTWARE_RESULT = 150.0, 70.0
"""The same in floats by software; counted on RV32IMC with GCC's library."""
ENTRY, TILE_ENTRY = 100.0, 1000.0
"""What any kernel takes before its first result: instructions, and cycles of one that computes tiles."""
FLOATS = Needs(has=("fpu",))


@dataclass(frozen=True)
class Faster:
    """The fastest kernel of an operator that refuses a layer: what it would cost at the kernel's rate, and why.

    `kernel` is empty where it is the layer's own on a core with an FPU.
    """

    kernel: str
    cost: float
    why: str


@dataclass(frozen=True)
class Core:
    """The cores that code is made for: their platform and what the target says they can."""

    platform: Platform
    capabilities: Collection[str]

    def estimated(self, call: Call, kernel: Kernel) -> float:
        """Estimated instructions of one call; cycles by the platform's rates where it has a model of time."""
        known = self.declared(call, kernel)
        if not self.in_software(call, kernel):
            return known
        each = SOFTWARE_PRODUCT if multiply_accumulates(call) else SOFTWARE_RESULT
        return max(known, each * units_of_work(call) / self.sharing(kernel))

    def declared(self, call: Call, kernel: Kernel) -> float:
        """The same, all floats computed by an FPU."""
        own = kernel.calibrated and (kernel.platform == self.platform.name or bool(call.chain))
        cost = kernel.declared_cost(call) if own else None
        if cost is not None:
            return cost
        rate = self.platform.rates.get(kernel.name)
        if rate is not None:
            return rate.each * units_of_work(call)
        return self.by_loops(call, kernel)

    def by_loops(self, call: Call, kernel: Kernel) -> float:
        """What portable loops cost."""
        each = PER_PRODUCT if multiply_accumulates(call) else PER_RESULT
        return each * units_of_work(call) / self.sharing(kernel)

    def sharing(self, kernel: Kernel) -> int:
        """Cores that a kernel shares its work among."""
        return self.platform.cores if kernel.tileable else 1

    def in_software(self, call: Call, kernel: Kernel) -> bool:
        """Whether a call computes on floats that this core has no instructions for, by a kernel not made for that."""
        if call.chain or "fpu" in self.capabilities or "fpu" in kernel.requires.lacks or isinstance(call.codes, Moves):
            return False
        tensors = [tensor for tensor in (*call.inputs, *call.outputs) if tensor is not None]
        plain = all(tensor.quantisation is None for tensor in tensors)
        return plain and any(tensor.dtype.is_float for tensor in tensors)

    def faster(self, call: Call, kernel: Kernel, candidates: Sequence[Candidate]) -> Faster | None:
        """The kernel with the least rate among those that refuse the call for what it is; None where none does.

        What is refused for its types, for an extension that the core lacks or for the user's own aim is no slow path.
        """
        units = units_of_work(call)
        if self.in_software(call, kernel):
            cost = min(self.declared(call, kernel), self.by_loops(call, kernel))
            return Faster("", cost, f"{FLOATS.unmet(self.capabilities, ())}, floats are computed in software")
        cheaper = [
            Faster(one.kernel.name, rate.each * units + (TILE_ENTRY if one.kernel.tileable else ENTRY), one.refusal)
            for one in candidates
            if one.refusal is not None and one.kernel.refusal is None and mismatch(one.kernel, call) is None
            and (rate := self.platform.rates.get(one.kernel.name)) is not None
            and kind_of_products(call) in rate.kinds
        ]  # fmt: skip
        return min(cheaper, key=lambda one: one.cost, default=None)

    def by_aim(self, call: Call, kernel: Kernel, candidates: Sequence[Candidate]) -> Faster | None:
        """The cheapest kernel that another `--optimize` would offer, where it costs less; `why` is that option."""
        cheaper = []
        for other in (one.kernel for one in candidates if one.kernel.requires.optimize and one.kernel.refusal):
            aim = other.requires.optimize
            if not other.requires.unmet(self.capabilities, (aim,)) and not mismatch(other, call):
                if other.calibrated and other.methods.accepts(call) is None:
                    cheaper.append(Faster(other.name, self.estimated(call, other), f"--optimize {aim}"))
        least = min(cheaper, key=lambda one: one.cost, default=None)
        return least if least is not None and least.cost < 0.95 * self.estimated(call, kernel) else None
