"""The table of a core from what was built for it: which figures stand for a kernel's code and stack.

A kernel's bytes are told for 1,000 tokens of all its layers in one network. The limit up to which loops count as
unrolled is the one that leaves the least spread.
"""

from __future__ import annotations

import re
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from math import ceil, hypot, log, sqrt

from tilewright.codegen.c_tokens import UNROLLED
from tilewright.codegen.wide_operations import operation_of
from tilewright.report.code_sizes import (
    ALWAYS,
    HANDS,
    RUN,
    SMALL,
    Alike,
    CoreSizes,
    KernelSizes,
    LayerCounts,
    Parts,
    is_helper,
    is_library,
)

STEPS = 5
"""Steps of the stack of a kernel over the size of its layers."""
FEW = 4
"""The middle of so many networks is typical, of fewer the mean; fewer do not show what joining layers does."""
THOUGHT_SPREAD, THOUGHT_AS = 0.25, 3
"""Spread that a kernel is thought to have before it is measured, counted as that of so many networks."""
SPARE_PERCENT = 108
"""Of the stack of every network that is measured so much is told."""


Steps = tuple[tuple[int, int], ...]
"""Bytes of stack that are enough up to so many tokens."""


@dataclass(frozen=True)
class Library:
    """What is linked for each function of a library, and bytes of every part with its constants, and its variables."""

    linked: Mapping[str, frozenset[str]]
    parts: Mapping[str, tuple[int, int]]


@dataclass(frozen=True)
class Built:
    """One network on one core: its C, bytes of our own functions with the layers apart, and bytes of stack.

    `depths` are bytes of stack of a function with all that it calls; `frame` that of the function that calls the
    layers. `calls`: functions of libraries by kernel; `beside`: kernels that are handed to other cores. `bound` and
    `core_bound` are those of the network as it ships, as are `code` with all constants beside the network's, and
    `variables`; `library` is what it calls. `whole` is false where only the layers count.
    """

    flags: str
    model: str
    counts: LayerCounts
    functions: Mapping[str, int]
    depths: Mapping[str, int]
    frame: int
    calls: Mapping[str, frozenset[str]]
    beside: frozenset[str]
    bound: int
    core_bound: int
    code: int
    variables: int
    library: Library
    whole: bool = True


def layer_of(name: str, model: str) -> tuple[str, int] | None:
    """(kernel, number) of a layer's function; None for others. What a layer hands to a core is a kernel of its own, but
    for one of several phases, into which the kernel's function is compiled.
    """
    symbol = re.match(rf"{model}_(?:([a-z0-9]+)_|(layer|fetch))(\d+)(_core(?!_phase))?", name)
    if symbol is None:
        return (RUN, 0) if name == f"{model}_run" else None
    return HANDS if symbol[4] else symbol[1] or symbol[2], int(symbol[3])


def core(cells: Sequence[Built], before: CoreSizes | None = None, forms: Mapping[str, str] | None = None) -> CoreSizes:
    """The table of one core, under which no network of `cells` takes more than it says.

    What `before` knows of kernels in the form that they have in `forms` stays.
    """
    _check_operations(cells)
    forms, known = forms or {}, CoreSizes(cells[0].flags) if before is None else before
    library = _library(cells, known)
    stay = {name for name, sizes in known.kernels.items() if sizes.form == forms.get(name)}
    names = {name for cell in cells for name, _ in cell.counts.layers} - stay
    shared = _shared(cells, known)
    kernels = {
        name: replace(_kernel(name, _of(name, cells), shared), form=forms.get(name, "")) for name in sorted(names)
    }
    used = {name for cell in cells for name in cell.counts.names if is_library(name) or is_helper(name)}
    silent = (known.known | used) - library.linked.keys() - shared.keys()
    sizes = CoreSizes(cells[0].flags, {**known.kernels, **kernels}, shared, library.linked, library.parts, silent)
    whole = [cell for cell in cells if cell.whole]
    sizes = replace(sizes, kernels=_deep_enough(sizes, whole))
    if len(whole) < FEW:
        return replace(sizes, code_percent=known.code_percent, joined_spread=known.joined_spread)
    joined = [100 * cell.code / _apart(cell) for cell in whole]
    middle = statistics.median(joined)
    above = [one - middle for one in joined if one >= middle]
    sizes = replace(sizes, code_percent=ceil(middle), joined_spread=ceil(hypot(*above) / sqrt(len(above))))
    return replace(sizes, kernels=_wide_enough(sizes, whole))


