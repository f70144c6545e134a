"""Arithmetic with infinities and NaN: they are results here, and NumPy does not warn of them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import numpy as np

P = ParamSpec("P")
R = TypeVar("R")


def ieee(function: Callable[P, R]) -> Callable[P, R]:
    """A decorator: overflow, division by zero and invalid operations inside go by IEEE 754 without a warning."""

    @functools.wraps(function)
    def silent(*args: P.args, **kwargs: P.kwargs) -> R:
        with np.errstate(all="ignore"):
            return function(*args, **kwargs)

    return silent
