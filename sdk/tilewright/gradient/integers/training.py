"""A network on codes that learns: its own integers forward, gradients in codes back, and the same steps in floats."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from tilewright.errors import UnsupportedError, UsageError
from tilewright.frontend.names import quoted
from tilewright.gradient.differentiate import differentiate
from tilewright.gradient.integers.backwards import Backwards, path_of
from tilewright.gradient.integers.codes import Codes, write
from tilewright.gradient.integers.layers import COUNT, Learnt
from tilewright.gradient.integers.twin import in_floats
from tilewright.gradient.losses import Loss, add_loss
from tilewright.gradient.network import Network
from tilewright.gradient.parameters import parameters
from tilewright.gradient.recompute import recomputations
from tilewright.gradient.training import Training, TrainingWish, folded, training
from tilewright.model import Array, DType, Model, Node
from tilewright.ops.codes import Exponentials, Products
from tilewright.ops.quantised.linear import bias_limit, centred
from tilewright.ops.quantised.real import the_quantisation
from tilewright.ops.requantize import RESIDUE_BITS, divide_half_even
from tilewright.passes import dead, fold, identity, signed_codes
from tilewright.passes.quantise.lower import lower


def trainings_in_integers(model: Model, wish: TrainingWish) -> Iterator[Training]:
    """Both networks of a network on codes, from the least work to the fewest live bytes.

    `plain` is the step of the same layers in floats, against whose losses those in integers are held. UsageError and
    UnsupportedError for what does not go in integers.
    """
    _refuse(model, wish)
    twin = in_floats(model)
    floats = training(twin, replace(wish, work=1.0))
    integers = _lowered(model)
    base = _with_scores(integers, softmax=wish.loss.startswith("cross_entropy"))
    layers = _layers(twin, integers, floats.parameters)
    network, infer = Network(base), Network(integers)
    for one in (network, infer):
        for node, parts in layers.items():
            _become_states(one, node, parts)
    loss = add_loss(network, wish.loss)
    forward = len(network.nodes)
    _write_step(network, loss, layers, wish)
    for parts in layers.values():
        for name in (parts.weights, parts.bias):
            if name:
                following = infer.move_state(name, "Identity", (name,))
                infer.like_state(name, following)
    names = {node.name for node in network.nodes[:forward]}
    step, learnt = dead.apply(network.model(f"{model.name}_step")), dead.apply(infer.model(f"{model.name}_infer"))
    for done in recomputations(step, sum(node.name in names for node in step.nodes), wish.work):
        yield replace(
            floats,
            step=done.model,
            infer=learnt,
            plain=floats.plain,
            work=done.work,
            floats=(floats.plain, floats.infer),
        )


def _refuse(model: Model, wish: TrainingWish) -> None:
    optimiser = wish.optimiser
    if optimiser.kind != "sgd" or optimiser.accumulate > 1:
        what = f"--optimizer {optimiser.kind}" if optimiser.kind != "sgd" else "--batch-accumulate"
        raise UsageError(
            f"--gradient int8 and {what}", why="weights in codes take their steps by SGD, one at every call",
            fix="leave it out",
        )  # fmt: skip
    if wish.update.startswith("lora"):
        raise UsageError(
            f"--gradient int8 and --update {wish.update}", why="matrices beside the layers are floats",
            fix="update all, last or some by name",
        )  # fmt: skip
    if model.numerics != "exact":
        raise UsageError("--gradient int8 and --numerics", why="gradients go with exact codes", fix="leave it out")
    if model.states:
        raise UnsupportedError(
            "the network cannot be trained", why=f"{quoted(model.states[0].past)} is a state, and time is not unrolled",
            fix="export it without --state",
        )  # fmt: skip


def _lowered(model: Model) -> Model:
    """The network on codes, all of eight bits signed but for those at its border."""
    integers = lower(model)
    for one in (signed_codes, fold, identity, dead):
        integers = one.apply(integers)
    if not any(tensor.quantisation for tensor in integers.tensors.values()):
        raise UnsupportedError(
            "--gradient int8: the network is not quantised", why="there are no codes in which it could learn",
            fix="quantise it with `tilewright quantise`, or leave the option out",
        )  # fmt: skip
    return replace(integers, sha256="")


def _with_scores(model: Model, *, softmax: bool) -> Model:
    """The network whose outputs are real numbers of its codes; where a loss contains the last Softmax, scores."""
    network = Network(model)
    writers = {name: node for node in network.nodes for name in node.outputs}
    outputs = list[str]()
    for name in network.outputs:
        node = writers.get(name)
        codes = node.inputs[0] if node is not None and node.op == "DequantizeLinear" else name
        behind = writers.get(codes)
        if softmax and behind is not None and isinstance(network.call(behind).codes, Exponentials):
            codes = behind.inputs[0]
        meaning = network.tensor(codes).quantisation
        if meaning is None or (node is not None and codes == node.inputs[0] and node.op == "DequantizeLinear"):
            outputs.append(name)
            continue
        scale = network.constant(np.asarray(meaning.scale[0], np.float32))
        zero = network.constant(np.asarray(meaning.zero_point[0], network.tensor(codes).dtype.numpy))
        outputs.append(network.node("DequantizeLinear", (codes, scale, zero)))
    network.outputs = outputs
    return dead.apply(network.model(model.name))


def _layers(twin: Model, integers: Model, names: Sequence[str]) -> dict[str, Learnt]:
    """What learns of which node on codes; UnsupportedError for a parameter of a layer that computes floats."""
    learnt = parameters(Network(folded(twin)))
    readers = {name: node for node in twin.nodes for name in node.inputs}
    owner = {one.layer: readers[one.name].name for one in learnt if not one.bias}
    on_codes = {node.name for node in integers.nodes if _is_layer(integers, node)}
    layers = dict[str, Learnt]()
    for one in learnt:
        if one.name not in names:
            continue
        node = owner.get(one.layer, "")
        if node not in on_codes:
            raise UnsupportedError(
                f"{quoted(one.name)} does not learn in integers", why="its layer computes floats",
                fix="quantise that layer, or leave the parameter out with --update", tensor=one.name,
            )  # fmt: skip
        parts = layers.get(node, Learnt())
        layers[node] = replace(parts, bias=one.name) if one.bias else replace(parts, weights=one.name)
    return layers


def _is_layer(model: Model, node: Node) -> bool:
    return isinstance(Network(model).call(node).codes, Products) and bool(model.tensors[node.outputs[0]].quantisation)


def _become_states(network: Network, name: str, parts: Learnt) -> None:
    """The weights and the bias of a node as states that it reads."""
    place = next(at for at, node in enumerate(network.nodes) if node.name == name)
    node = network.nodes[place]
    call = network.call(node)
    inputs = list(node.inputs)
    if parts.weights:
        value = centred(call.tensor(1), call.constants[1])
        if value.min() < -128 or value.max() > 127 or sum(node.inputs.count(inputs[1]) for node in network.nodes) > 1:
            raise UnsupportedError(
                f"{quoted(parts.weights)} does not learn in integers",
                why="it has a zero point that leaves no eight bits, or two layers share it",
                fix="quantise weights symmetrically, or leave it out with --update", tensor=parts.weights,
            )  # fmt: skip
        meaning = the_quantisation(call.tensor(1))
        zeros = replace(meaning, zero_point=(0,) * len(meaning.scale))
        inputs[1] = _state(network, parts.weights, value.astype(np.int8), inputs[1])
        network.tensors[inputs[1]] = replace(network.tensors[inputs[1]], quantisation=zeros)
    if parts.bias:
        first, dtype = call.constants[2], call.tensor(2).dtype
        whole = first if dtype is DType.I32 else divide_half_even(first, 1 << RESIDUE_BITS)
        limit = bias_limit(replace(call, constants={}))
        inputs[2] = _state(network, parts.bias, np.clip(whole, -limit, limit).astype(np.int32), inputs[2])
    network.nodes[place] = replace(node, inputs=tuple(inputs))


def _state(network: Network, name: str, first: Array, old: str) -> str:
    """A state under the name that the parameter has in the file."""
    if name != old and name in network.tensors:
        network.tensors.pop(name, None)
        network.constants.pop(name, None)
    if name == old:
        network.tensors[name] = replace(network.tensors[name], dtype=DType.of(first.dtype), quantisation=None)
    network.become_state(name, first)
    return name


def _write_step(network: Network, loss: Loss, layers: Mapping[str, Learnt], wish: TrainingWish) -> None:
    """Behind the forward half the way back: floats up to the scores, codes behind them."""
    nodes = tuple(network.nodes)
    borders = {
        node.outputs[0]: node.inputs[0]
        for node in nodes
        if node.op == "DequantizeLinear" and network.tensor(node.inputs[0]).quantisation
    }
    names = [name for parts in layers.values() for name in (parts.weights, parts.bias) if name]
    path, reached = path_of(nodes, set(borders.values()), names)
    scores = {real: codes for real, codes in borders.items() if codes in reached}
    network.become_state(COUNT, np.zeros(1, np.int32))
    network.move_state(COUNT, "Add", (COUNT, network.constant(np.ones(1, np.int32))))
    seeds = dict[str, Codes]()

    def coded(name: str, gradient: str) -> None:
        codes, exponent = write(network, "GradientCodes", (gradient,), {}, (True, True))
        seeds[scores[name]] = Codes(codes, exponent, 1.0)

    differentiate(network, loss.name, list(scores), coded)
    Backwards(network, path, reached, layers, wish.optimiser.rate).run(seeds)
