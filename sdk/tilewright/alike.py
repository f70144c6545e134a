"""Networks that multiply by the same weights, compiled so that they keep them in the same order of memory."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path

from tilewright.binding.known_forms import LEAST_BYTES, Form, form_of, known_first
from tilewright.binding.order import Orders
from tilewright.compile import Compiled, compile_model, compiler, kernel_order
from tilewright.model import Array
from tilewright.options import CompileOptions
from tilewright.pipeline import Compiler, Depends
from tilewright.schedule.engines import orders_of
from tilewright.schedule.request import Request, request
from tilewright.target import Target

MOST_LEADERS = 3
"""So many networks are tried as the one whose forms the others take."""
Wanted = tuple[Path, CompileOptions]


def compile_alike(
    wanted: Sequence[Wanted], target: Target, pipeline: Compiler[Compiled] | None = None
) -> list[Compiled]:
    """Every network compiled, with the fewest bytes of constants in one image.

    First each by itself. Where weights that several read are kept in several forms, one network leads and the others
    take kernels that want its forms, as far as there are any; the leader with the fewest bytes wins. Not where speed
    is asked for, nor where the pipeline sorts kernels itself.
    """
    best = [compile_model(source, options, target, pipeline=pipeline) for source, options in wanted]
    own = pipeline is not None and kernel_order in pipeline.dependency_overrides
    if own or wanted[0][1].optimize == "speed" or not _several_forms(best):
        return best
    alone = best
    for leader in _leaders(alone):
        compilations: list[Compiled | None] = [None] * len(wanted)
        compilations[leader], forms = alone[leader], forms_of(alone[leader])
        for number, (source, options) in enumerate(wanted):
            if number != leader:
                chosen = compile_model(source, options, target, pipeline=taking(forms, pipeline))
                compilations[number], forms = chosen, forms | forms_of(chosen)
        tried = [one for one in compilations if one is not None]
        if _bytes(tried) < _bytes(best):
            best = tried
    return best


def taking(forms: Collection[Form], pipeline: Compiler[Compiled] | None) -> Compiler[Compiled]:
    """The pipeline with kernels first that want constants in these forms."""

    def sorted_orders(request: Request = Depends(request)) -> Orders:
        usual = orders_of(request)
        return lambda model: known_first(forms, usual(model))

    changed = (pipeline or compiler).copy()
    changed.dependency_overrides[kernel_order] = sorted_orders
    return changed


def forms_of(compiled: Compiled) -> frozenset[Form]:
    """The forms in which a network keeps its larger constants."""
    slots = compiled.plan.frozen_slots
    return frozenset(form_of(slot.constant) for slot in slots if slot.constant.size_bytes >= LEAST_BYTES)


def _bytes(networks: Sequence[Compiled]) -> int:
    """Bytes of constants of all networks, equal arrays once."""
    sizes = {
        form_of(slot.constant): slot.constant.size_bytes for one in networks for slot in one.plan.frozen_slots
    }  # fmt: skip
    return sum(sizes.values())


def _several_forms(networks: Sequence[Compiled]) -> bool:
    """True where the image keeps more forms of constants than common weights of the models explain."""
    weights = Counter(key for one in networks for key in {_key(array) for array in one.model.constants.values()})
    common = sum(count - 1 for key, count in weights.items() if count > 1 and key[0] >= LEAST_BYTES)
    forms = Counter(form for one in networks for form in forms_of(one))
    return sum(count - 1 for count in forms.values()) < common


def _key(array: Array) -> tuple[int, str]:
    return array.nbytes, hashlib.sha256(array.tobytes()).hexdigest()


def _leaders(networks: Sequence[Compiled]) -> list[int]:
    """The networks with most constants first."""
    return sorted(range(len(networks)), key=lambda n: -_bytes([networks[n]]))[:MOST_LEADERS]
