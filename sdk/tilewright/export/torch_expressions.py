"""The expression of a node on real numbers or plain integers, as its operator says that it is in PyTorch."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from tilewright.export import torch_layers, torch_values
from tilewright.export.torch_layers import Expression
from tilewright.export.torch_site import Site, real

WRITERS: Mapping[str, Expression] = {**torch_values.WRITERS, **torch_layers.WRITERS}


def has_expression(site: Site) -> bool:
    """True where the operator says what it is in PyTorch."""
    return site.call.operator is not None and site.call.operator.torch is not None


def expression(site: Site) -> str:
    """The text of the node; UnsupportedNode where this form of it is not written."""
    torch = site.torch
    if torch.writer:
        return WRITERS[torch.writer](site)
    texts = [site.operand(index) for index in range(len(site.call.inputs))]
    if torch.folds:
        return reduce(torch.text.format, texts)
    numbers = {name: real(site.call.real(name, default)) for name, default in torch.attributes}
    return torch.text.format(*texts, **numbers)
