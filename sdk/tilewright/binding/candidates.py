"""The kernels that a platform offers for each node, each with the sentence why not where it is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tilewright.binding.graph import Candidate, Refusal
from tilewright.binding.order import Order, as_offered, by_cost
from tilewright.binding.types import mismatch
from tilewright.errors import UnsupportedNode
from tilewright.model import Model, Node
from tilewright.ops.operator import Call, unmapped
from tilewright.ops.quantised.linear import wraps
from tilewright.ops.registry import call_of
from tilewright.platform import Kernel


def make_call(model: Model, node: Node) -> Call:
    """The node with the types of its operands and the values of those that are constants."""
    return call_of(
        node=node,
        inputs=tuple(model.tensors[name] if name else None for name in node.inputs),
        outputs=tuple(model.tensors[name] for name in node.outputs if name),
        constants={i: model.constants[name] for i, name in enumerate(node.inputs) if name in model.constants},
        opset=model.opset,
    )


def by_operator(kernels: Sequence[Kernel]) -> Mapping[str, tuple[Kernel, ...]]:
    """Kernels by operator name, in the platform's order of preference."""
    by_operator: dict[str, list[Kernel]] = {}
    for kernel in kernels:
        by_operator.setdefault(kernel.op, []).append(kernel)
    return {op: tuple(group) for op, group in by_operator.items()}


Refusals = Mapping[tuple[str, str], Refusal]
"""By (node, kernel) what a later stage has found against a kernel that accepts the node."""


def candidates(
    call: Call, offered: Sequence[Kernel], refused: Refusals, order: Order = by_cost
) -> tuple[Candidate, ...]:
    """Every kernel for the node's operator; those that accept it come first, sorted by `order`."""
    return in_order(call, [Candidate(kernel, own_refusal(call, kernel)) for kernel in offered], refused, order)


def in_order(call: Call, own: Sequence[Candidate], refused: Refusals, order: Order) -> tuple[Candidate, ...]:
    """Those that accept the node and are not refused come first, sorted by `order`."""
    tried = [_candidate(candidate, refused.get((call.node.name, candidate.kernel.name))) for candidate in own]
    accepted = order(call, [candidate for candidate in tried if candidate.refusal is None])
    return (*accepted, *(candidate for candidate in tried if candidate.refusal is not None))


def own_refusal(call: Call, kernel: Kernel) -> str | None:
    """The sentence why the kernel cannot run the node, whatever the others do; None where it can."""
    if (unlike := mismatch(kernel, call)) is not None:
        return unlike
    try:
        return kernel.accepts(call)
    except UnsupportedNode as error:
        if wraps(call):  # one kernel does, all others have no sums that fit
            return str(error)
        raise


def _candidate(own: Candidate, refused: Refusal | None) -> Candidate:
    """What the kernel says itself, then what was found against it."""
    if own.refusal is not None or refused is None:
        return own
    return Candidate(own.kernel, refused.why, refused.too_large)


def accepting(model: Model, kernels: Sequence[Kernel]) -> dict[str, frozenset[str]]:
    """By node the names of the kernels that accept it."""
    offered = by_operator(kernels)
    calls = [make_call(model, node) for node in model.nodes]
    return {
        call.node.name: frozenset(c.kernel.name for c in candidates(call, offered.get(call.node.op, ()), {}, as_offered)
                                  if c.refusal is None)
        for call in calls
    }  # fmt: skip


def no_kernel(call: Call, tried: Sequence[Candidate], platform: str) -> UnsupportedNode:
    """The error for a node that no kernel takes.

    Where it has a form that no index map describes, what about it is not computed; else what the kernels say, those
    that ask for other types only where all do.
    """
    node, operator = call.node, call.operator
    fix = "see `tilewright ops` for what is supported"
    if not tried:
        why = f"platform '{platform}' has no kernel for it" if operator is not None else "the operator is not known"
    elif operator is not None and operator.nests is not None and not call.nests:
        why, fix = unmapped(call)
    else:
        told = [c.refusal or "" for c in tried if mismatch(c.kernel, call) is None] or [c.refusal or "" for c in tried]
        why = "; ".join(list(dict.fromkeys(told))[:4])
    return UnsupportedNode(
        f"node '{node.name}' ({node.op}) is not computed on platform '{platform}'", why=why, fix=fix, node=node.name
    )
