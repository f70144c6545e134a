"""Trains two small networks on the digits that scikit-learn ships, for the table of `quantise`: run once, with PyTorch.

    .venv-torch/bin/python ci/benchmarks/small_networks.py

writes `build/quantise/mobile.onnx`, inverted residuals with Relu6 and batch normalisations (MobileNetV2, 0.35 of its
width), and `build/quantise/vit.onnx`, two blocks of attention over patches of 2 by 2, with Gelu and normalised layers.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn

FOLDER = Path(__file__).parents[2] / "build" / "quantise"
HELD_OUT, EPOCHS = 600, 25


class Inverted(nn.Module):  # type: ignore[misc]
    """Expand, filter each channel, project; the input is added where shapes agree."""

    def __init__(self, inputs: int, outputs: int, stride: int, factor: int) -> None:
        super().__init__()
        inner = inputs * factor
        self.adds = stride == 1 and inputs == outputs
        self.body = nn.Sequential(
            nn.Conv2d(inputs, inner, 1, bias=False), nn.BatchNorm2d(inner), nn.ReLU6(),
            nn.Conv2d(inner, inner, 3, stride, 1, groups=inner, bias=False), nn.BatchNorm2d(inner), nn.ReLU6(),
            nn.Conv2d(inner, outputs, 1, bias=False), nn.BatchNorm2d(outputs),
        )  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        return x + self.body(x) if self.adds else self.body(x)


def mobile() -> nn.Module:
    """Channels 8, 8, 16, 16, 24, 24, as 0.35 makes of 32 to 96."""
    stem = [nn.Conv2d(1, 8, 3, 1, 1, bias=False), nn.BatchNorm2d(8), nn.ReLU6()]
    blocks = [Inverted(*each) for each in ((8, 8, 1, 1), (8, 16, 2, 6), (16, 16, 1, 6), (16, 24, 2, 6), (24, 24, 1, 6))]
    return nn.Sequential(*stem, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(24, 10))


class Block(nn.Module):  # type: ignore[misc]
    """Attention of two heads, then two products with a Gelu between them, each behind a normalisation and added."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.q, self.k, self.v, self.out = (nn.Linear(width, width) for _ in range(4))
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        y = self.first(x)
        q, k, v = (
            part(y).reshape(x.shape[0], -1, 2, x.shape[2] // 2).transpose(1, 2) for part in (self.q, self.k, self.v)
        )
        weights = torch.softmax(q @ k.transpose(2, 3) * (x.shape[2] // 2) ** -0.5, -1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(x.shape))
        return x + self.down(nn.functional.gelu(self.up(self.second(x))))


class Vit(nn.Module):  # type: ignore[misc]
    """Sixteen patches of 2 by 2, of width 32."""

    def __init__(self) -> None:
        super().__init__()
        self.patches, self.places = nn.Conv2d(1, 32, 2, 2), nn.Parameter(torch.randn(1, 16, 32) * 0.02)
        self.blocks, self.norm, self.head = nn.Sequential(Block(32), Block(32)), nn.LayerNorm(32), nn.Linear(32, 10)

    def forward(self, x: Tensor) -> Tensor:
        y = self.patches(x).flatten(2).transpose(1, 2) + self.places
        return self.head(self.norm(self.blocks(y)).mean(1))


def images() -> tuple[np.ndarray, np.ndarray]:
    """All digits between 0 and 1 in one order; the first are held out."""
    raw = load_digits()
    order = np.random.default_rng(20).permutation(len(raw.images))
    return (raw.images[order] / 16).astype(np.float32)[:, None], raw.target[order]


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    FOLDER.mkdir(parents=True, exist_ok=True)
    x, y = (torch.from_numpy(each) for each in images())
    np.savez(FOLDER / "digits.npz", images=x.numpy(), labels=y.numpy())
    for name, network in (("vit", Vit()), ("mobile", mobile())):
        step = torch.optim.AdamW(network.parameters(), 3e-3)
        plan = torch.optim.lr_scheduler.CosineAnnealingLR(step, EPOCHS)
        for _ in range(EPOCHS):
            for batch in torch.randperm(len(x) - HELD_OUT).split(64):
                step.zero_grad()
                nn.functional.cross_entropy(network(x[HELD_OUT + batch]), y[HELD_OUT + batch]).backward()
                step.step()
            plan.step()
        network.eval()
        right = (network(x[:HELD_OUT]).argmax(1) == y[:HELD_OUT]).float().mean().item()
        torch.onnx.export(network, (x[:1],), FOLDER / f"{name}.onnx", input_names=["input"], output_names=["output"])
        print(f"{name}: {right:.2%} of {HELD_OUT} held-out images", flush=True)


if __name__ == "__main__":
    main()
