"""Graph outputs lie row-major in bytes of their own.

So an output that is an input or a constant, or that shows the bytes of an input or of another output, is a copy. Which
outputs show the same tensor does not depend on the choice of kernels: whether their copies can be had is known before.
The next value of a state that no node changes lies where the state does, and is no copy.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from tilewright.layout import Layout
from tilewright.model import Model
from tilewright.ops.operator import Call


def roots(views: Sequence[Call]) -> dict[str, str]:
    """For every tensor that is a view's result the tensor whose bytes it shows; `views` in topological order."""
    shown: dict[str, str] = {}
    for call in views:
        name = call.tensor(0).name
        shown[call.outputs[0].name] = shown.get(name, name)
    return shown


def unchanged(model: Model, shown: Mapping[str, str]) -> frozenset[str]:
    """The outputs that are next values of states and show those very states."""
    return frozenset(state.present for state in model.states if shown.get(state.present) == state.past)


def without_bytes(model: Model, shown: Mapping[str, str], copied: Callable[[str], bool]) -> tuple[str, ...]:
    """An output, or two that share bytes, that would need a copy which no kernel makes; empty where there is none."""
    taken: dict[str, str] = {}
    same = unchanged(model, shown)
    for name in model.outputs:
        root = shown.get(name, name)
        if copied(name) or name in same:
            continue
        if name in model.constants or root in model.inputs:
            return (name,)
        if root in taken:
            return taken[root], name
        taken[root] = name
    return ()


def copies(
    model: Model, shown: Mapping[str, str], layouts: Mapping[str, Layout], copied: Callable[[str], bool]
) -> Collection[int]:
    """The places of the outputs that are copied: of those that share bytes one stays, if it lies row-major.

    That is the first, or the one that no kernel copies.
    """
    stays: dict[str, int] = {}
    same = {at for at, name in enumerate(model.outputs) if name in unchanged(model, shown) and layouts[name].is_default}
    for at, name in enumerate(model.outputs):
        root = shown.get(name, name)
        if name in model.constants or root in model.inputs or not layouts[name].is_default:
            continue
        if root not in stays or not copied(name):
            stays[root] = at
    return set(range(len(model.outputs))) - set(stays.values()) - same
