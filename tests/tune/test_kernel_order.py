"""Which kernel a node gets: by declared cost within a platform, by counts where a lock file has them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tilewright.binding.graph import Candidate
from tilewright.binding.order import by_cost, by_counts
from tilewright.model import DType, Node, Tensor
from tilewright.ops.operator import Call
from tilewright.ops.registry import call_of
from tilewright.platform import KernelMethods, Platform


@dataclass
class Declared(KernelMethods):
    """A kernel class's methods with a cost."""

    instructions: float
    asked: list[str] = field(default_factory=list)

    def cost(self, call: Call) -> float:
        self.asked.append(call.node.name)
        return self.instructions


def candidates(*kernels: tuple[str, str, float | None], calibrated: bool = True) -> list[Candidate]:
    """(name, platform, cost or None) of each, in order of preference."""
    platform = Platform(name="acme", summary="", memory=(), calibrated=calibrated)
    found = []
    for name, owner, cost in kernels:
        methods = Declared(cost) if cost is not None else KernelMethods()
        cls = type(name, (KernelMethods,), {"__module__": __name__})
        platform.kernel("Relu", types="f32 -> f32", template="none.mako")(cls)
        from dataclasses import replace

        found.append(Candidate(replace(platform.own_kernels()[-1], name=name, methods=methods, platform=owner), None))
    return found


TENSOR = Tensor("x", DType.F32, (4,))
CALL = call_of(Node("relu", "Relu", ("x",), ("y",)), (TENSOR,), (Tensor("y", DType.F32, (4,)),))


def names(found: Any) -> list[str]:
    return [candidate.kernel.name for candidate in found]


def test_the_cheapest_of_a_platform_comes_first() -> None:
    offered = candidates(("Plain", "acme", 50.0), ("Fast", "acme", 10.0), ("Slow", "acme", 90.0))
    assert names(by_cost(CALL, offered)) == ["Fast", "Plain", "Slow"]


def test_costs_that_are_not_calibrated_say_nothing() -> None:
    offered = candidates(("Plain", "acme", 50.0), ("Fast", "acme", 10.0), calibrated=False)
    assert names(by_cost(CALL, offered)) == ["Plain", "Fast"]


def test_equals_keep_the_order_of_preference() -> None:
    assert names(by_cost(CALL, candidates(("A", "acme", 5.0), ("B", "acme", 5.0)))) == ["A", "B"]


def test_a_kernel_without_a_cost_keeps_its_place() -> None:
    offered = candidates(("Dear", "acme", 50.0), ("Unknown", "acme", None), ("Cheap", "acme", 10.0))
    assert names(by_cost(CALL, offered)) == ["Cheap", "Unknown", "Dear"]


def test_costs_of_another_platform_are_not_compared() -> None:
    offered = candidates(("Own", "acme", 500.0), ("Inherited", "generic", 1.0))
    assert names(by_cost(CALL, offered)) == ["Own", "Inherited"]


def test_one_candidate_is_not_asked_for_its_cost() -> None:
    (alone,) = candidates(("Alone", "acme", 1.0))
    declared = alone.kernel.methods
    assert isinstance(declared, Declared)
    by_cost(CALL, [alone])
    assert declared.asked == []


def test_counts_overrule_costs_and_platforms() -> None:
    offered = candidates(("Liar", "acme", 1.0), ("Honest", "acme", 9.0), ("Inherited", "generic", 3.0))
    order = by_counts({"relu": {"Liar": 700, "Honest": 300, "Inherited": 200}})
    assert names(order(CALL, offered)) == ["Inherited", "Honest", "Liar"]


def test_what_was_not_counted_comes_behind_what_was() -> None:
    offered = candidates(("Liar", "acme", 1.0), ("Honest", "acme", 9.0))
    assert names(by_counts({"relu": {"Honest": 300}})(CALL, offered)) == ["Honest", "Liar"]
    assert names(by_counts({"other": {"Honest": 300}})(CALL, offered)) == ["Liar", "Honest"]
