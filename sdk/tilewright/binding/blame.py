"""Why a network cannot be bound: a smallest set of nodes and outputs whose memory orders do not go together.

A conflict is a set of nodes and outputs that cannot be bound even if every other node were free: took its operands
as they lie and gave its results as each reader wants them. It is minimal where any one of its members, made free,
lets the others be bound. So each of them is to blame, and a kernel that fits, for any one, resolves the conflict.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tilewright.binding.layouts import (
    VIEW,
    Rule,
    demanded,
    fixed_layout,
    grounds_of_demand,
    grounds_of_result,
    resulting,
    runtime_operands,
)
from tilewright.binding.relayouts import Relayouts
from tilewright.binding.search import Choice, Conflict, Copied, search
from tilewright.errors import UnsupportedNode
from tilewright.layout import Layout
from tilewright.model import Model, Tensor
from tilewright.ops.operator import Call

SHOWN = 3
"""Members that a sentence shows at either end of a long conflict."""


def minimal(
    choices: Sequence[Choice], members: Collection[int], given: Mapping[str, Layout], copied: Copied
) -> tuple[int, ...]:
    """The places of a minimal conflict among `members`, which are one."""
    needed = sorted(members)
    for member in sorted(members, reverse=True):
        rest = [at for at in needed if at != member]
        if len(rest) == len(needed):
            continue
        solution = search([choices[at] for at in rest], given, copied)
        if isinstance(solution, Conflict):
            needed = [rest[at] for at in sorted(solution.members)]
    return tuple(needed)


def refusal(
    members: Sequence[Choice], given: Mapping[str, Layout], relayouts: Relayouts, platform: str
) -> UnsupportedNode:
    """The error that names the members of a minimal conflict, what each wants, and what cannot be copied."""
    read = {t.name: t for choice in members for _, t in runtime_operands(choice.call)}
    made = {t.name for choice in members for t in choice.call.outputs}
    stuck = {name for choice in members for rule in choice.rules for name in demanded(rule, choice.call, given)}
    uncopied = [name for name in read if not relayouts.copied(name) and name in made | stuck]
    viewed = {t.name for choice in members if choice.rules == (VIEW,) for t in choice.call.outputs}
    joints = _Joints(uncopied, made & read.keys(), viewed)
    texts = [f"input '{name}' is row-major" for name in read if name in given and name in stuck | _followed(members)]
    texts += [_member(choice, joints) for choice in members]
    if len(texts) > 2 * SHOWN + 1:
        texts[SHOWN:-SHOWN] = [f"{len(texts) - 2 * SHOWN} more in between"]
    last = members[-1].call
    what = f"node '{last.node.name}' ({last.node.op})"
    if members[-1].is_output:
        what = f"output '{last.tensor(0).name}'"
    return UnsupportedNode(
        f"{what} cannot be bound on platform '{platform}'",
        why=f"these memory orders do not go together: {'; '.join(texts)}; {relayouts.why_not(uncopied)}",
        fix=f"{_add_relayout(uncopied, read)}, or add a kernel that fits its neighbours for one of these nodes",
        node="" if members[-1].is_output else last.node.name,
        tensor=last.tensor(0).name if members[-1].is_output else "",
    )


def _followed(members: Sequence[Choice]) -> set[str]:
    """Tensors whose order a result of a member may follow."""
    return {
        name
        for choice in members
        for rule in choice.rules
        for tensor in choice.call.outputs
        for name in grounds_of_result(rule, choice.call, tensor)
    }


def _add_relayout(names: Sequence[str], tensors: Mapping[str, Tensor]) -> str:
    tokens = dict.fromkeys(tensors[name].type_token for name in names)
    return f"inherit from 'generic' or add a Relayout kernel that takes {' and '.join(tokens)}"


@dataclass(frozen=True)
class _Joints:
    """The tensors by which the members of a conflict hang together: `read` by members without a copy, `made` by one
    and read by another, `viewed` through a view."""

    read: Collection[str]
    made: Collection[str]
    viewed: Collection[str]


def _member(choice: Choice, joints: _Joints) -> str:
    """What one member wants, kernel by kernel."""
    call = choice.call
    if choice.is_output:
        return f"output '{call.tensor(0).name}' is row-major"
    label = f"'{call.node.name}' ({call.node.op})"
    if choice.rules == (VIEW,):
        way = "transposed" if call.node.op == "Transpose" else "as it lies"
        return f"{label} shows '{call.tensor(0).name}' {way}"
    kernels: dict[str, list[str]] = {}
    for candidate in choice.tried:
        if candidate.refusal is None:
            rule = candidate.kernel.layout
            text = " and ".join([*_takes(rule, call, joints), *_gives(rule, call, joints)])
            kernels.setdefault(text, []).append(candidate.kernel.name)
    return f"{label}: " + ", ".join(f"{' or '.join(names)} {text}" for text, names in kernels.items())


def _takes(rule: Rule, call: Call, joints: _Joints) -> Iterator[str]:
    """How a kernel wants the operands that join it to others."""
    operands = {t.name: t for _, t in runtime_operands(call) if t.name in joints.read}
    orders: dict[str, list[str]] = {}
    for tensor in operands.values():
        fixed = fixed_layout(rule[0], tensor)
        if fixed is not None:
            orders.setdefault(_order(fixed, tensor), []).append(tensor.name)
        elif len(grounds := grounds_of_demand(rule, call, tensor.name)) > 1:
            alike = orders.setdefault("in one order", [])
            alike += [name for name in (*sorted(grounds - {tensor.name}), tensor.name) if name not in alike]
        elif tensor.name in joints.viewed and rule[0] != "any":
            orders.setdefault("with one stride along each axis", []).append(tensor.name)
    for order, names in orders.items():
        yield f"takes {_quoted(names)} {order}"


def _gives(rule: Rule, call: Call, joints: _Joints) -> Iterator[str]:
    """How a kernel leaves the results that join it to others."""
    for tensor in call.outputs:
        if tensor.name in joints.made:
            followed = grounds_of_result(rule, call, tensor)
            layout = resulting(rule, call, {}).get(tensor.name)
            order = f"in the order of {_quoted(sorted(followed))}" if layout is None else _order(layout, tensor)
            yield f"gives '{tensor.name}' {order}"


def _order(layout: Layout, tensor: Tensor) -> str:
    if layout.is_default:
        return "row-major"
    return "channels last" if layout == Layout.channels_last(tensor.shape) else f"as {layout}"


def _quoted(names: Sequence[str]) -> str:
    return " and ".join(f"'{name}'" for name in names)


def shared_bytes(
    model: Model, names: Sequence[str], shown: Mapping[str, str], relayouts: Relayouts, platform: str
) -> UnsupportedNode:
    """The error for an output, or two, that would need a copy whatever the kernels are."""
    first, root = names[0], shown.get(names[0], names[0])
    if len(names) == 2:
        what, why = f"outputs '{first}' and '{names[1]}'", "they lie in the same bytes, so one of them"
    elif first in model.constants:
        what, why = f"output '{first}'", "it is a constant of the network, so it"
    else:
        is_input = "is an input" if root == first else f"shows the bytes of input '{root}'"
        what, why = f"output '{first}'", f"it {is_input}, so it"
    return UnsupportedNode(
        f"{what} cannot be bound on platform '{platform}'",
        why=f"{why} must be copied; {relayouts.why_not(names)}",
        fix=_add_relayout(names, model.tensors),
        tensor=first,
    )
