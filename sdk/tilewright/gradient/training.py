"""A network that learns: one network that makes a step of training and one that infers, with common states."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby

from tilewright.errors import UnsupportedError
from tilewright.frontend.names import quoted
from tilewright.gradient.descents import Learning, with_descents
from tilewright.gradient.differentiate import TakenBack, differentiate
from tilewright.gradient.losses import add_loss
from tilewright.gradient.low_rank import rank_of, with_low_rank
from tilewright.gradient.masks import by_sign
from tilewright.gradient.network import Network
from tilewright.gradient.optimisers import Optimiser, Within
from tilewright.gradient.parameters import chosen, parameters
from tilewright.gradient.recompute import recomputations
from tilewright.model import DType, Model
from tilewright.passes import batch_norm, dead, fold, identity


@dataclass(frozen=True)
class TrainingWish:
    """What is asked: the loss, the parameters that are updated, in the words of the options, and the optimiser.

    Within `work` times that of a plain step results may be computed twice that would else be kept. Where there are
    `parameters`, these are updated whatever `update` says.
    """

    loss: str = "cross_entropy"
    update: str = "all"
    optimiser: Optimiser = field(default_factory=Optimiser)
    work: float = 1.0
    parameters: tuple[str, ...] = ()


@dataclass(frozen=True)
class Training:
    """`step` takes the inputs and the target and gives the loss; `infer` takes the inputs and gives the outputs.

    `plain` is the step as nodes of the standard alone, for files and other runtimes.

    Parameters that are updated are states of both; both names begin with `name`. `target` is "" where the network has
    a loss of its own; `classes` is how many classes it may name, 0 where it is none of them. A step
    does `work` times the multiply-accumulates of one that keeps all it needs. Of a network that learns in integers
    `floats` are the step and the inference of the same layers in floats.
    """

    name: str
    step: Model
    plain: Model
    infer: Model
    parameters: tuple[str, ...]
    target: str
    classes: int
    work: float
    floats: tuple[Model, Model] | None = None


def training(model: Model, wish: TrainingWish) -> Training:
    """Both networks of a float network, the step in the fewest live bytes that the work allows.

    UnsupportedError for what is quantised, has states, or has no gradient.
    """
    return deque(trainings(model, wish), maxlen=1)[0]


def trainings(model: Model, wish: TrainingWish) -> Iterator[Training]:
    """The same from the least work to the fewest live bytes."""
    _refuse(model)
    plain, rank, beside = folded(model), rank_of(wish.update), tuple[str, ...]()
    if rank is not None:
        plain, beside = with_low_rank(plain, rank)
    network = Network(plain)
    loss = add_loss(network, wish.loss)
    if network.tensor(loss.name).dtype is not DType.F32:
        raise UnsupportedError(
            "the network cannot be trained", why="its loss is not float32", fix="train it in float32"
        )
    names = wish.parameters or beside or chosen(network, wish.update)
    first = {name: network.constants[name] for name in names}
    forward = {node.name for node in network.nodes}
    for name, value in first.items():
        network.become_state(name, value)
    wish.optimiser.begin(network)
    gradients: dict[str, str] = {}

    def stepping(name: str, gradient: str) -> None:
        gradients[name] = gradient
        wish.optimiser.step(network, name, gradient)

    products = differentiate(network, loss.name, names, stepping)
    infer = Network(plain)
    for name, value in first.items():
        infer.become_state(name, value)
        infer.move_state(name, "Identity", (name,))
    plain_step = dead.apply(by_sign(dead.apply(network.model(f"{model.name}_step"))))
    fused = with_descents(plain_step, network, [_learning(network, wish, one, gradients) for one in products])
    learnt = dead.apply(infer.model(f"{model.name}_infer"))
    for done in recomputations(fused.model, sum(node.name in forward for node in fused.model.nodes), wish.work):
        in_file = fused.plain(done.apart)
        yield Training(model.name, done.model, in_file, learnt, names, loss.target, loss.classes, done.work)


def layers_of(model: Model) -> tuple[tuple[str, ...], ...]:
    """The parameters of every layer that has some, from the first one on."""
    learnt = parameters(Network(folded(model)))
    return tuple(tuple(one.name for one in layer) for _, layer in groupby(learnt, key=lambda one: one.layer))


def _learning(network: Network, wish: TrainingWish, product: TakenBack, gradients: Mapping[str, str]) -> Learning:
    """A product with the step of its weights: their gradient alone where others add to it."""
    step = wish.optimiser.within(network, product.w, product.dw) if gradients[product.w] == product.dw else None
    return Learning(product, step or Within("", product.dw, 1.0, 0.0))


def _refuse(model: Model) -> None:
    given = ("DequantizeLinear" == node.op and node.inputs[0] not in model.constants for node in model.nodes)
    coded = ("Linear" in node.op and not real for node, real in zip(model.nodes, given, strict=True))
    if any(coded) or any(one.quantisation for one in model.tensors.values()):
        raise UnsupportedError(
            "the network cannot be trained in floats", why="it is quantised",
            fix="pass --gradient int8, or train the float network",
        )  # fmt: skip
    if model.states:
        raise UnsupportedError(
            "the network cannot be trained", why=f"{quoted(model.states[0].past)} is a state, and time is not unrolled",
            fix="export it without --state",
        )  # fmt: skip


def folded(model: Model) -> Model:
    """Constants computed, batch normalisation with its frozen statistics within the layer before it."""
    for one in (dead, fold, identity, batch_norm, fold, dead):
        model = one.apply(model)
    return replace(model, sha256="")
