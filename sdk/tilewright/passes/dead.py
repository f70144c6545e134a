"""Drops nodes and constants that no output depends on."""

from __future__ import annotations

from tilewright.frontend.prune import prune
from tilewright.model import Model

name = "dead"


def apply(model: Model) -> Model:
    """The model without what its outputs do not need."""
    return prune(model)
