"""What was proved of a network's layers, as frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["proved", "refuted", "gave up", "not attempted"]


@dataclass(frozen=True)
class Counterexample:
    """Codes of operands for which a layer stores another code than the operator means.

    `operands` are codes by tensor in logical order, those that do not matter at their lowest; `element` is the place in
    the flat result. `confirmed_by` says which run gave `stored` too; empty where the codes are no input of the network.
    """

    tensor: str
    element: int
    stored: int
    meant: int
    operands: Mapping[str, tuple[int, ...]]
    confirmed_by: str = ""


@dataclass(frozen=True)
class LayerProof:
    """One instruction of the plan.

    `elements` counts those of its results, `functions` how many different ones they are, `sums` what they depend on.
    """

    name: str
    op: str
    kernel: str
    verdict: Verdict
    why: str = ""
    elements: int = 0
    functions: int = 0
    sums: int = 0
    counterexample: Counterexample | None = None


@dataclass(frozen=True)
class NetworkProof:
    """All layers, in order; `blocks` counts the blocks of machine code that ran, `values` what was gone through."""

    model: str
    target: str
    compiler: str
    layers: tuple[LayerProof, ...]
    blocks: int
    values: int
    asked: int
    assumptions: tuple[str, ...]

    @property
    def refuted(self) -> tuple[LayerProof, ...]:
        """The layers that are wrong for some input."""
        return tuple(layer for layer in self.layers if layer.verdict == "refuted")

    @property
    def proved(self) -> int:
        """How many layers are proved."""
        return sum(layer.verdict == "proved" for layer in self.layers)
