"""The few layers that the digits network needs, with their gradients, in plain NumPy.

Every layer keeps what its gradient needs from the last `forward`. Arrays are float32; images are [n, c, h, w].
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

Array = NDArray[np.float32]
SURE = np.float32(0.8)  # smoothed labels: a network that answers only 0 and 1 would use few of the output's codes


class Layer(Protocol):
    """One step of the network: `backward` maps the loss's gradient by the output to that by the input."""

    parameters: list[Array]
    gradients: list[Array]

    def forward(self, x: Array) -> Array: ...

    def backward(self, gradient: Array) -> Array: ...


class Convolution:
    """3 x 3 (or 1 x 1) convolution with zero padding; `depthwise` filters every channel on its own."""

    def __init__(
        self,
        random: np.random.Generator,
        inputs: int,
        outputs: int,
        kernel: int,
        stride: int = 1,
        depthwise: bool = False,
    ) -> None:
        fan_in = (1 if depthwise else inputs) * kernel * kernel
        weights = random.standard_normal((outputs, 1 if depthwise else inputs, kernel, kernel)) * (2.0 / fan_in) ** 0.5
        self.kernel, self.stride, self.padding, self.depthwise = kernel, stride, kernel // 2, depthwise
        self.parameters = [weights.astype(np.float32), np.zeros(outputs, np.float32)]
        self.gradients = [np.zeros_like(p) for p in self.parameters]
        self.shape: tuple[int, ...] = ()
        self.windows: Array = np.zeros(0, np.float32)

    def forward(self, x: Array) -> Array:
        """[n, c, h, w] to [n, outputs, h / stride, w / stride]."""
        pad, step = self.padding, self.stride
        padded = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
        self.shape = padded.shape
        self.windows = sliding_window_view(padded, (self.kernel, self.kernel), axis=(2, 3))[:, :, ::step, ::step]
        weights, bias = self.parameters
        if self.depthwise:
            y = np.einsum("nchwkl,ckl->nchw", self.windows, weights[:, 0], optimize=True)
        else:
            y = np.einsum("nchwkl,ockl->nohw", self.windows, weights, optimize=True)
        return np.asarray(y + bias[None, :, None, None], np.float32)

    def backward(self, gradient: Array) -> Array:
        """The gradient by the input; those by the weights and the bias are kept."""
        weights = self.parameters[0]
        self.gradients[1] = gradient.sum((0, 2, 3))
        padded = np.zeros(self.shape, np.float32)
        rows, columns = gradient.shape[2] * self.stride, gradient.shape[3] * self.stride
        if self.depthwise:
            self.gradients[0] = np.einsum("nchw,nchwkl->ckl", gradient, self.windows, optimize=True)[:, None]
            share = np.einsum("nchw,ckl->nchwkl", gradient, weights[:, 0], optimize=True)
        else:
            self.gradients[0] = np.einsum("nohw,nchwkl->ockl", gradient, self.windows, optimize=True)
            share = np.einsum("nohw,ockl->nchwkl", gradient, weights, optimize=True)
        for k in range(self.kernel):
            for m in range(self.kernel):
                padded[:, :, k : k + rows : self.stride, m : m + columns : self.stride] += share[..., k, m]
        border = self.padding
        return padded[:, :, border : self.shape[2] - border, border : self.shape[3] - border]


class Relu:
    """max(x, 0)."""

    def __init__(self) -> None:
        self.parameters: list[Array] = []
        self.gradients: list[Array] = []
        self.positive = np.zeros(0, bool)

    def forward(self, x: Array) -> Array:
        """Same shape as x."""
        self.positive = x > 0
        return np.asarray(x * self.positive, np.float32)

    def backward(self, gradient: Array) -> Array:
        """Passes where x was positive."""
        return np.asarray(gradient * self.positive, np.float32)


