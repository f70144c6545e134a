"""Where time runs in a tensor, and which frames of the whole sequence a call gives."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tilewright.errors import UnsupportedError


@dataclass(frozen=True)
class Timed:
    """A tensor of the streaming network: `frames` of it a call, along `axis`, one for every `rate` frames of the input.

    Frame `u` of the stream, counted over all calls, is frame `u - delay` of the whole sequence. From frame `settled` of
    that on both are equal. `clean`: so they are from the first one on, and what was before counts as padding; then a
    negative delay says how many frames of the value `before` the whole sequence has in front. `length` are its frames.
    """

    axis: int
    frames: int
    rate: int
    length: int
    delay: int = 0
    settled: int = 0
    clean: bool = True
    before: float | None = None

    def tail(self, total: int) -> int:
        """Frames at the end of the whole sequence that no call gives, of an input of `total` frames."""
        return self.length - (total // self.rate - self.delay)

    def late(self, frames: int) -> Timed:
        """The same so many frames later."""
        later = replace(self, delay=self.delay + frames)
        return later if later.delay <= 0 else replace(later, clean=False, before=None)


@dataclass(frozen=True)
class Reach:
    """What one frame of a window's result needs: `span` frames behind the first, of which `before` lie in the padding
    of the first result; the next frame of the result begins `stride` frames later."""

    span: int
    stride: int
    before: int


@dataclass(frozen=True)
class Shift:
    """How a window runs over a stream: `kept` frames of the calls before (fewer than none are dropped from the new
    ones), of which `unused` are of no use behind the last window; `result` is the window's result."""

    kept: int
    unused: int
    result: Timed


class Indivisible(UnsupportedError):
    """The frames of a call do not make whole frames of a result; `multiple` says of what they must be a multiple."""

    def __init__(self, node: str, multiple: int) -> None:
        super().__init__(
            f"'{node}' makes one frame of {multiple}", why="a call must produce whole frames",
            fix=f"set --stream-frames to a multiple of {multiple}", node=node,
        )  # fmt: skip
        self.multiple = multiple


def shifted(x: Timed, reach: Reach, node: str, length: int, axis: int) -> Shift:
    """The result of a window over a stream.

    A window that looks ahead comes later by so many frames; one that begins far before its frame keeps more.
    """
    stride = reach.stride
    if x.frames % stride:
        raise Indivisible(node, stride * x.rate)
    late = x.delay + reach.span - reach.before - (stride - 1)
    more = -late % stride
    delay = (late + more) // stride
    if delay < 0:
        more, delay = more - delay * stride, 0
    window = reach.span + 1 - stride + more
    settled = 0 if x.clean else -(-(x.settled + reach.before) // stride)
    result = Timed(
        axis, x.frames // stride, x.rate * stride, length, delay, settled, clean=x.clean and delay == 0
    )  # fmt: skip
    return Shift(window, more - more % stride, result)
