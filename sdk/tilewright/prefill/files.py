"""The network of several tokens as a file beside that of one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright.codegen.text import POSITION_NAMES, TOKEN_NAMES
from tilewright.errors import UnsupportedError, UsageError
from tilewright.frontend.read import read
from tilewright.frontend.states import guessed_pairs
from tilewright.prefill.derive import FEWEST, MOST, Step, prefill_of

if TYPE_CHECKING:
    import onnx

SUFFIX = "_prefill"
"""What the name of the network of several tokens ends in."""


def write_prefill(source: Path, to: Path, count: int, pairs: Sequence[tuple[str, str]]) -> None:
    """Write the network that reads `count` tokens of a prompt.

    `source` is the network of one token, `pairs` are inputs and outputs that are states, guessed by name where there
    are none.

    UsageError for a number of tokens that cannot be or a file that cannot be opened, ModelError where it is damaged,
    UnsupportedError for networks that are no step of a token.
    """
    import onnx

    if not FEWEST <= count <= MOST:
        raise UsageError(f"--prefill {count}", why=f"{FEWEST} to {MOST} tokens are read in a call", fix="try 8")
    model = read(source).proto
    onnx.save(prefill_of(model, _step(model.graph, pairs), count), str(to))


def _step(graph: onnx.GraphProto, pairs: Sequence[tuple[str, str]]) -> Step:
    stored = {one.name for one in graph.initializer}
    inputs = [one.name for one in graph.input if one.name not in stored]
    states = dict(pairs or guessed_pairs(inputs, [one.name for one in graph.output]))
    free = [name for name in inputs if name not in states]
    token, position = (next((name for name in free if name in names), "") for names in (TOKEN_NAMES, POSITION_NAMES))
    if not states or not token or not position or len(free) != 2:
        raise UnsupportedError(
            "--prefill takes the step of one token", why="its inputs are a token, its position and caches, as "
            f"{TOKEN_NAMES[0]}, {POSITION_NAMES[0]} and past_x with present_x; here they are {', '.join(inputs)}",
            fix="export the step of one token with its caches",
        )  # fmt: skip
    return Step(token, position, states)
