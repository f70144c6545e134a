"""The rules of the core's manual on hardware loops, held by the listing that prints the kernels."""

from __future__ import annotations

import pytest
from tilewright.model import DType
from tilewright.numerics import Channelwise, MultiplyHigh
from tilewright.platforms.pulp.kernels.block_asm import Geometry, Streamed, listing
from tilewright.platforms.pulp.kernels.listing import Listing

FORM = Streamed(
    MultiplyHigh(
        low=-128, high=127, pre_shift=0, multiplier=Channelwise("multiplier", DType.I32, (1 << 30,)),
        addend=Channelwise("addend", DType.I32, (-8160,)), shift=Channelwise("shift", DType.I8, (6,)),
    )
)  # fmt: skip


def loop(*body: str) -> Listing:
    out = Listing()
    out.begin_loop("a4")
    out(*body)
    out.end_loop()
    return out


def test_the_last_instruction_of_a_loop_bears_its_label() -> None:
    out = loop("p.lw t0, 4, a0", "p.lw t1, 4, a1", "pv.sdotsp.b s0, t0, t1")
    setup = next(line for line in out.lines if line.startswith("lp.setup 1, x14, "))
    assert out.lines[-3] == setup.split(", ")[-1] + ":"


def test_loops_alone_are_kept_from_compression() -> None:
    lines = listing(Geometry(16, 3, 1, 1, True, -128, False, 4, True, FORM), 4, 4, 0, 0).lines
    first, last = lines.index(".option norvc"), lines.index(".option pop")
    assert lines[first - 2 : first] == [".option push", ".balign 4"]
    assert next(at for at, line in enumerate(lines) if line.startswith("lp.setup")) == first + 1
    assert not any(first < at < last for at, line in enumerate(lines) if line.startswith("mulh"))


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        (("p.lw t0, 4, a0", "pv.sdotsp.b s0, t0, t1"), "at least three"),
        (("p.lw t0, 4, a0", "p.lw t1, 4, a1", "add s0, t0, t1"), "of Xpulp"),
        (("p.lw t0, 4, a0", "bnez t0, out", "pv.sdotsp.b s0, t0, t1"), "no branch"),
    ],
)
def test_a_loop_against_the_rules_is_refused(body: tuple[str, ...], rule: str) -> None:
    with pytest.raises(AssertionError, match=rule):
        loop(*body)


def test_nested_loops_end_two_instructions_apart() -> None:
    out = Listing()
    out.begin_loop("ra")
    out("li a4, 3")
    out.begin_loop("a4")
    out("nop", "nop", "pv.sdotsp.b s0, t0, t1")
    out.end_loop()
    out("p.addN a0, a0, a3, 0")
    with pytest.raises(AssertionError, match="two instructions behind"):
        out.end_loop()


def test_three_loops_are_one_too_many() -> None:
    out = Listing()
    out.begin_loop("ra")
    out.begin_loop("a4")
    with pytest.raises(AssertionError, match="two hardware loops"):
        out.begin_loop("a5")


@pytest.mark.parametrize("pixels", [1, 4])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("taps", [1, 2, 3, 5])
def test_every_product_is_made_once(pixels: int, channels: int, stride: int, taps: int) -> None:
    geometry = Geometry(16, taps, stride, 1, True, -128, False, 4, True, FORM)
    lines = listing(geometry, pixels, channels, 0, 0).lines
    dots = [line for line in lines if line.startswith("pv.sdotsp.b")]
    assert len(dots) == pixels * channels * taps
    columns = {p * stride + tap for p in range(pixels) for tap in range(taps)}
    assert len([line for line in lines if line.endswith("(a0)") or line.endswith(", 4, a0")]) >= len(columns)
    assert sum(line.startswith("p.lw") and line.endswith(", 4, a0") for line in lines) == 1