def _apart(cell: Built) -> int:
    """Bytes of a network with its layers apart, and of what it takes from libraries."""
    needed = frozenset[str]().union(*cell.library.linked.values())
    library = sum(cell.library.parts[part][0] for part in needed)
    return sum(cell.functions.values()) + library + cell.counts.constants


def _of(name: str, cells: Sequence[Built]) -> Sequence[Built]:
    """Where a kernel is measured: in whole networks where one has it, for single nodes are as odd as they are drawn."""
    whole = [cell for cell in cells if cell.whole and any(kernel == name for kernel, _ in cell.counts.layers)]
    return whole or cells


def _check_operations(cells: Iterable[Built]) -> None:
    """ValueError where a kernel calls a function for an operation that is not seen in its C."""
    for cell in cells:
        for kernel, names in cell.calls.items():
            able = {None, *cell.counts.operations.get(kernel, ())}
            if unseen := sorted(name for name in names if operation_of(name) not in able):
                raise ValueError(f"{kernel} of {cell.model} calls {', '.join(unseen)}, its C shows {able}")


def _library(cells: Sequence[Built], known: CoreSizes) -> Library:
    """What all networks link."""
    linked, parts = dict(known.library), dict(known.parts)
    for cell in cells:
        linked |= cell.library.linked
        parts |= {part: max(sizes, parts.get(part, (0, 0))) for part, sizes in cell.library.parts.items()}
    return Library(linked, parts)


def _kernel(name: str, cells: Sequence[Built], shared: Mapping[str, int]) -> KernelSizes:
    """What a kernel takes in the networks that have it, beside the functions that it shares with others."""
    bytes_of: list[int] = []
    several: list[bool] = []
    counts: list[tuple[int, ...]] = []
    stacks: list[tuple[tuple[int, ...], int]] = []
    calls: set[frozenset[str]] = set()
    for cell in cells:
        layers = {layer: tokens for layer, tokens in cell.counts.layers.items() if layer[0] == name}
        if not layers:
            continue
        mine = {function: layer_of(function, cell.model) for function in cell.functions}
        own_bytes = sum(cell.functions[function] for function, layer in mine.items() if layer in layers)
        joined_bytes = _joined(name, cell, shared)  # larger where what is named is never called
        bytes_of.append(own_bytes - joined_bytes if joined_bytes < own_bytes else own_bytes)
        several.append(bool(cell.counts.helpers.get(name)) and sum(cell.counts.copies.get(at, 1) for at in layers) > 1)
        counts.append(cell.counts.tokens_of(name))
        calls.add(cell.calls.get(name, frozenset()) - cell.counts.names)  # what C names is counted by its name
        for layer, tokens in layers.items():
            deep = [depth for function, depth in cell.depths.items() if layer_of(function, cell.model) == layer]
            own = {RUN: cell.frame, HANDS: _hands(cell)}
            stacks.append((tokens, own[name] if name in own else max(deep, default=0)))
    if any(several):  # a function with one caller is compiled for its arguments, and the layer is a jump to it
        bytes_of, counts = list(compress(bytes_of, several)), list(compress(counts, several))
    at = min(range(len(UNROLLED)), key=lambda at: (_spread(bytes_of, [row[at] for row in counts]), at))
    densities = [1000 * size / max(1, row[at]) for size, row in zip(bytes_of, counts, strict=True)]
    typical = statistics.mean(densities) if len(densities) < FEW else statistics.median(densities)
    spread = _deviation([(size, typical * row[at] / 1000) for size, row in zip(bytes_of, counts, strict=True)])
    deepest = [
        (limit, _steps([(tokens[place], size) for tokens, size in stacks])) for place, limit in enumerate(UNROLLED)
    ]
    stack_unrolled, steps = min(deepest, key=lambda pair: _too_deep(pair, stacks))
    beside = any(name in cell.beside for cell in cells)
    largest = sorted((names for names in calls if names and not any(names < more for more in calls)), key=sorted)
    return KernelSizes(
        UNROLLED[at], round(typical), ceil(100 * spread), steps, tuple(largest), beside, stack_unrolled=stack_unrolled
    )


