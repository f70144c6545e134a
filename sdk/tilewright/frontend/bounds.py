"""What `--bound NAME=N` speaks of: a node, one of its tensors, or a dimension whose length data decides."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tilewright.errors import UsageError
from tilewright.frontend.names import nearest, quoted
from tilewright.model import Model

Dimensions = Mapping[str, tuple[str, ...]]
"""The names of a tensor's dimensions as the file declares them."""


@dataclass(frozen=True)
class Built:
    """A model, and by the name of each node whose results are bounded the tensor that counts them.

    `used` are the names whose bounds loops followed.
    """

    model: Model
    counts: Mapping[str, str]
    used: frozenset[str]


def with_bounds(
    build: Callable[[Mapping[str, int]], Built], bounds: Mapping[str, int], dimensions: Dimensions
) -> Model:
    """The model with these bounds; UsageError for a name that no length has.

    A bound by the name of a node or its result is followed at once; any other name is that of a tensor behind it, or of
    a dimension, which are known when the network has been walked.
    """
    built = build(bounds)
    makers = {count: node for node, count in built.counts.items()}
    most_of: dict[str, int] = {}
    for name, most in bounds.items():
        if name in built.used:
            most_of[name] = most
            continue
        meant = [makers[count] for count in _counts(name, built, dimensions)]
        if not meant:
            raise _unknown(name, built, dimensions)
        for node in meant:
            most_of[node] = min(most, most_of.get(node, most))
    return built.model if most_of.keys() <= built.used else build(most_of).model


def _counts(name: str, built: Built, dimensions: Dimensions) -> tuple[str, ...]:
    """The counts that a name stands for, each once."""
    counts = [built.counts[name]] if name in built.counts else []
    for tensor in built.model.tensors.values():
        names = dimensions.get(tensor.name, ())
        for length in tensor.lengths:
            if name == tensor.name or name == length.count or names[length.axis : length.axis + 1] == (name,):
                counts.append(length.count)
    return tuple(dict.fromkeys(counts))


def _unknown(name: str, built: Built, dimensions: Dimensions) -> UsageError:
    tensors = [tensor for tensor in built.model.tensors.values() if tensor.lengths]
    known = [*built.counts, *(tensor.name for tensor in tensors)]
    known += [word for tensor in tensors for word in dimensions.get(tensor.name, ()) if word]
    why = "data decides of no length here" if not built.counts else "data does not decide of its length"
    return UsageError(f"--bound {quoted(name)[1:-1]}", why=why, fix=nearest(name, known) if known else "leave it out")