class HalvingMaxPool:
    """Maximum of each 2 x 2 square."""

    def __init__(self) -> None:
        self.parameters: list[Array] = []
        self.gradients: list[Array] = []
        self.largest = np.zeros(0, bool)

    def forward(self, x: Array) -> Array:
        """[n, c, h, w] to [n, c, h / 2, w / 2]."""
        n, c, h, w = x.shape
        squares = x.reshape(n, c, h // 2, 2, w // 2, 2)
        y = squares.max((3, 5))
        self.largest = squares == y[:, :, :, None, :, None]
        return np.asarray(y, np.float32)

    def backward(self, gradient: Array) -> Array:
        """To the largest element of each square, shared between equals."""
        shared = gradient[:, :, :, None, :, None] * self.largest / self.largest.sum((3, 5), keepdims=True)
        n, c, h, _, w, _ = shared.shape
        return np.asarray(shared.reshape(n, c, 2 * h, 2 * w), np.float32)


class Dense:
    """Flattens, then x w^T + b, with w as [outputs, inputs]."""

    def __init__(self, random: np.random.Generator, inputs: int, outputs: int) -> None:
        weights = random.standard_normal((outputs, inputs)) * (1.0 / inputs) ** 0.5
        self.parameters = [weights.astype(np.float32), np.zeros(outputs, np.float32)]
        self.gradients = [np.zeros_like(p) for p in self.parameters]
        self.shape: tuple[int, ...] = ()
        self.flat: Array = np.zeros(0, np.float32)

    def forward(self, x: Array) -> Array:
        """[n, ...] to [n, outputs]."""
        self.shape = x.shape
        self.flat = x.reshape(len(x), -1)
        return np.asarray(self.flat @ self.parameters[0].T + self.parameters[1], np.float32)

    def backward(self, gradient: Array) -> Array:
        """The gradient by the input; those by the weights and the bias are kept."""
        self.gradients = [gradient.T @ self.flat, gradient.sum(0)]
        return np.asarray(gradient @ self.parameters[0], np.float32).reshape(self.shape)


def softmax(logits: Array) -> Array:
    """Probabilities along the last axis."""
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    return np.asarray(powers / powers.sum(-1, keepdims=True), np.float32)


def run(layers: Sequence[Layer], x: Array) -> Array:
    """The network's logits."""
    for layer in layers:
        x = layer.forward(x)
    return x


def batches(random: np.random.Generator, count: int, size: int) -> Iterator[NDArray[np.int64]]:
    """Indices of shuffled batches; an incomplete last one is left out."""
    order = random.permutation(count)
    for start in range(0, count - size + 1, size):
        yield order[start : start + size]


def train(
    layers: Sequence[Layer],
    x: Array,
    labels: NDArray[np.int64],
    random: np.random.Generator,
    epochs: int,
    size: int = 64,
) -> None:
    """Adam on the cross entropy, with a rate that falls along half a cosine; changes the parameters in place."""
    owners = [(layer, index) for layer in layers for index in range(len(layer.parameters))]
    first = [np.zeros_like(layer.parameters[index]) for layer, index in owners]
    second = [np.zeros_like(layer.parameters[index]) for layer, index in owners]
    targets: Array = SURE * np.eye(10, dtype=np.float32)[labels] + np.float32((1 - SURE) / 10)
    step, steps = 0, epochs * (len(x) // size)
    for _ in range(epochs):
        for chosen in batches(random, len(x), size):
            gradient: Array = (softmax(run(layers, x[chosen])) - targets[chosen]) / np.float32(size)
            for layer in reversed(layers):
                gradient = layer.backward(gradient)
            step += 1
            rate = 0.003 * 0.5 * (1 + np.cos(np.pi * step / steps))
            for slot, (layer, index) in enumerate(owners):
                slope = layer.gradients[index] + np.float32(1e-4) * layer.parameters[index]
                first[slot] += np.float32(0.1) * (slope - first[slot])
                second[slot] += np.float32(0.001) * (slope * slope - second[slot])
                mean, square = first[slot] / (1 - 0.9**step), second[slot] / (1 - 0.999**step)
                layer.parameters[index] -= (rate * mean / (np.sqrt(square) + 1e-8)).astype(np.float32)