def _joined(name: str, cell: Built, shared: Mapping[str, int]) -> int:
    """Bytes of shared functions that the compiler has put into the layers of a kernel, the only one that calls them."""
    others = [names for kernel, names in cell.counts.helpers.items() if kernel != name]
    mine = cell.counts.helpers.get(name, frozenset()).difference(*others) - cell.functions.keys()
    return sum(shared.get(helper, 0) for helper in mine)


def _too_deep(limit_and_steps: tuple[int, Steps], stacks: Sequence[tuple[tuple[int, ...], int]]) -> float:
    """How much more stack than layers take is told of them by the steps of a limit."""
    limit, steps = limit_and_steps
    at = UNROLLED.index(limit)
    told = [next(size for most, size in steps if tokens[at] <= most) for tokens, _ in stacks]
    return round(sum(log((more + SMALL) / (size + SMALL)) for more, (_, size) in zip(told, stacks, strict=True)), 3)


def _spread(sizes: Sequence[int], tokens: Sequence[int]) -> float:
    ratios = [log((size + SMALL) / (count + SMALL)) for size, count in zip(sizes, tokens, strict=True)]
    return round(statistics.pstdev(ratios), 2)


def _deviation(pairs: Sequence[tuple[float, float]]) -> float:
    """Standard deviation of a network's bytes from those that are typical, as a share of these; wider where few are
    known.
    """
    count = len(pairs)
    squares = sum(log((size + SMALL) / (typical + SMALL)) ** 2 for size, typical in pairs)
    variance = (squares + THOUGHT_AS * THOUGHT_SPREAD**2) / (count - 1 + THOUGHT_AS)
    return sqrt(variance * (1 + 1 / count))


def _hands(cell: Built) -> int:
    """What the function that is handed to other cores takes beside the kernels that it calls."""
    layers = {function: layer_of(function, cell.model) for function in cell.depths}
    below = [
        cell.depths[function] for function, layer in layers.items()
        if layer is not None and layer[0] in cell.beside and layer[0] != HANDS
    ]  # fmt: skip
    return max(0, cell.core_bound - max(below, default=0))


