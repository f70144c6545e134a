"""Runs the passes over a Model until none of them finds anything more to do, and checks what they made."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Protocol

from tilewright.errors import UsageError
from tilewright.frontend.check import check_model
from tilewright.frontend.names import nearest
from tilewright.ieee import ieee
from tilewright.model import Model
from tilewright.ops.operator import Call
from tilewright.ops.products import multiply_accumulates
from tilewright.passes import (
    activation,
    batch_norm,
    cached_attention,
    canonical,
    chain,
    constant_channels,
    dead,
    dense,
    depthwise,
    fold,
    gates,
    hot_rows,
    identity,
    normalisation,
    one_hot,
    pad,
    phases,
    pool,
    prescale,
    readers,
    rotary,
    scalar,
    signed_codes,
    transposed,
    windows,
)
from tilewright.passes.edit import Edit

ROUNDS = 8


class Pass(Protocol):
    """A rewriting of the network: a module with a name and a function from Model to Model."""

    @property
    def name(self) -> str:
        """How reports and `disabled` call it."""

    def apply(self, model: Model) -> Model:
        """The rewritten model, the same object where there was nothing to do."""


@dataclass(frozen=True)
class PassReport:
    """What one pass did over all rounds: bytes of tensors that it removed (negative: added), and whether it changed.

    `added_operations` are those that it spends for the bytes; `cut_off` says what it left out because its work is
    counted, empty where it left out nothing. `saved_products` are multiply-accumulates that it made superfluous.
    """

    name: str
    saved_bytes: int
    changed: bool
    added_operations: int = 0
    cut_off: str = ""
    saved_products: int = 0


PASSES: tuple[Pass, ...] = (
    dead,
    signed_codes,
    fold,
    identity,
    hot_rows,
    rotary,
    normalisation,
    gates,
    canonical,
    pool,
    pad,
    batch_norm,
    scalar,
    prescale,
    chain,
    dense,
    activation,
    constant_channels,
    cached_attention,
    one_hot,
    transposed,
    phases.Phases(),
    depthwise,
    windows,
    readers,
)


def passes_for(computed: Callable[[Call], bool]) -> tuple[Pass, ...]:
    """All passes, for a target of whose kernels one computes a `computed` ConvTranspose in blocks."""
    return tuple(phases.Phases(computed) if isinstance(each, phases.Phases) else each for each in PASSES)


@ieee
def run(
    model: Model, disabled: Collection[str] = (), passes: tuple[Pass, ...] = PASSES
) -> tuple[Model, tuple[PassReport, ...]]:
    """The rewritten model and a report for each pass. UsageError where `disabled` names a pass that is not there."""
    names = [each.name for each in passes]
    for name in disabled:
        if name not in names:
            raise UsageError(f"there is no pass '{name}'", fix=nearest(name, names))
    check_model(model, "the stage before the passes")
    saved, changed, fewer = dict.fromkeys(names, 0), dict.fromkeys(names, False), dict.fromkeys(names, 0)
    for _ in range(ROUNDS):
        before_round = model
        for each in passes:
            if each.name in disabled:
                continue
            after = check_model(each.apply(model), f"the pass '{each.name}'")
            if after is not model:
                saved[each.name] += _size_bytes(model) - _size_bytes(after)
                changed[each.name] = True
                if each is constant_channels:
                    fewer[each.name] += products_of(model) - products_of(after)
                model = after
        if model is before_round:
            break
    return model, tuple(PassReport(name, saved[name], changed[name], saved_products=fewer[name]) for name in names)


def products_of(model: Model) -> int:
    """The multiply-accumulates of a network."""
    edit = Edit(model)
    return sum(multiply_accumulates(edit.call(node)) for node in model.nodes)


def _size_bytes(model: Model) -> int:
    return sum(tensor.size_bytes for tensor in model.tensors.values())
