"""What an operator does on integer codes: the fact `codes` of an `Operator`, plain data that every stage asks.

`None` means that nothing is known: the operator stays on real numbers between DequantizeLinear and QuantizeLinear.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tilewright.model import Array, Node, Shape

WeightAxis = Callable[[Node, int], int]
ByChannel = Callable[[Node, Array], "Array | None"]
Depth = Callable[[Node, Shape], int]


@dataclass(frozen=True)
class Moves:
    """Values are selected or moved, never computed, so the same happens to codes.

    `data` are the operands whose values reach the results, None for all of them (those of another scale than the
    result's are brought to it); the others are shapes, indices and the like. `results` are the results that hold such
    values, None for all. `whole` says that every value of the data stands in the results, `compares` that the values
    themselves decide which of them do.
    """

    data: tuple[int, ...] | None = (0,)
    results: tuple[int, ...] | None = None
    whole: bool = False
    compares: bool = False

    def data_of(self, node: Node) -> tuple[int, ...]:
        """The places of the node's operands whose values reach its results."""
        return tuple(range(len(node.inputs))) if self.data is None else self.data

    def results_of(self, node: Node) -> tuple[str, ...]:
        """The names of the node's results that hold values of its operands."""
        places = range(len(node.outputs)) if self.results is None else self.results
        return tuple(node.outputs[place] for place in places if place < len(node.outputs) and node.outputs[place])


@dataclass(frozen=True)
class Passes:
    """Values of the operands `data`, None for all, stand in the results: every one of them where `whole`, or some."""

    data: tuple[int, ...] | None = (0,)
    whole: bool = True


@dataclass(frozen=True)
class Products:
    """Sums of products of operands 0 and 1, the weights: exact in integers, then one requantisation per channel.

    `result_axis` is the axis of the result that counts output channels, -1 for the last; `weight_axis(node, rank)`
    that of the weights, which hold the channels of one group only where `in_groups`. `by_channel(node, weights)` are
    the weights as [output channel, all that one result sums over], None for a stack of matrices; `depth(node, shape)`
    is the number of products in one sum. `takes_bias` says whether operand 2 is a bias, `factors` names the attributes
    that scale the products and the bias.
    """

    result_axis: int
    weight_axis: WeightAxis
    by_channel: ByChannel
    depth: Depth
    in_groups: bool = False
    takes_bias: bool = True
    factors: tuple[str, str] | None = None


@dataclass(frozen=True)
class Mean:
    """Sums over one operand: exact in integers, then one requantisation. `windows` for pooling, over space;
    `divides` where the sum is divided by the number of its elements.
    """

    windows: bool = False
    divides: bool = True


@dataclass(frozen=True)
class Exponentials:
    """Softmax: exponentials from a table and their quotient, in integers."""


@dataclass(frozen=True)
class Normalises:
    """Every row by its own size, less its mean where `centred`; then constant factors and addends, in integers."""

    centred: bool


@dataclass(frozen=True)
class Interpolates:
    """Results are sums of a few elements with constant weights, in integers."""


@dataclass(frozen=True)
class Pairwise:
    """A function of two real numbers, in float32 as ONNX says; `factored` where an integer form is searched for."""

    factored: bool = False


@dataclass(frozen=True)
class Table:
    """A function of one real number: a table of all codes. `limits` where it is monotone between two limits, and can
    be the clamp of the operator before it.
    """

    limits: bool = False


@dataclass(frozen=True)
class AsIntegers:
    """Computes on codes as on any integers; its results are no codes of its operand's meaning."""


@dataclass(frozen=True)
class Converts:
    """Turns real numbers into codes or codes into real numbers."""


Codes = Moves | Products | Mean | Exponentials | Normalises | Interpolates | Pairwise | Table | AsIntegers | Converts