def _steps(stacks: Sequence[tuple[int, int]]) -> Steps:
    """Bytes of stack that are enough up to so many tokens: the most of all layers up to there."""
    ordered = sorted(stacks)
    deepest_until: list[tuple[int, int]] = []
    for step in range(1, STEPS + 1):
        last = ordered[-(-len(ordered) * step // STEPS) - 1][0]
        deepest = max(size for tokens, size in ordered if tokens <= last)
        if deepest_until and deepest_until[-1][1] == deepest:
            deepest_until[-1] = (last, deepest)
        elif not deepest_until or last > deepest_until[-1][0]:
            deepest_until.append((last, deepest))
    return tuple(deepest_until)


def _deep_enough(sizes: CoreSizes, cells: Sequence[Built]) -> Mapping[str, KernelSizes]:
    """The kernels with what layers take more of stack when they are joined than is added: the deepest one gets it."""
    kernels = dict(sizes.kernels)
    for cell in cells:
        now = replace(sizes, kernels=kernels)
        mine, others = now.stack_bytes(cell.counts)
        wanted = (cell.bound * SPARE_PERCENT // 100, cell.core_bound * SPARE_PERCENT // 100)
        for beside, lacking in ((False, wanted[0] - mine), (True, wanted[1] - others)):
            layers = [
                (kernels[name].stack_bytes(counts), name, counts)
                for (name, _), counts in cell.counts.layers.items()
                if kernels[name].beside == beside and name not in (RUN, HANDS)
            ]  # fmt: skip
            if lacking > 0 and layers:
                _, name, counts = max(layers)
                kernels[name] = _deeper(kernels[name], counts, lacking)
    return kernels


def _wide_enough(sizes: CoreSizes, cells: Sequence[Built]) -> Mapping[str, KernelSizes]:
    """The kernels with a spread under which no network takes more code than is told: the least certain one gets it."""
    kernels = dict(sizes.kernels)
    for cell in cells:
        names = {name for name, _ in cell.counts.layers}
        tokens = {name: kernels[name].tokens(cell.counts.tokens_of(name)) for name in names}
        doubt = {
            name: kernels[name].spread * (count * kernels[name].typical / 1000 + SMALL)
            for name, count in tokens.items()
        }
        name = max(doubt, key=lambda name: (doubt[name], name))
        while replace(sizes, kernels=kernels).code_bytes(cell.counts) < cell.code:
            kernels[name] = replace(kernels[name], spread=kernels[name].spread + 1)
    return kernels


def _deeper(kernel: KernelSizes, counts: tuple[int, ...], more: int) -> KernelSizes:
    """The kernel with more stack from layers of so many tokens on."""
    tokens, enough = counts[UNROLLED.index(kernel.stack_unrolled)], kernel.stack_bytes(counts) + more
    steps = [(most, max(size, enough) if tokens <= most else size) for most, size in kernel.stack]
    if tokens > kernel.stack[-1][0]:
        steps.append((tokens, enough))
    return replace(kernel, stack=tuple(steps))


def _shared(cells: Sequence[Built], known: CoreSizes) -> dict[str, int]:
    """Bytes of our functions that belong to no layer, by the name that brings them, and those without one under ALWAYS:
    the most that was seen, since what they take depends on what the compiler puts into them.
    """
    sizes_of: dict[str, list[int]] = defaultdict(list)
    for cell in cells:
        rest = 0
        for name, size in cell.functions.items():
            if layer_of(name, cell.model) not in cell.counts.layers:
                if name in cell.counts.names:
                    sizes_of[name].append(size)
                else:
                    rest += size
        sizes_of[ALWAYS].append(rest)
    always = max(*sizes_of.pop(ALWAYS), known.shared.get(ALWAYS, 0))
    return {**known.shared, **{name: max(sizes) for name, sizes in sizes_of.items()}, ALWAYS: always}


def toml(platform: str, cores: Iterable[CoreSizes], alike: Mapping[str, Alike]) -> str:
    """The file as it is committed; `alike` are cores that were compared with another one, by flags."""
    lines = [f"# Written by: python ci/measure_code.py {platform}"]
    lines += ["# typical: bytes of code for 1,000 tokens of C; spread: its standard deviation in hundredths"]
    lines += ["# stack: [tokens of a layer, bytes up to there]"]
    lines += ["# form: of its C when it was measured; missing: kernels that are not known, or in another form"]
    lines += ["# shared: bytes that a name brings; parts: [bytes, variables] of what functions of the library link"]
    for sizes in cores:
        lines += ["", "[[core]]", f'flags = "{sizes.flags}"', f"code_percent = {sizes.code_percent}"]
        lines += [f"joined_spread = {sizes.joined_spread}"]
        lines += [f"known = {_names(sizes.known)}", f"missing = {_names(sizes.missing)}", "[core.kernels]"]
        lines += [f"{name} = {{ {_fields(kernel)} }}" for name, kernel in sorted(sizes.kernels.items())]
        lines += ["[core.shared]", *(f"{name} = {size}" for name, size in sorted(sizes.shared.items()))]
        lines += ["[core.library]", *(f"{name} = {_names(parts)}" for name, parts in sorted(sizes.library.items()))]
        lines += ["[core.parts]", *_parts(sizes.parts)]
    for flags, other in alike.items():
        lines += ["", "[[alike]]", f'flags = "{flags}"', f'like = "{other.like}"', f"percent = {other.percent}"]
        lines += ["[alike.parts]", *_parts(other.parts)]
    return "\n".join(lines) + "\n"


def _parts(parts: Parts) -> list[str]:
    return [f'"{name}" = {list(pair)}' for name, pair in sorted(parts.items())]


def _fields(kernel: KernelSizes) -> str:
    stack = ", ".join(str(list(step)) for step in kernel.stack)
    text = f"unrolled = {kernel.unrolled}, typical = {kernel.typical}, spread = {kernel.spread}, stack = [{stack}]"
    text += f", library = [{', '.join(map(_names, kernel.library))}]" if kernel.library else ""
    text += f", stack_unrolled = {kernel.stack_unrolled}" if kernel.stack_unrolled != kernel.unrolled else ""
    text += ", beside = true" if kernel.beside else ""
    return text + (f', form = "{kernel.form}"' if kernel.form else "")


def _names(names: Iterable[str]) -> str:
    return "[" + ", ".join(f'"{name}"' for name in sorted(names)) + "]"
