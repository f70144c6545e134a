"""The platform serves every core: a kernel whose instructions the core lacks is refused with a sentence."""

from __future__ import annotations

from tilewright.platform import Call, KernelMethods, Needs, Platform
from tilewright.target import known_targets, load_target

BOARDS = (
    "qemu_microbit",
    "qemu_mps2_an385",
    "qemu_mps2_an386",
    "qemu_mps2_an500",
    "qemu_mps2_an505",
    "qemu_mps3_an547",
)


def test_every_arm_board_runs_the_platform() -> None:
    assert set(BOARDS) <= set(known_targets())
    assert {load_target(board).platform for board in BOARDS} == {"cortex_m"}


def test_a_kernel_is_refused_on_a_core_without_what_it_requires() -> None:
    acme = Platform(name="acme", summary="", memory=[])

    @acme.kernel("Relu", types="f32 -> f32", template="relu.c.mako", requires=Needs(has=("dsp", "mve")))
    class Fast(KernelMethods):
        """Needs two extensions."""

        def accepts(self, call: Call) -> str | None:
            """Everything."""
            return None

    (kernel,) = acme.own_kernels()
    assert kernel.requires.words() == ("dsp", "mve")
    call = Call(None, (), (), {}, 13, operator=None)  # type: ignore[arg-type]
    assert kernel.on_core(["mve", "dsp"], []).accepts(call) is None
    assert kernel.on_core(["dsp"], []).accepts(call) == "the core has no 'mve' among its capabilities"
    assert kernel.on_core([], []).on_core(["dsp", "mve"], []).accepts(call) is None
    slow = Platform(name="slow", summary="", memory=[])
    slow.kernel("Relu", types="f32 -> f32", template="relu.c.mako", requires=Needs(optimize="speed"))(Fast)
    offered = slow.own_kernels()[0].on_core(["dsp"], ["size"])
    assert offered.accepts(call) == "it is offered with --optimize speed only"
