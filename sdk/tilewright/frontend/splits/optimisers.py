"""Steps of training of ai.onnx.preview.training: Adagrad, Adam and Momentum; and BatchNormalization that estimates."""

from __future__ import annotations

from tilewright.frontend.splits.parts import Parts

TRAINING = "ai.onnx.preview.training"


def _groups(parts: Parts, kinds: int) -> list[tuple[int, ...]]:
    """The places of each weight, its gradient and what is kept of it; all weights come first, then all gradients."""
    count, rest = divmod(len(parts.node.inputs) - 2, kinds)
    if rest or count < 1:
        raise parts.invalid(f"it has {len(parts.node.inputs) - 2} operands, which are no groups of {kinds}")
    return [tuple(2 + kind * count + index for kind in range(kinds)) for index in range(count)]


def _gradient(parts: Parts, weight: int, gradient: int) -> str:
    """The gradient, with that of the squared weight where it is asked for."""
    factor = parts.number("norm_coefficient", 0.0)
    if not factor:
        return parts.input(gradient)
    return parts.op("Add", _times(parts, parts.input(weight), weight, factor), parts.input(gradient))


def _times(parts: Parts, name: str, index: int, factor: float) -> str:
    return parts.op("Mul", name, parts.like(index, factor))


def _mixed(parts: Parts, old_factor: int, factor: float, new: str, other: float, into: str) -> str:
    """`factor * kept + other * new`."""
    old = _times(parts, parts.input(old_factor), old_factor, factor)
    return parts.op("Add", old, _times(parts, new, old_factor, other), into=into)


def _adagrad(parts: Parts) -> None:
    groups = _groups(parts, 3)
    decay = _times(parts, parts.op("CastLike", parts.input(1), parts.input(0)), 0, parts.number("decay_factor", 0.0))
    rate = parts.op("Div", parts.input(0), parts.op("Add", decay, parts.like(0, 1)))
    for place, (x, g, h) in enumerate(groups):
        gradient = _gradient(parts, x, g)
        squares = parts.op("Mul", gradient, gradient)
        total = parts.op("Add", parts.input(h), squares, into=parts.output(len(groups) + place))
        below = parts.op("Add", parts.op("Sqrt", total), parts.like(x, parts.number("epsilon", 1e-6)))
        step = parts.op("Div", parts.op("Mul", rate, gradient), below)
        parts.op("Sub", parts.input(x), step, into=parts.output(place))


def _adam(parts: Parts) -> None:
    groups, alpha, beta = _groups(parts, 4), parts.number("alpha", 0.9), parts.number("beta", 0.999)
    count, rate = parts.op("CastLike", parts.input(1), parts.input(0)), parts.input(0)
    one = parts.like(0, 1)
    rest = [parts.op("Sub", one, parts.op("Pow", parts.like(0, each), count)) for each in (alpha, beta)]
    later = parts.op("Div", parts.op("Mul", rate, parts.op("Sqrt", rest[1])), rest[0])
    rate = parts.op("Where", parts.op("Greater", count, parts.like(0, 0)), later, rate)
    for place, (x, g, v, h) in enumerate(groups):
        gradient = _gradient(parts, x, g)
        mean = _mixed(parts, v, alpha, gradient, 1 - alpha, parts.output(len(groups) + place))
        squares = parts.op("Mul", gradient, gradient)
        square = _mixed(parts, h, beta, squares, 1 - beta, parts.output(2 * len(groups) + place))
        below = parts.op("Add", parts.op("Sqrt", square), parts.like(x, parts.number("epsilon", 1e-6)))
        new = parts.op("Sub", parts.input(x), parts.op("Div", parts.op("Mul", rate, mean), below))
        decay = parts.like(x, 1 - parts.number("norm_coefficient_post", 0.0))
        parts.op("Mul", new, decay, into=parts.output(place))


def _momentum(parts: Parts) -> None:
    groups, alpha = _groups(parts, 3), parts.number("alpha", 0.0)
    started = parts.op("Greater", parts.input(1), parts.like(1, 0))
    beta = parts.op("Where", started, parts.like(0, parts.number("beta", 0.0)), parts.like(0, 1))
    for place, (x, g, v) in enumerate(groups):
        gradient = _gradient(parts, x, g)
        old, new = _times(parts, parts.input(v), v, alpha), parts.op("Mul", beta, gradient)
        speed = parts.op("Add", old, new, into=parts.output(len(groups) + place))
        if parts.text("mode", "standard") == "nesterov":
            speed = parts.op("Add", gradient, _times(parts, speed, v, alpha))
        step = parts.op("Mul", parts.input(0), speed)
        parts.op("Sub", parts.input(x), step, into=parts.output(place))


def _estimating(parts: Parts) -> None:
    """Mean and variance of the batch normalise it, and are mixed into those that inference takes; nothing otherwise."""
    if not parts.whole("training_mode", 0):
        return
    rank, channels = len(parts.shape(0)), parts.shape(0)[1]
    axes = parts.constant([axis for axis in range(rank) if axis != 1])
    column = (channels, *[1] * (rank - 2))
    mean = parts.op("ReduceMean", parts.input(0), axes, keepdims=1)
    centred = parts.op("Sub", parts.input(0), mean)
    variance = parts.op("ReduceMean", parts.op("Mul", centred, centred), axes, keepdims=1)
    shifted = parts.op("Add", variance, parts.like(0, parts.number("epsilon", 1e-5)))
    normal = parts.op("Mul", parts.op("Div", centred, parts.op("Sqrt", shifted)), parts.reshape(parts.input(1), column))
    parts.op("Add", normal, parts.reshape(parts.input(2), column), into=parts.output(0))
    momentum = parts.number("momentum", 0.9)
    for index, estimate in ((1, mean), (2, variance)):
        if parts.output(index):
            _mixed(parts, 2 + index, momentum, parts.reshape(estimate, (channels,)), 1 - momentum, parts.output(index))


SPLITS = {
    (TRAINING, "Adagrad"): _adagrad,
    (TRAINING, "Adam"): _adam,
    (TRAINING, "Momentum"): _momentum,
    ("", "BatchNormalization"): _estimating,
}
