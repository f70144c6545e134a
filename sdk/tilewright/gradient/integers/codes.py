"""A gradient in codes while it is passed back: its nodes, and what is known of it when compiling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import frexp

from tilewright.gradient.network import Network
from tilewright.model import Attribute, Node
from tilewright.ops.codes import Pairwise, Products
from tilewright.ops.gradient_codes import SHARE_BITS
from tilewright.ops.operator import Call
from tilewright.ops.quantised.real import code_limits
from tilewright.ops.relayout import DOMAIN

OPEN = (-256, 256)
"""Limits of a mask that lets every code through."""


@dataclass(frozen=True)
class Codes:
    """A gradient: `codes * factor * 2^exponent`, of names of both tensors."""

    codes: str
    exponent: str
    factor: float


def write(
    network: Network,
    op: str,
    inputs: Sequence[str],
    attributes: Mapping[str, Attribute],
    outputs: Sequence[bool] = (True,),
) -> tuple[str, ...]:
    """A node of ours at the end of a network: the names of its results, "" for those that are not asked for."""
    names = tuple(
        f"{op.lower()}_{len(network.nodes)}/{place}" if wanted else "" for place, wanted in enumerate(outputs)
    )
    return network.add(Node(f"{op.lower()}_{len(network.nodes)}", op, tuple(inputs), names, attributes, DOMAIN))


def added(network: Network, parts: Sequence[Codes]) -> Codes:
    """The sum of gradients that come from several readers."""
    whole = parts[0]
    for part in parts[1:]:
        sizes = [frexp(one.factor) for one in (whole, part)]
        attributes: dict[str, Attribute] = {
            "factors": tuple(round(share * (1 << SHARE_BITS)) for share, _ in sizes),
            "offsets": tuple(power for _, power in sizes),
        }  # fmt: skip
        inputs = (whole.codes, whole.exponent, part.codes, part.exponent)
        codes, exponent = write(network, "GradientSum", inputs, attributes, (True, True))
        whole = Codes(codes, exponent, 1.0)
    return whole


def masked(network: Network, gradient: Codes, results: str, limits: tuple[int, int]) -> Codes:
    """The gradient where results lie between limits; one of whole planes is spread over them."""
    attributes: dict[str, Attribute] = {"low": limits[0], "high": limits[1]}
    (codes,) = write(network, "GradientMask", (gradient.codes, results), attributes)
    return Codes(codes, gradient.exponent, gradient.factor)


def mask_limits(call: Call) -> tuple[int, int]:
    """Codes of a result at which no gradient passes: the ends of its range, as of an activation.

    What is pushed beyond them would be pushed for ever. Means and moves limit nothing without an activation.
    """
    tensor = call.outputs[0]
    meaning = tensor.quantisation
    if meaning is None or len(meaning.scale) > 1:
        return OPEN
    if call.node.op == "Relu":
        return meaning.zero_point[0], OPEN[1]
    computes = isinstance(call.codes, Products | Pairwise)
    return code_limits(call, tensor) if computes or call.node.clamp is not None else OPEN
