"""`--optimize size` takes less flash than what is balanced, and no more RAM."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import NetworkFiles
from tilewright.compile import Compiled, compile_model, run_model, write
from tilewright.options import CompileOptions, RunOptions
from tilewright.smaller_code import _Priced
from tilewright.target import load_target

Network = Callable[[str], NetworkFiles]


def compiled(network: Path, target: str, optimize: str, **more: object) -> Compiled:
    options = CompileOptions(quantized_io=True, optimize=optimize, **more)  # type: ignore[arg-type]
    return compile_model(network, options, load_target(target))


def kernels(done: Compiled) -> set[str]:
    return {bound.kernel.name for bound in done.bound.nodes if bound.kernel is not None}


@pytest.mark.parametrize("target", ["qemu_mps2_an386", "qemu_rv32imc"])
def test_flash_falls_and_ram_does_not_grow(network: Network, target: str) -> None:
    plain, small = (compiled(network("digits_int8").model, target, aim) for aim in ("balanced", "size"))
    assert small.report.memory["flash"].total < 0.95 * plain.report.memory["flash"].total
    assert small.placed.solution.peak <= plain.placed.solution.peak
    left = kernels(plain) - kernels(small)
    assert left
    refusals = {k.name: k.refusal for k in small.request.kernels}
    assert all("others take less flash" in (refusals[name] or "") for name in left)


@pytest.mark.sim("qemu")
def test_the_codes_are_the_same(network: Network, tmp_path: Path) -> None:
    target = load_target("qemu_mps2_an386")
    small = compiled(network("digits_int8").model, target.name, "size")
    write(small, tmp_path)
    report = run_model(small, target, RunOptions(), tmp_path)
    assert report.run is not None
    assert report.run.match


def test_kernels_stay_where_they_are_told_to(network: Network) -> None:
    held = compiled(network("digits_int8").model, "qemu_mps2_an386", "size", disabled_passes=frozenset({"kernels"}))
    assert not any("less flash" in (kernel.refusal or "") for kernel in held.request.kernels)


@pytest.mark.parametrize(
    ("flash_bytes", "peak_bytes", "instructions", "pays"),
    [(980, 100, 1100.0, True), (980, 100, 1300.0, False), (980, 101, 900.0, False), (1000, 90, 900.0, False)],
)
def test_a_hundredth_of_flash_is_worth_ten_of_instructions(
    flash_bytes: int, peak_bytes: int, instructions: float, pays: bool
) -> None:
    before, after = (
        _Priced(None, *figures)  # type: ignore[arg-type]
        for figures in ((1000, 100, 1000.0), (flash_bytes, peak_bytes, instructions))
    )
    assert (after.worth(before) > 0) is pays
