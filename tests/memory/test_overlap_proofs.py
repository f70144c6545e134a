"""How far a result may lie over its dying operand: the closed form against a walk over every byte."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tilewright.platforms.generic.kernels.blocks import Axis, axis
from tilewright.platforms.generic.kernels.overlap import gap_bytes, patch_steps, row_steps


@st.composite
def axes(draw: st.DrawFn) -> tuple[Axis, Axis, int, int]:
    channels, out_channels = draw(st.integers(1, 4)), draw(st.integers(1, 6))
    kernel, stride, pad = draw(st.integers(1, 3)), draw(st.integers(1, 2)), draw(st.integers(0, 1))
    height, width = draw(st.integers(kernel, 7)), draw(st.integers(kernel, 7))
    pad = min(pad, kernel - 1)
    outs = [(size + 2 * pad - kernel) // stride + 1 for size in (height, width)]
    h = axis(height, outs[0], kernel, stride, 1, pad, width * channels)
    w = axis(width, outs[1], kernel, stride, 1, pad, channels)
    return h, w, channels, out_channels


def reads(h: Axis, w: Axis, channels: int, oh: int, ow: int) -> set[int]:
    """Operand bytes of one output pixel."""
    found = set()
    for kh in range(h.kernel):
        for kw in range(w.kernel):
            row, column = oh * h.stride - h.pad + kh, ow * w.stride - w.pad + kw
            if 0 <= row < h.size and 0 <= column < w.size:
                found |= {row * h.x_stride + column * w.x_stride + c for c in range(channels)}
    return found


def survives(steps: list[tuple[set[int], set[int]]], shift: int, *, mixed: bool) -> bool:
    """True if no step reads an operand byte that was written over; the result starts `shift` bytes before it."""
    gone: set[int] = set()
    for read, written in steps:
        places = {byte - shift for byte in written}
        if read & gone or (mixed and read & places):
            return False
        gone |= places
    return True


@given(axes())
@settings(max_examples=150)
def test_rows_are_safe_at_the_gap(case: tuple[Axis, Axis, int, int]) -> None:
    h, w, channels, out_channels = case
    gap = gap_bytes(*row_steps(h, w, out_channels, 1, 1), reads_before_writing=False)
    row = w.out * out_channels
    steps = []
    for oh in range(h.out):
        read = set().union(*(reads(h, w, channels, oh, ow) for ow in range(w.out)))
        steps.append((read, set(range(oh * row, (oh + 1) * row))))
    assert survives(steps, gap, mixed=True)


@given(axes(), st.integers(1, 5))
@settings(max_examples=150)
def test_patches_are_safe_at_the_gap(case: tuple[Axis, Axis, int, int], pixels: int) -> None:
    h, w, channels, out_channels = case
    results = h.out * w.out
    pixels = min(pixels, results)
    gap = gap_bytes(*patch_steps(h, w, pixels, out_channels, 1, 1), reads_before_writing=True)
    steps = []
    for n in range(0, results, pixels):
        at = min(n, results - pixels)
        places = range(at, at + pixels)
        read = set().union(*(reads(h, w, channels, p // w.out, p % w.out) for p in places))
        steps.append((read, set(range(at * out_channels, (at + pixels) * out_channels))))
    assert survives(steps, gap, mixed=False)


def test_a_smaller_gap_is_caught() -> None:
    """3x3 with padding: row 1 still reads row 0, so its result must not lie over it."""
    h, w = axis(6, 6, 3, 1, 1, 1, 12), axis(6, 6, 3, 1, 1, 1, 2)
    gap = gap_bytes(*row_steps(h, w, 2, 1, 1), reads_before_writing=False)
    assert gap == 24
    steps = []
    for oh in range(6):
        read = set().union(*(reads(h, w, 2, oh, ow) for ow in range(6)))
        steps.append((read, set(range(oh * 12, oh * 12 + 12))))
    assert survives(steps, gap, mixed=True)
    assert not survives(steps, gap - 1, mixed=True)


def test_a_step_that_reads_everything_first_may_lie_exactly_over_its_operand() -> None:
    write_end, read_first = np.array([4, 8, 12]), np.array([0, 4, 8])
    assert gap_bytes(write_end, read_first, reads_before_writing=True) == 0
    assert gap_bytes(write_end, read_first, reads_before_writing=False) == 4


@pytest.mark.parametrize("before", [True, False])
def test_a_result_in_one_step_follows_its_reads(before: bool) -> None:
    gap = gap_bytes(np.array([10]), np.array([0]), reads_before_writing=before)
    assert gap == (0 if before else 10)
