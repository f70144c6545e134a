"""The manifests name the boards on which the code builds, and no others."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import NetworkFiles
from tilewright.cli import main
from tilewright.project.cores import ARM, RISCV, WIDE, boards_for

SIXTEEN_BITS = {"avr", "megaavr", "atmelavr", "atmelmegaavr", "timsp430"}


@pytest.mark.parametrize(
    ("name", "target", "architectures", "platforms"),
    [
        ("digits_int8", "host", ("*",), "*"),
        ("odd_mobile", "host", WIDE.architectures, list(WIDE.platforms)),
        ("digits_int8", "qemu_mps2_an386", ARM.architectures, list(ARM.platforms)),
        ("digits_int8", "qemu_rv32imc", RISCV.architectures, list(RISCV.platforms)),
    ],
)
def test_manifests_name_the_boards(
    name: str,
    target: str,
    architectures: tuple[str, ...],
    platforms: object,
    network: Callable[[str], NetworkFiles],
    tmp_path: Path,
) -> None:
    model = str(network(name).model)
    assert main(["compile", model, "-t", target, "-o", str(tmp_path), "--project", "arduino,platformio", "-q"]) == 0
    lines = dict(line.partition("=")[::2] for line in (tmp_path / "library.properties").read_text().splitlines())
    assert lines["architectures"] == ",".join(architectures)
    assert json.loads((tmp_path / "library.json").read_text())["platforms"] == platforms
    code = (tmp_path / "src" / f"{name}.c").read_text()
    assert ("#if INT_MAX <" in code) == (name == "odd_mobile")


def test_no_core_of_sixteen_bits_is_among_those_of_32() -> None:
    assert not SIXTEEN_BITS & {*WIDE.architectures, *WIDE.platforms}
    assert {*ARM.architectures, *RISCV.architectures} < {*WIDE.architectures}
    assert boards_for(["clang", "riscv32-esp-elf-gcc"], wide_core=True) == RISCV
