"""What an operator is in PyTorch: the fact `torch` of an `Operator`, plain data that the mirror of a network asks."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Torch:
    """An expression `text` over the operands' texts `{0}`, `{1}`, ... and the real attributes of the node by name.

    `attributes` are the values of attributes that are left out; `folds` says that the expression takes two operands
    and is repeated over any number of them. Where one text does not say it, `writer` names what composes it in
    `export`. The constant operands of a `layer`, from the second on, are learnt, except its `statistics`.
    """

    text: str = ""
    attributes: tuple[tuple[str, float], ...] = ()
    folds: bool = False
    writer: str = ""
    layer: bool = False
    statistics: tuple[int, ...] = ()
