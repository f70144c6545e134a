"""A network that learns: one network that makes a step of training and one that infers, with common states."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from tilewright.errors import UnsupportedError
from tilewright.frontend.names import quoted
from tilewright.gradient.differentiate import differentiate
from tilewright.gradient.losses import add_loss
from tilewright.gradient.network import Network
from tilewright.gradient.optimisers import Optimiser
from tilewright.gradient.parameters import chosen
from tilewright.gradient.recompute import recomputed
from tilewright.model import DType, Model
from tilewright.passes import batch_norm, dead, fold, identity


@dataclass(frozen=True)
class TrainingWish:
    """What is asked: the loss, the parameters that are updated, in the words of the options, and the optimiser.

    Within `work` times that of a plain step results may be computed twice that would else be kept.
    """

    loss: str = "cross_entropy"
    update: str = "all"
    optimiser: Optimiser = field(default_factory=Optimiser)
    work: float = 1.0


@dataclass(frozen=True)
class Training:
    """`step` takes the inputs and the target and gives the loss; `infer` takes the inputs and gives the outputs.

    Parameters that are updated are states of both; both names begin with `name`. `target` is "" where the network has
    a loss of its own; `classes` is how many classes it may name, 0 where it is none of them. A step
    does `work` times the multiply-accumulates of one that keeps all it needs.
    """

    name: str
    step: Model
    infer: Model
    parameters: tuple[str, ...]
    target: str
    classes: int
    work: float


def training(model: Model, wish: TrainingWish) -> Training:
    """Both networks of a float network; UnsupportedError for what is quantised, has states, or has no gradient."""
    _refuse(model)
    plain = _folded(model)
    network = Network(plain)
    loss = add_loss(network, wish.loss)
    if network.tensor(loss.name).dtype is not DType.F32:
        raise UnsupportedError("the network cannot be trained", why="its loss is no float32", fix="train it in float32")
    names = chosen(network, wish.update)
    first = {name: network.constants[name] for name in names}
    forward = {node.name for node in network.nodes}
    for name, value in first.items():
        network.become_state(name, value)
    wish.optimiser.begin(network)
    differentiate(network, loss.name, names, lambda name, gradient: wish.optimiser.step(network, name, gradient))
    infer = Network(plain)
    for name, value in first.items():
        infer.become_state(name, value)
        infer.move_state(name, "Identity", (name,))
    step = dead.apply(network.model(f"{model.name}_step"))
    done = recomputed(step, sum(node.name in forward for node in step.nodes), wish.work)
    learnt = dead.apply(infer.model(f"{model.name}_infer"))
    return Training(model.name, done.model, learnt, names, loss.target, loss.classes, done.work)


def _refuse(model: Model) -> None:
    if any("Linear" in node.op for node in model.nodes) or any(one.quantisation for one in model.tensors.values()):
        raise UnsupportedError("the network cannot be trained", why="it is quantised", fix="train the float network")
    if model.states:
        raise UnsupportedError(
            "the network cannot be trained", why=f"{quoted(model.states[0].past)} is a state, and time is not unrolled",
            fix="export it without --state",
        )  # fmt: skip


def _folded(model: Model) -> Model:
    """Constants computed, batch normalisation with its frozen statistics within the layer before it."""
    for one in (dead, fold, identity, batch_norm, fold, dead):
        model = one.apply(model)
    return replace(model, sha256="")
