"""Trains a character model on the manual that ships inside Python and writes its step as ONNX.

    .venv-torch/bin/python tests/models/make_letters.py [-o tests/models]

writes `letters/model.onnx`, `letters/tokenizer.json` and `letters/held_out.txt`, text that it was not trained on.
torch trains (ci/test-torch installs it). Training is seeded; another version of Python has another manual, so the files
are committed and this script says how they came to be.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from pathlib import Path
from pydoc_data import topics
from typing import Any

import numpy as np
import onnx
import torch
from letters_network import EPSILON, VOCABULARY, Array, Sizes, angles, shapes, step
from torch.nn import functional

SEED = 21
STEPS, BATCH, RATE = 9000, 16, 3e-3
HELD_OUT = 4000


def text() -> str:
    """The manual with characters of the vocabulary alone, runs of blanks shortened."""
    whole = "\n\n".join(topics.topics[name] for name in sorted(topics.topics))
    lines = (line.strip() for line in whole.replace("\u2014", "-").replace("\u2019", "'").split("\n"))
    joined = "\n".join(" ".join(line.split()) for line in lines if set(line) - set("*=-~^ "))
    return "".join(letter for letter in joined if letter in VOCABULARY)


def rotate(x: Any, cosine: Any, sine: Any) -> Any:
    """Neighbouring pairs of [batch, heads, time, depth] turned."""
    first, second = x[..., 0::2], x[..., 1::2]
    return torch.stack((first * cosine - second * sine, first * sine + second * cosine), -1).flatten(-2)


def norm(x: Any, weight: Any) -> Any:
    """Root mean square normalisation."""
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + EPSILON) * weight


def logits(weights: dict[str, Any], tokens: Any, sizes: Sizes) -> Any:
    """Scores of every next character: [batch, time, vocabulary]."""
    count = tokens.shape[1]
    cosine, sine = (torch.from_numpy(table[:count]) for table in angles(sizes))
    x = weights["table"][tokens]
    for layer in range(sizes.layers):
        part = {name: weights[f"{layer}.{name}"] for name in ("q", "k", "v", "o", "gate", "up", "down")}
        h = norm(x, weights[f"{layer}.norm_attention"])
        q, k, v = (
            (h @ part[name]).unflatten(-1, (heads, sizes.depth)).transpose(1, 2)
            for name, heads in (("q", sizes.heads), ("k", sizes.key_heads), ("v", sizes.key_heads))
        )
        q, k = rotate(q, cosine, sine), rotate(k, cosine, sine)
        k, v = (one.repeat_interleave(sizes.heads // sizes.key_heads, 1) for one in (k, v))
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + mixed.transpose(1, 2).flatten(-2) @ part["o"]
        h = norm(x, weights[f"{layer}.norm_gates"])
        x = x + (functional.silu(h @ part["gate"]) * (h @ part["up"])) @ part["down"]
    return norm(x, weights["norm"]) @ weights["table"].T


def first(sizes: Sizes) -> dict[str, Any]:
    """Weights before training."""
    torch.manual_seed(SEED)
    found = {}
    for name, shape in shapes(sizes).items():
        wide = torch.randn(shape) * (0.1 if name == "table" else shape[0] ** -0.5)
        found[name] = (torch.ones(shape) if len(shape) == 1 else wide).requires_grad_()
    return found


def train(sizes: Sizes, codes: Any, minutes: float) -> dict[str, Array]:
    """AdamW with a cosine of rates; ends early where the time is over."""
    weights = first(sizes)
    optimiser = torch.optim.AdamW(weights.values(), lr=RATE, betas=(0.9, 0.99), weight_decay=0.01)
    draw, begin = np.random.default_rng(SEED), time.monotonic()
    for at in range(STEPS):
        spent = max(at / STEPS, (time.monotonic() - begin) / (60 * minutes))
        if spent >= 1:
            break
        for group in optimiser.param_groups:
            group["lr"] = RATE * min(1, (at + 1) / 100) * (0.02 + 0.98 * (1 + math.cos(math.pi * spent)) / 2)
        starts = draw.integers(0, len(codes) - sizes.positions - 1, BATCH)
        rows = torch.stack([codes[start : start + sizes.positions + 1] for start in starts])
        scores = logits(weights, rows[:, :-1], sizes)
        loss = functional.cross_entropy(scores.flatten(0, 1), rows[:, 1:].flatten())
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights.values(), 1.0)
        optimiser.step()
        if at % 200 == 0:
            print(at, round(loss.item(), 4), round(time.monotonic() - begin), flush=True)
    return {name: value.detach().numpy().astype(np.float32) for name, value in weights.items()}


def perplexity(sizes: Sizes, weights: dict[str, Array], codes: Any) -> float:
    """Over stretches that begin anew with an empty cache, a character each."""
    rows = codes[: len(codes) // sizes.positions * sizes.positions].reshape(-1, sizes.positions)
    with torch.no_grad():
        scores = logits({name: torch.from_numpy(value) for name, value in weights.items()}, rows[:, :-1], sizes)
        return math.exp(functional.cross_entropy(scores.flatten(0, 1), rows[:, 1:].flatten()).item())


def main() -> None:
    """Train, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("-o", "--output", type=Path, default=Path(__file__).parent)
    parser.add_argument("--minutes", type=float, default=60.0)
    options = parser.parse_args()
    sizes, whole = Sizes(), text()
    codes = torch.tensor([VOCABULARY.index(letter) for letter in whole])
    weights = train(sizes, codes[:-HELD_OUT], options.minutes)
    print("perplexity of held-out text", perplexity(sizes, weights, codes[-HELD_OUT:]))
    folder = options.output / "letters"
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(step(sizes, weights, "letters"), str(folder / "model.onnx"))
    vocabulary = {letter: number for number, letter in enumerate(VOCABULARY)}
    tokenizer = {"version": "1.0", "model": {"type": "BPE", "vocab": vocabulary, "merges": []}}
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer, indent=1) + "\n", encoding="utf-8")
    (folder / "held_out.txt").write_text(whole[-HELD_OUT:], encoding="utf-8")


if __name__ == "__main__":
    main()
