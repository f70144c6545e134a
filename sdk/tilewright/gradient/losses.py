"""Losses, written behind a network as ordinary nodes: one number that says how far an output is from a target."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tilewright.errors import UnsupportedError, UsageError
from tilewright.frontend.names import nearest, quoted
from tilewright.gradient.network import Network
from tilewright.model import DType, Node

KINDS = ("cross_entropy", "mse", "bce")
OUTPUT = "output:"
"""Before the name of an output of the network that is the loss itself."""


@dataclass(frozen=True)
class Loss:
    """The name of the loss and that of the input that takes the target, "" where the network has a loss of its own.

    `classes` is how many classes the target may name, 0 where it is none of them.
    """

    name: str
    target: str = ""
    classes: int = 0


def add_loss(network: Network, kind: str) -> Loss:
    """The loss, written behind the network.

    The output of the network is left out where a loss is added; it is what inference gives. UsageError for a loss that
    is not known, UnsupportedError for an output that it does not fit.
    """
    if kind.startswith(OUTPUT):
        name = kind.removeprefix(OUTPUT)
        if name not in network.outputs:
            raise UsageError(f"--loss {kind}: there is no such output", fix=nearest(name, network.outputs))
        network.outputs = [name]
        return Loss(name)
    kind, _, given = kind.partition(":")
    if kind not in KINDS or (given and kind == KINDS[0]):
        raise UsageError(
            f"--loss {quoted(kind)} is not known", fix=f"take one of {', '.join(KINDS)}, mse:INPUT, {OUTPUT}NAME"
        )
    if len(network.outputs) != 1:
        raise UnsupportedError(
            f"--loss {kind} is of one output, the network has {len(network.outputs)}",
            fix=f"put the loss into the network and name it with --loss {OUTPUT}NAME",
        )
    output = network.outputs[0]
    if not network.tensor(output).dtype.is_float:
        raise UnsupportedError(f"the output {quoted(output)} holds no floating-point numbers", tensor=output)
    loss = {"cross_entropy": _cross_entropy, "mse": _squares, "bce": _binary}[kind](network, output, given)
    network.outputs = [loss.name]
    return loss


def _writer(network: Network, name: str) -> Node | None:
    return next((node for node in network.nodes if name in node.outputs), None)


def _before(network: Network, output: str, op: str) -> str:
    """The operand of the last node where that is the function that the loss itself contains."""
    last = _writer(network, output)
    return last.inputs[0] if last is not None and last.op == op and not last.domain else output


def _target(network: Network, like: str, given: str) -> tuple[str, str]:
    """What an output is held against, and the new input that takes it: none where it is one of the network's own."""
    tensor = network.tensor(like)
    if not given:
        made = network.add_input("target", tensor.dtype, tensor.shape)
        return made, made
    if given not in network.inputs:
        raise UsageError(f"--loss: there is no input {quoted(given)}", fix=nearest(given, network.inputs))
    known = network.tensor(given)
    if (known.dtype, known.elements) != (tensor.dtype, tensor.elements):
        raise UsageError(
            f"--loss: the input {quoted(given)} is {known.dtype.value}{list(known.shape)}",
            why=f"the output is {tensor.dtype.value}{list(tensor.shape)}", fix="leave the input out", tensor=given,
        )  # fmt: skip
    return network.node("Reshape", (given, network.constant(np.asarray(tensor.shape, np.int64)))), ""


def _cross_entropy(network: Network, output: str, given: str) -> Loss:
    """Mean over the batch of the negative logarithm of the target class's probability; targets are class numbers."""
    scores = _before(network, _before(network, output, "Softmax"), "LogSoftmax")
    shape = network.tensor(scores).shape
    if len(shape) != 2:
        raise UnsupportedError(
            f"cross_entropy takes scores of shape [batch, classes], {quoted(scores)} has {list(shape)}",
            fix="put a Reshape behind them", tensor=scores,
        )  # fmt: skip
    rows, classes = shape
    target = network.add_input("target", DType.I32, (rows,))
    column = network.node("Reshape", (target, network.constant(np.asarray([rows, 1], np.int64))))
    numbers = network.constant(np.arange(classes, dtype=np.int32).reshape(1, classes))
    chosen = network.node("CastLike", (network.node("Equal", (column, numbers)), scores))
    logarithms = network.node("LogSoftmax", (scores,), {"axis": 1})
    picked = network.node("Mul", (chosen, logarithms))
    total = network.node("ReduceSum", (picked, network.constant(np.asarray([0, 1], np.int64))), {"keepdims": 0})
    return Loss(network.append("Mul", (total, network.number(-1 / rows, scores)), into="loss"), target, classes)


def _squares(network: Network, output: str, given: str) -> Loss:
    """Mean of squared differences."""
    wanted, target = _target(network, output, given)
    difference = network.node("Sub", (output, wanted))
    axes = network.constant(np.arange(len(network.tensor(difference).shape), dtype=np.int64))
    total = network.node("ReduceSumSquare", (difference, axes), {"keepdims": 0})  # no square is stored
    share = network.number(1 / network.tensor(difference).elements, difference)
    return Loss(network.append("Mul", (total, share), into="loss"), target)


def _binary(network: Network, output: str, given: str) -> Loss:
    """Mean of `softplus(z) - z * target` for the scores z before the Sigmoid; targets lie between 0 and 1."""
    scores = _before(network, output, "Sigmoid")
    wanted, target = _target(network, scores, given)
    right = network.node("Mul", (scores, wanted))
    return Loss(_mean(network, network.node("Sub", (network.node("Softplus", (scores,)), right))), target)


def _mean(network: Network, name: str) -> str:
    axes = np.arange(len(network.tensor(name).shape), dtype=np.int64)
    return network.append("ReduceMean", (name, network.constant(axes)), {"keepdims": 0}, into="loss")
